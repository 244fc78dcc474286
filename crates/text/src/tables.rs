//! The lists of `data`, one row a line; lines that begin with `#` are remarks.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{LazyLock, OnceLock};

static WORDS: &str = include_str!("../data/words.tsv");

/// What is written, and what the list says of it.
pub(crate) type WordTable = LazyLock<HashMap<&'static str, &'static str>>;

/// A list of `words.tsv`.
pub(crate) struct WordList {
    name: &'static str,
    words: OnceLock<Vec<&'static str>>,
}

impl WordList {
    pub(crate) const fn named(name: &'static str) -> Self {
        let words = OnceLock::new();
        Self { name, words }
    }
}

impl Deref for WordList {
    type Target = [&'static str];

    fn deref(&self) -> &Self::Target {
        self.words.get_or_init(|| {
            let own = rows(WORDS).filter(|(name, _)| *name == self.name);
            own.flat_map(|(_, words)| words.split(' ')).collect()
        })
    }
}

/// The first column of a list, and all that follows it.
pub(crate) fn rows(list: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once('\t'))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    fn names_asked_for(folder: &Path, names: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                names_asked_for(&path, names);
                continue;
            }
            let code = std::fs::read_to_string(path).unwrap();
            let asked = code.split("WordList::named(\"").skip(1);
            names.extend(asked.map(|rest| rest.split('"').next().unwrap().to_owned()));
        }
    }

    #[test]
    fn every_list_that_is_asked_for_is_there_and_every_list_is_asked_for() {
        let mut asked = BTreeSet::new();
        names_asked_for(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
            &mut asked,
        );
        let listed: BTreeSet<String> = rows(WORDS).map(|(name, _)| name.to_owned()).collect();
        assert_eq!(asked, listed);
    }
}
