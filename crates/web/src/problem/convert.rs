//! From the errors of the other crates to a refusal. What happened inside stays inside.

use sauti_audio::AudioError;
use sauti_service::ServiceError;
use sauti_service::ratelimit::SeatRefused;
use sauti_service::telemetry::metrics;
use sauti_service::transcribing::SpoolError;
use sauti_speech::SpeechError;
use sauti_store::{AuthError, LedgerError, StoreError};
use sauti_text::TextError;
use serde_json::json;

use super::{Code, Problem, Reason};
use crate::language::Language;

const STORAGE_RETRY_AFTER_S: u64 = 2;

impl From<SpeechError> for Problem {
    fn from(error: SpeechError) -> Problem {
        match error {
            SpeechError::Overloaded { retry_after } => {
                Problem::new(Code::Overloaded).retry_after(retry_after.as_secs_f64().ceil() as u64)
            }
            SpeechError::WarmingUp { retry_after } => {
                Problem::new(Code::WarmingUp).retry_after(retry_after.as_secs_f64().ceil() as u64)
            }
            SpeechError::ShuttingDown => Problem::new(Code::ShuttingDown).retry_after(5),
            SpeechError::DeadlineExceeded => Problem::new(Code::DeadlineExceeded),
            SpeechError::UnknownVoice(_) => Problem::new(Code::VoiceNotFound),
            SpeechError::Unspeakable(why) => Problem::detailed(Code::TextUnspeakable, why),
            SpeechError::BadRequest(why) => Problem::detailed(Code::ValidationFailed, why),
            SpeechError::Model(why) => {
                // The workers keep trying to load what is missing or damaged.
                tracing::error!(%why, "the models cannot be used");
                Problem::new(Code::WarmingUp).retry_after(10)
            }
            SpeechError::Internal => Problem::internal(error),
        }
    }
}

impl From<ServiceError> for Problem {
    fn from(error: ServiceError) -> Problem {
        match error {
            ServiceError::Fields(errors) => Problem::fields(errors),
            ServiceError::Text(error) => error.into(),
            ServiceError::SpeechTooLong { .. } => Problem::new(Code::SpeechTooLong),
            ServiceError::Spool(error) => error.into(),
            ServiceError::Audio(error) => error.into(),
            ServiceError::Speech(error) => error.into(),
            ServiceError::Ledger(error) => error.into(),
            ServiceError::Store(error) => error.into(),
            ServiceError::IdempotencyInFlight => {
                Problem::new(Code::IdempotencyInFlight).retry_after(1)
            }
            ServiceError::IdempotencyMismatch => Problem::new(Code::IdempotencyMismatch),
            ServiceError::TooManyAttempts { retry_after_s } => {
                Problem::new(Code::RateLimited).retry_after(retry_after_s)
            }
            ServiceError::TooMuchAudio { retry_after_s } => {
                let detail = "More seconds of audio a minute than the limit allows.";
                Problem::detailed(Code::RateLimited, detail).retry_after(retry_after_s)
            }
            ServiceError::Busy { retry_after_s } => {
                Problem::new(Code::Overloaded).retry_after(retry_after_s)
            }
            ServiceError::CredentialsWrong => Problem::new(Code::CredentialsWrong),
            ServiceError::Unconfirmed => Problem::new(Code::AccountUnconfirmed),
            ServiceError::RoleMissing => Problem::new(Code::RoleMissing),
            ServiceError::SignUpClosed => {
                Problem::detailed(Code::RoleMissing, "Accounts are made by the operator here.")
                    .in_swahili("Hapa akaunti hufunguliwa na mwendeshaji wa huduma.")
            }
            ServiceError::NoMember => {
                Problem::detailed(Code::NotFound, "You are in no such workspace.")
                    .in_swahili("Huna eneo la kazi kama hilo.")
            }
            ServiceError::PrivateAddress => Problem::field("url", Reason::PrivateAddress),
            ServiceError::KeyRevoked => Problem::new(Code::KeyRevoked),
            ServiceError::BatchOverdue => {
                Problem::detailed(Code::DeadlineExceeded, sentence(&error))
            }
            ServiceError::ItemBrokeOff => Problem::detailed(Code::Internal, sentence(&error)),
            ServiceError::OriginNotAllowed | ServiceError::RecordingUnreachable(_) => {
                Problem::detailed(Code::RecordingUnreachable, sentence(&error))
            }
            ServiceError::Internal(cause) => Problem::internal(cause),
        }
    }
}

