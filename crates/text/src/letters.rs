//! Letters by their names, as they are said in East Africa.

pub(crate) fn letter_name(letter: char) -> Option<&'static str> {
    Some(match letter.to_ascii_lowercase() {
        'a' => "ei",
        'b' => "bi",
        'c' => "si",
        'd' => "di",
        'e' => "i",
        'f' => "efu",
        'g' => "ji",
        'h' => "eichi",
        'i' => "ai",
        'j' => "jei",
        'k' => "kei",
        'l' => "eli",
        'm' => "emu",
        'n' => "eni",
        'o' => "o",
        'p' => "pi",
        'q' => "kyu",
        'r' => "ari",
        's' => "esi",
        't' => "ti",
        'u' => "yu",
        'v' => "vi",
        'w' => "dabliu",
        'x' => "eksi",
        'y' => "wai",
        'z' => "zedi",
        _ => return None,
    })
}

/// Letters and digits one by one, with spaces between them; all else is passed over.
pub(crate) fn spell(text: &str) -> String {
    let names: Vec<&str> = text
        .chars()
        .filter_map(|c| {
            letter_name(c).or_else(|| c.to_digit(10).map(|d| crate::cardinal::UNITS[d as usize]))
        })
        .collect();
    names.join(" ")
}
