//! Makes the page: every pair of systems for every sentence, as loud as each other, under names that say nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sauti_audio::loudness::{CEILING_DBFS, lufs, normalise};
use sauti_audio::{DecodeLimits, OutputFormat, SAMPLE_RATE_HZ, decode_bytes, pcm, resample};
use sauti_speech::{Direction, Engine, SpeakRequest};
use sauti_text::{Lexicon, Script};
use serde::Serialize;

use super::super::degrade::{Degradation, Random};
use super::super::manifest::TsvTable;
use super::key::{self, ANCHOR, Trial, TrialKind};
use crate::offline;

const PAGE: &str = include_str!("page.html");
/// The same for every clip, so that the rate tells nothing.
const CLIP_HZ: u32 = 24_000;
/// Low enough that the limiter hardly touches recordings with high peaks.
const CLIP_LUFS: f64 = -20.0;
const CLIP_SECONDS_MAX: f64 = 60.0;
/// One repeat and one anchor for so many pairs, and at least two of each.
const PAIRS_A_CHECK: usize = 8;
const CHECKS_MIN: usize = 2;
const ANCHOR_NOISE_DB: f64 = 10.0;

#[derive(Debug, Clone)]
pub struct Options {
    /// A column `text`, and one of clips for each system.
    pub pairs: PathBuf,
    /// Voices that say the texts as further systems.
    pub voices: Vec<String>,
    pub folder: PathBuf,
    pub key: PathBuf,
    /// Ask for naturalness from 1 to 5 too.
    pub scores: bool,
    /// Put the clips into the page itself.
    pub one_file: bool,
    pub seed: u64,
}

#[derive(Debug, PartialEq)]
pub struct Made {
    pub trials: usize,
    pub systems: Vec<String>,
}

#[derive(Serialize)]
struct PageTest<'a> {
    test: String,
    scores: bool,
    trials: Vec<PageTrial<'a>>,
    /// The address of each clip.
    clips: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct PageTrial<'a> {
    name: &'a str,
    text: &'a str,
    left: &'a str,
    right: &'a str,
}

/// The engine is needed where voices are asked for.
pub async fn make(engine: Option<&Engine>, options: &Options) -> anyhow::Result<Made> {
    let table = TsvTable::open(&options.pairs)?;
    let text = table.column(&["text", "sentence"])?;
    let columns: Vec<usize> = (0..table.header.len()).filter(|&n| n != text).collect();
    let named = columns.iter().map(|&column| table.header[column].clone());
    let systems: Vec<String> = named.chain(options.voices.iter().cloned()).collect();
    refuse_unfit(&options.pairs, &systems, table.rows.len())?;
    let mut clips = ClipFolder::create(options)?;

    let beside = options.pairs.parent().unwrap_or(Path::new(""));
    let mut order: Vec<usize> = (0..table.rows.len()).collect();
    shuffle(&mut order, &mut clips.random);
    let mut lefts = vec![vec![0; systems.len()]; systems.len()];
    let (mut trials, mut anchors) = (Vec::new(), Vec::new());
    for sentence in order {
        let row = &table.rows[sentence];
        let mut made: Vec<(usize, String)> = Vec::new();
        let mut first = Vec::new();
        for (number, system) in systems.iter().enumerate() {
            let samples = match (columns.get(number), engine) {
                (Some(&column), _) if row[column].is_empty() => continue,
                (Some(&column), _) => read(&beside.join(&row[column]))?,
                (None, Some(engine)) => say(engine, system, &row[text]).await?,
                (None, None) => unreachable!("voices are asked for with an engine"),
            };
            made.push((number, clips.add(&samples)?));
            if first.is_empty() {
                first = samples;
            }
        }
        ensure!(
            made.len() > 1,
            "{}: fewer than two clips of {:?}",
            options.pairs.display(),
            row[text]
        );
        let trial = |kind, systems: [&str; 2], clips: [&String; 2], swap: bool| {
            let [left, right] = if swap { [1, 0] } else { [0, 1] };
            Trial {
                name: String::new(),
                kind,
                sentence,
                systems: [systems[left].to_owned(), systems[right].to_owned()],
                clips: [clips[left].clone(), clips[right].clone()],
            }
        };
        for (n, (a, clip_a)) in made.iter().enumerate() {
            for (b, clip_b) in &made[n + 1..] {
                let swap = lefts[*a][*b] % 2 == 1;
                lefts[*a][*b] += 1;
                let makers = [systems[*a].as_str(), &systems[*b]];
                trials.push(trial(TrialKind::Pair, makers, [clip_a, clip_b], swap));
            }
        }
        if anchors.len() < CHECKS_MIN.max(trials.len() / PAIRS_A_CHECK) {
            let (maker, clean) = &made[0];
            let spoilt = clips.add(&spoil(&first, sentence as u64))?;
            let swap = anchors.len() % 2 == 1;
            let makers = [systems[*maker].as_str(), ANCHOR];
            anchors.push(trial(TrialKind::Anchor, makers, [clean, &spoilt], swap));
        }
    }
    let trials = in_order(trials, anchors, &mut clips.random);
    write_page(options, &trials, &table, text, clips.addresses)?;
    Ok(Made {
        trials: trials.len(),
        systems,
    })
}

