//! The parts of a form. multer keeps all that comes before a part's content until the head is whole, and searches it anew
//! with every piece, so a head without an end would fill the memory: here it has a bound.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use axum::BoxError;
use axum::body::{Body, BodyDataStream, Bytes};
use futures_util::Stream;
use multer::{Constraints, Field, Multipart};

/// Far more than names need; what comes with the end of a head counts too.
const HEAD_BYTES_MAX: usize = 1024 * 1024;

#[derive(Debug)]
pub struct FormParts {
    form: Multipart<'static>,
    head_bytes_left: Arc<AtomicUsize>,
}

#[derive(Debug)]
pub struct HeadTooLong;

impl std::fmt::Display for HeadTooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the head of a part is too long")
    }
}

impl std::error::Error for HeadTooLong {}

struct Pieces {
    body: BodyDataStream,
    head_bytes_left: Arc<AtomicUsize>,
    has_given: bool,
}

impl FormParts {
    pub fn new(body: Body, boundary: String, constraints: Constraints) -> FormParts {
        let head_bytes_left = Arc::new(AtomicUsize::new(HEAD_BYTES_MAX));
        let pieces = Pieces {
            body: body.into_data_stream(),
            head_bytes_left: Arc::clone(&head_bytes_left),
            has_given: false,
        };
        FormParts {
            form: Multipart::with_constraints(pieces, boundary, constraints),
            head_bytes_left,
        }
    }

    /// The next part; the one before must have been read to its end.
    pub async fn next(&mut self) -> multer::Result<Option<Field<'static>>> {
        self.head_bytes_left
            .store(HEAD_BYTES_MAX, Ordering::Relaxed);
        let part = self.form.next_field().await;
        self.head_bytes_left.store(usize::MAX, Ordering::Relaxed);
        part
    }
}

impl Stream for Pieces {
    type Item = Result<Bytes, BoxError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        // One piece at a time: multer reads for as long as there is something, and looks at it afterwards.
        if std::mem::take(&mut self.has_given) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let piece = ready!(Pin::new(&mut self.body).poll_next(context));
        if let Some(Ok(bytes)) = &piece {
            self.has_given = true;
            match self.head_bytes_left.load(Ordering::Relaxed) {
                0 => return Poll::Ready(Some(Err(HeadTooLong.into()))),
                usize::MAX => {}
                left => {
                    let left = left.saturating_sub(bytes.len());
                    self.head_bytes_left.store(left, Ordering::Relaxed);
                }
            }
        }
        Poll::Ready(piece.map(|piece| piece.map_err(BoxError::from)))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    fn parts(pieces: Vec<Vec<u8>>) -> (FormParts, Arc<AtomicUsize>) {
        let taken = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&taken);
        let pieces = pieces.into_iter().map(move |piece| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok::<_, BoxError>(Bytes::from(piece))
        });
        let body = Body::from_stream(stream::iter(pieces));
        let form = FormParts::new(body, "x".to_owned(), Constraints::new());
        (form, taken)
    }

    #[tokio::test]
    async fn a_head_without_an_end_is_not_read_to_its_end() {
        let mut pieces = vec![b"--x\r\nContent-Disposition: form-data; name=\"".to_vec()];
        pieces.extend(vec![vec![b'a'; 64 * 1024]; 1_000]);
        let (mut form, taken) = parts(pieces);
        let error = form.next().await.unwrap_err();
        let multer::Error::StreamReadFailed(cause) = error else {
            panic!("{error}");
        };
        assert!(cause.is::<HeadTooLong>());
        assert!(taken.load(Ordering::Relaxed) < 20);
    }

    #[tokio::test]
    async fn contents_are_as_long_as_they_like() {
        let head = b"\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n";
        let content = vec![b'a'; 3 * HEAD_BYTES_MAX];
        let whole = [b"--x", &head[..], &content, b"\r\n--x", head, b"b\r\n--x--"].concat();
        for piece_bytes in [7_000, whole.len()] {
            let pieces = whole.chunks(piece_bytes).map(<[u8]>::to_vec).collect();
            let (mut form, _) = parts(pieces);
            let first = form.next().await.unwrap().unwrap();
            assert_eq!(first.bytes().await.unwrap(), content);
            let second = form.next().await.unwrap().unwrap();
            assert_eq!(second.bytes().await.unwrap(), "b");
            assert!(form.next().await.unwrap().is_none());
        }
    }
}
