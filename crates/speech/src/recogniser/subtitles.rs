//! Subtitles: the words of a transcript as cues that fit a screen and can be read in their time.

use sauti_text::written::Written;

use super::text::in_digits;
use crate::{Segment, Transcript, Word};

/// What broadcasters hold to.
const LINE_CHARS_MAX: usize = 42;
const LINES_MAX: usize = 2;
const CUE_SECONDS_MAX: f64 = 7.0;
const CUE_SECONDS_MIN: f64 = 1.0;
/// What is gone sooner is not seen.
const CUE_SECONDS_SEEN: f64 = 0.5;
/// A cue ends early where the speaker pauses this long.
const BREAK_PAUSE_S: f64 = 0.6;
/// What people read without haste.
const CHARS_PER_SECOND: f64 = 17.0;

/// One subtitle on the screen.
#[derive(Debug, Clone, PartialEq)]
pub struct Cue {
    pub start: f64,
    pub end: f64,
    /// One line or two.
    pub lines: Vec<String>,
    /// As the segment it is of.
    pub channel: Option<u32>,
    pub speaker: Option<char>,
}

/// A written token with the time it is spoken in.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TimedToken<'a> {
    pub(super) text: &'a str,
    pub(super) start: f64,
    end: f64,
}

/// The cues of a transcript, in order, where nothing stands before their text.
pub fn cues(transcript: &Transcript) -> Vec<Cue> {
    cues_beside(transcript, |_| 0)
}

/// The cues of a transcript, in order: none longer than 7 s or two lines of 42 characters, none
/// shorter than a second where the next one leaves it room. A single word longer than a line stands alone.
/// `chars_before` their first line may have, such as a name, counts with it.
pub fn cues_beside(transcript: &Transcript, chars_before: impl Fn(&Segment) -> usize) -> Vec<Cue> {
    let mut out: Vec<Cue> = Vec::new();
    for segment in &transcript.segments {
        let tokens = timed_tokens(segment);
        // A name as long as a line cannot leave room for the text.
        let indent = chars_before(segment).min(LINE_CHARS_MAX / 2);
        let mut rest = tokens.as_slice();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(cue_length(rest, indent));
            out.push(Cue {
                start: now[0].start,
                end: now[now.len() - 1].end,
                lines: broken_in_lines(now, indent),
                channel: segment.channel,
                speaker: segment.speaker,
            });
            rest = later;
        }
    }
    // Both sides of a call may speak at once.
    out.sort_by(|a, b| a.start.total_cmp(&b.start));
    give_time_to_read(&mut out, transcript.seconds);
    out
}

/// The readable text's tokens, each with the time of the words it was written from. Numbers in digits
/// make fewer tokens than there are words: between two tokens that stand for one word each, the others
/// have the time of the words that make these numbers, or share all of it by their length.
pub(super) fn timed_tokens(segment: &Segment) -> Vec<TimedToken<'_>> {
    let texts: Vec<&str> = segment.text.split_whitespace().collect();
    let words = &segment.words;
    if words.is_empty() {
        return shared_out(&texts, segment.start, segment.end);
    }
    let numbers = in_digits(words);
    let mut tokens = Vec::with_capacity(texts.len());
    let (mut text, mut word) = (0, 0);
    while text < texts.len() {
        let (texts_on, words_on) = next_match(&texts[text..], &words[word..]);
        let (own, run) = (&texts[text..text + texts_on], word..word + words_on);
        let before = tokens
            .last()
            .map_or(segment.start, |last: &TimedToken<'_>| last.end);
        let start = words[run.clone()].first().map_or(before, |w| w.start);
        let end = words[run.clone()].last().map_or(before, |w| w.end);
        let within =
            |number: &&Written| run.start <= number.words.start && number.words.end <= run.end;
        let in_run: Vec<&Written> = numbers.iter().filter(within).collect();
        match in_run.len() == own.len() {
            true => tokens.extend(own.iter().zip(in_run).map(|(text, number)| TimedToken {
                text,
                start: words[number.words.start].start,
                end: words[number.words.end - 1].end,
            })),
            false => tokens.extend(shared_out(own, start, end)),
        }
        text += texts_on;
        word += words_on;
        if let (Some(text_now), Some(word_now)) = (texts.get(text), words.get(word)) {
            tokens.push(TimedToken {
                text: text_now,
                start: word_now.start,
                end: word_now.end,
            });
            text += 1;
            word += 1;
        }
    }
    tokens
}

