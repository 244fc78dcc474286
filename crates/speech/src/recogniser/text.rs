//! Recognised words as text that a person would write.

use sauti_text::written::{self, HeardWord};

use crate::{Language, Word};

/// Words closer together than this belong to one phrase: a spoken number never spans a longer gap.
const PHRASE_GAP_S: f64 = 0.5;

/// Stands for whatever comes after the cut, so that the pause before it gets its mark as any other does.
const UNHEARD: &str = "…";

/// Capitals, punctuation, numbers as asked. `before` is the last word of the segment that this one
/// continues; `pause_after_ms` is there when sound was cut and the next segment may go on with the sentence.
pub(super) fn readable(
    words: &[Word],
    digits: bool,
    before: Option<&Word>,
    pause_after_ms: Option<u32>,
) -> String {
    let mut tokens: Vec<(String, u32)> = Vec::new();
    // The word before keeps the first one from looking like a sentence's start.
    tokens.extend(before.map(|word| (word.word.clone(), 0)));
    let mut from = 0;
    for end in 1..=words.len() {
        let phrase_ends = words
            .get(end)
            .is_none_or(|next| next.start - words[end - 1].end >= PHRASE_GAP_S);
        if phrase_ends {
            tokens.extend(phrase_tokens(words, from, end, digits));
            from = end;
        }
    }
    if let (Some(pause_ms), Some(last)) = (pause_after_ms, tokens.last_mut()) {
        last.1 = pause_ms;
        tokens.push((UNHEARD.to_owned(), 0));
    }
    let heard: Vec<HeardWord<'_>> = tokens
        .iter()
        .map(|(text, pause_after_ms)| HeardWord {
            text,
            pause_after_ms: *pause_after_ms,
        })
        .collect();
    let written = written::readable_words(&heard);
    let unheard = heard.last().is_some_and(|word| word.text == UNHEARD);
    let from = usize::from(before.is_some()).min(written.len());
    let end = written.len() - usize::from(unheard);
    written[from.min(end)..end].join(" ")
}

/// The tokens of one phrase, each with the pause after it.
fn phrase_tokens(words: &[Word], from: usize, end: usize, digits: bool) -> Vec<(String, u32)> {
    let pause_after = |i: usize| {
        let next = words.get(i + 1).map_or(f64::MAX, |next| next.start);
        ((next - words[i].end).max(0.0) * 1000.0) as u32
    };
    let said = |i: usize| (words[i].word.clone(), pause_after(i));
    if !digits {
        return (from..end).map(said).collect();
    }
    let mut tokens = Vec::with_capacity(end - from);
    let mut at = from;
    // A number is said in one language.
    for run in words[from..end].chunk_by(|one, next| one.language == next.language) {
        let said: Vec<&str> = run.iter().map(|word| word.word.as_str()).collect();
        let written = match run[0].language {
            Language::Swahili => written::digits(&said),
            Language::English => written::english_digits(&said),
        };
        let written = written.into_iter().filter(|token| !token.words.is_empty());
        tokens.extend(written.map(|token| (token.text, pause_after(at + token.words.end - 1))));
        at += run.len();
    }
    tokens
}

/// Terms as their owner writes them: the words they are heard as, and their spelling.
#[derive(Debug, Clone, Default)]
pub(super) struct Spellings(Vec<(Vec<String>, String)>);

impl Spellings {
    pub(super) fn new(terms: &[String]) -> Self {
        let mut spellings: Vec<(Vec<String>, String)> = terms
            .iter()
            .map(|term| (comparable_words(term), term.trim().to_owned()))
            .filter(|(words, _)| !words.is_empty())
            .collect();
        // Of two terms that begin alike the longer one is meant.
        spellings.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
        Self(spellings)
    }

    /// Whether the caller named these words, as they are heard.
    pub(super) fn knows(&self, heard: &str) -> bool {
        self.0.iter().any(|(words, _)| words.join(" ") == heard)
    }

