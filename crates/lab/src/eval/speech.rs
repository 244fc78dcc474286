//! How well the voices speak a list of sentences: what our recogniser hears, how fast they are,
//! and, where the judges are installed, how natural they sound.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context, ensure};
use sauti_audio::{OutputFormat, resample};
use sauti_speech::voice::VoiceInfo;
use sauti_speech::{Engine, SpeakRequest, TranscribeRequest};
use sauti_text::compare::{
    Errors, Step, character_errors, comparable, word_alignment, word_errors,
};
use sauti_text::{Lexicon, Script, SpeechLanguage};
use serde::Serialize;

use super::judge::{Judge, Verdict};
use super::manifest::{self, EvalPrompt};
use super::page::{ReportPage, SpeechCard};
use super::score::{self, ErrorRates, Scored};
use crate::offline;

const RECOGNISER_HZ: u32 = 16_000;

#[derive(Debug, Clone, Default)]
pub struct Options {
    pub prompts: PathBuf,
    /// None means every voice.
    pub voices: Vec<String>,
    /// How the sentences are read.
    pub language: SpeechLanguage,
    /// Only so many sentences, spread evenly over the list; 0 takes all.
    pub limit: usize,
    /// Where the speech is written, one WAV file a sentence and voice.
    pub audio_dir: PathBuf,
    pub judge: Option<Judge>,
}

#[derive(Debug, Serialize)]
pub struct VoiceReport {
    #[serde(flatten)]
    pub rates: ErrorRates,
    /// Of the words that were taken for English, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub english_wer_percent: Option<f64>,
    pub real_time_factor: f64,
    pub first_sound_ms_median: f64,
    pub first_sound_ms_p95: f64,
    /// What the judges said, by their names.
    pub judged: BTreeMap<String, Judged>,
    /// What Whisper makes of the speech, where it was asked.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub whisper: Option<ByWhisper>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ByWhisper {
    pub whisper_cer_percent: f64,
    /// The same of the letters alone: Whisper often writes Swahili words together or takes them apart.
    pub whisper_letters_percent: f64,
    pub whisper_wer_percent: f64,
}

/// A judge's figures over all clips of a voice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Judged {
    pub mean: f64,
    pub worst: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct EnglishErrors {
    wrong: usize,
    all: usize,
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
    /// English words that were heard as something else, of all of them.
    english: EnglishErrors,
    sentence: String,
    file: String,
    verdict: Verdict,
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
    let prompts = manifest::spread(&prompts, options.limit);
    let count = prompts.len();
    std::fs::create_dir_all(&options.audio_dir)
        .with_context(|| format!("cannot make {}", options.audio_dir.display()))?;
    let voices = chosen_voices(engine, &options.voices)?;
    let progress = offline::Progress::on_terminal();
    let mut clips = Vec::with_capacity(voices.len() * count);
    for voice in &voices {
        for (number, prompt) in prompts.iter().enumerate() {
            let voice_id = &voice.voice_id;
            progress.show(&format!("{voice_id}: {number} of {count} sentences"));
            clips.push(say(engine, voice, prompt, number, options).await?);
        }
    }
    progress.clear();
    if let Some(judge) = &options.judge {
        let mut verdicts = judge.verdicts(&options.audio_dir)?;
        for said in &mut clips {
            let verdict = verdicts.remove(&said.file);
            said.verdict = verdict.with_context(|| format!("no judge heard {}", said.file))?;
        }
    }
    Ok(Report {
        voices: by_voice(&clips),
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
    prompt: &EvalPrompt,
    number: usize,
    options: &Options,
) -> anyhow::Result<Said> {
    let script = Script::from_text_in(&prompt.text, &Lexicon::builtin(), options.language)
        .with_context(|| format!("{:?}", prompt.text))?;
    let spoken = script.spoken();
    let english = script.english_words().map(|w| comparable(&w.text));
    let english: BTreeSet<String> = english.collect();
    let request = SpeakRequest {
        voice_id: voice.voice_id.clone(),
        script,
        direction: sauti_speech::Direction::default(),
    };
    let said = offline::speak(engine, request)
        .await
        .with_context(|| prompt.text.clone())?;
    let seconds = said.samples.len() as f64 / f64::from(voice.sample_rate);

    let file = format!("{}-{number:04}.wav", voice.voice_id);
    let wav = sauti_audio::encode(&said.samples, voice.sample_rate, OutputFormat::default())?;
    let path = options.audio_dir.join(&file);
    std::fs::write(&path, wav).with_context(|| format!("cannot write {}", path.display()))?;

    let narrow = resample(&said.samples, voice.sample_rate, RECOGNISER_HZ);
    let samples: Vec<i16> = narrow.into_iter().map(|s| (s * 32_767.0) as i16).collect();
    let request = TranscribeRequest {
        samples: samples.into(),
        ..TranscribeRequest::default()
    };
    let heard = offline::transcribe(engine, request, |_| ()).await?;
    let name = format!("{number:04} {}", prompt.domain);
    let scored = Scored::new(name, voice.voice_id.clone(), seconds, &spoken, heard.text);
    Ok(Said {
        english: english_errors(&scored, &english),
        scored,
        sentence: prompt.text.clone(),
        file,
        verdict: Verdict::default(),
        took_s: said.took.as_secs_f64(),
        first_sound_ms: said.first_sound.as_secs_f64() * 1_000.0,
    })
}

fn english_errors(scored: &Scored, english: &BTreeSet<String>) -> EnglishErrors {
    let mut errors = EnglishErrors::default();
    for step in word_alignment(&scored.reference, &scored.heard) {
        let (word, wrong) = match step {
            Step::Same(word) => (word, 0),
            Step::Substituted {
                reference: word, ..
            }
            | Step::Deleted(word) => (word, 1),
            Step::Inserted(_) => continue,
        };
        if english.contains(word) {
            errors.all += 1;
            errors.wrong += wrong;
        }
    }
    errors
}

fn by_voice(clips: &[Said]) -> BTreeMap<String, VoiceReport> {
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
            english_wer_percent: english_wer(&said),
            real_time_factor: said.iter().map(|one| one.took_s).sum::<f64>() / seconds.max(1e-9),
            first_sound_ms_median: latencies[latencies.len() / 2],
            first_sound_ms_p95: latencies[(latencies.len() * 95 / 100).min(latencies.len() - 1)],
            judged: judged(&said),
            whisper: by_whisper(&said),
        };
        (voice.to_owned(), report)
    };
    groups.into_iter().map(report).collect()
}

