//! A transcript as the subtitle files that players read.

use std::fmt::Write;

use sauti_speech::Transcript;
use sauti_speech::recogniser::subtitles::{cues, cues_beside};

/// Who speaks stands before the text, where the transcript says it.
pub fn srt(transcript: &Transcript, channel_names: &[String]) -> String {
    let mut out = String::new();
    let who = |speaker, channel| {
        name(speaker, channel, channel_names).map_or(String::new(), |name| name + ": ")
    };
    let cues = cues_beside(transcript, |segment| {
        who(segment.speaker, segment.channel).chars().count()
    });
    for (i, cue) in cues.iter().enumerate() {
        let (start, end) = (clock(cue.start, ','), clock(cue.end, ','));
        let who = who(cue.speaker, cue.channel);
        let text = cue.lines.join("\n");
        write!(out, "{}\n{start} --> {end}\n{who}{text}\n\n", i + 1).ok();
    }
    out
}

/// Who speaks is the cue's voice, where the transcript says it.
pub fn vtt(transcript: &Transcript, channel_names: &[String]) -> String {
    let mut out = String::from("WEBVTT\n\n");
    for cue in cues(transcript) {
        let (start, end) = (clock(cue.start, '.'), clock(cue.end, '.'));
        let who = name(cue.speaker, cue.channel, channel_names)
            .map_or(String::new(), |name| format!("<v {}>", escaped(&name)));
        let text = escaped(&cue.lines.join("\n"));
        write!(out, "{start} --> {end}\n{who}{text}\n\n").ok();
    }
    out
}

fn name(speaker: Option<char>, channel: Option<u32>, channel_names: &[String]) -> Option<String> {
    if let Some(speaker) = speaker {
        return Some(format!("Speaker {speaker}"));
    }
    let channel = channel?;
    let named = channel_names.get(channel as usize - 1);
    let named = named.filter(|name| !name.is_empty());
    Some(named.map_or_else(|| format!("Channel {channel}"), String::clone))
}

/// In WebVTT these three characters begin markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
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
            ..Word::default()
        };
        Segment {
            start,
            end,
            text: text.to_owned(),
            words: texts.iter().enumerate().map(word).collect(),
            confidence: 0.9,
            ..Segment::default()
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
            ..Transcript::default()
        };
        assert_eq!(
            srt(&transcript, &[]),
            "1\n00:00:00,000 --> 00:00:01,234\nHabari yako.\n\n2\n01:01:01,500 --> 01:01:02,250\nNzuri <sana>.\n\n"
        );
        assert_eq!(
            vtt(&transcript, &[]),
            "WEBVTT\n\n00:00:00.000 --> 00:00:01.234\nHabari yako.\n\n\
             01:01:01.500 --> 01:01:02.250\nNzuri &lt;sana&gt;.\n\n"
        );
    }

    #[test]
    fn the_sides_of_a_call_have_their_names() {
        let mut transcript = Transcript {
            segments: vec![
                segment(0.0, 2.0, "Habari yako."),
                segment(1.0, 3.0, "Nzuri sana."),
            ],
            seconds: 4.0,
            ..Transcript::default()
        };
        for (segment, channel) in transcript.segments.iter_mut().zip(1..) {
            segment.channel = Some(channel);
        }
        assert_eq!(
            srt(&transcript, &[]),
            "1\n00:00:00,000 --> 00:00:02,000\nChannel 1: Habari yako.\n\n\
             2\n00:00:01,000 --> 00:00:03,000\nChannel 2: Nzuri sana.\n\n"
        );
        transcript.segments[1].speaker = Some('B');
        assert!(srt(&transcript, &[]).ends_with("Speaker B: Nzuri sana.\n\n"));
        transcript.segments[1].speaker = None;
        assert!(vtt(&transcript, &[String::new()]).contains("<v Channel 1>"));
        let names = ["Wakala <1>".to_owned()];
        assert_eq!(
            vtt(&transcript, &names),
            "WEBVTT\n\n00:00:00.000 --> 00:00:02.000\n<v Wakala &lt;1&gt;>Habari yako.\n\n\
             00:00:01.000 --> 00:00:03.000\n<v Channel 2>Nzuri sana.\n\n"
        );
    }
    #[test]
    fn a_line_has_room_for_who_speaks() {
        let text = "Tunazungumza kuhusu bei ya mahindi mjini, na hali ya hewa ya wiki ijayo pwani.";
        let names = ["Wakala wa huduma".to_owned(), "jina ".repeat(20)];
        for (speaker, channel) in [
            (None, None),
            (Some('B'), None),
            (None, Some(1)),
            (None, Some(2)),
        ] {
            let mut transcript = Transcript {
                segments: vec![segment(0.0, 9.0, text)],
                seconds: 9.0,
                ..Transcript::default()
            };
            transcript.segments[0].speaker = speaker;
            transcript.segments[0].channel = channel;
            let written = srt(&transcript, &names);
            let cues = written.trim().split("\n\n").map(|cue| cue.lines().skip(2));
            for lines in cues.map(Iterator::collect::<Vec<_>>) {
                let fits = |line: &&str| line.chars().count() <= 42 || line.starts_with("jina");
                assert!(lines.len() <= 2 && lines.iter().all(fits), "{lines:?}");
            }
        }
    }
}
