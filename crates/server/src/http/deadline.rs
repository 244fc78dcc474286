//! When a request must be done: a fixed time for all, and more for what takes longer by its nature, a large upload and a
//! long recording.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// An upload that arrives at least this fast is never cut off for its size.
const UPLOAD_BYTES_PER_S_MIN: u64 = 32 * 1024;

#[derive(Debug)]
pub struct Deadline {
    start: Instant,
    limit: Duration,
    /// Added for bytes received and for seconds of audio.
    extra_ms: AtomicU64,
}

impl Deadline {
    pub fn new(limit: Duration) -> Deadline {
        Deadline {
            start: Instant::now(),
            limit,
            extra_ms: AtomicU64::new(0),
        }
    }

    pub fn at(&self) -> Instant {
        self.start + self.limit + Duration::from_millis(self.extra_ms.load(Ordering::Relaxed))
    }

    pub fn received(&self, bytes: usize) {
        self.add(bytes as u64 * 1000 / UPLOAD_BYTES_PER_S_MIN);
    }

    pub fn extend(&self, by: Duration) {
        self.add(by.as_millis() as u64);
    }

    fn add(&self, ms: u64) {
        self.extra_ms.fetch_add(ms, Ordering::Relaxed);
    }

    /// Waits for the work until the deadline, wherever it has moved to by then.
    pub async fn within<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::pin!(work);
        loop {
            let at = self.at();
            match tokio::time::timeout_at(at.into(), &mut work).await {
                Ok(done) => return Some(done),
                Err(_) if self.at() > at => {}
                Err(_) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_uploads_and_long_recordings_get_more_time() {
        let deadline = Deadline::new(Duration::from_secs(120));
        let first = deadline.at();
        deadline.received(100 * 32 * 1024);
        assert_eq!(deadline.at() - first, Duration::from_secs(100));
        deadline.extend(Duration::from_secs(3_600));
        assert_eq!(deadline.at() - first, Duration::from_secs(3_700));
    }

    #[tokio::test]
    async fn work_is_cut_off_at_the_deadline_as_it_stands_then() {
        let deadline = Deadline::new(Duration::from_millis(10));
        let endless = std::future::pending::<()>();
        assert_eq!(deadline.within(endless).await, None);

        let deadline = Deadline::new(Duration::from_millis(10));
        let extended = async {
            deadline.extend(Duration::from_secs(3_600));
            tokio::time::sleep(Duration::from_millis(30)).await;
        };
        assert_eq!(deadline.within(extended).await, Some(()));
    }
}
