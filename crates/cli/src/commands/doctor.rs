//! Looks at the machine the way the service will, and says what to change.

use std::fmt;
use std::net::TcpListener;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;
use sauti_service::config::Config;
use sauti_speech::{SpeakRequest, TranscribeRequest, check_model};
use sauti_store::Backend;
use sauti_text::{Lexicon, Script};
use secrecy::ExposeSecret;

use super::{Common, output, state};
use crate::offline;

const DISK_BYTES_MIN: u64 = 2_000_000_000;
const MEMORY_BYTES_MIN: u64 = 1_000_000_000;
const DATABASE_TIME_MAX: Duration = Duration::from_secs(15);
/// What the service cannot do without, by folder.
const MODELS: [&str; 2] = ["voices", "recogniser"];
const SENTENCE: &str = "Habari za asubuhi.";

/// Check this machine: settings, models, disk, memory, database, port
///
/// Every line says ok, warn or fail, and what to do. The exit status is 1 where something fails.
#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// Do not load the models and speak a sentence
    #[arg(long)]
    quick: bool,
}

enum FindingLevel {
    Ok,
    Warn,
    Fail,
}

struct Finding {
    verdict: FindingLevel,
    what: &'static str,
    detail: String,
}

impl Finding {
    fn of(what: &'static str, result: anyhow::Result<String>) -> Self {
        match result {
            Ok(detail) => ok(what, detail),
            Err(error) => fail(what, format!("{error:#}")),
        }
    }
}

fn ok(what: &'static str, detail: impl Into<String>) -> Finding {
    finding(what, FindingLevel::Ok, detail)
}

fn warn(what: &'static str, detail: impl Into<String>) -> Finding {
    finding(what, FindingLevel::Warn, detail)
}

fn fail(what: &'static str, detail: impl Into<String>) -> Finding {
    finding(what, FindingLevel::Fail, detail)
}

fn finding(what: &'static str, verdict: FindingLevel, detail: impl Into<String>) -> Finding {
    let detail = detail.into();
    Finding {
        verdict,
        what,
        detail,
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            FindingLevel::Ok => "ok",
            FindingLevel::Warn => "warn",
            FindingLevel::Fail => "fail",
        };
        write!(f, "{verdict:<5} {:<10} {}", self.what, self.detail)
    }
}

impl Doctor {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        let config = common.load()?;
        let mut sound = true;
        let mut show = |finding: Finding| {
            sound &= !matches!(finding.verdict, FindingLevel::Fail);
            output::print(&finding.to_string()).map(drop)
        };
        show(ok("settings", settings_source(common)))?;
        show(processor())?;
        show(memory())?;
        show(disk(&config))?;
        show(database(&config).unwrap_or_else(|error| fail("database", format!("{error:#}"))))?;
        show(shared(&config))?;
        show(queue(&config))?;
        show(port(&config))?;
        show(mail(&config))?;
        show(front(&config))?;
        show(weaknesses(&config))?;
        show(open_files(&config))?;
        show(clock())?;
        show(Finding::of("models", models(&config.models_dir())))?;
        show(voices(&config).unwrap_or_else(|error| fail("voices", format!("{error:#}"))))?;
        if !self.quick {
            show(Finding::of("speech", speak_and_listen(&config)))?;
        }
        Ok(output::exit_code(sound))
    }
}

fn settings_source(common: &Common) -> String {
    match common.sources().file {
        Some(file) => format!("in order, from {} and the environment", file.display()),
        None => "in order, the defaults and the environment".to_owned(),
    }
}

fn processor() -> Finding {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    #[cfg(target_arch = "x86_64")]
    let fast = std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    let fast = true;
    match fast {
        true => ok("processor", format!("{cores} cores")),
        false => warn(
            "processor",
            format!("{cores} cores without AVX2: the models run several times slower"),
        ),
    }
}

fn memory() -> Finding {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let available = read("/proc/meminfo").lines().find_map(|line| {
        let kilobytes = line.strip_prefix("MemAvailable:")?.trim();
        let kilobytes = kilobytes.strip_suffix(" kB")?;
        Some(kilobytes.trim().parse::<u64>().ok()? * 1024)
    });
    // A container may be allowed less than the machine has.
    let bytes = |path: &str| read(path).trim().parse::<u64>().ok();
    let used = bytes("/sys/fs/cgroup/memory.current").unwrap_or(0);
    let limit = bytes("/sys/fs/cgroup/memory.max");
    let free_in_limit = limit.map(|limit| limit.saturating_sub(used));
    let Some(free) = available.into_iter().chain(free_in_limit).min() else {
        return warn("memory", "cannot tell how much is free");
    };
    let detail = format!("{} free", size(free));
    if free < MEMORY_BYTES_MIN {
        let detail = format!(
            "{detail}; the models and a few long recordings want {}",
            size(MEMORY_BYTES_MIN)
        );
        return warn("memory", detail);
    }
    ok("memory", detail)
}

