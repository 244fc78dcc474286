//! From a script to the stretches that are spoken in one go.

use std::collections::HashMap;

use sauti_text::{Clause, ClauseEnd, Script};

/// Stands at both ends of what the model speaks.
const EDGE: u16 = 0;
/// The model was taught on stretches up to 260 symbols; beyond that its rhythm is a guess.
const SYMBOLS_MAX: usize = 220;
/// Effective pace: the request's speed times the script's own rate.
const PACE_RANGE: (f32, f32) = (0.33, 3.0);
const BREAK_MS_MAX: u32 = 10_000;

/// A word and its symbols in the stretch.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlannedWord {
    pub text: String,
    pub first_symbol: usize,
    pub last_symbol: usize,
}

/// A sentence, or as much of it as fits: spoken in one go, followed by a pause.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stretch {
    pub symbols: Vec<u16>,
    pub words: Vec<PlannedWord>,
    pub pace: f32,
    pub pause_ms: u32,
    /// The caller asked for the pause: it is made even after the last word.
    pause_asked: bool,
}

/// Numbers for phoneme symbols.
#[derive(Debug)]
pub(super) struct Symbols(HashMap<char, u16>);

impl Symbols {
    pub fn new(table: HashMap<char, u16>) -> Self {
        Self(table)
    }

    pub fn largest(&self) -> u16 {
        self.0.values().copied().max().unwrap_or(0)
    }

    fn number(&self, symbol: char) -> Option<u16> {
        let symbol = match symbol {
            'g' => 'ɡ',
            other => other,
        };
        self.0.get(&symbol).copied()
    }
}

/// Sentences are kept whole where they fit: the melody then runs over the commas, and the model
/// makes their pauses itself.
pub(super) fn plan(script: &Script, speed: f32, symbols: &Symbols) -> Vec<Stretch> {
    let mut planner = Planner {
        symbols,
        speed,
        done: Vec::new(),
        open: Open::default(),
    };
    for clause in &script.clauses {
        planner.add_clause(clause);
    }
    planner.close(ClauseEnd::Full, None);
    let mut stretches = planner.done;
    if let Some(last) = stretches.last_mut().filter(|s| !s.pause_asked) {
        last.pause_ms = 0;
    }
    stretches
}

#[derive(Default)]
struct Open {
    symbols: Vec<u16>,
    words: Vec<PlannedWord>,
    pace: f32,
}

struct Planner<'a> {
    symbols: &'a Symbols,
    speed: f32,
    done: Vec<Stretch>,
    open: Open,
}

impl Planner<'_> {
    fn add_clause(&mut self, clause: &Clause) {
        let (slowest, fastest) = PACE_RANGE;
        let rate = if clause.rate.is_finite() {
            clause.rate
        } else {
            1.0
        };
        let pace = (self.speed * rate).clamp(slowest, fastest);
        let length = self.clause_length(clause);
        if pace != self.open.pace || self.open.symbols.len() + length > SYMBOLS_MAX {
            self.close(ClauseEnd::Comma, None);
        }
        self.open.pace = pace;
        for word in &clause.words {
            self.add_word(&word.text, &word.phonemes);
        }
        let ends_sentence = matches!(
            clause.end,
            ClauseEnd::Full | ClauseEnd::Question | ClauseEnd::Exclamation
        );
        if ends_sentence || clause.break_after_ms.is_some() {
            self.close(clause.end, clause.break_after_ms);
        } else if !self.open.symbols.is_empty() {
            self.add_mark(clause.end);
        }
    }

    fn clause_length(&self, clause: &Clause) -> usize {
        let words = clause.words.iter().map(|w| w.phonemes.chars().count() + 1);
        words.sum::<usize>() + 1
    }

    fn add_word(&mut self, text: &str, phonemes: &str) {
        let numbers: Vec<u16> = phonemes
            .chars()
            .filter_map(|c| self.symbols.number(c))
            .collect();
        if numbers.is_empty() {
            return;
        }
        if !self.open.symbols.is_empty() && self.open.symbols.len() + numbers.len() >= SYMBOLS_MAX {
            self.close(ClauseEnd::Comma, None);
        }
        let pace = self.open.pace;
        let pieces = numbers.chunks(SYMBOLS_MAX);
        let count = pieces.len();
        for (at, piece) in pieces.enumerate() {
            self.open.pace = pace;
            if let (false, Some(space)) = (self.open.symbols.is_empty(), self.symbols.number(' ')) {
                self.open.symbols.push(space);
            }
            let first_symbol = self.open.symbols.len();
            self.open.symbols.extend_from_slice(piece);
            self.open.words.push(PlannedWord {
                // A word too long for one stretch is named where it begins.
                text: if at == 0 {
                    text.to_owned()
                } else {
                    String::new()
                },
                first_symbol,
                last_symbol: self.open.symbols.len() - 1,
            });
            if at + 1 < count {
                self.close(ClauseEnd::None, Some(0));
                self.open.pace = pace;
            }
        }
    }

    fn add_mark(&mut self, end: ClauseEnd) {
        let mark = match end {
            ClauseEnd::Comma => ',',
            ClauseEnd::Colon => ':',
            ClauseEnd::Full => '.',
            ClauseEnd::Question => '?',
            ClauseEnd::Exclamation => '!',
            ClauseEnd::None => return,
        };
        self.open.symbols.extend(self.symbols.number(mark));
    }

    /// Ends the open stretch, if there is one.
    fn close(&mut self, end: ClauseEnd, break_ms: Option<u32>) {
        let pace = self.open.pace;
        if self.open.words.is_empty() {
            self.open = Open::default();
            // A pause between nothing and something belongs to what came before.
            if let (Some(asked), Some(before)) = (break_ms, self.done.last_mut()) {
                before.pause_ms = before.pause_ms.saturating_add(asked).min(BREAK_MS_MAX);
                before.pause_asked = true;
            }
            return;
        }
        // The model was taught on sentences that end in a mark.
        let marks = [',', ':', '.', '?', '!'].map(|mark| self.symbols.number(mark));
        if !marks.contains(&self.open.symbols.last().copied()) {
            self.add_mark(if end == ClauseEnd::None {
                ClauseEnd::Comma
            } else {
                end
            });
        }
        let Open { symbols, words, .. } = std::mem::take(&mut self.open);
        let mut framed = Vec::with_capacity(symbols.len() + 2);
        framed.push(EDGE);
        framed.extend(symbols);
        framed.push(EDGE);
        let words = words.into_iter().map(|word| PlannedWord {
            first_symbol: word.first_symbol + 1,
            last_symbol: word.last_symbol + 1,
            ..word
        });
        let own_pause = (own_pause_ms(end) as f32 / pace) as u32;
        self.done.push(Stretch {
            symbols: framed,
            words: words.collect(),
            pace,
            pause_ms: break_ms.unwrap_or(own_pause).min(BREAK_MS_MAX),
            pause_asked: break_ms.is_some(),
        });
    }
}

/// The silence a voice leaves by itself, at speed 1.
fn own_pause_ms(end: ClauseEnd) -> u32 {
    match end {
        ClauseEnd::Full | ClauseEnd::Question | ClauseEnd::Exclamation => 380,
        ClauseEnd::Colon => 260,
        ClauseEnd::Comma => 180,
        ClauseEnd::None => 60,
    }
}
