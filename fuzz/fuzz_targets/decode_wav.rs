#![no_main]
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus { sauti_fuzz::decode(data, |data| data.starts_with(b"RIFF") || data.starts_with(b"RF64")) });
