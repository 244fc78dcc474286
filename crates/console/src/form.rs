//! What a form brings, taken only from our own pages.

use std::collections::HashMap;

use axum::extract::{Form, FromRequest, FromRequestParts, Request};
use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};
use axum::response::{IntoResponse, Redirect, Response};
use axum_extra::extract::CookieJar;
use axum_extra::extract::cookie::Cookie;
use sauti_service::app::App;
use sauti_store::WorkspaceId;
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

use super::page::{self, Me, Turned};
use sauti_web::caller::WORKSPACE_COOKIE;
use sauti_web::context::Context;
use sauti_web::csrf::is_csrf_token;
use sauti_web::member::{SignedIn, signed_in};
use sauti_web::problem::{Code, Problem};

#[derive(Debug, Default)]
pub struct FormFields(HashMap<String, String>);

impl FormFields {
    /// Trimmed; empty when it is not there.
    pub fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", |value| value.trim())
    }

    /// As typed.
    pub fn secret(&self, name: &str) -> SecretString {
        SecretString::from(self.0.get(name).cloned().unwrap_or_default())
    }
}

async fn read(request: Request, app: &App) -> Result<FormFields, Problem> {
    let Form(pairs) = Form::<Vec<(String, String)>>::from_request(request, app)
        .await
        .map_err(|_| Code::MalformedRequest)?;
    Ok(FormFields(pairs.into_iter().collect()))
}

/// A form that anyone may send from anywhere: it must change nothing that matters.
#[derive(Debug)]
pub struct AnyForm(pub FormFields);

impl FromRequest<App> for AnyForm {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<AnyForm, Problem> {
        Ok(AnyForm(read(request, app).await?))
    }
}

/// A form of someone who is not signed in.
#[derive(Debug)]
pub struct OpenForm(pub FormFields);

impl FromRequest<App> for OpenForm {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<OpenForm, Problem> {
        let said = said_by_the_browser(app, request.headers());
        let visit = page::visit(request.headers());
        let fields = read(request, app).await?;
        // An old browser says nothing of where a form comes from; then the page's token has to.
        let by_token = || {
            let given = fields.text("visit").as_bytes();
            visit.is_some_and(|visit| bool::from(visit.as_bytes().ct_eq(given)))
        };
        match said.unwrap_or_else(by_token) {
            true => Ok(OpenForm(fields)),
            false => Err(Problem::new(Code::CsrfFailed)),
        }
    }
}

/// Whether the form comes from our own page, if the browser says: else another site could sign a
/// visitor in to an account of its choice.
fn said_by_the_browser(app: &App, headers: &HeaderMap) -> Option<bool> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    match (text("sec-fetch-site"), text(ORIGIN.as_str())) {
        (Some(site), _) => Some(site == "same-origin" || site == "none"),
        // Our referrer policy makes browsers send "null" with our own forms.
        (None, None | Some("null")) => None,
        (None, Some(origin)) => {
            let host = origin.split_once("://").map_or("", |(_, host)| host);
            Some(origin == app.config.public_url() || Some(host) == text(HOST.as_str()))
        }
    }
}

/// A form of someone who is signed in, with the token that only our pages know.
#[derive(Debug)]
pub struct PersonForm {
    pub person: SignedIn,
    pub fields: FormFields,
}

/// The same of someone at work in a workspace.
#[derive(Debug)]
pub struct MyForm {
    pub me: Me,
    pub fields: FormFields,
}

impl FromRequest<App> for PersonForm {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<PersonForm, Problem> {
        let (mut parts, body) = request.into_parts();
        let Ok(context) = Context::from_request_parts(&mut parts, app).await;
        let person = signed_in(&parts.headers, app).await?;
        let person = person.admitted(app, &context).await?;
        let fields = read(Request::from_parts(parts, body), app).await?;
        let given = fields.text("csrf").as_bytes();
        match is_csrf_token(person.token.expose_secret(), given) {
            true => Ok(PersonForm { person, fields }),
            false => Err(Problem::new(Code::CsrfFailed)),
        }
    }
}

impl FromRequest<App> for MyForm {
    type Rejection = Turned;

    async fn from_request(request: Request, app: &App) -> Result<MyForm, Turned> {
        let headers = request.headers().clone();
        let PersonForm { person, fields } = PersonForm::from_request(request, app).await?;
        let me = Me::of(app, person, &headers, fields.text("at")).await?;
        Ok(MyForm { me, fields })
    }
}

/// Where to go after a form; the page there tells what was done.
pub fn go(path: &str, done: &str) -> Response {
    Redirect::to(&format!("{path}?done={done}")).into_response()
}

/// The same, and the page there shows the workspace that the form was shown for.
pub fn go_at(me: &Me, path: &str, done: &str) -> Result<Response, Problem> {
    let cookie = CookieJar::new().add(workspace_cookie(&me.workspace.id)?);
    Ok((cookie, go(path, done)).into_response())
}

/// Which workspace one works in, for this browser.
pub fn workspace_cookie(workspace_id: &WorkspaceId) -> Result<Cookie<'static>, Problem> {
    let cookie = format!(
        "{WORKSPACE_COOKIE}={workspace_id}; Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000"
    );
    Cookie::parse(cookie).map_err(Problem::internal)
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
