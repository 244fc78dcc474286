//! Cuts a stream of sound into stretches of speech that the encoder can take whole.

use std::collections::VecDeque;

use super::vad::{CHUNK, Vad};

const RATE_HZ: usize = 16_000;
/// Zeros, or the last bit of a converter: nobody speaks there.
const STILL_LEVEL_MAX: u16 = 2;
/// Two seconds, after which the network has long forgotten the sound before.
const STILL_CHUNKS_HEARD: usize = 2 * RATE_HZ / CHUNK;

#[derive(Debug, Clone)]
pub(super) struct SegmentConfig {
    /// Speech begins at this probability and goes on until it falls below the lower one.
    pub start_p: f32,
    pub stop_p: f32,
    pub speech_ms_min: usize,
    /// Silence that ends a stretch.
    pub silence_ms: usize,
    /// Kept around the speech.
    pub padding_ms: usize,
    /// A longer stretch is cut at its quietest place.
    pub length_ms_max: usize,
}

impl Default for SegmentConfig {
    fn default() -> Self {
        Self {
            start_p: 0.45,
            stop_p: 0.3,
            speech_ms_min: 160,
            silence_ms: 700,
            padding_ms: 350,
            length_ms_max: 14_000,
        }
    }
}

/// A stretch of sound with speech in it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stretch {
    /// Samples from the start of the recording.
    pub from: usize,
    pub samples: Vec<i16>,
    /// The highest voice probability over a quarter of a second.
    pub voice_p: f32,
    /// Whether silence ended it; else it was cut in the middle of speech.
    pub ends_in_silence: bool,
    /// How much silence follows where it was cut, as far as it was heard.
    pub quiet_after_ms: usize,
}

impl Stretch {
    /// All of a sound.
    pub(super) fn whole(samples: &[i16], voice_p: f32) -> Self {
        Self {
            from: 0,
            samples: samples.to_vec(),
            voice_p,
            ends_in_silence: true,
            quiet_after_ms: 0,
        }
    }
}

/// One chunk's sound and what the detector thought of it.
struct HeardChunk {
    samples: Vec<i16>,
    p: f32,
}

/// Takes sound in pieces of any size; memory stays within one stretch.
pub(super) struct Segmenter {
    config: SegmentConfig,
    vad: Vad,
    rest: Vec<i16>,
    /// The open stretch, or the padding before a possible one.
    heard: VecDeque<HeardChunk>,
    /// Where `heard` begins.
    from: usize,
    is_open: bool,
    speech_chunks: usize,
    silent_chunks: usize,
    still_chunks: usize,
}

impl Segmenter {
    pub(super) fn new(vad: &Vad, config: SegmentConfig) -> Self {
        let mut vad = vad.clone();
        vad.reset();
        Self {
            config,
            vad,
            rest: Vec::new(),
            heard: VecDeque::new(),
            from: 0,
            is_open: false,
            speech_chunks: 0,
            silent_chunks: 0,
            still_chunks: 0,
        }
    }

    /// The stretches that these samples complete.
    pub(super) fn push(&mut self, samples: &[i16]) -> Vec<Stretch> {
        let mut out = Vec::new();
        let mut samples = samples;
        while self.rest.len() + samples.len() >= CHUNK {
            let (head, tail) = samples.split_at(CHUNK - self.rest.len());
            self.rest.extend(head);
            samples = tail;
            let chunk = std::mem::take(&mut self.rest);
            out.extend(self.hear(chunk));
        }
        self.rest.extend(samples);
        out
    }

    /// What was still going on when the sound ended.
    pub(super) fn finish(&mut self) -> Vec<Stretch> {
        let mut out = Vec::new();
        let rest = std::mem::take(&mut self.rest);
        if !rest.is_empty() {
            out.extend(self.hear(rest));
        }
        if self.is_open {
            out.extend(self.close(self.heard.len(), true));
        }
        self.is_open = false;
        out
    }

    /// The speech that has begun but not ended.
    pub(super) fn open_stretch(&self) -> Option<Stretch> {
        let spoken = self.is_open && self.speech_chunks >= self.chunks(self.config.speech_ms_min);
        spoken.then(|| self.stretch(self.heard.len(), false))
    }

    fn chunks(&self, ms: usize) -> usize {
        (ms * RATE_HZ / 1000).div_ceil(CHUNK)
    }

