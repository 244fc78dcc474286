//! How well speakers are told apart, on conversations made of many people's clips: the diarisation error rate.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, ensure};
use sauti_speech::SpeechStretch;
use sauti_speech::recogniser::{Recogniser, SpeakerConfig, SpeakerTurn, speaker_turns};
use serde::Serialize;

use super::degrade::{Degradation, Random};
use super::manifest::{Clip, ClipManifest};
use super::processor::processor_seconds;
use crate::offline::Progress;

const RATE_HZ: usize = 16_000;
/// Not judged around each change in the reference, as is the custom.
const COLLAR_S: f64 = 0.25;
/// Sound is judged in steps of 10 ms.
const STEP_S: f64 = 0.01;
const TURN_S_MIN: f64 = 1.0;
const TURN_S_MAX: f64 = 8.0;
const PAUSE_S_MAX: f64 = 1.5;
/// Each clip is brought to about this level, a few decibels up or down by person.
const LEVEL: f64 = 0.08;
const FRAME: usize = 160;
/// A frame so much below the loudest of its clip is silence, and so long a silence is a pause.
const SILENCE_RATIO: f64 = 0.03;
const SILENCE_FRAMES: usize = 40;

#[derive(Debug, Clone)]
pub struct Options {
    /// Lists of clips, each with a column `speaker`; one without it is one person.
    pub manifests: Vec<PathBuf>,
    /// Only people whose name begins so.
    pub prefix: String,
    pub people: usize,
    pub conversations: usize,
    pub turns: usize,
    pub mulaw: bool,
    pub seed: u64,
    /// Where to leave each conversation's reference and answer as RTTM, for other scorers.
    pub rttm: Option<PathBuf>,
}

/// Somebody speaks from one second to another.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub start: f64,
    pub end: f64,
    pub speaker: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct DiarisationErrors {
    /// What the reference says is spoken, without the collars.
    pub speech_s: f64,
    pub missed_s: f64,
    pub false_alarm_s: f64,
    /// Given to another person.
    pub confused_s: f64,
}

impl DiarisationErrors {
    pub fn der_percent(&self) -> f64 {
        let wrong = self.missed_s + self.false_alarm_s + self.confused_s;
        100.0 * wrong / self.speech_s.max(STEP_S)
    }

    fn add(&mut self, other: &DiarisationErrors) {
        self.speech_s += other.speech_s;
        self.missed_s += other.missed_s;
        self.false_alarm_s += other.false_alarm_s;
        self.confused_s += other.confused_s;
    }
}

#[derive(Debug, Serialize)]
pub struct Report {
    pub conversations: usize,
    pub people: usize,
    pub seconds: f64,
    pub der_percent: f64,
    pub errors: DiarisationErrors,
    /// Conversations in which as many people were found as there are.
    pub counted_rightly: usize,
    /// Time of processors per second of audio.
    pub real_time_factor_processor: f64,
    pub real_time_factor: f64,
    pub each: Vec<f64>,
    #[serde(skip)]
    conditions: String,
}

impl Report {
    pub fn text(&self) -> String {
        let percent = |seconds: f64| 100.0 * seconds / self.errors.speech_s.max(STEP_S);
        format!(
            "{} conversations of {} people, {:.0} s, {}\n\
             DER {:.1} % (collar {COLLAR_S} s): missed {:.1} %, false alarm {:.1} %, confused {:.1} %\n\
             as many people found as there are in {} of {}\n\
             real-time factor {:.4}, of processor time {:.4}\n",
            self.conversations,
            self.people,
            self.seconds,
            self.conditions,
            self.der_percent,
            percent(self.errors.missed_s),
            percent(self.errors.false_alarm_s),
            percent(self.errors.confused_s),
            self.counted_rightly,
            self.conversations,
            self.real_time_factor,
            self.real_time_factor_processor,
        )
    }
}

/// A conversation and what was heard in it.
pub struct HeardConversation {
    pub reference: Vec<Turn>,
    pub speech: Vec<SpeechStretch>,
}

pub fn run(recogniser: &mut Recogniser, options: &Options) -> anyhow::Result<Report> {
    let (heard, work) = hear(recogniser, options)?;
    let report = score(&heard, options, &SpeakerConfig::default())?;
    Ok(Report {
        seconds: work.seconds,
        real_time_factor: work.wall_s / work.seconds,
        real_time_factor_processor: work.processor_s / work.seconds,
        ..report
    })
}

/// How long hearing took.
#[derive(Debug, Default)]
pub struct HearingWork {
    /// Of sound.
    seconds: f64,
    wall_s: f64,
    processor_s: f64,
}

