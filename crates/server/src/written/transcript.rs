//! A transcript in the form that was asked for.

use sauti_service::transcribing::{ResponseFormat, TranscriptionRequest};
use sauti_speech::recogniser::{Alternative, AnswerValue};
use sauti_speech::{Expect, Segment, SpokenLanguage, Transcript, Word, rounded_seconds};
use serde::Serialize;

use super::subtitles;

/// What a door sends or a batch keeps: an object, or a text as it would stand in a file.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum WrittenTranscript {
    Plain(Transcription),
    Verbose(VerboseTranscription),
    Diarized(DiarizedTranscription),
    Text(String),
}

/// The transcript as it was asked for, and its content type.
pub fn write(
    request: &TranscriptionRequest,
    transcript: &Transcript,
) -> (&'static str, WrittenTranscript) {
    let text = || transcript.text.clone();
    let expected = ExpectedAnswer::of(&request.expect, transcript);
    match request.format {
        ResponseFormat::Json => (
            "application/json",
            WrittenTranscript::Plain(Transcription {
                text: text(),
                logprobs: request.logprobs.then(|| logprobs(transcript)),
                expected,
                alternatives: alternatives(request, &transcript.segments),
            }),
        ),
        ResponseFormat::VerboseJson => (
            "application/json",
            WrittenTranscript::Verbose(VerboseTranscription {
                expected,
                alternatives: alternatives(request, &transcript.segments),
                ..verbose(transcript, request.segments, request.words)
            }),
        ),
        ResponseFormat::DiarizedJson => (
            "application/json",
            WrittenTranscript::Diarized(DiarizedTranscription {
                task: "transcribe",
                duration: rounded_seconds(transcript.seconds),
                text: text(),
                segments: diarized(transcript),
            }),
        ),
        ResponseFormat::Text => (
            "text/plain; charset=utf-8",
            WrittenTranscript::Text(text() + "\n"),
        ),
        ResponseFormat::Srt => (
            "application/x-subrip; charset=utf-8",
            WrittenTranscript::Text(subtitles::srt(transcript, &request.channel_names)),
        ),
        ResponseFormat::Vtt => (
            "text/vtt; charset=utf-8",
            WrittenTranscript::Text(subtitles::vtt(transcript, &request.channel_names)),
        ),
    }
}

/// The plain answer: exactly one field, unless more was asked for.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Transcription {
    /// The transcript; empty when nobody speaks.
    pub text: String,
    /// Only where `include[]` asks for `logprobs`: one token for each word that was heard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<Vec<TokenLogprob>>,
    #[serde(flatten)]
    pub expected: Option<ExpectedAnswer>,
    /// Only where `alternatives` asks for them: the likeliest readings of the whole recording, best first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alternatives: Option<Vec<WrittenAlternative>>,
}

/// One reading of a recording or a segment; the first one is its text.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct WrittenAlternative {
    pub text: String,
    /// 0 to 1: how likely it is that exactly this was said.
    pub confidence: f32,
    /// With `expect` or `choices[]`, the value of this reading, as in the answer itself.
    #[schema(value_type = Option<serde_json::Value>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<&'static str>,
}

impl From<&Alternative> for WrittenAlternative {
    fn from(alternative: &Alternative) -> Self {
        Self {
            text: alternative.text.clone(),
            confidence: alternative.confidence,
            answer: alternative.answer.clone(),
            currency: alternative.currency,
        }
    }
}

/// The likeliest readings of all these segments together, where they were asked for.
pub fn alternatives(
    request: &TranscriptionRequest,
    segments: &[Segment],
) -> Option<Vec<WrittenAlternative>> {
    let count = request.alternatives;
    let all = || Alternative::of_all(&request.expect, segments, count);
    (count > 0).then(|| all().iter().map(WrittenAlternative::from).collect())
}

/// What a program needs of an expected answer. Only where `expect` or `choices[]` was sent.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ExpectedAnswer {
    /// `yes_no`: true or false; `digits`: a string of figures; `amount`: a number; `choices[]`: the choice as it was sent.
    /// Null where nothing was said, or nothing that is one value.
    #[schema(value_type = serde_json::Value)]
    pub answer: Option<AnswerValue>,
    /// The currency that was said with an amount: shilingi, dola, pauni, yuro, randi or faranga.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<&'static str>,
    /// Beside an answer, 0 to 1: how likely it is that this was said, in whatever words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f32>,
    /// True when somebody said something else than was expected, alone or beside it.
    pub not_understood: bool,
}

