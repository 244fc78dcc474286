//! Bars for each day and for each part of the whole, as numbers that a page draws.

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

/// What a part has of the whole.
#[derive(Debug, PartialEq)]
pub struct Share {
    pub name: String,
    pub requests: i64,
    pub amount_micro: i64,
    /// 0 to 100, of the largest part.
    pub length: f64,
}

/// The parts by name, the largest first.
pub fn shares<'a>(rows: &'a [UsageRow], name: impl Fn(&'a UsageRow) -> String) -> Vec<Share> {
    let mut sums: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for row in rows {
        let sum = sums.entry(name(row)).or_default();
        sum.0 += row.requests;
        sum.1 += row.amount_micro;
    }
    let most = sums.values().map(|sum| sum.1).max().unwrap_or(0).max(1) as f64;
    let share = |(name, (requests, amount_micro))| Share {
        name,
        requests,
        amount_micro,
        length: amount_micro as f64 / most * 100.0,
    };
    let mut shares: Vec<Share> = sums.into_iter().map(share).collect();
    shares.sort_by_key(|share| -share.amount_micro);
    shares
}

#[cfg(test)]
mod tests {
    use sauti_store::Operation;

    use super::*;

    fn row(day: &str, operation: Operation, amount_micro: i64) -> UsageRow {
        UsageRow {
            day: day.into(),
            operation,
            key_id: None,
            requests: 1,
            cached_requests: 0,
            units: 1,
            audio_ms: 0,
            amount_micro,
        }
    }

    #[test]
    fn parts_are_summed_and_the_largest_stands_first() {
        let rows = [
            row("a", Operation::Speech, 30),
            row("b", Operation::Transcription, 40),
            row("b", Operation::Speech, 50),
        ];
        let shares = shares(&rows, |row| row.operation.to_string());
        assert_eq!(shares.len(), 2);
        assert_eq!(
            (
                shares[0].name.as_str(),
                shares[0].requests,
                shares[0].length
            ),
            ("speech", 2, 100.0)
        );
        assert_eq!((shares[1].amount_micro, shares[1].length), (40, 50.0));
    }

    #[test]
    fn the_highest_day_fills_the_chart_and_empty_days_keep_their_place() {
        let days = ["a", "b", "c"].map(String::from);
        let rows = [
            row("a", Operation::Speech, 30),
            row("a", Operation::Transcription, 10),
            row("c", Operation::Speech, 20),
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
