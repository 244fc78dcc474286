//! The fields of a transcription form.

use sauti_service::transcribing::{TranscriptionFields, TranscriptionRequest};

use sauti_web::fields::meant_field;
use sauti_web::problem::{FieldError, Problem, Reason};

const KNOWN: &[&str] = &[
    "file",
    "response_format",
    "timestamp_granularities[]",
    "keyterms[]",
    "keywords[]",
    "prompt",
    "numerals",
    "expect",
    "choices[]",
    "stream",
    "language",
    "channels",
    "channel_names[]",
    "diarize",
    "alternatives",
    "vocabulary",
];
/// What OpenAI's clients also send.
const IGNORED: &[&str] = &[
    "model",
    "languages[]",
    "languages",
    "temperature",
    "chunking_strategy",
];

/// The form, for the OpenAPI document.
#[derive(Debug, utoipa::ToSchema)]
#[schema(as = TranscriptionRequest)]
pub struct TranscriptionForm {
    /// The recording: WAV, AIFF, AU, CAF, MP3, MP2, FLAC, Ogg Vorbis or Opus, WebM, M4A, GSM; raw G.711 where the
    /// part's content type says `audio/basic`, `audio/PCMU` or `audio/PCMA`. At most 100 MB and 2 hours.
    #[schema(value_type = String, format = Binary, content_media_type = "application/octet-stream")]
    pub file: Vec<u8>,
    /// `json` (default), `text`, `verbose_json`, `srt`, `vtt` or `diarized_json`, which asks for `diarize` too.
    pub response_format: Option<String>,
    /// `word` and/or `segment` (default), for `verbose_json`.
    #[schema(rename = "timestamp_granularities[]")]
    pub timestamp_granularities: Option<Vec<String>>,
    /// Names and terms to listen for.
    #[schema(rename = "keyterms[]")]
    pub keyterms: Option<Vec<String>>,
    /// What the recording is about, or the text before it: its words are weak key terms.
    pub prompt: Option<String>,
    /// `words` (default) or `digits`: how numbers are written.
    pub numerals: Option<String>,
    /// What kind of answer is expected: `any` (default), `digits`, `yes_no` or `amount`.
    pub expect: Option<String>,
    /// Instead of `expect`: the only phrases that can be heard.
    #[schema(rename = "choices[]")]
    pub choices: Option<Vec<String>>,
    /// Whether to answer with events, segment by segment.
    pub stream: Option<bool>,
    /// `sw`, `en`, or `auto` (default): the language that is spoken, where it is known. Others are heard as `auto`.
    pub language: Option<String>,
    /// `mixed` (default) or `separate`: the two channels of a call recording are heard each for itself, put on one time
    /// line, and each one's seconds are charged.
    pub channels: Option<String>,
    /// With `channels=separate`: what subtitles call the first and the second channel; `Channel 1` and `Channel 2` if absent.
    #[schema(rename = "channel_names[]")]
    pub channel_names: Option<Vec<String>>,
    /// Whether one to six people are told apart: segments and words of `verbose_json` have a `speaker`, `A` for who speaks first, and
    /// subtitles name it.
    pub diarize: Option<bool>,
    /// 1 to 10: so many readings of the recording and, in `verbose_json`, of each segment, best first, each with how likely it is;
    /// with `expect` or `choices[]` also with its value. For `json` and `verbose_json`.
    pub alternatives: Option<u32>,
    /// The name of a vocabulary of the workspace, to listen with.
    pub vocabulary: Option<String>,
}

/// What an item of a batch has besides.
const ITEM_FIELDS: &[&str] = &["url", "file", "content_type"];

/// Whether a form may have this field.
pub fn is_field(name: &str) -> bool {
    TranscriptionFields::default().set(name, Vec::new()) || IGNORED.contains(&name)
}

/// Whether an item of a batch is done by this field.
pub fn is_item_field(name: &str) -> bool {
    TranscriptionFields::default().set(name, Vec::new()) || ITEM_FIELDS.contains(&name)
}

