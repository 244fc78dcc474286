//! What is wrong with one field of a request. Doors put it into words.

use std::borrow::Cow;

#[derive(Debug, Clone, PartialEq)]
pub struct FieldError {
    pub field: Cow<'static, str>,
    pub reason: Reason,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    Required,
    Empty,
    WrongType { expected: &'static str },
    TooLong { max: u64, actual: u64 },
    TooMany { max: u64 },
    OutOfRange { min: f64, max: f64 },
    UnknownValue { allowed: String },
    UnknownVoice { named: String, allowed: String },
    NearMiss { meant: &'static str },
    UnknownField { known: String },
    NotTogether { with: &'static str },
    Twice { other: &'static str },
    PrivateAddress,
    Malformed { expected: &'static str },
    Other { message: String },
    Refused { english: String, swahili: String },
}

impl FieldError {
    pub fn new(field: impl Into<Cow<'static, str>>, reason: Reason) -> FieldError {
        FieldError {
            field: field.into(),
            reason,
        }
    }
}
