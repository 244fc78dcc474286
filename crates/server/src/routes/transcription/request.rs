//! The fields of a transcription form, parsed once.

use sauti_speech::Expect;

use crate::http::fields::meant_field;
use crate::problem::{FieldError, Problem, Reason};

const KNOWN: &[&str] = &[
    "file",
    "response_format",
    "timestamp_granularities[]",
    "keyterms[]",
    "numerals",
    "expect",
    "choices[]",
    "stream",
];
/// What OpenAI's clients also send.
const IGNORED: &[&str] = &[
    "model",
    "language",
    "prompt",
    "temperature",
    "include[]",
    "include",
    "chunking_strategy",
    "known_speaker_names[]",
    "known_speaker_references[]",
];
const KEYTERMS_MAX: usize = 100;
const CHOICES_MAX: usize = 100;
const TERM_CHARS_MAX: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseFormat {
    Json,
    Text,
    VerboseJson,
    Srt,
    Vtt,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptionRequest {
    pub format: ResponseFormat,
    pub words: bool,
    pub segments: bool,
    pub keyterms: Vec<String>,
    pub expect: Expect,
    pub digits: bool,
    pub stream: bool,
}

/// The form, for the OpenAPI document.
#[derive(Debug, utoipa::ToSchema)]
#[schema(as = TranscriptionRequest)]
pub struct TranscriptionForm {
    /// The recording: WAV, MP3, FLAC, Ogg Vorbis or Opus, WebM, M4A; raw G.711 where the part's
    /// content type says `audio/basic`, `audio/PCMU` or `audio/PCMA`. At most 100 MB and 2 hours.
    #[schema(value_type = String, format = Binary, content_media_type = "application/octet-stream")]
    pub file: Vec<u8>,
    /// `json` (default), `text`, `verbose_json`, `srt` or `vtt`.
    pub response_format: Option<String>,
    /// `word` and/or `segment` (default), for `verbose_json`.
    #[schema(rename = "timestamp_granularities[]")]
    pub timestamp_granularities: Option<Vec<String>>,
    /// Names and terms to listen for.
    #[schema(rename = "keyterms[]")]
    pub keyterms: Option<Vec<String>>,
    /// `words` (default) or `digits`: how numbers are written.
    pub numerals: Option<String>,
    /// What kind of answer is expected: `any` (default), `digits`, `yes_no` or `amount`.
    pub expect: Option<String>,
    /// Instead of `expect`: the only phrases that can be heard.
    #[schema(rename = "choices[]")]
    pub choices: Option<Vec<String>>,
    /// Whether to answer with events, segment by segment.
    pub stream: Option<bool>,
}

impl TranscriptionRequest {
    pub fn parse(fields: &[(String, String)]) -> Result<TranscriptionRequest, Problem> {
        let mut form = Form {
            fields,
            errors: Vec::new(),
        };
        let format = form.response_format();
        let (words, segments) = form.granularities();
        let keyterms = form.terms("keyterms[]", KEYTERMS_MAX);
        let expect = form.expect();
        let digits = form.numerals();
        let stream = form.stream();
        form.look_for_slips();
        match form.errors.is_empty() {
            true => Ok(TranscriptionRequest {
                format,
                words,
                segments,
                keyterms,
                expect,
                digits,
                stream,
            }),
            false => Err(Problem::fields(form.errors)),
        }
    }
}

struct Form<'a> {
    fields: &'a [(String, String)],
    errors: Vec<FieldError>,
}

