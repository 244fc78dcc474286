//! Threads that work for seconds at a time step back behind those that answer callers: whoever must be refused learns
//! it at once, however busy the machine is.

/// Steps on the system's scale of niceness, of which each gives about a quarter more of the processor to the others.
#[cfg(target_os = "linux")]
const STEPS: i32 = 5;

/// For the calling thread and those that it starts. Where the system does not allow it, it stays as it was.
#[cfg(target_os = "linux")]
pub(crate) fn step_back() {
    // On Linux a thread has a priority of its own, under its own id.
    let this = rustix::thread::gettid();
    let stepped = rustix::process::getpriority_process(Some(this))
        .and_then(|now| rustix::process::setpriority_process(Some(this), (now + STEPS).min(19)));
    if let Err(error) = stepped {
        static TOLD: std::sync::Once = std::sync::Once::new();
        TOLD.call_once(|| {
            tracing::warn!(%error, "the system does not let the models' threads step back behind others");
        });
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn step_back() {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_the_thread_itself_and_those_it_starts_step_back() {
        let priority =
            || rustix::process::getpriority_process(Some(rustix::thread::gettid())).unwrap();
        let before = priority();
        let after = std::thread::spawn(move || {
            step_back();
            (priority(), std::thread::spawn(priority).join().unwrap())
        });
        let lower = (before + STEPS).min(19);
        assert_eq!(after.join().unwrap(), (lower, lower));
        assert_eq!(priority(), before);
    }
}
