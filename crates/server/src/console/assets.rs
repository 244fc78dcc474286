//! Styles and scripts, embedded in the program; a debug build reads them from the folder.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;
use sha2::{Digest, Sha256};

use crate::problem::{Code, Problem};

#[derive(RustEmbed)]
#[folder = "assets"]
struct Assets;

/// Follows from the contents, so that a browser may keep what it has for good.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut digest = Sha256::new();
    for name in Assets::iter() {
        if let Some(file) = Assets::get(&name) {
            digest.update(file.metadata.sha256_hash());
        }
    }
    digest
        .finalize()
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect()
});

pub fn base() -> String {
    format!("/console/assets/{}", *VERSION)
}

pub async fn serve(Path((version, name)): Path<(String, String)>) -> Result<Response, Problem> {
    let file = Assets::get(&name).ok_or(Code::NotFound)?;
    let kind = match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let keep = match !cfg!(debug_assertions) && version == *VERSION {
        true => "public, max-age=31536000, immutable",
        false => "no-cache",
    };
    Ok(([(CONTENT_TYPE, kind), (CACHE_CONTROL, keep)], file.data).into_response())
}
