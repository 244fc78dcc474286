//! Work that stays on one thread.

use rayon::{ThreadPool, ThreadPoolBuilder};

thread_local! {
    /// This thread alone. Rayon keeps a little memory of it when the thread ends.
    static ALONE: Option<ThreadPool> = {
        let alone = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        // Refused only to a thread of another pool.
        alone.build().ok()
    };
}

/// From now on this thread computes its products itself. The engine's workers are what runs side by side: without it rayon would
/// spread them over every core.
pub(crate) fn keep_to_this_thread() {
    ALONE.with(|_| ());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_keeps_to_itself_has_no_helpers() {
        let threads = || {
            keep_to_this_thread();
            let here = std::thread::current().id();
            let there = rayon::join(std::thread::current, std::thread::current);
            assert_eq!((here, here), (there.0.id(), there.1.id()));
            rayon::current_num_threads()
        };
        assert_eq!(threads(), 1);
        assert_eq!(std::thread::spawn(threads).join().unwrap(), 1);
    }
}
