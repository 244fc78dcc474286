//! What a voice says: clauses of words with their phonemes.

use std::ops::Range;

use crate::builder::ScriptBuilder;
use crate::{CHARACTERS_MAX, Lexicon, Prosody, SpeechLanguage, TextError, ssml};

/// The mark that closes a clause; it decides melody and pause. Later ones are stronger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClauseEnd {
    /// The clause was cut for its length, or by a break: speech goes on.
    None,
    Comma,
    Colon,
    Full,
    Exclamation,
    Question,
}

impl ClauseEnd {
    /// The mark as it is written.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Comma => ",",
            Self::Colon => ":",
            Self::Full => ".",
            Self::Question => "?",
            Self::Exclamation => "!",
            Self::None => "",
        }
    }

    /// About how long the voices pause for it.
    pub(crate) fn pause_ms(self) -> f64 {
        match self {
            Self::Full | Self::Question | Self::Exclamation => SENTENCE_PAUSE_MS,
            Self::Comma | Self::Colon => CLAUSE_PAUSE_MS,
            Self::None => 0.0,
        }
    }
}

/// One word as it is spoken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpokenWord {
    pub text: String,
    /// IPA without spaces, the stress mark right before the stressed vowel.
    pub phonemes: String,
    /// The bytes of the caller's text this word was read from. Words of one number share their range.
    pub source: Range<usize>,
    /// What the word sounds like in East African English, in IPA, if it was taken for English. `phonemes` holds the
    /// nearest symbols that the voices know.
    pub english: Option<String>,
}

/// A stretch of speech between two pauses. It always has a word.
#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    pub words: Vec<SpokenWord>,
    pub end: ClauseEnd,
    /// A pause the caller asked for; `None` leaves it to the voice.
    pub break_after_ms: Option<u32>,
    pub prosody: Prosody,
}

/// A place that the caller's SSML names, to be told when it is reached. It changes nothing of the sound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SsmlMark {
    pub name: String,
    /// How many words of the script are said before it.
    pub words_before: usize,
    /// It is reached at the end of the word before it, not at the start of the next: a break lies between.
    pub before_break: bool,
}

/// A whole text, ready for a voice.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Script {
    pub clauses: Vec<Clause>,
    /// In the order in which they are reached.
    pub marks: Vec<SsmlMark>,
}

impl Script {
    /// Reads plain text as Swahili with English words in it. Markup and emoji are passed over; letters of other scripts
    /// are an error that names them.
    pub fn from_text(text: &str, lexicon: &Lexicon) -> Result<Self, TextError> {
        Self::from_text_in(text, lexicon, SpeechLanguage::Swahili)
    }

    /// Reads plain text in a language.
    pub fn from_text_in(
        text: &str,
        lexicon: &Lexicon,
        language: SpeechLanguage,
    ) -> Result<Self, TextError> {
        check_length(text)?;
        let mut builder = ScriptBuilder::new(lexicon, language);
        builder.flow().text(text, 0);
        builder.finish()
    }

    /// Reads the SSML subset: speak, p, s, break, mark, say-as, sub, prosody, emphasis, phoneme (ipa), lang.
    pub fn from_ssml(ssml: &str, lexicon: &Lexicon) -> Result<Self, TextError> {
        Self::from_ssml_in(ssml, lexicon, SpeechLanguage::Swahili)
    }

    /// Reads SSML in a language where it names none itself.
    pub fn from_ssml_in(
        ssml: &str,
        lexicon: &Lexicon,
        language: SpeechLanguage,
    ) -> Result<Self, TextError> {
        check_length(ssml)?;
        let mut builder = ScriptBuilder::new(lexicon, language);
        ssml::read(ssml, &mut builder)?;
        builder.finish()
    }

    /// The words that were taken for English, in the order in which they are said.
    pub fn english_words(&self) -> impl Iterator<Item = &SpokenWord> {
        let words = self.clauses.iter().flat_map(|clause| &clause.words);
        words.filter(|word| word.english.is_some())
    }

