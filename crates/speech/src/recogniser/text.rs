//! Recognised words as text that a person would write.

use std::ops::Range;

use sauti_text::written::{self, Written};

use super::answer_words::as_figures;
use super::readable::{HeardWord, ReadableModel, TextPlace};
use super::vocabulary::VocabularyModel;
use crate::{SpokenLanguage, Word};

/// Words closer together than this belong to one phrase: a spoken number never spans a longer gap.
const PHRASE_GAP_S: f64 = 0.5;
/// But a telephone number is said in groups, some slowly enough to be written down.
const GROUPS_GAP_S: f64 = 2.0;

/// Capitals, punctuation, numbers as asked. `before` are the words of the segment that this one
/// continues; `pause_after_ms` is there when sound was cut and the next segment may go on with the sentence.
pub(super) fn readable(
    model: &ReadableModel,
    words: &[Word],
    digits: bool,
    before: &[Word],
    pause_after_ms: Option<u32>,
) -> String {
    let mut tokens: Vec<(String, u32)> = Vec::new();
    for (i, word) in before.iter().enumerate() {
        let next = before.get(i + 1).or(words.first());
        tokens.push((word.word.clone(), pause_ms(word, next)));
    }
    let pause_after = |i: usize| pause_ms(&words[i], words.get(i + 1));
    tokens.extend((0..words.len()).map(|i| (words[i].word.clone(), pause_after(i))));
    if let (Some(pause_ms), Some(last)) = (pause_after_ms, tokens.last_mut()) {
        last.1 = pause_ms;
    }
    let heard: Vec<HeardWord<'_>> = tokens
        .iter()
        .map(|(text, pause_after_ms)| HeardWord {
            text,
            pause_after_ms: *pause_after_ms,
        })
        .collect();
    let place = TextPlace {
        before: before.len(),
        ends: pause_after_ms.is_none(),
    };
    let written = model.written(&heard, place);
    if !digits {
        return written.join(" ");
    }
    // The model knows numbers as words: what it puts around these stays around their figures.
    let numbers = in_digits(words).into_iter();
    let texts = numbers.map(|number| number_in_place(number, words, &written));
    texts.collect::<Vec<_>>().join(" ")
}

fn number_in_place(number: Written, words: &[Word], written: &[String]) -> String {
    let (first, last) = (number.words.start, number.words.end - 1);
    if number.text == words[first].word {
        return written[first].clone();
    }
    let marks = written[last].trim_start_matches(|c: char| c.is_alphanumeric() || c == '\'');
    let mut letters = number.text.chars();
    match letters.next() {
        // "Asilimia 50".
        Some(letter) if written[first].starts_with(char::is_uppercase) => {
            letter.to_uppercase().chain(letters).collect::<String>() + marks
        }
        _ => number.text + marks,
    }
}

fn pause_ms(word: &Word, next: Option<&Word>) -> u32 {
    let next_start = next.map_or(f64::MAX, |next| next.start);
    ((next_start - word.end).max(0.0) * 1000.0) as u32
}

/// The words with their numbers in digits. A number is said in one phrase and in one language.
pub(super) fn in_digits(words: &[Word]) -> Vec<Written> {
    let pairs = words.windows(2);
    let mut goes_on: Vec<bool> = pairs
        .map(|pair| is_one_phrase(&pair[0], &pair[1], PHRASE_GAP_S))
        .collect();
    for number in telephone_numbers(words) {
        goes_on[number.start..number.end - 1].fill(true);
    }
    let mut tokens = Vec::with_capacity(words.len());
    let mut at = 0;
    while at < words.len() {
        let run = 1 + goes_on[at..].iter().take_while(|on| **on).count();
        let run = &words[at..at + run];
        let said: Vec<&str> = run.iter().map(|word| word.word.as_str()).collect();
        let written = match run[0].language {
            SpokenLanguage::Swahili => written::digits(&said),
            SpokenLanguage::English => written::english_digits(&said),
        };
        tokens.extend(written.into_iter().map(|token| Written {
            words: at + token.words.start..at + token.words.end,
            ..token
        }));
        at += run.len();
    }
    tokens.retain(|token| !token.words.is_empty());
    tokens
}

fn is_one_phrase(one: &Word, next: &Word, gap_s: f64) -> bool {
    next.start - one.end < gap_s && one.language == next.language
}

/// Ten digits from a zero on, or twelve from the code of an East African country on, and no more beside them.
fn telephone_numbers(words: &[Word]) -> impl Iterator<Item = Range<usize>> {
    let figures = |words: &[Word]| as_figures(words.iter().map(|word| word.word.as_str()));
    let is_digit = move |word: &Word| figures(std::slice::from_ref(word)).len() == 1;
    let goes_on = move |one: &Word, next: &Word| {
        is_digit(one) && is_digit(next) && is_one_phrase(one, next, GROUPS_GAP_S)
    };
    let mut end = 0;
    let runs = words.chunk_by(goes_on).map(move |run| {
        end += run.len();
        (end - run.len()..end, figures(run))
    });
    let numbers = runs.filter(|(words, figures)| match words.len() {
        10 => figures.starts_with('0'),
        12 => figures.starts_with("25"),
        _ => false,
    });
    numbers.map(|(words, _)| words)
}

