//! Phonemes of sentences, one a line, as a voice is given them: what the voices' training reads.
//!
//! `cargo run --release -p sauti-text --example phonemes < sentences.txt > phonemes.txt`
//!
//! A line that cannot be spoken comes out empty, so that lines stay beside each other.

use std::io::{self, BufRead, Write};

use sauti_text::{Lexicon, Script};

fn main() -> io::Result<()> {
    let lexicon = Lexicon::builtin();
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let spoken = Script::from_text(&line?, &lexicon).map(|script| phonemes(&script));
        writeln!(out, "{}", spoken.unwrap_or_default())?;
    }
    out.flush()
}

/// Words apart by spaces, marks glued to the word before.
fn phonemes(script: &Script) -> String {
    let clauses = script.clauses.iter().map(|clause| {
        let words: Vec<&str> = clause.words.iter().map(|w| w.phonemes.as_str()).collect();
        words.join(" ") + clause.end.mark()
    });
    clauses.collect::<Vec<_>>().join(" ")
}
