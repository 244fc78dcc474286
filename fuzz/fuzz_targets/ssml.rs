#![no_main]
use libfuzzer_sys::fuzz_target;
use sauti_text::{Lexicon, Script};

fuzz_target!(|text: &str| {
    if let Ok(script) = Script::from_ssml(text, &Lexicon::builtin()) {
        for clause in &script.clauses {
            assert!(!clause.words.is_empty());
            assert!(clause.rate.is_finite() && clause.rate > 0.0, "rate {}", clause.rate);
            for word in &clause.words {
                assert!(text.get(word.source.clone()).is_some(), "{:?} of {text:?}", word.source);
            }
        }
    }
});
