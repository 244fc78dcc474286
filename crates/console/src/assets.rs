//! Styles, scripts and pictures, embedded in the program; a debug build reads scripts from the folder.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rust_embed::RustEmbed;
use sha2::{Digest, Sha256};

use sauti_web::problem::{Code, Problem};

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
    hex::encode(&digest.finalize()[..6])
});

/// The styles stand in the page itself: a file of their own would hold up the first sight of it.
pub struct Style {
    pub css: String,
    /// What the page's policy names them by.
    pub source: String,
}

static STYLE: LazyLock<Style> = LazyLock::new(read_style);

fn read_style() -> Style {
    let file = Assets::get("console.css").map(|file| file.data.into_owned());
    let css = String::from_utf8(file.unwrap_or_default()).unwrap_or_default();
    let digest = Sha256::digest(css.as_bytes());
    let source = format!("'sha256-{}'", STANDARD.encode(digest));
    Style { css, source }
}

pub fn style() -> &'static Style {
    &STYLE
}

pub fn base() -> String {
    format!("/console/assets/{}", *VERSION)
}

pub async fn serve(Path((version, name)): Path<(String, String)>) -> Result<Response, Problem> {
    let file = Assets::get(&name).ok_or(Code::NotFound)?;
    let kind = match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
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