impl ExpectedAnswer {
    /// `None` where nothing in particular was expected.
    pub fn of(expect: &Expect, transcript: &Transcript) -> Option<ExpectedAnswer> {
        if *expect == Expect::Any {
            return None;
        }
        let answer = transcript.answer(expect);
        Some(ExpectedAnswer {
            confidence: answer.as_ref().and_then(|_| transcript.answer_confidence()),
            currency: answer.as_ref().and_then(AnswerValue::currency),
            answer,
            not_understood: transcript.not_understood,
        })
    }
}

/// The share of words from which on a second language makes a recording mixed.
const MIXED_FROM: f64 = 0.2;

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct TokenLogprob {
    pub token: String,
    /// The natural logarithm of the word's confidence.
    pub logprob: f64,
    /// The token in UTF-8.
    pub bytes: Vec<u8>,
}

/// The answer for `response_format=verbose_json`.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct VerboseTranscription {
    pub task: &'static str,
    /// What was heard: `swahili`, `english`, or `mixed` where each has at least a fifth of the words.
    pub language: &'static str,
    /// In seconds.
    pub duration: f64,
    pub text: String,
    /// True when nobody speaks; then there is no text either.
    pub no_speech: bool,
    #[serde(flatten)]
    pub expected: Option<ExpectedAnswer>,
    /// Only where `alternatives` asks for them: the likeliest readings of the whole recording, best first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alternatives: Option<Vec<WrittenAlternative>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<Vec<VerboseSegment>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<Vec<VerboseWord>>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct VerboseSegment {
    pub id: usize,
    pub start: f64,
    pub end: f64,
    pub text: String,
    /// 0 to 1.
    pub confidence: f32,
    /// 1 or 2, with `channels=separate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<u32>,
    /// The mean of the words' logarithms of their confidence.
    pub avg_logprob: f64,
    #[serde(flatten)]
    pub whisper: WhisperFields,
    /// `A` to `F`, with `diarize`.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<char>,
    /// The likeliest readings of the segment, best first, with `alternatives`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<WrittenAlternative>,
}

/// What OpenAI's Whisper tells of a segment and some clients insist on; there is nothing to say here.
#[derive(Debug, Default, Serialize, utoipa::ToSchema)]
pub struct WhisperFields {
    /// Always 0.
    pub seek: u64,
    /// Always empty.
    pub tokens: Vec<u32>,
    /// Always 0.
    pub temperature: f32,
    /// Always 0.
    pub compression_ratio: f32,
    /// Always 0: a segment has speech in it.
    pub no_speech_prob: f32,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct VerboseWord {
    pub word: String,
    pub start: f64,
    pub end: f64,
    /// 0 to 1.
    pub confidence: f32,
    /// `sw` or `en`.
    #[schema(value_type = String)]
    pub language: SpokenLanguage,
    /// 1 or 2, with `channels=separate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<u32>,
    /// `A` to `F`, with `diarize`.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<char>,
}

/// The answer for `response_format=diarized_json`, as OpenAI's clients read it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct DiarizedTranscription {
    pub task: &'static str,
    /// In seconds.
    pub duration: f64,
    pub text: String,
    pub segments: Vec<DiarizedSegment>,
}

/// What one person says without another in between; also an event of a stream.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct DiarizedSegment {
    /// `transcript.text.segment`
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub id: String,
    pub start: f64,
    pub end: f64,
    pub text: String,
    /// `A` for who speaks first, `B` for the next one to speak, up to `F`.
    #[schema(value_type = String)]
    pub speaker: char,
}

impl DiarizedSegment {
    /// `number` counts from 0.
    pub fn new(number: usize, segment: &Segment) -> DiarizedSegment {
        DiarizedSegment {
            kind: "transcript.text.segment",
            id: format!("seg_{number}"),
            start: rounded_seconds(segment.start),
            end: rounded_seconds(segment.end),
            text: segment.text.clone(),
            speaker: segment.speaker.unwrap_or('A'),
        }
    }
}

fn diarized(transcript: &Transcript) -> Vec<DiarizedSegment> {
    let segments = transcript.segments.iter().enumerate();
    segments
        .map(|(number, segment)| DiarizedSegment::new(number, segment))
        .collect()
}

fn logprobs(transcript: &Transcript) -> Vec<TokenLogprob> {
    let words = transcript
        .segments
        .iter()
        .flat_map(|segment| &segment.words);
    words
        .map(|word| TokenLogprob {
            token: word.word.clone(),
            logprob: logprob(word),
            bytes: word.word.clone().into_bytes(),
        })
        .collect()
}

