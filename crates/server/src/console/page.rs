//! Who looks at a page, in which language, and how a template becomes an answer.

use askama::Template;
use axum::extract::FromRequestParts;
use axum::http::header::{CONTENT_SECURITY_POLICY, HeaderName};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use axum_extra::extract::CookieJar;
use sauti_store::{Role, Session, Workspace};
use secrecy::SecretString;

use super::words::{self, Words};
use super::{assets, script_words, shown};
use crate::accounts::csrf_token;
use crate::app::App;
use crate::http::caller::{SESSION_COOKIE, WORKSPACE_COOKIE};
use crate::http::language::Language;
use crate::http::query::Query;
use crate::problem::{Code, Problem};

pub const LANGUAGE_COOKIE: &str = "sauti_language";

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    media-src 'self' blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const PERMISSIONS: &str = "microphone=(self), camera=(), geolocation=()";

/// What every page needs, whoever looks at it.
#[derive(Debug, Clone)]
pub struct Page {
    pub t: &'static Words,
    pub language: Language,
    /// Where the page lies, to come back to.
    pub path: String,
    /// Something that was just done, told once.
    pub notice: Option<&'static str>,
}

impl Page {
    pub fn of(parts_path: &str, query: Option<&str>, headers: &HeaderMap) -> Page {
        let language = language(headers);
        let t = words::of(language);
        let done = Query::parse(query).take("done");
        Page {
            t,
            language,
            path: parts_path.to_owned(),
            notice: done.and_then(|done| notice(t, &done)),
        }
    }

    pub fn lang(&self) -> &'static str {
        self.language.tag()
    }

    pub fn assets(&self) -> String {
        assets::base()
    }

    pub fn script_words(&self) -> String {
        script_words::json(self.language)
    }

    pub fn is_at(&self, path: &str) -> bool {
        self.path == path
    }
}

/// The language that was chosen here, else the browser's.
fn language(headers: &HeaderMap) -> Language {
    match CookieJar::from_headers(headers)
        .get(LANGUAGE_COOKIE)
        .map(|cookie| cookie.value())
    {
        Some("sw") => Language::Swahili,
        Some("en") => Language::English,
        _ => Language::of(headers),
    }
}

fn notice(t: &'static Words, done: &str) -> Option<&'static str> {
    Some(match done {
        "confirmed" => t.done_confirmed,
        "reset" => t.done_reset,
        "signed-out" => t.done_signed_out,
        "saved" => t.done_saved,
        "joined" => t.done_joined,
        "sent" => t.done_sent,
        "credited" => t.done_credited,
        "credited-before" => t.done_credited_before,
        "deleted" => t.done_deleted,
        "expired" => t.done_expired,
        _ => return None,
    })
}

impl FromRequestParts<App> for Page {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Page, Self::Rejection> {
        Ok(Page::of(
            parts.uri.path(),
            parts.uri.query(),
            &parts.headers,
        ))
    }
}

/// Someone who is signed in, at work in one workspace.
#[derive(Debug, Clone)]
pub struct Me {
    pub account: sauti_store::Account,
    pub session: Session,
    pub token: SecretString,
    pub csrf: String,
    pub workspace: Workspace,
    pub role: Role,
    pub workspaces: Vec<(Workspace, Role)>,
    pub available_micro: i64,
    pub reserved_micro: i64,
}

impl Me {
    pub fn is_admin(&self) -> bool {
        self.role >= Role::Admin
    }

    pub fn balance(&self) -> String {
        shown::money(self.available_micro, &self.workspace.currency)
    }

    pub fn is_broke(&self) -> bool {
        self.available_micro <= 0
    }
}

impl FromRequestParts<App> for Me {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Me, Problem> {
        let cookies = CookieJar::from_headers(&parts.headers);
        let token = cookies
            .get(SESSION_COOKIE)
            .ok_or(Code::SessionMissing)?
            .value()
            .to_owned();
        let found = app.store.session_by_token(&token).await?;
        let (session, account) = found.ok_or(Code::SessionMissing)?;
        let workspaces = app.store.workspaces_of(&account.id).await?;
        let wanted = cookies.get(WORKSPACE_COOKIE).map(|cookie| cookie.value());
        let chosen = workspaces
            .iter()
            .find(|(workspace, _)| Some(workspace.id.as_str()) == wanted);
        let (workspace, role) = chosen
            .or(workspaces.first())
            .cloned()
            .ok_or(Code::NotFound)?;
        let balance = app.store.balance(&workspace.id).await?;
        Ok(Me {
            csrf: csrf_token(&token),
            token: SecretString::from(token),
            account,
            session,
            workspace,
            role,
            workspaces,
            available_micro: balance.available_micro,
            reserved_micro: balance.reserved_micro,
        })
    }
}

pub fn render(template: &impl Template) -> Result<Response, Problem> {
    render_with(StatusCode::OK, template)
}

pub fn render_with(status: StatusCode, template: &impl Template) -> Result<Response, Problem> {
    let html = template.render().map_err(Problem::internal)?;
    let headers = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (HeaderName::from_static("permissions-policy"), PERMISSIONS),
    ];
    Ok((status, headers, Html(html)).into_response())
}

pub async fn unknown() -> Problem {
    Problem::new(Code::NotFound)
}
