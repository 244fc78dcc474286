//! What is refused before any route sees it.

use std::borrow::Cow;

use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_ENCODING, HOST};
use axum::http::{HeaderValue, Version};
use percent_encoding::percent_decode_str;

use crate::problem::{Code, Problem};

const KEY_STARTS: [&str; 2] = ["sauti_live_", "sauti_test_"];
/// Proxies and browsers may each have encoded once.
const DECODINGS_MAX: usize = 4;

pub fn refusal(request: &Request) -> Option<Problem> {
    let headers = request.headers();
    let count = |name| headers.get_all(name).iter().count();
    if request.version() == Version::HTTP_11 && count(HOST) != 1 {
        return Some(Code::HostMissing.into());
    }
    if count(AUTHORIZATION) > 1 {
        return Some(Code::AuthorizationRepeated.into());
    }
    // Refused even beside a good header: whoever sent it must learn that the key is in logs now.
    let address = request.uri().path_and_query();
    if address.is_some_and(|address| has_key(address.as_str())) {
        return Some(Code::KeyInUrl.into());
    }
    let is_packed = |coding: &HeaderValue| !coding.as_bytes().eq_ignore_ascii_case(b"identity");
    headers
        .get(CONTENT_ENCODING)
        .filter(|coding| is_packed(coding))
        .map(|_| {
            let english = "Send the body as it is, without Content-Encoding.";
            let swahili = "Tuma mwili wa ombi kama ulivyo, bila Content-Encoding.";
            Problem::detailed(Code::ContentTypeUnsupported, english).in_swahili(swahili)
        })
}

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
