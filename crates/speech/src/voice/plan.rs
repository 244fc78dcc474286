//! From a script to the stretches that are spoken in one go.

use std::collections::HashMap;

use sauti_audio::loudness::gain_from_db;
use sauti_text::{Clause, ClauseEnd, Script};

use crate::{Direction, VolumeGain};

/// Stands at both ends of what the model speaks.
const EDGE: u16 = 0;
/// The model was taught on stretches up to 260 symbols; beyond that its rhythm is a guess.
const SYMBOLS_MAX: usize = 220;
/// The request's speed times the script's own rate.
const PACE_RANGE: (f32, f32) = (0.33, 3.0);
/// The request's pitch and the script's own, in octaves.
const OCTAVES_MAX: f32 = 2.0;
const BREAK_MS_MAX: u32 = 10_000;
/// A symbol is said at most this often in a row: a drawn-out sound, not a stutter.
const REPEATS_MAX: usize = 3;

/// A word and its symbols in the stretch.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlannedWord {
    pub text: String,
    pub first_symbol: usize,
    pub last_symbol: usize,
}

/// How a symbol is said: what the request and its SSML ask for together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Manner {
    pub pace: f32,
    /// Added to the logarithm of the frequency.
    pub log_pitch: f32,
    /// A factor; 0 is silence.
    pub volume: f32,
}

impl Manner {
    fn of(clause: &Clause, direction: &Direction) -> Self {
        let finite = |value: f32, own: f32| if value.is_finite() { value } else { own };
        let prosody = clause.prosody;
        let (slowest, fastest) = PACE_RANGE;
        let pace = direction.speed.get() * finite(prosody.rate, 1.0);
        let octaves = (direction.pitch.get() + finite(prosody.pitch_semitones, 0.0)) / 12.0;
        let volume_db = f64::from(direction.volume.get() + prosody.volume_db);
        Self {
            pace: pace.clamp(slowest, fastest),
            log_pitch: octaves.clamp(-OCTAVES_MAX, OCTAVES_MAX) * std::f32::consts::LN_2,
            // What is no number becomes the loudest that is allowed; the limiter bears it.
            volume: gain_from_db(volume_db.min(VolumeGain::MAX)),
        }
    }
}

/// A sentence, or as much of it as fits: spoken in one go, followed by a pause.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Utterance {
    pub symbols: Vec<u16>,
    pub words: Vec<PlannedWord>,
    /// One for each symbol.
    pub manners: Vec<Manner>,
    pub pause_ms: u32,
    /// The caller asked for the pause: it is made even after the last word.
    pause_asked: bool,
}

/// Numbers for phoneme symbols, which are a character or two ("ᵐb", "m̩").
#[derive(Debug)]
pub(super) struct Symbols {
    single: HashMap<char, u16>,
    pairs: HashMap<(char, char), u16>,
}

impl Symbols {
    /// An error names a symbol of any other length.
    pub(super) fn new(table: HashMap<String, u16>) -> Result<Self, String> {
        let (mut single, mut pairs) = (HashMap::new(), HashMap::new());
        for (symbol, number) in table {
            let mut characters = symbol.chars();
            match (characters.next(), characters.next(), characters.next()) {
                (Some(one), None, _) => single.insert(one, number),
                (Some(first), Some(second), None) => pairs.insert((first, second), number),
                _ => return Err(symbol),
            };
        }
        Ok(Self { single, pairs })
    }

    pub(super) fn largest(&self) -> u16 {
        let numbers = self.single.values().chain(self.pairs.values());
        numbers.copied().max().unwrap_or(0)
    }

    fn number(&self, symbol: char) -> Option<u16> {
        let symbol = match symbol {
            'g' => 'ɡ',
            other => other,
        };
        self.single.get(&symbol).copied()
    }

    /// Numbers of a word's sounds. A sound of two characters that the model does not know is said as its parts; what is
    /// left unknown is passed over.
    fn numbers(&self, phonemes: &str) -> Vec<u16> {
        let mut numbers = Vec::with_capacity(phonemes.len());
        let mut rest = phonemes.chars().peekable();
        while let Some(first) = rest.next() {
            let pair = rest.peek().and_then(|next| self.pairs.get(&(first, *next)));
            if let Some(number) = pair {
                numbers.push(*number);
                rest.next();
            } else {
                numbers.extend(self.number(full_nasal(first)));
            }
        }
        numbers
    }
}

/// The consonant that a prenasalised sound begins with.
fn full_nasal(symbol: char) -> char {
    match symbol {
        'ᵐ' => 'm',
        'ⁿ' => 'n',
        'ᵑ' => 'ŋ',
        other => other,
    }
}

