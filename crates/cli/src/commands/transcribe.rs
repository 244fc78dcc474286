use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::{Args, ValueEnum};
use sauti_audio::{Channels, DecodeLimits, RawFormat, Recording};
use sauti_speech::recogniser::{ALTERNATIVES_MAX, Alternative, VocabularyModel};
use sauti_speech::{
    Engine, Expect, SpokenLanguage, TranscribeRequest, Transcript, rounded_seconds,
};
use serde_json::json;
use tokio::task::JoinHandle;

use super::{Common, output};
use crate::offline;

/// Print what is said in recordings
///
/// Runs the recogniser here, without a server, an account or money. One line a file, in order.
/// A file that cannot be read gets an empty line (or an object with "error"), a message on
/// standard error, and the exit status 1.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sauti transcribe note.ogg call.wav
  sauti transcribe --json --numerals meeting.mp3 | jq .text
  sauti transcribe --keyterm Mombasa --keyterm Safaricom call.wav
  sauti transcribe --diarize meeting.mp3
  sauti transcribe --raw ulaw_8000 call.ul")]
pub(super) struct Transcribe {
    /// One JSON object a file: file, text, seconds, no_speech, not_understood, answer and confidence (of --expect), segments with words and times
    #[arg(long)]
    json: bool,
    /// Numbers as digits (or, with --numerals=words, as words)
    #[arg(long, value_enum, default_value_t, value_name = "STYLE", num_args = 0..=1, default_missing_value = "digits", require_equals = true)]
    numerals: Numerals,
    /// A name or term to listen for; may be repeated
    #[arg(long, value_name = "TERM")]
    keyterm: Vec<String>,
    /// Sentences and words of your own to listen with, one a line; a line may be a word, a tab and how it sounds
    #[arg(long, value_name = "FILE")]
    vocabulary: Option<PathBuf>,
    /// What is expected: any, digits, yes_no, amount
    #[arg(long, value_enum, default_value_t)]
    expect: Expected,
    /// The language that is spoken, where it is known
    #[arg(long, value_enum, default_value_t)]
    language: LanguageChoice,
    /// Channels mixed into one, or the two sides of a call each for itself: segments then say their channel
    #[arg(long, value_enum, default_value_t)]
    channels: ChannelsHeard,
    /// With --json: so many readings of each file and segment, best first, with confidences
    #[arg(long, value_name = "N", requires = "json", conflicts_with = "diarize", value_parser = clap::value_parser!(u8).range(1..=ALTERNATIVES_MAX as i64))]
    alternatives: Option<u8>,
    /// Tell one to six people apart: segments say their speaker, and so does the line
    #[arg(long, conflicts_with_all = ["expect", "channels"])]
    diarize: bool,
    /// Files without a header hold this
    #[arg(long, value_enum, value_name = "FORMAT")]
    raw: Option<Raw>,
    /// Recordings, of any kind the service takes; `-` is standard input
    #[arg(required = true)]
    file: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, ValueEnum)]
