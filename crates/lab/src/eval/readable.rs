//! Capitals and marks: how well they are put back into words that were heard without them.

use std::path::Path;

use anyhow::{Context, ensure};
use sauti_speech::recogniser::{HeardWord, ReadableModel, TextPlace};
use sauti_text::compare::{self, Step};
use sauti_text::written;
use serde::Serialize;

/// Pauses that a reader might make, where the words are not from a recording.
const SENTENCE_PAUSE_MS: u32 = 800;
const CLAUSE_PAUSE_MS: u32 = 400;
const NO_PAUSE_MS: u32 = 40;
/// Readers run over one comma in so many.
const COMMA_RUN_OVER_EVERY: usize = 4;

/// How often something was put where it belongs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Tally {
    pub right: usize,
    pub missed: usize,
    pub invented: usize,
}

impl Tally {
    fn add(&mut self, wanted: bool, got: bool) {
        self.right += usize::from(wanted && got);
        self.missed += usize::from(wanted && !got);
        self.invented += usize::from(!wanted && got);
    }

    /// Of those written, so many were found.
    pub fn recall(&self) -> f64 {
        self.right as f64 / (self.right + self.missed).max(1) as f64
    }

    /// Of those put in, so many were right.
    pub fn precision(&self) -> f64 {
        self.right as f64 / (self.right + self.invented).max(1) as f64
    }

    pub fn f1(&self) -> f64 {
        2.0 * self.right as f64 / (2 * self.right + self.missed + self.invented).max(1) as f64
    }

    fn is_empty(&self) -> bool {
        self.right + self.missed + self.invented == 0
    }
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.right += other.right;
        self.missed += other.missed;
        self.invented += other.invented;
    }
}

/// Full stops (with exclamation marks), commas (with semicolons and colons), question marks; capitals at the start of
/// sentences and elsewhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Marks {
    pub words: usize,
    /// Words written with the case of their first letter right.
    pub case_right: usize,
    pub capitals: Tally,
    pub capitals_within: Tally,
    pub stops: Tally,
    pub commas: Tally,
    pub questions: Tally,
}

impl std::ops::AddAssign for Marks {
    fn add_assign(&mut self, other: Self) {
        self.words += other.words;
        self.case_right += other.case_right;
        self.capitals += other.capitals;
        self.capitals_within += other.capitals_within;
        self.stops += other.stops;
        self.commas += other.commas;
        self.questions += other.questions;
    }
}

impl Marks {
    fn add(&mut self, reference: &str, got: &str, opens: bool) {
        let (wanted, given) = (starts_large(reference), starts_large(got));
        self.words += 1;
        self.case_right += usize::from(wanted == given);
        self.capitals.add(wanted, given);
        if !opens {
            self.capitals_within.add(wanted, given);
        }
        let (mark, mark_got) = (mark_of(reference), mark_of(got));
        for (kind, tally) in [
            (ScoredMark::Stop, &mut self.stops),
            (ScoredMark::Comma, &mut self.commas),
            (ScoredMark::Question, &mut self.questions),
        ] {
            tally.add(mark == kind, mark_got == kind);
        }
    }

    /// What a transcript with the right words in it says to those of the reference. A reference without any
    /// mark tells nothing.
    pub fn of_transcript(reference: &str, transcript: &str) -> Self {
        let mut marks = Self::default();
        let reference: Vec<&str> = spoken(reference);
        let is_bare = |token: &&str| mark_of(token) == ScoredMark::None;
        if reference.iter().all(is_bare) {
            return marks;
        }
        let transcript: Vec<&str> = spoken(transcript);
        // Alignment looks at the words alone; their places lead back to the tokens.
        let words = |tokens: &[&str]| -> Vec<String> {
            let words = tokens.iter().map(|token| compare::comparable(token));
            words.collect()
        };
        let (mut at, mut at_got, mut opens) = (0, 0, true);
        for step in compare::align(&words(&reference), &words(&transcript)) {
            if let Step::Same(_) = step {
                marks.add(reference[at], transcript[at_got], opens);
            }
            let is_said = !matches!(step, Step::Inserted(_));
            if is_said {
                opens = ends_sentence(reference[at]);
            }
            at += usize::from(is_said);
            at_got += usize::from(!matches!(step, Step::Deleted(_)));
        }
        marks
    }

