//! How fast to speak.

use std::fmt;
use std::str::FromStr;

/// A pace that every voice can keep; 1.0 is the voice's own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed(f32);

impl Speed {
    pub const MIN: f64 = 0.5;
    pub const MAX: f64 = 2.0;

    /// None for what no voice can do.
    pub fn new(speed: f64) -> Option<Speed> {
        (Speed::MIN..=Speed::MAX)
            .contains(&speed)
            .then_some(Speed(speed as f32))
    }

    pub fn get(self) -> f32 {
        self.0
    }
}

impl Default for Speed {
    fn default() -> Speed {
        Speed(1.0)
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Speed, String> {
        let speed = text.parse().ok().and_then(Speed::new);
        speed.ok_or_else(|| format!("must be a number from {:?} to {:?}", Speed::MIN, Speed::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_voice_can_do_is_a_speed() {
        for speed in [0.0, -1.0, 0.49, 2.01, 100.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Speed::new(speed), None, "{speed}");
        }
        assert_eq!("0.9".parse::<Speed>().unwrap().to_string(), "0.9");
        assert_eq!(
            "9".parse::<Speed>().unwrap_err(),
            "must be a number from 0.5 to 2.0"
        );
    }
}
