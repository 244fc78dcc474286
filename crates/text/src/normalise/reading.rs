/// How a rule reads the tokens from where it was asked up to `end`.
#[derive(Debug)]
pub(crate) struct SpokenForm {
    pub text: String,
    pub end: usize,
}

impl SpokenForm {
    pub(crate) fn of(text: impl Into<String>, end: usize) -> Self {
        let text = text.into();
        Self { text, end }
    }

    /// As a rule answers that knows the pattern.
    pub(crate) fn new(text: impl Into<String>, end: usize) -> Option<Self> {
        Some(Self::of(text, end))
    }
}
