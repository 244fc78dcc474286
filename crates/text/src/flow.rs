//! Text that is read as one, whatever tags stand in it: no tag keeps a rule from what stands around a word.

use std::ops::Range;

use crate::edges::{Edges, begins_with_figures, ends_with_figures};
use crate::normalise::{Piece, pieces_from};
use crate::{Lexicon, Prosody, SpeechLanguage};

/// How much of what was said still tells how the rest is read.
const SAID_BYTES_MAX: usize = 300;
/// Told ahead of figures in place of figures that are said in another way.
const WORD_FOR_FIGURES: &str = "tu";

pub(crate) struct TextFlow {
    text: String,
    /// What stands before was said already.
    said_to: usize,
    places: Vec<FlowPart>,
    /// Where each begins; the first at the start.
    languages: Vec<(usize, SpeechLanguage)>,
    effects: Vec<TagEffect>,
    /// Where the last tag that is no mark stands, if no word has come since.
    parted: Option<usize>,
    /// A break does.
    paused: bool,
    edges: Edges,
}

/// Where a part of the flow stands in the caller's text.
struct FlowPart {
    own: usize,
    callers: Range<usize>,
    /// Every byte of the part stands for the whole range.
    whole: bool,
}

/// What a tag wants at a place of the flow.
pub(crate) struct TagEffect {
    pub own: usize,
    /// In the caller's text.
    pub at: usize,
    pub what: Effect,
}

pub(crate) enum Effect {
    Break { ms: u32 },
    Mark { name: String },
    Prosody { prosody: Prosody, opens: bool },
}

impl TagEffect {
    /// How words are said from here on.
    pub(crate) fn prosody(&self) -> Option<Prosody> {
        match self.what {
            Effect::Prosody { prosody, .. } => Some(prosody),
            _ => None,
        }
    }

    /// The same where a tag opens.
    pub(crate) fn opened(&self) -> Option<Prosody> {
        let opens = matches!(self.what, Effect::Prosody { opens: true, .. });
        self.prosody().filter(|_| opens)
    }
}

