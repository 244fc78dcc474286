//! From the voices of a recording to who speaks when, and whose the words are.

use super::cluster::people;
use super::config::{RATE_HZ, SPEAKERS_MAX, SpeakerConfig};
use super::network::SAMPLES;
use crate::job::mean_confidence;
use crate::kernels::simd::dot;
use crate::recogniser::subtitles::timed_tokens;
use crate::{Segment, SpeechStretch, Transcript, Word};

/// What is given to one person as a whole.
const CELL_S: f64 = 0.1;
/// A shorter pause is no end of a turn.
const PAUSE_S: f64 = 0.5;
const NAMES: [char; SPEAKERS_MAX] = ['A', 'B', 'C', 'D', 'E', 'F'];

/// One person speaks, without a long pause.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeakerTurn {
    pub start: f64,
    pub end: f64,
    /// `A` is who speaks first, `B` the next one to speak.
    pub speaker: char,
}

/// Who speaks when.
pub fn speaker_turns(speech: &[SpeechStretch], config: &SpeakerConfig) -> Vec<SpeakerTurn> {
    let voices = speech.iter().flat_map(|stretch| &stretch.voices);
    let voices: Vec<&[f32]> = voices.map(Vec::as_slice).collect();
    let people = people(&voices, config);
    let mut turns: Vec<(f64, f64, usize)> = Vec::new();
    for stretch in speech {
        let cells = cells(stretch, &people);
        let mut from = 0;
        let path = best_path(&cells, config.change_cost);
        for at in 1..=path.len() {
            if at == path.len() || path[at] != path[from] {
                let start = stretch.start + from as f64 * CELL_S;
                let end = match at == path.len() {
                    true => stretch.end,
                    false => stretch.start + at as f64 * CELL_S,
                };
                turns.push((start, end, path[from]));
                from = at;
            }
        }
    }
    named(&joined(turns))
}

/// What one person says with short pauses in between is one turn.
fn joined(turns: Vec<(f64, f64, usize)>) -> Vec<(f64, f64, usize)> {
    let mut out: Vec<(f64, f64, usize)> = Vec::new();
    for turn in turns {
        match out.last_mut() {
            Some(last) if last.2 == turn.2 && turn.0 - last.1 < PAUSE_S => last.1 = turn.1,
            _ => out.push(turn),
        }
    }
    out
}

/// By the order in which they come.
fn named(turns: &[(f64, f64, usize)]) -> Vec<SpeakerTurn> {
    let mut order: Vec<usize> = Vec::new();
    let mut name = |person: usize| {
        let known = order.iter().position(|other| *other == person);
        let at = known.unwrap_or_else(|| {
            order.push(person);
            order.len() - 1
        });
        NAMES[at.min(SPEAKERS_MAX - 1)]
    };
    let turn = |&(start, end, person): &(f64, f64, usize)| SpeakerTurn {
        start,
        end,
        speaker: name(person),
    };
    turns.iter().map(turn).collect()
}

/// How alike each tenth of a second is to each person: the mean of the windows over it, those in whose middle it lies most.
fn cells(stretch: &SpeechStretch, people: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let window_s = SAMPLES as f64 / RATE_HZ;
    let length_s = stretch.end - stretch.start;
    let spare_s = (length_s - window_s).max(0.0);
    let steps = (stretch.voices.len().max(2) - 1) as f64;
    let likeness: Vec<Vec<f32>> = stretch
        .voices
        .iter()
        .map(|voice| people.iter().map(|person| dot(voice, person)).collect())
        .collect();
    let count = (length_s / CELL_S).round().max(1.0) as usize;
    (0..count)
        .map(|cell| {
            let centre_s = (cell as f64 + 0.5) * CELL_S;
            let mut sums = vec![0.0; people.len()];
            let mut total = 1e-6;
            for (at, likeness) in likeness.iter().enumerate() {
                let middle_s = spare_s * at as f64 / steps + window_s.min(length_s) / 2.0;
                let weight = 1.0 - (centre_s - middle_s).abs() / (window_s / 2.0);
                let weight = weight.max(1e-3) as f32;
                total += weight;
                for (sum, likeness) in sums.iter_mut().zip(likeness) {
                    *sum += weight * likeness;
                }
            }
            sums.iter().map(|sum| sum / total).collect()
        })
        .collect()
}

