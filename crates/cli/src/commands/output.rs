//! How commands write: plain lines, aligned tables, JSON, money.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context;
use sauti_store::Micro;
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

/// A report as JSON, or as words.
pub(super) fn print_report<R: Serialize>(
    report: &R,
    as_json: bool,
    words: impl Fn(&R) -> String,
) -> anyhow::Result<ExitCode> {
    match as_json {
        true => print_json(report),
        false => print(&words(report)),
    }
}

/// The exit status of a check.
pub(super) fn exit_code(is_good: bool) -> ExitCode {
    match is_good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

pub(super) fn print_table(
    header: &[impl AsRef<str>],
    rows: &[Vec<String>],
) -> anyhow::Result<ExitCode> {
    print(&table(header, rows))
}

/// Columns as wide as their widest cell.
fn table(header: &[impl AsRef<str>], rows: &[Vec<String>]) -> String {
    let header: Vec<String> = header.iter().map(|name| name.as_ref().to_owned()).collect();
    let lines = || std::iter::once(&header).chain(rows);
    let width = |column: usize| {
        let cells = lines().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: &Vec<String>| {
        let cells = cells.iter().zip(&widths);
        let padded = cells.map(|(cell, &width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    lines().map(line).collect()
}

/// The first moment of a day in UTC.
pub(super) fn start_us(day: jiff::civil::Date) -> anyhow::Result<i64> {
    let midnight = day.to_zoned(jiff::tz::TimeZone::UTC);
    Ok(midnight
        .context("no such day")?
        .timestamp()
        .as_microsecond())
}

/// A moment as RFC 3339 in UTC, to the second.
pub(super) fn moment(at_us: i64) -> String {
    jiff::Timestamp::from_microsecond(at_us)
        .map(|moment| moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
        .unwrap_or_else(|_| at_us.to_string())
}

/// An amount of money from the command line ("250", "12.50") in millionths.
pub(super) fn parse_money(text: &str) -> Result<i64, String> {
    text.parse().map(|micro: Micro| micro.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_line_up() {
        let rows = vec![
            vec!["asha".to_owned(), "F".to_owned()],
            vec!["z".to_owned()],
        ];
        assert_eq!(table(&["voice", "g"], &rows), "voice  g\nasha   F\nz\n");
    }
}
