#![no_main]
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus { sauti_fuzz::decode(data, |data| data.starts_with(&[0x1a, 0x45, 0xdf, 0xa3])) });
