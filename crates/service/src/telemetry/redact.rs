//! The last guard against a key in a log. Nothing should log one; should it happen all the same,
//! the line goes out without it.

use std::borrow::Cow;
use std::io::{self, Write};

const MARKS: [&str; 3] = ["sauti_live_", "sauti_test_", "Bearer "];

/// The line with everything that looks like a key or a bearer token masked.
pub(crate) fn redacted(line: &str) -> Cow<'_, str> {
    if !MARKS.iter().any(|mark| line.contains(mark)) {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((start, mark)) = first_mark(rest) {
        let secret = start + mark.len();
        out.push_str(&rest[..secret]);
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.~+/=".contains(c);
        let end = rest[secret..]
            .find(|c| !is_part(c))
            .map_or(rest.len(), |len| secret + len);
        if end > secret {
            out.push_str("***");
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn first_mark(text: &str) -> Option<(usize, &'static str)> {
    MARKS
        .iter()
        .filter_map(|mark| Some((text.find(mark)?, *mark)))
        .min()
}

#[derive(Debug, Clone, Copy)]
pub(super) struct RedactedStderr;

impl Write for RedactedStderr {
    /// One whole event at a time is handed over, so no key is cut in two.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = String::from_utf8_lossy(bytes);
        io::stderr().lock().write_all(redacted(&line).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::redacted;

    #[test]
    fn keys_and_bearer_tokens_are_masked_wherever_they_stand() {
        assert_eq!(
            redacted("key=sauti_live_01h_Abc123 then Bearer sauti_test_x9, end"),
            "key=sauti_live_*** then Bearer ***, end"
        );
        assert_eq!(
            redacted("{\"a\":\"Bearer abc.def-g=\"}"),
            "{\"a\":\"Bearer ***\"}"
        );
    }

    #[test]
    fn other_lines_are_left_as_they_are() {
        assert_eq!(redacted("sauti_requests_total 4"), "sauti_requests_total 4");
        assert_eq!(redacted("ends in Bearer "), "ends in Bearer ");
    }
}