/// Makes the conversations and listens to them.
pub fn hear(
    recogniser: &mut Recogniser,
    options: &Options,
) -> anyhow::Result<(Vec<HeardConversation>, HearingWork)> {
    let progress = Progress::on_terminal();
    let crowd = Crowd::open(options)?;
    let (mut heard, mut work) = (Vec::new(), HearingWork::default());
    for number in 0..options.conversations {
        let (samples, reference) = crowd.conversation(options, number as u64)?;
        work.seconds += samples.len() as f64 / RATE_HZ as f64;
        let (started, before_s) = (Instant::now(), processor_seconds());
        let speech = recogniser.speech(&samples);
        work.wall_s += started.elapsed().as_secs_f64();
        work.processor_s += processor_seconds() - before_s;
        heard.push(HeardConversation { reference, speech });
        progress.show(&format!("{} of {}", number + 1, options.conversations));
    }
    progress.clear();
    Ok((heard, work))
}

pub fn score(
    heard: &[HeardConversation],
    options: &Options,
    config: &SpeakerConfig,
) -> anyhow::Result<Report> {
    let (mut errors, mut counted_rightly, mut each) = (DiarisationErrors::default(), 0, Vec::new());
    for (number, heard) in heard.iter().enumerate() {
        let turn = |turn: SpeakerTurn| Turn {
            start: turn.start,
            end: turn.end,
            speaker: turn.speaker.to_string(),
        };
        let turns = speaker_turns(&heard.speech, config).into_iter();
        let turns: Vec<Turn> = turns.map(turn).collect();
        if let Some(folder) = &options.rttm {
            for (kind, turns) in [("reference", &heard.reference), ("answer", &turns)] {
                let path = folder.join(format!("{number:03}.{kind}.rttm"));
                std::fs::write(&path, rttm(turns)).with_context(|| path.display().to_string())?;
            }
        }
        let own = diarisation_errors(&heard.reference, &turns);
        each.push(own.der_percent());
        errors.add(&own);
        counted_rightly += usize::from(names(&turns).len() == names(&heard.reference).len());
    }
    Ok(Report {
        conversations: heard.len(),
        people: options.people,
        seconds: 0.0,
        der_percent: errors.der_percent(),
        errors,
        counted_rightly,
        real_time_factor_processor: 0.0,
        real_time_factor: 0.0,
        each,
        conditions: match options.mulaw {
            true => "8 kHz mu-law".to_owned(),
            false => "as recorded".to_owned(),
        },
    })
}

fn rttm(turns: &[Turn]) -> String {
    let line = |turn: &Turn| {
        let (start, seconds) = (turn.start, turn.end - turn.start);
        format!(
            "SPEAKER call 1 {start:.3} {seconds:.3} <NA> <NA> {} <NA> <NA>\n",
            turn.speaker
        )
    };
    turns.iter().map(line).collect()
}