/// Sentences are kept whole where they fit: the melody then runs over the commas, and the model
/// makes their pauses itself.
pub(super) fn plan(script: &Script, direction: &Direction, symbols: &Symbols) -> Vec<Utterance> {
    let Some(first) = script.clauses.first() else {
        return Vec::new();
    };
    let mut planner = Planner {
        symbols,
        manner: Manner::of(first, direction),
        done: Vec::new(),
        open: OpenUtterance::default(),
    };
    for clause in &script.clauses {
        planner.add_clause(clause, Manner::of(clause, direction));
    }
    planner.close(ClauseEnd::Full, None);
    let mut stretches = planner.done;
    if let Some(last) = stretches.last_mut().filter(|s| !s.pause_asked) {
        last.pause_ms = 0;
    }
    stretches
}

#[derive(Default)]
struct OpenUtterance {
    symbols: Vec<u16>,
    words: Vec<PlannedWord>,
    manners: Vec<Manner>,
}

struct Planner<'a> {
    symbols: &'a Symbols,
    /// How the clause is said that is being added.
    manner: Manner,
    done: Vec<Utterance>,
    open: OpenUtterance,
}

impl OpenUtterance {
    fn extend(&mut self, symbols: &[u16], manner: Manner) {
        self.symbols.extend_from_slice(symbols);
        self.manners.resize(self.symbols.len(), manner);
    }
}

