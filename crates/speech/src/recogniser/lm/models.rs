//! The language models of one file: Swahili's alone, or Swahili's and English's one behind the other.

use std::path::Path;

use super::Lm;
use super::reader::Bytes;
use crate::{SpeechError, SpokenLanguage};

const PAIR_MAGIC: &[u8; 8] = b"SAUTILM2";
/// The magic and the length of each model.
const PAIR_HEADER_LEN: usize = 24;

/// Clones share the file.
#[derive(Clone)]
pub struct LanguageModels {
    file: Bytes,
    swahili: Lm,
    english: Option<Lm>,
}

impl std::fmt::Debug for LanguageModels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LanguageModels")
            .field("swahili", &self.swahili)
            .field("english", &self.english)
            .finish()
    }
}

impl LanguageModels {
    pub fn open(path: &Path) -> Result<Self, SpeechError> {
        let failed = |error: String| SpeechError::Model(format!("{}: {error}", path.display()));
        let file = Bytes::map(path).map_err(|error| failed(error.to_string()))?;
        Self::new(file).ok_or_else(|| failed("not a language model of this version".to_owned()))
    }

    pub fn from_bytes(bytes: Vec<u8>) -> Option<Self> {
        Self::new(Bytes::owned(bytes))
    }

    fn new(file: Bytes) -> Option<Self> {
        if !file.get().starts_with(PAIR_MAGIC) {
            let swahili = Lm::new(file.clone())?;
            return Some(Self {
                file,
                swahili,
                english: None,
            });
        }
        let length = |at: usize| {
            let bytes = file.get().get(at..at + 8)?.try_into().ok()?;
            usize::try_from(u64::from_le_bytes(bytes)).ok()
        };
        let (swahili, english) = (length(8)?, length(16)?);
        let end = PAIR_HEADER_LEN.checked_add(swahili)?;
        let is_whole = end.checked_add(english)? == file.get().len();
        Some(Self {
            swahili: Lm::new(file.part(PAIR_HEADER_LEN, swahili)?)?,
            english: Some(Lm::new(file.part(end, english)?)?),
            file,
        })
        .filter(|_| is_whole)
    }

    /// The file of two packed models.
    pub fn pack_pair(swahili: &[u8], english: &[u8]) -> Vec<u8> {
        let mut out = PAIR_MAGIC.to_vec();
        out.extend((swahili.len() as u64).to_le_bytes());
        out.extend((english.len() as u64).to_le_bytes());
        out.extend_from_slice(swahili);
        out.extend_from_slice(english);
        out
    }

    pub fn bytes(&self) -> &[u8] {
        self.file.get()
    }

    pub fn swahili(&self) -> &Lm {
        &self.swahili
    }

    pub fn english(&self) -> Option<&Lm> {
        self.english.as_ref()
    }

    /// The models to listen with: of the language asked for, as far as there is one, else of all.
    pub(crate) fn of(&self, language: Option<SpokenLanguage>) -> Vec<(SpokenLanguage, &Lm)> {
        let swahili = (SpokenLanguage::Swahili, &self.swahili);
        let english = self
            .english
            .as_ref()
            .map(|lm| (SpokenLanguage::English, lm));
        match (language, english) {
            (Some(SpokenLanguage::English), Some(english)) => vec![english],
            (None, Some(english)) => vec![swahili, english],
            _ => vec![swahili],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::small_lm;
    use super::*;

    #[test]
    fn two_models_lie_in_one_file_and_the_language_chooses() {
        let small = small_lm();
        let file = LanguageModels::pack_pair(small.bytes(), small.bytes());
        let both = LanguageModels::from_bytes(file.clone()).unwrap();
        assert_eq!(both.english().unwrap().counts(), small.swahili().counts());
        let languages = |models: &LanguageModels, asked| {
            let of = models.of(asked).into_iter();
            of.map(|(language, _)| language).collect::<Vec<_>>()
        };
        let (sw, en) = (SpokenLanguage::Swahili, SpokenLanguage::English);
        assert_eq!(languages(&both, None), [sw, en]);
        assert_eq!(languages(&both, Some(en)), [en]);
        assert_eq!(languages(&both, Some(sw)), [sw]);
        assert_eq!(languages(&small, Some(en)), [sw]);
        for broken in [
            &file[..file.len() - 1],
            &file[..20],
            &[file.clone(), vec![0]].concat(),
        ] {
            assert!(LanguageModels::from_bytes(broken.to_vec()).is_none());
        }
    }
}
