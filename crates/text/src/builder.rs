//! Puts a script together: words into clauses, clauses of a length that can be said in one breath.

use std::ops::Range;

use crate::english::{self, EnglishSaid};
use crate::flow::{Effect, TagEffect, TextFlow};
use crate::normalise::{Piece, PieceKind};
use crate::phonemes::{pronounce, unstressed};
use crate::rhythm::with_pauses;
use crate::tables::WordList;
use crate::{
    Clause, ClauseEnd, Lexicon, Prosody, Script, SpeechLanguage, SpokenWord, SsmlMark, TextError,
};

/// The longest clause, in phonemes and the spaces between words.
pub const CLAUSE_PHONEMES_MAX: usize = 200;
/// A word longer than this is said in parts.
const WORD_LETTERS_MAX: usize = 40;
/// Words without a vowel are spelled, which is long.
const SPELLED_LETTERS_MAX: usize = 8;
/// How many kinds of unspeakable characters an error names.
const UNSPEAKABLE_NAMED_MAX: usize = 20;
pub(crate) const BREAK_MS_MAX: u32 = 10_000;
/// What all breaks of one text may add up to: many short ones must not order hours of silence.
pub(crate) const BREAKS_MS_MAX: u32 = 600_000;

pub(crate) struct ScriptBuilder<'a> {
    lexicon: &'a Lexicon,
    flow: TextFlow,
    clauses: Vec<Clause>,
    words: Vec<SpokenWord>,
    unspeakable: Vec<char>,
    /// All breaks so far.
    breaks_ms: u32,
    /// The break that was too much, by its place in the caller's text.
    pub too_long_break: Option<usize>,
    /// With their places in the caller's text, where the words before are not yet counted.
    marks: Vec<(SsmlMark, Option<usize>)>,
    /// So many clauses stood before the last break that was moved to a comma or end.
    moved_break: Option<usize>,
    prosody: Prosody,
}

impl<'a> ScriptBuilder<'a> {
    pub(crate) fn new(lexicon: &'a Lexicon, language: SpeechLanguage) -> Self {
        Self {
            lexicon,
            flow: TextFlow::new(language),
            clauses: Vec::new(),
            words: Vec::new(),
            unspeakable: Vec::new(),
            breaks_ms: 0,
            too_long_break: None,
            marks: Vec::new(),
            moved_break: None,
            prosody: Prosody::default(),
        }
    }

    /// What comes next, to be read when the flow ends.
    pub(crate) fn flow(&mut self) -> &mut TextFlow {
        &mut self.flow
    }

    /// Reads the flow and ends its sentence.
    pub(crate) fn end_flow(&mut self) {
        self.read_flow("");
        self.flow.clear();
        self.end(ClauseEnd::Full);
    }

    /// Reads what has come of the flow; what stands ahead is said in another way.
    pub(crate) fn read_flow(&mut self, ahead: &str) {
        let pieces = self.flow.pieces(ahead, self.lexicon);
        let effects = self.flow.take_effects();
        let mut effects = effects.as_slice();
        for i in 0..pieces.len() {
            let own = &pieces[i].source;
            let (before, rest) = effects.split_at(effects.partition_point(|e| e.own <= own.start));
            let (inside, rest) = rest.split_at(rest.partition_point(|e| e.own < own.end));
            effects = rest;
            before.iter().for_each(|effect| self.follow(effect));
            self.piece(&pieces, i, inside);
        }
        effects.iter().for_each(|effect| self.follow(effect));
        self.flow.all_said();
    }

    fn follow(&mut self, effect: &TagEffect) {
        match &effect.what {
            Effect::Break { ms } => self.pause(*ms, effect.at),
            Effect::Mark { name } => self.mark(name, effect.at),
            Effect::Prosody { prosody, .. } => self.say_with(*prosody),
        }
    }

