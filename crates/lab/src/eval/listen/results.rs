//! What listeners answered: preferences and mean scores with their 95 % confidence intervals.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};

use super::super::degrade::Random;
use super::key::{self, ANCHOR, Trial, TrialKind};

const Z_95: f64 = 1.959_964;
const BOOTSTRAP_ROUNDS: usize = 2_000;
const SCORES: std::ops::RangeInclusive<u8> = 1..=5;

#[derive(Debug, Deserialize)]
struct AnswerFile {
    test: String,
    listener: String,
    answers: Vec<TrialAnswer>,
}

#[derive(Debug, Deserialize)]
struct TrialAnswer {
    trial: String,
    /// The better clip; none where there was no difference.
    choice: Option<String>,
    #[serde(default)]
    scores: BTreeMap<String, u8>,
}

#[derive(Debug, Serialize)]
pub struct Report {
    /// Whose answers count.
    pub listeners: usize,
    /// Answers to pairs, without checks.
    pub answers: usize,
    pub set_apart: Vec<Checks>,
    pub pairs: Vec<PairResult>,
    pub scores: Vec<ScoreResult>,
}

/// How a listener did on what has a right answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Checks {
    pub listener: String,
    pub anchors: usize,
    pub anchors_missed: usize,
    pub repeats: usize,
    pub repeats_contradicted: usize,
}

