//! A transcript as the subtitle files that players read.

use std::fmt::Write;

use sauti_speech::Transcript;
use sauti_speech::recogniser::subtitles::cues;

pub fn srt(transcript: &Transcript) -> String {
    let mut out = String::new();
    for (i, cue) in cues(transcript).iter().enumerate() {
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

#[cfg(test)]
mod tests {
    use sauti_speech::{Segment, Word};

    use super::*;

    fn segment(start: f64, end: f64, text: &str) -> Segment {
        let texts: Vec<&str> = text.split_whitespace().collect();
        let step = (end - start) / texts.len() as f64;
        let word = |(n, text): (usize, &&str)| Word {
            word: text.to_lowercase(),
            start: start + step * n as f64,
            end: start + step * (n + 1) as f64,
            confidence: 0.5,
        };
        Segment {
            start,
            end,
            text: text.to_owned(),
            words: texts.iter().enumerate().map(word).collect(),
            confidence: 0.9,
        }
    }

    #[test]
    fn subtitles_have_their_exact_form() {
        let transcript = Transcript {
            text: String::new(),
            segments: vec![
                segment(0.0, 1.2344, "Habari yako."),
                segment(3661.5, 3662.0, "Nzuri\n\n<sana>."),
            ],
            seconds: 3662.25,
            no_speech: false,
            not_understood: false,
        };
        assert_eq!(
            srt(&transcript),
            "1\n00:00:00,000 --> 00:00:01,234\nHabari yako.\n\n2\n01:01:01,500 --> 01:01:02,250\nNzuri <sana>.\n\n"
        );
        assert_eq!(
            vtt(&transcript),
            "WEBVTT\n\n00:00:00.000 --> 00:00:01.234\nHabari yako.\n\n\
             01:01:01.500 --> 01:01:02.250\nNzuri &lt;sana&gt;.\n\n"
        );
    }
}
