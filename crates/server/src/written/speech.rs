//! When each word and mark of finished speech is reached, and what was heard in it.

use sauti_service::self_check::SelfCheck;
use sauti_speech::rounded_seconds;
use serde::Serialize;

/// A word and when it is said, in seconds from the start.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = SpokenWord)]
pub struct TimedWord<'a> {
    pub word: &'a str,
    pub start: f64,
    pub end: f64,
}

impl<'a> From<(&'a str, f64, f64)> for TimedWord<'a> {
    fn from((word, start, end): (&'a str, f64, f64)) -> TimedWord<'a> {
        let (start, end) = (rounded_seconds(start), rounded_seconds(end));
        TimedWord { word, start, end }
    }
}

/// A `mark` of SSML and when it is reached, in seconds from the start.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = SpokenMark)]
pub struct TimedMark<'a> {
    pub name: &'a str,
    pub time: f64,
}

impl<'a> From<(&'a str, f64)> for TimedMark<'a> {
    fn from((name, time): (&'a str, f64)) -> TimedMark<'a> {
        let time = rounded_seconds(time);
        TimedMark { name, time }
    }
}

/// What came back from text to sound and back to text. Case, punctuation and digits do not count.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = SelfCheck)]
pub struct WrittenCheck {
    /// What our recogniser heard.
    pub heard: String,
    /// Wrong, missing and added characters for a hundred that were to be said.
    pub cer_percent: f64,
    /// The same for words.
    pub wer_percent: f64,
}

impl From<SelfCheck> for WrittenCheck {
    fn from(check: SelfCheck) -> WrittenCheck {
        WrittenCheck {
            heard: check.heard,
            cer_percent: check.cer_percent,
            wer_percent: check.wer_percent,
        }
    }
}