/// Terms as their owner writes them: the words they are heard as, and their spelling.
#[derive(Debug, Clone, Default)]
pub(super) struct Spellings(Vec<(Vec<String>, String)>);

impl Spellings {
    /// A vocabulary's words too; where both name one, the terms count.
    pub(super) fn new(terms: &[String], vocabulary: Option<&VocabularyModel>) -> Self {
        let terms = terms.iter().map(|term| term.trim());
        // A name in a longer term is also heard alone.
        let names = terms.clone().filter(|term| term.contains(' '));
        let names = names.flat_map(str::split_whitespace);
        let names = names.filter(|word| has_capital_within(word));
        let own = terms.chain(names);
        let own = own.map(|term| (comparable_words(term), term.to_owned()));
        let vocabulary = vocabulary.into_iter();
        let vocabulary = vocabulary.flat_map(VocabularyModel::spellings).cloned();
        let all = own.chain(vocabulary).flat_map(|(words, spelling)| {
            let joined = comparable_words(&without_hyphens(&spelling));
            [(joined, spelling.clone()), (words, spelling)]
        });
        let mut spellings: Vec<(Vec<String>, String)> =
            all.filter(|(words, _)| !words.is_empty()).collect();
        // Of two terms that begin alike the longer one is meant.
        spellings.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
        spellings.dedup();
        Self(spellings)
    }

    /// Whether the caller named these words, as they are heard, alone or in a longer term.
    pub(super) fn knows(&self, heard: &str) -> bool {
        let heard: Vec<&str> = heard.split(' ').collect();
        let mut terms = self.0.iter();
        terms.any(|(words, _)| words.windows(heard.len()).any(|part| part == heard))
    }

    /// The text with every term spelled as its owner does; a sentence still begins large, but for names like "eCitizen".
    /// `starts_sentence`: it goes on with none of the text before.
    pub(super) fn apply(&self, text: &str, mut starts_sentence: bool) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        let tokens: Vec<&str> = text.split(' ').collect();
        let heard = tokens.iter().map(|token| without_hyphens(token));
        let heard: Vec<Vec<String>> = heard.map(|token| comparable_words(&token)).collect();
        let mut out: Vec<String> = Vec::with_capacity(tokens.len());
        let mut at = 0;
        while at < tokens.len() {
            let found = self.0.iter().find_map(|(words, spelling)| {
                let count = tokens_of(words, &heard[at..])?;
                Some((count, spelling))
            });
            let count = found.map_or(1, |(count, _)| count);
            let last = tokens[at + count - 1];
            out.push(match found {
                None => last.to_owned(),
                Some((_, spelling)) => {
                    let marks =
                        &last[last.trim_end_matches(|c: char| !c.is_alphanumeric()).len()..];
                    let first_word = spelling.split(' ').next().unwrap_or_default();
                    let begins_large = starts_sentence
                        && tokens[at].starts_with(char::is_uppercase)
                        && !has_capital_within(first_word);
                    let mut letters = spelling.chars();
                    match letters.next().filter(|_| begins_large) {
                        Some(first) => {
                            first.to_uppercase().chain(letters).collect::<String>() + marks
                        }
                        None => spelling.clone() + marks,
                    }
                }
            });
            starts_sentence = last.ends_with(['.', '?', '!']);
            at += count;
        }
        out.join(" ")
    }
}

fn has_capital_within(word: &str) -> bool {
    word.chars().skip(1).any(char::is_uppercase)
}

