//! How words that do not follow Swahili spelling are said: a built-in list, and a workspace's own words over it.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use thiserror::Error;

use crate::clean::clean;
use crate::phonemes::{self, without_accents};
use crate::tables::rows;

/// The most entries of a workspace's own list.
pub(crate) const ENTRIES_MAX: usize = 20_000;
/// The longest word or pronunciation of an entry, in characters.
pub(crate) const ENTRY_CHARACTERS_MAX: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LexiconError {
    #[error("line {line}: {message}")]
    Line { line: usize, message: String },
    #[error("not a pronunciation list: {0}")]
    Json(String),
    #[error("more than {ENTRIES_MAX} entries")]
    TooMany,
}

/// How one word is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LexiconEntry {
    /// Swahili spelling of the sound, one or more words; an acute accent on a vowel sets the stress ("kompyúta").
    Respelling(String),
    /// Phonemes, stress mark right before the stressed vowel.
    Ipa(String),
}

impl LexiconEntry {
    /// Text between slashes or brackets is IPA, all else a respelling.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let between =
            |open: char, close: char| text.strip_prefix(open).and_then(|t| t.strip_suffix(close));
        if let Some(ipa) = between('/', '/').or_else(|| between('[', ']')) {
            let phonemes = phonemes::from_ipa(ipa);
            return (!phonemes.is_empty()).then_some(Self::Ipa(phonemes));
        }
        let speakable = text.chars().any(|c| c.is_ascii_alphabetic());
        speakable.then(|| Self::Respelling(text.to_owned()))
    }
}

/// Word to pronunciation; looked up without regard to case.
#[derive(Debug, Clone, Default)]
pub struct Lexicon {
    own: HashMap<String, LexiconEntry>,
    base: Option<Arc<HashMap<String, LexiconEntry>>>,
}

impl Lexicon {
    /// A lexicon without any words.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The words we ship: English words, and names of places and people, as they are said in East Africa.
    pub fn builtin() -> Self {
        Self {
            own: HashMap::new(),
            base: Some(Arc::clone(&BUILTIN)),
        }
    }

    /// The same lexicon with further words, which win over what was there.
    pub fn with_entries<W: AsRef<str>>(
        mut self,
        entries: impl IntoIterator<Item = (W, LexiconEntry)>,
    ) -> Self {
        for (word, said) in entries {
            self.own.insert(key(word.as_ref()), said);
        }
        self
    }

    /// A list over the built-in one. JSON (`{"word": "respelling", ...}`) or lines of `word TAB respelling`;
    /// a pronunciation between slashes is IPA; lines that start with `#` are comments.
    pub fn parse(text: &str) -> Result<Self, LexiconError> {
        let trimmed = text.trim_start_matches('\u{feff}').trim_start();
        let entries = if trimmed.starts_with('{') {
            parse_json(trimmed)?
        } else {
            parse_lines(text)?
        };
        if entries.len() > ENTRIES_MAX {
            return Err(LexiconError::TooMany);
        }
        Ok(Self::builtin().with_entries(entries))
    }

    pub fn get(&self, word: &str) -> Option<&LexiconEntry> {
        let key = key(word);
        self.own
            .get(&key)
            .or_else(|| self.base.as_ref().and_then(|base| base.get(&key)))
    }

    /// Whether the word was added to the built-in ones.
    pub(crate) fn is_own(&self, word: &str) -> bool {
        !self.own.is_empty() && self.own.contains_key(&key(word))
    }

