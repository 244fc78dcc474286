//! Figures for Prometheus. The recorder belongs to the process; each scrape adds what the engine
//! and the cache know of themselves.

use std::sync::{LazyLock, OnceLock};
use std::time::Duration;

use metrics::{Counter, counter, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use sauti_speech::EngineStats;
use sauti_store::{Operation, WebhookBacklog};

const SECONDS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0,
];
const REAL_TIME_FACTORS: &[f64] = &[0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0, 5.0];

/// Installs the recorder on the first call; `metrics` knows only one for a process.
pub fn handle() -> anyhow::Result<PrometheusHandle> {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    if let Some(handle) = HANDLE.get() {
        return Ok(handle.clone());
    }
    let recorder = PrometheusBuilder::new()
        .set_buckets(SECONDS)?
        .set_buckets_for_metric(
            Matcher::Full("sauti_real_time_factor".into()),
            REAL_TIME_FACTORS,
        )?
        .build_recorder();
    let handle = HANDLE.get_or_init(|| recorder.handle()).clone();
    // Another recorder came first: ours then stays empty, which a second App in a test can bear.
    metrics::set_global_recorder(recorder).ok();
    start_at_zero();
    Ok(handle)
}

pub fn work(operation: Operation, audio_seconds: f64, took: Duration) {
    let operation = operation.as_str();
    counter!("sauti_audio_milliseconds_total", "operation" => operation)
        .increment((audio_seconds * 1000.0) as u64);
    if audio_seconds > 0.0 {
        histogram!("sauti_real_time_factor", "operation" => operation)
            .record(took.as_secs_f64() / audio_seconds);
    }
}

/// Sound of live sessions, as it is heard. How long that took says nothing: the caller sets the pace.
pub(crate) fn live_audio(milliseconds: u64) {
    let operation = Operation::Transcription.as_str();
    counter!("sauti_audio_milliseconds_total", "operation" => operation).increment(milliseconds);
    counter!("sauti_live_audio_milliseconds_total").increment(milliseconds);
}

/// `finished` (the caller said so and was told everything), `left`, or the code of the error that the caller was told.
pub fn live_session(ending: &'static str) {
    counter!("sauti_live_sessions_total", "ending" => ending).increment(1);
}

pub fn first_sound(took: Duration) {
    histogram!("sauti_first_sound_seconds").record(took.as_secs_f64());
}

pub fn cache(hit: bool) {
    static RESULTS: LazyLock<[Counter; 2]> = LazyLock::new(|| {
        ["miss", "hit"].map(|result| counter!("sauti_speech_cache_total", "result" => result))
    });
    RESULTS[usize::from(hit)].increment(1);
}

/// An item of a batch: `done`, `failed`, `put_back` or `lost` (cancelled, or taken over by another).
pub fn batch_item(operation: Operation, ending: &'static str) {
    counter!("sauti_batch_items_total", "operation" => operation.as_str(), "ending" => ending)
        .increment(1);
}

pub(crate) fn valkey_failure(purpose: &'static str) {
    counter!("sauti_valkey_failures_total", "use" => purpose).increment(1);
}

pub(crate) fn valkey_up(up: bool) {
    gauge!("sauti_valkey_up").set(if up { 1.0 } else { 0.0 });
}

/// `look` (the server or JetStream does not answer), `publish`, `pull` or `answer`.
pub(crate) fn nats_failure(purpose: &'static str) {
    counter!("sauti_nats_failures_total", "use" => purpose).increment(1);
}

pub(crate) fn nats_up(up: bool) {
    gauge!("sauti_nats_up").set(if up { 1.0 } else { 0.0 });
}

/// An attempt to deliver a webhook: `delivered`, `put_back` (to be tried again) or `failed` (given up).
pub(crate) fn webhook_attempt(ending: &'static str) {
    counter!("sauti_webhook_attempts_total", "ending" => ending).increment(1);
}

pub fn webhook_backlog(backlog: WebhookBacklog) {
    gauge!("sauti_webhook_deliveries_pending").set(backlog.deliveries_pending as f64);
    gauge!("sauti_webhook_endpoints_paused").set(backlog.endpoints_paused as f64);
}

