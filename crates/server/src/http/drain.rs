//! The bodies of requests. Their bytes move the request's deadline as they come, and their pauses are noted there. A refusal must reach a caller who is still sending: a
//! body that nobody wants any more is read on and thrown away for a while, for a socket closed too early loses the answer, and the next request on it.

use std::pin::Pin;
use std::task::{Context as Waking, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use futures_util::{FutureExt as _, StreamExt};
use http_body::{Frame, SizeHint};

use sauti_web::context::Context;

const DRAIN_BYTES_MAX: u64 = 256 * 1024 * 1024;
const DRAIN_TIME_MAX: Duration = Duration::from_secs(30);

pub fn drain_when_dropped(request: Request, context: &Context) -> Request {
    if request.body().is_end_stream() {
        return request;
    }
    let context = context.clone();
    request.map(|body| {
        Body::new(Draining {
            inner: Some(body),
            context,
        })
    })
}

struct Draining {
    inner: Option<Body>,
    context: Context,
}

impl HttpBody for Draining {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Waking<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(inner) = &mut self.inner else {
            return Poll::Ready(None);
        };
        let polled = Pin::new(inner).poll_frame(cx);
        self.context.deadline().waits_for_body(polled.is_pending());
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            let bytes = frame.data_ref().map_or(0, Bytes::len);
            self.context.deadline().received(bytes);
        }
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.inner = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.inner
            .as_ref()
            .map(HttpBody::size_hint)
            .unwrap_or_default()
    }
}

impl Drop for Draining {
    fn drop(&mut self) {
        let deadline = self.context.deadline();
        let wanted = !deadline.body_is_late();
        deadline.waits_for_body(false);
        let rest = self
            .inner
            .take()
            .filter(|body| wanted && !body.is_end_stream());
        if let (Some(body), Ok(runtime)) = (rest, tokio::runtime::Handle::try_current()) {
            let discarded = tokio::time::timeout(DRAIN_TIME_MAX, discard(body));
            runtime.spawn(discarded.map(drop).boxed());
        }
    }
}

async fn discard(body: Body) {
    let mut stream = body.into_data_stream();
    let mut bytes_read = 0;
    while let Some(Ok(chunk)) = stream.next().await {
        bytes_read += chunk.len() as u64;
        if bytes_read > DRAIN_BYTES_MAX {
            return;
        }
    }
}
