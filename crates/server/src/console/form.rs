//! What a form brings, taken only from our own pages.

use std::collections::HashMap;

use axum::extract::{Form, FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};
use axum::response::{IntoResponse, Redirect, Response};
use secrecy::SecretString;
use subtle::ConstantTimeEq;

use super::page::Me;
use crate::app::App;
use crate::problem::{Code, Problem};

#[derive(Debug, Default)]
pub struct Fields(HashMap<String, String>);

impl Fields {
    /// Trimmed; empty when it is not there.
    pub fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", |value| value.trim())
    }

    /// As typed.
    pub fn secret(&self, name: &str) -> SecretString {
        SecretString::from(self.0.get(name).cloned().unwrap_or_default())
    }
}

async fn read(request: Request, app: &App) -> Result<Fields, Problem> {
    let Form(pairs) = Form::<Vec<(String, String)>>::from_request(request, app)
        .await
        .map_err(|_| Code::MalformedRequest)?;
    Ok(Fields(pairs.into_iter().collect()))
}

/// A form of someone who is not signed in.
#[derive(Debug)]
pub struct OpenForm(pub Fields);

impl FromRequest<App> for OpenForm {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<OpenForm, Problem> {
        require_same_site(app, request.headers())?;
        Ok(OpenForm(read(request, app).await?))
    }
}

/// Without a session there is no token to ask for, so the browser's own word has to do: else
/// another site could sign a visitor in to an account of its choice.
fn require_same_site(app: &App, headers: &HeaderMap) -> Result<(), Problem> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let ours = match (text("sec-fetch-site"), text(ORIGIN.as_str())) {
        (Some(site), _) => site == "same-origin" || site == "none",
        // Our referrer policy makes browsers send "null" with our own forms.
        (None, None | Some("null")) => true,
        (None, Some(origin)) => {
            let host = origin.split_once("://").map_or("", |(_, host)| host);
            origin == app.config.public_url() || Some(host) == text(HOST.as_str())
        }
    };
    match ours {
        true => Ok(()),
        false => Err(Problem::new(Code::CsrfFailed)),
    }
}

/// A form of someone who is signed in, with the token that only our pages know.
#[derive(Debug)]
pub struct MyForm {
    pub me: Me,
    pub fields: Fields,
}

impl FromRequest<App> for MyForm {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<MyForm, Problem> {
        use axum::extract::FromRequestParts;
        let (mut parts, body) = request.into_parts();
        let me = Me::from_request_parts(&mut parts, app).await?;
        let fields = read(Request::from_parts(parts, body), app).await?;
        let given = fields.text("csrf").as_bytes();
        match bool::from(me.csrf.as_bytes().ct_eq(given)) {
            true => Ok(MyForm { me, fields }),
            false => Err(Problem::new(Code::CsrfFailed)),
        }
    }
}

/// Where to go after a form; the page there tells what was done.
pub fn go(path: &str, done: &str) -> Response {
    Redirect::to(&format!("{path}?done={done}")).into_response()
}

/// Only a path of ours: a link must not send people elsewhere after they sign in.
pub fn own_path(wanted: &str) -> &str {
    let plain = wanted.bytes().all(|b| b.is_ascii_graphic() && b != b'\\');
    let ours =
        wanted == "/console" || wanted.starts_with("/console/") || wanted.starts_with("/console?");
    match plain && ours {
        true => wanted,
        false => "/console",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_to_another_site() {
        assert_eq!(own_path("/console/keys"), "/console/keys");
        assert_eq!(
            own_path("/console/invite?token=a"),
            "/console/invite?token=a"
        );
        for elsewhere in [
            "//evil.example",
            "https://evil.example",
            "/\\evil",
            "/consolex",
            "/console/\r\nX: y",
            "",
        ] {
            assert_eq!(own_path(elsewhere), "/console");
        }
    }
}
