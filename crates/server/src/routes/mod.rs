//! One file per resource. Each handler carries its own description, from which the OpenAPI
//! document is made.

pub mod batches;
pub mod health;
pub mod info;
pub mod live;
pub mod speech;
pub mod transcription;
pub mod voices;

use std::sync::Arc;

use axum::Extension;
use sauti_service::app::App;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouterExt};
use utoipa_axum::routes;

use crate::http::Connections;

pub fn all(connections: Arc<Connections>) -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(crate::openapi::base())
        .merge(work())
        .merge(sauti_manage::routes())
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
        .routes(routes!(info::get_limits))
        .routes(routes!(info::create_quote))
}

fn operation(connections: Arc<Connections>) -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(health::metrics_text).layer(Extension(connections)))
}
