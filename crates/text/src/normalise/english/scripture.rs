//! Chapter and verse in English: "Psalm 23:1-6", "1 Corinthians 13:4".

use super::number::{cardinal, ordinal};
use crate::normalise::context::TokenContext;
use crate::normalise::quantity::dash_after;
use crate::normalise::reading::SpokenForm;
use crate::normalise::scripture::value;
use crate::normalise::token::Kind;
use crate::tables::{WordList, WordTable, rows};

static BOOKS: WordList = WordList::named("english-scripture");

static SHORT: WordTable =
    WordTable::new(|| rows(include_str!("../../../data/english-scripture-short.tsv")).collect());

pub(super) fn read(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    verse(context, i)
        .or_else(|| numbered_book(context, i))
        .or_else(|| short(context, i))
}

/// What may be a time is left to the clock, which reads "John 3:16" as well.
fn verse(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let book = context.word_before(i).filter(|w| w.is_capitalised())?;
    let (chapter, verse) = (value(context, i)?, value(context, i + 2)?);
    let may_be_time = chapter < 24 && verse < 60 && context.digits(i + 2)?.len() == 2;
    let is_psalm = book.is_one_of(&["psalm", "psalms"]);
    if book.is_one_of(&["qur'an", "quran", "koran"]) {
        let verse = verse_said(context, i)?;
        return SpokenForm::new(format!("chapter {}", verse.text), verse.end);
    }
    if !book.is_one_of(&BOOKS) || may_be_time && !is_psalm {
        return None;
    }
    verse_said(context, i)
}

fn verse_said(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let (chapter, verse) = (value(context, i)?, value(context, i + 2)?);
    if !context.is_mark(i + 1, ':') {
        return None;
    }
    let last = dash_after(context, i + 3).and_then(|j| Some((value(context, j)?, j + 1)));
    let (chapter, first) = (cardinal(chapter), cardinal(verse));
    match last.filter(|(last, end)| *last > verse && !context.is_mark(*end, ':')) {
        Some((last, end)) => {
            let last = cardinal(last);
            SpokenForm::new(format!("{chapter}, verses {first} to {last}"), end)
        }
        None => SpokenForm::new(format!("{chapter}, verse {first}"), i + 3),
    }
}

static SEVERAL: WordList = WordList::named("english-numbered-books");

/// The number of "1 Corinthians 13", "2 Kings 5:1" and "1 Cor 13:4".
fn numbered_book(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let number = value(context, i).filter(|n| (1..=3).contains(n))?;
    let book = context.skip_space(i + 1);
    let named = context
        .word(book)
        .is_some_and(|w| SEVERAL.contains(&w.text));
    let chapter = value(context, context.skip_space(book + 1));
    // "1 Cor 13" has no verse.
    let written = context
        .word(book)
        .filter(|w| w.is_capitalised() && w.text != "Sam");
    let short_name = written.and_then(|w| SHORT.get(w.text.to_ascii_lowercase().as_str()));
    let verse = short(context, book);
    if let Some(name) = short_name.filter(|name| SEVERAL.contains(name))
        && verse.is_none()
        && book > i + 1
        && context.kind(book + 1) == Some(Kind::Space)
        && chapter.is_some()
    {
        return SpokenForm::new(format!("{} {name}", ordinal(number)), book + 1);
    }
    let told = named && chapter.is_some() || verse.is_some();
    (told && book > i + 1).then(|| SpokenForm::new(ordinal(number), i + 1))?
}

/// "Rev. 21:1-4", "Matt 5:3", and the book of "1 Cor 13:4".
fn short(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let word = context.word(i).filter(|w| w.is_capitalised())?;
    let name = SHORT.get(word.text.to_ascii_lowercase().as_str())?;
    let dot = usize::from(context.is_mark(i + 1, '.'));
    let verse = verse_said(context, context.skip_space(i + 1 + dot))?;
    let is_time = context.comes_next(verse.end, &["am", "pm", "a", "p"]);
    let numbered = context.follows_figures(i);
    // "Tim 3:15" without its number may be an hour.
    let sure = numbered || *name == "John" || !SEVERAL.contains(name);
    (sure && !is_time).then(|| SpokenForm::new(format!("{name} {}", verse.text), verse.end))?
}
