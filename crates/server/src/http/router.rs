//! Every address the service answers to, with the layers around them.

use std::sync::Arc;

use axum::Router;
use axum::middleware;
use axum::response::IntoResponse;
use sauti_service::app::App;
use tower_http::catch_panic::CatchPanicLayer;

use super::connections::Connections;
use super::envelope::envelope;
use super::metrics;
use crate::{openapi, routes};
use sauti_web::problem::Problem;

/// The whole service as one router. The connections are those that `/metrics` tells of.
pub fn router(app: App, connections: Arc<Connections>) -> Router {
    metrics::start_at_zero();
    let (router, document) = routes::all(connections).split_for_parts();
    let document = openapi::finish(document);
    router
        .merge(openapi::routes(&document))
        .merge(sauti_console::routes(&app))
        .layer(CatchPanicLayer::custom(
            |_: Box<dyn std::any::Any + Send>| {
                Problem::internal("a handler panicked").into_response()
            },
        ))
        .layer(middleware::from_fn_with_state(app.clone(), envelope))
        .with_state(app)
}
