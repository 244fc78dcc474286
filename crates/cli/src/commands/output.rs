//! How commands write: plain lines, aligned tables, JSON, money.

use std::io::{self, Write};
use std::process::ExitCode;

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
