//! Numbers as they are said, after real usage rather than CLDR: "na" before a units digit, before a remainder below ten
//! after "mia", before one below a hundred after "elfu", and between exactly two big groups; "laki" for 100,000s.

/// From zero to nine: a digit's word stands at its own place.
pub const UNITS: [&str; 10] = [
    "sifuri", "moja", "mbili", "tatu", "nne", "tano", "sita", "saba", "nane", "tisa",
];

/// So many tens: the first place, which none is, is empty.
pub const TENS: [&str; 10] = [
    "",
    "kumi",
    "ishirini",
    "thelathini",
    "arobaini",
    "hamsini",
    "sitini",
    "sabini",
    "themanini",
    "tisini",
];

/// The big groups, largest first. Beyond trilioni numbers are read digit by digit.
pub(crate) const GROUPS: [(u64, &str); 5] = [
    (1_000_000_000_000, "trilioni"),
    (1_000_000_000, "bilioni"),
    (1_000_000, "milioni"),
    (100_000, "laki"),
    (1_000, "elfu"),
];

/// The largest number that is read as a number.
pub(crate) const CARDINAL_MAX: u64 = 999_999_999_999_999;

/// A whole number in words. Above [`CARDINAL_MAX`] the digits are read one by one.
pub fn cardinal(n: u64) -> String {
    if n > CARDINAL_MAX {
        return digits(&n.to_string());
    }
    let mut parts = Vec::new();
    let (mut rest, mut last_count) = (n, 0);
    for (size, name) in GROUPS {
        let count = rest / size;
        if count > 0 {
            parts.push(format!("{name} {}", below_thousand(count)));
            (rest, last_count) = (rest % size, count);
        }
    }
    let groups = parts.len();
    if rest > 0 || groups == 0 {
        parts.push(below_thousand(rest));
    }
    let last_joint = match (groups, rest) {
        (2, 0) => " na ",
        (1.., 1..100) if ends_open(last_count, rest) => ", na ",
        (1.., 1..100) => " na ",
        _ => " ",
    };
    match parts.split_last() {
        Some((last, before)) if !before.is_empty() => {
            format!("{}{last_joint}{last}", before.join(" "))
        }
        _ => parts.concat(),
    }
}

/// "elfu kumi na moja" is 11,000, so that 10,001 needs a pause: the rest must not be heard as a part of the count.
fn ends_open(count: u64, rest: u64) -> bool {
    let open_below = match count {
        _ if count.is_multiple_of(100) => 100,
        _ if count.is_multiple_of(10) => 10,
        _ => 1,
    };
    rest < open_below
}

fn below_thousand(n: u64) -> String {
    if n < 100 {
        return below_hundred(n);
    }
    let hundreds = format!("mia {}", UNITS[(n / 100) as usize]);
    match n % 100 {
        0 => hundreds,
        rest @ 1..=9 => format!("{hundreds} na {}", UNITS[rest as usize]),
        rest => format!("{hundreds} {}", below_hundred(rest)),
    }
}

fn below_hundred(n: u64) -> String {
    let (tens, unit) = ((n / 10) as usize, (n % 10) as usize);
    match (tens, unit) {
        (0, unit) => UNITS[unit].to_owned(),
        (tens, 0) => TENS[tens].to_owned(),
        (tens, unit) => format!("{} na {}", TENS[tens], UNITS[unit]),
    }
}

/// Each digit by its name; anything else is passed over.
pub(crate) fn digits(text: &str) -> String {
    let names: Vec<&str> = text
        .chars()
        .filter_map(|c| c.to_digit(10))
        .map(|d| UNITS[d as usize])
        .collect();
    names.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_said_as_people_say_them() {
        for (n, words) in [
            (0, "sifuri"),
            (21, "ishirini na moja"),
            (105, "mia moja na tano"),
            (110, "mia moja kumi"),
            (962, "mia tisa sitini na mbili"),
            (1_010, "elfu moja na kumi"),
            (2_500, "elfu mbili mia tano"),
            (2_017, "elfu mbili na kumi na saba"),
            (11_000, "elfu kumi na moja"),
            (10_001, "elfu kumi, na moja"),
            (10_011, "elfu kumi na kumi na moja"),
            (250_000_000, "milioni mia mbili hamsini"),
            (200_000_050, "milioni mia mbili, na hamsini"),
            (100_000, "laki moja"),
            (150_000, "laki moja na elfu hamsini"),
            (1_200_000, "milioni moja na laki mbili"),
            (
                345_678,
                "laki tatu elfu arobaini na tano mia sita sabini na nane",
            ),
            (1_000_000_000_000, "trilioni moja"),
        ] {
            assert_eq!(cardinal(n), words, "{n}");
        }
    }

    #[test]
    fn numbers_beyond_naming_are_read_digit_by_digit() {
        assert!(cardinal(u64::MAX).starts_with("moja nane nne nne"));
    }
}
