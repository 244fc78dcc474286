//! What is asked of a recording. Doors fill `TranscriptionFields` from a form, an address or JSON; what they may hold is
//! decided here, once.

use sauti_audio::{Channels, UnknownChannels};
use sauti_speech::recogniser::ALTERNATIVES_MAX;
use sauti_speech::{Expect, SpokenLanguage, TranscribeRequest};
use serde_json::{Map, Value};

use crate::{FieldError, Reason};

const KEYTERMS_MAX: usize = 100;
const CHOICES_MAX: usize = 100;
const TERM_CHARS_MAX: usize = 100;
const CHANNELS_MAX: usize = 2;
/// Only the last words of it count.
const PROMPT_CHARS_MAX: usize = 20_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseFormat {
    Json,
    Text,
    VerboseJson,
    Srt,
    Vtt,
    DiarizedJson,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptionRequest {
    pub format: ResponseFormat,
    pub words: bool,
    pub segments: bool,
    pub keyterms: Vec<String>,
    pub prompt: String,
    pub expect: Expect,
    pub digits: bool,
    pub stream: bool,
    /// Whether the plain answer brings the confidence of each word, as OpenAI's clients ask for it.
    pub logprobs: bool,
    /// Whether speakers are told apart.
    pub diarize: bool,
    /// The language that is spoken; none where it is to be heard.
    pub language: Option<SpokenLanguage>,
    pub channels: Channels,
    /// What subtitles call the channels, as far as the caller named them.
    pub channel_names: Vec<String>,
    /// How many readings to give, the text itself among them; 0 where they were not asked for.
    pub alternatives: usize,
    /// A vocabulary of the workspace, by its name.
    pub vocabulary: Option<String>,
}

impl TranscriptionRequest {
    /// What to listen for; the sound comes with it or later.
    pub(crate) fn for_engine(&self) -> TranscribeRequest {
        TranscribeRequest {
            keyterms: self.keyterms.clone(),
            prompt: self.prompt.clone(),
            expect: self.expect.clone(),
            digits: self.digits,
            diarize: self.diarize,
            language: self.language,
            alternatives: self.alternatives,
            ..TranscribeRequest::default()
        }
    }
}

/// The fields as they came, before anybody looked at them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TranscriptionFields {
    response_format: Option<String>,
    numerals: Option<String>,
    expect: Option<String>,
    stream: Option<String>,
    timestamp_granularities: Vec<String>,
    keyterms: Vec<String>,
    prompt: Option<String>,
    choices: Vec<String>,
    include: Vec<String>,
    language: Option<String>,
    channels: Option<String>,
    channel_names: Vec<String>,
    diarize: Option<String>,
    alternatives: Option<String>,
    vocabulary: Option<String>,
    /// OpenAI's fields for voices that are known beforehand.
    known_speakers: Vec<String>,
    /// Fields of one value that were given several.
    repeated: Vec<String>,
}

impl TranscriptionFields {
    /// The fields of an item of a batch, as it came and as it lies in the store.
    pub fn of_json(object: &Map<String, Value>) -> TranscriptionFields {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let mut fields = TranscriptionFields::default();
        for (name, value) in object.iter().filter(|(_, value)| !value.is_null()) {
            let values = match value {
                Value::Array(values) => values.iter().map(text).collect(),
                value => vec![text(value)],
            };
            fields.set(name, values);
        }
        fields
    }

    /// Takes one field. Lists may come piece by piece, the others once. False where it is none of ours.
    pub fn set(&mut self, name: &str, values: Vec<String>) -> bool {
        let name = name.trim_end_matches("[]");
        let one = match name {
            "timestamp_granularities" => return add(&mut self.timestamp_granularities, values),
            // OpenAI's name for them.
            "keyterms" | "keywords" => return add(&mut self.keyterms, values),
            "choices" => return add(&mut self.choices, values),
            "include" => return add(&mut self.include, values),
            "channel_names" => return add(&mut self.channel_names, values),
            "known_speaker_names" | "known_speaker_references" => {
                return add(&mut self.known_speakers, values);
            }
            "language" => &mut self.language,
            "channels" => &mut self.channels,
            "prompt" => &mut self.prompt,
            "diarize" => &mut self.diarize,
            "alternatives" => &mut self.alternatives,
            "vocabulary" => &mut self.vocabulary,
            "response_format" => &mut self.response_format,
            "numerals" => &mut self.numerals,
            "expect" => &mut self.expect,
            "stream" => &mut self.stream,
            _ => return false,
        };
        if one.is_some() || values.len() > 1 {
            self.repeated.push(name.to_owned());
        }
        *one = values.into_iter().next_back();
        true
    }

