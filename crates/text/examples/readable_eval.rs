//! How many capitals and marks `written::readable` gets right on cased, punctuated text, one sentence or paragraph a line.
//!
//! `cargo run -p sauti-text --example readable_eval -- FILE`
//!
//! Written text has no pauses: a sentence's mark stands for 800 ms, a comma for 400 ms, and every fourth comma is read
//! without a pause. The figures show what the rules do with such pauses, not what a recogniser will hear.

use std::process::ExitCode;

use sauti_text::written::{HeardWord, readable_words};

#[derive(Default)]
struct Tally {
    right: usize,
    missed: usize,
    invented: usize,
}

impl Tally {
    fn add(&mut self, wanted: bool, got: bool) {
        self.right += usize::from(wanted && got);
        self.missed += usize::from(wanted && !got);
        self.invented += usize::from(!wanted && got);
    }

    fn print(&self, name: &str) {
        let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        let recall = percent(self.right, self.right + self.missed);
        let precision = percent(self.right, self.right + self.invented);
        println!(
            "{name:22} found {recall:5.1} %  of those written right {precision:5.1} %  ({} right)",
            self.right
        );
    }
}

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: readable_eval FILE");
        return ExitCode::FAILURE;
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut capitals = Tally::default();
    let mut inner_capitals = Tally::default();
    let mut marks = [
        (".", Tally::default()),
        (",", Tally::default()),
        ("?", Tally::default()),
    ];
    let mut words = 0;
    for line in text.lines().filter(|line| line.ends_with(['.', '?', '!'])) {
        evaluate(
            line,
            &mut capitals,
            &mut inner_capitals,
            &mut marks,
            &mut words,
        );
    }
    println!("{words} words");
    capitals.print("capitals");
    inner_capitals.print("capitals inside");
    for (mark, tally) in &marks {
        tally.print(&format!("mark {mark}"));
    }
    ExitCode::SUCCESS
}

fn evaluate(
    line: &str,
    capitals: &mut Tally,
    inner: &mut Tally,
    marks: &mut [(&str, Tally); 3],
    words: &mut usize,
) {
    let bare = |token: &str| {
        token
            .trim_matches(|c: char| !c.is_alphanumeric())
            .to_owned()
    };
    let tokens: Vec<&str> = line
        .split_whitespace()
        .filter(|token| !bare(token).is_empty())
        .collect();
    let lower: Vec<String> = tokens
        .iter()
        .map(|token| bare(token).to_lowercase())
        .collect();
    let heard: Vec<HeardWord<'_>> = tokens
        .iter()
        .zip(&lower)
        .enumerate()
        .map(|(i, (token, text))| HeardWord {
            text,
            pause_after_ms: pause_ms(mark_of(token), i),
        })
        .collect();
    let mut opens = true;
    for (token, got) in tokens.iter().zip(readable_words(&heard)) {
        let upper = |text: &str| bare(text).chars().next().is_some_and(char::is_uppercase);
        capitals.add(upper(token), upper(&got));
        if !opens {
            inner.add(upper(token), upper(&got));
        }
        for (mark, tally) in marks.iter_mut() {
            tally.add(mark_of(token) == *mark, mark_of(&got) == *mark);
        }
        opens = matches!(mark_of(token), "." | "?");
        *words += 1;
    }
}

fn mark_of(token: &str) -> &'static str {
    let token = token.trim_end_matches(['"', '”', '\'', '’', ')']);
    match token.chars().next_back() {
        Some('.' | '!') => ".",
        Some('?') => "?",
        Some(',' | ';' | ':') => ",",
        _ => "",
    }
}

fn pause_ms(mark: &str, i: usize) -> u32 {
    match mark {
        "." | "?" => 800,
        "," if !i.is_multiple_of(4) => 400,
        _ => 40,
    }
}