fn refuse_unfit(list: &Path, systems: &[String], sentences: usize) -> anyhow::Result<()> {
    let list = list.display();
    ensure!(sentences > 0, "{list} lists no sentences");
    ensure!(
        systems.len() > 1,
        "{list}: a comparison needs two systems: a column of clips for each, or --voice"
    );
    for (n, system) in systems.iter().enumerate() {
        ensure!(!system.is_empty(), "{list}: a column has no name");
        ensure!(
            system != ANCHOR && !systems[..n].contains(system),
            "{list}: no system can be called {system:?}, for another is"
        );
    }
    Ok(())
}

struct ClipFolder {
    folder: PathBuf,
    random: Random,
    one_file: bool,
    addresses: BTreeMap<String, String>,
}

impl ClipFolder {
    fn create(options: &Options) -> anyhow::Result<Self> {
        let folder = &options.folder;
        ensure!(
            !std::path::absolute(&options.key)?.starts_with(std::path::absolute(folder)?),
            "the key tells who made which clip: it cannot lie in {}, which listeners get",
            folder.display()
        );
        std::fs::create_dir_all(folder.join("clips"))
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let mut inside = std::fs::read_dir(folder.join("clips"))?;
        let is_empty = inside.next().is_none();
        ensure!(is_empty, "{} holds clips already", folder.display());
        if options.one_file {
            std::fs::remove_dir(folder.join("clips"))?;
        }
        Ok(Self {
            folder: folder.clone(),
            random: Random(options.seed),
            one_file: options.one_file,
            addresses: BTreeMap::new(),
        })
    }

