//! Panics in the log: where, never what. The words of a panic can quote what was being worked on ("byte index 3 is not
//! a char boundary; it is inside ... of `...`"), and that may be a caller's text.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{Location, PanicHookInfo};

/// Replaces the hook that prints a panic's words.
pub(crate) fn report_without_words() {
    std::panic::set_hook(Box::new(report));
}

fn report(info: &PanicHookInfo<'_>) {
    let backtrace = Backtrace::capture();
    let at = place(info);
    match backtrace.status() {
        BacktraceStatus::Captured => tracing::error!(at, %backtrace, "a thread panicked"),
        _ => tracing::error!(
            at,
            "a thread panicked; RUST_BACKTRACE=1 shows how it came there"
        ),
    }
}

fn place(info: &PanicHookInfo<'_>) -> String {
    let thread = std::thread::current();
    let at = info.location().map(Location::to_string).unwrap_or_default();
    format!(
        "{at} in thread {}",
        thread.name().unwrap_or("without a name")
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn a_panic_is_reported_by_its_place_alone() {
        static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(|info| SEEN.lock().unwrap().push(place(info))));
        let text = "siri é";
        let cut = std::panic::catch_unwind(|| text[..6].len());
        std::panic::set_hook(before);
        assert!(cut.is_err());
        let seen = SEEN.lock().unwrap();
        assert!(
            seen.iter().any(|line| line.contains("panics.rs:")),
            "{seen:?}"
        );
        assert!(seen.iter().all(|line| !line.contains("siri")), "{seen:?}");
    }
}
