//! The accept loop: bounded connections, slow headers cut off, and a shutdown that lets running
//! requests finish.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tower::ServiceExt;

use crate::app::{App, router};

const CONNECTIONS_MAX: usize = 8_192;
const HEADER_TIME_MAX: Duration = Duration::from_secs(15);
const SETTLE_TIME: Duration = Duration::from_millis(100);
const HEADER_BYTES_MAX: u32 = 32 * 1024;

/// Serves until `shutdown` completes, then refuses what comes and finishes what runs.
pub async fn serve(
    app: App,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let address = listener
        .local_addr()
        .context("the listener has no address")?;
    tracing::info!(%address, "listening");
    let background = crate::app::start_background(&app);
    let router = router(app.clone());
    let builder = connection_builder();
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let leave = async {
        shutdown.await;
        app.leaving.store(true, Ordering::Relaxed);
        let delay = Duration::from_secs(app.config.server.shutdown_delay_s);
        tracing::info!(delay_s = delay.as_secs(), "told to end");
        tokio::time::sleep(delay).await;
    };
    tokio::pin!(leave);

    loop {
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place.context("the semaphore was closed")?,
            () = &mut leave => break,
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut leave => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                // Small answers must not wait for more to send.
                stream.set_nodelay(true).ok();
                let router = router.clone();
                let service = service_fn(move |request| answer(router.clone(), peer, request));
                let connection =
                    builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
                let watched = graceful.watch(connection.into_owned());
                tokio::spawn(async move {
                    // Errors here are callers who left or spoke no HTTP.
                    watched.await.ok();
                    drop(place);
                });
            }
            Err(error) => {
                // Out of file handles, most likely: wait for some to come back.
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }

    drop(listener);
    // Whoever got in last must have sent its first bytes before idle connections are closed.
    tokio::time::sleep(SETTLE_TIME).await;
    let grace = Duration::from_secs(app.config.server.shutdown_grace_s);
    let deadline = Instant::now() + grace;
    tracing::info!(grace_s = grace.as_secs(), "shutting down");
    app.live_sessions.close();
    // Upgraded connections are not among the watched ones.
    let open = async { tokio::join!(graceful.shutdown(), app.live_sessions.drained()) };
    let requests = tokio::time::timeout(grace, open);
    let (requests, engine_done) = tokio::join!(requests, app.engine.drain(deadline));
    if requests.is_err() || !engine_done {
        tracing::warn!("some requests were cut off at the end of the grace period");
    }
    background.abort_all().await;
    app.close().await;
    Ok(())
}

fn connection_builder() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME_MAX)
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(HEADER_BYTES_MAX)
        .max_concurrent_streams(256)
        .keep_alive_interval(Duration::from_secs(30));
    builder
}

/// One request of a connection.
async fn answer(
    router: Router,
    peer: SocketAddr,
    request: Request<Incoming>,
) -> Result<Response, Infallible> {
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(ConnectInfo(peer));
    router.oneshot(request).await
}
