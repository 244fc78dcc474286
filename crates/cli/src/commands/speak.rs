use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use sauti_audio::OutputFormat;
use sauti_service::self_check::{self, SelfCheck};
use sauti_speech::{Direction, PitchShift, ScriptTimes, SpeakRequest, Speed, VolumeGain};
use sauti_text::{Lexicon, Script, SpeechLanguage};

use super::Common;
use crate::offline;

/// Speak a text into a file
///
/// Runs the voices here, without a server, an account or money.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sauti speak --voice asha --out karibu.wav 'Karibu katika huduma kwa wateja.'
  sauti speak --voice juma --out karibu.mp3 --speed 0.9 'Bei ni KSh 1,250.'
  sauti speak --voice asha --language en --out balance.wav 'Your balance is KSh 1,250.'
  sauti speak --voice asha --format ulaw_8000 --out menu.wav 'Bonyeza moja.'
  echo 'Habari za asubuhi.' | sauti speak --voice asha --out - --format raw_ulaw_8000 | player

The format follows the file's name (.wav .mp3 .flac .opus .ogg) unless --format names one.")]
pub(super) struct Speak {
    /// The voice (`sauti voices` lists them); the first one where none is named
    #[arg(long, value_name = "ID")]
    voice: Option<String>,
    /// The file to write; `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// wav_24000, wav_16000, wav_8000, ulaw_8000, alaw_8000, opus_48000, mp3_44100, flac_24000, ...
    #[arg(long, value_name = "FORMAT")]
    format: Option<OutputFormat>,
    /// Pace, 0.5 to 2.0
    #[arg(long, default_value_t)]
    speed: Speed,
    /// Semitones above the voice's own pitch, -12 to 12
    #[arg(long, default_value_t, allow_negative_numbers = true)]
    pitch: PitchShift,
    /// Decibels above the loudness of all speech, -24 to 12
    #[arg(long, default_value_t, allow_negative_numbers = true)]
    volume: VolumeGain,
    /// sw: Swahili, English words in it said as English; en: English; auto: each sentence in its own
    #[arg(long, value_name = "LANGUAGE", default_value_t)]
    language: SpeechLanguage,
    /// The text is an SSML document, as one that starts with <speak> always is; standard error tells when its marks are reached
    #[arg(long)]
    ssml: bool,
    /// Let our recogniser listen to the result, and tell on standard error what it heard and how far off that is
    #[arg(long)]
    check: bool,
    /// Pronunciations of your own: lines of WORD, a tab, and the word as it would be spelled in Swahili
    #[arg(long, value_name = "FILE")]
    lexicon: Option<PathBuf>,
    /// What to say; read from standard input where it is missing or `-`
    #[arg(allow_hyphen_values = true)]
    text: Option<String>,
}

impl Speak {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        let config = common.load()?;
        let text = read_text(self.text.as_deref())?;
        let lexicon = read_lexicon(self.lexicon.as_deref())?;
        let script = match self.ssml {
            true => Script::from_ssml_in(&text, &lexicon, self.language)?,
            false => offline::script_of(&text, &lexicon, self.language)?,
        };
        let format = match self.format {
            Some(format) => format,
            None => format_for(&self.out)?,
        };
        let (said, marked) = (script.spoken(), script.clone());
        let (spoken, bytes, check) = offline::block_on(async {
            let engine = offline::start_engine(&config)?;
            // A wrong name is told before the models are waited for.
            let (voice_id, rate_hz) = offline::choose_voice(&engine, self.voice.as_deref())?;
            offline::wait_ready(&engine).await?;
            let request = SpeakRequest {
                voice_id,
                script,
                direction: Direction {
                    speed: self.speed,
                    pitch: self.pitch,
                    volume: self.volume,
                },
            };
            let spoken = offline::speak(&engine, request).await?;
            let bytes = sauti_audio::encode_speech(&spoken.samples, rate_hz, format)?;
            let check = if self.check {
                let recording = self_check::recording(bytes.clone(), format)?;
                let heard = offline::transcribe(&engine, recording, |_| ()).await?;
                Some(SelfCheck::compare(&said, heard.text))
            } else {
                None
            };
            anyhow::Ok((spoken, bytes, check))
        })??;
        write_whole(&self.out, &bytes)?;
        let mut err = std::io::stderr().lock();
        let mut times = ScriptTimes::default();
        times.add(&marked, &spoken.words);
        for (name, time) in times.marks(&marked, Some(spoken.seconds)) {
            writeln!(err, "mark {name}: {time:.3} s")?;
        }
        if let Some(check) = check {
            writeln!(
                err,
                "heard: {}\ncharacter errors {:.1} %, word errors {:.1} %",
                check.heard, check.cer_percent, check.wer_percent
            )?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn read_text(given: Option<&str>) -> anyhow::Result<String> {
    match given {
        Some(text) if text != "-" => Ok(text.to_owned()),
        _ => {
            let mut text = String::new();
            // Four bytes a character at most; a longer text is refused by its length anyway.
            let bytes_max = 4 * sauti_text::CHARACTERS_MAX as u64 + 1;
            std::io::stdin()
                .lock()
                .take(bytes_max)
                .read_to_string(&mut text)?;
            Ok(text)
        }
    }
}

pub(super) fn read_lexicon(file: Option<&Path>) -> anyhow::Result<Lexicon> {
    let Some(file) = file else {
        return Ok(Lexicon::builtin());
    };
    let text =
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    Lexicon::parse(&text).with_context(|| file.display().to_string())
}

fn format_for(out: &Path) -> anyhow::Result<OutputFormat> {
    let extension = out.extension().map(|e| e.to_string_lossy().to_lowercase());
    let name = match extension.as_deref() {
        None | Some("wav") => "wav_24000",
        Some("mp3") => "mp3_44100",
        Some("flac") => "flac_24000",
        Some("opus" | "ogg") => "opus_48000",
        Some("pcm" | "raw") => "pcm_24000",
        Some("ulaw" | "ul") => "raw_ulaw_8000",
        Some("alaw" | "al") => "raw_alaw_8000",
        Some(other) => bail!("no format belongs to .{other} files; name one with --format"),
    };
    Ok(name.parse()?)
}

/// Into a neighbour first, so that nobody ever sees half a file.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if path == Path::new("-") {
        let mut out = std::io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()?;
        return Ok(());
    }
    // A device or a pipe cannot be replaced by another file.
    let special = std::fs::metadata(path).is_ok_and(|meta| !meta.is_file());
    let written = if special {
        std::fs::write(path, bytes)
    } else {
        replace_file(path, bytes)
    };
    written.with_context(|| format!("cannot write {}", path.display()))
}

fn replace_file(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let folder = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    // The errors of a temporary file would tell its own name.
    std::fs::metadata(folder)?;
    let mut file = tempfile::Builder::new()
        .permissions(std::fs::Permissions::from_mode(0o644))
        .tempfile_in(folder)
        .map_err(|error| error.kind())?;
    file.as_file_mut().write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}
