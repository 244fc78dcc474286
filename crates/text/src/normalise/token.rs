//! Words, runs of digits, spaces and single marks.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Letters, with apostrophes between them (ng'ombe).
    Word,
    /// ASCII digits only; separators are for the rules to judge.
    Digits,
    Space,
    /// One mark.
    Mark(char),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    /// Byte offset in the cleaned text.
    pub at: usize,
}

impl Token<'_> {
    pub(super) fn end(&self) -> usize {
        self.at + self.text.len()
    }

    pub(super) fn is_capitalised(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_uppercase())
    }

    /// Two letters and more, all of them capitals.
    pub(super) fn is_all_caps(&self) -> bool {
        self.kind == Kind::Word
            && self.text.len() > 1
            && self
                .text
                .bytes()
                .all(|b| b.is_ascii_uppercase() || b == b'\'')
    }

    pub(super) fn is(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word)
    }

    pub(super) fn is_one_of(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }
}

/// No token goes on past the place where a text is parted.
pub(crate) fn tokens(text: &str, parted: usize) -> Vec<Token<'_>> {
    let mut out = Vec::with_capacity(text.len() / 3 + 1);
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..if at < parted { parted } else { text.len() }];
        let (kind, len) = if c.is_ascii_digit() {
            (Kind::Digits, run(rest, |c| c.is_ascii_digit()))
        } else if c.is_whitespace() {
            (Kind::Space, run(rest, char::is_whitespace))
        } else if c.is_alphabetic() {
            let number = out
                .iter()
                .rev()
                .find(|token: &&Token<'_>| token.kind != Kind::Space);
            let after_number = number.is_some_and(|token| token.kind == Kind::Digits);
            let len = match rest.as_bytes() {
                // "9:05 AMWithdraw".
                [b'A' | b'P', b'M', b'A'..=b'Z', b'a'..=b'z', b'a'..=b'z', ..] if after_number => 2,
                _ => word_len(rest),
            };
            (Kind::Word, len)
        } else {
            (Kind::Mark(c), c.len_utf8())
        };
        out.push(Token {
            kind,
            text: &text[at..at + len],
            at,
        });
        at += len;
    }
    out
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

fn word_len(text: &str) -> usize {
    let mut len = 0;
    loop {
        len += run(&text[len..], char::is_alphabetic);
        let apostrophe_inside = text[len..]
            .strip_prefix('\'')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic()));
        if !apostrophe_inside {
            return len;
        }
        len += 1;
    }
}
