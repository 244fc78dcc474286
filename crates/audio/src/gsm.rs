//! GSM 06.10 full rate, as Asterisk and other telephone systems record (`.gsm`, `.wav49`): the decoder of ETSI EN 300 961,
//! section 5.3, in its own arithmetic, so that every sample is the one that the standard gives.

use crate::pcm::f32_from_i16;

pub(crate) const RATE_HZ: u32 = 8_000;
pub(crate) const FRAME_SAMPLES: usize = 160;
/// A frame by itself: a signature of four bits and 260 of parameters.
pub(crate) const FRAME_BYTES: usize = 33;
/// What Microsoft made of it for WAV: two frames without signatures, the lowest bits first.
pub(crate) const BLOCK_BYTES: usize = 65;
pub(crate) const BLOCK_FRAMES: usize = 2;

const SIGNATURE: u8 = 0xd;
const SUBFRAMES: usize = 4;
const SUBFRAME_SAMPLES: usize = FRAME_SAMPLES / SUBFRAMES;
const PULSES: usize = 13;
const ORDER: usize = 8;
const LAGS: std::ops::RangeInclusive<i16> = 40..=120;
const LAG_MAX: usize = 120;

const AREA_RATIO_BITS: [u32; ORDER] = [6, 6, 5, 5, 4, 4, 3, 3];
/// Tables 5.1 and 5.2: B, MIC and INVA.
const AREA_RATIO_OFFSETS: [i16; ORDER] = [0, 0, 2048, -2560, 94, -1792, -341, -1144];
const AREA_RATIO_CODES_MIN: [i16; ORDER] = [-32, -32, -16, -16, -8, -8, -4, -4];
const AREA_RATIO_SCALES: [i16; ORDER] = [13107, 13107, 13107, 13107, 19223, 17476, 31454, 29708];
/// Table 5.3b: QLB.
const LAG_GAINS: [i16; 4] = [3277, 11469, 21299, 32767];
/// Table 5.6: FAC.
const PULSE_SCALES: [i16; 8] = [18431, 20479, 22527, 24575, 26623, 28671, 30719, 32767];
const DEEMPHASIS: i16 = 28180;

/// Whether these are frames one after the other, and enough of them not to be chance.
pub(crate) fn is_frames(head: &[u8]) -> bool {
    const FRAMES_MIN: usize = 5;
    let mut frames = head.chunks_exact(FRAME_BYTES);
    frames.len() >= FRAMES_MIN && frames.all(|frame| frame[0] >> 4 == SIGNATURE)
}

/// What the decoder remembers of the frames before.
#[derive(Debug, Clone)]
pub(crate) struct GsmDecoder {
    /// The excitation of the last `LAG_MAX` samples.
    excitation: [i16; LAG_MAX],
    lag: i16,
    area_ratios: [i16; ORDER],
    lattice: [i16; ORDER + 1],
    deemphasised: i16,
}

impl GsmDecoder {
    pub(crate) fn new() -> Self {
        Self {
            excitation: [0; LAG_MAX],
            lag: *LAGS.start(),
            area_ratios: [0; ORDER],
            lattice: [0; ORDER + 1],
            deemphasised: 0,
        }
    }

    /// A frame with its signature.
    pub(crate) fn frame(&mut self, frame: &[u8; FRAME_BYTES], out: &mut Vec<f32>) {
        let mut bits = Bits {
            bytes: frame,
            place: 4,
            lowest_first: false,
        };
        self.decode(&mut bits, out);
    }

    /// The two frames of a WAV block; of one that is cut off, those that are whole.
    pub(crate) fn block(&mut self, block: &[u8], out: &mut Vec<f32>) {
        const FRAME_BITS: usize = 260;
        let mut bits = Bits {
            bytes: block,
            place: 0,
            lowest_first: true,
        };
        for _ in 0..(block.len() * 8 / FRAME_BITS).min(BLOCK_FRAMES) {
            self.decode(&mut bits, out);
        }
    }

