//! Valkey (or Redis), for what several processes share and can bear to lose: rates and finished speech. Nothing waits for
//! it longer than a moment: when it does not answer, each process goes on by itself.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use parking_lot::Mutex;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{
    Client, ClientTlsConfig, FromRedisValue, RedisResult, Script, ScriptInvocation, TlsCertificates,
};
use secrecy::ExposeSecret;

use crate::config;
use crate::telemetry::metrics;

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
    /// Connects when it is first needed: a service must start without it. `None` where no server is named.
    pub fn new(settings: &config::Valkey) -> anyhow::Result<Option<Valkey>> {
        let Some(client) = client(settings)? else {
            return Ok(None);
        };
        let config = ConnectionManagerConfig::new()
            .set_response_timeout(Some(ANSWER_TIME_MAX))
            .set_connection_timeout(Some(CONNECT_TIME_MAX))
            .set_number_of_retries(0);
        Ok(Some(Valkey {
            connection: ConnectionManager::new_lazy_with_config(client, config)
                .context("valkey.url cannot be used")?,
            resting: Mutex::new(None),
        }))
    }

    /// The one that the tests name.
    #[cfg(test)]
    pub(crate) fn of_the_tests() -> std::sync::Arc<Valkey> {
        let url = std::env::var("SAUTI_TEST_VALKEY_URL").expect("a server is named");
        let settings = config::Valkey {
            url: Some(url.into()),
            ..config::Valkey::default()
        };
        Valkey::new(&settings).unwrap().unwrap().into()
    }

    #[cfg(test)]
    pub(crate) fn that_is_away() -> std::sync::Arc<Valkey> {
        let settings = config::Valkey {
            // Nothing listens on this port.
            url: Some("redis://127.0.0.1:1".to_owned().into()),
            ..config::Valkey::default()
        };
        Valkey::new(&settings).unwrap().unwrap().into()
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

    fn lock(&self) -> parking_lot::MutexGuard<'_, Option<Instant>> {
        self.resting.lock()
    }
}

fn client(settings: &config::Valkey) -> anyhow::Result<Option<Client>> {
    let Some(url) = &settings.url else {
        return Ok(None);
    };
    let url = url.expose_secret();
    let read = |key: &str, file: &Path| {
        std::fs::read(file).with_context(|| format!("{key}: cannot read {}", file.display()))
    };
    let root_cert = settings.tls.ca_file.as_deref();
    let root_cert = root_cert.map(|file| read("valkey.ca_file", file));
    let client_tls = match (&settings.tls.cert_file, &settings.tls.key_file) {
        (Some(certificate), Some(key)) => Some(ClientTlsConfig {
            client_cert: read("valkey.cert_file", certificate)?,
            client_key: read("valkey.key_file", key)?,
        }),
        _ => None,
    };
    let certificates = TlsCertificates {
        client_tls,
        root_cert: root_cert.transpose()?,
    };
    let client = match url.starts_with("rediss://") {
        true => Client::build_with_tls(url, certificates),
        false => Client::open(url),
    };
    // The error of the parser does not repeat the password.
    client.context("valkey.url cannot be used").map(Some)
}

/// For `sauti doctor`: signs in and asks who answers.
pub async fn examine(settings: &config::Valkey) -> anyhow::Result<String> {
    let Some(client) = client(settings)? else {
        return Ok("none".to_owned());
    };
    let mut connection = client.get_multiplexed_async_connection().await?;
    let about: String = redis::cmd("INFO")
        .arg("server")
        .query_async(&mut connection)
        .await?;
    let value = |name: &str| about.lines().find_map(|line| line.strip_prefix(name));
    let (name, version) = match value("valkey_version:") {
        Some(version) => ("Valkey", version),
        None => ("Redis", value("redis_version:").unwrap_or_default()),
    };
    Ok(format!("{name} {version}"))
}
