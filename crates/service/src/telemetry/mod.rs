//! Logs, traces and figures. None of them ever carries a key, a text or a recording.

mod log;
pub mod metrics;
#[cfg(feature = "otel")]
mod otel;
mod panics;
mod redact;

use anyhow::Context;
use tracing::Metadata;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::{FilterExt, Targets, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry};

pub use self::log::flush;
pub(crate) use self::log::lines_lost;
use self::redact::RedactedStderr;
use crate::config::{LogFormat, Telemetry};

type BoxedLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// Keeps telemetry going; writes and sends what is left of logs and traces when dropped.
#[must_use]
pub struct TelemetryGuard {
    #[cfg(feature = "otel")]
    _traces: Option<otel::Traces>,
    _log: FlushedLog,
}

struct FlushedLog;

impl Drop for FlushedLog {
    fn drop(&mut self) {
        flush();
    }
}

/// Starts logging to standard error, and tracing where the settings name an endpoint.
pub fn start(settings: &Telemetry) -> anyhow::Result<TelemetryGuard> {
    panics::report_without_words();
    let filter = log_filter(&settings.log_level).context("telemetry.log_level")?;
    let log = log::Log::to(RedactedStderr, settings.log_format)
        .context("the thread that writes the log")?;
    // With a hint, since without one every event of every level is looked at.
    let wordless = filter_fn(is_wordless).with_max_level_hint(LevelFilter::TRACE);
    let logs = log_layer(settings.log_format, log)
        .with_filter(filter.and(wordless))
        .boxed();
    if settings.otlp_endpoint.is_empty() {
        tracing_subscriber::registry().with(vec![logs]).try_init()?;
        return Ok(TelemetryGuard {
            #[cfg(feature = "otel")]
            _traces: None,
            _log: FlushedLog,
        });
    }
    start_with_traces(settings, logs)
}

/// A level, or filters of targets, as `telemetry.log_level` gives them. Decoders complain of each damaged place in a stranger's
/// file, as errors too: the refusal says enough. The client of NATS tells of each attempt to reach it: that it is away is logged once.
pub(crate) fn log_filter(setting: &str) -> anyhow::Result<Targets> {
    // It would be taken for a strange target, which nothing has.
    let names_a_span = setting.replace("[{", "").contains('[');
    anyhow::ensure!(!names_a_span, "filters of spans are not known");
    let filters = setting.split(',').map(str::trim);
    let filters: Vec<_> = filters.filter(|filter| !filter.is_empty()).collect();
    let mut level = LevelFilter::OFF;
    for lone in filters.iter().filter(|filter| !filter.contains('=')) {
        // As a target it would silence everything else.
        level = lone.parse().with_context(|| {
            format!("`{lone}` is no level: error, warn, info, debug, trace or off; a target has one too, as in sauti=debug")
        })?;
    }
    let filters = match filters.is_empty() {
        true => "error".to_owned(),
        false => filters.join(","),
    };
    let nats = level.min(LevelFilter::WARN);
    Ok(format!("symphonia=off,async_nats={nats},{filters}").parse()?)
}

/// Whatever filter an operator sets: libraries below us write out what passes through them, WebSocket frames with
/// callers' words among it, from the level trace on. Only what cannot hold any is logged.
fn is_wordless(metadata: &Metadata<'_>) -> bool {
    let target = metadata.target();
    let level_max = match target.split("::").next().unwrap_or(target) {
        "tungstenite" | "tokio_tungstenite" => LevelFilter::WARN,
        ours if ours.starts_with("sauti") => LevelFilter::TRACE,
        _ => LevelFilter::DEBUG,
    };
    *metadata.level() <= level_max
}

/// Logging of the commands that work without a server: warnings only, for people.
pub fn start_quiet() {
    let logs = log_layer(LogFormat::Pretty, || RedactedStderr)
        .with_filter(log_filter("warn").unwrap_or_default())
        .boxed();
    // Fails only where logging runs already, which is as good.
    let _ = tracing_subscriber::registry().with(vec![logs]).try_init();
}

#[cfg(feature = "otel")]
fn start_with_traces(settings: &Telemetry, logs: BoxedLayer) -> anyhow::Result<TelemetryGuard> {
    let (layer, traces) = otel::layer(&settings.otlp_endpoint)?;
    tracing_subscriber::registry()
        .with(vec![logs, layer])
        .try_init()?;
    Ok(TelemetryGuard {
        _traces: Some(traces),
        _log: FlushedLog,
    })
}

#[cfg(not(feature = "otel"))]
fn start_with_traces(_settings: &Telemetry, _logs: BoxedLayer) -> anyhow::Result<TelemetryGuard> {
    anyhow::bail!(
        "telemetry.otlp_endpoint is set, but this program was built without the feature `otel`"
    )
}

fn log_layer<W>(format: LogFormat, writer: W) -> BoxedLayer
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let layer = tracing_subscriber::fmt::layer().with_writer(writer);
    match format {
        LogFormat::Json => layer.json().flatten_event(true).boxed(),
        LogFormat::Pretty => {
            let colours = std::io::IsTerminal::is_terminal(&std::io::stderr());
            layer.with_ansi(colours).with_target(false).boxed()
        }
    }
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn a_log_level_is_a_level_or_filters_of_targets() {
        let filters = log_filter("info, sauti=debug,").unwrap();
        for target in ["sauti_server::http", "sauti_service::nats"] {
            assert!(filters.would_enable(target, &Level::DEBUG), "{target}");
        }
        assert!(filters.would_enable("hyper", &Level::INFO));
        assert!(!filters.would_enable("hyper", &Level::DEBUG));
        assert!(!log_filter("").unwrap().would_enable("hyper", &Level::WARN));
        assert!(log_filter("").unwrap().would_enable("hyper", &Level::ERROR));
        let nats = |setting| {
            log_filter(setting)
                .unwrap()
                .would_enable("async_nats", &Level::WARN)
        };
        assert!(nats("debug") && !nats("error"));
        let decoder = "symphonia_bundle_mp3::demuxer";
        assert!(!filters.would_enable(decoder, &Level::ERROR));
        let asked = log_filter("info,symphonia=warn").unwrap();
        assert!(asked.would_enable(decoder, &Level::WARN));
        for wrong in [
            "sauti_server=loud",
            "[request]=debug",
            "sauti[request]=info",
            "inf",
            "inf,sauti=debug",
        ] {
            assert!(log_filter(wrong).is_err(), "{wrong}");
        }
    }
}
