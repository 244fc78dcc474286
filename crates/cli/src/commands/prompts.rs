use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use sauti_audio::OutputFormat;

use super::{Common, output, speak};
use crate::offline;
use crate::prompts::{self, Options};

#[derive(Debug, Subcommand)]
pub(super) enum Prompts {
    Build(Build),
}

/// Speak every line of a CSV file into a folder, in every format the telephone system wants
///
/// FILE.csv has a header line with `id` and `text`, and may have `voice` and `speed`. An id names
/// the file, folders and all: `menu/karibu`. Next to the recordings, manifest.csv lists each one's
/// file, seconds and bytes. A second run speaks only what changed: the text, its pronunciation,
/// the voice, its version, the speed or the format.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sauti prompts build menu.csv --out /var/lib/asterisk/sounds/sw --format raw_ulaw_8000
  sauti prompts build menu.csv --out sounds --format ulaw_8000 --format mp3_44100 --voice juma

menu.csv:
  id,text,voice
  menu/karibu,Karibu katika huduma kwa wateja.,asha
  menu/lugha,\"Kwa Kiswahili, bonyeza 1.\",")]
pub(super) struct Build {
    file: PathBuf,
    /// The folder to write into
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Output format; may be repeated
    #[arg(long, value_name = "FORMAT", default_value = "ulaw_8000")]
    format: Vec<OutputFormat>,
    /// The voice of lines that name none
    #[arg(long, value_name = "ID")]
    voice: Option<String>,
    /// Pronunciations of your own, as in `sauti speak --lexicon`
    #[arg(long, value_name = "FILE")]
    lexicon: Option<PathBuf>,
    /// Delete recordings of the last run that the list no longer names
    #[arg(long)]
    prune: bool,
}

impl Prompts {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        let Self::Build(build) = self;
        let config = common.load()?;
        let options = Options {
            list: build.file,
            out_dir: build.out,
            formats: build.format,
            voice_id: build.voice,
            lexicon: speak::read_lexicon(build.lexicon.as_deref())?,
            prune: build.prune,
        };
        let built = offline::block_on(async {
            let engine = offline::start_engine(&config)?;
            prompts::build(&engine, &options).await
        })??;
        output::print(&format!(
            "{} recordings: {} spoken, {} unchanged, {} deleted; {:.1} s of audio",
            built.spoken + built.unchanged,
            built.spoken,
            built.unchanged,
            built.deleted,
            built.seconds
        ))
    }
}