    pub fn text(&self) -> String {
        let percent = |share: f64| 100.0 * share;
        let mut text = format!(
            "case right in {:.1} % of {} words\n",
            percent(self.case_right as f64 / self.words.max(1) as f64),
            self.words
        );
        let rows = [
            ("capitals", self.capitals),
            ("capitals within", self.capitals_within),
            ("full stops", self.stops),
            ("commas", self.commas),
            ("question marks", self.questions),
        ];
        for (name, tally) in rows.into_iter().filter(|(_, tally)| !tally.is_empty()) {
            text += &format!(
                "  {name:16} F1 {:5.1}  found {:5.1} %  of those put in right {:5.1} %  ({} in the text)\n",
                percent(tally.f1()),
                percent(tally.recall()),
                percent(tally.precision()),
                tally.right + tally.missed
            );
        }
        text
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum ScoredMark {
    None,
    Stop,
    Comma,
    Question,
}

fn mark_of(token: &str) -> ScoredMark {
    let token = token.trim_end_matches(['"', '”', '\'', '’', ')']);
    match token.chars().next_back() {
        Some('.' | '!') => ScoredMark::Stop,
        Some('?') => ScoredMark::Question,
        Some(',' | ';' | ':') => ScoredMark::Comma,
        _ => ScoredMark::None,
    }
}

fn ends_sentence(token: &str) -> bool {
    matches!(mark_of(token), ScoredMark::Stop | ScoredMark::Question)
}

fn bare(token: &str) -> &str {
    token.trim_matches(|c: char| !c.is_alphanumeric())
}

fn starts_large(token: &str) -> bool {
    bare(token).chars().next().is_some_and(char::is_uppercase)
}

/// Tokens with a letter or a digit in them.
fn spoken(text: &str) -> Vec<&str> {
    let tokens = text.split_whitespace();
    tokens.filter(|token| !bare(token).is_empty()).collect()
}

#[derive(Debug, Default, Serialize)]
pub struct Report {
    pub lines: usize,
    /// Words alone, without a pause that would tell where a clause ends.
    pub without_pauses: Marks,
    /// With a pause at each mark, but not at every fourth comma.
    pub with_pauses: Marks,
    /// Words that came out as others. Marks and capitals must change none.
    pub words_changed: usize,
    /// Lines that read otherwise after their numbers were written in digits and spelled out again.
    pub lines_changed_by_digits: usize,
}

/// Takes lines that end a sentence; the capitals and marks of each are taken off and put back.
pub fn run(path: &Path, models_dir: &Path) -> anyhow::Result<Report> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let report = evaluate(&ReadableModel::open(models_dir)?, text.lines());
    ensure!(
        report.lines > 0,
        "{} has no line that ends with a full stop, a question mark or an exclamation mark",
        path.display()
    );
    Ok(report)
}

fn evaluate<'a>(model: &ReadableModel, lines: impl Iterator<Item = &'a str>) -> Report {
    let mut report = Report::default();
    for line in lines {
        let tokens = spoken(line);
        let Some(last) = tokens.last() else { continue };
        if !ends_sentence(last) {
            continue;
        }
        report.lines += 1;
        let words = tokens.iter().map(|token| bare(token).to_lowercase());
        let words: Vec<String> = words.collect();
        for pauses in [false, true] {
            let heard = words.iter().enumerate().map(|(i, text)| HeardWord {
                text,
                pause_after_ms: match pauses {
                    true => pause_ms(mark_of(tokens[i]), i),
                    false => NO_PAUSE_MS,
                },
            });
            let heard: Vec<HeardWord<'_>> = heard.collect();
            let mut marks = Marks::default();
            let mut opens = true;
            let written = model.written(&heard, TextPlace::WHOLE);
            for ((token, word), got) in tokens.iter().zip(&words).zip(written) {
                marks.add(token, &got, opens);
                opens = ends_sentence(token);
                report.words_changed += usize::from(bare(&got).to_lowercase() != *word);
            }
            match pauses {
                true => report.with_pauses += marks,
                false => report.without_pauses += marks,
            }
        }
        report.lines_changed_by_digits += usize::from(is_changed_by_digits(line));
    }
    report
}

