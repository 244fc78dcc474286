//! Work that stays on one thread.

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The engine's workers are what runs side by side: without it the products would spread over every core. A clone has a thread of
/// its own.
pub(crate) struct OneThread(Option<ThreadPool>);

impl OneThread {
    pub(crate) fn new() -> Self {
        Self(ThreadPoolBuilder::new().num_threads(1).build().ok())
    }

    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.0 {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}

impl Clone for OneThread {
    fn clone(&self) -> Self {
        Self::new()
    }
}
