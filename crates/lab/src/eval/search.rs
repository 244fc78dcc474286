//! Fits the settings of the recogniser's search on recordings that are listened to only once: one setting after the other
//! is moved while the others stay, round by round, as long as something gets better.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use sauti_speech::recogniser::{BeamConfig, Posteriors, Recogniser};
use sauti_text::compare::{Errors, comparable, word_errors};
use serde::Serialize;

use super::manifest::ClipManifest;

/// Longer clips would be cut by the voice detector first.
const SAMPLES_MAX: usize = 14 * 16_000;
/// Less than this, in points of the mean error rate, is noise.
const GAIN_MIN: f64 = 0.02;

#[derive(Debug, Clone)]
pub struct Options {
    pub models: PathBuf,
    pub manifests: Vec<PathBuf>,
    /// Every so manieth clip of a list.
    pub every: usize,
    pub start: Vec<Setting>,
    /// Which settings to move, and how far a step is; none: only measure.
    pub moves: Vec<Setting>,
    pub rounds: usize,
}

/// A setting of the search by name, and a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    pub name: String,
    pub value: f32,
}

impl std::str::FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('=').and_then(|(name, value)| {
            let value = value.parse().ok().filter(|value: &f32| value.is_finite())?;
            let mut config = BeamConfig::default();
            setting_of(&mut config, name)?;
            Some(Self {
                name: name.to_owned(),
                value,
            })
        });
        parsed.ok_or_else(|| {
            format!(
                "{text:?} is not NAME=NUMBER with one of {}",
                NAMES.join(", ")
            )
        })
    }
}

pub const NAMES: [&str; 9] = [
    "lm_weight",
    "doubt_weight",
    "word_bonus",
    "unknown_bonus",
    "blank_bonus",
    "switch",
    "english",
    "rescore",
    "forget",
];

fn setting_of<'c>(config: &'c mut BeamConfig, name: &str) -> Option<&'c mut f32> {
    match name {
        "lm_weight" => Some(&mut config.lm_weight),
        "doubt_weight" => Some(&mut config.doubt_weight),
        "word_bonus" => Some(&mut config.word_bonus),
        "unknown_bonus" => Some(&mut config.languages.unknown_bonus),
        "blank_bonus" => Some(&mut config.blank_bonus),
        "switch" => Some(&mut config.languages.switch_log_p),
        "english" => Some(&mut config.languages.english_log_p),
        "rescore" => Some(&mut config.rescore),
        "forget" => Some(&mut config.forget),
        _ => None,
    }
}

/// Word error rates of one configuration, in per cent.
#[derive(Debug, Clone, Serialize)]
pub struct Trial {
    pub settings: Vec<(String, f32)>,
    /// By list, in their order.
    pub wer_percent: Vec<f64>,
    pub mean_percent: f64,
}

pub(super) struct Heard {
    pub text: String,
    pub posteriors: Posteriors,
}

/// Hands every trial to `each` as it comes, and the best one back.
pub fn run(options: &Options, each: &mut dyn FnMut(&Trial)) -> anyhow::Result<Trial> {
    let recogniser = Recogniser::load(&options.models)?;
    let lists: Vec<Vec<Heard>> = options
        .manifests
        .iter()
        .map(|path| listen(&recogniser, path, options.every))
        .collect::<anyhow::Result<_>>()?;
    let mut config = BeamConfig::default();
    for Setting { name, value } in &options.start {
        *setting_of(&mut config, name).context("no such setting")? = *value;
    }
    let mut measure = |config: &BeamConfig| {
        let trial = measure(&recogniser, &lists, config)?;
        each(&trial);
        anyhow::Ok(trial)
    };
    let mut best = measure(&config)?;
    let mut steps = options.moves.clone();
    for _ in 0..options.rounds {
        let before = best.mean_percent;
        for Setting { name, value } in &steps {
            for step in [*value, -*value] {
                loop {
                    let mut moved = config.clone();
                    *setting_of(&mut moved, name).context("no such setting")? += step;
                    let trial = measure(&moved)?;
                    if trial.mean_percent > best.mean_percent - GAIN_MIN {
                        break;
                    }
                    (config, best) = (moved, trial);
                }
            }
        }
        if best.mean_percent > before - GAIN_MIN {
            break;
        }
        steps.iter_mut().for_each(|step| step.value /= 2.0);
    }
    Ok(best)
}

