#![no_main]
use libfuzzer_sys::fuzz_target;
use sauti_text::{Lexicon, Script};

fuzz_target!(|text: &str| {
    if let Ok(script) = Script::from_ssml(text, &Lexicon::builtin()) {
        for clause in &script.clauses {
            assert!(!clause.words.is_empty());
            let prosody = clause.prosody;
            assert!(prosody.rate.is_finite() && prosody.rate > 0.0, "{prosody:?}");
            assert!(prosody.pitch_semitones.is_finite() && prosody.volume_db < 100.0, "{prosody:?}");
            for word in &clause.words {
                assert!(text.get(word.source.clone()).is_some(), "{:?} of {text:?}", word.source);
            }
        }
    }
});
