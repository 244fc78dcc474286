//! How commands write: plain lines, aligned tables, JSON, money.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

/// Writes to standard output, with a line end, and succeeds.
pub(super) fn print(text: &str) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn print_json(value: &impl Serialize) -> anyhow::Result<ExitCode> {
    print(&serde_json::to_string_pretty(value)?)
}

/// Columns as wide as their widest cell.
pub(super) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
        widest.max(header[column].chars().count())
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: &[&str]| {
        let padded = cells
            .iter()
            .zip(&widths)
            .map(|(cell, &width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let body = rows
        .iter()
        .map(|row| line(&row.iter().map(String::as_str).collect::<Vec<_>>()));
    line(header) + &body.collect::<String>()
}

/// Millionths as the currency's unit with all six decimals, for columns.
pub(super) fn exact_money(micro: i64) -> String {
    let sign = if micro < 0 { "-" } else { "" };
    let micro = micro.unsigned_abs();
    format!("{sign}{}.{:06}", micro / 1_000_000, micro % 1_000_000)
}

/// Millionths as the currency's unit with at least two decimals: 1_500_000 is "1.50".
pub(super) fn money(micro: i64) -> String {
    let sign = if micro < 0 { "-" } else { "" };
    let (whole, part) = (
        micro.unsigned_abs() / 1_000_000,
        micro.unsigned_abs() % 1_000_000,
    );
    let decimals = format!("{part:06}");
    let kept = decimals.trim_end_matches('0').len().max(2);
    format!("{sign}{whole}.{}", &decimals[..kept])
}

/// A moment as RFC 3339 in UTC, to the second.
pub(super) fn moment(at_us: i64) -> String {
    jiff::Timestamp::from_microsecond(at_us)
        .map(|moment| moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
        .unwrap_or_else(|_| at_us.to_string())
}

/// An amount of money from the command line ("250", "12.50") in millionths.
pub(super) fn parse_money(text: &str) -> Result<i64, String> {
    let refuse = || format!("{text:?} is not an amount such as 250 or 12.50");
    let (whole, part) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || part.len() > 6 || !digits(whole) || !digits(part) {
        return Err(refuse());
    }
    let whole: i64 = whole.parse().map_err(|_| refuse())?;
    let part: i64 = format!("{part:0<6}").parse().map_err(|_| refuse())?;
    whole
        .checked_mul(1_000_000)
        .and_then(|micro| micro.checked_add(part))
        .ok_or_else(refuse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_keeps_every_millionth() {
        assert_eq!(money(1_500_000), "1.50");
        assert_eq!(exact_money(-1_500_000), "-1.500000");
        assert_eq!(money(-10), "-0.00001");
        assert_eq!(money(i64::MIN), "-9223372036854.775808");
        assert_eq!(parse_money("12.5"), Ok(12_500_000));
        assert_eq!(parse_money("0.000001"), Ok(1));
        for wrong in [
            "",
            "-1",
            "1.2.3",
            "1e3",
            "0.0000001",
            "99999999999999",
            ".5",
        ] {
            assert!(parse_money(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn tables_line_up() {
        let rows = vec![
            vec!["asha".to_owned(), "F".to_owned()],
            vec!["z".to_owned()],
        ];
        assert_eq!(table(&["voice", "g"], &rows), "voice  g\nasha   F\nz\n");
    }
}
