use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::{Common, output, speak};
use crate::offline;
use crate::prompts::format::PromptFormat;
use crate::prompts::{self, PromptOptions};

#[derive(Debug, Subcommand)]
pub(super) enum Prompts {
    Build(Build),
}

/// Speak every line of a CSV file into a folder, in every format the telephone system wants
///
/// FILE.csv has a header line with `id` and `text`, and may have `voice`, `speed`, `pitch`,
/// `volume` and `language` (sw, en, auto). A text that starts with `<speak>` is SSML. An id names the file, folders and all: `menu/karibu`. Next to the recordings, manifest.csv lists each one's
/// file, seconds and bytes. A second run speaks only what changed: the text, its pronunciation,
/// the voice, its version, the speed, pitch and volume or the format.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sauti prompts build menu.csv --out /var/lib/asterisk/sounds/sw
  sauti prompts build menu.csv --out sounds --format alaw --format mp3_44100 --voice juma

Formats, by Asterisk's names, which are also the files' endings:
  ulaw, alaw            G.711 at 8 kHz, as telephone lines carry it
  sln, sln16, sln24     16-bit samples at 8, 16 and 24 kHz
  wav, wav16            16-bit WAV at 8 and 16 kHz
and by the names of the HTTP interface:
  wav_8000, wav_16000, wav_24000, flac_24000, mp3_44100, opus_48000,
  ulaw_8000, alaw_8000 (G.711 in WAV, which Asterisk does not play),
  raw_ulaw_8000, raw_alaw_8000, raw_pcm_8000, raw_pcm_16000, pcm_24000

menu.csv:
  id,text,voice
  menu/karibu,Karibu katika huduma kwa wateja.,asha
  menu/lugha,\"Kwa Kiswahili, bonyeza 1.\",")]
pub(super) struct Build {
    /// The list of prompts
    file: PathBuf,
    /// The folder to write into
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Output format, see below; may be repeated
    #[arg(long, value_name = "FORMAT", default_value = "ulaw")]
    format: Vec<PromptFormat>,
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
        let options = PromptOptions {
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
