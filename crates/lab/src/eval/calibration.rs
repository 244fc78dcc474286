//! Whether confidences mean what they say, and the weights that make them: every second clip fits, the others judge.

use std::path::PathBuf;

use sauti_speech::Expect;
use sauti_speech::recogniser::{ReadingEvidence, Recogniser, WordEvidence, confidence};
use sauti_text::compare::{Step, character_errors, comparable, word_alignment};
use sauti_text::{cardinal, written};
use serde::Serialize;

use super::search::{Heard, listen, on_all_cores};

const BINS: usize = 10;
/// The readings of a clip that are judged.
const READINGS_MAX: usize = 5;
/// A clip of more words is no choice.
const CHOICE_WORDS_MAX: usize = 8;
const CHOICES: usize = 10;
/// Every so many clips say nothing that is expected.
const UNEXPECTED_EVERY: usize = 5;
const NEWTON_STEPS: usize = 50;
/// Keeps weights of features that tell nothing from growing.
const RIDGE: f64 = 1e-3;

#[derive(Debug, Clone)]
pub struct Options {
    pub models: PathBuf,
    pub manifests: Vec<PathBuf>,
}

#[derive(Debug, Serialize)]
pub struct Report {
    pub words: Calibration,
    pub readings: Calibration,
    /// Of digits, amounts and choices, and of the words in them.
    pub answers: Calibration,
    pub answer_words: Calibration,
}

/// Of words or of whole readings: fitted on one half of the clips, judged on the other.
#[derive(Debug, Serialize)]
pub struct Calibration {
    pub fitted_weights: Vec<f32>,
    /// As the program has it now, and with the fitted weights.
    pub now: Reliability,
    pub fitted: Reliability,
}