    pub fn len(&self) -> usize {
        self.own.len() + self.base.as_ref().map_or(0, |base| base.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn key(word: &str) -> String {
    word.trim().to_lowercase().replace('’', "'")
}

/// The rows of a list by their keys.
fn keyed(list: &'static str) -> impl Iterator<Item = (String, &'static str)> {
    rows(list).map(|(word, said)| (key(&clean(word).text), said))
}

static NAMES: LazyLock<HashMap<String, &str>> =
    LazyLock::new(|| keyed(include_str!("../data/names.tsv")).collect());

static BUILTIN: LazyLock<Arc<HashMap<String, LexiconEntry>>> = LazyLock::new(|| {
    let names = NAMES.iter().map(|(name, said)| (name.clone(), *said));
    let entries = keyed(include_str!("../data/pronunciations.tsv"))
        .chain(names)
        .filter_map(|(word, said)| Some((word, LexiconEntry::parse(said)?)));
    Arc::new(entries.collect())
});

/// Whether a word, perhaps with an English "'s", is a name of our list and written as one: with a capital.
pub(crate) fn is_name(word: &str) -> bool {
    let key = key(word);
    let name = key.strip_suffix("'s").unwrap_or(&key);
    word.starts_with(|c: char| c.is_ascii_uppercase()) && NAMES.contains_key(name)
}

/// "Thikani", "Wathika": the respelling of a listed name with a Swahili prefix or with the ending of places, where the
/// word has a capital.
pub(crate) fn inflected_name(word: &str) -> Option<String> {
    /// Shorter ones stand in other words too.
    const NAME_LETTERS_MIN: usize = 4;
    if !word.contains(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    let key = key(word);
    let name_in = |text: &str| {
        let name = NAMES.get(text).filter(|said| !said.starts_with('/'));
        name.filter(|_| text.len() >= NAME_LETTERS_MIN).copied()
    };
    ["", "wa", "m", "ki"].into_iter().find_map(|prefix| {
        let rest = key.strip_prefix(prefix)?;
        if let Some(said) = name_in(rest) {
            return Some(format!("{prefix}{said}"));
        }
        ["ni", "ini"].into_iter().find_map(|ending| {
            let name = rest.strip_suffix(ending)?;
            let after_vowel = name.ends_with(phonemes::is_vowel);
            let said = name_in(name).filter(|_| after_vowel == (ending == "ni"))?;
            // The ending moves the stress.
            Some(format!("{prefix}{}{ending}", without_accents(said)))
        })
    })
}

fn parse_lines(text: &str) -> Result<Vec<(String, LexiconEntry)>, LexiconError> {
    let mut entries = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.trim_start_matches('\u{feff}');
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let fail = |message: &str| LexiconError::Line {
            line: i + 1,
            message: message.to_owned(),
        };
        let (word, said) = line
            .split_once('\t')
            .ok_or_else(|| fail("word and pronunciation want a tab between them"))?;
        entries.push(entry(word, said).map_err(|message| fail(&message))?);
    }
    Ok(entries)
}

fn parse_json(text: &str) -> Result<Vec<(String, LexiconEntry)>, LexiconError> {
    let map: HashMap<String, String> =
        serde_json::from_str(text).map_err(|error| LexiconError::Json(error.to_string()))?;
    map.iter()
        .map(|(word, said)| entry(word, said).map_err(LexiconError::Json))
        .collect()
}

fn entry(word: &str, said: &str) -> Result<(String, LexiconEntry), String> {
    let word = word.trim();
    if word.is_empty() || word.chars().any(char::is_whitespace) {
        return Err(format!("'{word}' is not one word"));
    }
    if word.chars().count() > ENTRY_CHARACTERS_MAX || said.chars().count() > ENTRY_CHARACTERS_MAX {
        return Err(format!(
            "an entry is longer than {ENTRY_CHARACTERS_MAX} characters"
        ));
    }
    let said = LexiconEntry::parse(said)
        .ok_or_else(|| format!("'{word}' has a pronunciation that cannot be said"))?;
    Ok((word.to_owned(), said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_words_win_over_the_builtin_ones() {
        let lexicon = Lexicon::parse("# ours\nsystem\tmfumo\nAcme\t/ˈakme/\n").unwrap();
        assert_eq!(
            lexicon.get("SYSTEM"),
            Some(&LexiconEntry::Respelling("mfumo".into()))
        );
        assert_eq!(
            lexicon.get("acme"),
            Some(&LexiconEntry::Ipa("ˈakme".into()))
        );
    }

    #[test]
    fn json_lists_are_read_too() {
        let lexicon = Lexicon::parse(r#"{"Acme": "akimi"}"#).unwrap();
        assert_eq!(
            lexicon.get("acme"),
            Some(&LexiconEntry::Respelling("akimi".into()))
        );
    }

    #[test]
    fn a_wrong_line_is_named() {
        let error = Lexicon::parse("neno\tneno\nbila tab\n").unwrap_err();
        assert!(
            matches!(error, LexiconError::Line { line: 2, .. }),
            "{error}"
        );
        assert!(Lexicon::parse("neno\t123\n").is_err());
    }
}
