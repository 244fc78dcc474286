use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use clap::Args;
use sauti_text::{Lexicon, Script, SpeechLanguage, SpokenWord, normalise_in};

/// Print how written text is spoken: numbers, money, dates, times, abbreviations
///
/// A line in, the spoken line out. Without TEXT, lines are read from standard input.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sauti normalise 'Bei ni KSh 1,250 tu.'
  sauti normalise --language auto 'Una ujumbe 2. You have 2 messages.'
  sauti normalise --english 'Nimetumia laptop ku-download assignment.'
  sauti normalise --phonemes < messages.txt > phonemes.txt
  sauti normalise < messages.txt > spoken.txt")]
pub(super) struct Normalise {
    /// sw: Swahili, English words in it said as English; en: English; auto: each sentence in its own
    #[arg(long, value_name = "LANGUAGE", default_value_t)]
    language: SpeechLanguage,
    /// Print the words with those taken for English in brackets: [laptop]
    #[arg(long, conflicts_with = "phonemes")]
    english: bool,
    /// Print the sounds instead of the words: English words in their own, in IPA, whatever a voice can say
    #[arg(long)]
    phonemes: bool,
    /// Texts to normalise, one line of output each
    #[arg(allow_hyphen_values = true)]
    text: Vec<String>,
}

impl Normalise {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let mut out = io::stdout().lock();
        for text in &self.text {
            writeln!(out, "{}", self.line(text))?;
        }
        if self.text.is_empty() {
            // Bytes, not lines of text: one wrong byte must not end the run.
            for line in io::stdin().lock().split(b'\n') {
                let line = line?;
                writeln!(out, "{}", self.line(&String::from_utf8_lossy(&line)))?;
            }
        }
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }

    /// A line that cannot be spoken comes out empty, so that lines stay beside each other.
    fn line(&self, text: &str) -> String {
        let text = text.trim_end_matches('\r');
        if !(self.english || self.phonemes) {
            return normalise_in(text, self.language).replace(['\n', '\r'], " ");
        }
        let Ok(script) = Script::from_text_in(text, &Lexicon::builtin(), self.language) else {
            return String::new();
        };
        let word = |word: &SpokenWord| match &word.english {
            _ if self.phonemes => word.sounds_ipa().to_owned(),
            Some(_) => format!("[{}]", word.text),
            None => word.text.clone(),
        };
        let clauses = script.clauses.iter().map(|clause| {
            let words: Vec<String> = clause.words.iter().map(word).collect();
            words.join(" ") + clause.end.mark()
        });
        clauses.collect::<Vec<_>>().join(" ")
    }
}