impl Checks {
    /// More than a quarter of the spoilt clips not heard as worse, or more than half of the repeated pairs judged the other way.
    fn failed(&self) -> bool {
        self.anchors_missed * 4 > self.anchors || self.repeats_contradicted * 2 > self.repeats
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

#[derive(Debug, PartialEq, Serialize)]
pub struct PairResult {
    pub a: String,
    pub b: String,
    pub a_better: usize,
    pub b_better: usize,
    pub no_difference: usize,
    /// Of the answers that prefer one; none where no answer does.
    pub a_preferred_percent: Option<f64>,
    pub interval_percent: Interval,
}

#[derive(Debug, PartialEq, Serialize)]
pub struct ScoreResult {
    pub system: String,
    pub scores: usize,
    pub mean: f64,
    pub interval: Interval,
}

/// With `everyone`, those who failed the checks count too.
pub fn run(key_file: &Path, files: &[PathBuf], everyone: bool) -> anyhow::Result<Report> {
    let trials = key::read(key_file)?;
    let test = key::test_id(&trials);
    let trials: HashMap<&str, &Trial> = trials.iter().map(|t| (t.name.as_str(), t)).collect();
    let mut listeners: BTreeMap<String, Vec<TrialAnswer>> = BTreeMap::new();
    for path in files {
        let name = || path.display().to_string();
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", name()))?;
        let file: AnswerFile = serde_json::from_str(&text)
            .with_context(|| format!("{} is no file of answers", name()))?;
        ensure!(
            file.test == test,
            "{} answers another test than {} is the key of",
            name(),
            key_file.display()
        );
        for answer in &file.answers {
            refuse_unknown(&trials, answer).with_context(name)?;
        }
        // Who sent a file twice sent the fuller one later, or the same.
        let kept = listeners.entry(file.listener).or_default();
        if file.answers.len() > kept.len() {
            *kept = file.answers;
        }
    }
    let (mut counted, mut set_apart) = (Vec::new(), Vec::new());
    for (listener, answers) in &listeners {
        let checks = checks(&trials, listener, answers);
        let failed = checks.failed();
        if failed {
            set_apart.push(checks);
        }
        if everyone || !failed {
            counted.push(answers);
        }
    }
    let pairs = preferences(&trials, &counted);
    Ok(Report {
        listeners: counted.len(),
        answers: pairs
            .iter()
            .map(|pair| pair.a_better + pair.b_better + pair.no_difference)
            .sum(),
        set_apart,
        pairs,
        scores: mean_scores(&trials, &counted),
    })
}

fn refuse_unknown(trials: &HashMap<&str, &Trial>, answer: &TrialAnswer) -> anyhow::Result<()> {
    let Some(trial) = trials.get(answer.trial.as_str()) else {
        bail!("there is no pair {:?}", answer.trial)
    };
    for clip in answer.choice.iter().chain(answer.scores.keys()) {
        let known = trial.maker(clip).is_some();
        ensure!(known, "pair {} has no clip {clip:?}", trial.name);
    }
    let fit = answer.scores.values().all(|score| SCORES.contains(score));
    ensure!(fit, "pair {}: scores go from 1 to 5", trial.name);
    Ok(())
}

fn checks(trials: &HashMap<&str, &Trial>, listener: &str, answers: &[TrialAnswer]) -> Checks {
    let mut checks = Checks {
        listener: listener.to_owned(),
        ..Checks::default()
    };
    for answer in answers {
        let trial = trials[answer.trial.as_str()];
        let chosen = answer.choice.as_deref();
        match trial.kind {
            TrialKind::Pair => {}
            TrialKind::Anchor => {
                let maker = chosen.and_then(|clip| trial.maker(clip));
                checks.anchors += 1;
                checks.anchors_missed += usize::from(maker.is_none_or(|maker| maker == ANCHOR));
            }
            TrialKind::Repeat => {
                let is_first = |other: &&TrialAnswer| {
                    let other = trials[other.trial.as_str()];
                    other.kind == TrialKind::Pair && trial.clips.iter().rev().eq(&other.clips)
                };
                let before = answers.iter().find(is_first);
                let before = before.and_then(|answer| answer.choice.as_deref());
                checks.repeats += 1;
                if let (Some(before), Some(now)) = (before, chosen) {
                    checks.repeats_contradicted += usize::from(before != now);
                }
            }
        }
    }
    checks
}

fn preferences(trials: &HashMap<&str, &Trial>, counted: &[&Vec<TrialAnswer>]) -> Vec<PairResult> {
    // Better, worse, no difference, for the system that comes first in the alphabet.
    let mut counts: BTreeMap<[&str; 2], [usize; 3]> = BTreeMap::new();
    for answer in counted.iter().copied().flatten() {
        let trial = trials[answer.trial.as_str()];
        if trial.kind != TrialKind::Pair {
            continue;
        }
        let mut systems = [trial.systems[0].as_str(), &trial.systems[1]];
        systems.sort_unstable();
        let chosen = answer.choice.as_ref().and_then(|clip| trial.maker(clip));
        let outcome = match chosen {
            Some(system) => usize::from(system != systems[0]),
            None => 2,
        };
        counts.entry(systems).or_default()[outcome] += 1;
    }
    let result = |([a, b], [a_better, b_better, no_difference]): ([&str; 2], [usize; 3])| {
        let all = a_better + b_better;
        let interval = wilson(a_better, all);
        PairResult {
            a: a.to_owned(),
            b: b.to_owned(),
            a_better,
            b_better,
            no_difference,
            a_preferred_percent: (all > 0).then(|| 100.0 * a_better as f64 / all as f64),
            interval_percent: Interval {
                low: 100.0 * interval.low,
                high: 100.0 * interval.high,
            },
        }
    };
    counts.into_iter().map(result).collect()
}

/// Wilson's score interval of a share; everything where nothing was counted.
fn wilson(hits: usize, all: usize) -> Interval {
    if all == 0 {
        return Interval {
            low: 0.0,
            high: 1.0,
        };
    }
    let (n, share) = (all as f64, hits as f64 / all as f64);
    let z2 = Z_95 * Z_95;
    let middle = share + z2 / (2.0 * n);
    let reach = Z_95 * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    Interval {
        low: ((middle - reach) / (1.0 + z2 / n)).max(0.0),
        high: ((middle + reach) / (1.0 + z2 / n)).min(1.0),
    }
}

/// One score of a clip.
struct Rating {
    listener: usize,
    sentence: usize,
    score: f64,
}

fn mean_scores(trials: &HashMap<&str, &Trial>, counted: &[&Vec<TrialAnswer>]) -> Vec<ScoreResult> {
    let mut ratings: BTreeMap<&str, Vec<Rating>> = BTreeMap::new();
    let sentences = trials.values().map(|trial| trial.sentence + 1).max();
    for (listener, answer) in counted
        .iter()
        .enumerate()
        .flat_map(|(n, answers)| answers.iter().map(move |answer| (n, answer)))
    {
        let trial = trials[answer.trial.as_str()];
        let counts = trial.kind != TrialKind::Repeat;
        for (clip, &score) in &answer.scores {
            if let Some(system) = trial.maker(clip).filter(|_| counts) {
                ratings.entry(system).or_default().push(Rating {
                    listener,
                    sentence: trial.sentence,
                    score: f64::from(score),
                });
            }
        }
    }
    let result = |(system, ratings): (&str, Vec<Rating>)| ScoreResult {
        system: system.to_owned(),
        scores: ratings.len(),
        mean: ratings.iter().map(|one| one.score).sum::<f64>() / ratings.len() as f64,
        interval: bootstrap(&ratings, counted.len(), sentences.unwrap_or(0)),
    };
    ratings.into_iter().map(result).collect()
}

/// Draws listeners and sentences again, each with replacement: other people, other sentences.
fn bootstrap(ratings: &[Rating], listeners: usize, sentences: usize) -> Interval {
    let mut random = Random(1);
    let mut draw = |count: usize| {
        let mut times = vec![0.0; count];
        for _ in 0..count {
            times[random.below(count)] += 1.0;
        }
        times
    };
    let mut means = Vec::with_capacity(BOOTSTRAP_ROUNDS);
    for _ in 0..BOOTSTRAP_ROUNDS {
        let (people, texts) = (draw(listeners), draw(sentences));
        let (mut sum, mut weight) = (0.0, 0.0);
        for one in ratings {
            let times = people[one.listener] * texts[one.sentence];
            sum += times * one.score;
            weight += times;
        }
        if weight > 0.0 {
            means.push(sum / weight);
        }
    }
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means.get((share * means.len() as f64) as usize);
    Interval {
        low: at(0.025).copied().unwrap_or(f64::from(*SCORES.start())),
        high: at(0.975).copied().unwrap_or(f64::from(*SCORES.end())),
    }
}

impl Report {
    pub fn text(&self) -> String {
        let mut text = format!("{} listeners, {} answers\n", self.listeners, self.answers);
        for pair in &self.pairs {
            let PairResult { a, b, .. } = pair;
            let Interval { low, high } = pair.interval_percent;
            let verdict = match (low > 50.0, high < 50.0) {
                (true, _) => format!("{a} is better"),
                (_, true) => format!("{b} is better"),
                _ => "not settled".to_owned(),
            };
            let share = pair.a_preferred_percent.map_or_else(
                || "nobody prefers either".to_owned(),
                |share| format!("{share:.1} % prefer {a} ({low:.1} to {high:.1})"),
            );
            let _ = writeln!(
                text,
                "{a} or {b}: {share}; {} to {}, {} without a difference: {verdict}",
                pair.a_better, pair.b_better, pair.no_difference
            );
        }
        for one in &self.scores {
            let Interval { low, high } = one.interval;
            let _ = writeln!(
                text,
                "{}: mean score {:.2} ({low:.2} to {high:.2}) of {}",
                one.system, one.mean, one.scores
            );
        }
        for one in &self.set_apart {
            let _ = writeln!(
                text,
                "listener {} failed the checks: {} of {} spoilt clips not heard as worse, {} of {} repeated pairs judged the other way",
                one.listener,
                one.anchors_missed,
                one.anchors,
                one.repeats_contradicted,
                one.repeats
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_shares_are_those_of_the_literature() {
        // R. Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
        for (hits, all, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let interval = wilson(hits, all);
            assert!((interval.low - low).abs() < 5e-5, "{interval:?}");
            assert!((interval.high - high).abs() < 5e-5, "{interval:?}");
        }
    }

    #[test]
    fn few_listeners_who_disagree_leave_a_wide_interval() {
        let ratings = |listeners: usize| -> Vec<Rating> {
            (0..listeners * 10)
                .map(|n| Rating {
                    listener: n / 10,
                    sentence: n % 10,
                    score: if n / 10 % 2 == 0 { 2.0 } else { 4.0 },
                })
                .collect()
        };
        let width = |listeners| {
            let Interval { low, high } = bootstrap(&ratings(listeners), listeners, 10);
            assert!(low < 3.0 && high > 3.0);
            high - low
        };
        // The mean of n such listeners strays by 1/sqrt(n).
        assert_eq!(width(2), 2.0);
        assert!((width(64) - 2.0 * 1.96 / 8.0).abs() < 0.1);
    }
}