    /// Every mistake is named, not only the first.
    pub fn check(&self) -> Result<TranscriptionRequest, Vec<FieldError>> {
        let once = |name: &String| FieldError::new(name.clone(), Reason::TooMany { max: 1 });
        let mut check = Check {
            fields: self,
            errors: self.repeated.iter().map(once).collect(),
        };
        let format = check.response_format();
        let (words, segments) = check.granularities();
        let language = self.language.as_deref().and_then(named_language);
        let (expect, channels) = (check.expect(language), check.channels());
        let diarize = check.diarize(format, &expect, channels);
        let keyterms = self.keyterms.iter().filter(is_filled);
        let request = TranscriptionRequest {
            format,
            words,
            segments,
            keyterms: check.terms("keyterms[]", keyterms, KEYTERMS_MAX),
            prompt: check.prompt(),
            expect,
            digits: check.numerals(),
            stream: check.stream(),
            logprobs: self.include.iter().any(|value| value == "logprobs"),
            diarize,
            channels,
            language,
            channel_names: check.channel_names(channels),
            alternatives: check.alternatives(format, diarize),
            vocabulary: filled(&self.vocabulary).map(str::to_owned),
        };
        match check.errors.is_empty() {
            true => Ok(request),
            false => Err(check.errors),
        }
    }
}

fn is_filled(term: &&String) -> bool {
    !term.trim().is_empty()
}

struct Check<'a> {
    fields: &'a TranscriptionFields,
    errors: Vec<FieldError>,
}

