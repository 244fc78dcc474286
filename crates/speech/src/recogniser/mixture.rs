//! One speaker, one or two languages: how likely a word is when the language may change from word to word, at a price.
//!
//! Each language has its own n-grams. Which of them is being spoken is not known but inferred, word by word (a hidden Markov
//! model): inside a language its own model decides alone, at a border both count.

use super::lm::letters::{END, symbol};
use super::lm::{LEXICON_ROOT, LanguageModels, LetterState, Lm, LmState, UNKNOWN};
use super::posteriors::log_add;
use super::vocabulary::{VocabularyModel, VocabularyState};
use crate::SpokenLanguage;

const LANGUAGES_MAX: usize = 2;
const OUTSIDE_LEXICON: u32 = u32::MAX;
/// What an unknown word costs before its spelling, while it is still unfinished.
const UNKNOWN_AHEAD: f32 = -4.0;
/// The price of naming another language than the word before has; words alone tell little, "data" and "me" nothing.
const NAMED_SWITCH: f32 = 2.5;

/// How the languages are weighed against each other.
#[derive(Debug, Clone, Copy)]
pub struct MixtureConfig {
    /// ln p that the next word is of another language.
    pub switch_log_p: f32,
    /// ln p that the first word is English.
    pub english_log_p: f32,
    /// Added to ln p of a word outside the vocabulary: letters alone overrate how odd a word is.
    pub unknown_bonus: f32,
}

pub(super) struct Mixture<'a> {
    lms: Vec<(SpokenLanguage, &'a Lm)>,
    config: MixtureConfig,
    /// ln p that the next word is of the same language.
    stay_log_p: f32,
    /// The caller's own words, beside any language.
    own: Option<&'a VocabularyModel>,
}

/// The words before, in each language, and ln p that each is being spoken.
#[derive(Debug, Clone, Copy)]
pub(super) struct MixtureState {
    words: [LmState; LANGUAGES_MAX],
    log_share: [f32; LANGUAGES_MAX],
    own: VocabularyState,
}

/// An unfinished word: where it stands in each vocabulary, and ln p of its spelling.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenWord {
    lexicon: [u32; LANGUAGES_MAX],
    own: u32,
    letters: LetterState,
    spelling: [f32; LANGUAGES_MAX],
}

impl OpenWord {
    pub(super) const EMPTY: Self = Self {
        lexicon: [LEXICON_ROOT; LANGUAGES_MAX],
        own: LEXICON_ROOT,
        letters: LetterState::START,
        spelling: [0.0; LANGUAGES_MAX],
    };
}

impl<'a> Mixture<'a> {
    pub(super) fn new(
        models: &'a LanguageModels,
        language: Option<SpokenLanguage>,
        config: MixtureConfig,
        own: Option<&'a VocabularyModel>,
    ) -> Self {
        Self {
            lms: models.of(language),
            stay_log_p: ln_one_less(config.switch_log_p),
            config,
            own,
        }
    }

    /// The same without the caller's own words.
    pub(super) fn without_own(&self) -> Self {
        Self {
            lms: self.lms.clone(),
            own: None,
            ..*self
        }
    }

    /// Before the first word of a sentence.
    pub(super) fn start(&self) -> MixtureState {
        let english = self.config.english_log_p;
        MixtureState {
            words: self.each(|_, lm| lm.start()),
            log_share: match self.lms.len() {
                1 => [0.0, f32::NEG_INFINITY],
                _ => [ln_one_less(english), english],
            },
            own: VocabularyModel::start(),
        }
    }

    /// One value for each language; the last one's again where there is only one.
    fn each<T: Copy>(&self, value: impl Fn(usize, &Lm) -> T) -> [T; LANGUAGES_MAX] {
        let first = value(0, self.lms[0].1);
        match self.lms.get(1) {
            Some((_, lm)) => [first, value(1, lm)],
            None => [first; LANGUAGES_MAX],
        }
    }

    /// ln p of each language for the word after these.
    fn next_share(&self, state: &MixtureState) -> [f32; LANGUAGES_MAX] {
        if self.lms.len() == 1 {
            return state.log_share;
        }
        let (stay, switch) = (self.stay_log_p, self.config.switch_log_p);
        let [one, other] = state.log_share;
        [
            log_add(one + stay, other + switch),
            log_add(other + stay, one + switch),
        ]
    }