    /// Asks the network, except far inside stillness: an hour of nothing must not cost an hour's work.
    fn voice_p(&mut self, samples: &[i16]) -> f32 {
        let is_still = samples.iter().all(|s| s.unsigned_abs() <= STILL_LEVEL_MAX);
        self.still_chunks = if is_still { self.still_chunks + 1 } else { 0 };
        if self.still_chunks <= STILL_CHUNKS_HEARD {
            return self.vad.hear(samples);
        }
        // It starts afresh when sound comes back, as at the start of a recording.
        self.vad.reset();
        0.0
    }

    fn hear(&mut self, samples: Vec<i16>) -> Option<Stretch> {
        let p = self.voice_p(&samples);
        self.heard.push_back(HeardChunk { samples, p });
        if !self.is_open {
            if p >= self.config.start_p {
                self.is_open = true;
                self.speech_chunks = 1;
                self.silent_chunks = 0;
            } else {
                self.drop_front(self.chunks(self.config.padding_ms));
            }
            return None;
        }
        if p >= self.config.stop_p {
            self.speech_chunks += usize::from(p >= self.config.start_p);
            self.silent_chunks = 0;
        } else {
            self.silent_chunks += 1;
        }
        if self.silent_chunks >= self.chunks(self.config.silence_ms) {
            let extra = self.silent_chunks - self.chunks(self.config.padding_ms);
            let stretch = self.close(self.heard.len() - extra, true);
            self.is_open = false;
            self.drop_front(self.chunks(self.config.padding_ms));
            return stretch;
        }
        if self.heard.len() >= self.chunks(self.config.length_ms_max) {
            let cut = self.quietest_place();
            let stretch = self.close(cut, false);
            self.speech_chunks = self
                .heard
                .iter()
                .filter(|h| h.p >= self.config.start_p)
                .count();
            self.silent_chunks = self.silent_chunks.min(self.heard.len());
            return stretch;
        }
        None
    }

    /// The open stretch up to a chunk; what comes after stays.
    fn close(&mut self, chunks: usize, ends_in_silence: bool) -> Option<Stretch> {
        let long_enough = self.speech_chunks >= self.chunks(self.config.speech_ms_min);
        let stretch = long_enough.then(|| self.stretch(chunks, ends_in_silence));
        self.drop_front(self.heard.len() - chunks);
        stretch
    }

    fn stretch(&self, chunks: usize, ends_in_silence: bool) -> Stretch {
        let mut samples = Vec::with_capacity(chunks * CHUNK);
        for heard in self.heard.iter().take(chunks) {
            samples.extend(&heard.samples);
        }
        let p: Vec<f32> = self
            .heard
            .iter()
            .take(chunks)
            .map(|heard| heard.p)
            .collect();
        let voice_p = p
            .windows(8.min(p.len().max(1)))
            .map(|window| window.iter().sum::<f32>() / window.len() as f32)
            .fold(0.0, f32::max);
        let after = self.heard.iter().skip(chunks);
        let quiet = after.take_while(|heard| heard.p < self.config.start_p);
        Stretch {
            from: self.from,
            samples,
            voice_p,
            ends_in_silence,
            quiet_after_ms: quiet.count() * CHUNK * 1000 / RATE_HZ,
        }
    }

    fn drop_front(&mut self, keep: usize) {
        while self.heard.len() > keep {
            if let Some(dropped) = self.heard.pop_front() {
                self.from += dropped.samples.len();
            }
        }
    }

    /// In the second half, so that neither part is too short: least voice, then least sound.
    fn quietest_place(&self) -> usize {
        let len = self.heard.len();
        let cost = |i: usize| {
            let around = &[i.saturating_sub(1), i, (i + 1).min(len - 1)];
            let voice: f32 = around.iter().map(|&i| self.heard[i].p).sum();
            let energy: f32 = around.iter().map(|&i| level(&self.heard[i].samples)).sum();
            voice + 0.1 * energy
        };
        let places = len / 2..len.saturating_sub(2).max(len / 2 + 1);
        let best = places.min_by(|&a, &b| cost(a).total_cmp(&cost(b)));
        best.unwrap_or(len)
    }
}

