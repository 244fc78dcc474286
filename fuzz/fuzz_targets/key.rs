#![no_main]
use libfuzzer_sys::fuzz_target;
use sauti_store::ApiKey;

fuzz_target!(|text: &str| {
    if let Ok(key) = ApiKey::parse(text) {
        assert_eq!(key.reveal(), text);
        assert!(!format!("{key:?}").contains(&text[text.len() - 20..]), "the secret is shown");
    }
});