enum Numerals {
    #[default]
    Words,
    Digits,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum LanguageChoice {
    #[default]
    Auto,
    Sw,
    En,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum ChannelsHeard {
    #[default]
    Mixed,
    Separate,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Expected {
    #[default]
    Any,
    Digits,
    YesNo,
    Amount,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Raw {
    #[value(name = "ulaw_8000")]
    Ulaw8000,
    #[value(name = "alaw_8000")]
    Alaw8000,
    #[value(name = "pcm_8000")]
    Pcm8000,
    #[value(name = "pcm_16000")]
    Pcm16000,
}

type TranscribedFile = anyhow::Result<Transcript>;

impl Transcribe {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        let config = common.load()?;
        let limits = DecodeLimits {
            channels: match self.channels {
                ChannelsHeard::Mixed => Channels::Mixed,
                ChannelsHeard::Separate => Channels::Separate,
            },
            seconds_max: config.limits.recording_seconds_max as f64,
            spool_dir: Some(std::env::temp_dir()),
            ..DecodeLimits::default()
        };
        offline::block_on(async {
            let engine = offline::ready_engine(&config).await?;
            self.transcribe_all(&engine, limits).await
        })?
    }

    /// As many files at a time as there are workers, answers in the order of the files.
    async fn transcribe_all(
        &self,
        engine: &Engine,
        limits: DecodeLimits,
    ) -> anyhow::Result<ExitCode> {
        let progress = Arc::new(offline::Progress::on_terminal());
        let vocabulary = self.vocabulary.as_deref();
        let vocabulary = vocabulary.map(|file| offline::vocabulary(engine, file));
        let vocabulary = vocabulary.transpose()?;
        let tasks = self.file.iter().map(|file| {
            let vocabulary = vocabulary.clone();
            self.start(engine, file.clone(), limits.clone(), vocabulary, &progress)
        });
        let (mut files, mut failed) = (self.file.iter(), 0);
        offline::in_order(tasks, engine.stats().workers, |answer| {
            let answer = answer.context("the transcription broke off").flatten();
            progress.clear();
            failed += usize::from(answer.is_err());
            files.next().map_or(Ok(()), |file| self.write(file, answer))
        })
        .await?;
        Ok(output::exit_code(failed == 0))
    }

    fn start(
        &self,
        engine: &Engine,
        file: PathBuf,
        limits: DecodeLimits,
        vocabulary: Option<Arc<VocabularyModel>>,
        progress: &Arc<offline::Progress>,
    ) -> JoinHandle<TranscribedFile> {
        let (engine, progress) = (engine.clone(), progress.clone());
        let (keyterms, expect) = (self.keyterm.clone(), self.expect.into());
        let (diarize, alternatives) = (self.diarize, self.alternatives());
        let language = match self.language {
            LanguageChoice::Auto => None,
            LanguageChoice::Sw => Some(SpokenLanguage::Swahili),
            LanguageChoice::En => Some(SpokenLanguage::English),
        };
        let digits = self.numerals == Numerals::Digits;
        let declared = self.raw.map(RawFormat::from);
        tokio::spawn(async move {
            let source = file.clone();
            let recording = tokio::task::spawn_blocking(move || read(&source, declared, &limits));
            let recording = recording.await.context("decoding broke off")??;
            let seconds = recording.seconds;
            let request = TranscribeRequest {
                samples: recording.samples,
                second_channel: recording.second_channel,
                keyterms,
                prompt: String::new(),
                expect,
                digits,
                diarize,
                language,
                alternatives,
                vocabulary,
            };
            offline::transcribe(&engine, request, |done| {
                progress.show(&format!("{}: {done:.0} of {seconds:.0} s", file.display()));
            })
            .await
        })
    }

    fn write(&self, file: &Path, answer: TranscribedFile) -> anyhow::Result<()> {
        let mut out = io::stdout().lock();
        if let Err(error) = &answer {
            eprintln!("sauti: {}: {error:#}", file.display());
        }
        let line = match (self.json, answer) {
            (false, Ok(transcript)) => line(&transcript).replace(['\n', '\r'], " "),
            (false, Err(_)) => String::new(),
            (true, Err(error)) => {
                json!({ "file": file.to_string_lossy(), "error": format!("{error:#}") }).to_string()
            }
            (true, Ok(transcript)) => self.json(file, &transcript).to_string(),
        };
        writeln!(out, "{line}")?;
        out.flush()?;
        Ok(())
    }

    fn alternatives(&self) -> usize {
        self.alternatives.map_or(0, usize::from)
    }

    fn json(&self, file: &Path, transcript: &Transcript) -> serde_json::Value {
        let expect = self.expect.into();
        let answer = transcript.answer(&expect);
        let mut json = json!({
            "file": file.to_string_lossy(),
            "text": transcript.text,
            "seconds": rounded_seconds(transcript.seconds),
            "no_speech": transcript.no_speech,
            "not_understood": transcript.not_understood,
            "confidence": answer.as_ref().and_then(|_| transcript.answer_confidence()),
            "answer": answer,
            "segments": transcript.segments,
        });
        if self.alternatives.is_some() {
            let count = self.alternatives();
            let alternatives = Alternative::of_all(&expect, &transcript.segments, count);
            json["alternatives"] = json!(alternatives);
        }
        json
    }
}

/// The text; with who says it before each change, where that is known.
fn line(transcript: &Transcript) -> String {
    let (mut line, mut last) = (String::new(), None);
    for segment in &transcript.segments {
        let channel = segment.channel.map(|channel| channel.to_string());
        let who = segment.speaker.map(String::from).or(channel);
        let Some(who) = who else {
            return transcript.text.clone();
        };
        if !line.is_empty() {
            line.push(' ');
        }
        if last.as_ref() != Some(&who) {
            line.push_str(&format!("{who}: "));
        }
        line.push_str(&segment.text);
        last = Some(who);
    }
    line
}

fn read(
    file: &Path,
    declared: Option<RawFormat>,
    limits: &DecodeLimits,
) -> anyhow::Result<Recording> {
    let opened = if file == Path::new("-") {
        let mut spool = tempfile::tempfile()?;
        // Two hours of 32-bit stereo at 48 kHz, and some: more than any accepted recording needs.
        io::copy(&mut io::stdin().lock().take(3_000_000_000), &mut spool)?;
        spool
    } else {
        File::open(file).context("cannot open the file")?
    };
    if opened.metadata().is_ok_and(|meta| meta.is_dir()) {
        anyhow::bail!("is a folder");
    }
    let decoded = sauti_audio::decode_file(opened, declared, limits, &|| false);
    Ok(decoded?)
}

impl From<Expected> for Expect {
    fn from(expected: Expected) -> Self {
        match expected {
            Expected::Any => Self::Any,
            Expected::Digits => Self::Digits,
            Expected::YesNo => Self::YesNo,
            Expected::Amount => Self::Amount,
        }
    }
}

impl From<Raw> for RawFormat {
    fn from(raw: Raw) -> Self {
        match raw {
            Raw::Ulaw8000 => Self::Ulaw8000,
            Raw::Alaw8000 => Self::Alaw8000,
            Raw::Pcm8000 => Self::Pcm16Le { rate_hz: 8_000 },
            Raw::Pcm16000 => Self::Pcm16Le { rate_hz: 16_000 },
        }
    }
}
