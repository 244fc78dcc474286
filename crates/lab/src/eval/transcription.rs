//! Word and character error rates of the recogniser on a list of recordings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, ensure};
use base64::Engine as _;
use sauti_audio::OutputFormat;
use sauti_audio::pcm::f32_from_i16;
use sauti_speech::{Engine, TranscribeRequest};
use sauti_text::compare;
use serde::Serialize;

use super::degrade::{Degradation, babble_bed};
use super::manifest::{Clip, ClipManifest, spread};
use super::page::ReportPage;
use super::processor::processor_seconds;
use super::readable::Marks;
use super::score::{self, ErrorRates, Scored};
use crate::offline;

const BABBLE_VOICES: usize = 6;
/// Clips with sound in the page; each takes some 30 KB there.
const SOUNDS_MAX: usize = 40;
const RATE_HZ: u32 = 16_000;

#[derive(Debug, Clone, Default)]
pub struct Options {
    pub manifest: PathBuf,
    /// Only so many clips, spread evenly over the list; 0 takes all.
    pub limit: usize,
    pub mulaw: bool,
    pub noise_db: Option<f64>,
    pub babble_db: Option<f64>,
    /// Words and sentences to listen with.
    pub vocabulary: Option<PathBuf>,
    /// What another program heard: a list with the columns `file` and `text`.
    pub second_opinion: Option<PathBuf>,
}

/// A label that two listeners both miss by more than this share of its letters is taken to be wrong.
const DOUBTFUL_CER: f64 = 0.5;

/// The figures without the clips whose label is in doubt.
#[derive(Debug, Clone, Serialize)]
pub struct Doubt {
    pub clips: Vec<String>,
    pub without: ErrorRates,
}

/// Speed, where our own recogniser was the listener.
#[derive(Debug, Clone, Serialize)]
pub struct WorkSpeed {
    pub workers: usize,
    /// Time on the clock per second of audio, with all workers busy.
    pub real_time_factor: f64,
    /// Time of one worker per second of audio.
    pub real_time_factor_worker: f64,
    /// Time of processors per second of audio, with reading the files; other programs do not count.
    pub real_time_factor_processor: f64,
}

#[derive(Debug, Serialize)]
pub struct Report {
    pub all: ErrorRates,
    /// By speaker, where the list names more than one.
    pub speakers: BTreeMap<String, ErrorRates>,
    /// Capitals and marks on the words heard right, where the references have marks.
    pub marks: Marks,
    /// Where a second opinion was given.
    pub labels_in_doubt: Option<Doubt>,
    #[serde(flatten)]
    pub speed: Option<WorkSpeed>,
    pub clips: Vec<Scored>,
    #[serde(skip)]
    conditions: String,
    #[serde(skip)]
    sounds: BTreeMap<String, Vec<u8>>,
}

pub async fn run(engine: &Engine, options: &Options) -> anyhow::Result<Report> {
    let manifest = Arc::new(ClipManifest::open(&options.manifest)?);
    ensure!(
        !manifest.clips.is_empty(),
        "{} lists no clips",
        options.manifest.display()
    );
    let degradation = Arc::new(degradation(&manifest, options)?);
    let vocabulary = options.vocabulary.as_deref();
    let vocabulary = vocabulary.map(|file| offline::vocabulary(engine, file));
    let wanted = TranscribeRequest {
        vocabulary: vocabulary.transpose()?,
        ..TranscribeRequest::default()
    };
    let chosen = spread(&manifest.clips, options.limit);
    let progress = offline::Progress::on_terminal();
    let (busy_before, started) = (engine.stats().transcription.busy_seconds, Instant::now());
    let processor_before = processor_seconds();

    let mut clips = Vec::with_capacity(chosen.len());
    let tasks = chosen.iter().enumerate().map(|(number, clip)| {
        tokio::spawn(hear(
            engine.clone(),
            manifest.clone(),
            (*clip).clone(),
            degradation.clone(),
            number as u64,
            wanted.clone(),
        ))
    });
    // One clip more than there are workers is being decoded while they work.
    offline::in_order(tasks, engine.stats().workers + 1, |scored| {
        clips.push(scored.context("the transcription broke off").flatten()?);
        progress.show(&format!("{} of {} clips", clips.len(), chosen.len()));
        Ok(())
    })
    .await?;
    progress.clear();

    let audio_seconds = clips.iter().map(|clip| clip.seconds).sum::<f64>().max(1e-9);
    let busy = engine.stats().transcription.busy_seconds - busy_before;
    let speed = WorkSpeed {
        workers: engine.stats().workers,
        real_time_factor: started.elapsed().as_secs_f64() / audio_seconds,
        real_time_factor_worker: busy / audio_seconds,
        real_time_factor_processor: (processor_seconds() - processor_before) / audio_seconds,
    };
    let mut report = Report::new(clips, Some(speed), conditions(options));
    if let Some(path) = &options.second_opinion {
        report.labels_in_doubt = Some(doubt(&report.clips, &Heard::open(path)?)?);
    }
    report.sounds = sounds_of_worst(&report, &manifest, &degradation, &chosen);
    Ok(report)
}

