//! Second guesses: the readings that compete with the best one, of a segment and of a whole answer.

use serde::Serialize;

use super::answer::AnswerValue;
use crate::{Expect, Segment};

/// As many as a caller may ask for.
pub const ALTERNATIVES_MAX: usize = 10;
/// Readings looked at for each one that is asked for: some turn out to say the same.
pub(super) const READINGS_FOR_EACH: usize = 4;

/// One way to read what was heard; the first one is the text itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Alternative {
    pub text: String,
    /// 0 to 1: how likely it is that exactly this was said.
    pub confidence: f32,
    /// The value of an expected answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<&'static str>,
    /// The words as they were heard.
    #[serde(skip)]
    pub(super) said: String,
}

impl Alternative {
    pub(super) fn new(expect: &Expect, text: String, said: String, confidence: f32) -> Self {
        let words: Vec<&str> = said.split_whitespace().collect();
        let answer = AnswerValue::said(expect, &words, &text);
        Self {
            currency: answer.as_ref().and_then(AnswerValue::currency),
            answer,
            text,
            confidence,
            said,
        }
    }

    /// Whether both say the same to whoever asked: the same value, or the same words.
    fn is_like(&self, other: &Self) -> bool {
        match (&self.answer, &other.answer) {
            (None, None) => self.text.to_lowercase() == other.text.to_lowercase(),
            (one, two) => one == two,
        }
    }

    /// The best reading's alternatives first, as they came; those that say the same are one.
    pub(super) fn distinct(all: impl Iterator<Item = Self>, count: usize) -> Vec<Self> {
        let mut kept: Vec<Self> = Vec::new();
        for alternative in all {
            match kept.iter_mut().find(|kept| kept.is_like(&alternative)) {
                Some(kept) => kept.confidence += alternative.confidence,
                None => kept.push(alternative),
            }
        }
        kept.truncate(count);
        let sum: f32 = kept.iter().map(|kept| kept.confidence).sum();
        for kept in &mut kept {
            kept.confidence /= sum.max(1.0);
        }
        kept
    }

    /// The likeliest readings of all segments together, best first.
    pub fn of_all(expect: &Expect, segments: &[Segment], count: usize) -> Vec<Self> {
        let mut all = vec![(1f32, Vec::<&Self>::new())];
        for segment in segments {
            let longer = all.iter().flat_map(|(p, readings)| {
                segment.alternatives.iter().map(move |reading| {
                    let mut readings = readings.clone();
                    readings.push(reading);
                    (p * reading.confidence, readings)
                })
            });
            let mut longer: Vec<_> = longer.collect();
            // Stable: the text itself stays first where it is as likely as another.
            longer.sort_by(|one, next| next.0.total_cmp(&one.0));
            longer.truncate(count * READINGS_FOR_EACH);
            all = longer;
        }
        let joined = all.into_iter().filter(|(_, readings)| !readings.is_empty());
        let joined = joined.map(|(p, readings)| {
            let text = joined_texts(readings.iter().map(|reading| reading.text.as_str()));
            let said = joined_texts(readings.iter().map(|reading| reading.said.as_str()));
            Self::new(expect, text, said, p)
        });
        Self::distinct(joined, count)
    }
}

fn joined_texts<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    texts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alternative(expect: &Expect, text: &str, confidence: f32) -> Alternative {
        Alternative::new(expect, text.to_owned(), text.to_lowercase(), confidence)
    }

    fn segment(expect: &Expect, readings: &[(&str, f32)]) -> Segment {
        let readings = readings.iter();
        Segment {
            alternatives: readings
                .map(|(text, confidence)| alternative(expect, text, *confidence))
                .collect(),
            ..Segment::default()
        }
    }

    #[test]
    fn answers_of_one_value_are_one() {
        let all = [("ndiyo", 0.5), ("ndio", 0.3), ("hapana", 0.1)];
        let all = all.map(|(text, p)| alternative(&Expect::YesNo, text, p));
        let kept = Alternative::distinct(all.into_iter(), 5);
        assert_eq!(kept.len(), 2);
        assert_eq!(kept[0].answer, Some(AnswerValue::YesNo(true)));
        assert!((kept[0].confidence - 0.8).abs() < 1e-6);
        assert_eq!(kept[1].answer, Some(AnswerValue::YesNo(false)));
    }

    #[test]
    fn segments_are_read_together_best_first() {
        let any = Expect::Any;
        let segments = [
            segment(&any, &[("Habari.", 0.6), ("Hatari.", 0.3)]),
            segment(&any, &[("Nzuri.", 0.5), ("Mzuri.", 0.4)]),
        ];
        let read = Alternative::of_all(&any, &segments, 3);
        let texts: Vec<&str> = read.iter().map(|read| read.text.as_str()).collect();
        assert_eq!(
            texts,
            ["Habari. Nzuri.", "Habari. Mzuri.", "Hatari. Nzuri."]
        );
        assert!((read[0].confidence - 0.3).abs() < 1e-6);
        assert!(Alternative::of_all(&any, &[], 3).is_empty());
    }

    #[test]
    fn confidences_never_sum_to_more_than_one() {
        let all = ["moja", "mbili", "tatu"].map(|text| alternative(&Expect::Digits, text, 0.6));
        let kept = Alternative::distinct(all.into_iter(), 3);
        let sum: f32 = kept.iter().map(|kept| kept.confidence).sum();
        assert!((sum - 1.0).abs() < 1e-6);
        assert_eq!(kept[1].answer, Some(AnswerValue::Digits("2".to_owned())));
    }
}