/// How many tokens and how many words come before the next pair of them that is the same; all that
/// are left where there is none. Of several such pairs, the one that passes over the fewest.
fn next_match(texts: &[&str], words: &[Word]) -> (usize, usize) {
    for passed in 0..texts.len() + words.len() {
        for text in 0..=passed.min(texts.len()) {
            let word = passed - text;
            if let (Some(text_there), Some(word_there)) = (texts.get(text), words.get(word))
                && is_same(text_there, &word_there.word)
                // A number takes its words with it; without one, nothing may be passed over.
                && (text == 0) == (word == 0)
            {
                return (text, word);
            }
        }
    }
    (texts.len(), words.len())
}

fn is_same(written: &str, said: &str) -> bool {
    let bare = written.trim_matches(|c: char| !c.is_alphanumeric());
    bare.to_lowercase()
        == said
            .trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase()
}

/// Tokens over a stretch of time, each by its length.
fn shared_out<'a>(texts: &[&'a str], start: f64, end: f64) -> Vec<TimedToken<'a>> {
    let letters: usize = texts.iter().map(|text| text.chars().count()).sum();
    let at = |before: usize| start + (end - start) * before as f64 / letters.max(1) as f64;
    let mut before = 0;
    let token = |text: &&'a str| {
        let begins = before;
        before += text.chars().count();
        TimedToken {
            text,
            start: at(begins),
            end: at(before),
        }
    };
    texts.iter().map(token).collect()
}

