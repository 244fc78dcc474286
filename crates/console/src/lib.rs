//! The console: pages for people, beside the interface for programs.
//!
//! Pages are written on the server. Their scripts call the same `/v1` routes as programs do, with
//! the session's cookie and its token instead of a key, so that money and limits are one and the
//! same. What only people do (passwords, sessions, workspaces) is posted by forms to `/console`.

mod account;
mod assets;
mod chart;
mod entry;
mod form;
mod manage;
mod money;
mod operator;
mod page;
mod refusal;
mod script_words;
pub mod shown;
mod tools;
mod words;

use axum::Router;
use axum::middleware;
use axum::response::Redirect;
use axum::routing::{get, post};
use sauti_service::app::App;
use tower_http::compression::CompressionLayer;

pub fn routes(app: &App) -> Router<App> {
    let pages = Router::new()
        .merge(entrance())
        .merge(rooms())
        .merge(changes())
        .layer(middleware::from_fn_with_state(
            app.clone(),
            refusal::in_words,
        ));
    // A page may be compressed although it holds a secret: its token is masked anew each time, and
    // nothing of an address is written into the page of someone who is signed in.
    Router::new()
        .route("/", get(|| async { Redirect::to("/console") }))
        .route("/console/", get(|| async { Redirect::to("/console") }))
        .route("/console/assets/{version}/{name}", get(assets::serve))
        .merge(pages)
        .layer(CompressionLayer::new())
}

/// For those who are not signed in.
fn entrance() -> Router<App> {
    Router::new()
        .route(
            "/console/sign-in",
            get(entry::show_sign_in).post(entry::sign_in),
        )
        .route(
            "/console/sign-up",
            get(entry::show_sign_up).post(entry::sign_up),
        )
        .route(
            "/console/forgot",
            get(entry::show_forgot).post(entry::forgot),
        )
        .route("/console/reset", get(entry::show_reset).post(entry::reset))
        .route(
            "/console/confirm",
            get(entry::show_confirm).post(entry::confirm),
        )
        .route("/console/language", post(entry::set_language))
}

fn rooms() -> Router<App> {
    Router::new()
        .route("/console", get(tools::speak))
        .route("/console/transcribe", get(tools::transcribe))
        .route("/console/voices", get(tools::voices))
        .route("/console/vocabularies", get(tools::vocabularies))
        .route("/console/pronunciations", get(tools::pronunciations))
        .route("/console/keys", get(manage::keys))
        .route("/console/members", get(manage::members))
        .route("/console/webhooks", get(manage::webhooks))
        .route("/console/usage", get(money::usage))
        .route("/console/money", get(money::money))
        .route("/console/account", get(account::show))
        .route(
            "/console/invite",
            get(account::show_invite).post(account::accept_invite),
        )
        .route("/console/operator", get(operator::show))
        .route("/console/{*rest}", get(page::unknown))
}

fn changes() -> Router<App> {
    Router::new()
        .route("/console/sign-out", post(account::sign_out))
        .route(
            "/console/account/sign-out-everywhere",
            post(account::sign_out_everywhere),
        )
        .route("/console/account/password", post(account::change_password))
        .route("/console/account/name", post(account::rename))
        .route("/console/account/resend", post(account::resend))
        .route("/console/account/delete", post(account::delete))
        .route(
            "/console/workspace/new",
            get(account::show_new_workspace).post(account::new_workspace),
        )
        .route("/console/workspace/switch", post(account::switch_workspace))
        .route("/console/workspace/name", post(manage::rename_workspace))
        .route("/console/workspace/alert", post(money::set_alert))
        .route(
            "/console/members/cancel-invite",
            post(manage::cancel_invite),
        )
        .route("/console/operator/credit", post(operator::credit))
        .route("/console/operator/confirm", post(operator::confirm))
}
