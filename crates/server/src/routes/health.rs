//! For whoever runs the service: is it alive, is it ready, how is it doing.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::{Extension, Json};
use sauti_service::app::App;
use sauti_service::telemetry::metrics::{self, Gauges};
use sauti_speech::Readiness;
use serde::Serialize;

use crate::http::Connections;
use sauti_web::problem::{Code, Problem};

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Health {
    /// `ok` or `ready`
    pub status: &'static str,
    pub version: &'static str,
}

fn health(status: &'static str) -> Json<Health> {
    Json(Health {
        status,
        version: env!("CARGO_PKG_VERSION"),
    })
}

/// Whether the process lives
#[utoipa::path(get, path = "/healthz", tag = "operation", operation_id = "health",
    responses((status = 200, description = "It lives.", body = Health)), security(()))]
pub async fn healthz() -> Json<Health> {
    health("ok")
}

/// Whether requests can be answered
///
/// Only once the models are loaded and have run once, and while the database answers.
#[utoipa::path(get, path = "/readyz", tag = "operation", operation_id = "ready",
    responses((status = 200, description = "Send requests.", body = Health)), security(()))]
pub async fn readyz(State(app): State<App>) -> Result<Json<Health>, Problem> {
    if app.leaving.load(Ordering::Relaxed) {
        return Err(Problem::new(Code::ShuttingDown).retry_after(5));
    }
    match app.engine.readiness() {
        Readiness::Ready => {}
        Readiness::Loading => return Err(Problem::new(Code::WarmingUp).retry_after(1)),
        Readiness::Draining => return Err(Problem::new(Code::ShuttingDown).retry_after(5)),
        // Why, the log says once, from the start.
        Readiness::Failed(_) => return Err(Problem::new(Code::WarmingUp).retry_after(10)),
    }
    app.store.ping().await.map_err(|error| {
        tracing::error!(%error, "the database does not answer");
        Problem::new(Code::StorageUnavailable).retry_after(2)
    })?;
    Ok(health("ready"))
}

/// Figures for Prometheus
#[utoipa::path(get, path = "/metrics", tag = "operation", operation_id = "metrics",
    responses((status = 200, description = "Prometheus text.", body = String, content_type = "text/plain")), security(()))]
pub async fn metrics_text(
    State(app): State<App>,
    Extension(connections): Extension<Arc<Connections>>,
) -> impl IntoResponse {
    let is_leaving = app.leaving.load(Ordering::Relaxed);
    connections.measure();
    let engine_ready = app.engine.readiness() == Readiness::Ready && !is_leaving;
    let standing = Gauges {
        engine: app.engine.stats(),
        is_ready: engine_ready && app.store.ping().await.is_ok(),
        cache_bytes: app.cache.bytes_on_disk(),
        live_sessions: app.live_sessions.count(),
    };
    (
        [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")],
        metrics::render(&app.metrics, standing),
    )
}
