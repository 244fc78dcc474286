//! Letters by their names, as they are said in East Africa.

use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

use crate::cardinal::UNITS;
use crate::tables::rows;

/// From A to Z: the name in Swahili spelling, a tab, its English sounds in the letters of `english-sounds.tsv`.
static LETTERS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let letters = rows(include_str!("../data/letters.tsv"));
    letters.map(|(_, names)| names).collect()
});

fn names(letter: char) -> Option<(&'static str, &'static str)> {
    let place = u32::from(letter.to_ascii_lowercase()).checked_sub(u32::from('a'))?;
    LETTERS.get(place as usize)?.split_once('\t')
}

pub(crate) fn letter_name(letter: char) -> Option<&'static str> {
    names(letter).map(|(name, _)| name)
}

/// How English says a letter.
pub(crate) fn english_letter_sounds(letter: char) -> Option<&'static str> {
    names(letter).map(|(_, sounds)| sounds)
}

/// Each mark's name in Swahili, a tab, its name in English, a tab, the mark.
static MARKS: LazyLock<Vec<(&str, &str)>> =
    LazyLock::new(|| rows(include_str!("../data/marks.tsv")).collect());

fn mark_names(mark: char) -> Option<(&'static str, &'static str)> {
    let mut named = MARKS.iter().filter(|(_, rest)| rest.ends_with(mark));
    let (swahili, rest) = named.next()?;
    Some((swahili, rest.split_once('\t')?.0))
}

pub(crate) fn mark_name(mark: char) -> Option<&'static str> {
    mark_names(mark).map(|(swahili, _)| swahili)
}

pub(crate) fn english_mark_name(mark: char) -> Option<&'static str> {
    mark_names(mark).map(|(_, english)| english)
}

/// A letter without its accents.
pub(crate) fn plain(c: char) -> char {
    std::iter::once(c).nfkd().next().unwrap_or(c)
}

/// What is on the keys of a telephone, and the plus of its numbers.
pub(crate) fn is_key(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '*' | '#' | '+')
}

fn digit_name(c: char) -> Option<&'static str> {
    c.to_digit(10).map(|digit| UNITS[digit as usize])
}

/// Letters and digits one by one, with spaces between them; all else is passed over.
pub(crate) fn spell(text: &str) -> String {
    let names = text
        .chars()
        .filter_map(|c| letter_name(c).or_else(|| digit_name(c)));
    names.collect::<Vec<_>>().join(" ")
}

/// The same with the marks that have names, and letters under their accents.
pub(crate) fn spell_all(text: &str) -> String {
    let name = |c| {
        letter_name(c)
            .or_else(|| digit_name(c))
            .or_else(|| mark_name(c))
    };
    let names = text.chars().map(plain).filter_map(name);
    names.collect::<Vec<_>>().join(" ")
}