fn names(turns: &[Turn]) -> Vec<&str> {
    let mut names: Vec<&str> = turns.iter().map(|turn| turn.speaker.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// What an answer gets wrong, under the best assignment of its speakers to the reference's, in which one is at most one.
pub fn diarisation_errors(reference: &[Turn], answer: &[Turn]) -> DiarisationErrors {
    let ends = reference.iter().chain(answer).map(|turn| turn.end);
    let steps = (ends.fold(0.0, f64::max) / STEP_S).ceil() as usize;
    let said_by = |turns: &[Turn]| {
        let names = names(turns);
        let mut said: Vec<Vec<bool>> = vec![vec![false; steps]; names.len()];
        for turn in turns {
            let Ok(at) = names.binary_search(&turn.speaker.as_str()) else {
                continue;
            };
            let from = (turn.start / STEP_S).round() as usize;
            let to = (turn.end / STEP_S).round() as usize;
            said[at][from.min(steps)..to.min(steps)].fill(true);
        }
        said
    };
    let mut judged = vec![true; steps];
    for border in reference.iter().flat_map(|turn| [turn.start, turn.end]) {
        let from = ((border - COLLAR_S) / STEP_S).round().max(0.0) as usize;
        let to = ((border + COLLAR_S) / STEP_S).round().max(0.0) as usize;
        judged[from.min(steps)..to.min(steps)].fill(false);
    }
    let (real, told) = (said_by(reference), said_by(answer));
    let together = |a: &[bool], b: &[bool]| {
        let both = a.iter().zip(b).zip(&judged);
        both.filter(|((a, b), judged)| **a && **b && **judged)
            .count()
    };
    let table: Vec<Vec<usize>> = real
        .iter()
        .map(|real| told.iter().map(|told| together(real, told)).collect())
        .collect();
    let right = best_assignment(&table, &mut vec![false; told.len()]);
    let mut errors = DiarisationErrors::default();
    let mut both = 0;
    for step in (0..steps).filter(|step| judged[*step]) {
        let count = |said: &[Vec<bool>]| said.iter().filter(|said| said[step]).count();
        let (real, told) = (count(&real), count(&told));
        both += real.min(told);
        let (real, told) = (real as f64, told as f64);
        errors.speech_s += real * STEP_S;
        errors.missed_s += (real - told).max(0.0) * STEP_S;
        errors.false_alarm_s += (told - real).max(0.0) * STEP_S;
    }
    errors.confused_s = (both - right) as f64 * STEP_S;
    errors
}

/// The most steps that can be right. At most six people on each side, so every assignment is tried.
fn best_assignment(table: &[Vec<usize>], taken: &mut Vec<bool>) -> usize {
    let Some((row, rest)) = table.split_first() else {
        return 0;
    };
    let mut best = best_assignment(rest, taken);
    for (at, right) in row.iter().enumerate() {
        if !taken[at] {
            taken[at] = true;
            best = best.max(right + best_assignment(rest, taken));
            taken[at] = false;
        }
    }
    best
}

/// The people, and the clips of each.
struct Crowd {
    manifests: Vec<ClipManifest>,
    people: Vec<(String, Vec<(usize, Clip)>)>,
}

impl Crowd {
    fn open(options: &Options) -> anyhow::Result<Crowd> {
        let (mut manifests, mut people) = (Vec::new(), BTreeMap::new());
        for (at, path) in options.manifests.iter().enumerate() {
            let manifest = ClipManifest::open(path)?;
            for clip in &manifest.clips {
                let list = path.file_stem().unwrap_or_default().to_string_lossy();
                let name = match clip.speaker.is_empty() {
                    true => list.into_owned(),
                    false => clip.speaker.clone(),
                };
                if name.starts_with(&options.prefix) {
                    let own: &mut Vec<_> = people.entry(name).or_default();
                    own.push((at, clip.clone()));
                }
            }
            manifests.push(manifest);
        }
        let people: Vec<_> = people
            .into_iter()
            .filter(|(_, own)| own.len() > 1)
            .collect();
        ensure!(
            people.len() >= options.people && options.people > 0,
            "there are {} people with two clips or more; {} are needed",
            people.len(),
            options.people
        );
        Ok(Crowd { manifests, people })
    }

    /// The same number gives the same conversation.
    fn conversation(
        &self,
        options: &Options,
        number: u64,
    ) -> anyhow::Result<(Vec<i16>, Vec<Turn>)> {
        let mut random = Random(options.seed.wrapping_add(number.wrapping_mul(7_919)));
        let mut chosen: Vec<usize> = (0..self.people.len()).collect();
        for at in 0..options.people {
            let other = at + random.below(chosen.len() - at);
            chosen.swap(at, other);
        }
        let mut sources = Vec::new();
        for person in &chosen[..options.people] {
            sources.push(self.speech_of(*person, &mut random)?);
        }
        let (mut samples, mut turns) = (vec![0; RATE_HZ / 2], Vec::new());
        let mut speaker = random.below(options.people);
        for _ in 0..options.turns {
            let share = random.below(1_000) as f64 / 1_000.0;
            let seconds = TURN_S_MIN + (TURN_S_MAX - TURN_S_MIN) * share * share;
            let said = sources[speaker].take((seconds * RATE_HZ as f64) as usize);
            let start = samples.len() as f64 / RATE_HZ as f64;
            for (from, to) in spoken(&said) {
                turns.push(Turn {
                    start: start + from as f64 / RATE_HZ as f64,
                    end: start + to as f64 / RATE_HZ as f64,
                    speaker: self.people[chosen[speaker]].0.clone(),
                });
            }
            samples.extend(said);
            let pause_s = PAUSE_S_MAX * random.below(1_000) as f64 / 1_000.0;
            samples.extend(vec![0; (pause_s * RATE_HZ as f64) as usize]);
            if options.people > 1 {
                speaker = (speaker + 1 + random.below(options.people - 1)) % options.people;
            }
        }
        let line = Degradation {
            noise_db: Some(30.0),
            mulaw: options.mulaw,
            ..Degradation::default()
        };
        Ok((line.apply(samples, number), turns))
    }

    fn speech_of(&self, person: usize, random: &mut Random) -> anyhow::Result<PersonSpeech> {
        let clips = &self.people[person].1;
        let first = random.below(clips.len());
        let decibels = random.below(7) as f64 - 3.0;
        let level = LEVEL * 10f64.powf(decibels / 20.0);
        let mut said = Vec::new();
        for n in 0..clips.len().min(8) {
            let (list, clip) = &clips[(first + n) % clips.len()];
            let samples = self.manifests[*list].samples(clip)?;
            let spoken = spoken(&samples);
            if let (Some(first), Some(last)) = (spoken.first(), spoken.last()) {
                said.extend(levelled(&samples[first.0..last.1], level));
            }
        }
        ensure!(
            said.len() > RATE_HZ,
            "{} says nothing",
            self.people[person].0
        );
        Ok(PersonSpeech { said, at: 0 })
    }
}

/// One person's clips, one behind the other, over and over.
struct PersonSpeech {
    said: Vec<i16>,
    at: usize,
}

impl PersonSpeech {
    fn take(&mut self, count: usize) -> Vec<i16> {
        let taken = self.said.iter().cycle().skip(self.at).take(count).copied();
        let taken = taken.collect();
        self.at = (self.at + count) % self.said.len();
        taken
    }
}

fn levelled(samples: &[i16], level: f64) -> Vec<i16> {
    let power: f64 = samples.iter().map(|s| f64::from(*s).powi(2)).sum();
    let rms = (power / samples.len().max(1) as f64).sqrt().max(1.0);
    let gain = level * 32_768.0 / rms;
    let louder = |sample: &i16| (f64::from(*sample) * gain).clamp(-32_768.0, 32_767.0) as i16;
    samples.iter().map(louder).collect()
}

/// Where there is sound, by its loudness alone: not what the recogniser's own detector finds.
fn spoken(samples: &[i16]) -> Vec<(usize, usize)> {
    let loudness = |frame: &[i16]| {
        let power: f64 = frame.iter().map(|s| f64::from(*s).powi(2)).sum();
        (power / frame.len() as f64).sqrt()
    };
    let frames: Vec<f64> = samples.chunks(FRAME).map(loudness).collect();
    let mut sorted = frames.clone();
    sorted.sort_by(f64::total_cmp);
    // Not the very loudest: a click must not make speech silence.
    let loudest = sorted.get(sorted.len() * 19 / 20).copied().unwrap_or(0.0);
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (at, loudness) in frames.iter().enumerate() {
        if *loudness < (loudest * SILENCE_RATIO).max(1.0) {
            continue;
        }
        match found.last_mut() {
            Some(last) if at - last.1 < SILENCE_FRAMES => last.1 = at + 1,
            _ => found.push((at, at + 1)),
        }
    }
    let in_samples = |(from, to): (usize, usize)| (from * FRAME, (to * FRAME).min(samples.len()));
    let long = found.into_iter().filter(|(from, to)| to - from >= 5);
    long.map(in_samples).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(start: f64, end: f64, speaker: &str) -> Turn {
        Turn {
            start,
            end,
            speaker: speaker.to_owned(),
        }
    }

    #[test]
    fn an_answer_with_other_names_is_right() {
        let reference = [turn(0.0, 4.0, "juma"), turn(5.0, 9.0, "asha")];
        let answer = [turn(0.0, 4.0, "B"), turn(5.0, 9.0, "A")];
        let errors = diarisation_errors(&reference, &answer);
        assert_eq!(errors.der_percent(), 0.0);
        assert!((errors.speech_s - 7.0).abs() < 1e-6, "{errors:?}");
    }

    #[test]
    fn what_is_missed_invented_and_confused_is_told_apart_and_borders_are_forgiven() {
        let reference = [turn(0.0, 4.0, "juma"), turn(4.0, 10.0, "asha")];
        let answer = [
            turn(0.0, 4.2, "A"),
            turn(4.2, 6.0, "B"),
            turn(6.0, 7.0, "A"),
            turn(7.0, 8.0, "B"),
            turn(11.0, 12.0, "C"),
        ];
        let errors = diarisation_errors(&reference, &answer);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-6;
        assert!(near(errors.speech_s, 9.0), "{errors:?}");
        assert!(near(errors.missed_s, 1.75), "{errors:?}");
        assert!(near(errors.false_alarm_s, 1.0), "{errors:?}");
        assert!(near(errors.confused_s, 1.0), "{errors:?}");
    }

    #[test]
    fn sound_is_found_by_its_loudness() {
        let mut samples = vec![0i16; 8_000];
        samples.extend((0..16_000).map(|n| if n % 2 == 0 { 3_000 } else { -3_000 }));
        samples.extend(vec![0; 16_000]);
        samples.extend(vec![2_000; 8_000]);
        assert_eq!(spoken(&samples), [(8_000, 24_000), (40_000, 48_000)]);
        assert!(spoken(&[0; 1_000]).is_empty());
    }
}