/// What was said to be likely, beside what was right.
#[derive(Debug, Serialize)]
pub struct Reliability {
    pub count: usize,
    /// The mean distance between confidence and share of right ones, in points.
    pub expected_calibration_error_percent: f64,
    /// The mean of the squared distance from 1 (right) or 0 (wrong): tells also how much is known.
    pub brier: f64,
    pub bins: Vec<ReliabilityBin>,
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct ReliabilityBin {
    pub count: usize,
    pub mean_confidence: f64,
    pub right_share: f64,
}

/// One thing that has a confidence: what it is made of, what it is now, and whether it was right.
struct Judged {
    features: Vec<f32>,
    now: f32,
    is_right: bool,
}

pub fn run(options: &Options) -> anyhow::Result<Report> {
    let recogniser = Recogniser::load(&options.models)?;
    // Clips that fit, and clips that judge.
    let mut found: [[Vec<Judged>; 2]; 4] = Default::default();
    for path in &options.manifests {
        let clips = listen(&recogniser, path, 1)?;
        let numbered: Vec<(usize, &Heard)> = clips.iter().enumerate().collect();
        let judged = on_all_cores(&numbered, |(number, clip)| {
            let (words, readings) = judge(&recogniser, clip)?;
            let (answers, answer_words) = judge_answer(&recogniser, *number, &clips)?;
            Ok([words, readings, answers, answer_words])
        })?;
        for (number, kinds) in judged.into_iter().enumerate() {
            for (found, judged) in found.iter_mut().zip(kinds) {
                found[1 - number % 2].extend(judged);
            }
        }
    }
    let [words, readings, answers, answer_words] = found.map(|found| Calibration::new(&found));
    Ok(Report {
        words,
        readings,
        answers,
        answer_words,
    })
}

/// A clip as the answer to a question.
fn judge_answer(
    recogniser: &Recogniser,
    number: usize,
    clips: &[Heard],
) -> anyhow::Result<(Vec<Judged>, Vec<Judged>)> {
    let reference = clips[number].text.as_str();
    let Some(expect) = expected(number, clips) else {
        return Ok(Default::default());
    };
    let answers = recogniser.answer_evidence(&clips[number].posteriors, &expect)?;
    let Some(best) = answers.first() else {
        return Ok(Default::default());
    };
    let heard = value(&best.text);
    let answer = Judged {
        features: best.features().to_vec(),
        now: best.confidence(),
        is_right: best.text == reference || heard.is_some() && heard == value(reference),
    };
    let words = best.letter_p.iter().zip(heard_right(reference, &best.text));
    let words = words.map(|(letter_p, is_right)| Judged {
        features: best.word_features(*letter_p).to_vec(),
        now: best.word_confidence(*letter_p),
        is_right,
    });
    Ok((vec![answer], words.collect()))
}

/// Digits or an amount where a clip says nothing else, or one of those that sound most like it.
fn expected(number: usize, clips: &[Heard]) -> Option<Expect> {
    let text = clips[number].text.as_str();
    let is_unexpected = number % UNEXPECTED_EVERY == UNEXPECTED_EVERY - 1;
    let is_digit = |word: &str| (0..10).any(|digit| cardinal(digit) == word);
    if !is_unexpected && text.split(' ').all(is_digit) {
        return Some(Expect::Digits);
    } else if !is_unexpected && value(text).is_some() {
        return Some(Expect::Amount);
    }
    let others = clips.iter().map(|clip| clip.text.as_str());
    let is_short = |text: &&str| text.split(' ').count() <= CHOICE_WORDS_MAX;
    let mut choices: Vec<&str> = others.filter(is_short).collect();
    choices.sort_by_key(|other| character_errors(text, other).total());
    choices.dedup();
    choices.retain(|choice| !is_unexpected || *choice != text);
    choices.truncate(CHOICES);
    let choices = choices.into_iter().map(str::to_owned).collect();
    is_short(&text).then_some(Expect::Choices(choices))
}

/// The number that the words say.
fn value(text: &str) -> Option<u64> {
    let words: Vec<&str> = text.split(' ').filter(|word| *word != "shilingi").collect();
    written::number(&words)
}

fn judge(recogniser: &Recogniser, clip: &Heard) -> anyhow::Result<(Vec<Judged>, Vec<Judged>)> {
    let (words, readings) = recogniser.evidence(&clip.posteriors, READINGS_MAX)?;
    let reference = clip.text.as_str();
    let heard: Vec<&str> = words.iter().map(|word| word.word.as_str()).collect();
    let judge_word = |(word, is_right): (&WordEvidence, bool)| Judged {
        features: word.features().to_vec(),
        now: word.confidence(),
        is_right,
    };
    let judge_reading = |reading: &ReadingEvidence| Judged {
        features: reading.features().to_vec(),
        now: reading.confidence(),
        is_right: comparable(&reading.text) == reference,
    };
    let right = heard_right(reference, &heard.join(" "));
    let readings = readings.iter().map(judge_reading);
    Ok((
        words.iter().zip(right).map(judge_word).collect(),
        readings.collect(),
    ))
}

/// For each word that was heard, whether it was said.
fn heard_right(reference: &str, heard: &str) -> Vec<bool> {
    let steps = word_alignment(reference, heard).into_iter();
    let right = steps.filter_map(|step| match step {
        Step::Same(_) => Some(true),
        Step::Substituted { .. } | Step::Inserted(_) => Some(false),
        Step::Deleted(_) => None,
    });
    right.collect()
}

impl Calibration {
    fn new([fitting, judging]: &[Vec<Judged>; 2]) -> Self {
        let weights = fit(fitting);
        let fitted = |one: &Judged| confidence(&one.features, &weights);
        Self {
            now: Reliability::new(judging.iter().map(|one| (one.now, one.is_right))),
            fitted: Reliability::new(judging.iter().map(|one| (fitted(one), one.is_right))),
            fitted_weights: weights,
        }
    }

    fn text(&self, what: &str) -> String {
        let weights: Vec<String> = self
            .fitted_weights
            .iter()
            .map(|weight| format!("{weight:.3}"))
            .collect();
        format!(
            "{what}, as they are: {}{what}, fitted to [{}]: {}",
            self.now.text(),
            weights.join(", "),
            self.fitted.text()
        )
    }
}

impl Reliability {
    fn new(judged: impl Iterator<Item = (f32, bool)>) -> Self {
        let mut bins = vec![ReliabilityBin::default(); BINS];
        let (mut count, mut brier) = (0, 0.0);
        for (confidence, is_right) in judged {
            let bin = ((confidence * BINS as f32) as usize).min(BINS - 1);
            let (confidence, right) = (f64::from(confidence), f64::from(u8::from(is_right)));
            bins[bin].count += 1;
            bins[bin].mean_confidence += confidence;
            bins[bin].right_share += right;
            count += 1;
            brier += (confidence - right).powi(2);
        }
        let all = (count as f64).max(1.0);
        let apart = bins
            .iter()
            .map(|bin| (bin.mean_confidence - bin.right_share).abs());
        let error = apart.sum::<f64>() / all;
        for bin in &mut bins {
            bin.mean_confidence /= bin.count.max(1) as f64;
            bin.right_share /= bin.count.max(1) as f64;
        }
        Self {
            count,
            expected_calibration_error_percent: error * 100.0,
            brier: brier / all,
            bins,
        }
    }

