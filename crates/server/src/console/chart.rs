//! Bars for each day, as numbers that a page draws.

use std::collections::BTreeMap;

use sauti_store::UsageRow;

pub const HEIGHT: f64 = 100.0;
pub const STEP: f64 = 10.0;

/// One day: speech below, transcription on top of it.
#[derive(Debug, PartialEq)]
pub struct Bar {
    pub day: String,
    pub x: f64,
    pub speech_y: f64,
    pub speech_height: f64,
    pub transcription_y: f64,
    pub transcription_height: f64,
    pub amount_micro: i64,
}

/// Every day of the time gets its place, also those without use.
pub fn bars(days: &[String], rows: &[UsageRow]) -> Vec<Bar> {
    let mut sums: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for row in rows {
        let sum = sums.entry(&row.day).or_default();
        match row.operation.as_str() {
            "speech" => sum.0 += row.amount_micro,
            _ => sum.1 += row.amount_micro,
        }
    }
    let most = sums
        .values()
        .map(|(speech, other)| speech + other)
        .max()
        .unwrap_or(0)
        .max(1) as f64;
    let bar = |(i, day): (usize, &String)| {
        let (speech, other) = sums.get(day.as_str()).copied().unwrap_or_default();
        let speech_height = speech as f64 / most * HEIGHT;
        let transcription_height = other as f64 / most * HEIGHT;
        Bar {
            day: day.clone(),
            x: i as f64 * STEP + 1.0,
            speech_y: HEIGHT - speech_height,
            speech_height,
            transcription_y: HEIGHT - speech_height - transcription_height,
            transcription_height,
            amount_micro: speech + other,
        }
    };
    days.iter().enumerate().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_day_fills_the_chart_and_empty_days_keep_their_place() {
        let row = |day: &str, operation: &str, amount_micro| UsageRow {
            day: day.into(),
            operation: operation.into(),
            key_id: None,
            requests: 1,
            cached_requests: 0,
            units: 1,
            audio_ms: 0,
            amount_micro,
        };
        let days = ["a", "b", "c"].map(String::from);
        let rows = [
            row("a", "speech", 30),
            row("a", "transcription", 10),
            row("c", "speech", 20),
        ];
        let bars = bars(&days, &rows);
        assert_eq!(bars.len(), 3);
        assert_eq!(
            (bars[0].speech_height, bars[0].transcription_y),
            (75.0, 0.0)
        );
        assert_eq!(bars[1].amount_micro, 0);
        assert_eq!(bars[2].speech_y, 50.0);
    }
}