/// The person of each cell, so that the likeness is greatest after what the changes cost (Viterbi).
fn best_path(cells: &[Vec<f32>], change_cost: f32) -> Vec<usize> {
    let highest = |scores: &[f32]| {
        let best = (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b]));
        best.unwrap_or(0)
    };
    let Some(first) = cells.first() else {
        return Vec::new();
    };
    let mut scores = first.clone();
    let mut came_from: Vec<Vec<usize>> = Vec::with_capacity(cells.len());
    for cell in &cells[1..] {
        let best = highest(&scores);
        let changed = scores.get(best).copied().unwrap_or(0.0) - change_cost;
        let from = |person: usize| match scores[person] >= changed {
            true => person,
            false => best,
        };
        let back: Vec<usize> = (0..scores.len()).map(from).collect();
        scores = (0..cell.len())
            .map(|person| cell[person] + scores[person].max(changed))
            .collect();
        came_from.push(back);
    }
    let mut path = vec![highest(&scores)];
    for back in came_from.iter().rev() {
        let here = path[path.len() - 1];
        path.push(back.get(here).copied().unwrap_or(0));
    }
    path.reverse();
    path
}

/// Gives each segment its speaker; one in which the speaker changes is parted between two words.
pub(crate) fn tell_speakers_apart(transcript: &mut Transcript, config: &SpeakerConfig) {
    let turns = speaker_turns(&std::mem::take(&mut transcript.speech), config);
    let segments = std::mem::take(&mut transcript.segments);
    let parted = segments
        .into_iter()
        .flat_map(|segment| parted(segment, &turns));
    transcript.segments = parted.collect();
    let texts: Vec<&str> = transcript
        .segments
        .iter()
        .map(|segment| segment.text.as_str())
        .collect();
    transcript.text = texts.join(" ");
}

/// Whoever speaks most of the word, or nearest to it.
fn speaker_of(word: &Word, turns: &[SpeakerTurn]) -> char {
    let overlap = |turn: &SpeakerTurn| word.end.min(turn.end) - word.start.max(turn.start);
    let nearest = turns
        .iter()
        .max_by(|a, b| overlap(a).total_cmp(&overlap(b)));
    nearest.map_or(NAMES[0], |turn| turn.speaker)
}

fn parted(segment: Segment, turns: &[SpeakerTurn]) -> Vec<Segment> {
    let tokens = timed_tokens(&segment);
    let mut parts: Vec<Segment> = Vec::new();
    for word in &segment.words {
        let speaker = speaker_of(word, turns);
        // A number in figures belongs to whoever begins it, so a part begins only where a token does.
        let begins_token = tokens
            .iter()
            .any(|token| (token.start - word.start).abs() < 1e-6);
        match parts.last_mut() {
            Some(part) if part.speaker == Some(speaker) || !begins_token => {
                part.end = word.end;
                part.words.push(word.clone());
            }
            _ => parts.push(Segment {
                start: word.start,
                end: word.end,
                words: vec![word.clone()],
                speaker: Some(speaker),
                channel: segment.channel,
                ..Segment::default()
            }),
        }
    }
    if parts.len() <= 1 {
        let speaker = parts.first().map_or(Some(NAMES[0]), |part| part.speaker);
        return vec![Segment { speaker, ..segment }];
    }
    for at in 0..parts.len() {
        let until = parts.get(at + 1).map_or(f64::MAX, |next| next.start);
        let from = if at == 0 { f64::MIN } else { parts[at].start };
        let own = tokens
            .iter()
            .filter(|token| (from..until).contains(&(token.start + 1e-6)));
        let own: Vec<&str> = own.map(|token| token.text).collect();
        let part = &mut parts[at];
        part.text = as_sentence(&own.join(" "));
        part.confidence = mean_confidence(&part.words);
    }
    parts
}

