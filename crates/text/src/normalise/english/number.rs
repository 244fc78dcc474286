//! English numbers in words, as they are said in East Africa: "one thousand two hundred and fifty".

use crate::english::{TENS, UNITS};

const GROUPS: [(u64, &str); 5] = [
    (1_000_000_000_000_000, "quadrillion"),
    (1_000_000_000_000, "trillion"),
    (1_000_000_000, "billion"),
    (1_000_000, "million"),
    (1_000, "thousand"),
];

pub(crate) fn cardinal(n: u64) -> String {
    if n < 100 {
        return below_hundred(n);
    }
    let mut parts = Vec::new();
    let mut rest = n;
    for (size, name) in GROUPS {
        if rest >= size {
            parts.push(format!("{} {name}", cardinal(rest / size)));
            rest %= size;
        }
    }
    if rest >= 100 {
        parts.push(format!("{} hundred", UNITS[(rest / 100) as usize]));
        rest %= 100;
    }
    if rest > 0 {
        parts.push(format!("and {}", below_hundred(rest)));
    }
    parts.join(" ")
}

fn below_hundred(n: u64) -> String {
    match (n / 10, n % 10) {
        (0 | 1, _) => UNITS[n as usize].to_owned(),
        (tens, 0) => TENS[tens as usize - 2].to_owned(),
        (tens, unit) => format!("{}-{}", TENS[tens as usize - 2], UNITS[unit as usize]),
    }
}

pub(crate) fn ordinal(n: u64) -> String {
    let said = cardinal(n);
    let at = said.rfind([' ', '-']).map_or(0, |at| at + 1);
    let (before, last) = said.split_at(at);
    let last = match last {
        "one" => "first".to_owned(),
        "two" => "second".to_owned(),
        "three" => "third".to_owned(),
        "five" => "fifth".to_owned(),
        "eight" => "eighth".to_owned(),
        "nine" => "ninth".to_owned(),
        "twelve" => "twelfth".to_owned(),
        _ => match last.strip_suffix('y') {
            Some(stem) => format!("{stem}ieth"),
            None => format!("{last}th"),
        },
    };
    format!("{before}{last}")
}

/// "nineteen eighty-eight", "two thousand and five", "twenty twenty-six".
pub(crate) fn year(n: u64) -> String {
    match (n / 100, n % 100) {
        (century, rest) if !(11..=99).contains(&century) || (century == 20 && rest < 10) => {
            cardinal(n)
        }
        (century, 0) => format!("{} hundred", cardinal(century)),
        (century, rest @ 1..=9) => format!("{} oh {}", cardinal(century), cardinal(rest)),
        (century, rest) => format!("{} {}", cardinal(century), cardinal(rest)),
    }
}

/// Digit by digit; all else is passed over.
pub(crate) fn digits(text: &str) -> String {
    let said = text.chars().filter_map(|c| c.to_digit(10));
    let said: Vec<&str> = said.map(|digit| UNITS[digit as usize]).collect();
    said.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_said_in_words() {
        for (n, said) in [
            (0, "zero"),
            (24, "twenty-four"),
            (100, "one hundred"),
            (1_250, "one thousand two hundred and fifty"),
            (1_000_001, "one million and one"),
            (90_000, "ninety thousand"),
        ] {
            assert_eq!(cardinal(n), said);
        }
        assert!(
            cardinal(u64::MAX)
                .starts_with("eighteen thousand four hundred and forty-six quadrillion")
        );
        for (n, said) in [
            (1, "first"),
            (23, "twenty-third"),
            (30, "thirtieth"),
            (100, "one hundredth"),
            (12, "twelfth"),
        ] {
            assert_eq!(ordinal(n), said);
        }
        for (n, said) in [
            (1988, "nineteen eighty-eight"),
            (2005, "two thousand and five"),
            (2026, "twenty twenty-six"),
            (1900, "nineteen hundred"),
            (1906, "nineteen oh six"),
        ] {
            assert_eq!(year(n), said);
        }
    }
}
