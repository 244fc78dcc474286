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
    let languages: &[SpeechLanguage] = match language {
        Some(SpokenLanguage::Swahili) => &[SpeechLanguage::Swahili],
        Some(SpokenLanguage::English) => &[SpeechLanguage::English],
        None => &[SpeechLanguage::Swahili, SpeechLanguage::English],
    };
    let as_said = |language: &SpeechLanguage| comparable(&normalise_in(choice, *language));
    let mut spoken: Vec<String> = languages.iter().map(as_said).collect();
    spoken.dedup();
    // People say dates with this word and without.
    let bare = spoken
        .iter()
        .filter_map(|said| said.strip_prefix("tarehe "));
    spoken.extend(bare.map(str::to_owned).collect::<Vec<_>>());
    spoken.retain(|spoken| (1..=CHOICE_LETTERS_MAX).contains(&spoken.len()));
    spoken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_listened_for_with_its_word_and_without() {
        let swahili = Some(SpokenLanguage::Swahili);
        assert_eq!(
            spoken_choice("5 Novemba", swahili),
            ["tarehe tano novemba", "tano novemba"]
        );
        assert_eq!(spoken_choice("Salio", None), ["salio"]);
    }
}