    fn text(&self) -> String {
        let mut text = format!(
            "expected calibration error {:.1} points, Brier score {:.3}, of {}\n",
            self.expected_calibration_error_percent, self.brier, self.count
        );
        for bin in self.bins.iter().filter(|bin| bin.count > 0) {
            text += &format!(
                "  said {:.2}  right {:.2}  ({})\n",
                bin.mean_confidence, bin.right_share, bin.count
            );
        }
        text
    }
}

impl Report {
    pub fn text(&self) -> String {
        [
            self.words.text("words"),
            self.readings.text("readings"),
            self.answers.text("answers"),
            self.answer_words.text("words of answers"),
        ]
        .concat()
    }
}

/// Logistic regression by Newton's method; the constant stands last.
fn fit(judged: &[Judged]) -> Vec<f32> {
    let Some(first) = judged.first() else {
        return Vec::new();
    };
    let width = first.features.len() + 1;
    let mut weights = vec![0f64; width];
    for _ in 0..NEWTON_STEPS {
        let mut gradient: Vec<f64> = weights.iter().map(|weight| -RIDGE * weight).collect();
        let mut curvature = vec![vec![0f64; width]; width];
        (0..width).for_each(|i| curvature[i][i] = RIDGE);
        for one in judged {
            let features = one.features.iter().map(|x| f64::from(*x));
            let x: Vec<f64> = features.chain([1.0]).collect();
            let sum: f64 = x.iter().zip(&weights).map(|(x, weight)| x * weight).sum();
            let p = 1.0 / (1.0 + (-sum).exp());
            for i in 0..width {
                gradient[i] += (f64::from(u8::from(one.is_right)) - p) * x[i];
                for j in 0..width {
                    curvature[i][j] += p * (1.0 - p) * x[i] * x[j];
                }
            }
        }
        let step = solve(curvature, gradient);
        weights
            .iter_mut()
            .zip(&step)
            .for_each(|(weight, step)| *weight += step);
        if step.iter().all(|step| step.abs() < 1e-6) {
            break;
        }
    }
    weights.into_iter().map(|weight| weight as f32).collect()
}

/// The solution of a small system with a positive definite matrix.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let width = right.len();
    for i in 0..width {
        let pivot = matrix[i][i];
        let row = matrix[i].clone();
        for j in (0..width).filter(|j| *j != i) {
            let factor = matrix[j][i] / pivot;
            for (cell, above) in matrix[j].iter_mut().zip(&row) {
                *cell -= factor * above;
            }
            right[j] -= factor * right[i];
        }
    }
    (0..width).map(|i| right[i] / matrix[i][i]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fit_finds_what_made_the_answers() {
        // Of a hundred with the feature x, as many are right as the logistic function of 2x - 1 says.
        let mut judged = Vec::new();
        for feature in -20..=20 {
            let x = feature as f32 / 10.0;
            let right = (confidence(&[x], &[2.0, -1.0]) * 100.0).round() as usize;
            judged.extend((0..100).map(|n| Judged {
                features: vec![x],
                now: 0.5,
                is_right: n < right,
            }));
        }
        let weights = fit(&judged);
        assert!((weights[0] - 2.0).abs() < 0.05, "{weights:?}");
        assert!((weights[1] + 1.0).abs() < 0.05, "{weights:?}");
        let fitted = |one: &Judged| confidence(&one.features, &weights);
        let fitted = Reliability::new(judged.iter().map(|one| (fitted(one), one.is_right)));
        let flat = Reliability::new(judged.iter().map(|one| (0.9, one.is_right)));
        assert!(fitted.expected_calibration_error_percent < 1.0);
        assert!(fitted.brier < flat.brier);
        assert!(fit(&[]).is_empty());
    }

    #[test]
    fn of_words_with_eight_tenths_eight_in_ten_are_right() {
        let reliability = Reliability::new((0..10).map(|n| (0.8, n < 8)));
        assert!(reliability.expected_calibration_error_percent < 1e-3);
        let reliability = Reliability::new((0..10).map(|n| (1.0, n < 8)));
        assert!((reliability.expected_calibration_error_percent - 20.0).abs() < 1e-3);
        assert_eq!(reliability.bins[BINS - 1].count, 10);
    }

    #[test]
    fn added_and_wrong_words_were_not_said() {
        assert_eq!(
            heard_right("habari za leo mama", "habari ya leo sana"),
            [true, false, true, false]
        );
        assert_eq!(
            heard_right("habari leo", "habari za leo"),
            [true, false, true]
        );
        assert_eq!(heard_right("habari", ""), [false; 0]);
    }
}
