//! How SSML wants a stretch said, beside the voice's own way.

/// What a voice can follow. One element that asks for more is refused; elements inside each other come to this much.
const RATE_RANGE: (f32, f32) = (0.5, 2.0);
const SEMITONES_MAX: f32 = 12.0;
const VOLUME_DB_MAX: f32 = 12.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prosody {
    /// Speed relative to the voice's own.
    pub rate: f32,
    pub pitch_semitones: f32,
    /// Minus infinity is silence.
    pub volume_db: f32,
}

impl Default for Prosody {
    fn default() -> Self {
        Self {
            rate: 1.0,
            pitch_semitones: 0.0,
            volume_db: 0.0,
        }
    }
}

impl Prosody {
    /// An element inside another: what both ask for comes together.
    pub(crate) fn with(self, inner: Self) -> Self {
        let (slowest, fastest) = RATE_RANGE;
        let semitones = self.pitch_semitones + inner.pitch_semitones;
        Self {
            rate: (self.rate * inner.rate).clamp(slowest, fastest),
            pitch_semitones: semitones.clamp(-SEMITONES_MAX, SEMITONES_MAX),
            volume_db: (self.volume_db + inner.volume_db).min(VOLUME_DB_MAX),
        }
    }

    /// Takes the value of an attribute; none if it is no such value.
    pub(crate) fn set(&mut self, attribute: &str, value: &str) -> Option<()> {
        match attribute {
            "rate" => self.rate = rate(value)?,
            "pitch" => self.pitch_semitones = semitones(value)?,
            _ => self.volume_db = decibels(value)?,
        }
        Some(())
    }

    /// The levels of `emphasis`: slower, higher and louder, as people do it.
    pub(crate) fn emphasis(level: &str) -> Option<Self> {
        let (rate, pitch_semitones, volume_db) = match level {
            "strong" => (0.85, 2.5, 3.0),
            "moderate" => (0.92, 1.5, 1.5),
            "none" => (1.0, 0.0, 0.0),
            "reduced" => (1.1, -1.0, -2.0),
            _ => return None,
        };
        Some(Self {
            rate,
            pitch_semitones,
            volume_db,
        })
    }
}

fn rate(value: &str) -> Option<f32> {
    let named = match value {
        "x-slow" => 0.5,
        "slow" => 0.75,
        "medium" | "default" => 1.0,
        "fast" => 1.25,
        "x-fast" => 1.6,
        _ => 0.0,
    };
    if named > 0.0 {
        return Some(named);
    }
    let factor = match (value.strip_suffix('%'), value.starts_with(['+', '-'])) {
        (Some(percent), true) => 1.0 + finite(percent)? / 100.0,
        (Some(percent), false) => finite(percent)? / 100.0,
        (None, _) => finite(value)?,
    };
    let (slowest, fastest) = RATE_RANGE;
    (slowest..=fastest).contains(&factor).then_some(factor)
}

fn semitones(value: &str) -> Option<f32> {
    let semitones = match value {
        "x-low" => -6.0,
        "low" => -3.0,
        "medium" | "default" => 0.0,
        "high" => 3.0,
        "x-high" => 6.0,
        _ => match (signed(value, "st"), signed(value, "%")) {
            (Some(semitones), _) => semitones,
            (None, Some(percent)) if percent > -100.0 => 12.0 * (1.0 + percent / 100.0).log2(),
            _ => return None,
        },
    };
    (-SEMITONES_MAX..=SEMITONES_MAX)
        .contains(&semitones)
        .then_some(semitones)
}

fn decibels(value: &str) -> Option<f32> {
    let decibels = match value {
        "silent" => f32::NEG_INFINITY,
        "x-soft" => -12.0,
        "soft" => -6.0,
        "medium" | "default" => 0.0,
        "loud" => 4.0,
        "x-loud" => 8.0,
        _ => signed(value, "dB")?,
    };
    (decibels <= VOLUME_DB_MAX).then_some(decibels)
}

/// A change, which begins with its sign.
fn signed(value: &str, unit: &str) -> Option<f32> {
    let number = value.strip_suffix(unit)?;
    number.starts_with(['+', '-']).then(|| finite(number))?
}

fn finite(number: &str) -> Option<f32> {
    let number: f32 = number.trim_end().parse().ok()?;
    number.is_finite().then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_names_changes_or_nothing() {
        assert_eq!(rate("80%"), Some(0.8));
        assert_eq!(rate("+100%"), Some(2.0));
        assert_eq!(semitones("x-high"), Some(6.0));
        assert_eq!(semitones("-2.5st"), Some(-2.5));
        assert_eq!(semitones("+100%"), Some(12.0));
        assert_eq!(decibels("+6dB"), Some(6.0));
        assert_eq!(decibels("silent"), Some(f32::NEG_INFINITY));
        for wrong in [
            "", "2st", "+2", "120Hz", "+10Hz", "-100%", "+infst", "st", "+NaN%", "+20st", "-13st",
            "+101%",
        ] {
            assert_eq!(semitones(wrong), None, "{wrong}");
        }
        for wrong in ["", "6dB", "+6", "50", "dB", "loudest", "+13dB"] {
            assert_eq!(decibels(wrong), None, "{wrong}");
        }
        for wrong in ["", "0", "-100%", "NaN", "inf", "9", "0.4", "+101%"] {
            assert_eq!(rate(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn elements_inside_each_other_add_up_within_bounds() {
        let mut high = Prosody::default();
        high.set("pitch", "+8st").unwrap();
        high.set("volume", "x-loud").unwrap();
        let both = high.with(high).with(Prosody::emphasis("strong").unwrap());
        assert_eq!((both.pitch_semitones, both.volume_db), (12.0, 12.0));
        let mut silent = Prosody::default();
        silent.set("volume", "silent").unwrap();
        assert_eq!(silent.with(high).volume_db, f32::NEG_INFINITY);
    }
}
