//! The way in: sign up, confirm, sign in, a new password, the language.

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::header::{SET_COOKIE, USER_AGENT};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum_extra::extract::CookieJar;
use axum_extra::extract::cookie::Cookie;
use sauti_service::accounts;
use sauti_service::app::App;
use sauti_store::ids::hash_hex;

use super::form::{AnyForm, OpenForm, go, own_path};
use super::page::{self, LANGUAGE_COOKIE, Page, VISIT_COOKIE};
use super::refusal;
use sauti_web::context::Context;
use sauti_web::csrf::visit_token;
use sauti_web::member::{SignedIn, session_cookie};
use sauti_web::problem::{Code, Problem};
use sauti_web::query::Query;

/// One template for all the small forms before the door.
#[derive(Template)]
#[template(path = "entry.html")]
struct EntryPage {
    page: Page,
    kind: EntryKind,
    error: Option<String>,
    email: String,
    name: String,
    token: String,
    next: String,
    open: bool,
    /// Else letters lie in the outbox, for the operator to hand on.
    sends_mail: bool,
    /// Tells our own form from another site's where the browser does not.
    visit: String,
    /// Where there is no mail to look into: the link of the letter.
    letter_link: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    SignIn,
    SignUp,
    Forgot,
    Reset,
    Confirm,
    MailedSignUp,
    MailedReset,
}

impl EntryPage {
    fn new(app: &App, page: Page, kind: EntryKind) -> EntryPage {
        // Without random numbers the form is refused in old browsers, and works in others.
        let visit = page.visit.clone().or_else(visit_token);
        EntryPage {
            visit: visit.unwrap_or_default(),
            letter_link: None,
            page,
            kind,
            error: None,
            email: String::new(),
            name: String::new(),
            token: String::new(),
            next: String::new(),
            open: app.config.signup.open,
            sends_mail: app.config.mail.smtp_url.is_some(),
        }
    }

    fn is(&self, kind: &str) -> bool {
        format!("{:?}", self.kind) == kind
    }

    fn title(&self) -> &'static str {
        let t = self.page.t;
        match self.kind {
            EntryKind::SignIn => t.sign_in_title,
            EntryKind::SignUp => t.sign_up_title,
            EntryKind::Forgot => t.forgot_title,
            EntryKind::Reset => t.reset_title,
            EntryKind::Confirm => t.confirm_title,
            EntryKind::MailedSignUp | EntryKind::MailedReset if self.sends_mail => t.mail_title,
            EntryKind::MailedSignUp | EntryKind::MailedReset => t.mail_none_title,
        }
    }

    /// For a link to another of these pages: where to go after it.
    fn onward(&self) -> String {
        page::with_next(&self.next)
    }

    fn next(mut self, next: &str) -> EntryPage {
        self.page.keep_next(next);
        self.next = next.to_owned();
        self
    }

    fn show(&self) -> Result<Response, Problem> {
        self.answer(StatusCode::OK)
    }

    fn answer(&self, status: StatusCode) -> Result<Response, Problem> {
        let response = page::render_with(status, self)?;
        if self.page.visit.is_some() {
            return Ok(response);
        }
        let cookie = format!(
            "{VISIT_COOKIE}={}; Path=/console; HttpOnly; SameSite=Lax",
            self.visit
        );
        Ok(([(SET_COOKIE, cookie)], response).into_response())
    }

    /// The form again, as it was filled in, with what was wrong.
    fn refuse(mut self, problem: &Problem) -> Result<Response, Problem> {
        if problem.code == Code::Internal {
            return Err(problem.clone());
        }
        let link = matches!(self.kind, EntryKind::Reset | EntryKind::Confirm)
            && problem.code == Code::NotFound;
        self.error = Some(match (link, problem.code) {
            (true, _) => self.page.t.error_link.to_owned(),
            (false, Code::RoleMissing) => self.page.t.error_closed.to_owned(),
            _ => refusal::message(problem, &self.page),
        });
        self.answer(problem.code.status())
    }
}

