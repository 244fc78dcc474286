//! Who looks at a page, in which language, and how a template becomes an answer.

use askama::Template;
use axum::extract::FromRequestParts;
use axum::http::header::{CONTENT_SECURITY_POLICY, HeaderName};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum_extra::extract::CookieJar;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sauti_service::ServiceError;
use sauti_service::app::App;
use sauti_store::{Micro, Role, Session, Workspace};

use super::form::own_path;
use super::words::{self, Words};
use super::{assets, script_words};
use sauti_web::caller::WORKSPACE_COOKIE;
use sauti_web::language::Language;
use sauti_web::member::{SignedIn, signed_in};
use sauti_web::problem::{Code, Problem};
use sauti_web::query::Query;

pub const LANGUAGE_COOKIE: &str = "sauti_language";
pub const VISIT_COOKIE: &str = "sauti_visit";

const PERMISSIONS: &str = "microphone=(self), camera=(), geolocation=()";

fn policy() -> String {
    format!(
        "default-src 'none'; script-src 'self'; style-src {}; img-src 'self' data:; media-src 'self' blob:; \
         connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        assets::style().source
    )
}

/// What every page needs, whoever looks at it.
#[derive(Debug, Clone)]
pub struct Page {
    pub t: &'static Words,
    pub language: Language,
    /// Where the page lies, to come back to.
    pub path: String,
    /// Something that was just done, told once.
    pub notice: Option<&'static str>,
    /// The token in the cookie of someone who has no session yet.
    pub visit: Option<String>,
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
            visit: visit(headers),
        }
    }

    pub fn lang(&self) -> &'static str {
        self.language.tag()
    }

    pub fn assets(&self) -> String {
        assets::base()
    }

    pub fn style(&self) -> &'static str {
        &assets::style().css
    }

    pub fn script_words(&self) -> String {
        script_words::json(self.language)
    }

    /// The token of a link must outlast a change of the language.
    pub fn keep_token(&mut self, token: &str) {
        if !token.is_empty() && token.bytes().all(|b| b.is_ascii_alphanumeric()) {
            self.path = format!("{}?token={token}", self.path);
        }
    }

    /// And so must the page that is wanted after signing in.
    pub fn keep_next(&mut self, next: &str) {
        self.path = format!("{}{}", self.path, with_next(next));
    }

    pub fn is_at(&self, path: &str) -> bool {
        self.path == path
    }
}

/// The end of an address that leads on to another page of ours.
pub fn with_next(next: &str) -> String {
    match own_path(next) {
        "/console" => String::new(),
        own => format!("?next={}", utf8_percent_encode(own, NON_ALPHANUMERIC)),
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

/// Only what we could have set ourselves.
pub fn visit(headers: &HeaderMap) -> Option<String> {
    let jar = CookieJar::from_headers(headers);
    let token = jar.get(VISIT_COOKIE)?.value();
    let ours = token.len() == 32 && token.bytes().all(|b| b.is_ascii_hexdigit());
    ours.then(|| token.to_owned())
}

fn notice(t: &'static Words, done: &str) -> Option<&'static str> {
    Some(match done {
        "confirmed" => t.done_confirmed,
        "welcome" => t.done_welcome,
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

/// A person at work in one workspace.
#[derive(Debug, Clone)]
pub struct Me {
    pub account: sauti_store::Account,
    pub session: Session,
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
        Micro(self.available_micro).in_currency(&self.workspace.currency)
    }

    pub fn is_broke(&self) -> bool {
        self.available_micro <= 0
    }

    /// With its id where another of theirs has the same name.
    pub fn name_of(&self, workspace: &Workspace) -> String {
        let name = &workspace.name;
        let same = self.workspaces.iter().filter(|(one, _)| one.name == *name);
        match same.count() > 1 {
            true => format!("{name} ({})", workspace.id),
            false => name.clone(),
        }
    }

    /// Below the mark that the workspace has set itself.
    pub fn is_low(&self) -> bool {
        let low_micro = self.workspace.low_balance_micro;
        !self.is_broke() && low_micro.is_some_and(|low| self.available_micro < low)
    }
}

/// Why somebody cannot work in a workspace.
#[derive(Debug)]
pub enum Turned {
    Away(Problem),
    /// They have left the last one, or it was closed.
    NoWorkspace,
}

impl From<Problem> for Turned {
    fn from(problem: Problem) -> Turned {
        Turned::Away(problem)
    }
}

impl IntoResponse for Turned {
    fn into_response(self) -> Response {
        match self {
            Turned::Away(problem) => problem.into_response(),
            Turned::NoWorkspace => Redirect::to("/console/workspace/new").into_response(),
        }
    }
}

impl FromRequestParts<App> for Me {
    type Rejection = Turned;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Me, Turned> {
        let person = signed_in(&parts.headers, app).await?;
        Me::of(app, person, &parts.headers, "").await
    }
}

impl Me {
    /// `at` is the workspace that a form was shown for; empty, it is the one chosen in this browser.
    pub async fn of(
        app: &App,
        person: SignedIn,
        headers: &HeaderMap,
        at: &str,
    ) -> Result<Me, Turned> {
        let cookies = CookieJar::from_headers(headers);
        let found = app.store.workspaces_of(&person.account.id).await;
        let workspaces = found.map_err(Problem::from)?;
        let wanted = match at {
            "" => cookies.get(WORKSPACE_COOKIE).map(|cookie| cookie.value()),
            at => Some(at),
        };
        let chosen = workspaces
            .iter()
            .find(|(workspace, _)| Some(workspace.id.as_str()) == wanted);
        if chosen.is_none() && !at.is_empty() {
            return Err(Problem::from(ServiceError::NoMember).into());
        }
        let (workspace, role) = chosen
            .or(workspaces.first())
            .cloned()
            .ok_or(Turned::NoWorkspace)?;
        let balance = app.store.balance(&workspace.id).await;
        let balance = balance.map_err(Problem::from)?;
        Ok(Me {
            csrf: person.csrf(),
            account: person.account,
            session: person.session,
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
        (CONTENT_SECURITY_POLICY, policy()),
        (
            HeaderName::from_static("permissions-policy"),
            PERMISSIONS.to_owned(),
        ),
    ];
    Ok((status, headers, Html(html)).into_response())
}

pub async fn unknown() -> Problem {
    Problem::new(Code::NotFound)
}
