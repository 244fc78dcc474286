//! How the choices of a caller sound.

use sauti_text::compare::comparable;
use sauti_text::{SpeechLanguage, normalise_in};

use crate::{Expect, SpokenLanguage};

pub(super) const CHOICE_LETTERS_MAX: usize = 200;

impl Expect {
    /// A choice in which there is nothing to listen for, or too much.
    pub fn unheard_choice(&self, language: Option<SpokenLanguage>) -> Option<&str> {
        let Expect::Choices(choices) = self else {
            return None;
        };
        let mut choices = choices.iter().map(String::as_str);
        choices.find(|choice| spoken_choice(choice, language).is_empty())
    }
}

/// The letters of a choice as it is said, in each language that may be spoken: they differ in their numbers.
pub(super) fn spoken_choice(choice: &str, language: Option<SpokenLanguage>) -> Vec<String> {
    let swahili = || comparable(choice);
    let english = || comparable(&normalise_in(choice, SpeechLanguage::English));
    let mut spoken = match language {
        Some(SpokenLanguage::Swahili) => vec![swahili()],
        Some(SpokenLanguage::English) => vec![english()],
        None => vec![swahili(), english()],
    };
    spoken.dedup();
    spoken.retain(|spoken| (1..=CHOICE_LETTERS_MAX).contains(&spoken.len()));
    spoken
}
