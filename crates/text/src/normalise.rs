use crate::cardinal::{cardinal, digits};

/// Written text to spoken words; case and punctuation stay.
pub fn normalise(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        out.push_str(&rest[..start]);
        let end = rest[start..]
            .find(|c: char| !c.is_ascii_digit())
            .map_or(rest.len(), |n| start + n);
        let number = &rest[start..end];
        out.push_str(&number.parse().map_or_else(|_| digits(number), cardinal));
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}
