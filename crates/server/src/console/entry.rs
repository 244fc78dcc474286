//! The way in: sign up, confirm, sign in, a new password, the language.

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::http::header::USER_AGENT;
use axum::response::{IntoResponse, Redirect, Response};
use axum_extra::extract::CookieJar;
use axum_extra::extract::cookie::Cookie;

use super::form::{OpenForm, go, own_path};
use super::page::{self, LANGUAGE_COOKIE, Me, Page};
use super::refusal;
use crate::accounts;
use crate::app::App;
use crate::http::context::Context;
use crate::http::query::Query;
use crate::problem::{Code, Problem};
use crate::routes::account::session_cookie;

/// One template for all the small forms before the door.
#[derive(Template)]
#[template(path = "entry.html")]
struct Entry {
    page: Page,
    kind: Kind,
    error: Option<String>,
    email: String,
    name: String,
    token: String,
    next: String,
    open: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    SignIn,
    SignUp,
    Forgot,
    Reset,
    Confirm,
    MailedSignUp,
    MailedReset,
}

impl Entry {
    fn new(app: &App, page: Page, kind: Kind) -> Entry {
        Entry {
            page,
            kind,
            error: None,
            email: String::new(),
            name: String::new(),
            token: String::new(),
            next: String::new(),
            open: app.config.signup.open,
        }
    }

    fn is(&self, kind: &str) -> bool {
        format!("{:?}", self.kind) == kind
    }

    fn show(&self) -> Result<Response, Problem> {
        page::render(self)
    }

    /// The form again, as it was filled in, with what was wrong.
    fn refuse(mut self, problem: &Problem) -> Result<Response, Problem> {
        if problem.code == Code::Internal {
            return Err(problem.clone());
        }
        let link =
            matches!(self.kind, Kind::Reset | Kind::Confirm) && problem.code == Code::NotFound;
        self.error = Some(match (link, problem.code) {
            (true, _) => self.page.t.error_link.to_owned(),
            (false, Code::RoleMissing) => self.page.t.error_closed.to_owned(),
            _ => refusal::message(problem, &self.page),
        });
        page::render_with(problem.code.status(), &self)
    }
}

pub async fn show_sign_in(
    State(app): State<App>,
    page: Page,
    me: Result<Me, Problem>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let next = Query::parse(query.as_deref())
        .take("next")
        .unwrap_or_default();
    if me.is_ok() {
        return Ok(Redirect::to(own_path(&next)).into_response());
    }
    let entry = Entry {
        next,
        ..Entry::new(&app, page, Kind::SignIn)
    };
    entry.show()
}

pub async fn sign_in(
    State(app): State<App>,
    page: Page,
    context: Context,
    headers: HeaderMap,
    cookies: CookieJar,
    OpenForm(fields): OpenForm,
) -> Result<Response, Problem> {
    let agent = headers
        .get(USER_AGENT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let (email, password) = (fields.text("email"), fields.secret("password"));
    match accounts::sign_in(&app, context.client(), email, password, agent).await {
        Ok((_, issued)) => {
            let next = Redirect::to(own_path(fields.text("next")));
            Ok((cookies.add(session_cookie(&app, &issued)?), next).into_response())
        }
        Err(problem) => {
            let (email, next) = (email.to_owned(), fields.text("next").to_owned());
            Entry {
                email,
                next,
                ..Entry::new(&app, page, Kind::SignIn)
            }
            .refuse(&problem)
        }
    }
}

pub async fn show_sign_up(State(app): State<App>, page: Page) -> Result<Response, Problem> {
    Entry::new(&app, page, Kind::SignUp).show()
}

pub async fn sign_up(
    State(app): State<App>,
    page: Page,
    context: Context,
    OpenForm(fields): OpenForm,
) -> Result<Response, Problem> {
    let (email, name) = (fields.text("email"), fields.text("name"));
    let made = accounts::sign_up(
        &app,
        context.client(),
        email,
        fields.secret("password"),
        name,
    )
    .await;
    match made {
        Ok(()) => Entry::new(&app, page, Kind::MailedSignUp).show(),
        Err(problem) => {
            let (email, name) = (email.to_owned(), name.to_owned());
            Entry {
                email,
                name,
                ..Entry::new(&app, page, Kind::SignUp)
            }
            .refuse(&problem)
        }
    }
}

pub async fn show_forgot(State(app): State<App>, page: Page) -> Result<Response, Problem> {
    Entry::new(&app, page, Kind::Forgot).show()
}

pub async fn forgot(
    State(app): State<App>,
    page: Page,
    context: Context,
    OpenForm(fields): OpenForm,
) -> Result<Response, Problem> {
    match accounts::request_reset(&app, context.client(), fields.text("email")).await {
        Ok(()) => Entry::new(&app, page, Kind::MailedReset).show(),
        Err(problem) => Entry::new(&app, page, Kind::Forgot).refuse(&problem),
    }
}

pub async fn show_reset(
    state: State<App>,
    page: Page,
    query: RawQuery,
) -> Result<Response, Problem> {
    show_link(state, page, query, Kind::Reset)
}

/// A page with a button, for mail programs open links on their own.
pub async fn show_confirm(
    state: State<App>,
    page: Page,
    query: RawQuery,
) -> Result<Response, Problem> {
    show_link(state, page, query, Kind::Confirm)
}

fn show_link(
    State(app): State<App>,
    page: Page,
    RawQuery(query): RawQuery,
    kind: Kind,
) -> Result<Response, Problem> {
    let token = Query::parse(query.as_deref())
        .take("token")
        .unwrap_or_default();
    let entry = Entry {
        token,
        ..Entry::new(&app, page, kind)
    };
    entry.show()
}

pub async fn reset(
    State(app): State<App>,
    page: Page,
    OpenForm(fields): OpenForm,
) -> Result<Response, Problem> {
    let token = fields.text("token");
    match accounts::reset(&app, token, fields.secret("password")).await {
        Ok(()) => Ok(go("/console/sign-in", "reset")),
        Err(problem) => {
            let token = token.to_owned();
            Entry {
                token,
                ..Entry::new(&app, page, Kind::Reset)
            }
            .refuse(&problem)
        }
    }
}

pub async fn confirm(
    State(app): State<App>,
    page: Page,
    OpenForm(fields): OpenForm,
) -> Result<Response, Problem> {
    match accounts::confirm(&app, fields.text("token")).await {
        Ok(_) => Ok(go("/console/sign-in", "confirmed")),
        Err(problem) => Entry::new(&app, page, Kind::Confirm).refuse(&problem),
    }
}

pub async fn set_language(cookies: CookieJar, OpenForm(fields): OpenForm) -> Response {
    let language = match fields.text("language") {
        "sw" => "sw",
        _ => "en",
    };
    let cookie = Cookie::parse(format!(
        "{LANGUAGE_COOKIE}={language}; Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000"
    ));
    let back = Redirect::to(own_path(fields.text("next")));
    match cookie {
        Ok(cookie) => (cookies.add(cookie), back).into_response(),
        Err(_) => back.into_response(),
    }
}