/// A refusal as the item of a batch keeps it, for whoever asks for the results.
pub fn item_error(error: ServiceError) -> String {
    let problem = Problem::from(error);
    let words = problem.words(Language::English);
    json!({"code": problem.code.as_str(), "message": words.detail, "errors": words.errors})
        .to_string()
}

impl From<SpoolError> for Problem {
    fn from(error: SpoolError) -> Problem {
        match error {
            SpoolError::TooLarge { .. } => Problem::detailed(Code::BodyTooLarge, sentence(&error)),
            SpoolError::Disk(cause) => {
                tracing::error!(%cause, "a recording found no room on the disk");
                let detail = "There is no room for the recording at the moment.";
                Problem::detailed(Code::StorageUnavailable, detail)
                    .retry_after(STORAGE_RETRY_AFTER_S)
            }
            SpoolError::Declared(error) => error.into(),
        }
    }
}

impl From<AudioError> for Problem {
    fn from(error: AudioError) -> Problem {
        match error {
            AudioError::Empty => Problem::new(Code::AudioEmpty),
            AudioError::UnknownContainer => Problem::new(Code::ContainerUnknown),
            AudioError::Undecodable(_) | AudioError::AbsurdFormat(_) => {
                Problem::detailed(Code::AudioUndecodable, sentence(&error))
            }
            AudioError::TooLong { seconds_max } => {
                Problem::detailed(Code::RecordingTooLong, sentence(&error))
                    .in_swahili(format!("Rekodi ina zaidi ya sekunde {seconds_max}."))
            }
            AudioError::NotTwoChannels { channels } => {
                let message = format!(
                    "separate needs a recording of two channels, and this one has {channels}"
                );
                Problem::field("channels", Reason::Other { message })
            }
            AudioError::Cancelled => Problem::new(Code::DeadlineExceeded),
            AudioError::Io(cause) => SpoolError::Disk(cause).into(),
        }
    }
}

