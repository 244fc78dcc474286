//! The sounds of English words: this alone says which symbols the voices are given for them.

use std::sync::LazyLock;

use crate::tables::rows;

/// The letters of a sound in the dictionary; its IPA, a tab, its symbols.
static SOUNDS: LazyLock<Vec<(&str, &str)>> =
    LazyLock::new(|| rows(include_str!("../../data/english-sounds.tsv")).collect());

pub(super) fn ipa(sounds: &str) -> String {
    mapped(sounds, |(ipa, _)| ipa)
}

pub(super) fn symbols(sounds: &str) -> String {
    mapped(sounds, |(_, symbols)| symbols)
}

fn mapped(sounds: &str, column: fn((&'static str, &'static str)) -> &'static str) -> String {
    let mut out = String::with_capacity(sounds.len() + 4);
    let mut rest = sounds;
    while let Some(first) = rest.chars().next() {
        let known = SOUNDS.iter().find(|(letters, _)| rest.starts_with(letters));
        let taken = known.map_or(first.len_utf8(), |(letters, _)| letters.len());
        out.push_str(
            known
                .and_then(|(_, said)| said.split_once('\t'))
                .map_or("", column),
        );
        rest = &rest[taken..];
    }
    out
}
