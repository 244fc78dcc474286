//! Refusals as pages: what a person can do about it, in their language.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sauti_service::app::App;

use super::page::{self, Page};
use sauti_web::context::Context;
use sauti_web::problem::{Carried, Code, FieldError, Problem, Reason};

#[derive(Template)]
#[template(path = "refusal.html")]
struct Refusal {
    page: Page,
    message: String,
    request_id: Option<String>,
    back: String,
}

/// The layer around the pages. Whoever is not signed in is asked to, and comes back afterwards.
pub async fn in_words(
    State(_): State<App>,
    context: Context,
    request: Request,
    next: Next,
) -> Response {
    let mut page = Page::of(request.uri().path(), None, request.headers());
    let is_get = request.method() == Method::GET;
    let form_page = page_of(&page.path).to_owned();
    let wanted = request
        .uri()
        .path_and_query()
        .map_or("/console", |wanted| wanted.as_str())
        .to_owned();
    let mut response = next.run(request).await;
    if !is_get {
        page.path = form_page.clone();
    }
    let back = match is_get {
        true => "/console".to_owned(),
        false => form_page.clone(),
    };
    let Some(Carried(problem)) = response.extensions_mut().remove::<Carried>() else {
        return match (response.status(), is_get) {
            (StatusCode::METHOD_NOT_ALLOWED, true) => Redirect::to(&form_page).into_response(),
            // A form that only a script can send.
            (StatusCode::METHOD_NOT_ALLOWED, false) => {
                let message = page.t.needs_script.to_owned();
                show(StatusCode::METHOD_NOT_ALLOWED, page, message, None, back)
            }
            _ => response,
        };
    };
    if problem.code == Code::SessionMissing {
        let next = match is_get {
            true => utf8_percent_encode(&wanted, NON_ALPHANUMERIC).to_string(),
            false => String::new(),
        };
        return Redirect::to(&format!("/console/sign-in?done=expired&next={next}")).into_response();
    }
    let status = problem.code.status();
    let message = message(&problem, &page);
    let request_id =
        (status == StatusCode::INTERNAL_SERVER_ERROR).then(|| context.request_id().to_owned());
    show(status, page, message, request_id, back)
}

fn show(
    status: StatusCode,
    page: Page,
    message: String,
    request_id: Option<String>,
    back: String,
) -> Response {
    let refusal = Refusal {
        page,
        message,
        request_id,
        back,
    };
    page::render_with(status, &refusal).unwrap_or_else(IntoResponse::into_response)
}

/// The page that a form stands on, by the path that it is sent to.
fn page_of(path: &str) -> &str {
    let in_room = |room: &str| path.starts_with(room);
    match path {
        "/console/language" | "/console/sign-out" | "/console/workspace/switch" => "/console",
        "/console/workspace/alert" => "/console/money",
        "/console/workspace/name" => "/console/members",
        _ if in_room("/console/members/") => "/console/members",
        _ if in_room("/console/operator/") => "/console/operator",
        _ if in_room("/console/account/") => "/console/account",
        own => own,
    }
}

pub fn message(problem: &Problem, page: &Page) -> String {
    let t = page.t;
    let field = problem.errors.first().map(|error| error.field.as_ref());
    match (problem.code, field) {
        (Code::CredentialsWrong, _) => t.error_credentials.to_owned(),
        (Code::RateLimited, _) => t.error_wait.to_owned(),
        (Code::ValidationFailed, Some("password")) => t.error_password.to_owned(),
        (Code::ValidationFailed, Some("email")) => t.error_email.to_owned(),
        (Code::ValidationFailed, Some("name")) => t.error_name.to_owned(),
        (Code::ValidationFailed, Some("amount_micro")) if is_refused(problem) => {
            t.error_amount_high.to_owned()
        }
        (Code::ValidationFailed, Some("amount_micro")) => t.error_amount.to_owned(),
        (Code::ValidationFailed, Some("reference")) => t.error_reference.to_owned(),
        (Code::NotFound, _) if problem.detail_swahili.is_none() => t.error_not_found.to_owned(),
        _ => problem.words(page.language).detail,
    }
}

/// Well written, and yet not possible.
fn is_refused(problem: &Problem) -> bool {
    let refused = |error: &FieldError| matches!(error.reason, Reason::Refused { .. });
    problem.errors.first().is_some_and(refused)
}
