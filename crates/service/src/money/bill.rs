//! What a piece of work amounts to.

use sauti_audio::Channels;
use sauti_store::{Operation, Usage};

use super::price;
use crate::config::Prices;

#[derive(Debug, Clone, PartialEq)]
pub struct Bill {
    pub operation: Operation,
    /// Characters or seconds, rounded up.
    pub units: i64,
    pub amount_micro: i64,
    pub audio_seconds: f64,
    pub cached: bool,
}

impl Bill {
    /// How long the sound is will be known when it is made.
    pub fn speech(prices: &Prices, characters: usize, cached: bool) -> Bill {
        Bill {
            operation: Operation::Speech,
            units: characters as i64,
            amount_micro: match cached {
                true => price::cached_speech_micro(prices, characters),
                false => price::speech_micro(prices, characters),
            },
            audio_seconds: 0.0,
            cached,
        }
    }

    /// Channels that are heard separately are recordings of their own: each one's seconds are billed.
    pub fn transcription(prices: &Prices, seconds: f64, channels: Channels) -> Bill {
        let units = price::billed_seconds(seconds) * i64::from(channels.count());
        Bill {
            operation: Operation::Transcription,
            units,
            amount_micro: price::transcription_micro(prices, units),
            audio_seconds: seconds,
            cached: false,
        }
    }

    pub(super) fn usage(&self) -> Usage {
        Usage {
            units: self.units,
            audio_ms: (self.audio_seconds * 1_000.0).round() as i64,
            cached: self.cached,
        }
    }
}