impl Check<'_> {
    fn wrong(&mut self, field: &'static str, allowed: &str) {
        let allowed = allowed.to_owned();
        self.errors
            .push(FieldError::new(field, Reason::UnknownValue { allowed }));
    }

    fn response_format(&mut self) -> ResponseFormat {
        match filled(&self.fields.response_format) {
            None | Some("json") => ResponseFormat::Json,
            Some("text") => ResponseFormat::Text,
            Some("verbose_json") => ResponseFormat::VerboseJson,
            Some("srt") => ResponseFormat::Srt,
            Some("vtt") => ResponseFormat::Vtt,
            Some("diarized_json") => ResponseFormat::DiarizedJson,
            Some(_) => {
                let allowed = "json, text, verbose_json, srt, vtt, diarized_json";
                self.wrong("response_format", allowed);
                ResponseFormat::Json
            }
        }
    }

    fn granularities(&mut self) -> (bool, bool) {
        let wanted = &self.fields.timestamp_granularities;
        let is_known = |value: &String| value == "word" || value == "segment";
        let (all_known, is_empty) = (wanted.iter().all(is_known), wanted.is_empty());
        let has = |name: &str| wanted.iter().any(|value| value == name);
        let (words, segments) = (has("word"), has("segment") || is_empty);
        if !all_known {
            self.wrong("timestamp_granularities[]", "word, segment");
        }
        (words, segments)
    }

    fn terms<'a>(
        &mut self,
        field: &'static str,
        given: impl Iterator<Item = &'a String>,
        max: usize,
    ) -> Vec<String> {
        let terms: Vec<String> = given
            .map(|term| term.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        if terms.len() > max {
            let max = max as u64;
            self.errors
                .push(FieldError::new(field, Reason::TooMany { max }));
        }
        let longest = terms.iter().map(|term| term.chars().count()).max();
        if let Some(actual) = longest.filter(|chars| *chars > TERM_CHARS_MAX) {
            let (max, actual) = (TERM_CHARS_MAX as u64, actual as u64);
            self.errors
                .push(FieldError::new(field, Reason::TooLong { max, actual }));
        }
        terms
    }

    fn prompt(&mut self) -> String {
        let prompt = self.fields.prompt.clone().unwrap_or_default();
        let actual = prompt.chars().count();
        if actual > PROMPT_CHARS_MAX {
            let (max, actual) = (PROMPT_CHARS_MAX as u64, actual as u64);
            self.errors
                .push(FieldError::new("prompt", Reason::TooLong { max, actual }));
        }
        prompt
    }

    fn expect(&mut self, language: Option<SpokenLanguage>) -> Expect {
        let choices = self.terms(
            "choices[]",
            self.fields.choices.iter().filter(is_filled),
            CHOICES_MAX,
        );
        // Whoever sends one waits for an answer, which would never come.
        if choices.is_empty() && !self.fields.choices.is_empty() {
            self.errors
                .push(FieldError::new("choices[]", Reason::Empty));
        }
        let named = match self.fields.expect.as_deref().map(str::trim) {
            None => None,
            Some("") => {
                self.errors.push(FieldError::new("expect", Reason::Empty));
                None
            }
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
            (false, None | Some(Expect::Any)) => {
                let choices = Expect::Choices(choices);
                let unheard = choices.unheard_choice(language);
                self.errors.extend(unheard.map(nothing_to_hear));
                choices
            }
            (false, Some(_)) => {
                let reason = Reason::NotTogether { with: "expect" };
                self.errors.push(FieldError::new("choices[]", reason));
                Expect::Any
            }
        }
    }

    fn channels(&mut self) -> Channels {
        let channels = filled(&self.fields.channels).map_or(Ok(Channels::Mixed), str::parse);
        channels.unwrap_or_else(|UnknownChannels| {
            self.wrong("channels", Channels::NAMES);
            Channels::Mixed
        })
    }

    fn channel_names(&mut self, channels: Channels) -> Vec<String> {
        let given = self.fields.channel_names.iter();
        let names = self.terms("channel_names[]", given, CHANNELS_MAX);
        if channels == Channels::Mixed && names.iter().any(|name| !name.is_empty()) {
            let english = "channels have names only with channels=separate.".to_owned();
            let swahili = "pande za mazungumzo hupewa majina kwa channels=separate tu.".to_owned();
            let reason = Reason::Refused { english, swahili };
            self.errors.push(FieldError::new("channel_names[]", reason));
        }
        names
    }

    fn numerals(&mut self) -> bool {
        match filled(&self.fields.numerals) {
            None | Some("words") => false,
            Some("digits") => true,
            Some(_) => {
                self.wrong("numerals", "words, digits");
                false
            }
        }
    }

    fn stream(&mut self) -> bool {
        match filled(&self.fields.stream) {
            Some("sse") => true,
            stream => self.flag("stream", stream).unwrap_or(false),
        }
    }

    /// Who speaks is told by the sound of a whole recording, mixed into one; a short answer has one speaker.
    fn diarize(&mut self, format: ResponseFormat, expect: &Expect, channels: Channels) -> bool {
        let asked = self.flag("diarize", filled(&self.fields.diarize));
        let diarize = format == ResponseFormat::DiarizedJson || asked == Some(true);
        let mut refuse = |field: &'static str, reason| {
            self.errors.push(FieldError::new(field, reason));
        };
        let answer = match expect {
            Expect::Any => None,
            Expect::Choices(_) => Some("choices[]"),
            _ => Some("expect"),
        };
        let separate = (channels == Channels::Separate).then_some("channels");
        // The format asks for speakers too: what the caller has sent is named.
        let with = match asked {
            Some(true) => "diarize",
            _ => "response_format=diarized_json",
        };
        for field in [answer, separate].into_iter().flatten().filter(|_| diarize) {
            refuse(field, Reason::NotTogether { with });
        }
        if format == ResponseFormat::DiarizedJson && asked == Some(false) {
            refuse(
                "diarize",
                Reason::NotTogether {
                    with: "diarized_json",
                },
            );
        }
        if !self.fields.known_speakers.is_empty() {
            let message = "is not known here: speakers are told apart and called A, B and so on, \
                           by no voice that was sent before"
                .to_owned();
            refuse("known_speaker_names[]", Reason::Other { message });
        }
        diarize
    }

    /// Subtitles and plain text have no place for them, and a speaker's turn is cut from the best reading.
    fn alternatives(&mut self, format: ResponseFormat, diarize: bool) -> usize {
        let Some(given) = filled(&self.fields.alternatives) else {
            return 0;
        };
        let count = given.parse().ok();
        let count = count.filter(|count| (1..=ALTERNATIVES_MAX).contains(count));
        let is_json = matches!(format, ResponseFormat::Json | ResponseFormat::VerboseJson);
        let wrong = match count {
            None => Some(Reason::OutOfRange {
                min: 1.0,
                max: ALTERNATIVES_MAX as f64,
            }),
            Some(_) if !is_json => Some(Reason::NotTogether {
                with: "response_format=text, srt, vtt or diarized_json",
            }),
            Some(_) if diarize => Some(Reason::NotTogether { with: "diarize" }),
            Some(_) => None,
        };
        if let Some(reason) = wrong {
            self.errors.push(FieldError::new("alternatives", reason));
        }
        count.unwrap_or(0)
    }

    fn flag(&mut self, field: &'static str, given: Option<&str>) -> Option<bool> {
        match given?.to_ascii_lowercase().as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => {
                self.wrong(field, "true, false");
                None
            }
        }
    }
}

fn nothing_to_hear(choice: &str) -> FieldError {
    let english = format!("{choice:?} has no letters to listen for, or too many when it is said.");
    let swahili = format!("{choice:?} haina herufi za kusikilizwa, au ni ndefu mno ikitamkwa.");
    FieldError::new("choices[]", Reason::Refused { english, swahili })
}

fn add(list: &mut Vec<String>, values: Vec<String>) -> bool {
    list.extend(values);
    true
}

/// Swahili or English, as clients name them: `sw`, `sw-KE`, `swahili`. Any other word says nothing of what we could hear.
fn named_language(name: &str) -> Option<SpokenLanguage> {
    let name = name.trim().to_ascii_lowercase();
    match name.split(['-', '_']).next()? {
        "sw" | "swa" | "swh" | "swahili" | "kiswahili" => Some(SpokenLanguage::Swahili),
        "en" | "eng" | "english" => Some(SpokenLanguage::English),
        _ => None,
    }
}

/// An empty field counts as none.
fn filled(value: &Option<String>) -> Option<&str> {
    value
        .as_deref()
        .map(str::trim)
        .filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests;
