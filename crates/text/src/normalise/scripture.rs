//! Chapter and verse: "Yohana 3:16" is no time of the day.

use super::SpokenForm;
use super::context::TokenContext;
use super::dotted_time::day_part_after;
use super::quantity::{dash_after, say_roman};
use super::relations::SCORE_WORDS;
use super::token::{Kind, Token};
use crate::cardinal::cardinal;
use crate::tables::{WordList, WordTable, rows};

/// Books by their Swahili names; those that are everyday words (Kutoka, Mwanzo, Hesabu) are left out.
static BOOKS: WordList = WordList::named("scripture");

static SHORT: WordTable =
    WordTable::new(|| rows(include_str!("../../data/scripture-short.tsv")).collect());

static QURAN: WordList = WordList::named("quran");

/// "Qur-an", "Al-Baqarah", "Surat Yusuf" and "Q" stand before.
fn follows_quran(context: &TokenContext<'_>, i: usize) -> bool {
    let before = context.before(i);
    let is_q = before.is_some_and(|j| context.token(j).text == "Q");
    let hyphened = before.is_some_and(|j| {
        let qur = j > 1 && context.is_word(j - 2, &["qur"]) && context.is_mark(j - 1, '-');
        qur && context.is_word(j, &["an"])
    });
    let surat = context.words_back(i).nth(1);
    let named = surat.is_some_and(|w| w.is_one_of(&["surat", "surah"]));
    context.follows(i, &QURAN) || is_q || hyphened || named
}

/// "Kutoka 20:3", "soma Mwanzo 1:26": books whose names are everyday words, where a time cannot be meant or the Bible is
/// named.
fn follows_everyday_book(context: &TokenContext<'_>, i: usize) -> bool {
    const READS: &[&str] = &["biblia", "kitabu", "soma", "tusome", "somo", "andiko"];
    let named = context
        .word_before(i)
        .is_some_and(|w| matches!(w.text, "Mwanzo" | "Kutoka" | "Hesabu"));
    let minutes = context
        .digits(i + 2)
        .is_some_and(|verse| verse.len() == 2 && verse < "60");
    let no_time = !minutes || value(context, i).is_some_and(|chapter| chapter > 24);
    let range = context.comes_next(i + 3, &["hadi", "mpaka"]);
    let scored = || context.words_back(i).any(|w| w.is_one_of(&SCORE_WORDS));
    let read = || {
        let mut before = context.words_back(i).skip(1).take(2);
        before.any(|w| w.is_one_of(READS))
    };
    named && (read() || no_time && !range && !scored())
}

/// "Sura ya 3:16".
fn follows_chapter(context: &TokenContext<'_>, i: usize) -> bool {
    context.follows(i, &["ya"]) && context.words_back(i).nth(1).is_some_and(|w| w.is("sura"))
}

pub(crate) fn read(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let before = context.word_before(i);
    let follows_book = || {
        before.is_some_and(|w| w.is_one_of(&BOOKS))
            || follows_quran(context, i)
            || follows_chapter(context, i)
            || follows_everyday_book(context, i)
            || goes_on(context, i)
    };
    if let Some(reading) = verse(context, i).filter(|_| follows_book()) {
        return Some(reading);
    }
    verse_first(context, i)
        .or_else(|| numbered(context, i))
        .or_else(|| short(context, i))
}

/// "Luka 1:26-38, 2:1-20": a further chapter of the same book.
fn goes_on(context: &TokenContext<'_>, i: usize) -> bool {
    const LIST_TOKENS_MAX: usize = 24;
    let in_list = |j: &usize| match context.kind(*j) {
        Some(Kind::Mark(mark)) => matches!(mark, ',' | ';' | ':' | '-' | '–' | '.'),
        kind => matches!(kind, Some(Kind::Digits | Kind::Space)),
    };
    let mark = context
        .before(i)
        .filter(|j| matches!(context.kind(*j), Some(Kind::Mark(',' | ';'))));
    let list = (0..i).rev().take(LIST_TOKENS_MAX);
    let start = list.take_while(in_list).last().filter(|_| mark.is_some());
    let book = start.and_then(|start| context.before(start));
    let first = start.map(|start| context.skip_space(start));
    let verses = first.is_some_and(|j| (j..j + 3).any(|j| context.is_mark(j, ':')));
    let named = |w: &Token<'_>| {
        let short = SHORT.get(w.text.to_ascii_lowercase().as_str()).is_some();
        w.is_capitalised() && (short || w.is_one_of(&BOOKS))
    };
    verses && book.is_some_and(|j| context.word(j).is_some_and(named))
}

