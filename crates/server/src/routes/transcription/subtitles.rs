//! Segments cut into subtitles that fit a screen: two lines at most, each line short enough to read at a glance.

use std::fmt::Write;

use sauti_speech::{Segment, Transcript};

/// What broadcasters hold to.
const LINE_CHARS_MAX: usize = 42;
const LINES_MAX: usize = 2;

struct Cue {
    start: f64,
    end: f64,
    lines: Vec<String>,
}

pub fn srt(transcript: &Transcript) -> String {
    let mut out = String::new();
    for (i, cue) in cues(transcript).enumerate() {
        let (start, end) = (clock(cue.start, ','), clock(cue.end, ','));
        let text = cue.lines.join("\n");
        write!(out, "{}\n{start} --> {end}\n{text}\n\n", i + 1).ok();
    }
    out
}

pub fn vtt(transcript: &Transcript) -> String {
    let mut out = String::from("WEBVTT\n\n");
    for cue in cues(transcript) {
        let (start, end) = (clock(cue.start, '.'), clock(cue.end, '.'));
        // In WebVTT these three characters begin markup.
        let text = cue
            .lines
            .join("\n")
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        write!(out, "{start} --> {end}\n{text}\n\n").ok();
    }
    out
}

fn clock(seconds: f64, point: char) -> String {
    let ms = (seconds.max(0.0) * 1_000.0).round() as u64;
    let (h, m, s) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
    format!("{h:02}:{m:02}:{s:02}{point}{:03}", ms % 1_000)
}

fn cues(transcript: &Transcript) -> impl Iterator<Item = Cue> + '_ {
    transcript.segments.iter().flat_map(cut)
}

/// A written word and when it is said.
struct Token<'a> {
    text: &'a str,
    start: f64,
    end: f64,
}

fn cut(segment: &Segment) -> Vec<Cue> {
    let tokens = timed(segment);
    let mut cues = Vec::new();
    let mut rest = tokens.as_slice();
    while !rest.is_empty() {
        let (now, later) = rest.split_at(length_of_cue(rest));
        cues.push(Cue {
            start: now[0].start,
            end: now[now.len() - 1].end,
            lines: lines(now, line_width(now)),
        });
        rest = later;
    }
    cues
}

/// Words as they are written do not always stand one to one with those that were heard: numbers
/// may be digits. Their times are then shared out by length.
fn timed(segment: &Segment) -> Vec<Token<'_>> {
    let written: Vec<&str> = segment.text.split_whitespace().collect();
    if written.len() == segment.words.len() {
        let pairs = written.iter().zip(&segment.words);
        return pairs
            .map(|(text, word)| Token {
                text,
                start: word.start,
                end: word.end,
            })
            .collect();
    }
    let letters: usize = written.iter().map(|text| text.chars().count()).sum();
    let at = |before: usize| {
        segment.start + (segment.end - segment.start) * before as f64 / letters.max(1) as f64
    };
    let mut before = 0;
    let token = |text| {
        let start = at(before);
        before += str::chars(text).count();
        Token {
            text,
            start,
            end: at(before),
        }
    };
    written.into_iter().map(token).collect()
}

/// How many words the next subtitle takes: all that fit, but where a sentence or a clause ends in
/// its second half, only up to there. What follows then starts as its speaker started it.
fn length_of_cue(tokens: &[Token<'_>]) -> usize {
    let fitting = (1..=tokens.len())
        .take_while(|&n| n == 1 || lines(&tokens[..n], LINE_CHARS_MAX).len() <= LINES_MAX)
        .last()
        .unwrap_or(1);
    if fitting == tokens.len() {
        return fitting;
    }
    let ends_with = |marks: &'static [char]| {
        let half = fitting / 2..fitting;
        half.rev().find(|&n| tokens[n].text.ends_with(marks))
    };
    let end = ends_with(&['.', '?', '!']).or_else(|| ends_with(&[',', ';', ':']));
    end.map_or(fitting, |n| n + 1)
}

