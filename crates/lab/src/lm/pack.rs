//! Writes a back-off model in the packed form that the reader maps into memory.

use sauti_speech::recogniser::lm::FIRST_WORD;
use sauti_speech::recogniser::lm::format::{BOOKS_LEN, CODES, HEADER_LEN, Header};

use super::bits::{BitWriter, width_for};
use super::corpus::Vocabulary;
use super::prune::{Backoff, BackoffLevel};
use super::{letters, lexicon};

pub fn pack(model: &Backoff, vocabulary: &Vocabulary, rare: &[String]) -> Vec<u8> {
    let counts = [0, 1, 2, 3].map(|i: usize| model.levels[i].keys.len());
    let word_bits = width_for(vocabulary.size() as u64);
    let pointer_bits = [width_for(counts[2] as u64), width_for(counts[3] as u64)];
    let children: Vec<Vec<u32>> = (0..3)
        .map(|i| first_children(&model.levels[i], &model.levels[i + 1], i + 1))
        .collect();
    let p_books = [1, 2, 3].map(|i: usize| CodeBook::fit(&model.levels[i].log_p));
    let backoff_books = [1, 2].map(|i: usize| CodeBook::fit(&model.levels[i].log_backoff));

    let mut sections = vec![words_section(&model.levels[0], &children[0])];
    for order in 1..4 {
        let level = &model.levels[order];
        let mut writer = BitWriter::new();
        for (i, key) in level.keys.iter().enumerate() {
            writer.push(u64::from(key[order]), word_bits);
            writer.push(p_books[order - 1].code(level.log_p[i]), 8);
            if order < 3 {
                writer.push(backoff_books[order - 1].code(level.log_backoff[i]), 8);
                writer.push(u64::from(children[order][i]), pointer_bits[order - 1]);
            }
        }
        if order < 3 {
            writer.push(0, word_bits);
            writer.push(0, 16);
            writer.push(counts[order + 1] as u64, pointer_bits[order - 1]);
        }
        sections.push(writer.finish());
    }
    let word_log_p = &model.levels[0].log_p[FIRST_WORD as usize..];
    // The letters learn from every spelling, the rare ones twice: those are what it will meet.
    let spellings = vocabulary.words.iter().chain(rare).chain(rare);
    sections.push(letters::train(spellings.map(String::as_str)));
    sections.push(lexicon::build(&vocabulary.words, word_log_p));

    let mut offsets = [0; 6];
    let mut at = HEADER_LEN + BOOKS_LEN;
    for (offset, section) in offsets.iter_mut().zip(&sections) {
        *offset = at;
        at += section.len();
    }
    let header = Header {
        counts,
        word_bits,
        pointer_bits,
        offsets,
        len: at,
    };
    let mut out = header.bytes();
    for book in p_books.iter().chain(&backoff_books) {
        out.extend(book.0.iter().flat_map(|value| value.to_le_bytes()));
    }
    out.extend(sections.into_iter().flatten());
    out
}

fn words_section(level: &BackoffLevel, children: &[u32]) -> Vec<u8> {
    let mut out = Vec::new();
    let values = level.log_p.iter().zip(&level.log_backoff).zip(children);
    for ((log_p, log_backoff), child) in values {
        out.extend(log_p.to_le_bytes());
        out.extend(log_backoff.to_le_bytes());
        out.extend(child.to_le_bytes());
    }
    out.extend([0; 8]);
    out.extend(children[level.keys.len()].to_le_bytes());
    out
}

/// Where each n-gram's continuations begin in the next order, with the end of the last one.
fn first_children(level: &BackoffLevel, next: &BackoffLevel, order: usize) -> Vec<u32> {
    let mut out = Vec::with_capacity(level.keys.len() + 1);
    let mut at = 0;
    for key in &level.keys {
        while at < next.keys.len() && next.keys[at][..order] < key[..order] {
            at += 1;
        }
        out.push(at as u32);
    }
    out.push(next.keys.len() as u32);
    out
}

/// 256 values that stand for all of a section's, each for about as many.
struct CodeBook(Vec<f32>);

impl CodeBook {
    fn fit(values: &[f32]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f32::total_cmp);
        let book = (0..CODES).map(|code| {
            let from = code * sorted.len() / CODES;
            let to = ((code + 1) * sorted.len() / CODES).max(from + 1);
            match sorted.get(from..to.min(sorted.len())) {
                Some(bin) if !bin.is_empty() => {
                    (bin.iter().map(|v| f64::from(*v)).sum::<f64>() / bin.len() as f64) as f32
                }
                _ => sorted.last().copied().unwrap_or(0.0),
            }
        });
        Self(book.collect())
    }

    fn code(&self, value: f32) -> u64 {
        let above = self.0.partition_point(|code| *code < value);
        let near = |i: &usize| (self.0[*i] - value).abs();
        let candidates = [above.saturating_sub(1), above.min(CODES - 1)];
        let best = candidates
            .into_iter()
            .min_by(|a, b| near(a).total_cmp(&near(b)));
        best.unwrap_or(0) as u64
    }
}
