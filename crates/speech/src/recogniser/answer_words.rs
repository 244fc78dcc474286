//! The words that answers of a known form are made of, in each language.

use sauti_text::{ENGLISH_TENS, ENGLISH_UNITS, SWAHILI_TENS, SWAHILI_UNITS};

use crate::SpokenLanguage;

pub(super) struct AnswerWords {
    pub digits: &'static [&'static str],
    /// Other words for digits.
    pub digits_too: &'static [(&'static str, usize)],
    /// Before a digit: so many of it.
    pub times: &'static [(&'static str, usize)],
    /// After a digit: so many of it. Two words each.
    pub repeats: &'static [(&'static str, usize)],
    pub yes: &'static [&'static str],
    pub no: &'static [&'static str],
    /// What people add to a yes or a no.
    pub courtesies: &'static [&'static str],
    /// The words of numbers that are no digits, list after list.
    pub numbers: &'static [&'static [&'static str]],
    /// Street words for scales, and the books' words.
    pub street_scales: &'static [(&'static str, &'static str)],
    /// More of them, which no digit stands before: "fourteen" is not "four ten".
    pub after_no_digit: &'static [&'static str],
    /// What people say before and after digits or an amount without changing it.
    pub before_digits: &'static [&'static str],
    pub before_amount: &'static [&'static str],
    pub after_digits: &'static [&'static str],
    pub after_amount: &'static [&'static str],
    /// They only join: nothing begins or ends with them.
    pub connections: &'static [&'static str],
    /// As they are said, and the name that programs are told; none for hundredths.
    pub currencies: &'static [(&'static str, Option<&'static str>)],
}

impl AnswerWords {
    /// Of the language that is spoken, or of all where that is not known.
    pub(super) fn of(language: Option<SpokenLanguage>) -> &'static [AnswerWords] {
        match language {
            Some(SpokenLanguage::Swahili) => &ALL[..1],
            Some(SpokenLanguage::English) => &ALL[1..],
            None => &ALL,
        }
    }

    fn digit(&self, word: &str) -> Option<usize> {
        let plain = self.digits.iter().position(|digit| *digit == word);
        plain.or_else(|| value_of(self.digits_too, word))
    }
}

fn value_of<T: Copy>(pairs: &[(&str, T)], word: &str) -> Option<T> {
    let found = pairs.iter().find(|(name, _)| *name == word);
    found.map(|(_, value)| *value)
}

/// Spoken digits as figures, without gaps: what a caller who asked for digits wants.
pub(super) fn as_figures<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let (mut figures, mut times) = (String::new(), 1);
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        if let (Some(last), Some(next)) = (figures.chars().last(), words.peek())
            && let Some(repeats) = repeats_of(&format!("{word} {next}"))
        {
            figures.extend(std::iter::repeat_n(last, repeats - 1));
            words.next();
            continue;
        }
        let digit = ALL.iter().find_map(|known| known.digit(word));
        if let Some(figure) = digit.and_then(|digit| char::from_digit(digit as u32, 10)) {
            figures.extend(std::iter::repeat_n(figure, times));
        }
        times = ALL
            .iter()
            .find_map(|known| value_of(known.times, word))
            .unwrap_or(1);
    }
    figures
}

fn repeats_of(phrase: &str) -> Option<usize> {
    ALL.iter().find_map(|known| value_of(known.repeats, phrase))
}

/// A word as books have it: "thao" is "elfu".
pub(super) fn book_word(word: &str) -> &str {
    let found = ALL
        .iter()
        .find_map(|known| value_of(known.street_scales, word));
    found.unwrap_or(word)
}

/// The currency that a word names, as programs are told.
pub(super) fn currency_of(word: &str) -> Option<&'static str> {
    ALL.iter()
        .find_map(|known| value_of(known.currencies, word))
        .flatten()
}

const ALL: [AnswerWords; 2] = [
    AnswerWords {
        digits: &SWAHILI_UNITS,
        digits_too: &[("zero", 0), ("ziro", 0)],
        times: &[],
        repeats: &[("mara mbili", 2), ("mara tatu", 3), ("mara nne", 4)],
        yes: &[
            "ndiyo", "ndio", "naam", "sawa", "sawasawa", "ni sawa", "sawa tu", "ndivyo",
            "nakubali", "sahihi", "poa",
        ],
        no: &[
            "hapana",
            "la",
            "siyo",
            "sio",
            "hasha",
            "sitaki",
            "sikubali",
            "siyo sawa",
            "sio sawa",
            "si sawa",
            "siyo sahihi",
            "sio sahihi",
            "si sahihi",
            "siyo kweli",
            "sio kweli",
            "si kweli",
        ],
        courtesies: &["asante", "tafadhali", "kabisa", "kweli", "nataka"],
        numbers: &[
            SWAHILI_TENS.split_at(1).1,
            &[
                "arubaini", "mia", "elfu", "laki", "milioni", "bilioni", "nusu", "robo",
            ],
        ],
        street_scales: &[("soo", "mia"), ("thao", "elfu"), ("ngiri", "elfu")],
        after_no_digit: &[],
        // Not "ni": a first "nne" would be taken for it.
        before_digits: &["plasi", "jumlisha"],
        before_amount: &[
            "ni", "nataka", "naomba", "nitumie", "nipe", "tuma", "toa", "lipa", "weka", "kopa",
        ],
        after_digits: &["tafadhali", "asante"],
        after_amount: &["tu", "pekee", "tafadhali", "asante"],
        connections: &["na", "nukta"],
        currencies: &[
            ("shilingi", Some("shilingi")),
            ("shillingi", Some("shilingi")),
            ("dola", Some("dola")),
            ("senti", None),
            ("pauni", Some("pauni")),
            ("yuro", Some("yuro")),
            ("randi", Some("randi")),
            ("faranga", Some("faranga")),
            ("bob", Some("shilingi")),
        ],
    },
    AnswerWords {
        digits: ENGLISH_UNITS.split_at(10).0,
        digits_too: &[("oh", 0), ("o", 0)],
        times: &[("double", 2), ("triple", 3)],
        repeats: &[],
        yes: &[
            "yes",
            "yeah",
            "ya",
            "yep",
            "yup",
            "okay",
            "sure",
            "correct",
            "of course",
            "i agree",
            "that's right",
        ],
        no: &["no", "nope", "never", "not at all"],
        courtesies: &["please", "thanks", "thank you", "i do", "i don't", "it is"],
        numbers: &[
            ENGLISH_UNITS.split_at(11).1,
            &ENGLISH_TENS,
            &["hundred", "thousand", "million", "billion", "half"],
            &["a hundred", "a thousand", "a million", "a half"],
        ],
        street_scales: &[],
        after_no_digit: &[ENGLISH_UNITS[10]],
        before_digits: &["it's", "plus"],
        before_amount: &["it's"],
        after_digits: &["please", "thanks"],
        after_amount: &["only", "please", "thanks"],
        connections: &["and", "point"],
        currencies: &[
            ("shillings", Some("shilingi")),
            ("shilling", Some("shilingi")),
            ("bob", Some("shilingi")),
            ("dollars", Some("dola")),
            ("dollar", Some("dola")),
            ("cents", None),
            ("pounds", Some("pauni")),
            ("euros", Some("yuro")),
            ("rand", Some("randi")),
            ("francs", Some("faranga")),
        ],
    },
];
