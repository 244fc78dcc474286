//! What is to be said, by whom, and as what kind of file.

use sauti_audio::OutputFormat;
use sauti_speech::voice::VoiceInfo;
use sauti_speech::{Direction, PitchShift, SpeechError, Speed, VolumeGain};
use sauti_text::SpeechLanguage;
use serde::{Deserialize, Serialize};

use super::Passage;
use crate::ServiceError;
use crate::config::Limits;

#[derive(Debug, Clone, PartialEq)]
pub struct SpeechRequest {
    /// Trimmed.
    pub text: String,
    pub is_ssml: bool,
    pub language: SpeechLanguage,
    pub voice_id: String,
    pub voice_version: String,
    pub format: OutputFormat,
    pub direction: Direction,
}

impl SpeechRequest {
    pub fn passage(&self) -> Passage<'_> {
        Passage {
            text: &self.text,
            is_ssml: self.is_ssml,
            language: self.language,
            speed: self.direction.speed,
        }
    }

    /// How many samples a second its voice makes.
    pub(super) fn rate_hz(&self, voices: &[VoiceInfo]) -> u32 {
        let voice = voices.iter().find(|voice| voice.voice_id == self.voice_id);
        voice.map_or(24_000, |voice| voice.sample_rate)
    }
}

/// An item of a batch as it lies in the store. The names are those of the API, so that items that
/// an earlier version accepted as they came can still be read.
#[derive(Debug, Serialize, Deserialize)]
pub struct SpeechItem {
    #[serde(alias = "input")]
    text: String,
    #[serde(alias = "voice")]
    voice_id: String,
    #[serde(alias = "response_format")]
    output_format: Option<String>,
    speed: Option<f64>,
    pitch: Option<f64>,
    volume: Option<f64>,
    ssml: Option<bool>,
    language: Option<String>,
    timestamps: Option<bool>,
}

impl SpeechItem {
    pub fn new(request: &SpeechRequest, timestamps: bool) -> SpeechItem {
        SpeechItem {
            text: request.text.clone(),
            voice_id: request.voice_id.clone(),
            output_format: Some(request.format.name().to_owned()),
            speed: Some(f64::from(request.direction.speed.get())),
            pitch: Some(f64::from(request.direction.pitch.get())),
            volume: Some(f64::from(request.direction.volume.get())),
            ssml: Some(request.is_ssml),
            language: Some(request.language.name().to_owned()),
            timestamps: Some(timestamps),
        }
    }

    pub fn parse(stored: &str) -> Result<SpeechItem, ServiceError> {
        serde_json::from_str(stored).map_err(ServiceError::internal)
    }

    /// Whether the answer tells when each word is said.
    pub fn timestamps(&self) -> bool {
        self.timestamps.unwrap_or(false)
    }

    /// The voice is looked up when the work begins: it may be another version by then.
    pub fn request(self, voices: &[VoiceInfo]) -> Result<SpeechRequest, ServiceError> {
        let voice = voices.iter().find(|voice| voice.voice_id == self.voice_id);
        let voice = voice.ok_or(SpeechError::UnknownVoice(self.voice_id))?;
        let named = self.output_format.as_deref();
        let language = self.language.as_deref().map(str::parse);
        let direction = Direction {
            speed: self.speed.and_then(Speed::new).unwrap_or_default(),
            pitch: self.pitch.and_then(PitchShift::new).unwrap_or_default(),
            volume: self.volume.and_then(VolumeGain::new).unwrap_or_default(),
        };
        Ok(SpeechRequest {
            is_ssml: self.ssml.unwrap_or_else(|| looks_like_ssml(&self.text)),
            language: language.and_then(Result::ok).unwrap_or_default(),
            text: self.text.trim().to_owned(),
            voice_id: voice.voice_id.clone(),
            voice_version: voice.model_version.clone(),
            format: named.and_then(format_named).unwrap_or_default(),
            direction,
        })
    }
}

/// Our own names, and OpenAI's short ones.
pub fn format_named(name: &str) -> Option<OutputFormat> {
    match name {
        "wav" => Some(OutputFormat::Wav24000),
        "mp3" => Some(OutputFormat::Mp344100),
        "opus" => Some(OutputFormat::Opus48000),
        "flac" => Some(OutputFormat::Flac24000),
        "pcm" => Some(OutputFormat::Pcm24000),
        ours => ours.parse().ok(),
    }
}

/// Whether it starts with `<speak>`, behind a prolog and comments; what is declared before it is refused as SSML, not read out.
pub fn looks_like_ssml(text: &str) -> bool {
    let mut rest = text.trim_start();
    for (opening, closing) in [("<?xml", "?>"), ("<!--", "-->")] {
        while let Some(inner) = rest.strip_prefix(opening) {
            let (_, behind) = inner.split_once(closing).unwrap_or_default();
            rest = behind.trim_start();
        }
    }
    let opens = ["<speak", "<!DOCTYPE"]
        .iter()
        .find_map(|opening| rest.strip_prefix(opening));
    opens.is_some_and(|rest| rest.starts_with(['>', ' ', '\n', '\t', '\r', '/']))
}

/// How long a text may be as it is written. Markup is not spoken and may take some room of its own.
pub fn characters_max(limits: &Limits, is_ssml: bool) -> usize {
    match is_ssml {
        true => limits.text_chars_max * 4,
        false => limits.text_chars_max,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ssml_is_known_by_its_beginning() {
        for text in [
            "<speak>Habari.</speak>",
            " <speak xml:lang=\"sw\">Habari.</speak>",
            "<?xml version=\"1.0\"?>\n<speak>Habari.</speak>",
            "<!-- moja --> <!-- mbili --><speak>Habari.</speak>",
            "<?xml version=\"1.0\"?><!DOCTYPE speak><speak>Habari.</speak>",
        ] {
            assert!(looks_like_ssml(text), "{text}");
        }
        for text in [
            "Habari.",
            "<speaker>",
            "<!-- Habari",
            "<?xml Habari",
            "Andika <speak>",
        ] {
            assert!(!looks_like_ssml(text), "{text}");
        }
    }
}
