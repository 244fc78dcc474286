//! How a whole text is to be said: how fast, how high and how loud.

use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Direction {
    pub speed: Speed,
    pub pitch: PitchShift,
    pub volume: VolumeGain,
}

/// A number that every voice can follow, between two bounds, and the voice's own.
macro_rules! bounded {
    ($(#[$about:meta])* $name:ident, $min:expr, $max:expr, $own:expr) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct $name(f32);

        impl $name {
            pub const MIN: f64 = $min;
            pub const MAX: f64 = $max;

            /// None for what no voice can do.
            pub fn new(value: f64) -> Option<$name> {
                let bounds = $name::MIN..=$name::MAX;
                bounds.contains(&value).then_some($name(value as f32))
            }

            pub fn get(self) -> f32 {
                self.0
            }
        }

        impl Default for $name {
            fn default() -> $name {
                $name($own)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<$name, String> {
                let value = text.parse().ok().and_then($name::new);
                let (min, max) = ($name::MIN, $name::MAX);
                value.ok_or_else(|| format!("must be a number from {min:?} to {max:?}"))
            }
        }
    };
}

bounded!(
    /// A pace; 1.0 is the voice's own.
    Speed, 0.5, 2.0, 1.0
);
bounded!(
    /// Semitones above the voice's own pitch.
    PitchShift, -12.0, 12.0, 0.0
);
bounded!(
    /// Decibels above the loudness of all speech.
    VolumeGain, -24.0, 12.0, 0.0
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_voice_can_do_is_a_direction() {
        for speed in [0.0, -1.0, 0.49, 2.01, 100.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Speed::new(speed), None, "{speed}");
        }
        for semitones in [-12.1, 12.1, f64::NAN] {
            assert_eq!(PitchShift::new(semitones), None, "{semitones}");
        }
        for decibels in [-24.1, 12.1, f64::NEG_INFINITY] {
            assert_eq!(VolumeGain::new(decibels), None, "{decibels}");
        }
        assert_eq!("0.9".parse::<Speed>().unwrap().to_string(), "0.9");
        assert_eq!(
            "9".parse::<Speed>().unwrap_err(),
            "must be a number from 0.5 to 2.0"
        );
    }
}