    /// Hands back the name that the clip has from now on.
    fn add(&mut self, samples: &[f32]) -> anyhow::Result<String> {
        let wav = sauti_audio::encode(samples, CLIP_HZ, OutputFormat::Wav24000)?;
        let name = format!("{:016x}", self.random.next());
        let address = if self.one_file {
            format!("data:audio/wav;base64,{}", STANDARD.encode(wav))
        } else {
            let address = format!("clips/{name}.wav");
            let path = self.folder.join(&address);
            std::fs::write(&path, wav)
                .with_context(|| format!("cannot write {}", path.display()))?;
            address
        };
        self.addresses.insert(name.clone(), address);
        Ok(name)
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<f32>> {
    let name = || path.display().to_string();
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", name()))?;
    let limits = DecodeLimits {
        rate_hz: CLIP_HZ,
        seconds_max: CLIP_SECONDS_MAX,
        ..DecodeLimits::default()
    };
    let recording = decode_bytes(bytes, None, &limits, &|| false).with_context(name)?;
    let samples = recording.samples.all()?;
    let samples = samples.iter().map(|&sample| pcm::f32_from_i16(sample));
    levelled(samples.collect()).with_context(name)
}

async fn say(engine: &Engine, voice: &str, text: &str) -> anyhow::Result<Vec<f32>> {
    let (voice_id, rate_hz) = offline::choose_voice(engine, Some(voice))?;
    let request = SpeakRequest {
        voice_id,
        script: Script::from_text(text, &Lexicon::builtin())
            .with_context(|| format!("{text:?}"))?,
        direction: Direction::default(),
    };
    let said = offline::speak(engine, request)
        .await
        .with_context(|| text.to_owned())?;
    levelled(resample(&said.samples, rate_hz, CLIP_HZ)).with_context(|| text.to_owned())
}

fn levelled(mut samples: Vec<f32>) -> anyhow::Result<Vec<f32>> {
    ensure!(lufs(&samples, CLIP_HZ).is_finite(), "nothing can be heard");
    normalise(&mut samples, CLIP_HZ, CLIP_LUFS, CEILING_DBFS);
    Ok(samples)
}

/// As over a bad telephone line: whoever listens hears that it is worse.
fn spoil(samples: &[f32], seed: u64) -> Vec<f32> {
    let narrow = resample(samples, CLIP_HZ, SAMPLE_RATE_HZ);
    let narrow = narrow.into_iter().map(pcm::i16_from_f32).collect();
    let telephone = Degradation {
        noise_db: Some(ANCHOR_NOISE_DB),
        mulaw: true,
        ..Degradation::default()
    };
    let spoilt = telephone.apply(narrow, seed).into_iter();
    let spoilt: Vec<f32> = spoilt.map(pcm::f32_from_i16).collect();
    let mut spoilt = resample(&spoilt, SAMPLE_RATE_HZ, CLIP_HZ);
    normalise(&mut spoilt, CLIP_HZ, CLIP_LUFS, CEILING_DBFS);
    spoilt
}

fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for n in (1..items.len()).rev() {
        items.swap(n, random.below(n + 1));
    }
}

/// Pairs and anchors at random; pairs of the first half come once more in the second, the other way round.
fn in_order(pairs: Vec<Trial>, anchors: Vec<Trial>, random: &mut Random) -> Vec<Trial> {
    let repeats = CHECKS_MIN.max(pairs.len() / PAIRS_A_CHECK);
    let mut trials = pairs;
    trials.extend(anchors);
    shuffle(&mut trials, random);
    let half = trials.len().div_ceil(2);
    let early = trials[..half].iter();
    let early = early.filter(|trial| trial.kind == TrialKind::Pair);
    let again: Vec<Trial> = early.take(repeats).cloned().collect();
    for mut trial in again {
        trial.kind = TrialKind::Repeat;
        trial.systems.reverse();
        trial.clips.reverse();
        let place = half + 1 + random.below(trials.len() - half);
        trials.insert(place.min(trials.len()), trial);
    }
    for (n, trial) in trials.iter_mut().enumerate() {
        trial.name = (n + 1).to_string();
    }
    trials
}

fn write_page(
    options: &Options,
    trials: &[Trial],
    table: &TsvTable,
    text: usize,
    clips: BTreeMap<String, String>,
) -> anyhow::Result<()> {
    let shown = |trial| {
        let Trial { name, sentence, .. }: &Trial = trial;
        PageTrial {
            name,
            text: &table.rows[*sentence][text],
            left: &trial.clips[0],
            right: &trial.clips[1],
        }
    };
    let test = PageTest {
        test: key::test_id(trials),
        scores: options.scores,
        trials: trials.iter().map(shown).collect(),
        clips,
    };
    // Inside a script element only `<` could end it.
    let json = serde_json::to_string(&test)?.replace('<', "\\u003c");
    let page = options.folder.join("index.html");
    std::fs::write(&page, PAGE.replace("/*TEST*/null", &json))
        .with_context(|| format!("cannot write {}", page.display()))?;
    std::fs::write(&options.key, key::text(trials))
        .with_context(|| format!("cannot write {}", options.key.display()))
}