    /// The words as they are said, with the marks that end the clauses.
    pub fn spoken(&self) -> String {
        let mut out = String::new();
        for clause in &self.clauses {
            for word in &clause.words {
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(&word.text);
            }
            out.push_str(clause.end.mark());
        }
        out
    }

    /// Everything that can change the sound, in an encoding that stays the same from version to version: for hashes.
    pub fn identity(&self) -> String {
        let mut out = String::new();
        for clause in &self.clauses {
            for word in &clause.words {
                out.push_str(&word.text);
                out.push('\u{1f}');
                out.push_str(&word.phonemes);
                out.push('\u{1e}');
            }
            out.push_str(clause.end.mark());
            out.push('\u{1f}');
            if let Some(ms) = clause.break_after_ms {
                out.push_str(&ms.to_string());
            }
            out.push('\u{1f}');
            let prosody = clause.prosody;
            out.push_str(&prosody.rate.to_string());
            if (prosody.pitch_semitones, prosody.volume_db) != (0.0, 0.0) {
                let (pitch, volume) = (prosody.pitch_semitones, prosody.volume_db);
                out.push_str(&format!("\u{1f}{pitch}\u{1f}{volume}"));
            }
            out.push('\u{1d}');
        }
        out
    }

    /// The length of the spoken text in characters, each word counted as [`SpokenWord::characters`] does.
    pub fn characters(&self) -> usize {
        let clause_characters = |clause: &Clause| {
            let words = clause.words.iter().map(|w| w.characters() + 1);
            words.sum::<usize>() + clause.end.mark().len()
        };
        let all: usize = self.clauses.iter().map(clause_characters).sum();
        all.saturating_sub(1)
    }

    /// About how long the sound will be at this speed, pauses included. It needs no model, so that a text can be
    /// priced or refused before one runs; the voices stay within a third of it.
    pub fn seconds_estimate(&self, speed: f32) -> f64 {
        let clause_ms = |clause: &Clause| {
            let sounds = clause.words.iter().map(|w| w.sounds() + 1).sum::<usize>();
            let pace = f64::from((speed * clause.prosody.rate).max(PACE_MIN));
            let own_pause_ms = clause.end.pause_ms();
            let spoken_ms = sounds as f64 * SOUND_MS / pace;
            spoken_ms + clause.break_after_ms.map_or(own_pause_ms / pace, f64::from)
        };
        self.clauses.iter().map(clause_ms).sum::<f64>() / 1000.0
    }
}

/// What the voices need for one sound, or for the seam between two words, and what they pause: measured at speed 1.
const SOUND_MS: f64 = 72.0;
const SENTENCE_PAUSE_MS: f64 = 380.0;
const CLAUSE_PAUSE_MS: f64 = 180.0;
/// No voice goes slower than this, whatever is asked.
const PACE_MIN: f32 = 0.33;

impl SpokenWord {
    /// Its letters, and at least half the sounds it is said with: a pronunciation of one's own can make a long speech
    /// of one letter.
    pub fn characters(&self) -> usize {
        self.text.chars().count().max(self.sounds() / 2)
    }

    /// Its sounds as they are: English ones in their own IPA, Swahili ones as `phonemes` has them.
    pub fn sounds_ipa(&self) -> &str {
        self.english.as_deref().unwrap_or(&self.phonemes)
    }

    /// Phonemes without stress marks and the marks that only colour another symbol.
    fn sounds(&self) -> usize {
        let is_sound = |c: &char| !matches!(c, 'ˈ' | 'ᵐ' | 'ⁿ' | 'ᵑ' | '\u{329}');
        self.phonemes.chars().filter(is_sound).count()
    }
}

fn check_length(text: &str) -> Result<(), TextError> {
    if text.trim().is_empty() {
        return Err(TextError::Empty);
    }
    let characters = text.chars().count();
    if characters > CHARACTERS_MAX {
        return Err(TextError::TooLong {
            characters,
            characters_max: CHARACTERS_MAX,
        });
    }
    Ok(())
}
