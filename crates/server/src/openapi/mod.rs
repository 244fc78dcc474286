//! The OpenAPI document, made from the handlers' own descriptions, and a page that shows it.

mod page;

use std::sync::Arc;

use axum::Router;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::routing::get;
use bytes::Bytes;
use sauti_service::app::App;
use utoipa::OpenApi;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Ref, RefOr, Response, ResponseBuilder, SecurityRequirement};

use sauti_web::caller::SESSION_COOKIE;
use sauti_web::problem::ProblemBody;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Sauti",
        description = "Swahili speech: text to speech, speech to text, voices, keys and money.\n\n\
            Every refusal has the shape of `Problem` and every answer an `X-Request-Id`.",
    ),
    servers((url = "/", description = "This server")),
    tags(
        (name = "speech", description = "Text to speech"),
        (name = "transcription", description = "Speech to text"),
        (name = "batches", description = "Many texts or recordings in one order"),
        (name = "voices", description = "The voices there are"),
        (name = "workspace", description = "Money, usage, keys and pronunciations of the key's workspace"),
        (name = "account", description = "Accounts and sessions, for the console"),
        (name = "operation", description = "For whoever runs the service"),
    ),
    components(schemas(ProblemBody)),
    security(("key" = [])),
)]
struct Base;

pub fn base() -> utoipa::openapi::OpenApi {
    Base::openapi()
}

/// Adds what holds for every operation: how it refuses, and how a caller shows who it is.
pub fn finish(mut document: utoipa::openapi::OpenApi) -> utoipa::openapi::OpenApi {
    let components = document.components.get_or_insert_default();
    let key = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .bearer_format("sauti_<env>_<id>_<secret><crc>")
        .description(Some(
            "An API key. Only in this header, never in an address.",
        ))
        .build();
    components
        .security_schemes
        .insert("key".to_owned(), SecurityScheme::Http(key).into());
    let session = ApiKeyValue::with_description(
        SESSION_COOKIE,
        "A console session; changes also need X-CSRF-Token.",
    );
    components.security_schemes.insert(
        "session".to_owned(),
        SecurityScheme::ApiKey(ApiKey::Cookie(session)).into(),
    );
    for item in document.paths.paths.values_mut() {
        let operations = [
            &mut item.get,
            &mut item.post,
            &mut item.put,
            &mut item.delete,
            &mut item.patch,
        ];
        operations.into_iter().flatten().for_each(add_refusals);
    }
    document
}

fn add_refusals(operation: &mut Operation) {
    let open = operation.security.as_ref().is_some_and(|needs| {
        needs
            .iter()
            .all(|need| *need == SecurityRequirement::default())
    });
    let mut refusals = vec![("default", "A refusal.")];
    if !open {
        refusals.extend([
            ("401", "The key is missing or not accepted."),
            (
                "403",
                "The key lacks the permission, or the account is not confirmed.",
            ),
            (
                "429",
                "Too many requests; Retry-After says when to come back.",
            ),
        ]);
    }
    for (status, description) in refusals {
        let known = &mut operation.responses.responses;
        known
            .entry(status.to_owned())
            .or_insert_with(|| RefOr::T(refusal(description)));
    }
}

fn refusal(description: &str) -> Response {
    let schema = Ref::from_schema_name("ProblemBody");
    ResponseBuilder::new()
        .description(description)
        .content(
            "application/problem+json",
            ContentBuilder::new().schema(Some(schema)).build(),
        )
        .build()
}

/// `/openapi.json` and `/docs`, both written once at start.
pub fn routes(document: &utoipa::openapi::OpenApi) -> Router<App> {
    let json = document.to_pretty_json().unwrap_or_default();
    let html = Bytes::from(page::render(&json));
    let json = Bytes::from(json);
    let cached = || (CACHE_CONTROL, "public, max-age=300");
    let policy = format!(
        "default-src 'none'; style-src '{}'; frame-ancestors 'none'; base-uri 'none'",
        page::style_source()
    );
    Router::new()
        .route(
            "/openapi.json",
            get(move || async move { ([(CONTENT_TYPE, "application/json"), cached()], json) }),
        )
        .route(
            "/docs",
            get(move || async move {
                (
                    [(CONTENT_TYPE, "text/html; charset=utf-8"), cached()],
                    [(CONTENT_SECURITY_POLICY, policy)],
                    html,
                )
            }),
        )
}

/// The document of this build, as it is committed and served.
pub fn document() -> utoipa::openapi::OpenApi {
    finish(crate::routes::all(Arc::default()).split_for_parts().1)
}
