//! How much a vocabulary counts beside our own models: what makes sentences of it that were kept aside likeliest.

use super::Recogniser;
use super::mixture::Mixture;
use super::vocabulary::{
    VocabularyModel, VocabularySource, WEIGHT_GUESSED, WEIGHT_MAX, WEIGHT_MIN,
};

/// Every so manieth sentence is kept aside.
const KEPT_ASIDE: usize = 5;
/// With fewer words kept aside than this, the weight is a guess.
const KEPT_WORDS_MIN: usize = 50;
const FITTING_STEPS: usize = 20;

impl Recogniser {
    /// The weight with which sentences of the vocabulary that were kept aside are likeliest, beside our own models
    /// (expectation maximisation).
    pub fn fit_vocabulary(&self, source: &VocabularySource) -> f32 {
        let sentences = source.sentences();
        let is_kept = |i: usize| i % KEPT_ASIDE == KEPT_ASIDE - 1;
        let part = |kept: bool| {
            let part = sentences.iter().enumerate();
            part.filter(|(i, _)| is_kept(*i) == kept)
                .map(|(_, words)| words.clone())
                .collect::<Vec<_>>()
        };
        let own = VocabularyModel::of(source, &part(false));
        let mixture = Mixture::new(&self.lms, None, self.config.languages, None);
        let mut pairs: Vec<(f64, f64)> = Vec::new();
        for words in part(true) {
            let (mut state, mut own_state) = (mixture.start(), VocabularyModel::start());
            for word in &words {
                let (log_p, next) = mixture.word_end(&state, &mixture.open(word));
                let node = own.find(word);
                let (own_log_p, own_next) = own.word_end(own_state, node);
                let own_p =
                    own_log_p.map_or(0.0, |log_p| f64::from(log_p - WEIGHT_GUESSED.ln()).exp());
                pairs.push((own_p, f64::from(log_p).exp()));
                (state, own_state) = (next, own_next);
            }
        }
        if pairs.len() < KEPT_WORDS_MIN {
            return WEIGHT_GUESSED;
        }
        let mut weight = f64::from(WEIGHT_GUESSED);
        for _ in 0..FITTING_STEPS {
            let of_own = pairs.iter().map(|(own, other)| {
                let own = weight * own;
                own / (own + (1.0 - weight) * other).max(f64::MIN_POSITIVE)
            });
            weight = of_own.sum::<f64>() / pairs.len() as f64;
        }
        (weight as f32).clamp(WEIGHT_MIN, WEIGHT_MAX)
    }
}
