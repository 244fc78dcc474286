//! Builds the language model file from texts: `sauti lm build`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use sauti_speech::recogniser::lm::{LanguageModels, Lm, SENTENCE_START, UNKNOWN};
use sha2::{Digest, Sha256};

use super::corpus::{Lines, Vocabulary, read_excluded, read_lines};
use super::estimate::{Union, predictions};
use super::ngrams::Ngrams;
use super::pack::pack;
use super::prune::Backoff;

/// One text to learn from: plain UTF-8, a sentence a line.
#[derive(Debug, Clone)]
pub struct TextSource {
    pub name: String,
    pub path: PathBuf,
    /// How much one occurrence counts when the vocabulary is chosen.
    pub vocabulary_weight: f64,
    /// The held-out part of this source says how much each source weighs in the mixture.
    pub is_target: bool,
}

#[derive(Debug, Clone)]
pub struct BuildConfig {
    pub swahili: LanguageTexts,
    pub english: Option<LanguageTexts>,
    /// Tab-separated files whose last column holds sentences that a test will use.
    pub excluded: Vec<PathBuf>,
    pub output: PathBuf,
}

/// What the model of one language is made from.
#[derive(Debug, Clone)]
pub struct LanguageTexts {
    pub sources: Vec<TextSource>,
    /// A word enters the vocabulary from this weighted count on.
    pub vocabulary_weight_min: f64,
    /// No source weighs less in the mixture, however little it helps the targets.
    pub source_weight_min: f64,
    /// Relative entropy below which an n-gram is dropped.
    pub prune_threshold: f64,
}

#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BuildReport {
    pub bytes: usize,
    pub sha256: String,
    pub swahili: LanguageReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub english: Option<LanguageReport>,
}

#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct LanguageReport {
    pub vocabulary: usize,
    pub counts: [usize; 4],
    pub bytes: usize,
    pub sources: Vec<SourceReport>,
}

#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SourceReport {
    pub name: String,
    pub training_words: usize,
    pub weight: f64,
    pub held_out_words: usize,
    /// Of the packed model on the held-out lines, over the known words.
    pub perplexity: f64,
    pub unknown_share: f64,
}

/// Deterministic: the same texts and settings give the same bytes.
pub fn build(config: &BuildConfig) -> anyhow::Result<BuildReport> {
    let mut excluded = HashSet::new();
    for path in &config.excluded {
        excluded.extend(read_excluded(path)?);
    }
    let (mut bytes, swahili) = build_language(&config.swahili, &excluded)?;
    let mut english = None;
    if let Some(texts) = &config.english {
        let (behind, report) = build_language(texts, &excluded)?;
        bytes = LanguageModels::pack_pair(&bytes, &behind);
        english = Some(report);
    }
    write_atomically(&config.output, &bytes)?;
    Ok(BuildReport {
        bytes: bytes.len(),
        sha256: hex::encode(Sha256::digest(&bytes)),
        swahili,
        english,
    })
}

fn build_language(
    config: &LanguageTexts,
    excluded: &HashSet<String>,
) -> anyhow::Result<(Vec<u8>, LanguageReport)> {
    let lines: Vec<Lines> = config
        .sources
        .iter()
        .map(|source| read_lines(&source.path, excluded))
        .collect::<anyhow::Result<_>>()?;
    let vocabulary_weights: Vec<f64> = config
        .sources
        .iter()
        .map(|source| source.vocabulary_weight)
        .collect();
    let (vocabulary, rare) =
        Vocabulary::choose(&lines, &vocabulary_weights, config.vocabulary_weight_min);
    ensure!(!vocabulary.words.is_empty(), "the texts hold no words");
    let held_out: Vec<Vec<u32>> = lines
        .iter()
        .map(|lines| vocabulary.encode(&lines.held_out))
        .collect();
    let texts: Vec<Ngrams> = lines
        .iter()
        .map(|lines| Ngrams::count(&vocabulary.encode(&lines.training)))
        .collect();
    drop(lines);
    let tokens: Vec<usize> = texts.iter().map(|text| text.tokens as usize).collect();
    let union = Union::estimate(&texts, vocabulary.size());
    drop(texts);
    let targets: Vec<u32> = held_out
        .iter()
        .zip(&config.sources)
        .filter(|(_, source)| source.is_target)
        .flat_map(|(text, _)| text.iter().copied())
        .collect();
    let weights = raised(union.fit_weights(&targets), config.source_weight_min);
    let model = Backoff::from_mixture(union, &weights, config.prune_threshold);
    let bytes = pack(&model, &vocabulary, &rare);
    drop(model);
    let packed = LanguageModels::from_bytes(bytes.clone());
    let packed = packed.context("the packed model cannot be read back")?;
    let lm = packed.swahili();
    let sources = (0..config.sources.len())
        .map(|i| {
            measure(
                lm,
                &config.sources[i].name,
                &held_out[i],
                tokens[i],
                weights[i],
            )
        })
        .collect();
    let report = LanguageReport {
        vocabulary: vocabulary.words.len(),
        counts: lm.counts(),
        bytes: bytes.len(),
        sources,
    };
    Ok((bytes, report))
}

fn raised(weights: Vec<f64>, min: f64) -> Vec<f64> {
    let raised: Vec<f64> = weights.iter().map(|weight| weight.max(min)).collect();
    let total: f64 = raised.iter().sum();
    raised.iter().map(|weight| weight / total).collect()
}

fn measure(lm: &Lm, name: &str, held_out: &[u32], tokens: usize, weight: f64) -> SourceReport {
    let (mut log_p, mut known, mut unknown) = (0f64, 0usize, 0usize);
    let mut state = lm.start();
    for &word in held_out {
        if word == SENTENCE_START {
            state = lm.start();
            continue;
        }
        let (score, next) = lm.score(state, word);
        state = next;
        if word == UNKNOWN {
            unknown += 1;
        } else {
            log_p += f64::from(score);
            known += 1;
        }
    }
    let words = predictions(held_out).count();
    SourceReport {
        name: name.to_owned(),
        training_words: tokens,
        weight,
        held_out_words: words,
        perplexity: (-log_p / known.max(1) as f64).exp(),
        unknown_share: unknown as f64 / words.max(1) as f64,
    }
}

fn write_atomically(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let partial = path.with_extension("partial");
    let written = std::fs::write(&partial, bytes).and_then(|()| std::fs::rename(&partial, path));
    written.with_context(|| path.display().to_string())
}