fn logprob(word: &Word) -> f64 {
    // A confidence of nothing at all would be minus infinity, which JSON does not have.
    f64::from(word.confidence.clamp(1e-6, 1.0)).ln()
}

fn verbose(transcript: &Transcript, segments: bool, words: bool) -> VerboseTranscription {
    VerboseTranscription {
        task: "transcribe",
        language: language_heard(transcript),
        duration: rounded_seconds(transcript.seconds),
        text: transcript.text.clone(),
        no_speech: transcript.no_speech,
        expected: None,
        alternatives: None,
        segments: segments.then(|| {
            transcript
                .segments
                .iter()
                .enumerate()
                .map(verbose_segment)
                .collect()
        }),
        words: words.then(|| transcript.segments.iter().flat_map(self::words).collect()),
    }
}

fn language_heard(transcript: &Transcript) -> &'static str {
    let words = transcript
        .segments
        .iter()
        .flat_map(|segment| &segment.words);
    let (english, swahili): (Vec<&Word>, Vec<&Word>) =
        words.partition(|word| word.language == SpokenLanguage::English);
    let (english, swahili) = (english.len(), swahili.len());
    let share = MIXED_FROM * (english + swahili) as f64;
    match (english as f64, swahili as f64) {
        (0.0, _) => "swahili",
        (english, swahili) if english.min(swahili) >= share => "mixed",
        (english, swahili) if english > swahili => "english",
        _ => "swahili",
    }
}

fn verbose_segment((id, segment): (usize, &Segment)) -> VerboseSegment {
    VerboseSegment {
        id,
        start: rounded_seconds(segment.start),
        end: rounded_seconds(segment.end),
        text: segment.text.clone(),
        confidence: segment.confidence,
        channel: segment.channel,
        avg_logprob: segment.words.iter().map(logprob).sum::<f64>()
            / segment.words.len().max(1) as f64,
        whisper: WhisperFields::default(),
        speaker: segment.speaker,
        alternatives: segment.alternatives.iter().map(Into::into).collect(),
    }
}

/// The words of one segment.
pub fn words(segment: &Segment) -> Vec<VerboseWord> {
    let written = |word: &Word| VerboseWord {
        word: word.word.clone(),
        start: rounded_seconds(word.start),
        end: rounded_seconds(word.end),
        confidence: word.confidence,
        language: word.language,
        channel: segment.channel,
        speaker: segment.speaker,
    };
    segment.words.iter().map(written).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcript() -> Transcript {
        let segment = |start, end, text: &str| Segment {
            start,
            end,
            text: text.to_owned(),
            words: vec![Word {
                word: "habari".into(),
                start,
                end,
                confidence: 0.5,
                ..Word::default()
            }],
            confidence: 0.9,
            ..Segment::default()
        };
        Transcript {
            text: "Habari yako. Nzuri <sana>.".into(),
            segments: vec![
                segment(0.0, 1.2344, "Habari yako."),
                segment(3661.5, 3662.0, "Nzuri\n<sana>."),
            ],
            seconds: 3700.0,
            ..Transcript::default()
        }
    }

    #[test]
    fn verbose_has_what_was_asked_for_and_no_more() {
        let json = serde_json::to_value(verbose(&transcript(), true, false)).unwrap();
        assert_eq!(json["segments"].as_array().unwrap().len(), 2);
        assert_eq!(json.get("words"), None);
        assert_eq!(json["segments"][0]["end"], 1.234);
        assert_eq!(json["segments"][0]["avg_logprob"], 0.5f64.ln());
        assert_eq!(json["segments"][0]["tokens"], serde_json::json!([]));
    }

    #[test]
    fn the_language_is_what_was_heard() {
        let heard = |english: usize, swahili: usize| {
            let word = |language| Word {
                language,
                ..Word::default()
            };
            let mut segment = Segment::default();
            segment
                .words
                .extend((0..english).map(|_| word(SpokenLanguage::English)));
            segment
                .words
                .extend((0..swahili).map(|_| word(SpokenLanguage::Swahili)));
            let transcript = Transcript {
                segments: vec![segment],
                ..Transcript::default()
            };
            serde_json::to_value(verbose(&transcript, false, true)).unwrap()
        };
        assert_eq!(heard(0, 0)["language"], "swahili");
        assert_eq!(heard(1, 9)["language"], "swahili");
        assert_eq!(heard(2, 8)["language"], "mixed");
        assert_eq!(heard(9, 1)["language"], "english");
        assert_eq!(heard(3, 0)["language"], "english");
        assert_eq!(heard(1, 1)["words"][0]["language"], "en");
        assert_eq!(heard(1, 1)["words"][1]["language"], "sw");
    }
}
