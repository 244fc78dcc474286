/// How a rule reads the tokens from where it was asked up to `end`.
#[derive(Debug)]
pub(crate) struct Reading {
    pub text: String,
    pub end: usize,
}

impl Reading {
    pub(crate) fn new(text: impl Into<String>, end: usize) -> Option<Self> {
        Some(Self {
            text: text.into(),
            end,
        })
    }
}