/// Loudness on a rough scale of 0 (nothing) to about 10.
fn level(samples: &[i16]) -> f32 {
    let energy: f64 = samples.iter().map(|s| f64::from(*s) * f64::from(*s)).sum();
    ((energy / samples.len().max(1) as f64 + 1.0).ln() / 2.0) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::WeightsFile;

    fn data(path: &str) -> Vec<u8> {
        std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
    }

    fn segmenter() -> Segmenter {
        let weights = data("../../models/recogniser/vad.safetensors");
        let vad = Vad::load(WeightsFile::parse("vad", weights).unwrap()).unwrap();
        Segmenter::new(&vad, SegmentConfig::default())
    }

    /// A second and a half, speech from about 0.2 s on.
    fn speech() -> Vec<i16> {
        data("tests/data/recogniser/mel-input.s16")
            .chunks_exact(2)
            .map(|b| i16::from_le_bytes([b[0], b[1]]))
            .collect()
    }

    fn stretches(samples: &[i16], piece: usize) -> Vec<Stretch> {
        let mut segmenter = segmenter();
        let mut out: Vec<Stretch> = samples
            .chunks(piece)
            .flat_map(|piece| segmenter.push(piece))
            .collect();
        out.extend(segmenter.finish());
        out
    }

    #[test]
    fn speech_between_silences_is_found_where_it_stands() {
        let mut samples = vec![0; 32_000];
        samples.extend(speech());
        samples.extend(vec![0; 32_000]);
        samples.extend(speech());
        let found = stretches(&samples, 1000);
        assert_eq!(found.len(), 2);
        for (stretch, begins) in found.iter().zip([32_000, 88_000]) {
            assert!(stretch.from.abs_diff(begins) < 8_000, "{}", stretch.from);
            assert!((16_000..36_000).contains(&stretch.samples.len()));
            assert!(stretch.voice_p > 0.8);
            assert_eq!(
                stretch.samples,
                samples[stretch.from..stretch.from + stretch.samples.len()]
            );
        }
    }

    #[test]
    fn speech_after_long_stillness_is_found_as_at_the_start() {
        let mut samples = vec![1; 40 * CHUNK];
        samples.extend(speech());
        samples.extend(vec![0; 400 * CHUNK]);
        samples.extend(speech());
        let found = stretches(&samples, 4_000);
        assert_eq!(found.len(), 2);
        let begins = 440 * CHUNK + speech().len();
        assert!(found[1].from.abs_diff(begins) < 8_000, "{}", found[1].from);
        assert!(found[1].voice_p > 0.8);
    }

    #[test]
    fn the_size_of_the_pieces_does_not_matter() {
        let mut samples = vec![0; 10_000];
        samples.extend(speech());
        samples.extend(vec![0; 30_000]);
        let whole = stretches(&samples, samples.len());
        assert_eq!(whole.len(), 1);
        assert_eq!(stretches(&samples, 77), whole);
    }

    #[test]
    fn endless_speech_is_cut_without_losing_any() {
        let samples = speech().repeat(30);
        let found = stretches(&samples, 16_000);
        let config = SegmentConfig::default();
        assert!(found.len() >= 3);
        assert!(
            found
                .iter()
                .all(|s| s.samples.len() <= config.length_ms_max * 16 + CHUNK)
        );
        for pair in found.windows(2) {
            assert_eq!(pair[0].from + pair[0].samples.len(), pair[1].from);
        }
        let last = &found[found.len() - 1];
        assert!(last.from + last.samples.len() >= samples.len() - 16_000);
    }

    #[test]
    fn a_pause_where_the_longest_stretch_is_cut_goes_with_neither_part() {
        let longest = SegmentConfig::default().length_ms_max * 16;
        let speech = speech().repeat(1 + longest / speech().len());
        for before in (0..longest / 16).step_by(4 * CHUNK) {
            let mut samples = speech[speech.len() - longest + before..].to_vec();
            samples.extend(vec![0; 32_000]);
            let found = stretches(&samples, 16_000);
            for pair in found.windows(2) {
                assert!(pair[0].from + pair[0].samples.len() <= pair[1].from);
            }
        }
    }

    #[test]
    fn silence_and_nothing_at_all_give_nothing() {
        assert!(stretches(&[], 1).is_empty());
        assert!(stretches(&[0; 48_000], 5000).is_empty());
    }
}