    fn decode(&mut self, bits: &mut Bits<'_>, out: &mut Vec<f32>) {
        let codes = AREA_RATIO_BITS.map(|count| bits.take(count));
        let mut excitation = [0; FRAME_SAMPLES];
        let (parts, _) = excitation.as_chunks_mut::<SUBFRAME_SAMPLES>();
        for part in parts {
            *part = self.excite(bits);
        }
        let now = area_ratios(codes);
        let before = std::mem::replace(&mut self.area_ratios, now);
        // From one frame's filter to the next in four steps.
        for (samples, weigh) in AREA_RATIO_MIXES {
            let reflections: [i16; ORDER] =
                std::array::from_fn(|i| reflection(weigh(before[i], now[i])));
            for &sample in &excitation[samples] {
                let spoken = self.synthesise(sample, &reflections);
                self.deemphasised = spoken.saturating_add(product(self.deemphasised, DEEMPHASIS));
                let doubled = self.deemphasised.saturating_add(self.deemphasised);
                out.push(f32_from_i16(doubled & !7));
            }
        }
    }

    /// Pulses on top of what was there one pitch period before (5.3.1 and 5.3.2).
    fn excite(&mut self, bits: &mut Bits<'_>) -> [i16; SUBFRAME_SAMPLES] {
        let lag = bits.take(7);
        if LAGS.contains(&lag) {
            self.lag = lag;
        }
        let gain = LAG_GAINS[bits.take(2) as usize];
        let grid = bits.take(2) as usize;
        let (scale, shift) = pulse_scale(bits.take(6));
        let mut pulses = [0; SUBFRAME_SAMPLES];
        for pulse in 0..PULSES {
            let code = ((bits.take(3) << 1) - 7) << 12;
            // Half of what the shift drops.
            let rounding = if shift > 0 { 1 << (shift - 1) } else { 0 };
            pulses[grid + 3 * pulse] = product(scale, code).saturating_add(rounding) >> shift;
        }
        let from = LAG_MAX - self.lag as usize;
        let out = std::array::from_fn(|i| {
            pulses[i].saturating_add(product(gain, self.excitation[from + i]))
        });
        self.excitation.copy_within(SUBFRAME_SAMPLES.., 0);
        self.excitation[LAG_MAX - SUBFRAME_SAMPLES..].copy_from_slice(&out);
        out
    }

    /// The short-term filter, a lattice (5.3.4).
    fn synthesise(&mut self, sample: i16, reflections: &[i16; ORDER]) -> i16 {
        let mut sample = sample;
        for i in (0..ORDER).rev() {
            sample = sample.saturating_sub(product(reflections[i], self.lattice[i]));
            self.lattice[i + 1] = self.lattice[i].saturating_add(product(reflections[i], sample));
        }
        self.lattice[0] = sample;
        sample
    }
}

/// How the log area ratios of the frame before and of this one weigh in each part of a frame (5.2.9.1).
type AreaRatioMix = (std::ops::Range<usize>, fn(i16, i16) -> i16);
const AREA_RATIO_MIXES: [AreaRatioMix; 4] = [
    (0..13, |before, now| quarters(now, before)),
    (13..27, |before, now| (before >> 1).saturating_add(now >> 1)),
    (27..40, quarters),
    (40..FRAME_SAMPLES, |_, now| now),
];

/// One quarter of the first, three of the second, rounded as the standard does.
fn quarters(one: i16, three: i16) -> i16 {
    (one >> 2)
        .saturating_add(three >> 2)
        .saturating_add(three >> 1)
}

/// 5.2.8.
fn area_ratios(codes: [i16; ORDER]) -> [i16; ORDER] {
    std::array::from_fn(|i| {
        let code = (codes[i] + AREA_RATIO_CODES_MIN[i]) << 10;
        let ratio = product(
            AREA_RATIO_SCALES[i],
            code.saturating_sub(AREA_RATIO_OFFSETS[i] << 1),
        );
        ratio.saturating_add(ratio)
    })
}

