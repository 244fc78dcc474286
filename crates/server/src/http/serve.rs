//! The accept loop, which never waits for a connection that is open already, and a shutdown that lets running
//! requests finish.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto;
use rustix::net::sockopt;
use sauti_service::app::App;
use sauti_service::config::Server;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::connection::{self, Terms};
use super::connections::Connections;
use super::router;
use crate::background::Background;

const SETTLE_TIME: Duration = Duration::from_millis(100);
const HEADER_BYTES_MAX: u32 = 32 * 1024;
/// Of one connection (HTTP/1) or one answer (HTTP/2): a caller who reads nothing costs no more memory than this.
const BUFFER_BYTES_MAX: usize = 64 * 1024;
/// In the kernel, for one connection. It says that there is room again only when a third of this was taken, so it is also
/// what a caller must read within `server.write_timeout_s`: about 1 KB a second.
const SEND_BYTES_MAX: usize = 128 * 1024;
/// HTTP/2 streams that the caller reset before we took them up (rapid reset, CVE-2023-44487).
const RESETS_MAX: usize = 20;
/// HTTP/2 streams that the caller made us reset ("made you reset", CVE-2025-8671).
const OUR_RESETS_MAX: usize = 64;
const PING_INTERVAL: Duration = Duration::from_secs(20);
const PING_TIME_MAX: Duration = Duration::from_secs(10);

/// Serves until `shutdown` completes, then refuses what comes and finishes what runs. Boxed, so that all of HTTP is
/// compiled here and not once more in each program that serves.
pub fn serve(
    app: App,
    listener: TcpListener,
    shutdown: BoxFuture<'static, ()>,
) -> BoxFuture<'static, anyhow::Result<()>> {
    Box::pin(serve_until(app, listener, shutdown))
}

async fn serve_until(
    app: App,
    listener: TcpListener,
    shutdown: BoxFuture<'static, ()>,
) -> anyhow::Result<()> {
    let address = listener
        .local_addr()
        .context("the listener has no address")?;
    tracing::info!(%address, "listening");
    let background = Background::start(&app);
    let server = &app.config.server;
    let connections = Arc::new(Connections::new(server));
    let terms = Arc::new(Terms {
        builder: connection_builder(server),
        router: router(app.clone(), Arc::clone(&connections)),
        write_time: Duration::from_secs(server.write_timeout_s),
    });
    let (leave, leaving) = watch::channel(false);
    let told_to_end = async {
        shutdown.await;
        app.leaving.store(true, Ordering::Relaxed);
        let delay = Duration::from_secs(server.shutdown_delay_s);
        tracing::info!(delay_s = delay.as_secs(), "told to end");
        tokio::time::sleep(delay).await;
    };
    tokio::pin!(told_to_end);

    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut told_to_end => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                // Small answers must not wait for more to send.
                stream.set_nodelay(true).ok();
                sockopt::set_socket_send_buffer_size(&stream, SEND_BYTES_MAX).ok();
                // Without a place the stream is dropped, which closes it.
                if let Some(place) = connections.admit(peer.ip()) {
                    let (terms, leaving) = (Arc::clone(&terms), leaving.clone());
                    let connection = connection::run(terms, (stream, peer), place, leaving);
                    tokio::spawn(connection.boxed());
                }
            }
            Err(error) => {
                // Out of file handles, most likely.
                tracing::warn!(%error, "could not accept a connection");
                connections.close_some();
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }

    drop((listener, leaving));
    // Whoever got in last must have sent its first bytes before idle connections are closed.
    tokio::time::sleep(SETTLE_TIME).await;
    let grace = Duration::from_secs(server.shutdown_grace_s);
    let deadline = Instant::now() + grace;
    tracing::info!(grace_s = grace.as_secs(), "shutting down");
    leave.send_replace(true);
    app.live_sessions.close();
    // Closed when the last connection has dropped its end; those that became WebSockets have done so already.
    let open = async { tokio::join!(leave.closed(), app.live_sessions.drained()) };
    let requests = tokio::time::timeout(grace, open).await;
    // Only now: a request that is read but not yet in line must still find the engine.
    let engine_done = app.engine.drain(deadline).await;
    if requests.is_err() || !engine_done {
        tracing::warn!("some requests were cut off at the end of the grace period");
    }
    background.abort_all().await;
    app.close().await;
    Ok(())
}

/// How slow a caller may be is the table's and the connection's own business: hyper's clock starts only with the first
/// byte.
fn connection_builder(server: &Server) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .header_read_timeout(None)
        .max_buf_size(BUFFER_BYTES_MAX)
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(HEADER_BYTES_MAX)
        .max_concurrent_streams(server.http2_streams_max)
        .max_pending_accept_reset_streams(RESETS_MAX)
        .max_local_error_reset_streams(OUR_RESETS_MAX)
        .max_send_buf_size(BUFFER_BYTES_MAX)
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIME_MAX);
    builder
}