    /// A piece with what follow in the midst of it: it is said as the first tag inside it wants, and pauses stand at its
    /// commas and ends.
    fn piece(&mut self, pieces: &[Piece], i: usize, inside: &[TagEffect]) {
        let piece = &pieces[i];
        let opened = inside.iter().find_map(TagEffect::opened);
        opened
            .into_iter()
            .for_each(|prosody| self.say_with(prosody));
        let mut said = 0;
        let is_break = |effect: &TagEffect| matches!(effect.what, Effect::Break { .. });
        let mut breaks_left = inside.iter().filter(|effect| is_break(effect)).count();
        let mut moved_from = None;
        // Marks wait for the break they stand before.
        let mut waiting = Vec::new();
        for effect in inside {
            match &effect.what {
                Effect::Break { .. } | Effect::Mark { .. } if piece.kind == PieceKind::Space => {
                    self.follow(effect);
                }
                Effect::Break { ms } => {
                    let joint = joint(
                        &piece.text,
                        effect.own - piece.source.start,
                        piece.source.len(),
                    );
                    let joint = joint.max(said);
                    self.part(&piece.text[said..joint], pieces, i);
                    said = joint;
                    for name in waiting.drain(..) {
                        self.mark_here(name, true);
                    }
                    self.moved_pause(*ms, effect.at);
                    breaks_left -= 1;
                    moved_from = Some(effect.own);
                }
                Effect::Mark { name } => {
                    let between = moved_from.map(|from| &self.flow.as_str()[from..effect.own]);
                    if between.is_some_and(|text| text.trim().is_empty()) {
                        self.mark_here(name, false);
                    } else if breaks_left > 0 {
                        waiting.push(name);
                    } else {
                        self.mark(name, effect.at);
                    }
                }
                Effect::Prosody { .. } => {}
            }
        }
        self.part(&piece.text[said..], pieces, i);
        let last = inside.iter().rev().find_map(TagEffect::prosody);
        last.into_iter().for_each(|prosody| self.say_with(prosody));
    }

    /// A part of a piece, or the whole of it.
    fn part(&mut self, text: &str, pieces: &[Piece], i: usize) {
        let piece = &pieces[i];
        let source = self.flow.source(&piece.source);
        match piece.kind {
            _ if text.is_empty() => {}
            PieceKind::Word | PieceKind::English if self.lexicon.is_own(text) => {
                self.word_with_phonemes(text, pronounce(text, self.lexicon), source)
            }
            PieceKind::Word if is_prefix_of_english(&pieces[i..]) => {
                self.word_with_phonemes(text, unstressed(text), source)
            }
            PieceKind::Words | PieceKind::Word => self.spoken(text, source),
            PieceKind::English => self.spoken_english(text, source),
            PieceKind::Mark => self.marks(text, source, pieces, i),
            PieceKind::Space
                if ends_paragraph(piece, pieces.get(i + 1))
                    || text == "\n" && ends_row(self.flow.as_str(), piece.source.start) =>
            {
                self.end(ClauseEnd::Full)
            }
            PieceKind::Space => {}
        }
    }

    fn say_with(&mut self, prosody: Prosody) {
        self.end(ClauseEnd::None);
        self.prosody = prosody;
    }

    /// Words as they are said, all from one place; marks between them end clauses.
    pub(crate) fn spoken(&mut self, text: &str, source: Range<usize>) {
        self.words_of(text, source, Self::word);
    }

    /// The same in English.
    pub(crate) fn spoken_english(&mut self, text: &str, source: Range<usize>) {
        self.words_of(text, source, Self::english_word);
    }

    fn words_of(
        &mut self,
        text: &str,
        source: Range<usize>,
        say: fn(&mut Self, &str, Range<usize>),
    ) {
        let is_letter = |c: char| c.is_alphanumeric() || c == '\'';
        let text = with_pauses(text);
        let mut rest = text.as_ref();
        while let Some(c) = rest.chars().next() {
            let len = if is_letter(c) {
                rest.find(|c| !is_letter(c)).unwrap_or(rest.len())
            } else {
                c.len_utf8()
            };
            let (head, tail) = rest.split_at(len);
            if is_letter(c) {
                say(self, head, source.clone());
            } else if let Some(end) = clause_end(c) {
                self.end(end);
            }
            rest = tail;
        }
    }

    /// The word that was said last.
    pub(crate) fn last_word(&self) -> Option<&SpokenWord> {
        let before = self.clauses.last().and_then(|clause| clause.words.last());
        self.words.last().or(before)
    }

