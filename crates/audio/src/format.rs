use std::fmt;
use std::str::FromStr;

macro_rules! output_formats {
    ($($(#[$doc:meta])* $format:ident = $name:literal, $content_type:literal, $extension:literal, $rate_hz:literal;)+) => {
        /// What a caller can ask speech to be delivered as. The name says the codec and the sample rate.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub enum OutputFormat {
            $($(#[$doc])* $format,)+
        }

        impl OutputFormat {
            pub const ALL: [Self; [$($rate_hz),+].len()] = [$(Self::$format,)+];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$format => $name,)+ }
            }

            pub const fn content_type(self) -> &'static str {
                match self { $(Self::$format => $content_type,)+ }
            }

            pub const fn file_extension(self) -> &'static str {
                match self { $(Self::$format => $extension,)+ }
            }

            pub const fn sample_rate_hz(self) -> u32 {
                match self { $(Self::$format => $rate_hz,)+ }
            }
        }
    };
}

// One row for each. A new one needs its writer in `encode`, and nothing else.
output_formats! {
    #[default]
    Wav24000 = "wav_24000", "audio/wav", "wav", 24_000;
    Wav16000 = "wav_16000", "audio/wav", "wav", 16_000;
    Wav8000 = "wav_8000", "audio/wav", "wav", 8_000;
    Ulaw8000 = "ulaw_8000", "audio/wav", "wav", 8_000;
    Alaw8000 = "alaw_8000", "audio/wav", "wav", 8_000;
    /// RFC 2046: 8 kHz mono mu-law is exactly what audio/basic means.
    RawUlaw8000 = "raw_ulaw_8000", "audio/basic", "ulaw", 8_000;
    RawAlaw8000 = "raw_alaw_8000", "audio/x-alaw-basic", "alaw", 8_000;
    Opus48000 = "opus_48000", "audio/ogg; codecs=opus", "opus", 48_000;
    Mp344100 = "mp3_44100", "audio/mpeg", "mp3", 44_100;
    Flac24000 = "flac_24000", "audio/flac", "flac", 24_000;
    /// Not audio/L16: that one is big-endian.
    Pcm24000 = "pcm_24000", "audio/pcm; rate=24000", "pcm", 24_000;
    RawPcm16000 = "raw_pcm_16000", "audio/pcm; rate=16000", "pcm", 16_000;
    RawPcm8000 = "raw_pcm_8000", "audio/pcm; rate=8000", "pcm", 8_000;
}

/// The name is not an output format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an output format; these are: {names}", names = OutputFormat::ALL.map(OutputFormat::name).join(", "))]
pub struct UnknownFormat(pub String);

impl OutputFormat {
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
