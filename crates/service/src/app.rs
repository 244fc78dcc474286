//! The one piece of state: what every door and every deed may need, built once from the
//! settings. It must not know who uses it: no routes, no pages, no background tasks.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use metrics_exporter_prometheus::PrometheusHandle;
use sauti_speech::{Engine, EngineConfig};
use sauti_store::Store;
use secrecy::ExposeSecret;
use tokio::sync::{Notify, Semaphore};

use crate::cache::{CacheSecret, SpeechCache};
use crate::config::Config;
use crate::lexicons::Lexicons;
use crate::mail::Mailer;
use crate::ratelimit::{Attempts, LiveSessions, RateLimits, Rates};
use crate::speaking::Reader;
use crate::telemetry::metrics;
use crate::valkey::Valkey;
use crate::vocabularies::Vocabularies;

/// Cheap to clone: all clones share one of everything.
#[derive(Debug, Clone)]
pub struct App(Arc<Inner>);

pub struct Inner {
    pub config: Config,
    pub store: Store,
    pub engine: Engine,
    pub cache: SpeechCache,
    pub rates: Rates,
    pub lexicons: Lexicons,
    pub vocabularies: Vocabularies,
    pub reader: Reader,
    pub mailer: Mailer,
    pub metrics: PrometheusHandle,
    pub(crate) sign_ins: Attempts,
    pub(crate) sign_ups: Attempts,
    /// Passwords that are hashed at the same time: each takes 19 MiB and a core.
    pub hashing: Semaphore,
    /// Recordings that are decoded at the same time: each holds its decoded seconds in memory.
    pub decoding: Semaphore,
    /// Rung when a batch came in.
    pub batch_bell: Notify,
    /// Rung when a vocabulary came in.
    pub(crate) vocabulary_bell: Notify,
    pub live_sessions: LiveSessions,
    /// Set by the first signal to end: what is asked is still answered, but nobody should ask here any more.
    pub leaving: AtomicBool,
}

impl Deref for App {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").finish_non_exhaustive()
    }
}

impl App {
    /// Opens the store and the cache and lets the engine load its models in the background.
    pub async fn build(config: Config) -> anyhow::Result<App> {
        crate::data_folder::prepare(&config)?;
        let url = config.database_url();
        let store = Store::open(url.expose_secret())
            .await
            .context("cannot open the database")?;
        let engine = Engine::start(EngineConfig {
            models_dir: config.models_dir(),
            workers: config.engine.workers,
            queue_max: config.engine.queue_max,
            tenant_queue_max: config.engine.tenant_queue_max,
            wait_s_max: config.engine.wait_s_max,
            wait_per_audio_second: config.engine.wait_per_audio_second,
            ..EngineConfig::default()
        })
        .context("cannot start the engine")?;
        App::assemble(config, store, engine)
    }

    fn assemble(config: Config, store: Store, engine: Engine) -> anyhow::Result<App> {
        // Connected later, in the background; but what is wrong with the settings is said now.
        crate::nats::options(&config.nats)?;
        let cache_dir = config.cache_dir();
        let valkey = Valkey::new(&config.valkey)?.map(Arc::new);
        let secret = CacheSecret::load(&config.data.dir, config.valkey.url.as_ref())
            .context("cannot keep a secret in the data folder")?;
        let (bytes_max, keep) = (config.cache.bytes_max, config.cache.keep());
        let cache = SpeechCache::open(cache_dir.clone(), bytes_max, keep, secret, valkey.clone())
            .with_context(|| format!("cannot open the cache in {}", cache_dir.display()))?;
        let rates = Rates::new(RateLimits::from(&config.limits), valkey);
        let limits = &config.limits;
        let sign_in_window = Duration::from_secs(limits.sign_in_window_s);
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Ok(App(Arc::new(Inner {
            sign_ins: Attempts::new(limits.sign_in_failures_max, sign_in_window),
            sign_ups: Attempts::new(limits.signups_per_hour, Duration::from_secs(3_600)),
            mailer: Mailer::new(&config)?,
            metrics: metrics::handle()?,
            lexicons: Lexicons::default(),
            vocabularies: Vocabularies::default(),
            reader: Reader::default(),
            hashing: Semaphore::new(cores.max(2)),
            decoding: Semaphore::new(cores.max(2)),
            batch_bell: Notify::new(),
            vocabulary_bell: Notify::new(),
            live_sessions: LiveSessions::new(
                limits.live_sessions_max,
                limits.live_sessions_per_workspace_max,
                cores,
            ),
            leaving: AtomicBool::new(false),
            rates,
            cache,
            engine,
            store,
            config,
        })))
    }

    /// When work that starts now must be done.
    pub fn deadline(&self) -> Instant {
        Instant::now() + Duration::from_secs(self.config.server.request_timeout_s)
    }

    /// Where large uploads wait to be decoded: on the data disk, for /tmp may be memory.
    pub fn spool_dir(&self) -> PathBuf {
        self.config.data.dir.join("spool")
    }

    pub async fn close(&self) {
        if let Err(error) = self.store.close().await {
            tracing::error!(%error, "the store did not close cleanly");
        }
    }
}
