//! Standard error, written by a thread of its own. Whoever reads the log may stop reading: a terminal that was paused, a
//! pipe whose other end hangs. Then lines are lost and counted, and no request waits for them.

use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use crate::config::LogFormat;

/// Lines that wait for a reader, a few MB at most.
const WAITING_MAX: usize = 8_192;
const FLUSH_TIME_MAX: Duration = Duration::from_secs(2);
const FLUSH_STEP: Duration = Duration::from_millis(2);

static LOST: AtomicU64 = AtomicU64::new(0);
static LOG: OnceLock<Log> = OnceLock::new();

enum LogOrder {
    Write(Vec<u8>),
    /// Everything before this has been written.
    Tell(SyncSender<()>),
}

#[derive(Clone)]
pub(super) struct Log(SyncSender<LogOrder>);

/// How many lines nobody read in time, since the start.
pub(crate) fn lines_lost() -> u64 {
    LOST.load(Ordering::Relaxed)
}

/// Waits until what was logged so far is written, but not for a reader that does not read.
pub fn flush() {
    let Some(Log(orders)) = LOG.get() else {
        return;
    };
    let give_up = Instant::now() + FLUSH_TIME_MAX;
    let (tell, told) = sync_channel(1);
    let mut order = LogOrder::Tell(tell);
    while let Err(TrySendError::Full(again)) = orders.try_send(order) {
        if Instant::now() > give_up {
            return;
        }
        order = again;
        std::thread::sleep(FLUSH_STEP);
    }
    told.recv_timeout(give_up.saturating_duration_since(Instant::now()))
        .ok();
}

impl Log {
    /// The process's one log; its thread begins with the first call.
    pub(super) fn to(out: impl Write + Send + 'static, format: LogFormat) -> io::Result<Log> {
        if let Some(log) = LOG.get() {
            return Ok(log.clone());
        }
        let log = Log::start(out, format, WAITING_MAX)?;
        Ok(LOG.get_or_init(|| log).clone())
    }

    fn start(
        out: impl Write + Send + 'static,
        format: LogFormat,
        waiting_max: usize,
    ) -> io::Result<Log> {
        let (orders, received) = sync_channel(waiting_max);
        std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || write_forever(out, format, &received))?;
        Ok(Log(orders))
    }
}

fn write_forever(mut out: impl Write, format: LogFormat, orders: &Receiver<LogOrder>) {
    let mut told = 0;
    for order in orders {
        match order {
            // An error here has nowhere to go.
            LogOrder::Write(line) => drop(out.write_all(&line)),
            LogOrder::Tell(tell) => drop(tell.try_send(())),
        }
        let lost = lines_lost();
        if lost != told {
            drop(out.write_all(notice(format, lost - told).as_bytes()));
            told = lost;
        }
    }
}

/// Not by the subscriber, whose lines come back here.
fn notice(format: LogFormat, lines: u64) -> String {
    let message = "lines of the log were lost: nobody read them in time";
    match format {
        LogFormat::Json => {
            format!(
                "{}\n",
                json!({"level": "WARN", "message": message, "lines": lines})
            )
        }
        LogFormat::Pretty => format!("WARN {lines} {message}\n"),
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Write for Log {
    /// The subscriber hands over one whole event at a time.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.0.try_send(LogOrder::Write(line.to_vec())).is_err() {
            LOST.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// Takes a line only when the test lets it, and shows what it took.
    struct Slow {
        gate: Receiver<()>,
        seen: std::sync::mpsc::Sender<String>,
    }

    impl Write for Slow {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            self.gate.recv().ok();
            let text = String::from_utf8_lossy(line).into_owned();
            self.seen.send(text).ok();
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_does_not_read_costs_lines_and_no_time() {
        let (open, gate) = channel();
        let (seen, shown) = channel();
        let mut log = Log::start(Slow { gate, seen }, LogFormat::Pretty, 4).unwrap();
        // One may be in the writer's hands, four wait, and the rest is lost.
        for n in 0..20 {
            log.write_all(format!("line {n}\n").as_bytes()).unwrap();
        }
        let lost = lines_lost();
        assert!((15..=16).contains(&lost), "{lost}");
        drop(open);
        assert_eq!(shown.recv().unwrap(), "line 0\n");
        let next = shown.recv().unwrap();
        assert!(
            next.starts_with(&format!("WARN {lost} lines of the log were lost")),
            "{next}"
        );
        assert_eq!(shown.recv().unwrap(), "line 1\n");
    }
}
