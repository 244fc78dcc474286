//! A person who is signed in, for routes that no key may use.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum_extra::extract::CookieJar;
use axum_extra::extract::cookie::Cookie;
use sauti_service::accounts;
use sauti_service::app::App;
use sauti_service::ratelimit::Permit;
use sauti_store::{Account, IssuedSession, Session};
use secrecy::{ExposeSecret, SecretString};

use super::caller::{SESSION_COOKIE, admit, require_csrf};
use super::context::Context;
use super::csrf::masked_csrf_token;
use crate::problem::{Code, Problem};

/// The account behind a session cookie. A change also needs the page's token.
#[derive(Debug, Clone)]
pub struct SignedIn {
    pub account: Account,
    pub session: Session,
    pub token: SecretString,
    _permit: Option<Arc<Permit>>,
}

impl SignedIn {
    /// Counted as any request of theirs, by the account: whoever may sign up for nothing must not write without end.
    pub async fn admitted(mut self, app: &App, context: &Context) -> Result<SignedIn, Problem> {
        self._permit = Some(admit(app, &self.account.id, context).await?);
        Ok(self)
    }

    /// The token that a page sends back with every change.
    pub fn csrf(&self) -> String {
        masked_csrf_token(self.token.expose_secret())
    }
}

impl FromRequestParts<App> for SignedIn {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<SignedIn, Problem> {
        let me = signed_in(&parts.headers, app).await?;
        require_csrf(&parts.method, &parts.headers, me.token.expose_secret())?;
        let Ok(context) = Context::from_request_parts(parts, app).await;
        me.admitted(app, &context).await
    }
}

/// Whose session the cookie names. Pages that only show something ask no more than this.
pub async fn signed_in(headers: &HeaderMap, app: &App) -> Result<SignedIn, Problem> {
    let cookies = CookieJar::from_headers(headers);
    let cookie = cookies.get(SESSION_COOKIE).ok_or(Code::SessionMissing)?;
    let found = app.store.session_by_token(cookie.value()).await?;
    let (session, account) = found.ok_or(Code::SessionMissing)?;
    Ok(SignedIn {
        account,
        session,
        token: SecretString::from(cookie.value()),
        _permit: None,
    })
}

pub fn forget_session(cookies: CookieJar) -> CookieJar {
    cookies.remove(Cookie::build((SESSION_COOKIE, "")).path("/").build())
}

/// The cookie of a session: never readable by a script, never sent along by another site's forms.
pub fn session_cookie(app: &App, issued: &IssuedSession) -> Result<Cookie<'static>, Problem> {
    let secure = if app.config.public_url().starts_with("https://") {
        "; Secure"
    } else {
        ""
    };
    let cookie = format!(
        "{SESSION_COOKIE}={}; Path=/; HttpOnly; SameSite=Lax; Max-Age={}{secure}",
        issued.token.expose_secret(),
        accounts::SESSION_LIFETIME.as_secs(),
    );
    Cookie::parse(cookie).map_err(Problem::internal)
}
