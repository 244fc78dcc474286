//! How well the voices speak a list of sentences: what our recogniser hears, how fast they are,
//! and, where the judges are installed, how natural they sound.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use sauti_audio::{OutputFormat, resample};
use sauti_speech::voice::VoiceInfo;
use sauti_speech::{Engine, Expect, SpeakRequest, TranscribeRequest};
use sauti_text::{Lexicon, Script};
use serde::Serialize;

use super::manifest::{self, Prompt};
use super::page::Page;
use super::score::{self, Rates, Scored};
use crate::offline;

const RECOGNISER_HZ: u32 = 16_000;

#[derive(Debug, Clone, Default)]
pub struct Options {
    pub prompts: PathBuf,
    /// None means every voice.
    pub voices: Vec<String>,
    /// Only so many sentences, spread evenly over the list; 0 takes all.
    pub limit: usize,
    /// Where the speech is written, one WAV file a sentence and voice.
    pub audio_dir: PathBuf,
    /// The Python program and script that judge naturalness.
    pub judge: Option<(PathBuf, PathBuf)>,
}

#[derive(Debug, Serialize)]
pub struct VoiceReport {
    #[serde(flatten)]
    pub rates: Rates,
    pub real_time_factor: f64,
    pub first_sound_ms_median: f64,
    pub first_sound_ms_p95: f64,
    /// Means of what the judges said, by their names.
    pub judged: BTreeMap<String, f64>,
}

#[derive(Debug, Serialize)]
pub struct Report {
    pub voices: BTreeMap<String, VoiceReport>,
    #[serde(skip)]
    clips: Vec<Said>,
}

#[derive(Debug)]
struct Said {
    scored: Scored,
    file: String,
    took_s: f64,
    first_sound_ms: f64,
}

/// One sentence after the other, so that the latencies are those of a quiet machine.
pub async fn run(engine: &Engine, options: &Options) -> anyhow::Result<Report> {
    let prompts = manifest::prompts(&options.prompts)?;
    ensure!(
        !prompts.is_empty(),
        "{} lists no sentences",
        options.prompts.display()
    );
    let count = if options.limit == 0 {
        prompts.len()
    } else {
        options.limit.min(prompts.len())
    };
    std::fs::create_dir_all(&options.audio_dir)
        .with_context(|| format!("cannot make {}", options.audio_dir.display()))?;
    let voices = chosen_voices(engine, &options.voices)?;
    let progress = offline::Progress::new();
    let mut clips = Vec::with_capacity(voices.len() * count);
    for voice in &voices {
        for number in 0..count {
            progress.show(&format!(
                "{}: {number} of {count} sentences",
                voice.voice_id
            ));
            let prompt = &prompts[number * prompts.len() / count];
            clips.push(say(engine, voice, prompt, number, &options.audio_dir).await?);
        }
    }
    progress.clear();
    let judged = match &options.judge {
        Some((python, script)) => judge(python, script, &options.audio_dir, &clips)?,
        None => BTreeMap::new(),
    };
    Ok(Report {
        voices: by_voice(&clips, &judged),
        clips,
    })
}

fn chosen_voices(engine: &Engine, named: &[String]) -> anyhow::Result<Vec<VoiceInfo>> {
    let all = engine.voices();
    for name in named {
        offline::choose_voice(engine, Some(name))?;
    }
    let wanted = |voice: &&VoiceInfo| named.is_empty() || named.contains(&voice.voice_id);
    Ok(all.iter().filter(wanted).cloned().collect())
}

async fn say(
    engine: &Engine,
    voice: &VoiceInfo,
    prompt: &Prompt,
    number: usize,
    audio_dir: &Path,
) -> anyhow::Result<Said> {
    let script = Script::from_text(&prompt.text, &Lexicon::builtin())
        .with_context(|| format!("{:?}", prompt.text))?;
    let spoken = script.spoken();
    let request = SpeakRequest {
        voice_id: voice.voice_id.clone(),
        script,
        speed: 1.0,
    };
    let said = offline::speak(engine, request)
        .await
        .with_context(|| prompt.text.clone())?;
    let seconds = said.samples.len() as f64 / f64::from(voice.sample_rate);

    let file = format!("{}-{number:04}.wav", voice.voice_id);
    let wav = sauti_audio::encode(&said.samples, voice.sample_rate, OutputFormat::default())?;
    let path = audio_dir.join(&file);
    std::fs::write(&path, wav).with_context(|| format!("cannot write {}", path.display()))?;

    let narrow = resample(&said.samples, voice.sample_rate, RECOGNISER_HZ);
    let samples: Vec<i16> = narrow.into_iter().map(|s| (s * 32_767.0) as i16).collect();
    let request = TranscribeRequest {
        samples: samples.into(),
        keyterms: Vec::new(),
        expect: Expect::Any,
        digits: false,
    };
    let heard = offline::transcribe(engine, request, |_| ()).await?;
    let name = format!("{number:04} {}", prompt.domain);
    let scored = Scored::new(name, voice.voice_id.clone(), seconds, &spoken, heard.text);
    Ok(Said {
        scored,
        file,
        took_s: said.took.as_secs_f64(),
        first_sound_ms: said.first_sound.as_secs_f64() * 1_000.0,
    })
}

