//! Confidences that mean what they say: of the words with 0.8, about eight in ten are right. What the letters and the
//! other readings tell goes through a logistic function that `sauti eval calibration` fits and prints.

/// Of a word: weights of its letters' log-odds, of its share's, of its length's logarithm, and the constant.
const WORD: [f32; 4] = [0.469, 0.371, -0.112, -1.080];
/// Of a whole reading: weights of its share's log-odds, of the logarithm of how many words it has, and the constant.
const READING: [f32; 3] = [0.441, -0.556, -0.596];

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
        for extreme in [0.0, 1.0, f32::MIN_POSITIVE] {
            let confidence = word(extreme, extreme).confidence();
            assert!((0.0..=1.0).contains(&confidence), "{confidence}");
        }
    }
}