/// How many tokens the next cue takes: up to the end of a sentence or a pause; where none comes in time,
/// all that fit, but only up to a comma in their second half: what follows then starts as its speaker started it.
fn cue_length(tokens: &[TimedToken<'_>], indent: usize) -> usize {
    let mut length = 1;
    while length < tokens.len() && fits(&tokens[..=length], indent) {
        let last = &tokens[length - 1];
        let pause = tokens[length].start - last.end;
        // It may stay until the next one begins.
        let long_enough = tokens[length].start - tokens[0].start >= CUE_SECONDS_MIN;
        if long_enough && (pause >= BREAK_PAUSE_S || last.text.ends_with(['.', '?', '!'])) {
            return length;
        }
        length += 1;
    }
    if length == tokens.len() {
        return length;
    }
    let end = tokens[tokens.len() - 1].end;
    if end - tokens[length].start < CUE_SECONDS_MIN {
        // What is left would be gone at once: both halves can be read.
        let middle = (tokens[0].start + end) / 2.0;
        let off_middle = |n: &usize| (tokens[*n].start - middle).abs();
        let half = (1..=length).min_by(|a, b| off_middle(a).total_cmp(&off_middle(b)));
        return half.unwrap_or(length);
    }
    let second_half = length.div_ceil(2)..length;
    let clause = second_half
        .rev()
        .find(|&n| tokens[n - 1].text.ends_with(['.', '?', '!', ',', ';', ':']));
    clause.unwrap_or(length)
}

fn fits(tokens: &[TimedToken<'_>], indent: usize) -> bool {
    let seconds = tokens[tokens.len() - 1].end - tokens[0].start;
    seconds <= CUE_SECONDS_MAX && lines_needed(tokens, indent) <= LINES_MAX
}

/// `indent`: characters that stand before the first line.
fn lines_needed(tokens: &[TimedToken<'_>], indent: usize) -> usize {
    let mut lines = 1;
    let mut width = 0;
    let mut room = LINE_CHARS_MAX - indent;
    for token in tokens {
        let chars = token.text.chars().count();
        if width > 0 && width + 1 + chars > room {
            lines += 1;
            (width, room) = (0, LINE_CHARS_MAX);
        }
        width += chars + usize::from(width > 0);
    }
    lines
}

/// Two lines of about the same length read easier than a full one and a rest.
fn broken_in_lines(tokens: &[TimedToken<'_>], indent: usize) -> Vec<String> {
    let join = |tokens: &[TimedToken<'_>]| {
        let texts: Vec<&str> = tokens.iter().map(|token| token.text).collect();
        texts.join(" ")
    };
    if lines_needed(tokens, indent) == 1 {
        return vec![join(tokens)];
    }
    let longer_line = |split: &usize| {
        let lines = [join(&tokens[..*split]), join(&tokens[*split..])];
        let chars = lines.map(|line| line.chars().count());
        (chars[0] + indent).max(chars[1])
    };
    let split = (1..tokens.len()).min_by_key(longer_line).unwrap_or(1);
    vec![join(&tokens[..split]), join(&tokens[split..])]
}

/// A cue stays long enough to be read, as far as the next one or the recording's end allows.
fn give_time_to_read(cues: &mut [Cue], seconds: f64) {
    for i in 0..cues.len() {
        // Where somebody else begins at once, they wait; not where that would make them too short in their turn.
        let seen = cues[i].start + CUE_SECONDS_SEEN;
        let room = cues.get(i + 2).map_or(seconds, |after| after.start) - CUE_SECONDS_SEEN;
        if let [now, next, ..] = &mut cues[i..]
            && now.end < seen
        {
            next.start = next.start.max(seen.min(room).min(next.end));
        }
        let limit = cues.get(i + 1).map_or(seconds, |next| next.start);
        let chars: usize = cues[i].lines.iter().map(|line| line.chars().count()).sum();
        let reading = (chars as f64 / CHARS_PER_SECOND).clamp(CUE_SECONDS_MIN, CUE_SECONDS_MAX);
        let wanted = (cues[i].start + reading).min(limit);
        cues[i].end = cues[i].end.max(wanted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = "Habari za asubuhi na karibu katika kipindi chetu cha kilimo, leo tunazungumza kuhusu bei \
                        ya mahindi katika soko la mjini.";

    /// `said` word by word, each so long, and written as `text`.
    fn segment(text: &str, said: &str, word_seconds: f64) -> Segment {
        let word = |(i, word): (usize, &str)| Word {
            word: word.to_lowercase().trim_matches(['.', ',', '?']).to_owned(),
            start: i as f64 * word_seconds,
            end: (i as f64 + 0.9) * word_seconds,
            confidence: 1.0,
            ..Word::default()
        };
        let words: Vec<Word> = said.split_whitespace().enumerate().map(word).collect();
        Segment {
            start: 0.0,
            end: words.last().map_or(0.0, |word| word.end),
            text: text.to_owned(),
            words,
            confidence: 1.0,
            ..Segment::default()
        }
    }

    fn of(segments: Vec<Segment>) -> Transcript {
        Transcript {
            text: String::new(),
            segments,
            seconds: 3_700.0,
            ..Transcript::default()
        }
    }

    fn said(text: &str, word_seconds: f64) -> Transcript {
        of(vec![segment(text, text, word_seconds)])
    }

    fn joined(cues: &[Cue]) -> Vec<String> {
        cues.iter().map(|cue| cue.lines.join("|")).collect()
    }

    #[test]
    fn nothing_is_lost_and_every_cue_fits_whatever_is_said() {
        let word = "x".repeat(60);
        let texts = [
            LONG.repeat(7),
            "watu wengi walifika mjini asubuhi na mapema, ".repeat(12),
            word.clone(),
            format!("a {word} b"),
            "neno ".repeat(500),
        ];
        for text in texts {
            // Spoken word for word, and in words that the text does not have, as numbers are.
            for spoken in [text.clone(), "moja ".repeat(17)] {
                let transcript = of(vec![segment(&text, &spoken, 0.4)]);
                let end = transcript.segments[0].end;
                let cues = cues(&transcript);
                let kept = cues.iter().flat_map(|cue| &cue.lines);
                assert!(
                    kept.flat_map(|line| line.split(' '))
                        .eq(text.split_whitespace())
                );
                for cue in &cues {
                    let fits = |line: &String| {
                        line.chars().count() <= LINE_CHARS_MAX || !line.contains(' ')
                    };
                    let seconds = cue.end - cue.start;
                    assert!(
                        cue.lines.iter().all(fits) && cue.lines.len() <= LINES_MAX,
                        "{cue:?}"
                    );
                    assert!((0.0..=CUE_SECONDS_MAX + 1e-9).contains(&seconds), "{cue:?}");
                    assert!(cue.start <= end + 1e-9, "{cue:?}");
                }
                assert!(
                    cues.windows(2)
                        .all(|pair| pair[0].end <= pair[1].start + 1e-9)
                );
            }
        }
    }

    #[test]
    fn a_long_sentence_is_cut_where_a_clause_ends_and_at_the_time_of_its_words() {
        let cues = cues(&said(LONG, 0.5));
        assert_eq!(
            joined(&cues),
            [
                "Habari za asubuhi na karibu|katika kipindi chetu cha kilimo,",
                "leo tunazungumza kuhusu bei ya|mahindi katika soko la mjini."
            ]
        );
        assert_eq!((cues[0].start, cues[1].start), (0.0, 5.0));
        assert!((cues[0].end - 4.95).abs() < 1e-9);
    }

    #[test]
    fn no_last_word_is_left_over_for_an_instant() {
        let cues = cues(&said("neno ".repeat(17).trim(), 0.3));
        let words = cues.iter().map(|cue| cue.lines.join(" "));
        let words: Vec<usize> = words.map(|text| text.split(' ').count()).collect();
        assert!(words == [8, 9] || words == [9, 8], "{words:?}");
    }

    #[test]
    fn a_cue_ends_with_its_sentence_and_with_a_pause() {
        let cues_of = |text, pause_after: usize| {
            let mut transcript = said(text, 0.4);
            for word in &mut transcript.segments[0].words[pause_after..] {
                word.start += 2.0;
                word.end += 2.0;
            }
            joined(&cues(&transcript))
        };
        assert_eq!(
            cues_of("Karibu sana nyumbani kwetu. Tunafurahi kukuona leo.", 7),
            ["Karibu sana nyumbani kwetu.", "Tunafurahi kukuona leo."]
        );
        assert_eq!(
            cues_of("Subiri kidogo nitarudi", 2),
            ["Subiri kidogo", "nitarudi"]
        );
    }

    #[test]
    fn whoever_speaks_after_one_short_word_waits_until_it_was_seen() {
        let mut first = segment("Sawa.", "sawa", 0.3);
        first.speaker = Some('A');
        let mut second = segment("Habari za asubuhi.", "habari za asubuhi", 0.4);
        second.speaker = Some('B');
        for word in &mut second.words {
            (word.start, word.end) = (word.start + 0.3, word.end + 0.3);
        }
        let times = |segments: &[Segment]| -> Vec<(f64, f64)> {
            let transcript = Transcript {
                segments: segments.to_vec(),
                seconds: 9.0,
                ..Transcript::default()
            };
            let cues = cues(&transcript).into_iter();
            cues.map(|cue| (cue.start, cue.end)).collect()
        };
        let [seen, next] = times(&[first.clone(), second.clone()])[..] else {
            panic!("two cues")
        };
        assert_eq!((seen, next.0), ((0.0, 0.5), 0.5));
        // Who would be gone too soon in their turn does not wait.
        let third = segment("Ndiyo.", "ndiyo", 0.3);
        let third = Segment {
            words: vec![Word {
                start: 0.9,
                end: 1.2,
                ..third.words[0].clone()
            }],
            ..third
        };
        assert_eq!(times(&[first, second, third])[1].0, 0.4);
    }

    #[test]
    fn digits_take_the_time_of_their_own_words() {
        let transcript = of(vec![segment(
            "Mwaka 2020, watu 35 walifika.",
            "mwaka elfu mbili na ishirini watu thelathini na tano walifika",
            0.5,
        )]);
        let tokens = timed_tokens(&transcript.segments[0]);
        let times: Vec<(&str, f64, f64)> =
            tokens.iter().map(|t| (t.text, t.start, t.end)).collect();
        assert_eq!(
            times,
            [
                ("Mwaka", 0.0, 0.45),
                ("2020,", 0.5, 2.45),
                ("watu", 2.5, 2.95),
                ("35", 3.0, 4.45),
                ("walifika.", 4.5, 4.95)
            ]
        );
    }

    #[test]
    fn a_short_cue_stays_for_a_second_where_there_is_room() {
        let mut transcript = said("Ndiyo.", 0.3);
        assert_eq!(cues(&transcript)[0].end, 1.0);
        transcript.seconds = 0.5;
        assert_eq!(cues(&transcript)[0].end, 0.5);
        let mut next = segment("Hapana.", "hapana", 0.3);
        next.words[0].start += 0.6;
        next.words[0].end += 0.6;
        transcript.segments.push(next);
        transcript.seconds = 9.0;
        let ends: Vec<f64> = cues(&transcript).iter().map(|cue| cue.end).collect();
        assert_eq!(ends, [0.6, 1.6]);
    }

    #[test]
    fn a_cue_stays_until_it_is_read_and_a_word_before_a_pause_does_not_flash_by() {
        let fast = cues(&said(
            "Wanakijiji walikusanyika uwanjani kumsikiliza mwenyekiti",
            0.3,
        ));
        assert!((fast[0].end - 56.0 / 17.0).abs() < 0.1, "{fast:?}");
        let mut transcript = said("Ndiyo nitakuja kesho", 0.2);
        for word in &mut transcript.segments[0].words[1..] {
            word.start += 0.6;
            word.end += 0.6;
        }
        assert_eq!(joined(&cues(&transcript)), ["Ndiyo nitakuja kesho"]);
    }

    #[test]
    fn nothing_said_has_no_subtitle() {
        assert!(cues(&said(" ", 0.4)).is_empty());
        assert!(cues(&of(Vec::new())).is_empty());
    }
}
