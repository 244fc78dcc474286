//! Chapter and verse: "Yohana 3:16" is no time of the day.

use super::SpokenForm;
use super::context::TokenContext;
use super::quantity::dash_after;
use crate::cardinal::cardinal;
use crate::tables::{WordList, words};

/// Books by their Swahili names; those that are everyday words (Kutoka, Mwanzo, Hesabu) are left out.
static BOOKS: WordList = WordList::new(|| words(include_str!("../../data/scripture.txt")));

pub(crate) fn read(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let value = |at: usize| {
        context
            .digits(at)
            .filter(|d| d.len() <= 3)?
            .parse::<u64>()
            .ok()
    };
    let (chapter, verse) = (
        value(i)?,
        value(i + 2).filter(|_| context.is_mark(i + 1, ':'))?,
    );
    let book = context.word_before(i).filter(|w| w.is_one_of(&BOOKS))?;
    let chapter = match book.is("sura") {
        true => format!("ya {}", cardinal(chapter)),
        false => format!("sura ya {}", cardinal(chapter)),
    };
    let last = dash_after(context, i + 3).and_then(|at| Some((value(at)?, at + 1)));
    let verses = match last {
        Some((last, _)) => format!("{} hadi {}", cardinal(verse), cardinal(last)),
        None => cardinal(verse),
    };
    let end = last.map_or(i + 3, |(_, end)| end);
    SpokenForm::new(format!("{chapter}, mstari wa {verses}"), end)
}
