//! Subtitles: the words of a segment as cues of at most two short lines.

use crate::Segment;

const LINE_CHARS_MAX: usize = 42;
const LINES_MAX: usize = 2;
const CUE_SECONDS_MAX: f64 = 7.0;
/// A cue may end early where the speaker pauses this long or a sentence ends.
const BREAK_PAUSE_S: f64 = 0.6;
const CUE_SECONDS_MIN: f64 = 1.0;

/// One subtitle on the screen.
#[derive(Debug, Clone, PartialEq)]
pub struct Cue {
    pub start: f64,
    pub end: f64,
    /// One or two lines.
    pub text: String,
}

/// A written token with the time it is spoken in.
struct Token<'a> {
    text: &'a str,
    start: f64,
    end: f64,
}

/// The cues of a transcript, in order, none longer than 7 s or two lines of 42 characters. A single
/// word longer than a line stands alone.
pub fn cues(segments: &[Segment]) -> Vec<Cue> {
    let mut out: Vec<Cue> = Vec::new();
    for segment in segments {
        let tokens = timed_tokens(segment);
        let mut from = 0;
        while from < tokens.len() {
            let to = cue_end(&tokens, from);
            out.push(Cue {
                start: tokens[from].start,
                end: tokens[to - 1].end,
                text: broken_in_lines(&tokens[from..to]),
            });
            from = to;
        }
    }
    lengthen_short_ones(&mut out);
    out
}

/// The readable text's tokens, each with the time of the words it came from. Numbers written as
/// digits make fewer tokens than words: those share their time in proportion.
fn timed_tokens(segment: &Segment) -> Vec<Token<'_>> {
    let texts: Vec<&str> = segment.text.split_whitespace().collect();
    let words = &segment.words;
    if texts.len() == words.len() {
        let pairs = texts.into_iter().zip(words);
        return pairs
            .map(|(text, word)| Token {
                text,
                start: word.start,
                end: word.end,
            })
            .collect();
    }
    let letters: usize = texts.iter().map(|text| text.chars().count() + 1).sum();
    let scale = (segment.end - segment.start) / letters.max(1) as f64;
    let mut at = segment.start;
    texts
        .into_iter()
        .map(|text| {
            let start = at;
            at += (text.chars().count() + 1) as f64 * scale;
            Token {
                text,
                start,
                end: at,
            }
        })
        .collect()
}

/// Where the cue that begins at `from` had best end.
fn cue_end(tokens: &[Token<'_>], from: usize) -> usize {
    let mut to = from + 1;
    while to < tokens.len() && fits(&tokens[from..=to]) {
        let last = &tokens[to - 1];
        let pause = tokens[to].start - last.end;
        let long_enough = last.end - tokens[from].start >= CUE_SECONDS_MIN;
        let ends_sentence = last.text.ends_with(['.', '?', '!']);
        if long_enough && (ends_sentence || pause >= BREAK_PAUSE_S) {
            return to;
        }
        to += 1;
    }
    if to == tokens.len() {
        return to;
    }
    // Full: better to break after a comma in the second half than in the middle of a phrase.
    let half = from + (to - from).div_ceil(2);
    let comma = (half..to)
        .rev()
        .find(|&i| tokens[i - 1].text.ends_with([',', ';', ':']));
    comma.unwrap_or(to)
}

fn fits(tokens: &[Token<'_>]) -> bool {
    let seconds = tokens[tokens.len() - 1].end - tokens[0].start;
    seconds <= CUE_SECONDS_MAX && lines_needed(tokens) <= LINES_MAX
}

fn lines_needed(tokens: &[Token<'_>]) -> usize {
    let mut lines = 1;
    let mut width = 0;
    for token in tokens {
        let chars = token.text.chars().count();
        if width > 0 && width + 1 + chars > LINE_CHARS_MAX {
            lines += 1;
            width = 0;
        }
        width += chars + usize::from(width > 0);
    }
    lines
}

/// Two lines of about the same length read easier than a full one and a rest.
fn broken_in_lines(tokens: &[Token<'_>]) -> String {
    let join = |tokens: &[Token<'_>]| {
        let texts: Vec<&str> = tokens.iter().map(|token| token.text).collect();
        texts.join(" ")
    };
    let whole = join(tokens);
    if whole.chars().count() <= LINE_CHARS_MAX || tokens.len() == 1 {
        return whole;
    }
    let longer_line = |split: &usize| {
        let lines = [join(&tokens[..*split]), join(&tokens[*split..])];
        lines.iter().map(|line| line.chars().count()).max()
    };
    let split = (1..tokens.len()).min_by_key(longer_line).unwrap_or(1);
    format!("{}\n{}", join(&tokens[..split]), join(&tokens[split..]))
}

/// A cue of a single short word stays long enough to be read, as far as the next one allows.
fn lengthen_short_ones(cues: &mut [Cue]) {
    for i in 0..cues.len() {
        let wanted = cues[i].start + CUE_SECONDS_MIN;
        let limit = cues.get(i + 1).map_or(wanted, |next| next.start);
        cues[i].end = cues[i].end.max(wanted.min(limit));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Word;

    fn segment(text: &str, word_seconds: f64) -> Segment {
        let words: Vec<Word> = text
            .split(' ')
            .enumerate()
            .map(|(i, word)| Word {
                word: word.to_lowercase(),
                start: i as f64 * word_seconds,
                end: (i as f64 + 0.9) * word_seconds,
                confidence: 1.0,
            })
            .collect();
        Segment {
            start: 0.0,
            end: words.last().unwrap().end,
            text: text.to_owned(),
            words,
            confidence: 1.0,
        }
    }

    #[test]
    fn cues_stay_within_two_lines_and_seven_seconds() {
        let text = "watu wengi walifika mjini asubuhi na mapema, ".repeat(12);
        let segment = segment(text.trim_end(), 0.4);
        let cues = cues(std::slice::from_ref(&segment));
        for cue in &cues {
            assert!(cue.end - cue.start <= CUE_SECONDS_MAX + 1e-9);
            assert!(cue.text.lines().count() <= LINES_MAX);
            assert!(
                cue.text
                    .lines()
                    .all(|line| line.chars().count() <= LINE_CHARS_MAX)
            );
        }
        let all: Vec<String> = cues.iter().map(|cue| cue.text.replace('\n', " ")).collect();
        assert_eq!(all.join(" "), segment.text);
        assert!(
            cues.windows(2)
                .all(|pair| pair[0].end <= pair[1].start + 1e-9)
        );
    }

    #[test]
    fn a_cue_ends_with_its_sentence() {
        let cues = cues(&[segment(
            "Karibu sana nyumbani kwetu. Tunafurahi kukuona leo.",
            0.4,
        )]);
        assert_eq!(cues[0].text, "Karibu sana nyumbani kwetu.");
        assert_eq!(cues.len(), 2);
    }

    #[test]
    fn digits_share_the_time_of_their_words() {
        let mut segment = segment("mwaka elfu mbili na ishirini", 0.5);
        segment.text = "Mwaka 2020".to_owned();
        let cues = cues(&[segment]);
        assert_eq!(cues.len(), 1);
        assert_eq!(cues[0].text, "Mwaka 2020");
    }

    #[test]
    fn a_word_longer_than_a_line_stands_alone() {
        let long = "a".repeat(60);
        let cues = cues(&[segment(&format!("neno {long} neno"), 0.4)]);
        assert!(cues.iter().any(|cue| cue.text.contains(&long)));
        assert!(cues.iter().all(|cue| cue.text.lines().count() <= 2));
    }
}