impl Planner<'_> {
    fn add_clause(&mut self, clause: &Clause, manner: Manner) {
        let length = self.clause_length(clause);
        if self.open.symbols.len() + length > SYMBOLS_MAX {
            self.close(ClauseEnd::Comma, None);
        }
        self.manner = manner;
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
        let numbers = without_long_runs(self.symbols.numbers(phonemes));
        if numbers.is_empty() {
            return;
        }
        if !self.open.symbols.is_empty() && self.open.symbols.len() + numbers.len() >= SYMBOLS_MAX {
            self.close(ClauseEnd::Comma, None);
        }
        let pieces = numbers.chunks(SYMBOLS_MAX);
        let count = pieces.len();
        for (at, piece) in pieces.enumerate() {
            if let (false, Some(space)) = (self.open.symbols.is_empty(), self.symbols.number(' ')) {
                self.open.extend(&[space], self.manner);
            }
            let first_symbol = self.open.symbols.len();
            self.open.extend(piece, self.manner);
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
        self.open
            .extend(self.symbols.number(mark).as_slice(), self.manner);
    }

    /// Ends the open stretch, if there is one.
    fn close(&mut self, end: ClauseEnd, break_ms: Option<u32>) {
        if self.open.words.is_empty() {
            self.open = OpenUtterance::default();
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
        self.open.extend(&[EDGE], self.manner);
        let OpenUtterance {
            mut symbols,
            words,
            mut manners,
        } = std::mem::take(&mut self.open);
        symbols.insert(0, EDGE);
        manners.insert(0, manners[0]);
        let words = words.into_iter().map(|word| PlannedWord {
            first_symbol: word.first_symbol + 1,
            last_symbol: word.last_symbol + 1,
            ..word
        });
        let own_pause = (own_pause_ms(end) as f32 / self.manner.pace) as u32;
        self.done.push(Utterance {
            symbols,
            words: words.collect(),
            manners,
            pause_ms: break_ms.unwrap_or(own_pause).min(BREAK_MS_MAX),
            pause_asked: break_ms.is_some(),
        });
    }
}

fn without_long_runs(numbers: Vec<u16>) -> Vec<u16> {
    let mut kept: Vec<u16> = Vec::new();
    for number in numbers {
        let run = kept.iter().rev().take_while(|&&before| before == number);
        if run.take(REPEATS_MAX).count() < REPEATS_MAX {
            kept.push(number);
        }
    }
    kept
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

#[cfg(test)]
mod tests {
    use sauti_text::{Prosody, SpokenWord};

    use super::*;

    fn symbols() -> Symbols {
        Symbols::new(
            (1..)
                .zip(" ,:.?!abkɡ".chars())
                .map(|(n, c)| (c.to_string(), n))
                .chain([("ᵐb".to_owned(), 11), ("n".to_owned(), 12)])
                .collect(),
        )
        .unwrap()
    }

    fn clause(phonemes: &[&str], end: ClauseEnd) -> Clause {
        let words = phonemes.iter().map(|p| SpokenWord {
            text: (*p).to_owned(),
            phonemes: (*p).to_owned(),
            source: 0..0,
            english: None,
        });
        Clause {
            words: words.collect(),
            end,
            break_after_ms: None,
            prosody: Prosody::default(),
        }
    }

    fn planned(clauses: Vec<Clause>) -> Vec<Utterance> {
        let script = Script {
            clauses,
            ..Script::default()
        };
        plan(&script, &Direction::default(), &symbols())
    }

    /// The symbols of a stretch as text, its edges as `|`.
    fn text(stretch: &Utterance) -> String {
        let table = [
            "|", " ", ",", ":", ".", "?", "!", "a", "b", "k", "ɡ", "ᵐb", "n",
        ];
        stretch
            .symbols
            .iter()
            .map(|&n| table[usize::from(n)])
            .collect()
    }

    #[test]
    fn a_sentence_is_spoken_in_one_go() {
        let stretches = planned(vec![
            clause(&["ab", "ka"], ClauseEnd::Comma),
            clause(&["ga"], ClauseEnd::Question),
            clause(&["a"], ClauseEnd::Full),
        ]);
        let texts: Vec<String> = stretches.iter().map(text).collect();
        assert_eq!(texts, ["|ab ka, ɡa?|", "|a.|"]);
        assert!(stretches[0].pause_ms > 0);
        assert_eq!(stretches[1].pause_ms, 0);
    }

    #[test]
    fn words_know_their_symbols() {
        let stretch = &planned(vec![clause(&["ab", "kak"], ClauseEnd::Full)])[0];
        let spans: Vec<_> = stretch
            .words
            .iter()
            .map(|w| (w.first_symbol, w.last_symbol))
            .collect();
        assert_eq!(spans, [(1, 2), (4, 6)]);
    }

    #[test]
    fn a_text_without_marks_is_cut_between_words() {
        let words = vec!["abababa"; 100];
        let stretches = planned(vec![clause(&words, ClauseEnd::None)]);
        assert!(stretches.len() > 3);
        assert!(stretches.iter().all(|s| s.symbols.len() <= SYMBOLS_MAX + 4));
        for stretch in &stretches {
            assert_eq!(stretch.manners.len(), stretch.symbols.len());
            assert!(stretch.manners.iter().all(|manner| manner.pace == 1.0));
        }
        let count: usize = stretches.iter().map(|s| s.words.len()).sum();
        assert_eq!(count, 100);
    }

    #[test]
    fn a_word_longer_than_a_stretch_is_cut_and_named_once() {
        let word = "ab".repeat(300);
        let stretches = planned(vec![clause(&[&word], ClauseEnd::Full)]);
        assert_eq!(stretches.len(), 3);
        let names = stretches
            .iter()
            .flat_map(|s| &s.words)
            .filter(|w| !w.text.is_empty());
        assert_eq!(names.count(), 1);
    }

    #[test]
    fn repeated_letters_are_drawn_out_and_no_more() {
        let stretches = planned(vec![clause(&["kaaaaaaaaaaa"], ClauseEnd::Full)]);
        assert_eq!(text(&stretches[0]), "|kaaa.|");
    }

    #[test]
    fn a_break_ends_a_stretch_and_sets_its_pause() {
        let mut first = clause(&["ab"], ClauseEnd::None);
        first.break_after_ms = Some(700);
        let stretches = planned(vec![first, clause(&["ka"], ClauseEnd::Full)]);
        assert_eq!(stretches[0].pause_ms, 700);
        assert_eq!(text(&stretches[0]), "|ab,|");
    }

    #[test]
    fn words_of_one_sentence_are_said_each_in_its_own_manner() {
        let mut slow = clause(&["ab"], ClauseEnd::None);
        slow.prosody = Prosody {
            rate: 0.5,
            pitch_semitones: 12.0,
            volume_db: f32::NEG_INFINITY,
        };
        let stretches = planned(vec![slow, clause(&["ka"], ClauseEnd::Full)]);
        assert_eq!(text(&stretches[0]), "|ab ka.|");
        let manners = |of: fn(&Manner) -> f32| stretches[0].manners.iter().map(of).collect();
        let (paces, volumes): (Vec<_>, Vec<_>) = (manners(|m| m.pace), manners(|m| m.volume));
        assert_eq!(paces, [0.5, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0]);
        assert_eq!(volumes, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        assert_eq!(stretches[0].manners[1].log_pitch, std::f32::consts::LN_2);
    }

    #[test]
    fn a_sound_of_two_characters_is_one_symbol_or_its_parts() {
        let said = |word| text(&planned(vec![clause(&[word], ClauseEnd::Full)])[0]);
        assert_eq!(said("aᵐba"), "|aᵐba.|");
        assert_eq!(said("aⁿka"), "|anka.|");
        assert_eq!(said("n̩ka"), "|nka.|");
    }

    #[test]
    fn a_symbol_of_three_characters_is_refused() {
        let table = HashMap::from([("abk".to_owned(), 1)]);
        assert_eq!(Symbols::new(table).unwrap_err(), "abk");
    }

    #[test]
    fn nothing_speakable_gives_no_stretch() {
        assert!(planned(vec![]).is_empty());
        assert!(planned(vec![clause(&["漢"], ClauseEnd::Full)]).is_empty());
    }
}
