//! What is wrong with one field, in words that help.

use sauti_service::{FieldError, Reason};
use serde::Serialize;

use crate::language::Language;

/// As it stands in the body of a problem.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct FieldProblem {
    /// The field, as the request names it.
    pub field: String,
    /// A word for programs.
    pub code: String,
    /// A sentence for people.
    pub message: String,
}

impl FieldProblem {
    pub fn new(error: &FieldError, language: Language) -> FieldProblem {
        FieldProblem {
            field: error.field.to_string(),
            code: code(&error.reason).to_owned(),
            message: match language {
                Language::English => english(error),
                Language::Swahili => swahili(error),
            },
        }
    }
}

fn english(error: &FieldError) -> String {
    let field = &error.field;
    match &error.reason {
        Reason::Required => format!("{field} is required."),
        Reason::Empty => format!("{field} is empty."),
        Reason::WrongType { expected } => format!("{field} must be {expected}."),
        Reason::TooLong { max, actual } => {
            format!("{field} has {actual} characters; at most {max} are accepted.")
        }
        Reason::TooMany { max: 1 } => format!("{field} may be given only once."),
        Reason::TooMany { max } => format!("{field}: at most {max} are accepted."),
        Reason::OutOfRange { min, max } => format!("{field} must be from {min} to {max}."),
        Reason::UnknownValue { allowed } => format!("{field} must be one of: {allowed}."),
        Reason::UnknownVoice { named, allowed } => {
            format!("{field} {named:?} is no voice. The voices are: {allowed}.")
        }
        Reason::NearMiss { meant } => {
            format!("{field} is not a field of this request. Did you mean {meant}?")
        }
        Reason::UnknownField { known } => {
            format!("{field} is not a field of this request. Its fields are: {known}.")
        }
        Reason::NotTogether { with } => format!("{field} cannot be used together with {with}."),
        Reason::Twice { other } => {
            format!("{field} and {other} are two names of one field; send one of them.")
        }
        Reason::PrivateAddress => {
            format!("{field} leads into a private network, where nothing is sent from here.")
        }
        Reason::Malformed { expected } => format!("{field} must be {expected}."),
        Reason::Other { message } => format!("{field} {message}."),
        Reason::Refused { english, .. } => format!("{field}: {english}"),
    }
}

fn swahili(error: &FieldError) -> String {
    let field = &error.field;
    match &error.reason {
        Reason::Required => format!("{field} inahitajika."),
        Reason::Empty => format!("{field} ni tupu."),
        Reason::WrongType { expected } | Reason::Malformed { expected } => {
            match in_swahili(expected) {
                Some(expected) => format!("{field} lazima iwe {expected}."),
                None => format!("{field} si ya aina inayotakiwa."),
            }
        }
        Reason::Other { .. } => {
            format!("{field} ina thamani isiyokubalika.")
        }
        Reason::Refused { swahili, .. } => format!("{field}: {swahili}"),
        Reason::TooLong { max, actual } => {
            format!("{field} ina herufi {actual}; zinazokubalika ni {max} tu.")
        }
        Reason::TooMany { max: 1 } => format!("{field} inaweza kutolewa mara moja tu."),
        Reason::TooMany { max } => format!("{field}: zinazokubalika ni {max} tu."),
        Reason::OutOfRange { min, max } => {
            format!("{field} lazima iwe kati ya {min} na {max}.")
        }
        Reason::UnknownValue { allowed } => {
            format!("{field} lazima iwe mojawapo ya: {allowed}.")
        }
        Reason::UnknownVoice { named, allowed } => {
            format!("{field} {named:?} si sauti. Sauti zilizopo ni: {allowed}.")
        }
        Reason::NearMiss { meant } => {
            format!("{field} si sehemu ya ombi hili. Je, ulimaanisha {meant}?")
        }
        Reason::UnknownField { known } => {
            format!("{field} si sehemu ya ombi hili. Sehemu zake ni: {known}.")
        }
        Reason::NotTogether { with } => format!("{field} haiwezi kutumika pamoja na {with}."),
        Reason::Twice { other } => {
            format!("{field} na {other} ni majina mawili ya sehemu moja; tuma moja tu.")
        }
        Reason::PrivateAddress => {
            format!("{field} inaelekea kwenye mtandao wa ndani; hakuna kinachotumwa huko.")
        }
    }
}

/// What a field must be, as our own messages say it.
fn in_swahili(expected: &str) -> Option<&'static str> {
    Some(match expected {
        "a string" => "maandishi",
        "a number" => "namba",
        "a whole number" => "namba kamili",
        "true or false" => "true au false",
        "an object" => "kitu cha JSON",
        "a list of objects" => "orodha ya vitu vya JSON",
        "a list of strings" => "orodha ya maandishi",
        "a day such as 2026-01-31" => "siku, kwa mfano 2026-01-31",
        "a day that is not before from" => "siku isiyo kabla ya from",
        "a list" => "orodha",
        "a list of objects with word and, if it sounds otherwise, a list of sounds" => {
            "orodha ya vitu vya JSON vyenye word na, ikitamkwa vingine, orodha ya sounds"
        }
        "words with letters" => "maneno yenye herufi",
        "one word" => "neno moja",
        "a word with letters or figures" => "neno lenye herufi au tarakimu",
        "text in UTF-8" => "maandishi ya UTF-8",
        "a Swahili spelling, or IPA between slashes" => {
            "tahajia ya Kiswahili, au IPA kati ya mikwaju"
        }
        _ => return None,
    })
}

fn code(reason: &Reason) -> &'static str {
    match reason {
        Reason::Required => "required",
        Reason::Empty => "empty",
        Reason::WrongType { .. } => "wrong_type",
        Reason::TooLong { .. } => "too_long",
        Reason::TooMany { .. } => "too_many",
        Reason::OutOfRange { .. } => "out_of_range",
        Reason::UnknownValue { .. } => "unknown_value",
        Reason::UnknownVoice { .. } => "unknown_voice",
        Reason::NearMiss { .. } => "near_miss",
        Reason::UnknownField { .. } => "unknown_field",
        Reason::NotTogether { .. } => "not_together",
        Reason::Twice { .. } => "twice",
        Reason::PrivateAddress => "private_address",
        Reason::Malformed { .. } => "malformed",
        Reason::Other { .. } | Reason::Refused { .. } => "not_accepted",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_is_not_a_number_of_times() {
        for (max, english, swahili) in [
            (
                1,
                "file may be given only once.",
                "file inaweza kutolewa mara moja tu.",
            ),
            (
                2,
                "file: at most 2 are accepted.",
                "file: zinazokubalika ni 2 tu.",
            ),
        ] {
            let error = FieldError::new("file", Reason::TooMany { max });
            let said = |language| FieldProblem::new(&error, language).message;
            assert_eq!(said(Language::English), english);
            assert_eq!(said(Language::Swahili), swahili);
        }
    }
}