/// 5.2.9.2.
fn reflection(area_ratio: i16) -> i16 {
    let size = area_ratio.saturating_abs();
    let reflection = match size {
        ..11_059 => size << 1,
        11_059..20_070 => size + 11_059,
        _ => (size >> 2).saturating_add(26_112),
    };
    if area_ratio < 0 {
        -reflection
    } else {
        reflection
    }
}

/// The mantissa's factor and the shift of a block of pulses (5.2.15 and 5.2.16).
fn pulse_scale(code: i16) -> (i16, u32) {
    let mut exponent = if code > 15 { (code >> 3) - 1 } else { 0 };
    let mut mantissa = code - (exponent << 3);
    if mantissa == 0 {
        (exponent, mantissa) = (-4, 15);
    }
    while mantissa <= 7 {
        mantissa = mantissa << 1 | 1;
        exponent -= 1;
    }
    (PULSE_SCALES[mantissa as usize - 8], (6 - exponent) as u32)
}

/// Of two fractions, rounded. The one that does not fit is as near as can be.
fn product(a: i16, b: i16) -> i16 {
    ((i32::from(a) * i32::from(b) + (1 << 14)) >> 15).min(i32::from(i16::MAX)) as i16
}

struct Bits<'a> {
    bytes: &'a [u8],
    place: usize,
    lowest_first: bool,
}

impl Bits<'_> {
    fn take(&mut self, count: u32) -> i16 {
        let mut value = 0;
        for taken in 0..count {
            let byte = self.bytes.get(self.place / 8).copied().unwrap_or_default();
            let at = self.place % 8;
            self.place += 1;
            if self.lowest_first {
                value |= i16::from(byte >> at & 1) << taken;
            } else {
                value = value << 1 | i16::from(byte >> (7 - at) & 1);
            }
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GSM: &[u8] = include_bytes!("../tests/data/voice.gsm");
    const WAV49: &[u8] = include_bytes!("../tests/data/wav49.wav");

    fn samples(decoded: &[f32]) -> Vec<i16> {
        decoded.iter().map(|s| (s * 32_768.0) as i16).collect()
    }

    fn decoded_frames(bytes: &[u8]) -> Vec<i16> {
        let (mut decoder, mut out) = (GsmDecoder::new(), Vec::new());
        let (frames, _) = bytes.as_chunks::<FRAME_BYTES>();
        frames
            .iter()
            .for_each(|frame| decoder.frame(frame, &mut out));
        samples(&out)
    }

    #[test]
    fn every_sample_is_the_one_of_another_decoder() {
        // By libgsm, through sox.
        let (expected, _) = include_bytes!("../tests/expected/voice_gsm.s16").as_chunks::<2>();
        let expected: Vec<i16> = expected.iter().copied().map(i16::from_le_bytes).collect();
        assert_eq!(decoded_frames(GSM), expected);
    }

    #[test]
    fn blocks_of_wav_files_hold_the_same_frames() {
        let data = &WAV49[60..];
        let (mut decoder, mut out) = (GsmDecoder::new(), Vec::new());
        data.chunks(BLOCK_BYTES)
            .for_each(|block| decoder.block(block, &mut out));
        assert_eq!(samples(&out), decoded_frames(GSM));
        let mut cut = Vec::new();
        GsmDecoder::new().block(&data[..BLOCK_BYTES - 1], &mut cut);
        assert_eq!(cut, out[..FRAME_SAMPLES]);
    }

    #[test]
    fn any_bits_decode_to_a_frame() {
        for byte in 0..=u8::MAX {
            let (mut decoder, mut out) = (GsmDecoder::new(), Vec::new());
            for _ in 0..20 {
                decoder.frame(&[byte; FRAME_BYTES], &mut out);
                decoder.block(&[!byte; BLOCK_BYTES], &mut out);
            }
            assert_eq!(out.len(), 60 * FRAME_SAMPLES);
        }
    }

    #[test]
    fn frames_are_told_by_their_signatures() {
        assert!(is_frames(GSM));
        assert!(!is_frames(&GSM[..100]));
        assert!(!is_frames(&GSM[1..]));
    }
}