/// What one person says begins large and ends with a mark.
fn as_sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let mut sentence: String = first.chain(letters).collect();
    if !sentence.ends_with(['.', '?', '!', '…']) {
        sentence.truncate(sentence.trim_end_matches([',', ';', ':']).len());
        sentence.push('.');
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    fn voice(person: usize) -> Vec<f32> {
        (0..4).map(|d| f32::from(u8::from(d == person))).collect()
    }

    fn stretch(start: f64, end: f64, people: &[usize]) -> SpeechStretch {
        SpeechStretch {
            start,
            end,
            voices: people.iter().map(|person| voice(*person)).collect(),
        }
    }

    /// One and then another, the second one without a pause in the middle.
    fn conversation() -> Vec<SpeechStretch> {
        vec![
            stretch(0.0, 4.0, &[2; 7]),
            stretch(5.0, 9.0, &[0; 7]),
            stretch(10.0, 16.0, &[2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0]),
        ]
    }

    fn word(text: &str, start: f64) -> Word {
        Word {
            word: text.to_owned(),
            start,
            end: start + 0.4,
            confidence: 0.8,
            ..Word::default()
        }
    }

    #[test]
    fn people_are_named_in_the_order_in_which_they_speak() {
        let turns = speaker_turns(&conversation(), &SpeakerConfig::default());
        let speakers: String = turns.iter().map(|turn| turn.speaker).collect();
        assert_eq!(speakers, "ABAB");
        assert!((turns[2].end - 13.0).abs() < 0.3, "{turns:?}");
        assert_eq!((turns[0].start, turns[3].end), (0.0, 16.0));
        assert!(speaker_turns(&[], &SpeakerConfig::default()).is_empty());
    }

    #[test]
    fn a_segment_in_which_the_speaker_changes_is_parted_between_words() {
        let words: Vec<Word> = ["una", "mia", "mbili", "ndiyo", "ninazo"]
            .into_iter()
            .zip([10.2, 11.0, 11.8, 13.6, 14.6])
            .map(|(text, start)| word(text, start))
            .collect();
        let mut transcript = Transcript {
            segments: vec![Segment {
                start: 10.2,
                end: 15.0,
                text: "Una 200, ndiyo ninazo?".to_owned(),
                words,
                ..Segment::default()
            }],
            speech: conversation(),
            ..Transcript::default()
        };
        tell_speakers_apart(&mut transcript, &SpeakerConfig::default());
        let told: Vec<(Option<char>, &str, usize)> = transcript
            .segments
            .iter()
            .map(|segment| (segment.speaker, segment.text.as_str(), segment.words.len()))
            .collect();
        assert_eq!(
            told,
            [(Some('A'), "Una 200.", 3), (Some('B'), "Ndiyo ninazo?", 2)]
        );
        assert_eq!(transcript.text, "Una 200. Ndiyo ninazo?");
        assert!((transcript.segments[1].confidence - 0.8).abs() < 1e-6);
        assert_eq!(transcript.segments[1].start, 13.6);
    }

    #[test]
    fn two_numbers_in_a_row_belong_to_whoever_says_them() {
        let said = "ni elfu moja elfu mbili mia tano";
        let times = [10.2, 11.0, 11.8, 13.2, 13.6, 14.1, 14.6];
        let words = said.split(' ').zip(times);
        let mut transcript = Transcript {
            segments: vec![Segment {
                start: 10.2,
                end: 15.0,
                text: "Ni 1000 2500.".to_owned(),
                words: words.map(|(text, start)| word(text, start)).collect(),
                ..Segment::default()
            }],
            speech: conversation(),
            ..Transcript::default()
        };
        tell_speakers_apart(&mut transcript, &SpeakerConfig::default());
        assert_eq!(transcript.text, "Ni 1000. 2500.");
        assert_eq!(transcript.segments[1].words.len(), 4);
    }

    #[test]
    fn a_recording_in_which_nobody_was_found_has_one_speaker() {
        let mut transcript = Transcript {
            segments: vec![Segment {
                text: "Habari.".to_owned(),
                words: vec![word("habari", 0.0)],
                ..Segment::default()
            }],
            ..Transcript::default()
        };
        tell_speakers_apart(&mut transcript, &SpeakerConfig::default());
        assert_eq!(transcript.segments[0].speaker, Some('A'));
    }
}
