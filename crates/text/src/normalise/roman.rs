//! Roman numerals of I, V and X.

pub(super) fn roman_value(text: &str) -> Option<u64> {
    let digit = |c: char| match c {
        'I' => Some(1),
        'V' => Some(5),
        'X' => Some(10),
        _ => None,
    };
    let values: Vec<i64> = text.chars().map(digit).collect::<Option<_>>()?;
    let mut total = 0;
    for (i, value) in values.iter().enumerate() {
        let before_larger = values.get(i + 1).is_some_and(|next| next > value);
        total += if before_larger { -value } else { *value };
    }
    let total = u64::try_from(total).ok().filter(|n| (1..40).contains(n))?;
    (to_roman(total) == text).then_some(total)
}

fn to_roman(mut n: u64) -> String {
    let mut out = String::new();
    for (value, sign) in [(10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")] {
        while n >= value {
            out.push_str(sign);
            n -= value;
        }
    }
    out
}