pub async fn show_sign_in(
    State(app): State<App>,
    page: Page,
    person: Result<SignedIn, Problem>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let next = Query::parse(query.as_deref())
        .take("next")
        .unwrap_or_default();
    if person.is_ok() {
        return Ok(Redirect::to(own_path(&next)).into_response());
    }
    EntryPage::new(&app, page, EntryKind::SignIn)
        .next(&next)
        .show()
}

pub async fn sign_in(
    State(app): State<App>,
    page: Page,
    context: Context,
    headers: HeaderMap,
    cookies: CookieJar,
    OpenForm(fields): OpenForm,
) -> Result<Response, Problem> {
    let agent = agent(&headers);
    let (email, password) = (fields.text("email"), fields.secret("password"));
    let opened = accounts::sign_in(&app, context.client(), email, password, agent).await;
    match opened.map_err(Problem::from) {
        Ok((_, issued)) => {
            let next = Redirect::to(own_path(fields.text("next")));
            Ok((cookies.add(session_cookie(&app, &issued)?), next).into_response())
        }
        Err(problem) => {
            let email = email.to_owned();
            EntryPage {
                email,
                ..EntryPage::new(&app, page, EntryKind::SignIn).next(fields.text("next"))
            }
            .refuse(&problem)
        }
    }
}

fn agent(headers: &HeaderMap) -> &str {
    headers
        .get(USER_AGENT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}

pub async fn show_sign_up(
    State(app): State<App>,
    page: Page,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let next = Query::parse(query.as_deref())
        .take("next")
        .unwrap_or_default();
    EntryPage::new(&app, page, EntryKind::SignUp)
        .next(&next)
        .show()
}

pub async fn sign_up(
    State(app): State<App>,
    page: Page,
    context: Context,
    cookies: CookieJar,
    OpenForm(fields): OpenForm,
) -> Result<Response, Problem> {
    let (email, name) = (fields.text("email"), fields.text("name"));
    let next = fields.text("next");
    let made = accounts::sign_up(
        &app,
        context.client(),
        email,
        fields.secret("password"),
        name,
    )
    .await;
    match made.map_err(Problem::from) {
        Ok(letter) => {
            let cookies = cookies
                .add(sign_up_cookie(SIGN_UP_COOKIE, mark_of(email))?)
                .add(sign_up_cookie(NEXT_COOKIE, own_path(next).to_owned())?);
            let base = app.config.public_url();
            let entry = EntryPage {
                email: email.to_owned(),
                letter_link: letter.map(|letter| letter.link.replace(&base, "")),
                ..EntryPage::new(&app, page, EntryKind::MailedSignUp).next(next)
            };
            Ok((cookies, entry.show()?).into_response())
        }
        Err(problem) => {
            let (email, name) = (email.to_owned(), name.to_owned());
            EntryPage {
                email,
                name,
                ..EntryPage::new(&app, page, EntryKind::SignUp).next(next)
            }
            .refuse(&problem)
        }
    }
}

/// Which address signed up in this browser. It is set whether or not the address was new.
const SIGN_UP_COOKIE: &str = "sauti_sign_up";

/// Where whoever signed up in this browser wanted to go.
const NEXT_COOKIE: &str = "sauti_next";

fn sign_up_cookie(name: &str, value: String) -> Result<Cookie<'static>, Problem> {
    let cookie = format!("{name}=; Path=/console; HttpOnly; SameSite=Lax; Max-Age=259200");
    let mut cookie = Cookie::parse(cookie).map_err(Problem::internal)?;
    // Written percent-encoded, and read back decoded.
    cookie.set_value(value);
    Ok(cookie)
}

fn mark_of(email: &str) -> String {
    hash_hex(&email.trim().to_lowercase())
}

