//! Letters by their names, as they are said in East Africa.

use crate::cardinal::UNITS;

/// From A to Z.
const NAMES: [&str; 26] = [
    "ei", "bi", "si", "di", "i", "efu", "ji", "eichi", "ai", "jei", "kei", "eli", "emu", "eni",
    "o", "pi", "kyu", "ari", "esi", "ti", "yu", "vi", "dabliu", "eksi", "wai", "zedi",
];

pub(crate) fn letter_name(letter: char) -> Option<&'static str> {
    let place = u32::from(letter.to_ascii_lowercase()).checked_sub(u32::from('a'))?;
    NAMES.get(place as usize).copied()
}

/// Letters and digits one by one, with spaces between them; all else is passed over.
pub(crate) fn spell(text: &str) -> String {
    let digit = |c: char| c.to_digit(10).map(|digit| UNITS[digit as usize]);
    let names = text
        .chars()
        .filter_map(|c| letter_name(c).or_else(|| digit(c)));
    names.collect::<Vec<_>>().join(" ")
}