/// What short clips say and what the acoustic model says to them, every so manieth of a list.
pub(super) fn listen(
    recogniser: &Recogniser,
    path: &Path,
    every: usize,
) -> anyhow::Result<Vec<Heard>> {
    let manifest = ClipManifest::open(path)?;
    let mut clips = Vec::new();
    for clip in manifest.clips.iter().step_by(every.max(1)) {
        let samples = manifest.samples(clip)?;
        if samples.len() <= SAMPLES_MAX {
            clips.push((comparable(&clip.text), samples));
        }
    }
    ensure!(!clips.is_empty(), "{} has no short clips", path.display());
    on_all_cores(&clips, |(text, samples)| {
        Ok(Heard {
            text: text.clone(),
            posteriors: recogniser.listen(samples),
        })
    })
}

fn measure(
    recogniser: &Recogniser,
    lists: &[Vec<Heard>],
    config: &BeamConfig,
) -> anyhow::Result<Trial> {
    let mut recogniser = recogniser.clone();
    recogniser.set_beam(config.clone());
    let mut wer_percent = Vec::new();
    for list in lists {
        let errors = on_all_cores(list, |heard| {
            let words = recogniser.read(&heard.posteriors)?;
            let words: Vec<String> = words.into_iter().map(|word| word.word).collect();
            Ok(word_errors(&heard.text, &words.join(" ")))
        })?;
        let mut sum = Errors::default();
        errors.into_iter().for_each(|errors| sum += errors);
        wer_percent.push(sum.rate() * 100.0);
    }
    let mut config = config.clone();
    let settings = NAMES.iter().filter_map(|name| {
        let value = *setting_of(&mut config, name)?;
        Some(((*name).to_owned(), value))
    });
    Ok(Trial {
        settings: settings.collect(),
        mean_percent: wer_percent.iter().sum::<f64>() / wer_percent.len().max(1) as f64,
        wer_percent,
    })
}

pub(super) fn on_all_cores<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> anyhow::Result<R> + Sync,
) -> anyhow::Result<Vec<R>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let share = items.len().div_ceil(cores).max(1);
    std::thread::scope(|scope| {
        let work = &work;
        let parts: Vec<_> = items
            .chunks(share)
            .map(|part| {
                scope.spawn(move || part.iter().map(work).collect::<anyhow::Result<Vec<R>>>())
            })
            .collect();
        let mut out = Vec::with_capacity(items.len());
        for part in parts {
            let done = part.join();
            out.extend(done.map_err(|_| anyhow::anyhow!("a thread broke off"))??);
        }
        Ok(out)
    })
}

impl Trial {
    pub fn text(&self) -> String {
        let rates = self.wer_percent.iter().map(|wer| format!("{wer:.2}"));
        let rates: Vec<String> = rates.collect();
        let settings = self.settings.iter();
        let settings = settings.map(|(name, value)| format!("{name}={value}"));
        let settings: Vec<String> = settings.collect();
        format!(
            "mean WER {:.2} % ({}) with {}\n",
            self.mean_percent,
            rates.join(", "),
            settings.join(" ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_a_name_and_a_number() {
        let setting: Setting = "switch=-4.5".parse().unwrap();
        assert_eq!((setting.name.as_str(), setting.value), ("switch", -4.5));
        for wrong in ["switch", "switch=much", "swich=1", "lm_weight=inf"] {
            assert!(wrong.parse::<Setting>().is_err(), "{wrong}");
        }
        for name in NAMES {
            assert!(
                setting_of(&mut BeamConfig::default(), name).is_some(),
                "{name}"
            );
        }
    }

    #[test]
    fn work_on_all_cores_keeps_its_order() {
        let items: Vec<usize> = (0..100).collect();
        assert_eq!(on_all_cores(&items, |n| Ok(n * 2)).unwrap()[99], 198);
        assert!(
            on_all_cores(&items, |n| if *n == 7 {
                anyhow::bail!("no")
            } else {
                Ok(())
            })
            .is_err()
        );
    }
}