pub async fn show_forgot(State(app): State<App>, page: Page) -> Result<Response, Problem> {
    EntryPage::new(&app, page, EntryKind::Forgot).show()
}

pub async fn forgot(
    State(app): State<App>,
    page: Page,
    context: Context,
    OpenForm(fields): OpenForm,
) -> Result<Response, Problem> {
    let asked = accounts::request_reset(&app, context.client(), fields.text("email")).await;
    match asked.map_err(Problem::from) {
        Ok(()) => EntryPage::new(&app, page, EntryKind::MailedReset).show(),
        Err(problem) => EntryPage::new(&app, page, EntryKind::Forgot).refuse(&problem),
    }
}

pub async fn show_reset(
    state: State<App>,
    page: Page,
    query: RawQuery,
) -> Result<Response, Problem> {
    show_link(state, page, query, EntryKind::Reset)
}

/// A page with a button, for mail programs open links on their own.
pub async fn show_confirm(
    state: State<App>,
    page: Page,
    query: RawQuery,
) -> Result<Response, Problem> {
    show_link(state, page, query, EntryKind::Confirm)
}

fn show_link(
    State(app): State<App>,
    mut page: Page,
    RawQuery(query): RawQuery,
    kind: EntryKind,
) -> Result<Response, Problem> {
    let token = Query::parse(query.as_deref())
        .take("token")
        .unwrap_or_default();
    page.keep_token(&token);
    let entry = EntryPage {
        token,
        ..EntryPage::new(&app, page, kind)
    };
    entry.show()
}

pub async fn reset(
    State(app): State<App>,
    page: Page,
    context: Context,
    OpenForm(fields): OpenForm,
) -> Result<Response, Problem> {
    let token = fields.text("token");
    let password = fields.secret("password");
    let set = accounts::reset_by_link(&app, context.client(), token, password).await;
    match set.map_err(Problem::from) {
        Ok(()) => Ok(go("/console/sign-in", "reset")),
        Err(problem) => {
            let token = token.to_owned();
            EntryPage {
                token,
                ..EntryPage::new(&app, page, EntryKind::Reset)
            }
            .refuse(&problem)
        }
    }
}

/// Whoever signed up in this browser goes straight on. Others sign in: a link that somebody else
/// sent must not sign anyone in to that other's account.
pub async fn confirm(
    State(app): State<App>,
    page: Page,
    context: Context,
    headers: HeaderMap,
    cookies: CookieJar,
    OpenForm(fields): OpenForm,
) -> Result<Response, Problem> {
    let confirmed = accounts::confirm_by_link(&app, context.client(), fields.text("token")).await;
    let account = match confirmed.map_err(Problem::from) {
        Ok(account) => account,
        Err(problem) => return EntryPage::new(&app, page, EntryKind::Confirm).refuse(&problem),
    };
    let signed_up_here = cookies
        .get(SIGN_UP_COOKIE)
        .is_some_and(|cookie| cookie.value() == mark_of(&account.email));
    let wanted = cookies.get(NEXT_COOKIE).map(|cookie| cookie.value());
    let next = own_path(wanted.unwrap_or_default()).to_owned();
    if !signed_up_here {
        let onward = page::with_next(&next).replace('?', "&");
        let sign_in = format!("/console/sign-in?done=confirmed{onward}");
        return Ok(Redirect::to(&sign_in).into_response());
    }
    let issued = accounts::open_session(&app, &account, agent(&headers)).await?;
    let done = |name| Cookie::build((name, "")).path("/console").build();
    let cookies = cookies
        .remove(done(SIGN_UP_COOKIE))
        .remove(done(NEXT_COOKIE))
        .add(session_cookie(&app, &issued)?);
    let onward = match next.as_str() {
        "/console" => go("/console", "welcome"),
        next => Redirect::to(next).into_response(),
    };
    Ok((cookies, onward).into_response())
}

pub async fn set_language(cookies: CookieJar, AnyForm(fields): AnyForm) -> Response {
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