fn english_wer(said: &[&Said]) -> Option<f64> {
    let all: usize = said.iter().map(|one| one.english.all).sum();
    let wrong: usize = said.iter().map(|one| one.english.wrong).sum();
    (all > 0).then(|| wrong as f64 * 100.0 / all as f64)
}

fn judged(said: &[&Said]) -> BTreeMap<String, Judged> {
    let mut figures: BTreeMap<&String, Vec<f64>> = BTreeMap::new();
    for (judge, figure) in said.iter().flat_map(|one| &one.verdict.figures) {
        figures.entry(judge).or_default().push(*figure);
    }
    let summed_up = |(judge, figures): (&String, Vec<f64>)| {
        let judged = Judged {
            mean: figures.iter().sum::<f64>() / figures.len() as f64,
            worst: figures.iter().copied().fold(f64::INFINITY, f64::min),
        };
        (judge.clone(), judged)
    };
    figures.into_iter().map(summed_up).collect()
}

fn by_whisper(said: &[&Said]) -> Option<ByWhisper> {
    let [mut characters, mut letters, mut words] = [Errors::default(); 3];
    for one in said {
        let heard = comparable(one.verdict.heard.as_ref()?);
        characters += character_errors(&one.scored.reference, &heard);
        letters += character_errors(&unspaced(&one.scored.reference), &unspaced(&heard));
        words += word_errors(&one.scored.reference, &heard);
    }
    Some(ByWhisper {
        whisper_cer_percent: characters.rate() * 100.0,
        whisper_letters_percent: letters.rate() * 100.0,
        whisper_wer_percent: words.rate() * 100.0,
    })
}

fn unspaced(text: &str) -> String {
    text.split_whitespace().collect()
}

