//! A person who is signed in, for routes that no key may use.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum_extra::extract::CookieJar;
use sauti_store::{Account, Session};
use secrecy::SecretString;

use super::caller::{SESSION_COOKIE, require_csrf};
use crate::app::App;
use crate::problem::{Code, Problem};

/// The account behind a session cookie. A change also needs the page's token.
#[derive(Debug, Clone)]
pub struct SignedIn {
    pub account: Account,
    pub session: Session,
    pub token: SecretString,
}

impl FromRequestParts<App> for SignedIn {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<SignedIn, Problem> {
        let cookies = CookieJar::from_headers(&parts.headers);
        let token = cookies
            .get(SESSION_COOKIE)
            .ok_or(Code::SessionMissing)?
            .value();
        let found = app.store.session_by_token(token).await?;
        let (session, account) = found.ok_or(Code::SessionMissing)?;
        require_csrf(&parts.method, &parts.headers, token)?;
        Ok(SignedIn {
            account,
            session,
            token: SecretString::from(token),
        })
    }
}
