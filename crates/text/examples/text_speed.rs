//! How long a text of 200 characters takes from writing to phonemes.
//!
//! `cargo run --release -p sauti-text --example text_speed`

use std::time::Instant;

use sauti_text::{Lexicon, Script};

const TEXT: &str = "QWE12RT456 Imethibitishwa. Ksh1,500.00 imetumwa kwa JOHN DOE 0712345678 tarehe 3/4/24 saa 2:15 PM. \
                    Salio lako ni Ksh3,250.00. Tembelea www.benki.co.ke au piga *334# kwa maelezo zaidi kuhusu huduma.";

fn main() {
    let lexicon = Lexicon::builtin();
    let rounds = 2_000;
    let warm = Script::from_text(TEXT, &lexicon);
    println!(
        "{} characters, {:?} clauses",
        TEXT.chars().count(),
        warm.map(|script| script.clauses.len())
    );
    let start = Instant::now();
    for _ in 0..rounds {
        std::hint::black_box(Script::from_text(std::hint::black_box(TEXT), &lexicon)).ok();
    }
    println!(
        "{:.1} microseconds a text",
        start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds)
    );
}
