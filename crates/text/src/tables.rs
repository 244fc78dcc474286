//! The lists of `data`, one row a line; lines that begin with `#` are remarks.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What is written, and what the list says of it.
pub(crate) type WordTable = LazyLock<HashMap<&'static str, &'static str>>;
pub(crate) type WordList = LazyLock<Vec<&'static str>>;

/// The first column of a list, and all that follows it.
pub(crate) fn rows(list: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    lines(list).filter_map(|line| line.split_once('\t'))
}

/// A list of words, with spaces and line ends between them.
pub(crate) fn words(list: &'static str) -> Vec<&'static str> {
    lines(list).flat_map(str::split_whitespace).collect()
}

fn lines(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.lines().filter(|line| !line.starts_with('#'))
}
