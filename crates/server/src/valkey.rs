//! Valkey (or Redis), for what several processes share and can bear to lose: rates and finished speech. Nothing waits for
//! it longer than a moment: when it does not answer, each process goes on by itself.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, FromRedisValue, RedisResult, Script, ScriptInvocation};
use secrecy::{ExposeSecret, SecretString};

use crate::http::metrics;

/// A caller is kept waiting for this long at most.
const ANSWER_TIME_MAX: Duration = Duration::from_millis(250);
const CONNECT_TIME_MAX: Duration = Duration::from_millis(500);
/// After a failure nobody asks for this long.
const REST: Duration = Duration::from_secs(1);

pub struct Valkey {
    connection: ConnectionManager,
    /// Since when it does not answer, and until when nobody asks.
    resting: Mutex<Option<Instant>>,
}

impl std::fmt::Debug for Valkey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Valkey").finish_non_exhaustive()
    }
}

impl Valkey {
    /// Connects when it is first needed: a service must start without it.
    pub fn new(url: &SecretString) -> anyhow::Result<Valkey> {
        let client = Client::open(url.expose_secret()).context("valkey.url cannot be used")?;
        let config = ConnectionManagerConfig::new()
            .set_response_timeout(Some(ANSWER_TIME_MAX))
            .set_connection_timeout(Some(CONNECT_TIME_MAX))
            .set_number_of_retries(0);
        Ok(Valkey {
            connection: ConnectionManager::new_lazy_with_config(client, config)
                .context("valkey.url cannot be used")?,
            resting: Mutex::new(None),
        })
    }

    /// Runs a script; `None` when there is no answer. `purpose` is for the metric.
    pub async fn script<T: FromRedisValue>(
        &self,
        purpose: &'static str,
        script: &Script,
        prepare: impl FnOnce(&mut ScriptInvocation<'_>),
    ) -> Option<T> {
        let mut invocation = script.prepare_invoke();
        prepare(&mut invocation);
        let mut connection = self.connection.clone();
        self.ask(purpose, invocation.invoke_async(&mut connection))
            .await
    }

    pub async fn command<T: FromRedisValue>(
        &self,
        purpose: &'static str,
        command: &redis::Cmd,
    ) -> Option<T> {
        let mut connection = self.connection.clone();
        self.ask(purpose, command.query_async(&mut connection))
            .await
    }

    async fn ask<T>(
        &self,
        purpose: &'static str,
        answer: impl Future<Output = RedisResult<T>>,
    ) -> Option<T> {
        if self.is_resting() {
            metrics::valkey_failure(purpose);
            return None;
        }
        let why = match tokio::time::timeout(ANSWER_TIME_MAX, answer).await {
            Ok(Ok(answer)) => {
                self.answered();
                return Some(answer);
            }
            Ok(Err(error)) => error.category().to_owned(),
            Err(_) => "no answer in time".to_owned(),
        };
        metrics::valkey_failure(purpose);
        self.rest(&why);
        None
    }

    fn is_resting(&self) -> bool {
        let resting = self.lock();
        resting.is_some_and(|until| Instant::now() < until)
    }

    fn answered(&self) {
        if self.lock().take().is_some() {
            metrics::valkey_up(true);
            tracing::info!("Valkey answers again: rates and cached speech are shared");
        }
    }

    fn rest(&self, why: &str) {
        let mut resting = self.lock();
        if resting.is_none() {
            metrics::valkey_up(false);
            tracing::warn!(
                why,
                "Valkey does not answer: each process keeps its own rates and cache meanwhile"
            );
        }
        *resting = Some(Instant::now() + REST);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.resting
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