fn pause_ms(mark: ScoredMark, i: usize) -> u32 {
    match mark {
        ScoredMark::Stop | ScoredMark::Question => SENTENCE_PAUSE_MS,
        ScoredMark::Comma if !i.is_multiple_of(COMMA_RUN_OVER_EVERY) => CLAUSE_PAUSE_MS,
        ScoredMark::Comma | ScoredMark::None => NO_PAUSE_MS,
    }
}

/// As the recogniser hears a line, in digits, and spelled out again.
fn is_changed_by_digits(line: &str) -> bool {
    let said = compare::comparable(line);
    let words: Vec<&str> = said.split(' ').collect();
    let written = written::digits(&words).into_iter();
    let written: Vec<String> = written.map(|token| token.text).collect();
    compare::comparable(&written.join(" ")) != said
}

impl Report {
    pub fn text(&self) -> String {
        format!(
            "{} lines; words changed: {}; lines that read otherwise with their numbers in digits: {}\n\
             without pauses: {}with pauses at the marks: {}",
            self.lines,
            self.words_changed,
            self.lines_changed_by_digits,
            self.without_pauses.text(),
            self.with_pauses.text()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_counted_with_and_without_pauses() {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
        let report = evaluate(
            &ReadableModel::open(&models).unwrap(),
            [
                "Jana Juma alifika mapema, akakaa. Je, unamjua?",
                "bila nukta",
                "Watoto wanacheza nje.",
            ]
            .into_iter(),
        );
        assert_eq!((report.lines, report.words_changed), (2, 0));
        assert_eq!(report.with_pauses.words, 10);
        assert_eq!(
            report.with_pauses.stops,
            Tally {
                right: 2,
                missed: 0,
                invented: 0
            }
        );
        assert_eq!(
            report.with_pauses.questions,
            Tally {
                right: 1,
                missed: 0,
                invented: 0
            }
        );
        assert!(report.with_pauses.case_right > report.without_pauses.case_right);
    }

    #[test]
    fn a_transcript_is_judged_by_the_words_it_has_right() {
        let marks = Marks::of_transcript(
            "Habari, rafiki yangu. Karibu Nairobi!",
            "Habari rafiki wangu. Karibu nairobi.",
        );
        assert_eq!(marks.words, 4);
        assert_eq!(
            marks.commas,
            Tally {
                right: 0,
                missed: 1,
                invented: 0
            }
        );
        assert_eq!(
            marks.stops,
            Tally {
                right: 1,
                missed: 0,
                invented: 0
            }
        );
        assert_eq!(
            marks.capitals,
            Tally {
                right: 2,
                missed: 1,
                invented: 0
            }
        );
        assert_eq!(
            marks.capitals_within,
            Tally {
                right: 0,
                missed: 1,
                invented: 0
            }
        );
        assert_eq!(Marks::of_transcript("habari yako", "Habari yako.").words, 0);
    }

    #[test]
    fn f1_is_between_precision_and_recall() {
        let tally = Tally {
            right: 6,
            missed: 2,
            invented: 4,
        };
        assert!((tally.recall() - 0.75).abs() < 1e-9 && (tally.precision() - 0.6).abs() < 1e-9);
        assert!((tally.f1() - 2.0 * 0.75 * 0.6 / 1.35).abs() < 1e-9);
        assert_eq!(Tally::default().f1(), 0.0);
    }
}
