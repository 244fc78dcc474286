//! From letter probabilities to words with times and confidences.

use super::align::place_words;
use super::beam::{BeamConfig, BeamSearch, Hypothesis};
use super::bias::Bias;
use super::grammar::{Grammar, as_figures};
use super::lm::LanguageModels;
use super::mixture::Mixture;
use super::orthography::as_written;
use super::posteriors::{Posteriors, STEP_SECONDS};
use super::prompt::{prompt_names, prompt_words};
use super::text::Spellings;
use crate::{Expect, SpeechError, SpokenLanguage, TranscribeRequest, Word};

/// What a caller expects to hear, made ready once per request.
pub(super) struct Expectations {
    bias: Bias,
    grammar: Option<Grammar>,
    /// Spoken digits are written without gaps.
    joins_digits: bool,
    /// The caller's terms as the caller writes them.
    pub spellings: Spellings,
    /// The one that is spoken, where the caller knows.
    language: Option<SpokenLanguage>,
}

impl Expectations {
    pub(super) fn new(request: &TranscribeRequest) -> Result<Self, SpeechError> {
        Ok(Self {
            bias: Bias::new(&request.keyterms, &prompt_words(&request.prompt)),
            grammar: Grammar::for_expectation(&request.expect)?,
            joins_digits: request.digits && request.expect == Expect::Digits,
            spellings: Spellings::new(
                &[&request.keyterms[..], &prompt_names(&request.prompt)].concat(),
            ),
            language: request.language,
        })
    }

    /// Whether only some answers can be heard.
    pub(super) fn is_narrow(&self) -> bool {
        self.grammar.is_some()
    }
}

/// The words of one stretch, and a text of their own where the grammar gives one.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct DecodedWords {
    pub words: Vec<Word>,
    pub written: Option<String>,
}

/// Decodes one stretch. `before`: the words just said, when the stretch continues them.
pub(super) fn decode(
    posteriors: &Posteriors,
    lms: &LanguageModels,
    config: &BeamConfig,
    wanted: &Expectations,
    before: &[Word],
    start_seconds: f64,
) -> DecodedWords {
    let mixture = Mixture::new(lms, wanted.language, config.languages);
    if let Some(grammar) = &wanted.grammar {
        let answer = grammar.decode(posteriors);
        if !answer.is_accepted() {
            return DecodedWords::default();
        }
        let written = match wanted.joins_digits {
            true => Some(as_figures(&answer.text)),
            false => answer.choice.clone(),
        };
        let sure = |_: usize| answer.fit.exp();
        return DecodedWords {
            words: words_in_time(posteriors, &answer.text, &mixture, start_seconds, sure),
            written,
        };
    }
    let nearest = &before[before.len().saturating_sub(3)..];
    let context = mixture.after(nearest.iter().map(|word| &word.word));
    let config = config.suited_to(posteriors);
    let search = BeamSearch::new(&config, &mixture, &wanted.bias);
    let hypotheses = search.decode(posteriors, context);
    let Some(best) = hypotheses.first() else {
        return DecodedWords::default();
    };
    let shares = word_shares(&hypotheses);
    let words = words_in_time(posteriors, &best.text, &mixture, start_seconds, |i| {
        shares[i]
    });
    DecodedWords {
        words: as_written(words, &wanted.spellings),
        written: None,
    }
}

fn words_in_time(
    posteriors: &Posteriors,
    text: &str,
    mixture: &Mixture<'_>,
    start_seconds: f64,
    share: impl Fn(usize) -> f32,
) -> Vec<Word> {
    let places = place_words(posteriors, text);
    let words: Vec<&str> = text.split(' ').collect();
    let languages = mixture.languages(&words);
    words
        .into_iter()
        .zip(places)
        .enumerate()
        .map(|(i, (word, place))| Word {
            word: word.to_owned(),
            language: languages[i],
            start: start_seconds + place.first_step as f64 * STEP_SECONDS,
            end: start_seconds + place.end_step as f64 * STEP_SECONDS,
            // Both must hold: the letters are heard, and no other reading competes.
            confidence: (place.letter_p * share(i)).sqrt().clamp(0.0, 1.0),
        })
        .collect()
}

/// For each word of the best text, the share of all hypotheses' probability that has it too.
fn word_shares(hypotheses: &[Hypothesis]) -> Vec<f32> {
    let Some(best) = hypotheses.first() else {
        return Vec::new();
    };
    let words: Vec<&str> = best.text.split(' ').collect();
    let mut with_word = vec![0f32; words.len()];
    let mut total = 0f32;
    for hypothesis in hypotheses {
        let weight = (hypothesis.score - best.score).exp();
        total += weight;
        let other: Vec<&str> = hypothesis.text.split(' ').collect();
        for (i, word) in words.iter().enumerate() {
            // Another reading may have split or joined a word before this one.
            let near = other.iter().skip(i.saturating_sub(1)).take(3);
            if near.into_iter().any(|candidate| candidate == word) {
                with_word[i] += weight;
            }
        }
    }
    with_word
        .iter()
        .map(|weight| weight / total.max(1e-9))
        .collect()
}
