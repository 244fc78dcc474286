//! What the system's allocator keeps of what was given back to it.
//!
//! glibc has up to eight arenas (heaps) for each core and returns only what lies at the end of one: a piece of speech that stays in the
//! cache holds on to the megabytes before it, and memory grows for an hour before it stands. So the arenas are few, and once a
//! minute what is free inside them goes back to the system. Large blocks are not mapped one by one instead: the models take
//! and drop them all the time.

use std::time::Duration;

const TRIM_EVERY: Duration = Duration::from_secs(60);

/// Called before any other thread is there.
pub fn limit_arenas() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: a setting of the allocator, without effect on what it has handed out.
    #[allow(unsafe_code)]
    unsafe {
        const ARENAS_MAX: libc::c_int = 4;
        libc::mallopt(libc::M_ARENA_MAX, ARENAS_MAX);
    }
}

pub async fn trim_forever() {
    loop {
        tokio::time::sleep(TRIM_EVERY).await;
        // Milliseconds, but in them others may wait for memory; never the threads that answer.
        tokio::task::spawn_blocking(trim).await.ok();
    }
}

fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: only pages that hold nothing are returned.
    #[allow(unsafe_code)]
    unsafe {
        libc::malloc_trim(0);
    }
}