/// "mpesa" and "M-Pesa" are heard alike.
fn without_hyphens(text: &str) -> String {
    text.replace(['-', '\u{2010}', '\u{2011}'], "")
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
pub(crate) fn join<'a>(texts: impl Iterator<Item = &'a str>) -> String {
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

    fn model() -> ReadableModel {
        let models = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
        ReadableModel::open(&models).unwrap()
    }

    #[test]
    fn a_sentence_cut_in_two_reads_as_one() {
        let model = model();
        let whole = said("watu wengi walifika mapema asubuhi");
        let (first, second) = whole.split_at(3);
        let head = readable(&model, first, false, &[], Some(50));
        let tail = readable(&model, second, false, first, None);
        assert_eq!(
            join([head.as_str(), tail.as_str()].into_iter()),
            "Watu wengi walifika mapema asubuhi."
        );
    }

    #[test]
    fn a_cut_between_two_sentences_keeps_their_marks() {
        let model = model();
        let words = said("watu wengi walifika kwenye mkutano");
        let text = readable(&model, &words, false, &[], Some(900));
        assert_eq!(text, "Watu wengi walifika kwenye mkutano.");
        let text = readable(&model, &said("watu na"), false, &[], Some(900));
        assert_eq!(text, "Watu na");
    }

    #[test]
    fn numbers_become_digits_when_asked() {
        let model = model();
        let words = said("watu mia mbili walifika");
        for (digits, expected) in [
            (true, "Watu 200 walifika."),
            (false, "Watu mia mbili walifika."),
        ] {
            assert_eq!(readable(&model, &words, digits, &[], None), expected);
        }
        assert_eq!(readable(&model, &[], true, &[], None), "");
        let words = said("mwaka elfu mbili na kumi serikali ilijenga shule mbili mjini");
        let spelled = readable(&model, &words, false, &[], None);
        let expected = spelled.replace("elfu mbili na kumi", "2010");
        assert_eq!(readable(&model, &words, true, &[], None), expected);
    }

    #[test]
    fn terms_are_spelled_as_their_owner_does() {
        let terms = ["M-Pesa", "Wambugu", "safaricom", "Benki ya Dunia"].map(String::from);
        let spellings = Spellings::new(&terms, None);
        assert_eq!(
            spellings.apply(
                "Nilituma kwa m pesa, wambugu akapata. Safaricom na benki ya dunia wanajua benki.",
                true
            ),
            "Nilituma kwa M-Pesa, Wambugu akapata. Safaricom na Benki ya Dunia wanajua benki."
        );
        assert_eq!(
            Spellings::default().apply("Habari yako.", true),
            "Habari yako."
        );
        assert_eq!(spellings.apply("", true), "");
    }

    #[test]
    fn a_hyphen_is_not_heard() {
        let spelled = |term: &str, text| Spellings::new(&[term.to_owned()], None).apply(text, true);
        let heard = "Nalipa kwa MPESA, si M-PESA. M pesa ni mpesa.";
        let written = "Nalipa kwa M-Pesa, si M-Pesa. M-Pesa ni M-Pesa.";
        assert_eq!(spelled("M-Pesa", heard), written);
        // A name in a longer term too, but none of its other words.
        assert_eq!(spelled("Lipa na M-Pesa", heard), written);
        assert_eq!(
            spelled("Lipa na M-Pesa", "Lipa na MPESA, lipa sasa."),
            "Lipa na M-Pesa, lipa sasa."
        );
        assert_eq!(spelled("MPesa", "Kwa M-PESA."), "Kwa MPesa.");
    }

    #[test]
    fn a_name_keeps_its_small_letter_and_a_word_has_a_capital_where_a_sentence_begins() {
        let terms = ["eCitizen", "mPesa", "kodi ya ardhi"].map(String::from);
        let spellings = Spellings::new(&terms, None);
        let text = "Ecitizen na Mpesa, Ecitizen. Kodi ya ardhi ni Kodi ya ardhi.";
        assert_eq!(
            spellings.apply(text, true),
            "eCitizen na mPesa, eCitizen. Kodi ya ardhi ni kodi ya ardhi."
        );
        assert_eq!(spellings.apply("Kodi ya Ardhi.", false), "kodi ya ardhi.");
        // A choice stays as its caller writes it.
        assert_eq!(spellings.apply("kodi ya ardhi", true), "kodi ya ardhi");
    }

    #[test]
    fn a_telephone_number_is_one_number_however_slowly_its_groups_are_said() {
        let slowly = |text: &str| {
            let mut words = said(text);
            for (i, word) in words.iter_mut().enumerate() {
                let pauses_s = (i / 3) as f64 * 0.8;
                (word.start, word.end) = (word.start + pauses_s, word.end + pauses_s);
            }
            let texts = in_digits(&words).into_iter().map(|token| token.text);
            texts.collect::<Vec<_>>().join(" ")
        };
        let number = "sifuri saba moja mbili tatu nne tano sita saba nane";
        assert_eq!(slowly(number), "0712345678");
        assert_eq!(
            slowly(&format!("piga simu namba {number} sasa")),
            "piga simu namba 0712345678 sasa"
        );
        let abroad = "mbili tano nne saba moja mbili tatu nne tano sita saba nane";
        assert_eq!(slowly(abroad), "254712345678");
        // One digit more or less, or one from elsewhere: two numbers, as they were said.
        assert_eq!(slowly(&format!("{number} tisa")), "071 234 567 nane tisa");
        assert_eq!(slowly("moja mbili tatu nne tano sita"), "123 456");
    }

    #[test]
    fn english_numbers_are_digits_within_english() {
        let mut words = said("watu mia mbili na five hundred dollars");
        for word in &mut words[4..] {
            word.language = SpokenLanguage::English;
        }
        let tokens = in_digits(&words);
        let texts: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
        assert_eq!(texts, ["watu", "200", "na", "500", "dollars"]);
    }
}