/// What another program heard, by file.
struct Heard(BTreeMap<String, String>);

impl Heard {
    fn open(path: &Path) -> anyhow::Result<Self> {
        let clips = ClipManifest::open(path)?.clips.into_iter();
        Ok(Self(clips.map(|clip| (clip.file, clip.text)).collect()))
    }

    fn text(&self, file: &str) -> anyhow::Result<&str> {
        let text = self.0.get(file).map(String::as_str);
        text.with_context(|| format!("nothing was heard for {file}"))
    }
}

/// Only clips that we miss ourselves need the other's opinion.
fn doubt(clips: &[Scored], other: &Heard) -> anyhow::Result<Doubt> {
    let (mut doubtful, mut sound) = (Vec::new(), Vec::new());
    for clip in clips {
        let missed = |heard: &str| {
            let heard = compare::comparable(heard);
            compare::character_errors(&clip.reference, &heard).rate() > DOUBTFUL_CER
        };
        if clip.characters.rate() > DOUBTFUL_CER && missed(other.text(&clip.name)?) {
            doubtful.push(clip.name.clone());
        } else {
            sound.push(clip);
        }
    }
    Ok(Doubt {
        clips: doubtful,
        without: score::rates(sound),
    })
}

async fn hear(
    engine: Engine,
    manifest: Arc<ClipManifest>,
    clip: Clip,
    degradation: Arc<Degradation>,
    seed: u64,
    wanted: TranscribeRequest,
) -> anyhow::Result<Scored> {
    let name = clip.file.clone();
    let read = {
        let clip = clip.clone();
        move || decode(&manifest, &clip, &degradation, seed)
    };
    let samples = tokio::task::spawn_blocking(read)
        .await
        .context("decoding broke off")??;
    let request = TranscribeRequest {
        samples: samples.into(),
        ..wanted
    };
    let heard = offline::transcribe(&engine, request, |_| ())
        .await
        .context(name)?;
    Ok(Scored::new(
        clip.file,
        clip.speaker,
        heard.seconds,
        &clip.text,
        heard.text,
    ))
}

fn decode(
    manifest: &ClipManifest,
    clip: &Clip,
    degradation: &Degradation,
    seed: u64,
) -> anyhow::Result<Vec<i16>> {
    Ok(degradation.apply(manifest.samples(clip)?, seed))
}

fn degradation(manifest: &ClipManifest, options: &Options) -> anyhow::Result<Degradation> {
    let mut degradation = Degradation {
        babble_db: options.babble_db,
        noise_db: options.noise_db,
        mulaw: options.mulaw,
        babble: Vec::new(),
    };
    if options.babble_db.is_some() {
        let voices = spread(&manifest.clips, BABBLE_VOICES).into_iter();
        let voices: Result<Vec<_>, _> = voices.map(|clip| manifest.samples(clip)).collect();
        degradation.babble = babble_bed(&voices?);
    }
    Ok(degradation)
}

