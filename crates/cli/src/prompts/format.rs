//! What a prompt is written as. Asterisk chooses its reader by the file's name, so the name must say what lies inside.

use std::fmt;
use std::str::FromStr;

use sauti_audio::OutputFormat;

/// Asterisk's own names for its formats, which are also the endings of their files.
const ASTERISK: [(&str, OutputFormat); 7] = [
    ("ulaw", OutputFormat::RawUlaw8000),
    ("alaw", OutputFormat::RawAlaw8000),
    ("sln", OutputFormat::RawPcm8000),
    ("sln16", OutputFormat::RawPcm16000),
    ("sln24", OutputFormat::Pcm24000),
    ("wav", OutputFormat::Wav8000),
    ("wav16", OutputFormat::Wav16000),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PromptFormat {
    pub sound: OutputFormat,
    name: &'static str,
    pub file_extension: &'static str,
}

impl fmt::Display for PromptFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl FromStr for PromptFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        if let Some((name, sound)) = ASTERISK.into_iter().find(|(known, _)| *known == name) {
            return Ok(Self {
                sound,
                name,
                file_extension: name,
            });
        }
        if name == "gsm" {
            return Err(
                "gsm is not written: Asterisk plays ulaw on the same lines and it sounds \
                        better; where the file must be gsm, convert one: sox a.wav a.gsm"
                    .to_owned(),
            );
        }
        let sound: OutputFormat = name.parse().map_err(|_| {
            format!(
                "it is none of these: {}",
                names().collect::<Vec<_>>().join(", ")
            )
        })?;
        // A headerless sound by one of our own names still gets the ending that Asterisk knows it by.
        let headerless = ASTERISK.into_iter().take(5).find(|(_, of)| *of == sound);
        Ok(Self {
            sound,
            name: sound.name(),
            file_extension: headerless.map_or(sound.file_extension(), |(ending, _)| ending),
        })
    }
}

/// Every name that is taken: Asterisk's first, then ours.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let ours = OutputFormat::ALL.into_iter().map(OutputFormat::name);
    ASTERISK.into_iter().map(|(name, _)| name).chain(ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_end_in_what_asterisk_plays_them_as() {
        for (name, ending) in [
            ("ulaw", "ulaw"),
            ("raw_ulaw_8000", "ulaw"),
            ("raw_alaw_8000", "alaw"),
            ("raw_pcm_8000", "sln"),
            ("raw_pcm_16000", "sln16"),
            ("pcm_24000", "sln24"),
            ("wav", "wav"),
            ("wav_8000", "wav"),
            ("wav16", "wav16"),
            ("wav_16000", "wav"),
            ("mp3_44100", "mp3"),
        ] {
            let format: PromptFormat = name.parse().unwrap();
            assert_eq!(format.file_extension, ending, "{name}");
            assert_eq!(format.to_string(), name);
        }
        assert!(names().all(|name| name.parse::<PromptFormat>().is_ok()));
    }

    #[test]
    fn a_format_that_is_not_written_is_refused_with_what_to_use_instead() {
        let refused = "gsm".parse::<PromptFormat>().unwrap_err();
        assert!(refused.contains("ulaw"), "{refused}");
        let refused = "ogg".parse::<PromptFormat>().unwrap_err();
        assert!(
            refused.contains("sln16") && refused.contains("opus_48000"),
            "{refused}"
        );
    }
}
