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
use sauti_web::problem::{Carried, Code, Problem};

#[derive(Template)]
#[template(path = "refusal.html")]
struct Refusal {
    page: Page,
    message: String,
    request_id: Option<String>,
}

/// The layer around the pages. Whoever is not signed in is asked to, and comes back afterwards.
pub async fn in_words(
    State(_): State<App>,
    context: Context,
    request: Request,
    next: Next,
) -> Response {
    let page = Page::of(request.uri().path(), None, request.headers());
    let is_get = request.method() == Method::GET;
    let wanted = request
        .uri()
        .path_and_query()
        .map_or("/console", |wanted| wanted.as_str())
        .to_owned();
    let mut response = next.run(request).await;
    let Some(Carried(problem)) = response.extensions_mut().remove::<Carried>() else {
        return response;
    };
    if problem.code == Code::SessionMissing {
        let next = match is_get {
            true => utf8_percent_encode(&wanted, NON_ALPHANUMERIC).to_string(),
            false => String::new(),
        };
        return Redirect::to(&format!("/console/sign-in?done=expired&next={next}")).into_response();
    }
    let status = problem.code.status();
    let refusal = Refusal {
        message: message(&problem, &page),
        request_id: (status == StatusCode::INTERNAL_SERVER_ERROR)
            .then(|| context.request_id().to_owned()),
        page,
    };
    page::render_with(status, &refusal).unwrap_or_else(IntoResponse::into_response)
}

pub fn message(problem: &Problem, page: &Page) -> String {
    let t = page.t;
    let field = problem.errors.first().map(|error| error.field.as_ref());
    match (problem.code, field) {
        (Code::CredentialsWrong, _) => t.error_credentials.to_owned(),
        (Code::RateLimited, _) => t.error_wait.to_owned(),
        (Code::ValidationFailed, Some("password")) => t.error_password.to_owned(),
        (Code::ValidationFailed, Some("email")) => t.error_email.to_owned(),
        (Code::ValidationFailed, Some("amount_micro")) => t.error_amount.to_owned(),
        (Code::ValidationFailed, Some("reference")) => t.error_reference.to_owned(),
        (Code::NotFound, _) => t.error_not_found.to_owned(),
        _ => problem.words(page.language).detail,
    }
}
