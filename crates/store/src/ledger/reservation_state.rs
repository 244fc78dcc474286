//! What became of a reservation.

use std::fmt;

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReservationState {
    Open,
    Settled,
    /// Given back by its owner.
    Released,
    /// Given back by a sweep, because its process was dead or declared so.
    Abandoned,
}

impl ReservationState {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Settled => "settled",
            Self::Released => "released",
            Self::Abandoned => "abandoned",
        }
    }

    pub(super) fn parse(text: &str) -> Self {
        match text {
            "open" => Self::Open,
            "settled" => Self::Settled,
            "released" => Self::Released,
            _ => Self::Abandoned,
        }
    }
}

impl From<String> for ReservationState {
    fn from(text: String) -> Self {
        Self::parse(&text)
    }
}

impl fmt::Display for ReservationState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