fn conditions(options: &Options) -> String {
    let below = |what: &str, db: Option<f64>| db.map(|db| format!("{what} {db} dB below"));
    let said = |holds: bool, what: &str| holds.then(|| what.to_owned());
    let parts = [
        below("other voices", options.babble_db),
        below("white noise", options.noise_db),
        said(options.vocabulary.is_some(), "with a vocabulary"),
        said(options.mulaw, "8 kHz mu-law"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true => "as recorded".to_owned(),
        false => parts.join(", "),
    }
}

fn sounds_of_worst(
    report: &Report,
    manifest: &ClipManifest,
    degradation: &Degradation,
    chosen: &[&Clip],
) -> BTreeMap<String, Vec<u8>> {
    let sound = |name: &str| {
        let seed = chosen.iter().position(|clip| clip.file == name)?;
        let samples = decode(manifest, chosen[seed], degradation, seed as u64).ok()?;
        let samples: Vec<f32> = samples.into_iter().map(f32_from_i16).collect();
        let bytes = sauti_audio::encode(&samples, RATE_HZ, OutputFormat::Opus48000);
        Some((name.to_owned(), bytes.ok()?))
    };
    let worst = score::worst(&report.clips, SOUNDS_MAX).into_iter();
    worst.filter_map(|clip| sound(&clip.name)).collect()
}

impl Report {
    fn new(clips: Vec<Scored>, speed: Option<WorkSpeed>, conditions: String) -> Self {
        let mut speakers = score::by_group(&clips);
        if speakers.len() < 2 {
            speakers.clear();
        }
        let mut marks = Marks::default();
        for clip in &clips {
            marks += clip.marks;
        }
        Self {
            all: score::rates(&clips),
            speakers,
            marks,
            labels_in_doubt: None,
            speed,
            clips,
            conditions,
            sounds: BTreeMap::new(),
        }
    }

    pub fn text(&self) -> String {
        let all = &self.all;
        let mut text = format!(
            "{} clips, {:.2} h, {}\n\
             WER {:.1} % (95 %: {:.1} to {:.1}); of {} words {} wrong, {} added, {} lost\n\
             CER {:.1} %\n",
            all.clips,
            all.hours,
            self.conditions,
            all.wer_percent,
            all.wer_percent_low,
            all.wer_percent_high,
            all.words,
            all.substitutions,
            all.insertions,
            all.deletions,
            all.cer_percent,
        );
        if let Some(speed) = &self.speed {
            text += &format!("{}\n", speed.text());
        }
        if let Some(doubt) = &self.labels_in_doubt {
            text += &format!(
                "without {} clips whose label neither of two listeners comes near ({}): WER {:.1} %, CER {:.1} %\n",
                doubt.clips.len(),
                doubt.clips.join(", "),
                doubt.without.wer_percent,
                doubt.without.cer_percent
            );
        }
        for (speaker, rates) in &self.speakers {
            text += &format!(
                "  {speaker}: WER {:.1} %, CER {:.1} %, {} clips\n",
                rates.wer_percent, rates.cer_percent, rates.clips
            );
        }
        if self.marks.words > 0 {
            text += &format!(
                "capitals and marks, on words heard right: {}",
                self.marks.text()
            );
        }
        text += "worst clips:\n";
        for clip in score::worst(&self.clips, 5) {
            text += &format!(
                "  {} (CER {:.0} %)\n    said:  {}\n    heard: {}\n",
                clip.name,
                clip.characters.rate() * 100.0,
                clip.reference,
                clip.heard
            );
        }
        text
    }

    /// A page of its own: styles and the sound of the worst clips are in it.
    pub fn html(&self) -> String {
        let mut page = ReportPage::new("Recognition");
        page.paragraph(&format!(
            "{} clips, {:.2} h, {}",
            self.all.clips, self.all.hours, self.conditions
        ));
        let row = |name: &str, rates: &ErrorRates| {
            vec![
                name.to_owned(),
                rates.clips.to_string(),
                format!(
                    "{:.1} % ({:.1} to {:.1})",
                    rates.wer_percent, rates.wer_percent_low, rates.wer_percent_high
                ),
                format!("{:.1} %", rates.cer_percent),
                format!(
                    "{} / {} / {}",
                    rates.substitutions, rates.insertions, rates.deletions
                ),
            ]
        };
        let mut rows = vec![row("all", &self.all)];
        let speakers = self.speakers.iter();
        rows.extend(speakers.map(|(speaker, rates)| row(speaker, rates)));
        let header = ["", "clips", "WER (95 %)", "CER", "wrong / added / lost"];
        page.figures(&header, &rows);
        if let Some(speed) = &self.speed {
            page.paragraph(&speed.text());
        }
        page.heading("Clips, the worst first");
        page.start_clips();
        let faultless = self.clips.iter().filter(|clip| clip.words.total() == 0);
        let worst = score::worst(&self.clips, usize::MAX).into_iter();
        for clip in worst.chain(faultless) {
            let sound = self.sounds.get(&clip.name).map(|bytes| {
                let base64 = base64::engine::general_purpose::STANDARD.encode(bytes);
                format!("data:audio/ogg;base64,{base64}")
            });
            page.clip(clip, sound.as_deref());
        }
        page.finish()
    }
}

impl WorkSpeed {
    fn text(&self) -> String {
        format!(
            "real-time factor {:.3} with {} workers, {:.3} of one worker, {:.3} of processor time",
            self.real_time_factor,
            self.workers,
            self.real_time_factor_worker,
            self.real_time_factor_processor
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_in_doubt_when_two_listeners_miss_it() {
        let clip = |name: &str, heard: &str| {
            Scored::new(
                name.into(),
                String::new(),
                1.0,
                "habari za asubuhi",
                heard.into(),
            )
        };
        let clips = [
            clip("right", "habari za asubuhi"),
            clip("wrong", "mti mkubwa sana"),
            clip("ours", "mti"),
        ];
        let heard = [
            ("right", "xyz"),
            ("wrong", "miti mikubwa"),
            ("ours", "habari za asubui"),
        ];
        let heard = Heard(
            heard
                .map(|(file, text)| (file.to_owned(), text.to_owned()))
                .into(),
        );
        let doubt = doubt(&clips, &heard).unwrap();
        assert_eq!(doubt.clips, ["wrong"]);
        assert_eq!(doubt.without.clips, 2);
        let nothing = Heard(BTreeMap::new());
        assert!(
            super::doubt(&clips, &nothing)
                .unwrap_err()
                .to_string()
                .contains("wrong")
        );
    }
}