pub(crate) fn stored_answers(bytes: u64) {
    gauge!("sauti_stored_answers_bytes").set(bytes as f64);
}

pub fn ledger_failure(step: &'static str) {
    counter!("sauti_ledger_failures_total", "step" => step).increment(1);
}

/// Rules that watch for a rise see none from nothing to one: what alerts are about is counted from 0.
fn start_at_zero() {
    for step in ["store", "refused"] {
        counter!("sauti_ledger_failures_total", "step" => step).increment(0);
    }
    for ending in ["delivered", "put_back", "failed"] {
        counter!("sauti_webhook_attempts_total", "ending" => ending).increment(0);
    }
    for result in ["hit", "miss"] {
        counter!("sauti_speech_cache_total", "result" => result).increment(0);
    }
    for ending in ["finished", "left", "internal"] {
        counter!("sauti_live_sessions_total", "ending" => ending).increment(0);
    }
    counter!("sauti_live_audio_milliseconds_total").increment(0);
    for operation in Operation::ALL {
        counter!("sauti_audio_milliseconds_total", "operation" => operation.as_str()).increment(0);
    }
}

/// What the system says of this process; absent where it does not say.
fn process() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident_kb = status.lines().find_map(|line| {
        let value = line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?;
        value.parse::<u64>().ok()
    });
    if let Some(kilobytes) = resident_kb {
        gauge!("sauti_process_resident_bytes").set((kilobytes * 1024) as f64);
    }
    if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
        gauge!("sauti_process_open_files").set(open.count() as f64);
    }
}

/// What the service knows of itself when it is asked.
pub struct Gauges {
    pub engine: EngineStats,
    pub is_ready: bool,
    pub cache_bytes: u64,
    pub live_sessions: usize,
}

pub fn render(handle: &PrometheusHandle, standing: Gauges) -> String {
    let stats = standing.engine;
    gauge!("sauti_queue_depth").set(stats.queued as f64);
    gauge!("sauti_estimated_wait_seconds", "lane" => "short").set(stats.wait_seconds);
    gauge!("sauti_estimated_wait_seconds", "lane" => "long").set(stats.long_wait_seconds);
    gauge!("sauti_engine_running").set(stats.running as f64);
    gauge!("sauti_engine_workers").set(stats.workers as f64);
    gauge!("sauti_engine_model_load_milliseconds").set(stats.model_load_ms as f64);
    for (kind, figures) in [
        (Operation::Speech, stats.speech),
        (Operation::Transcription, stats.transcription),
    ] {
        let kind = kind.as_str();
        gauge!("sauti_engine_audio_seconds", "operation" => kind).set(figures.audio_seconds);
        gauge!("sauti_engine_busy_seconds", "operation" => kind).set(figures.busy_seconds);
        counter!("sauti_engine_jobs_total", "operation" => kind, "ending" => "done")
            .absolute(figures.done);
        counter!("sauti_engine_jobs_total", "operation" => kind, "ending" => "failed")
            .absolute(figures.failed);
        counter!("sauti_engine_jobs_total", "operation" => kind, "ending" => "cancelled")
            .absolute(figures.cancelled);
        counter!("sauti_engine_jobs_total", "operation" => kind, "ending" => "expired")
            .absolute(figures.expired);
        counter!("sauti_engine_jobs_total", "operation" => kind, "ending" => "refused")
            .absolute(figures.refused);
        let refusals = figures.refusals;
        for (reason, count) in [
            ("wait", refusals.wait),
            ("queue", refusals.queue),
            ("tenant", refusals.tenant),
        ] {
            counter!("sauti_refusals_total", "operation" => kind, "reason" => reason)
                .absolute(count);
        }
    }
    gauge!("sauti_ready").set(f64::from(u8::from(standing.is_ready)));
    process();
    counter!("sauti_log_lines_lost_total").absolute(super::lines_lost());
    gauge!("sauti_live_sessions_open").set(standing.live_sessions as f64);
    gauge!("sauti_cache_disk_bytes").set(standing.cache_bytes as f64);
    handle.run_upkeep();
    handle.render()
}
