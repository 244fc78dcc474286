use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use sauti_lab::eval::listen::{make, results};

use super::{Common, output};
use crate::offline;

/// Let people compare: a page to send, and what their answers say
#[derive(Debug, Subcommand)]
pub(super) enum Listen {
    Make(MakePage),
    Results(ListenResults),
}

/// Make a page with pairs of clips that people can be sent
///
/// PAIRS.tsv has a header line, a column `text`, and for each system a column of clips (paths beside the list), named as the system;
/// --voice adds a voice of Sauti's that says the texts. Every two systems are compared on every text, in an order and on sides that
/// the seed draws. Clips are brought to one rate and loudness and get names that say nothing. A few pairs come twice, and a few clips beside
/// a spoilt version of themselves: so one sees who listens. The page is in Swahili and English and needs no network; a listener
/// saves the answers as a file without a name and sends it back. The key, which tells who made which clip, stays with you.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sauti eval listen make pairs.tsv --out page
  sauti eval listen make recordings.tsv --voice zuri --voice juma --scores --out page --one-file")]
pub(super) struct MakePage {
    /// The list of pairs
    pairs: PathBuf,
    /// The folder to send or to put on a web server
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Where the key goes [default: FOLDER.key.tsv]
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// A voice of Sauti's as a further system; may be repeated
    #[arg(long, value_name = "ID")]
    voice: Vec<String>,
    /// Ask how natural each clip is, from 1 to 5, too
    #[arg(long)]
    scores: bool,
    /// Put the clips into the page: one file, for phones that open no folders
    #[arg(long)]
    one_file: bool,
    /// Another order, other sides and other names
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    seed: u64,
}

/// Show what the listeners answered
///
/// For each two systems: how many answers prefer which, the share of those that prefer one with its 95 % confidence interval (Wilson's;
/// it takes answers as independent), and whether it is settled. With scores also each system's mean, with an interval from 2,000 draws of
/// listeners and sentences. Listeners who miss more than a quarter of the spoilt clips, or judge more than half of the repeated pairs
/// the other way, are named and not counted.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  sauti eval listen results --key page.key.tsv sauti-listen-*.json")]
pub(super) struct ListenResults {
    /// The files that listeners sent back
    #[arg(required = true)]
    answers: Vec<PathBuf>,
    /// What `make` kept outside of the page
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Count listeners who failed the checks too
    #[arg(long)]
    everyone: bool,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

impl Listen {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        match self {
            Self::Make(command) => command.run(common),
            Self::Results(command) => command.run(),
        }
    }
}

impl MakePage {
    fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        let key = self
            .key
            .unwrap_or_else(|| self.out.with_added_extension("key.tsv"));
        let options = make::Options {
            pairs: self.pairs,
            voices: self.voice,
            folder: self.out,
            key,
            scores: self.scores,
            one_file: self.one_file,
            seed: self.seed,
        };
        let config = common.load()?;
        let made = offline::block_on(async {
            if options.voices.is_empty() {
                return make::make(None, &options).await;
            }
            let engine = offline::ready_engine(&config).await?;
            make::make(Some(&engine), &options).await
        })??;
        output::print(&format!(
            "{} pairs of {} in {}; the key is {}: keep it to yourself\n",
            made.trials,
            made.systems.join(", "),
            options.folder.join("index.html").display(),
            options.key.display()
        ))
    }
}

impl ListenResults {
    fn run(self) -> anyhow::Result<ExitCode> {
        let report = results::run(&self.key, &self.answers, self.everyone)?;
        output::print_report(&report, self.json, results::Report::text)
    }
}
