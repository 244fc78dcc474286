//! When a request must be done: a fixed time for all, and more for what takes longer by its nature, a large upload and a
//! long recording.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// An upload that arrives at least this fast is never cut off for its size.
const UPLOAD_BYTES_PER_S_MIN: u64 = 32 * 1024;

#[derive(Debug)]
pub struct Deadline {
    start: Instant,
    limit: Duration,
    /// Added for bytes received and for seconds of audio.
    extra_ms: AtomicU64,
    /// The longest pause in the body.
    pause: Duration,
    /// Since when the next piece of the body has been waited for.
    waits_since: Mutex<Option<Instant>>,
}

/// Why work was given up.
#[derive(Debug, PartialEq, Eq)]
pub enum GivenUp {
    /// It took too long.
    Deadline,
    /// Its body did not come.
    Body,
}

impl Deadline {
    pub fn new(limit: Duration, pause: Duration) -> Deadline {
        Deadline {
            start: Instant::now(),
            limit,
            extra_ms: AtomicU64::new(0),
            pause,
            waits_since: Mutex::new(None),
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

    /// The next piece of the body is waited for, or is no longer.
    pub fn waits_for_body(&self, waits: bool) {
        let mut since = self.waits_since.lock();
        match waits {
            true => _ = since.get_or_insert_with(Instant::now),
            false => *since = None,
        }
    }

    fn body_due(&self) -> Option<Instant> {
        self.waits_since.lock().map(|since| since + self.pause)
    }

    pub fn body_is_late(&self) -> bool {
        self.body_due().is_some_and(|due| due <= Instant::now())
    }

    /// Waits for the work until the deadline, wherever it has moved to by then, or until its body pauses for too long.
    pub async fn within<T>(&self, work: impl Future<Output = T>) -> Result<T, GivenUp> {
        tokio::pin!(work);
        loop {
            let look = self.body_due().unwrap_or(Instant::now() + self.pause);
            let look = self.at().min(look);
            if let Ok(done) = tokio::time::timeout_at(look.into(), &mut work).await {
                return Ok(done);
            }
            if self.at() <= Instant::now() {
                return Err(GivenUp::Deadline);
            }
            if self.body_is_late() {
                return Err(GivenUp::Body);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_secs(30);

    #[test]
    fn large_uploads_and_long_recordings_get_more_time() {
        let deadline = Deadline::new(Duration::from_secs(120), PAUSE);
        let first = deadline.at();
        deadline.received(100 * 32 * 1024);
        assert_eq!(deadline.at() - first, Duration::from_secs(100));
        deadline.extend(Duration::from_secs(3_600));
        assert_eq!(deadline.at() - first, Duration::from_secs(3_700));
    }

    #[tokio::test]
    async fn work_is_cut_off_at_the_deadline_as_it_stands_then() {
        let deadline = Deadline::new(Duration::from_millis(10), PAUSE);
        let endless = std::future::pending::<()>();
        assert_eq!(deadline.within(endless).await, Err(GivenUp::Deadline));

        let deadline = Deadline::new(Duration::from_millis(10), PAUSE);
        let extended = async {
            deadline.extend(Duration::from_secs(3_600));
            tokio::time::sleep(Duration::from_millis(30)).await;
        };
        assert_eq!(deadline.within(extended).await, Ok(()));
    }

    #[tokio::test]
    async fn work_whose_body_does_not_come_is_given_up() {
        let deadline = Deadline::new(Duration::from_secs(3_600), Duration::from_millis(10));
        let stuck = async {
            deadline.waits_for_body(true);
            std::future::pending::<()>().await;
        };
        assert_eq!(deadline.within(stuck).await, Err(GivenUp::Body));
    }
}