fn disk(config: &Config) -> Finding {
    let dir = &config.data.dir;
    // The folder may not be there yet: then its first ancestor that is decides.
    let absolute = std::path::absolute(dir).unwrap_or_else(|_| dir.clone());
    let Some(existing) = absolute.ancestors().find(|path| path.exists()) else {
        return fail("disk", format!("{} cannot be made", dir.display()));
    };
    if let Err(error) = tempfile::tempfile_in(existing) {
        return fail(
            "disk",
            format!("{} cannot be written: {error}", existing.display()),
        );
    }
    let free = match rustix::fs::statvfs(existing) {
        Ok(found) => found.f_bavail * found.f_frsize,
        Err(error) => {
            return warn("disk", format!("cannot tell how much is free: {error}"));
        }
    };
    let detail = format!("{} free for {}", size(free), dir.display());
    let wanted = DISK_BYTES_MIN + config.cache.bytes_max;
    if free < wanted {
        let detail = format!(
            "{detail}; the cache alone may take {} (cache.bytes_max)",
            size(config.cache.bytes_max)
        );
        return warn("disk", detail);
    }
    ok("disk", detail)
}

fn database(config: &Config) -> anyhow::Result<Finding> {
    if let Some(file) = config.database_file().filter(|file| !file.exists()) {
        // A check must leave nothing behind.
        let detail = format!("SQLite, to be made at {}", file.display());
        return Ok(ok("database", detail));
    }
    offline::block_on(async {
        tokio::time::timeout(DATABASE_TIME_MAX, examine(config))
            .await
            .context("the database does not answer")?
    })?
}

/// Tables that an older program may be running on stay as they are.
async fn examine(config: &Config) -> anyhow::Result<Finding> {
    let url = config.database_url();
    let migrations = sauti_store::migration_state(url.expose_secret())
        .await
        .context("cannot open the data store")?;
    let beside = config.data.dir.join("sauti.db");
    let (backend, left) = match migrations.backend {
        Backend::Sqlite => ("SQLite", String::new()),
        Backend::Postgres if !beside.exists() => ("PostgreSQL", String::new()),
        Backend::Postgres => {
            let unused = beside.display();
            let left = format!(
                "; {unused} is not used: `sauti move` copies it to an empty PostgreSQL database"
            );
            ("PostgreSQL", left)
        }
    };
    if migrations.made == 0 {
        let detail =
            format!("{backend}, reachable, still without tables: the service makes them{left}");
        return Ok(ok("database", detail));
    }
    if migrations.pending > 0 {
        let pending = state::pending_migrations(migrations.pending);
        let detail =
            format!("{backend}, reachable; {pending}, to be made when the service starts{left}");
        return Ok(warn("database", detail));
    }
    let store = state::open(config).await?;
    let (report, ahead) = (store.check().await, store.workspaces_dated_ahead().await);
    store.close().await?;
    anyhow::ensure!(
        report?.is_clean(),
        "{backend}: the books do not add up, see `sauti ledger check`"
    );
    let detail = format!("{backend}, reachable, the books add up{left}");
    let ahead = ahead?;
    Ok(match migrations.unknown {
        0 if ahead > 0 => warn(
            "database",
            format!(
                "{detail}; {ahead} workspaces book ahead of the clock: when it is right, run `sauti ledger trust-clock`"
            ),
        ),
        0 => ok("database", detail),
        unknown => warn(
            "database",
            format!(
                "{detail}; the database is newer than this program, which does not know {unknown} of its migrations"
            ),
        ),
    })
}

/// Away it only makes rates and cache those of each process.
fn shared(config: &Config) -> Finding {
    if config.valkey.url.is_none() {
        let detail = "each process counts its own rates (valkey.url)";
        return ok("valkey", detail);
    }
    let examined = sauti_service::valkey::examine(&config.valkey);
    let silent = "Valkey does not answer (valkey.url)";
    can_be_away("valkey", examined, silent, "each process goes on by itself")
}

/// Away it only slows batches down.
fn queue(config: &Config) -> Finding {
    if config.nats.url.is_none() {
        let detail = "the database hands out the items of batches (nats.url)";
        return ok("queue", detail);
    }
    let examined = sauti_service::nats::examine(&config.nats);
    let silent = "NATS does not answer (nats.url)";
    can_be_away("queue", examined, silent, "batches go through the database")
}

/// A server that we can do without: that it is away is no failure.
fn can_be_away(
    name: &'static str,
    examined: impl Future<Output = anyhow::Result<String>>,
    silent: &'static str,
    meanwhile: &str,
) -> Finding {
    let examined = offline::block_on(async {
        let examined = tokio::time::timeout(DATABASE_TIME_MAX, examined);
        examined.await.context(silent)?
    });
    match examined.and_then(|examined| examined) {
        Ok(detail) => ok(name, detail),
        Err(error) => {
            let detail = format!("{error:#}; {meanwhile} meanwhile");
            warn(name, detail)
        }
    }
}

fn port(config: &Config) -> Finding {
    let address = config.server.listen;
    match TcpListener::bind(address) {
        Ok(_) => ok("port", format!("{address} is free")),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            warn("port", format!("{address} is taken; by this service?"))
        }
        Err(error) => fail("port", format!("{address}: {error} (server.listen)")),
    }
}