    /// The same where the sentence goes on.
    pub(crate) fn word_before(&self) -> &str {
        let before = self.clauses.last();
        let goes_on = !self.words.is_empty() || before.is_some_and(|c| c.end == ClauseEnd::None);
        let word = self.last_word().filter(|_| goes_on);
        word.map_or("", |word| &word.text)
    }

    /// A word whose phonemes are given.
    pub(crate) fn word_with_phonemes(
        &mut self,
        text: &str,
        phonemes: String,
        source: Range<usize>,
    ) {
        if !phonemes.is_empty() {
            self.words.push(SpokenWord {
                text: text.to_owned(),
                phonemes,
                source,
                english: None,
            });
        }
    }

    fn english_word(&mut self, word: &str, source: Range<usize>) {
        let word = word.trim_matches('\'');
        let said = match word.len() <= WORD_LETTERS_MAX && word.is_ascii() {
            true => english::pronounce(word, self.lexicon),
            false => None,
        };
        match said {
            Some(EnglishSaid { symbols, ipa }) => self.words.push(SpokenWord {
                text: word.to_owned(),
                phonemes: symbols,
                source,
                english: Some(ipa),
            }),
            None => self.word(word, source),
        }
    }

    fn word(&mut self, word: &str, source: Range<usize>) {
        let word = word.trim_matches('\'');
        for c in word.chars().filter(|c| !c.is_ascii()) {
            if !self.unspeakable.contains(&c) && self.unspeakable.len() < UNSPEAKABLE_NAMED_MAX {
                self.unspeakable.push(c);
            }
        }
        if word.is_empty() || !word.is_ascii() {
            return;
        }
        if word.len() <= SPELLED_LETTERS_MAX {
            return self.word_with_phonemes(word, pronounce(word, self.lexicon), source);
        }
        let has_vowel = |part: &str| part.contains(|c: char| "aeiouAEIOU".contains(c));
        let longest = if has_vowel(word) {
            WORD_LETTERS_MAX
        } else {
            SPELLED_LETTERS_MAX
        };
        for part in parts(word, longest) {
            let sizes = if has_vowel(part) {
                part.len()
            } else {
                SPELLED_LETTERS_MAX
            };
            for part in parts(part, sizes) {
                self.word_with_phonemes(part, pronounce(part, self.lexicon), source.clone());
            }
        }
    }

    fn marks(&mut self, text: &str, source: Range<usize>, pieces: &[Piece], i: usize) {
        // Marks that are said by name ("na" for "&") come as letters.
        if text.contains(char::is_alphanumeric) {
            return match text.starts_with(' ') {
                true => self.spoken_english(text, source),
                false => self.spoken(text, source),
            };
        }
        let text = text.trim();
        let dash = matches!(text, "-" | "–" | "—");
        let spaced = dash
            && pieces
                .get(i + 1)
                .is_none_or(|next| next.kind == PieceKind::Space);
        if (dash && spaced) || text == "–" {
            return self.end(ClauseEnd::Comma);
        }
        for c in text.chars() {
            if let Some(end) = clause_end(c) {
                self.end(end);
            }
        }
    }

    /// Ends the clause; a stronger mark right after a weaker one takes its place.
    fn end(&mut self, end: ClauseEnd) {
        let before = self.clauses.len();
        if !self.words.is_empty() {
            let words = std::mem::take(&mut self.words);
            let prosody = self.prosody;
            cut(words, &mut |words, last| {
                let end = if last { end } else { ClauseEnd::None };
                self.clauses.push(Clause {
                    words,
                    end,
                    break_after_ms: None,
                    prosody,
                });
            });
        } else if let Some(clause) = self.clauses.last_mut()
            && end > clause.end
            && (clause.break_after_ms.is_none() || self.moved_break == Some(before))
        {
            clause.end = end;
            self.keep_longer_pause();
        }
    }

    /// A moved break does not make the pause of the mark that it stands at shorter.
    fn keep_longer_pause(&mut self) {
        if self.moved_break == Some(self.clauses.len())
            && let Some(clause) = self.clauses.last_mut()
            && let Some(ms) = clause.break_after_ms
            && f64::from(ms) <= clause.end.pause_ms()
        {
            clause.break_after_ms = None;
            self.breaks_ms -= ms;
        }
    }