pub(super) fn value(context: &TokenContext<'_>, i: usize) -> Option<u64> {
    context.value(i, 3)
}

/// "Aya ya 3:16" is the sixteenth verse.
fn verse_first(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let mut before = context.words_back(i);
    let joint = before.next().filter(|w| w.is_one_of(&["ya", "wa"]))?;
    before.next().filter(|w| w.is_one_of(&["aya", "mstari"]))?;
    let verse = value(context, i + 2).filter(|_| context.is_mark(i + 1, ':'))?;
    let (verse, chapter) = (say_roman(verse, true), say_roman(value(context, i)?, true));
    let said = format!("{verse} {} sura ya {chapter}", joint.text);
    SpokenForm::new(said, i + 3)
}

/// "3:16", "5:3-10".
fn verse(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let verse = value(context, i + 2).filter(|_| context.is_mark(i + 1, ':'))?;
    let sura = match follows_chapter(context, i) {
        true => "",
        false if context.follows(i, &["sura"]) => "ya ",
        false => "sura ya ",
    };
    let chapter = say_roman(value(context, i)?, true);
    let last = dash_after(context, i + 3).and_then(|at| Some((value(context, at)?, at + 1)));
    // "1:1 - 2:3".
    let last_verse = last
        .filter(|(_, end)| context.is_mark(*end, ':'))
        .and_then(|(_, end)| value(context, end + 1));
    let first = say_roman(verse, true);
    let (verses, end) = match (last, last_verse) {
        (Some((last, end)), Some(verse)) => {
            let (last, verse) = (say_roman(last, true), say_roman(verse, true));
            (
                format!("{first} hadi sura ya {last}, mstari wa {verse}"),
                end + 2,
            )
        }
        (Some((last, end)), None) => (format!("{first} hadi {}", cardinal(last)), end),
        (None, _) => (first, i + 3),
    };
    let line = match follows_quran(context, i) {
        true => "aya ya",
        false => "mstari wa",
    };
    SpokenForm::new(format!("{sura}{chapter}, {line} {verses}"), end)
}

/// The name of the book at `i`, and the number behind it.
fn book<'a>(context: &TokenContext<'a>, i: usize) -> Option<(&'a str, usize)> {
    let word = context.word(i).filter(|w| w.is_capitalised())?;
    let short = SHORT.get(word.text.to_ascii_lowercase().as_str()).copied();
    let name = short.or(word.is_one_of(&BOOKS).then_some(word.text))?;
    let dot = usize::from(context.is_mark(i + 1, '.') && short.is_some());
    Some((name, context.skip_space(i + 1 + dot)))
}

/// Books of which there are several, and whose name is nobody's.
const NUMBERED: &[&str] = &["Wakorintho", "Wathesalonike", "Wafalme", "Mambo ya Nyakati"];

/// "1 Kor 13:4", "1 Kor 13", "2 Timotheo 3:16".
fn numbered(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let number = value(context, i).filter(|n| (1..=3).contains(n))?;
    let (name, at) = book(context, context.skip_space(i + 1))?;
    let book = format!("{name} wa {}", say_roman(number, true));
    if let Some(verse) = verse(context, at) {
        return SpokenForm::new(format!("{book} {}", verse.text), verse.end);
    }
    // "1 Kor 13": the chapter alone, where no man of that name can be meant.
    let spaced = context.kind(i + 1) == Some(Kind::Space) && at > i + 3;
    let chapter = value(context, at).filter(|_| NUMBERED.contains(&name) && spaced)?;
    let said = format!("{book} sura ya {}", say_roman(chapter, true));
    SpokenForm::new(said, at + 1)
}

/// "Yoh 3:16", "Mt. 5:3-10", "Zab 23".
fn short(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let (name, at) = book(context, i)?;
    // "Isa 4:30 jioni" is a time.
    let is_time = |end: usize| {
        let half = context.comes_next(end, &["am", "pm", "asb"]);
        half || day_part_after(context, end).is_some()
    };
    let shortened = name != context.token(i).text;
    if let Some(verse) = verse(context, at).filter(|v| shortened && !is_time(v.end)) {
        return SpokenForm::new(format!("{name} {}", verse.text), verse.end);
    }
    let psalm = value(context, at).filter(|_| name == "Zaburi")?;
    let alone = !matches!(
        context.kind(at + 1),
        Some(Kind::Mark(':' | '-' | '/' | '%'))
    );
    alone.then(|| SpokenForm::new(format!("Zaburi ya {}", cardinal(psalm)), at + 1))?
}