fn mail(config: &Config) -> Finding {
    if config.mail.smtp_url.is_some() {
        return ok("mail", "by SMTP");
    }
    let detail = format!(
        "into the folder {} only (mail.smtp_url)",
        config.outbox_dir().display()
    );
    match config.server.public_url.is_empty() {
        true => ok("mail", detail),
        false => warn("mail", detail),
    }
}

/// Whether the settings fit a proxy with TLS in front, where there seems to be one.
fn front(config: &Config) -> Finding {
    let server = &config.server;
    let detail = match server.public_url.starts_with("https://") {
        false => {
            let detail = "plain HTTP: for this machine or a closed network (server.public_url)";
            return match server.listen.ip().is_loopback() {
                true => ok("front", detail),
                false => warn("front", detail),
            };
        }
        true if server.trusted_proxies.is_empty() => {
            "HTTPS, but no proxy is trusted: every caller seems to come from the proxy (server.trusted_proxies)"
        }
        true if !server.hsts => "HTTPS, but browsers are not told to stay with it (server.hsts)",
        true => return ok("front", "HTTPS by a trusted proxy"),
    };
    warn("front", detail)
}

/// Each caller takes one; the default of many systems is too low for a busy day.
fn weaknesses(config: &Config) -> Finding {
    let found = config.weaknesses();
    let list = found
        .iter()
        .map(|weak| format!("{}: {}", weak.key, weak.message));
    let list: Vec<String> = list.collect();
    match list.is_empty() {
        true => ok("guards", "no setting takes a protection away"),
        false => warn("guards", list.join("; ")),
    }
}

/// The service raises its own limit as far as it is allowed.
fn open_files(config: &Config) -> Finding {
    const OTHER_FILES: u64 = 256;
    let wanted = config.server.connections_max as u64 + OTHER_FILES;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    match limit.maximum {
        Some(files) if files < wanted => {
            let detail = format!(
                "{files} at once; raise it to {wanted} (ulimit -Hn, LimitNOFILE) or lower server.connections_max"
            );
            warn("files", detail)
        }
        Some(files) => ok("files", format!("{files} at once")),
        None => ok("files", "any number at once"),
    }
}

/// Keys, sessions and signatures go by the time of day.
fn clock() -> Finding {
    // No release of this program is older.
    const EARLIEST: &str = "2026-01-01T00:00:00Z";
    let now = jiff::Timestamp::now();
    match EARLIEST.parse::<jiff::Timestamp>() {
        Ok(earliest) if now < earliest => {
            let detail = format!("{now} cannot be right: set it, and keep it set with NTP");
            fail("clock", detail)
        }
        _ => ok("clock", now.strftime("%F %H:%M:%S UTC").to_string()),
    }
}

fn models(dir: &Path) -> anyhow::Result<String> {
    let (mut files, mut bytes) = (0, 0);
    for model in MODELS {
        let (in_files, in_bytes) = check_model(&dir.join(model))?;
        files += in_files;
        bytes += in_bytes;
    }
    Ok(format!(
        "{files} files, {} in {}, every SHA-256 right",
        size(bytes),
        dir.display()
    ))
}

fn voices(config: &Config) -> anyhow::Result<Finding> {
    let voices = sauti_speech::voice::catalogue(&config.models_dir())?;
    let ids: Vec<String> = voices.into_iter().map(|voice| voice.voice_id).collect();
    let named = config.voices.voices_with_other_names();
    let missing: Vec<&str> = named.filter(|id| !ids.iter().any(|i| i == id)).collect();
    let there = ids.join(", ");
    Ok(match missing.is_empty() {
        true => ok("voices", there),
        false => warn(
            "voices",
            format!(
                "voices.other_names names {}, which is no voice; there are {there}",
                missing.join(", ")
            ),
        ),
    })
}

/// The whole way once: load, speak, listen.
fn speak_and_listen(config: &Config) -> anyhow::Result<String> {
    offline::block_on(async {
        let started = Instant::now();
        let engine = offline::ready_engine(config).await?;
        let loaded = started.elapsed();
        let (voice_id, rate_hz) = offline::choose_voice(&engine, None)?;
        let script = Script::from_text(SENTENCE, &Lexicon::builtin())?;
        let request = SpeakRequest {
            voice_id,
            script,
            direction: sauti_speech::Direction::default(),
        };
        let spoken = offline::speak(&engine, request).await?;
        let narrow = sauti_audio::resample(&spoken.samples, rate_hz, 16_000);
        let samples: Vec<i16> = narrow.into_iter().map(|s| (s * 32_767.0) as i16).collect();
        let request = TranscribeRequest {
            samples: samples.into(),
            ..TranscribeRequest::default()
        };
        let heard = offline::transcribe(&engine, request, |_| ()).await?;
        Ok(format!(
            "loaded in {:.1} s, first sound after {} ms; said {SENTENCE:?}, heard {:?}",
            loaded.as_secs_f64(),
            spoken.first_sound.as_millis(),
            heard.text
        ))
    })?
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes / 1_000),
        1_000_000..1_000_000_000 => format!("{} MB", bytes / 1_000_000),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}