    /// The caller's mark, at a place of the caller's text.
    fn mark(&mut self, name: &str, at: usize) {
        let mark = SsmlMark {
            name: name.to_owned(),
            words_before: 0,
            before_break: false,
        };
        self.marks.push((mark, Some(at)));
    }

    /// The same behind what has been said so far.
    fn mark_here(&mut self, name: &str, before_break: bool) {
        let said = self.clauses.iter().map(|clause| clause.words.len());
        let mark = SsmlMark {
            name: name.to_owned(),
            words_before: said.sum::<usize>() + self.words.len(),
            before_break,
        };
        self.marks.push((mark, None));
    }

    /// A pause at a comma or end: a break at that very place goes before, a mark's own pause is kept if it is longer.
    fn moved_pause(&mut self, ms: u32, at: usize) {
        self.end(ClauseEnd::None);
        let had_break = self
            .clauses
            .last()
            .is_some_and(|clause| clause.break_after_ms.is_some());
        self.pause(ms, at);
        if !had_break {
            self.moved_break = Some(self.clauses.len());
            self.keep_longer_pause();
        }
    }

    /// A pause after what has been said so far. Before the first word there is nothing to pause after.
    fn pause(&mut self, ms: u32, at: usize) {
        self.end(ClauseEnd::None);
        let said = self.last_word().map(|word| word.source.start);
        let since = |at: Option<usize>| at.is_some_and(|at| said.is_none_or(|said| said < at));
        for (mark, _) in self.marks.iter_mut().rev().take_while(|(_, at)| since(*at)) {
            mark.before_break = true;
        }
        if let Some(clause) = self.clauses.last_mut() {
            let before_ms = clause.break_after_ms.unwrap_or(0);
            let after_ms = before_ms.saturating_add(ms).min(BREAK_MS_MAX);
            clause.break_after_ms = Some(after_ms);
            self.breaks_ms += after_ms - before_ms;
        }
        if self.breaks_ms > BREAKS_MS_MAX {
            self.too_long_break.get_or_insert(at);
        }
    }

    pub(crate) fn finish(mut self) -> Result<Script, TextError> {
        self.end_flow();
        if !self.unspeakable.is_empty() {
            return Err(TextError::UnspeakableCharacters(self.unspeakable));
        }
        if self.clauses.is_empty() {
            return Err(TextError::NothingSpeakable);
        }
        let words = self.clauses.iter().flat_map(|clause| &clause.words);
        let starts: Vec<usize> = words.map(|word| word.source.start).collect();
        let words_before = |at: usize| starts.partition_point(|start| *start < at);
        let placed = |(mark, at): (SsmlMark, Option<usize>)| SsmlMark {
            words_before: at.map_or(mark.words_before, words_before),
            ..mark
        };
        Ok(Script {
            marks: self.marks.into_iter().map(placed).collect(),
            clauses: self.clauses,
        })
    }
}

/// Where a pause stands in what is said: at the comma or end nearest to where it was written.
fn joint(said: &str, written: usize, written_len: usize) -> usize {
    let commas = said.match_indices(", ").map(|(at, _)| at + 1);
    let stray = |at: &usize| (at * written_len).abs_diff(written * said.len());
    let ends = [0, said.len()];
    commas.chain(ends).min_by_key(stray).unwrap_or(0)
}

/// "nime-save": the stress is the stem's.
fn is_prefix_of_english(pieces: &[Piece]) -> bool {
    match pieces {
        [prefix, hyphen, stem, ..] => {
            stem.kind == PieceKind::English
                && hyphen.text == "-"
                && english::is_prefix(&prefix.text.to_ascii_lowercase())
        }
        _ => false,
    }
}

fn clause_end(mark: char) -> Option<ClauseEnd> {
    Some(match mark {
        ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' => ClauseEnd::Comma,
        ':' => ClauseEnd::Colon,
        '.' => ClauseEnd::Full,
        '?' => ClauseEnd::Question,
        '!' => ClauseEnd::Exclamation,
        _ => return None,
    })
}