/// A list may be sent with or without the brackets, or as one JSON list.
pub fn from_form(fields: &[(String, String)]) -> Result<TranscriptionRequest, Problem> {
    let (mut asked, mut slips) = (TranscriptionFields::default(), Vec::new());
    for (name, value) in fields {
        let list = serde_json::from_str(value);
        let values = list.unwrap_or_else(|_| vec![value.clone()]);
        if !asked.set(name, values) {
            slips.extend(slip(name));
        }
    }
    checked(asked.check(), slips)
}

/// An item of a batch has the same fields, as JSON.
pub fn from_item(
    item: &serde_json::Map<String, serde_json::Value>,
) -> Result<TranscriptionRequest, Problem> {
    let names = item
        .keys()
        .filter(|name| !ITEM_FIELDS.contains(&name.as_str()));
    let slips = names.filter_map(|name| slip(name)).collect();
    let asked = TranscriptionFields::of_json(item).check();
    checked(asked.map_err(without_brackets), slips)
}

/// Lists have their brackets in forms only.
pub fn without_brackets(mut errors: Vec<FieldError>) -> Vec<FieldError> {
    for error in &mut errors {
        error.field = error.field.trim_end_matches("[]").to_owned().into();
    }
    errors
}

pub fn checked(
    asked: Result<TranscriptionRequest, Vec<FieldError>>,
    slips: Vec<FieldError>,
) -> Result<TranscriptionRequest, Problem> {
    match asked {
        Ok(request) if slips.is_empty() => Ok(request),
        Ok(_) => Err(Problem::fields(slips)),
        Err(mut errors) => {
            errors.extend(slips);
            Err(Problem::fields(errors))
        }
    }
}

fn slip(name: &str) -> Option<FieldError> {
    let is_listed = KNOWN.contains(&format!("{name}[]").as_str());
    let meant = meant_field(name, KNOWN, IGNORED).filter(|_| !is_listed)?;
    Some(FieldError::new(name.to_owned(), Reason::NearMiss { meant }))
}

#[cfg(test)]
mod tests {
    use sauti_speech::Expect;

    use super::*;
    use sauti_service::transcribing::ResponseFormat;

    fn parse(fields: &[(&str, &str)]) -> Result<TranscriptionRequest, Problem> {
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        from_form(&fields)
    }
    #[test]
    fn an_openai_form_is_understood() {
        let request = parse(&[
            ("model", "whisper-1"),
            ("response_format", "verbose_json"),
            ("timestamp_granularities[]", "word"),
            ("timestamp_granularities[]", "segment"),
            ("temperature", "0"),
        ])
        .unwrap();
        assert_eq!(request.format, ResponseFormat::VerboseJson);
        assert!(request.words && request.segments);
    }

    #[test]
    fn lists_come_repeated_or_as_json() {
        let request = parse(&[
            ("keyterms", r#"["M-Pesa", "Wanjiku"]"#),
            ("keyterms[]", "Juma"),
        ])
        .unwrap();
        assert_eq!(request.keyterms, ["M-Pesa", "Wanjiku", "Juma"]);
        let request = parse(&[("choices[]", "ndiyo"), ("choices[]", "  la  ")]).unwrap();
        assert_eq!(
            request.expect,
            Expect::Choices(vec!["ndiyo".into(), "la".into()])
        );
    }

    #[test]
    fn a_list_is_named_as_json_has_it() {
        let item = serde_json::json!({"choices": ["Salio", "!?"]});
        let problem = from_item(item.as_object().unwrap()).unwrap_err();
        assert_eq!(problem.errors[0].field, "choices");
        let item = serde_json::json!({"choises[]": ["Salio"]});
        let problem = from_item(item.as_object().unwrap()).unwrap_err();
        assert_eq!(problem.errors[0].field, "choises[]");
    }

    #[test]
    fn wrong_values_and_slips_are_all_named() {
        let problem = parse(&[
            ("response_format", "xml"),
            ("numerls", "digits"),
            ("expect", "joy"),
        ])
        .unwrap_err();
        let named: Vec<_> = problem
            .errors
            .iter()
            .map(|error| error.field.as_ref())
            .collect();
        assert_eq!(named, ["response_format", "expect", "numerls"]);
    }
}
