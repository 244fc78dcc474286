#![no_main]
use libfuzzer_sys::fuzz_target;
use sauti_text::{CLAUSE_PHONEMES_MAX, Lexicon, Script, SpeechLanguage};

fuzz_target!(|text: &str| {
    let spoken = sauti_text::normalise(text);
    // What is spoken has no numerals left to be read.
    assert!(!spoken.contains(|c: char| c.is_ascii_digit()), "{text:?} became {spoken:?}");
    for language in SpeechLanguage::ALL {
        if let Ok(script) = Script::from_text_in(text, &Lexicon::builtin(), language) {
            sauti_fuzz_check(text, &script);
        }
    }
});

/// Every word points into the caller's text, and no clause is longer than a voice can take.
fn sauti_fuzz_check(text: &str, script: &Script) {
    for clause in &script.clauses {
        assert!(!clause.words.is_empty());
        let phonemes: usize = clause.words.iter().map(|word| word.phonemes.chars().count() + 1).sum();
        assert!(phonemes <= CLAUSE_PHONEMES_MAX + 1, "{phonemes} phonemes");
        for word in &clause.words {
            assert!(text.get(word.source.clone()).is_some(), "{:?} of {text:?}", word.source);
        }
    }
}
