use std::fmt;
use std::str::FromStr;

/// What a caller can ask speech to be delivered as. The name says the codec and the sample rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OutputFormat {
    #[default]
    Wav24000,
    Wav16000,
    Wav8000,
    Ulaw8000,
    Alaw8000,
    RawUlaw8000,
    RawAlaw8000,
    Opus48000,
    Mp344100,
    Flac24000,
    Pcm24000,
    RawPcm16000,
    RawPcm8000,
}

/// The name is not an output format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an output format; these are: {names}", names = OutputFormat::ALL.map(OutputFormat::name).join(", "))]
pub struct UnknownFormat(pub String);

impl OutputFormat {
    pub const ALL: [Self; 13] = [
        Self::Wav24000,
        Self::Wav16000,
        Self::Wav8000,
        Self::Ulaw8000,
        Self::Alaw8000,
        Self::RawUlaw8000,
        Self::RawAlaw8000,
        Self::Opus48000,
        Self::Mp344100,
        Self::Flac24000,
        Self::Pcm24000,
        Self::RawPcm16000,
        Self::RawPcm8000,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Wav24000 => "wav_24000",
            Self::Wav16000 => "wav_16000",
            Self::Wav8000 => "wav_8000",
            Self::Ulaw8000 => "ulaw_8000",
            Self::Alaw8000 => "alaw_8000",
            Self::RawUlaw8000 => "raw_ulaw_8000",
            Self::RawAlaw8000 => "raw_alaw_8000",
            Self::Opus48000 => "opus_48000",
            Self::Mp344100 => "mp3_44100",
            Self::Flac24000 => "flac_24000",
            Self::Pcm24000 => "pcm_24000",
            Self::RawPcm16000 => "raw_pcm_16000",
            Self::RawPcm8000 => "raw_pcm_8000",
        }
    }

    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Wav24000 | Self::Wav16000 | Self::Wav8000 | Self::Ulaw8000 | Self::Alaw8000 => {
                "audio/wav"
            }
            // RFC 2046: 8 kHz mono mu-law is exactly what audio/basic means.
            Self::RawUlaw8000 => "audio/basic",
            Self::RawAlaw8000 => "audio/x-alaw-basic",
            Self::Opus48000 => "audio/ogg; codecs=opus",
            Self::Mp344100 => "audio/mpeg",
            Self::Flac24000 => "audio/flac",
            // Not audio/L16: that one is big-endian.
            Self::Pcm24000 => "audio/pcm; rate=24000",
            Self::RawPcm16000 => "audio/pcm; rate=16000",
            Self::RawPcm8000 => "audio/pcm; rate=8000",
        }
    }

    pub const fn file_extension(self) -> &'static str {
        match self {
            Self::Wav24000 | Self::Wav16000 | Self::Wav8000 | Self::Ulaw8000 | Self::Alaw8000 => {
                "wav"
            }
            Self::RawUlaw8000 => "ulaw",
            Self::RawAlaw8000 => "alaw",
            Self::Opus48000 => "opus",
            Self::Mp344100 => "mp3",
            Self::Flac24000 => "flac",
            Self::Pcm24000 | Self::RawPcm16000 | Self::RawPcm8000 => "pcm",
        }
    }

    pub const fn sample_rate_hz(self) -> u32 {
        match self {
            Self::Wav24000 | Self::Flac24000 | Self::Pcm24000 => 24_000,
            Self::Wav16000 | Self::RawPcm16000 => 16_000,
            Self::Wav8000
            | Self::Ulaw8000
            | Self::Alaw8000
            | Self::RawUlaw8000
            | Self::RawAlaw8000
            | Self::RawPcm8000 => 8_000,
            Self::Opus48000 => 48_000,
            Self::Mp344100 => 44_100,
        }
    }

    /// True for the 8 kHz formats that go to a phone line, which want a lower loudness.
    pub const fn is_telephone(self) -> bool {
        self.sample_rate_hz() == 8_000
    }
}

impl fmt::Display for OutputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for OutputFormat {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_back_to_its_format() {
        for format in OutputFormat::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
            assert!(
                format
                    .name()
                    .ends_with(&format.sample_rate_hz().to_string())
            );
        }
        let refused = "gsm"
            .parse::<OutputFormat>()
            .map_err(|error| error.to_string());
        assert!(refused.is_err_and(|said| said.contains("mp3_44100")));
    }
}