/// An empty line, or a line's end before a capital, ends a sentence even without its mark.
fn ends_paragraph(space: &Piece, next: Option<&Piece>) -> bool {
    match space.text.as_str() {
        "\n\n" => true,
        "\n" => next.is_some_and(|piece| piece.text.starts_with(|c: char| c.is_uppercase())),
        _ => false,
    }
}

/// A short line that begins with a bullet or, like the next, with a digit, or that ends with a digit, is a row of a list:
/// "- unga 200". Lines of prose that go on are longer.
fn ends_row(text: &str, line_end: usize) -> bool {
    const ROW_BYTES_MAX: usize = 40;
    static GOES_ON: WordList = WordList::named("line-goes-on");
    let is_bullet = |c: char| matches!(c, '-' | '*' | '+' | '•' | '–' | '·');
    let is_digit = |c: char| c.is_ascii_digit();
    let line = text[..line_end].rsplit('\n').next().unwrap_or_default();
    let (line, next) = (line.trim(), text[line_end..].trim_start());
    let numbered = line.starts_with(is_digit) && next.starts_with(is_digit);
    let is_row = line.starts_with(is_bullet) || numbered || line.ends_with(is_digit);
    let before_bullet = next
        .strip_prefix(is_bullet)
        .is_some_and(|next| next.starts_with(' '));
    let first = next.split(|c: char| !c.is_alphabetic()).next();
    let goes_on = first.is_some_and(|word| GOES_ON.contains(&word));
    before_bullet || is_row && !goes_on && line.len() < ROW_BYTES_MAX
}

/// Parts of at most `longest` letters, cut after a vowel where there is one. The word is ASCII.
fn parts(word: &str, longest: usize) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let limit = rest.len().min(longest.max(1));
        let at = if limit == rest.len() {
            limit
        } else {
            rest[..limit]
                .rfind(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U'])
                .map_or(limit, |at| at + 1)
        };
        let (head, tail) = rest.split_at(at);
        rest = tail;
        Some(head)
    })
}

/// How good it is to cut a long clause before a word: as many phonemes as the cut may stray from an even share.
fn opens_phrase(word: &str, next: Option<&SpokenWord>) -> i64 {
    static STRONG: WordList = WordList::named("opens-clause");
    static WEAK: WordList = WordList::named("opens-phrase");
    let reason = word.eq_ignore_ascii_case("kwa")
        && next.is_some_and(|next| {
            ["sababu", "hiyo", "ajili", "kuwa", "hivyo"].contains(&next.text.as_str())
        });
    if reason || STRONG.iter().any(|w| word.eq_ignore_ascii_case(w)) {
        90
    } else if WEAK.iter().any(|w| word.eq_ignore_ascii_case(w)) {
        30
    } else {
        0
    }
}

fn length(word: &SpokenWord) -> usize {
    word.phonemes.chars().count() + 1
}

/// Hands over the clause in parts that fit, the last marked as such.
fn cut(words: Vec<SpokenWord>, emit: &mut dyn FnMut(Vec<SpokenWord>, bool)) {
    let mut left: usize = words.iter().map(length).sum();
    let mut rest = words.into_iter();
    while left > CLAUSE_PHONEMES_MAX {
        let at = best_cut(rest.as_slice(), left);
        if at == 0 || at >= rest.len() {
            break;
        }
        let head: Vec<SpokenWord> = rest.by_ref().take(at).collect();
        left -= head.iter().map(length).sum::<usize>();
        emit(head, false);
    }
    emit(rest.collect(), true);
}

/// The word to cut before: near an even share of what is left, at the best conjunction there.
fn best_cut(words: &[SpokenWord], left: usize) -> usize {
    let shares = left.div_ceil(CLAUSE_PHONEMES_MAX);
    let share = left / shares;
    let (mut best, mut best_score) = (0, i64::MIN);
    let mut sum = 0;
    for (i, word) in words.iter().enumerate() {
        if i > 0 {
            let distance = (sum as i64 - share as i64).abs();
            let score = opens_phrase(&word.text, words.get(i + 1)) - distance;
            if score > best_score {
                (best, best_score) = (i, score);
            }
        }
        sum += length(word);
        if sum > CLAUSE_PHONEMES_MAX {
            break;
        }
    }
    best
}
