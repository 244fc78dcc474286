//! One connection, from its first byte to its last, under the clocks that keep it from being held for nothing: one for
//! a request that does not come, one for an answer that is not read.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{ConnectInfo, Request};
use axum::http::StatusCode;
use axum::response::Response;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{oneshot, watch};
use tokio::time::Sleep;
use tower::ServiceExt;

use super::connections::{Place, Underway};
use super::metrics;

/// For the last frames of a connection that is closed for its idleness.
const GOODBYE_TIME_MAX: Duration = Duration::from_secs(1);

/// What all connections share.
#[derive(Debug)]
pub(super) struct Terms {
    pub builder: auto::Builder<TokioExecutor>,
    pub router: Router,
    pub write_time: Duration,
}

/// Serves until either side ends it, the place is taken back, or `leaving` says that the service ends.
pub(super) async fn run(
    terms: Arc<Terms>,
    (stream, peer): (TcpStream, SocketAddr),
    (place, mut taken_back): (Arc<Place>, oneshot::Receiver<()>),
    mut leaving: watch::Receiver<bool>,
) {
    let write_time = terms.write_time;
    let answers = Arc::new(Answers::default());
    let socket = TokioIo::new(Socket {
        stream,
        place: Arc::clone(&place),
        write_time,
        blocked: None,
    });
    let service = service_fn(|request| {
        let (underway, answers) = (place.begin(), Arc::clone(&answers));
        answer(terms.router.clone(), peer, underway, answers, request)
    });
    let connection = terms
        .builder
        .serve_connection_with_upgrades(socket, service);
    tokio::pin!(connection);
    let mut told = false;
    loop {
        // A connection that was busy may be idle by then, and the other way round.
        let look = Instant::now() + write_time.min(place.shortest_time());
        let check = place.closes_at().map_or(look, |at| at.min(look));
        tokio::select! {
            // Errors here are callers who left or spoke no HTTP.
            _ = connection.as_mut() => return,
            _ = &mut taken_back => return,
            _ = leaving.changed(), if !told => {
                told = true;
                connection.as_mut().graceful_shutdown();
            }
            () = tokio::time::sleep_until(check.into()) => {
                let idle = place.closes_at().is_some_and(|at| at <= Instant::now());
                if !idle && !answers.are_stuck(write_time) {
                    continue;
                }
                metrics::connection_closed(if idle { "idle" } else { "slow_reader" });
                connection.as_mut().graceful_shutdown();
                tokio::time::timeout(GOODBYE_TIME_MAX, connection).await.ok();
                return;
            }
        }
    }
}

/// One request of a connection.
async fn answer(
    router: Router,
    peer: SocketAddr,
    underway: Underway,
    answers: Arc<Answers>,
    request: Request<Incoming>,
) -> Result<Response, std::convert::Infallible> {
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(ConnectInfo(peer));
    let response = router.oneshot(request).await?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        underway.until_closed();
        return Ok(response);
    }
    Ok(response.map(|body| Body::new(answers.watch(body, underway))))
}

/// When a piece of an answer was handed over to be sent; None while the next one is being made.
type HandedAt = Mutex<Option<Instant>>;

/// The bodies that a connection is sending. With HTTP/2 a caller can keep one back (flow control) while it reads others, so
/// that the socket alone does not show it.
#[derive(Debug, Default)]
struct Answers(Mutex<Vec<Weak<HandedAt>>>);

impl Answers {
    fn watch(&self, inner: Body, underway: Underway) -> Answer {
        let handed_at = Arc::default();
        let mut watched = self.0.lock();
        watched.retain(|answer| answer.strong_count() > 0);
        watched.push(Arc::downgrade(&handed_at));
        Answer {
            inner,
            handed_at,
            _underway: underway,
        }
    }

    fn are_stuck(&self, time: Duration) -> bool {
        let is_stuck = |answer: Arc<HandedAt>| answer.lock().is_some_and(|at| at.elapsed() >= time);
        let watched = self.0.lock();
        watched.iter().filter_map(Weak::upgrade).any(is_stuck)
    }
}

/// The body of an answer. Its request is under way until the last of it is handed over.
struct Answer {
    inner: Body,
    handed_at: Arc<HandedAt>,
    _underway: Underway,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(cx);
        *self.handed_at.lock() = polled.is_ready().then(Instant::now);
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// The caller's socket. Whoever takes nothing of what we send is cut off; whoever takes it slowly is being answered.
struct Socket {
    stream: TcpStream,
    place: Arc<Place>,
    write_time: Duration,
    blocked: Option<Blocked>,
}

/// The other side's buffers are full (back-pressure).
struct Blocked {
    timer: Pin<Box<Sleep>>,
    _underway: Underway,
}

impl Socket {
    fn written(
        &mut self,
        cx: &mut Context<'_>,
        polled: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if polled.is_ready() {
            if let Some(blocked) = &mut self.blocked {
                let at = tokio::time::Instant::now() + self.write_time;
                blocked.timer.as_mut().reset(at);
            }
            return polled;
        }
        let blocked = self.blocked.get_or_insert_with(|| Blocked {
            timer: Box::pin(tokio::time::sleep(self.write_time)),
            _underway: self.place.begin(),
        });
        ready!(blocked.timer.as_mut().poll(cx));
        metrics::connection_closed("slow_reader");
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.written(cx, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.written(cx, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Everything was written.
        self.blocked = None;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}