impl Report {
    /// The figures, a row a voice, under their header.
    pub fn table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let voices = self.voices.values();
        let judges: BTreeSet<&String> = voices.flat_map(|voice| voice.judged.keys()).collect();
        let whisper = self.voices.values().any(|v| v.whisper.is_some());
        let mut header: Vec<String> = ["voice", "CER", "WER"].map(str::to_owned).into();
        let mut voices = self.voices.values();
        let english = voices.any(|voice| voice.english_wer_percent.is_some());
        if english {
            header.push("WER of English words".to_owned());
        }
        if whisper {
            header.extend(["CER by Whisper", "letters alone", "words"].map(str::to_owned));
        }
        for judge in &judges {
            header.extend([(*judge).clone(), "worst".to_owned()]);
        }
        header.extend(["RTF", "first sound ms", "p95"].map(str::to_owned));
        let row = |(voice, report): (&String, &VoiceReport)| {
            let mut row = vec![
                voice.clone(),
                format!("{:.1} %", report.rates.cer_percent),
                format!("{:.1} %", report.rates.wer_percent),
            ];
            if english {
                let rate = report.english_wer_percent;
                row.push(rate.map_or_else(String::new, |rate| format!("{rate:.1} %")));
            }
            if whisper {
                let cell = |figure: fn(&ByWhisper) -> f64| {
                    let heard = report.whisper.as_ref();
                    heard.map_or_else(String::new, |heard| format!("{:.1} %", figure(heard)))
                };
                row.extend([
                    cell(|w| w.whisper_cer_percent),
                    cell(|w| w.whisper_letters_percent),
                    cell(|w| w.whisper_wer_percent),
                ]);
            }
            for judge in &judges {
                let judged = report.judged.get(*judge);
                let cell = |figure: fn(&Judged) -> f64| {
                    judged.map_or_else(String::new, |judged| format!("{:.2}", figure(judged)))
                };
                row.extend([cell(|j| j.mean), cell(|j| j.worst)]);
            }
            row.extend([
                format!("{:.3}", report.real_time_factor),
                format!("{:.0}", report.first_sound_ms_median),
                format!("{:.0}", report.first_sound_ms_p95),
            ]);
            row
        };
        (header, self.voices.iter().map(row).collect())
    }

    /// `audio_prefix` leads from the page to the folder of the recordings.
    pub fn html(&self, audio_prefix: &str) -> String {
        let mut page = ReportPage::new("Voices");
        page.paragraph(
            "CER and WER are what our own recogniser hears; of Whisper, which often writes words together or takes them \
             apart, also the letters alone; DistillMOS and DNSMOS go from 1 to 5, with the worst \
             clip beside the mean; RTF is seconds of work for a second of speech.",
        );
        let (header, rows) = self.table();
        page.figures(&header, &rows);
        page.heading("Sentence by sentence");
        page.legend();
        let mut sentences: BTreeMap<&str, Vec<&Said>> = BTreeMap::new();
        for said in &self.clips {
            sentences.entry(&said.scored.name).or_default().push(said);
        }
        for (name, said) in sentences {
            let cards: Vec<SpeechCard<'_>> =
                said.iter().map(|one| one.card(audio_prefix)).collect();
            page.sentence(name, &said[0].sentence, &cards);
        }
        page.finish()
    }
}

impl Said {
    fn card(&self, audio_prefix: &str) -> SpeechCard<'_> {
        let mut notes = vec![
            format!("{:.1} s", self.scored.seconds),
            format!("CER {:.0} %", self.scored.characters.rate() * 100.0),
        ];
        let figures = self.verdict.figures.iter();
        notes.extend(figures.map(|(judge, figure)| format!("{judge} {figure:.2}")));
        SpeechCard {
            clip: &self.scored,
            sound: format!("{audio_prefix}{}", self.file),
            notes,
            whisper: self.verdict.heard.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, heard: Option<&str>) -> Said {
        Said {
            scored: Scored::new("0000".into(), "asha".into(), 1.0, text, text.to_owned()),
            english: EnglishErrors::default(),
            sentence: text.to_owned(),
            file: "asha-0000.wav".into(),
            verdict: Verdict {
                heard: heard.map(str::to_owned),
                ..Verdict::default()
            },
            took_s: 0.02,
            first_sound_ms: 15.0,
        }
    }

    #[test]
    fn words_written_together_are_no_errors_of_letters() {
        let said = said("elfu moja", Some("Elfumoja."));
        let heard = by_whisper(&[&said]).unwrap();
        assert!((heard.whisper_cer_percent - 100.0 / 9.0).abs() < 1e-9);
        assert_eq!(heard.whisper_letters_percent, 0.0);
        assert_eq!(heard.whisper_wer_percent, 100.0);
    }

    #[test]
    fn english_words_have_a_figure_of_their_own() {
        let heard = "nimetumia la tobu yangu group".to_owned();
        let scored = Scored::new(
            "x".into(),
            "asha".into(),
            1.0,
            "Nimetumia laptop yangu, group.",
            heard,
        );
        let english = BTreeSet::from(["laptop".to_owned(), "group".to_owned()]);
        let errors = english_errors(&scored, &english);
        assert_eq!(errors, EnglishErrors { wrong: 1, all: 2 });
    }

    #[test]
    fn without_whisper_there_is_no_figure_of_it() {
        let (heard, unheard) = (said("elfu", Some("elfu")), said("moja", None));
        assert_eq!(by_whisper(&[&heard, &unheard]), None);
    }

    #[test]
    fn the_table_has_a_cell_for_every_heading() {
        let clips = vec![said("elfu moja", Some("elfumoja"))];
        let voices = by_voice(&clips);
        let (header, rows) = Report { voices, clips }.table();
        assert!(header.contains(&"letters alone".to_owned()));
        assert_eq!(header.len(), rows[0].len());
    }
}
