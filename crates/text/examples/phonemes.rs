//! Phonemes of sentences, one a line, as a voice is given them: what the voices' training reads.
//!
//! `cargo run --release -p sauti-text --example phonemes < sentences.txt > phonemes.txt`
//!
//! With `-- LANGUAGE` (sw, en, auto) the text is read in that language.
//!
//! A line that cannot be spoken comes out empty, so that lines stay beside each other.

use std::io::{self, BufRead, Write};

use sauti_text::{Lexicon, Script, SpeechLanguage};

fn main() -> io::Result<()> {
    let language = std::env::args().nth(1).map(|name| {
        let language = name.parse::<SpeechLanguage>();
        language.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
    });
    let language = language.transpose()?;
    let lexicon = Lexicon::builtin();
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let spoken = Script::from_text_in(&line?, &lexicon, language.unwrap_or_default())
            .map(|script| phonemes(&script));
        writeln!(out, "{}", spoken.unwrap_or_default())?;
    }
    out.flush()
}

/// Words apart by spaces, marks glued to the word before.
fn phonemes(script: &Script) -> String {
    let clauses = script.clauses.iter().map(|clause| {
        let words = clause.words.iter().map(|word| word.phonemes.as_str());
        words.collect::<Vec<_>>().join(" ") + clause.end.mark()
    });
    clauses.collect::<Vec<_>>().join(" ")
}
