//! Confidences that mean what they say: of the words with 0.8, about eight in ten are right. What the letters and the
//! other readings tell goes through a logistic function that `sauti eval calibration` fits and prints.

use crate::job::mean_of_words;

/// Of a word: weights of its letters' log-odds, of its share's, of its length's logarithm, and the constant.
const WORD: [f32; 4] = [0.592, 0.345, 0.048, -1.315];
/// Of a whole reading: weights of its share's log-odds, of the logarithm of how many words it has, and the constant.
const READING: [f32; 3] = [0.441, -0.556, -0.596];

/// Of the best answer of a known form: weights of how well it fits, of its share's log-odds, of the logarithm of how many words it
/// has, and the constant. Of its words: of the fit, of the share, of the letters' log-odds, and the constant.
const ANSWER: [f32; 4] = [3.917, 0.457, 1.657, -2.244];
const ANSWER_WORD: [f32; 4] = [2.655, 0.385, 0.460, 1.945];

/// What speaks for an answer of a known form.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerEvidence {
    pub text: String,
    /// The mean probability of the letters of each word.
    pub letter_p: Vec<f32>,
    /// ln p lost against the likeliest letters, per letter: 0 where nothing else was heard.
    pub fit: f32,
    /// Of the probability of the answers that fit best.
    pub share: f32,
}

/// What speaks for a word of the best reading.
#[derive(Debug, Clone, PartialEq)]
pub struct WordEvidence {
    pub word: String,
    /// The mean probability of its letters.
    pub letter_p: f32,
    /// The share of all readings' probability that has it too.
    pub share: f32,
}

/// What speaks for a whole reading.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadingEvidence {
    pub text: String,
    /// Of all readings' probability.
    pub share: f32,
}

impl WordEvidence {
    /// What the confidence is made of, as [`confidence`] takes it.
    pub fn features(&self) -> [f32; 3] {
        let letters = self.word.chars().count().max(1) as f32;
        [log_odds(self.letter_p), log_odds(self.share), letters.ln()]
    }

    /// 0 to 1: how likely it is that the word was said.
    pub fn confidence(&self) -> f32 {
        confidence(&self.features(), &WORD)
    }
}

impl ReadingEvidence {
    pub fn features(&self) -> [f32; 2] {
        let words = self.text.split(' ').count().max(1) as f32;
        [log_odds(self.share), words.ln()]
    }

    /// 0 to 1: how likely it is that exactly these words were said.
    pub fn confidence(&self) -> f32 {
        confidence(&self.features(), &READING)
    }
}

impl AnswerEvidence {
    pub fn features(&self) -> [f32; 3] {
        let words = self.letter_p.len().max(1) as f32;
        [self.fit, log_odds(self.share), words.ln()]
    }

    /// Of one word, by the probability of its letters.
    pub fn word_features(&self, letter_p: f32) -> [f32; 3] {
        [self.fit, log_odds(self.share), log_odds(letter_p)]
    }

    /// 0 to 1, of the best answer: how likely it is that exactly this was said.
    pub fn confidence(&self) -> f32 {
        confidence(&self.features(), &ANSWER)
    }

    pub fn word_confidence(&self, letter_p: f32) -> f32 {
        confidence(&self.word_features(letter_p), &ANSWER_WORD)
    }

    /// How clearly its words were heard, against noise that is no speech at all.
    pub(super) fn clearness(&self) -> f32 {
        let letter_p = self.letter_p.iter();
        let words = self.text.split(' ').zip(letter_p);
        mean_of_words(words.map(|(word, letter_p)| (word, clearness(*letter_p, self.fit.exp()))))
    }
}

/// Both must hold: the letters are heard, and no other reading competes.
pub(super) fn clearness(letter_p: f32, share: f32) -> f32 {
    (letter_p * share).sqrt().clamp(0.0, 1.0)
}

/// The logistic function of the weighted features and a constant, which stands last.
pub fn confidence(features: &[f32], weights: &[f32]) -> f32 {
    let weighted = features.iter().zip(weights).map(|(x, weight)| x * weight);
    let sum = weighted.sum::<f32>() + weights.last().copied().unwrap_or(0.0);
    1.0 / (1.0 + (-sum).exp())
}

fn log_odds(p: f32) -> f32 {
    let p = p.clamp(1e-4, 1.0 - 1e-4);
    (p / (1.0 - p)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_evidence_is_more_confidence() {
        let word = |letter_p, share| WordEvidence {
            word: "habari".to_owned(),
            letter_p,
            share,
        };
        let sure = word(0.99, 0.99).confidence();
        assert!(sure > word(0.6, 0.99).confidence() && sure > word(0.99, 0.6).confidence());
        let reading = |share| ReadingEvidence {
            text: "habari yako".to_owned(),
            share,
        };
        assert!(reading(0.9).confidence() > reading(0.2).confidence());
        let answer = |fit, share| AnswerEvidence {
            text: "ndiyo kabisa".to_owned(),
            letter_p: vec![0.9; 2],
            fit,
            share,
        };
        let sure = answer(-0.1, 0.99);
        assert!(sure.confidence() > answer(-1.0, 0.99).confidence());
        assert!(sure.confidence() > answer(-0.1, 0.5).confidence());
        assert!(sure.word_confidence(0.9) > sure.word_confidence(0.2));
        assert!(sure.clearness() > answer(-1.0, 0.99).clearness());
        for extreme in [0.0, 1.0, f32::MIN_POSITIVE] {
            let confidence = word(extreme, extreme).confidence();
            assert!((0.0..=1.0).contains(&confidence), "{confidence}");
        }
    }
}