    pub(super) fn with_letter(&self, word: &OpenWord, symbol: usize) -> OpenWord {
        OpenWord {
            lexicon: self.each(|i, lm| match word.lexicon[i] {
                OUTSIDE_LEXICON => OUTSIDE_LEXICON,
                node => lm.lexicon().child(node, symbol).unwrap_or(OUTSIDE_LEXICON),
            }),
            own: match (self.own, word.own) {
                (Some(own), node) if node != OUTSIDE_LEXICON => {
                    own.child(node, symbol).unwrap_or(OUTSIDE_LEXICON)
                }
                _ => OUTSIDE_LEXICON,
            },
            letters: word.letters.after(symbol),
            spelling: self
                .each(|i, lm| word.spelling[i] + lm.letters().log_p(word.letters, symbol)),
        }
    }

    /// ln p of the best that the unfinished word can become.
    pub(super) fn ahead(&self, state: &MixtureState, word: &OpenWord) -> f32 {
        let share = self.next_share(state);
        let best = self.each(|i, lm| {
            let unknown = self.config.unknown_bonus + UNKNOWN_AHEAD + word.spelling[i];
            let known = match word.lexicon[i] {
                OUTSIDE_LEXICON => unknown,
                node => unknown.max(lm.lexicon().best_below(node)),
            };
            share[i] + known
        });
        let best = best[0].max(best[1]);
        match self.own {
            None => best,
            Some(own) => {
                let best = best + own.others_log_p();
                match word.own {
                    OUTSIDE_LEXICON => best,
                    node => best.max(own.best_below(node)),
                }
            }
        }
    }

    /// ln p of the word, now that it is known to end here, and the state after it.
    pub(super) fn word_end(&self, state: &MixtureState, word: &OpenWord) -> (f32, MixtureState) {
        let (log_p, mut next) = self.word_end_in_languages(state, word);
        let Some(own) = self.own else {
            return (log_p, next);
        };
        let node = Some(word.own).filter(|node| *node != OUTSIDE_LEXICON);
        let (own_log_p, own_next) = own.word_end(state.own, node);
        next.own = own_next;
        let log_p = log_p + own.others_log_p();
        (own_log_p.map_or(log_p, |own| log_add(log_p, own)), next)
    }

    fn word_end_in_languages(&self, state: &MixtureState, word: &OpenWord) -> (f32, MixtureState) {
        let share = self.next_share(state);
        let scored = self.each(|i, lm| {
            let known = match word.lexicon[i] {
                OUTSIDE_LEXICON => None,
                node => lm.lexicon().word(node),
            };
            let (log_p, next) = lm.score(state.words[i], known.unwrap_or(UNKNOWN));
            let spelled = || word.spelling[i] + lm.letters().log_p(word.letters, END);
            match known {
                Some(_) => (log_p, next),
                None => (log_p + spelled() + self.config.unknown_bonus, next),
            }
        });
        let words = scored.map(|(_, next)| next);
        if self.lms.len() == 1 {
            let next = MixtureState { words, ..*state };
            return (scored[0].0, next);
        }
        let joint = [share[0] + scored[0].0, share[1] + scored[1].0];
        let total = log_add(joint[0], joint[1]);
        let log_share = joint.map(|log_p| log_p - total);
        let next = MixtureState {
            words,
            log_share,
            own: state.own,
        };
        (total, next)
    }

    /// The state after these words, the nearest last.
    pub(super) fn after(&self, words: impl Iterator<Item = impl AsRef<str>>) -> MixtureState {
        words.fold(self.start(), |state, word| {
            self.word_end(&state, &self.open(word.as_ref())).1
        })
    }

    pub(super) fn open(&self, word: &str) -> OpenWord {
        let symbols = word.bytes().filter_map(symbol);
        symbols.fold(OpenWord::EMPTY, |word, symbol| {
            self.with_letter(&word, symbol)
        })
    }

    /// ln p of these words at the beginning of a sentence.
    pub(super) fn log_p(&self, words: &[&str]) -> f32 {
        let mut state = self.start();
        let each = words.iter().map(|word| {
            let (log_p, next) = self.word_end(&state, &self.open(word));
            state = next;
            log_p
        });
        each.sum()
    }

    /// Whether this is a word of the Swahili model, where that one listens.
    pub(super) fn knows_in_swahili(&self, word: &str) -> bool {
        let mut swahili = self.lms.iter();
        swahili.any(|(language, lm)| {
            *language == SpokenLanguage::Swahili && lm.lexicon().find(word).is_some()
        })
    }

