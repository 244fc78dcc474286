//! What is refused before any route sees it.

use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_ENCODING, HOST};
use axum::http::{HeaderValue, Version};

use crate::key_in_address::has_key;
use crate::problem::{Code, Problem};

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
