//! What work costs, in micro-units of the currency. Integers throughout, always rounded up, so
//! that a quote and the charge are the same number.

use serde::Deserialize;

/// The section of this name in the settings; what each key means, its default and its bounds stand in default.toml.
#[derive(Debug, Clone, Deserialize)]
pub struct Prices {
    pub currency: String,
    pub per_1000_characters_micro: i64,
    pub per_audio_minute_micro: i64,
    pub smallest_charge_micro: i64,
    pub cached_fraction: f64,
}

/// The price of speaking this many characters.
pub(crate) fn speech_micro(prices: &Prices, characters: usize) -> i64 {
    let characters = i64::try_from(characters).unwrap_or(i64::MAX);
    priced(prices, characters, prices.per_1000_characters_micro, 1_000)
}

/// The price of speech that was made before.
pub(crate) fn cached_speech_micro(prices: &Prices, characters: usize) -> i64 {
    let full = speech_micro(prices, characters);
    // The fraction is parsed once at start and lies within 0 to 1; parts per million keep it exact.
    let millionths = (prices.cached_fraction * 1e6).round() as i128;
    let part = i64::try_from((i128::from(full) * millionths + 999_999) / 1_000_000).unwrap_or(full);
    match part {
        0 => 0,
        part => part.max(prices.smallest_charge_micro).min(full),
    }
}

/// The seconds that are billed for a recording: a begun one counts as whole, so that units times price is the amount.
pub(crate) fn billed_seconds(seconds: f64) -> i64 {
    seconds.max(0.0).ceil() as i64
}

/// The price of transcribing this many billed seconds.
pub(crate) fn transcription_micro(prices: &Prices, seconds: i64) -> i64 {
    priced(prices, seconds, prices.per_audio_minute_micro, 60)
}

fn priced(prices: &Prices, units: i64, price_micro: i64, per_units: i64) -> i64 {
    if price_micro == 0 {
        return 0;
    }
    let exact = i128::from(units) * i128::from(price_micro);
    let rounded_up = (exact + i128::from(per_units) - 1) / i128::from(per_units);
    i64::try_from(rounded_up)
        .unwrap_or(i64::MAX)
        .max(prices.smallest_charge_micro)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn prices() -> Prices {
        Config::with_overrides(&[]).unwrap().prices
    }

    #[test]
    fn a_thousand_characters_cost_what_the_settings_say() {
        assert_eq!(speech_micro(&prices(), 1_000), 2_000_000);
        assert_eq!(speech_micro(&prices(), 1), 10_000, "the smallest charge");
        assert_eq!(speech_micro(&prices(), 333), 666_000);
    }

    #[test]
    fn a_minute_costs_what_the_settings_say_and_a_begun_second_counts() {
        let seconds_micro = |seconds| transcription_micro(&prices(), billed_seconds(seconds));
        assert_eq!(seconds_micro(60.0), 1_500_000);
        assert_eq!(seconds_micro(60.0004), 1_525_000);
        assert_eq!(seconds_micro(0.0), 10_000);
    }

    #[test]
    fn cached_speech_costs_its_fraction_and_never_more_than_new() {
        assert_eq!(cached_speech_micro(&prices(), 1_000), 1_000_000);
        assert_eq!(cached_speech_micro(&prices(), 1), 10_000);
        let free = Prices {
            cached_fraction: 0.0,
            ..prices()
        };
        assert_eq!(cached_speech_micro(&free, 1_000), 0);
        let tiny = Prices {
            smallest_charge_micro: 0,
            per_1000_characters_micro: 3,
            ..prices()
        };
        assert_eq!(cached_speech_micro(&tiny, 1), 1);
    }

    #[test]
    fn seconds_times_the_price_of_one_is_the_amount() {
        let second_micro = prices().per_audio_minute_micro / 60;
        for seconds in [0.5, 1.0, 5.779, 15.2, 59.999, 7_199.1] {
            let units = billed_seconds(seconds);
            assert_eq!(transcription_micro(&prices(), units), units * second_micro);
        }
    }

    #[test]
    fn what_has_no_price_is_free() {
        let free = Prices {
            per_audio_minute_micro: 0,
            ..prices()
        };
        assert_eq!(transcription_micro(&free, 7_200), 0);
    }
}
