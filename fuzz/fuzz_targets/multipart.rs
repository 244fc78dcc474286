#![no_main]
use std::path::Path;

use axum::body::Body;
use axum::extract::Request;
use libfuzzer_sys::fuzz_target;
use sauti_server::routes::transcription::{from_form, read_form};

const BYTES_MAX: u64 = 20_000;

// Everything up to the first line feed is the Content-Type, the rest the body.
fuzz_target!(|data: &[u8]| {
    let at = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (kind, body) = (&data[..at], data.get(at + 1..).unwrap_or_default());
    let Ok(request) = Request::builder().header("content-type", kind).body(Body::from(body.to_vec())) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let form = runtime.block_on(read_form(request, BYTES_MAX, Path::new("/nonexistent")));
    if let Ok(form) = form {
        assert!(form.file.bytes <= BYTES_MAX && form.file.bytes <= body.len() as u64);
        let _ = from_form(&form.fields);
    }
});