impl Form<'_> {
    /// A list may be sent with or without the brackets, or as one JSON list.
    fn all(&self, name: &'static str) -> Vec<String> {
        let bare = name.trim_end_matches("[]");
        let same = |field: &str| field == name || field == bare;
        let mut values = Vec::new();
        for (_, value) in self.fields.iter().filter(|(field, _)| same(field)) {
            match serde_json::from_str::<Vec<String>>(value)
                .ok()
                .filter(|_| value.starts_with('['))
            {
                Some(list) => values.extend(list),
                None => values.push(value.clone()),
            }
        }
        values
    }

    fn one(&self, name: &str) -> Option<&str> {
        let last = self.fields.iter().rev().find(|(field, _)| field == name);
        last.map(|(_, value)| value.trim())
            .filter(|value| !value.is_empty())
    }

    fn wrong(&mut self, field: &'static str, allowed: &str) {
        self.errors.push(FieldError::new(
            field,
            Reason::UnknownValue {
                allowed: allowed.to_owned(),
            },
        ));
    }

    fn response_format(&mut self) -> ResponseFormat {
        match self.one("response_format") {
            None | Some("json") => ResponseFormat::Json,
            Some("text") => ResponseFormat::Text,
            Some("verbose_json") => ResponseFormat::VerboseJson,
            Some("srt") => ResponseFormat::Srt,
            Some("vtt") => ResponseFormat::Vtt,
            Some(_) => {
                self.wrong("response_format", "json, text, verbose_json, srt, vtt");
                ResponseFormat::Json
            }
        }
    }

    fn granularities(&mut self) -> (bool, bool) {
        let wanted = self.all("timestamp_granularities[]");
        if wanted
            .iter()
            .any(|value| value != "word" && value != "segment")
        {
            self.wrong("timestamp_granularities[]", "word, segment");
        }
        let has = |name: &str| wanted.iter().any(|value| value == name);
        (has("word"), has("segment") || wanted.is_empty())
    }

    fn terms(&mut self, field: &'static str, max: usize) -> Vec<String> {
        let terms: Vec<String> = self
            .all(field)
            .iter()
            .map(|term| term.split_whitespace().collect::<Vec<_>>().join(" "))
            .filter(|term| !term.is_empty())
            .collect();
        if terms.len() > max {
            self.errors
                .push(FieldError::new(field, Reason::TooMany { max: max as u64 }));
        }
        if let Some(long) = terms
            .iter()
            .find(|term| term.chars().count() > TERM_CHARS_MAX)
        {
            let actual = long.chars().count() as u64;
            let reason = Reason::TooLong {
                max: TERM_CHARS_MAX as u64,
                actual,
            };
            self.errors.push(FieldError::new(field, reason));
        }
        terms
    }

    fn expect(&mut self) -> Expect {
        let choices = self.terms("choices[]", CHOICES_MAX);
        let named = match self.one("expect") {
            None => None,
            Some("any") => Some(Expect::Any),
            Some("digits") => Some(Expect::Digits),
            Some("yes_no") => Some(Expect::YesNo),
            Some("amount") => Some(Expect::Amount),
            Some(_) => {
                self.wrong("expect", "any, digits, yes_no, amount");
                None
            }
        };
        match (choices.is_empty(), named) {
            (true, named) => named.unwrap_or_default(),
            (false, None | Some(Expect::Any)) => Expect::Choices(choices),
            (false, Some(_)) => {
                self.errors.push(FieldError::new(
                    "choices[]",
                    Reason::NotTogether { with: "expect" },
                ));
                Expect::Any
            }
        }
    }

    fn numerals(&mut self) -> bool {
        match self.one("numerals") {
            None | Some("words") => false,
            Some("digits") => true,
            Some(_) => {
                self.wrong("numerals", "words, digits");
                false
            }
        }
    }

    fn stream(&mut self) -> bool {
        match self.one("stream").map(str::to_ascii_lowercase).as_deref() {
            None | Some("false" | "0") => false,
            Some("true" | "1" | "sse") => true,
            Some(_) => {
                self.wrong("stream", "true, false");
                false
            }
        }
    }

    fn look_for_slips(&mut self) {
        for (name, _) in self.fields.iter().take(64) {
            let bracketed = format!("{name}[]");
            if KNOWN.contains(&bracketed.as_str()) {
                continue;
            }
            if let Some(meant) = meant_field(name, KNOWN, IGNORED) {
                self.errors
                    .push(FieldError::new(name.clone(), Reason::NearMiss { meant }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(fields: &[(&str, &str)]) -> Result<TranscriptionRequest, Problem> {
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        TranscriptionRequest::parse(&fields)
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
