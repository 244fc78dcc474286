use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use clap::Args;

/// Print how written text is spoken: numbers, money, dates, times, abbreviations
///
/// A line in, the spoken line out. Without TEXT, lines are read from standard input.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sauti normalise 'Bei ni KSh 1,250 tu.'
  sauti normalise < messages.txt > spoken.txt")]
pub(super) struct Normalise {
    /// Texts to normalise, one line of output each
    #[arg(allow_hyphen_values = true)]
    text: Vec<String>,
}

impl Normalise {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let mut out = io::stdout().lock();
        for text in &self.text {
            writeln!(out, "{}", spoken_line(text))?;
        }
        if self.text.is_empty() {
            // Bytes, not lines of text: one wrong byte must not end the run.
            for line in io::stdin().lock().split(b'\n') {
                let line = line?;
                writeln!(out, "{}", spoken_line(&String::from_utf8_lossy(&line)))?;
            }
        }
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}

fn spoken_line(text: &str) -> String {
    sauti_text::normalise(text.trim_end_matches('\r')).replace(['\n', '\r'], " ")
}
