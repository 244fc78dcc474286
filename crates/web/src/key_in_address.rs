//! Keys that stand in an address, where logs keep them.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

const KEY_STARTS: [&str; 2] = ["sauti_live_", "sauti_test_"];
/// Proxies and browsers may each have encoded once.
const DECODINGS_MAX: usize = 4;

pub(super) fn has_key(address: &str) -> bool {
    let mut text = Cow::from(address);
    for _ in 0..DECODINGS_MAX {
        let plain = text.to_ascii_lowercase();
        if KEY_STARTS.iter().any(|start| plain.contains(start)) {
            return true;
        }
        if !text.contains('%') {
            return false;
        }
        text = percent_decode_str(&text)
            .decode_utf8_lossy()
            .into_owned()
            .into();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_however_it_is_written() {
        for address in [
            "/v1/voices?key=sauti_live_01",
            "/v1/voices?key=s%61uti_live_01",
            "/v1/voices?key=sauti%5flive_01",
            "/v1/voices?key=SAUTI_TEST_01",
            "/v1/voices?key=s%2561uti_live_01",
            "/v1/keys/sauti_live_01",
            "/v1/keys/Sauti%5Ftest_01",
        ] {
            assert!(has_key(address), "{address}");
        }
        assert!(!has_key("/v1/voices?page=sauti"));
    }
}