/// The narrowest width that needs no more lines: two lines of like length read better than a full
/// one and a stub.
fn line_width(tokens: &[Token<'_>]) -> usize {
    let wanted = lines(tokens, LINE_CHARS_MAX).len();
    let narrowest = (1..=LINE_CHARS_MAX).find(|&width| {
        let lines = lines(tokens, width);
        let fits = |line: &String| line.chars().count() <= LINE_CHARS_MAX;
        lines.len() <= wanted && lines.iter().all(fits)
    });
    narrowest.unwrap_or(LINE_CHARS_MAX)
}

/// A word longer than a line has one for itself.
fn lines(tokens: &[Token<'_>], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for token in tokens {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + token.text.chars().count() <= width => {
                line.push(' ');
                line.push_str(token.text);
            }
            _ => lines.push(token.text.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use sauti_speech::Word;

    use super::*;

    const LONG: &str = "Habari za asubuhi na karibu katika kipindi chetu cha kilimo, leo tunazungumza kuhusu bei \
                        ya mahindi katika soko la mjini.";

    fn segment(start: f64, end: f64, text: &str, words: usize) -> Segment {
        let step = (end - start) / words.max(1) as f64;
        let word = |n: usize| Word {
            word: "neno".into(),
            start: start + step * n as f64,
            end: start + step * (n + 1) as f64,
            confidence: 0.5,
        };
        Segment {
            start,
            end,
            text: text.to_owned(),
            words: (0..words).map(word).collect(),
            confidence: 0.9,
        }
    }

    fn transcript(segments: Vec<Segment>) -> Transcript {
        Transcript {
            text: String::new(),
            segments,
            seconds: 3700.0,
            no_speech: false,
        }
    }

    #[test]
    fn subtitles_have_their_exact_form() {
        let transcript = transcript(vec![
            segment(0.0, 1.2344, "Habari yako.", 2),
            segment(3661.5, 3662.0, "Nzuri\n\n<sana>.", 2),
        ]);
        assert_eq!(
            srt(&transcript),
            "1\n00:00:00,000 --> 00:00:01,234\nHabari yako.\n\n2\n01:01:01,500 --> 01:01:02,000\nNzuri <sana>.\n\n"
        );
        assert_eq!(
            vtt(&transcript),
            "WEBVTT\n\n00:00:00.000 --> 00:00:01.234\nHabari yako.\n\n\
             01:01:01.500 --> 01:01:02.000\nNzuri &lt;sana&gt;.\n\n"
        );
    }

    #[test]
    fn a_long_segment_is_cut_where_a_clause_ends_and_at_the_time_of_its_words() {
        let count = LONG.split_whitespace().count();
        let cues: Vec<Cue> = cut(&segment(2.0, 2.0 + count as f64, LONG, count));
        let texts: Vec<String> = cues.iter().map(|cue| cue.lines.join("|")).collect();
        assert_eq!(
            texts,
            [
                "Habari za asubuhi na karibu|katika kipindi chetu cha kilimo,",
                "leo tunazungumza kuhusu bei ya|mahindi katika soko la mjini."
            ]
        );
        assert_eq!(
            (cues[0].start, cues[0].end, cues[1].start),
            (2.0, 12.0, 12.0)
        );
    }

    #[test]
    fn nothing_is_lost_and_every_line_fits_whatever_is_said() {
        let word = "x".repeat(60);
        for text in [
            LONG.repeat(7),
            word.clone(),
            format!("a {word} b"),
            "neno ".repeat(500),
        ] {
            // Times of the words are known for one word in two only, as with numbers in digits.
            for words in [text.split_whitespace().count(), 1] {
                let cues = cut(&segment(0.0, 60.0, &text, words));
                let said = cues
                    .iter()
                    .flat_map(|cue| &cue.lines)
                    .flat_map(|line| line.split(' '));
                assert!(said.eq(text.split_whitespace()));
                for cue in &cues {
                    let fits = |line: &String| {
                        line.chars().count() <= LINE_CHARS_MAX || !line.contains(' ')
                    };
                    assert!(
                        cue.lines.iter().all(fits) && cue.lines.len() <= LINES_MAX,
                        "{:?}",
                        cue.lines
                    );
                    assert!(cue.start < cue.end && cue.end <= 60.001);
                }
                assert!(cues.windows(2).all(|pair| pair[0].end <= pair[1].start));
            }
        }
    }

    #[test]
    fn an_empty_segment_has_no_subtitle() {
        assert!(cut(&segment(0.0, 1.0, " ", 0)).is_empty());
    }
}