impl TextFlow {
    pub(crate) fn new(language: SpeechLanguage) -> Self {
        Self {
            text: String::new(),
            said_to: 0,
            places: Vec::new(),
            languages: vec![(0, language)],
            effects: Vec::new(),
            parted: None,
            paused: false,
            edges: Edges::default(),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn text(&mut self, text: &str, at: usize) {
        self.push(text, at..at + text.len(), false);
    }

    /// Text that stands for what the caller has at a place.
    pub(crate) fn alias(&mut self, alias: &str, callers: Range<usize>) {
        self.edges.add(self.text.len());
        self.push(&escaped(alias), callers, true);
        self.edges.add(self.text.len());
        self.parted = Some(self.text.len());
    }

    /// Text that was said in another way.
    pub(crate) fn said(&mut self, text: &str, callers: Range<usize>) {
        self.push(&escaped(text), callers, true);
        self.said_to = self.text.len();
        self.edges.said(self.said_to);
        self.parted = Some(self.said_to);
    }

    /// The element that comes next is spelled: its figures are no amount.
    pub(crate) fn spells(&mut self, spells: bool) {
        self.edges.spells = spells;
    }

    /// No rule for numbers may reach from this text into what follows.
    pub(crate) fn figures_meet(&self, ahead: &str) -> bool {
        begins_with_figures(ahead) && ends_with_figures(&self.text)
    }

    /// A tag that is no mark: a line's end before it is but a space.
    pub(crate) fn tag(&mut self) {
        let at = self.text.len();
        if self.parted.replace(at) == Some(at) {
            return;
        }
        let words = self.text.trim_end().len();
        let blank = &self.text[words..];
        if blank.matches('\n').count() == 1 {
            let spaces = blank.replace(['\r', '\n'], " ");
            self.text.replace_range(words.., &spaces);
        }
    }

    pub(crate) fn language(&self) -> SpeechLanguage {
        self.languages
            .last()
            .map_or_else(SpeechLanguage::default, |(_, language)| *language)
    }

    pub(crate) fn speak(&mut self, language: SpeechLanguage) {
        if language != self.language() {
            self.languages.push((self.text.len(), language));
            self.edges.add(self.text.len());
        }
    }

    pub(crate) fn pause(&mut self, ms: u32, at: usize) {
        self.effect(at, Effect::Break { ms });
        self.paused = true;
    }

    pub(crate) fn mark(&mut self, name: &str, at: usize) {
        let name = name.to_owned();
        self.effect(at, Effect::Mark { name });
    }

    pub(crate) fn say(&mut self, prosody: Prosody, opens: bool, at: usize) {
        self.effect(at, Effect::Prosody { prosody, opens });
    }

    fn effect(&mut self, at: usize, what: Effect) {
        let own = self.text.len();
        self.effects.push(TagEffect { own, at, what });
    }

    /// Two words, or two numbers, with a tag between them do not melt into one.
    fn push(&mut self, text: &str, callers: Range<usize>, whole: bool) {
        let blank =
            self.text.ends_with(char::is_whitespace) || text.starts_with(char::is_whitespace);
        let blanks = match (self.parted, self.paused) {
            (_, true) if meet(&self.text, text) => blanks_between(&self.text, text) + 1,
            (_, true) => usize::from(!blank),
            (Some(_), _) => blanks_between(&self.text, text),
            (None, _) => 0,
        };
        if !text.trim_start().is_empty() {
            (self.parted, self.paused) = (None, false);
        }
        if blanks > 0 {
            self.place(callers.start..callers.start, true);
            self.text.extend(std::iter::repeat_n(' ', blanks));
        }
        self.place(callers, whole);
        self.text.push_str(text);
    }

    fn place(&mut self, callers: Range<usize>, whole: bool) {
        let own = self.text.len();
        self.places.push(FlowPart {
            own,
            callers,
            whole,
        });
    }

    /// Where bytes of the flow stand in the caller's text.
    pub(crate) fn source(&self, own: &Range<usize>) -> Range<usize> {
        let place = |at: usize| {
            let part = self.places.partition_point(|place| place.own <= at);
            let place = &self.places[part.saturating_sub(1)];
            let at = place.callers.start + at - place.own;
            if place.whole {
                place.callers.clone()
            } else {
                at..at + 1
            }
        };
        // The end by the last byte: what follows it may stand elsewhere.
        let last = own.end.saturating_sub(1).max(own.start);
        place(own.start).start..place(last).end
    }

    /// What has not been said yet; what stands ahead of it is said in another way.
    pub(crate) fn pieces(&self, ahead: &str, lexicon: &Lexicon) -> Vec<Piece> {
        let mut pieces = self.pieces_before(ahead, lexicon);
        let is_english = |at: usize| {
            let begun = self.languages.iter().rev().find(|(start, _)| *start <= at);
            begun.is_some_and(|(_, language)| *language == SpeechLanguage::English)
        };
        self.edges
            .read_dashes(&self.text, ahead, &mut pieces, is_english);
        pieces
    }

    fn pieces_before(&self, ahead: &str, lexicon: &Lexicon) -> Vec<Piece> {
        let read = |text: &str| pieces_from(self.said_to, text, &self.languages, lexicon);
        if !ahead.is_empty() {
            let end = self.text.len();
            let meet = self.figures_meet(ahead);
            let ahead = if meet { WORD_FOR_FIGURES } else { ahead };
            let blank = meet && !self.text.ends_with(char::is_whitespace);
            let joint = " ".repeat(usize::from(blank || melt(&self.text, ahead)));
            let ahead = escaped(ahead);
            let mut pieces = read(&format!("{}{joint}{ahead}", self.text));
            let apart = pieces
                .iter()
                .all(|p| p.source.end <= end || p.source.start >= end);
            if apart {
                pieces.retain(|piece| piece.source.end <= end);
                return pieces;
            }
        }
        read(&self.text)
    }

    pub(crate) fn take_effects(&mut self) -> Vec<TagEffect> {
        std::mem::take(&mut self.effects)
    }

    /// All of it is said; its end still tells how the rest is read.
    pub(crate) fn all_said(&mut self) {
        let cut = self.text.len().saturating_sub(SAID_BYTES_MAX);
        let mut starts = self.text.char_indices().map(|(at, _)| at);
        if let Some(at) = starts.find(|at| *at >= cut) {
            self.text.drain(..at);
        }
        self.said_to = self.text.len();
        self.edges.cut(self.said_to);
        self.places.clear();
        self.languages = vec![(0, self.language())];
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.language());
    }
}

/// What was unescaped already must not be taken for tags and entities.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// How many blanks a tag puts between two texts: over two of them no thousands are joined, over three no fraction.
fn blanks_between(before: &str, after: &str) -> usize {
    usize::from(meet(before, after)) + usize::from(melt(before, after))
}

/// Figures behind figures, with or without a blank between.
fn meet(before: &str, after: &str) -> bool {
    let is_figure = |c: char| c.is_ascii_digit();
    after.trim_start().starts_with(is_figure) && before.trim_end().ends_with(is_figure)
}

/// A word or figures right behind a word or figures.
fn melt(before: &str, after: &str) -> bool {
    let said = |c: char| c.is_alphabetic() || c.is_ascii_digit() || c == '\'';
    before.ends_with(said) && after.starts_with(said)
}