/// The judge gets the folder and answers with lines of FILE, a tab, JUDGE, a tab, FIGURE.
fn judge(
    python: &Path,
    script: &Path,
    audio_dir: &Path,
    clips: &[Said],
) -> anyhow::Result<BTreeMap<String, BTreeMap<String, f64>>> {
    let ran = Command::new(python).arg(script).arg(audio_dir).output();
    let output = ran.with_context(|| format!("cannot run {}", python.display()))?;
    if !output.status.success() {
        bail!(
            "the judge failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let voice_of: BTreeMap<&str, &str> = clips
        .iter()
        .map(|said| (said.file.as_str(), said.scored.group.as_str()))
        .collect();
    let mut figures: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let [file, judge, figure] = cells[..] else {
            continue;
        };
        if let (Some(voice), Ok(figure)) = (voice_of.get(file), figure.trim().parse()) {
            figures
                .entry(((*voice).to_owned(), judge.to_owned()))
                .or_default()
                .push(figure);
        }
    }
    ensure!(
        !figures.is_empty(),
        "the judge said nothing of the recordings"
    );
    let mut means: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    for ((voice, judge), figures) in figures {
        let mean = figures.iter().sum::<f64>() / figures.len() as f64;
        means.entry(voice).or_default().insert(judge, mean);
    }
    Ok(means)
}

fn by_voice(
    clips: &[Said],
    judged: &BTreeMap<String, BTreeMap<String, f64>>,
) -> BTreeMap<String, VoiceReport> {
    let mut groups: BTreeMap<&str, Vec<&Said>> = BTreeMap::new();
    for said in clips {
        groups.entry(&said.scored.group).or_default().push(said);
    }
    let report = |(voice, said): (&str, Vec<&Said>)| {
        let mut latencies: Vec<f64> = said.iter().map(|one| one.first_sound_ms).collect();
        latencies.sort_by(f64::total_cmp);
        let seconds: f64 = said.iter().map(|one| one.scored.seconds).sum();
        let report = VoiceReport {
            rates: score::rates(said.iter().map(|one| &one.scored)),
            real_time_factor: said.iter().map(|one| one.took_s).sum::<f64>() / seconds.max(1e-9),
            first_sound_ms_median: latencies[latencies.len() / 2],
            first_sound_ms_p95: latencies[(latencies.len() * 95 / 100).min(latencies.len() - 1)],
            judged: judged.get(voice).cloned().unwrap_or_default(),
        };
        (voice.to_owned(), report)
    };
    groups.into_iter().map(report).collect()
}

impl Report {
    /// The figures, a row a voice, under their header.
    pub fn table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let judges: std::collections::BTreeSet<&String> = self
            .voices
            .values()
            .flat_map(|voice| voice.judged.keys())
            .collect();
        let mut header: Vec<String> = ["voice", "CER", "WER", "RTF", "first sound ms", "p95"]
            .map(str::to_owned)
            .into();
        header.extend(judges.iter().map(|judge| (*judge).clone()));
        let row = |(voice, report): (&String, &VoiceReport)| {
            let mut row = vec![
                voice.clone(),
                format!("{:.1} %", report.rates.cer_percent),
                format!("{:.1} %", report.rates.wer_percent),
                format!("{:.3}", report.real_time_factor),
                format!("{:.0}", report.first_sound_ms_median),
                format!("{:.0}", report.first_sound_ms_p95),
            ];
            row.extend(judges.iter().map(|judge| {
                report
                    .judged
                    .get(*judge)
                    .map_or_else(String::new, |mean| format!("{mean:.2}"))
            }));
            row
        };
        (header, self.voices.iter().map(row).collect())
    }

    /// `audio_prefix` leads from the page to the folder of the recordings.
    pub fn html(&self, audio_prefix: &str) -> String {
        let mut page = Page::new("Voices");
        page.paragraph(
            "CER and WER are what our own recogniser hears; RTF is time per second of speech.",
        );
        let (header, rows) = self.table();
        page.figures(
            &header.iter().map(String::as_str).collect::<Vec<_>>(),
            &rows,
        );
        page.heading("Sentences, sentence by sentence");
        page.start_clips();
        let mut clips: Vec<&Said> = self.clips.iter().collect();
        clips.sort_by(|a, b| a.scored.name.cmp(&b.scored.name).then(a.file.cmp(&b.file)));
        for said in clips {
            page.clip(&said.scored, Some(&format!("{audio_prefix}{}", said.file)));
        }
        page.finish()
    }
}