    /// The text with every term spelled as its owner does; a sentence still begins large.
    pub(super) fn apply(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        let tokens: Vec<&str> = text.split(' ').collect();
        let heard: Vec<Vec<String>> = tokens.iter().map(|token| comparable_words(token)).collect();
        let mut out: Vec<String> = Vec::with_capacity(tokens.len());
        let mut at = 0;
        while at < tokens.len() {
            let found = self.0.iter().find_map(|(words, spelling)| {
                let count = tokens_of(words, &heard[at..])?;
                Some((count, spelling))
            });
            let Some((count, spelling)) = found else {
                out.push(tokens[at].to_owned());
                at += 1;
                continue;
            };
            let last = tokens[at + count - 1];
            let marks = &last[last.trim_end_matches(|c: char| !c.is_alphanumeric()).len()..];
            let starts_large = tokens[at].starts_with(char::is_uppercase);
            let mut letters = spelling.chars();
            let first = letters.next().filter(|_| starts_large);
            let spelled = match first {
                Some(first) => first.to_uppercase().chain(letters).collect(),
                None => spelling.clone(),
            };
            out.push(spelled + marks);
            at += count;
        }
        out.join(" ")
    }
}

/// How many tokens make up these words, if the next ones do; a mark inside keeps them apart.
fn tokens_of(words: &[String], heard: &[Vec<String>]) -> Option<usize> {
    let mut rest = words;
    for (count, token) in heard.iter().enumerate() {
        rest = rest
            .strip_prefix(token.as_slice())
            .filter(|_| !token.is_empty())?;
        if rest.is_empty() {
            return Some(count + 1);
        }
    }
    None
}

fn comparable_words(text: &str) -> Vec<String> {
    let comparable = sauti_text::compare::comparable(text);
    comparable.split_whitespace().map(str::to_owned).collect()
}

/// The texts of a recording's segments as one.
pub(super) fn join<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    texts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<Word> {
        let words = text.split(' ').enumerate();
        words
            .map(|(i, word)| Word {
                word: word.to_owned(),
                start: i as f64 * 0.4,
                end: i as f64 * 0.4 + 0.35,
                confidence: 1.0,
                ..Word::default()
            })
            .collect()
    }

    #[test]
    fn a_sentence_begins_large_and_ends_with_a_stop() {
        let text = readable(&said("watu wengi walifika mapema"), false, None, None);
        assert_eq!(text, "Watu wengi walifika mapema.");
    }

    #[test]
    fn a_sentence_cut_in_two_reads_as_one() {
        let (first, second) = (said("watu wengi walifika"), said("mapema asubuhi"));
        let head = readable(&first, false, None, Some(100));
        let tail = readable(&second, false, first.last(), None);
        assert_eq!(
            join([head.as_str(), tail.as_str()].into_iter()),
            "Watu wengi walifika mapema asubuhi."
        );
    }

    #[test]
    fn a_cut_between_two_sentences_keeps_their_marks() {
        let words = said("watu wengi walifika");
        assert_eq!(
            readable(&words, false, None, Some(700)),
            "Watu wengi walifika."
        );
        assert_eq!(
            readable(&words, false, None, Some(400)),
            "Watu wengi walifika,"
        );
        assert_eq!(
            readable(&said("watu na"), false, None, Some(900)),
            "Watu na"
        );
    }

    #[test]
    fn numbers_become_digits_when_asked() {
        let words = said("watu mia mbili walifika");
        assert_eq!(readable(&words, true, None, None), "Watu 200 walifika.");
        assert_eq!(
            readable(&words, false, None, None),
            "Watu mia mbili walifika."
        );
    }

    #[test]
    fn terms_are_spelled_as_their_owner_does() {
        let terms = ["M-Pesa", "Wambugu", "safaricom", "Benki ya Dunia"].map(String::from);
        let spellings = Spellings::new(&terms);
        assert_eq!(
            spellings.apply(
                "Nilituma kwa m pesa, wambugu akapata. Safaricom na benki ya dunia wanajua benki."
            ),
            "Nilituma kwa M-Pesa, Wambugu akapata. Safaricom na Benki ya Dunia wanajua benki."
        );
        assert_eq!(Spellings::default().apply("Habari yako."), "Habari yako.");
        assert_eq!(spellings.apply(""), "");
    }

    #[test]
    fn english_numbers_are_digits_within_english() {
        let mut words = said("watu mia mbili na five hundred dollars");
        for word in &mut words[4..] {
            word.language = Language::English;
        }
        let text = readable(&words, true, None, None);
        assert_eq!(text, "Watu 200 na 500 dollars.");
    }

    #[test]
    fn nothing_gives_nothing() {
        assert_eq!(readable(&[], true, None, None), "");
    }
}