impl From<TextError> for Problem {
    fn from(error: TextError) -> Problem {
        match error {
            TextError::Empty => Problem::field("text", Reason::Empty),
            TextError::TooLong {
                characters,
                characters_max,
            } => {
                let reason = Reason::TooLong {
                    max: characters_max as u64,
                    actual: characters as u64,
                };
                Problem::field("text", reason)
            }
            TextError::NothingSpeakable | TextError::UnspeakableCharacters(_) => {
                Problem::detailed(Code::TextUnspeakable, sentence(&error))
                    .in_swahili(sentence(&error.swahili()))
            }
            TextError::Ssml { .. } => Problem::detailed(Code::SsmlInvalid, sentence(&error))
                .in_swahili(sentence(&error.swahili())),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        match error {
            StoreError::NotFound(_) => Problem::detailed(Code::NotFound, sentence(&error)),
            StoreError::Exists(_) => Problem::detailed(Code::Conflict, sentence(&error)),
            StoreError::Refused("a workspace needs an owner") => {
                Problem::detailed(Code::Conflict, sentence(&error))
                    .in_swahili("Eneo la kazi lazima liwe na mmiliki.")
            }
            StoreError::Refused(_) => Problem::detailed(Code::Conflict, sentence(&error)),
            StoreError::TooManyVocabularies { max } => {
                Problem::detailed(Code::Conflict, sentence(&error)).in_swahili(format!(
                    "Eneo la kazi haliwezi kuwa na zaidi ya misamiati {max}: ondoa mmoja kwanza."
                ))
            }
            StoreError::MoneyLeft { .. } => Problem::new(Code::MoneyLeft),
            StoreError::TokenRefused => Problem::detailed(Code::NotFound, sentence(&error)),
            StoreError::Invalid { field, message } => {
                Problem::field(field, Reason::Other { message })
            }
            StoreError::Closed => Problem::new(Code::ShuttingDown).retry_after(5),
            error if error.is_outage() => {
                tracing::error!(source = ?error, "the data store cannot be reached");
                Problem::new(Code::StorageUnavailable).retry_after(STORAGE_RETRY_AFTER_S)
            }
            StoreError::Database(cause) => Problem::internal(cause),
            other => Problem::internal(other),
        }
    }
}

impl From<LedgerError> for Problem {
    fn from(error: LedgerError) -> Problem {
        match error {
            LedgerError::Insufficient {
                required_micro,
                available_micro,
            } => Problem {
                money: Some((required_micro, available_micro)),
                ..Code::BalanceInsufficient.into()
            },
            LedgerError::WorkspaceClosed => Problem::new(Code::WorkspaceClosed),
            LedgerError::CapExceeded {
                cap_micro,
                committed_micro,
                required_micro,
            } => {
                let left_micro = (cap_micro - committed_micro).max(0);
                Problem {
                    money: Some((required_micro, left_micro)),
                    ..Code::SpendCapReached.into()
                }
            }
            LedgerError::UnknownWorkspace | LedgerError::UnknownKey => {
                Problem::new(Code::KeyUnknown)
            }
            LedgerError::ClaimLost => Problem::new(Code::Conflict),
            LedgerError::GuardLost => ServiceError::IdempotencyInFlight.into(),
            LedgerError::ExternalIdReused => Problem::detailed(Code::Conflict, sentence(&error))
                .in_swahili("Kumbukumbu hii ilitumika kwa malipo mengine."),
            LedgerError::OtherCurrency(currency) => {
                let allowed = currency;
                Problem::field("currency", Reason::UnknownValue { allowed })
            }
            LedgerError::TooMuch { allowed_micro, .. } => {
                tracing::warn!(%error, "an amount was refused");
                let english = format!("at most {allowed_micro} can be booked.");
                let swahili = format!("kinachoweza kuingizwa ni {allowed_micro} tu.");
                Problem::field("amount_micro", Reason::Refused { english, swahili })
            }
            LedgerError::Store(error) => {
                // A request at fault is no failure of the ledger: operators read this figure as a full disk.
                if matches!(error, StoreError::Database(_)) {
                    metrics::ledger_failure("store");
                }
                error.into()
            }
            other => {
                metrics::ledger_failure("refused");
                Problem::internal(other)
            }
        }
    }
}

impl From<SeatRefused> for Problem {
    fn from(refused: SeatRefused) -> Problem {
        match refused {
            SeatRefused::Full => Problem::new(Code::Overloaded).retry_after(5),
            SeatRefused::Share { max } => {
                let detail = format!("A workspace may have {max} live sessions at the same time.");
                Problem::detailed(Code::RateLimited, detail).retry_after(5)
            }
        }
    }
}

impl From<AuthError> for Problem {
    fn from(error: AuthError) -> Problem {
        match error {
            AuthError::Malformed => Problem::new(Code::KeyMalformed),
            AuthError::Unknown => Problem::new(Code::KeyUnknown),
            AuthError::Revoked => Problem::new(Code::KeyRevoked),
            AuthError::Expired => Problem::new(Code::KeyExpired),
            AuthError::Store(error) => error.into(),
        }
    }
}

/// An error's own words as a sentence.
fn sentence(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string())
        .unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse as _;

    use super::*;

    #[test]
    fn a_key_in_flight_says_when_to_come_again() {
        let problem = Problem::from(ServiceError::IdempotencyInFlight);
        assert_eq!(problem.into_response().headers()["retry-after"], "1");
    }
}
