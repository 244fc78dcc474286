/// How a rule reads the tokens from where it was asked up to `end`.
#[derive(Debug)]
pub(crate) struct SpokenForm {
    pub text: String,
    pub end: usize,
}

impl SpokenForm {
    pub(crate) fn new(text: impl Into<String>, end: usize) -> Option<Self> {
        Some(Self {
            text: text.into(),
            end,
        })
    }
}