    /// Whether the caller's own words have this one.
    pub(super) fn is_own(&self, word: &str) -> bool {
        self.own.is_some_and(|own| own.find(word).is_some())
    }

    /// The language of each word: the likeliest sequence by the words themselves, where a change has its price.
    pub(super) fn languages(&self, words: &[&str]) -> Vec<SpokenLanguage> {
        if self.lms.len() == 1 {
            return vec![self.lms[0].0; words.len()];
        }
        let mut score = [0f32; LANGUAGES_MAX];
        let mut cames: Vec<[usize; LANGUAGES_MAX]> = Vec::with_capacity(words.len());
        for word in words {
            let own = self.each(|_, lm| own_log_p(lm, word));
            let came = [0, 1].map(|i: usize| match score[i] >= score[1 - i] - NAMED_SWITCH {
                true => i,
                false => 1 - i,
            });
            let next = [0, 1].map(|i: usize| {
                let price = if came[i] == i { 0.0 } else { NAMED_SWITCH };
                score[came[i]] - price + own[i]
            });
            cames.push(came);
            score = next;
        }
        let mut at = usize::from(score[1] > score[0]);
        let mut out = Vec::with_capacity(words.len());
        for came in cames.iter().rev() {
            out.push(self.lms[at].0);
            at = came[at];
        }
        out.reverse();
        out
    }
}

/// ln p of the word alone, by its spelling where it is not known.
fn own_log_p(lm: &Lm, word: &str) -> f32 {
    if let Some(known) = lm.lexicon().find(word) {
        return lm.word_log_p(known);
    }
    let mut state = LetterState::START;
    let mut log_p = lm.word_log_p(UNKNOWN);
    for symbol in word.bytes().filter_map(symbol).chain([END]) {
        log_p += lm.letters().log_p(state, symbol);
        state = state.after(symbol);
    }
    log_p
}

/// ln(1 - e^x).
fn ln_one_less(x: f32) -> f32 {
    (-x.exp()).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::super::beam::BeamConfig;
    use super::super::lm::fixtures::{small_lm, small_pair};
    use super::*;

    fn config() -> MixtureConfig {
        BeamConfig::default().languages
    }

    fn log_p(mixture: &Mixture<'_>, text: &str) -> f32 {
        mixture.log_p(&text.split(' ').collect::<Vec<_>>())
    }

    #[test]
    fn a_second_language_costs_the_first_next_to_nothing() {
        let (alone, both) = (small_lm(), small_pair());
        let alone = Mixture::new(&alone, None, config(), None);
        let both = Mixture::new(&both, None, config(), None);
        let text = "mama anapika chakula leo";
        let words = text.split(' ').count() as f32;
        let stay = ln_one_less(config().english_log_p) + words * ln_one_less(config().switch_log_p);
        let lost = log_p(&both, text) - log_p(&alone, text);
        assert!(lost >= stay - 1e-3 && lost < 0.1, "{lost} {stay}");
    }

    #[test]
    fn each_change_of_language_has_its_price() {
        let lms = small_pair();
        let both = Mixture::new(&lms, None, config(), None);
        let english = Mixture::new(&lms, Some(SpokenLanguage::English), config(), None);
        let after = log_p(&both, "mama the teacher reads") - log_p(&both, "mama");
        let within = log_p(&english, "the teacher reads");
        // The first word lacks what came before it; the rest is English as ever.
        assert!(
            after < within + config().switch_log_p * 0.5,
            "{after} {within}"
        );
        assert!(
            after > within + 3.0 * config().switch_log_p,
            "{after} {within}"
        );
    }

    #[test]
    fn words_are_told_apart_by_language() {
        let lms = small_pair();
        let both = Mixture::new(&lms, None, config(), None);
        let text = "mama anapika the teacher reads kitabu leo";
        let words: Vec<&str> = text.split(' ').collect();
        let (sw, en) = (SpokenLanguage::Swahili, SpokenLanguage::English);
        assert_eq!(both.languages(&words), [sw, sw, en, en, en, sw, sw]);
        assert_eq!(both.languages(&[]), []);
        let only = Mixture::new(&lms, Some(sw), config(), None);
        assert_eq!(only.languages(&["teacher"]), [sw]);
    }
}
