//! One file per resource. Each handler carries its own description, from which the OpenAPI
//! document is made.

pub mod account;
pub mod audit;
pub mod batches;
pub mod health;
pub mod info;
pub mod keys;
pub mod lexicon;
pub mod live;
pub mod members;
pub mod payments;
pub mod speech;
pub mod transcription;
pub mod usage;
pub mod vocabularies;
pub mod voices;
pub mod webhooks;
pub mod workspaces;

use std::sync::Arc;

use axum::Extension;
use sauti_service::app::App;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouterExt};
use utoipa_axum::routes;

use crate::http::Connections;

pub fn all(connections: Arc<Connections>) -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(crate::openapi::base())
        .merge(work())
        .merge(workspace())
        .merge(people())
        .merge(operation(connections))
}

fn work() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(speech::create_speech))
        .routes(routes!(transcription::create_transcription))
        .routes(routes!(live::live))
        .routes(routes!(batches::list_batches, batches::create_batch))
        .routes(routes!(batches::get_batch))
        .routes(routes!(batches::cancel_batch))
        .routes(routes!(batches::results::get_results))
        .routes(routes!(batches::results::get_audio))
        .routes(routes!(voices::list_voices))
        .routes(routes!(voices::get_voice))
        .routes(routes!(voices::preview_voice))
        .routes(routes!(info::list_models))
        .routes(routes!(info::get_model))
        .routes(routes!(info::normalise))
}

fn workspace() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(info::get_limits))
        .routes(routes!(info::create_quote))
        .routes(routes!(usage::get_balance))
        .routes(routes!(usage::get_usage))
        .routes(routes!(usage::get_statement))
        .routes(routes!(keys::list_keys, keys::create_key))
        .routes(routes!(keys::revoke_key))
        .routes(routes!(keys::rotate_key))
        .routes(routes!(audit::list))
        .routes(routes!(audit::export))
        .routes(routes!(lexicon::list_words))
        .routes(routes!(lexicon::set_word, lexicon::remove_word))
        .routes(routes!(vocabularies::list))
        .routes(routes!(
            vocabularies::show,
            vocabularies::set,
            vocabularies::remove
        ))
        .routes(routes!(webhooks::list, webhooks::create))
        .routes(routes!(webhooks::remove))
}

fn people() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(account::get_account, account::sign_up))
        .routes(routes!(account::confirm))
        .routes(routes!(account::delete))
        .routes(routes!(account::sign_in, account::sign_out))
        .routes(routes!(account::request_reset, account::reset))
        .routes(routes!(members::list_members, members::invite))
        .routes(routes!(members::set_role, members::remove))
        .routes(routes!(members::accept))
        .routes(routes!(workspaces::change))
        .routes(routes!(workspaces::credit))
        .routes(routes!(workspaces::correct))
}

fn operation(connections: Arc<Connections>) -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(payments::report_payment))
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(health::metrics_text).layer(Extension(connections)))
}
