//! Listening to our own speech: what our recogniser hears in the finished sound, and how far that is from the text.

use sauti_audio::{AudioError, DecodeLimits, OutputFormat, RawFormat, decode_bytes};
use sauti_speech::TranscribeRequest;
use sauti_text::compare::{character_errors, comparable, word_errors};

/// What came back from text to sound and back to text. Case, punctuation and digits do not count.
#[derive(Debug, Clone, PartialEq)]
pub struct SelfCheck {
    /// What our recogniser heard.
    pub heard: String,
    /// Wrong, missing and added characters for a hundred that were to be said.
    pub cer_percent: f64,
    /// The same for words.
    pub wer_percent: f64,
}

impl SelfCheck {
    pub fn compare(spoken: &str, heard: String) -> Self {
        let (said, understood) = (comparable(spoken), comparable(&heard));
        let percent = |rate: f64| (rate * 1_000.0).round() / 10.0;
        Self {
            cer_percent: percent(character_errors(&said, &understood).rate()),
            wer_percent: percent(word_errors(&said, &understood).rate()),
            heard,
        }
    }
}

/// The sound as the caller gets it, codec and all, ready for the recogniser.
pub fn recording(audio: Vec<u8>, format: OutputFormat) -> Result<TranscribeRequest, AudioError> {
    let declared = RawFormat::from_content_type(format.content_type())?;
    let recording = decode_bytes(audio, declared, &DecodeLimits::default(), &|| false)?;
    Ok(TranscribeRequest {
        samples: recording.samples,
        ..TranscribeRequest::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_heard_is_compared_without_case_marks_or_digits() {
        let check = SelfCheck::compare("Bonyeza moja, tafadhali.", "bonyeza 1 tafadhali".into());
        assert_eq!((check.cer_percent, check.wer_percent), (0.0, 0.0));
        let check = SelfCheck::compare("karibu sana", "karibu".into());
        assert_eq!(check.wer_percent, 50.0);
    }

    #[test]
    fn every_format_can_be_listened_to() {
        let tone: Vec<f32> = (0..24_000).map(|n| (n as f32 * 0.05).sin() * 0.3).collect();
        for format in OutputFormat::ALL {
            let audio = sauti_audio::encode_speech(&tone, 24_000, format).unwrap();
            let samples = recording(audio, format).unwrap().samples;
            assert!(
                (15_500..17_500).contains(&samples.len()),
                "{format}: {} samples",
                samples.len()
            );
        }
    }
}
