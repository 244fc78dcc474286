//! Error rates over many clips, and how sure one can be of them.

use std::collections::BTreeMap;

use sauti_text::compare::{self, Errors};
use serde::Serialize;

use super::degrade::Random;
use super::readable::Marks;

/// One clip, heard and compared.
#[derive(Debug, Clone, Serialize)]
pub struct Scored {
    #[serde(rename = "file")]
    pub name: String,
    /// Speaker, or voice: what the figures are grouped by.
    #[serde(rename = "speaker")]
    pub group: String,
    pub seconds: f64,
    /// Both in the form in which they are compared.
    pub reference: String,
    pub heard: String,
    /// The answer as the caller would see it.
    pub readable: String,
    /// Its capitals and marks beside those of the reference.
    #[serde(skip)]
    pub marks: Marks,
    #[serde(rename = "word_errors", serialize_with = "total")]
    pub words: Errors,
    #[serde(rename = "character_errors", serialize_with = "total")]
    pub characters: Errors,
}

/// Errors of a clip as two numbers: how many, of how many.
fn total<S: serde::Serializer>(errors: &Errors, serializer: S) -> Result<S::Ok, S::Error> {
    [errors.total(), errors.reference_len].serialize(serializer)
}

impl Scored {
    pub fn new(
        name: String,
        group: String,
        seconds: f64,
        reference: &str,
        readable: String,
    ) -> Self {
        let marks = Marks::of_transcript(reference, &readable);
        let [reference, heard] = [reference, &readable].map(compare::comparable);
        let words = compare::word_errors(&reference, &heard);
        let characters = compare::character_errors(&reference, &heard);
        Self {
            name,
            group,
            seconds,
            reference,
            heard,
            readable,
            marks,
            words,
            characters,
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct ErrorRates {
    pub clips: usize,
    pub hours: f64,
    pub wer_percent: f64,
    /// Ninety-five of a hundred test sets drawn like this one would fall between these.
    pub wer_percent_low: f64,
    pub wer_percent_high: f64,
    pub cer_percent: f64,
    pub substitutions: usize,
    pub insertions: usize,
    pub deletions: usize,
    pub words: usize,
}

pub fn rates<'a>(scored: impl IntoIterator<Item = &'a Scored>) -> ErrorRates {
    let clips: Vec<&Scored> = scored.into_iter().collect();
    let (mut words, mut characters) = (Errors::default(), Errors::default());
    for clip in &clips {
        words += clip.words;
        characters += clip.characters;
    }
    let (wer_percent_low, wer_percent_high) = interval(&clips);
    ErrorRates {
        clips: clips.len(),
        hours: clips.iter().map(|clip| clip.seconds).sum::<f64>() / 3600.0,
        wer_percent: words.rate() * 100.0,
        wer_percent_low,
        wer_percent_high,
        cer_percent: characters.rate() * 100.0,
        substitutions: words.substitutions,
        insertions: words.insertions,
        deletions: words.deletions,
        words: words.reference_len,
    }
}

pub fn by_group(scored: &[Scored]) -> BTreeMap<String, ErrorRates> {
    let mut groups: BTreeMap<String, Vec<&Scored>> = BTreeMap::new();
    for clip in scored {
        groups.entry(clip.group.clone()).or_default().push(clip);
    }
    let groups = groups.into_iter();
    groups.map(|(group, clips)| (group, rates(clips))).collect()
}

/// The most mistaken first; among equals the one with more words.
pub fn worst(scored: &[Scored], count: usize) -> Vec<&Scored> {
    let mistaken = scored.iter().filter(|clip| clip.words.total() > 0);
    let mut sorted: Vec<&Scored> = mistaken.collect();
    sorted.sort_by(|a, b| {
        let rate = b.characters.rate().total_cmp(&a.characters.rate());
        rate.then(b.words.total().cmp(&a.words.total()))
    });
    sorted.truncate(count);
    sorted
}

/// Bootstrap over clips: the middle 95 % of a thousand test sets drawn from this one.
fn interval(clips: &[&Scored]) -> (f64, f64) {
    const DRAWS: usize = 1_000;
    let mut random = Random(2_025);
    let mut drawn: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let mut total = Errors::default();
            for _ in clips {
                total += clips[random.below(clips.len())].words;
            }
            total.rate() * 100.0
        })
        .collect();
    drawn.sort_by(f64::total_cmp);
    (drawn[DRAWS * 25 / 1_000], drawn[DRAWS * 975 / 1_000 - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clip(group: &str, reference: &str, heard: &str) -> Scored {
        Scored::new("x".into(), group.into(), 36.0, reference, heard.into())
    }

    #[test]
    fn rates_count_over_all_words_not_over_clips() {
        let clips = [
            clip("a", "Moja mbili tatu nne.", "moja mbili tatu nne"),
            clip("b", "Tano!", "sita"),
        ];
        let all = rates(&clips);
        assert_eq!((all.clips, all.words, all.substitutions), (2, 5, 1));
        assert!((all.wer_percent - 20.0).abs() < 1e-9);
        assert!((all.hours - 0.02).abs() < 1e-9);
        assert!(all.wer_percent_low <= all.wer_percent && all.wer_percent <= all.wer_percent_high);
        assert_eq!(by_group(&clips)["b"].wer_percent, 100.0);
        assert_eq!(worst(&clips, 5).len(), 1);
    }

    #[test]
    fn no_clips_give_no_errors_and_no_panic() {
        assert_eq!(rates(&[]).wer_percent, 0.0);
    }
}
