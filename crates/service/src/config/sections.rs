//! The sections of the settings as types. What each key means stands in default.toml.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use ipnet::IpNet;
use secrecy::SecretString;
use serde::{Deserialize, Deserializer};

#[derive(Debug, Clone, Deserialize)]
pub struct Server {
    #[serde(deserialize_with = "address_and_port")]
    pub listen: SocketAddr,
    /// Empty when not set; see `Config::public_url`.
    pub public_url: String,
    pub request_timeout_s: u64,
    pub request_timeout_per_audio_second: f64,
    pub shutdown_grace_s: u64,
    pub shutdown_delay_s: u64,
    pub trusted_proxies: Vec<Network>,
    pub hsts: bool,
    pub connections_max: usize,
    pub connections_per_address_max: usize,
    pub connections_reserved: usize,
    pub reserved_networks: Vec<Network>,
    pub header_timeout_s: u64,
    pub idle_timeout_s: u64,
    pub body_timeout_s: u64,
    pub write_timeout_s: u64,
    pub http2_streams_max: u32,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Data {
    pub dir: PathBuf,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Database {
    /// Holds a password with PostgreSQL. See `Config::database_url`.
    pub url: SecretString,
    pub(crate) stored_answers_bytes_max: u64,
}

/// Whom we trust at the other end of a line, and who we are.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct TlsFiles {
    #[serde(deserialize_with = "path_or_none")]
    pub(crate) ca_file: Option<PathBuf>,
    #[serde(deserialize_with = "path_or_none")]
    pub(crate) cert_file: Option<PathBuf>,
    #[serde(deserialize_with = "path_or_none")]
    pub key_file: Option<PathBuf>,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub struct Valkey {
    #[serde(deserialize_with = "secret_or_none")]
    pub url: Option<SecretString>,
    #[serde(flatten)]
    pub(crate) tls: TlsFiles,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Nats {
    #[serde(deserialize_with = "secret_or_none")]
    pub url: Option<SecretString>,
    #[serde(flatten)]
    pub(crate) tls: TlsFiles,
    pub stream: String,
    pub replicas: usize,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Models {
    #[serde(deserialize_with = "path_or_none")]
    pub dir: Option<PathBuf>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct EngineSettings {
    pub workers: usize,
    pub queue_max: usize,
    pub tenant_queue_max: usize,
    pub wait_s_max: f64,
    pub wait_per_audio_second: f64,
}

#[derive(Debug, Clone, Deserialize)]
pub struct VoiceNames {
    pub(crate) other_names: Vec<VoiceName>,
}

impl VoiceNames {
    /// The voice behind a name of another service, or the name itself.
    pub fn voice_id<'a>(&'a self, name: &'a str) -> &'a str {
        let mut names = self.other_names.iter();
        names
            .find(|known| known.name == name)
            .map_or(name, |known| &known.voice_id)
    }

    /// Those behind the names of other services.
    pub fn voices_with_other_names(&self) -> impl Iterator<Item = &str> {
        self.other_names.iter().map(|name| name.voice_id.as_str())
    }
}

fn address_and_port<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(deserializer)?;
    let wrong = |_| format!("{text:?} is not an address with a port such as \"127.0.0.1:8080\"");
    text.parse()
        .map_err(wrong)
        .map_err(serde::de::Error::custom)
}

/// Another service's name for one of our voices: "alloy=asha".
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VoiceName {
    name: String,
    voice_id: String,
}

impl FromStr for VoiceName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, voice_id) = text.split_once('=').unwrap_or_default();
        match (name.trim(), voice_id.trim()) {
            ("", _) | (_, "") => Err(format!("{text:?} is not a pair such as \"alloy=asha\"")),
            (name, voice_id) => Ok(Self {
                name: name.to_owned(),
                voice_id: voice_id.to_owned(),
            }),
        }
    }
}

impl<'de> Deserialize<'de> for VoiceName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[derive(Debug, Clone, Deserialize)]
pub struct Limits {
    pub text_chars_max: usize,
    pub speech_seconds_max: u64,
    pub upload_bytes_max: u64,
    pub recording_seconds_max: u64,
    pub requests_per_minute: u32,
    pub concurrent_requests: u32,
    pub audio_seconds_per_minute: u32,
    /// Zero: by the number of cores.
    pub live_sessions_max: usize,
    /// Zero: a quarter of all.
    pub live_sessions_per_workspace_max: usize,
    pub vocabulary_bytes_max: usize,
    pub vocabularies_max: u32,
    pub sign_in_failures_max: u32,
    pub(crate) sign_in_window_s: u64,
    pub signups_per_hour: u32,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Cache {
    #[serde(deserialize_with = "path_or_none")]
    pub dir: Option<PathBuf>,
    pub bytes_max: u64,
    pub keep_hours: u32,
}

impl Cache {
    pub fn keep(&self) -> Duration {
        Duration::from_secs(u64::from(self.keep_hours) * 3_600)
    }
}

#[derive(Debug, Clone, Deserialize)]
pub struct Mail {
    #[serde(deserialize_with = "path_or_none")]
    pub outbox_dir: Option<PathBuf>,
    #[serde(deserialize_with = "secret_or_none")]
    pub smtp_url: Option<SecretString>,
    pub from: String,
    pub show_outbox: bool,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Payments {
    #[serde(deserialize_with = "secret_or_none")]
    pub webhook_secret: Option<SecretString>,
    pub tolerance_s: u64,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Signup {
    pub open: bool,
    pub welcome_credit_micro: i64,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Webhooks {
    pub allow_private_addresses: bool,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Batches {
    pub workers: usize,
    pub items_max: usize,
    pub upload_bytes_max: u64,
    pub text_chars_max: usize,
    pub open_max: u32,
    pub workspace_bytes_max: u64,
    pub hours_max: u32,
    pub keep_hours: u32,
    pub url_origins: Vec<String>,
    pub allow_private_addresses: bool,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Retention {
    pub(crate) audit_days: u32,
    pub(crate) webhook_days: u32,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Keys {
    pub environment: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Telemetry {
    pub(crate) log_format: LogFormat,
    pub(crate) log_level: String,
    pub(crate) otlp_endpoint: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    Pretty,
    Json,
}

/// An address, or all addresses that share its first bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network(IpNet);

impl Network {
    pub fn contains(&self, address: IpAddr) -> bool {
        // A socket for both families shows IPv4 callers as ::ffff:a.b.c.d.
        self.0.contains(&address.to_canonical())
    }

    /// All of the internet, or so much of it that it is no network of one's own.
    pub(crate) fn is_wide(&self) -> bool {
        self.0.prefix_len() < 8
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let address = || text.parse().map(|address: IpAddr| IpNet::from(address));
        text.parse()
            .or_else(|_| address())
            .map(Network)
            .map_err(|_| format!("{text:?} is not an address or network such as \"10.0.0.0/8\""))
    }
}

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

fn path_or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
    let text = String::deserialize(deserializer)?;
    Ok((!text.is_empty()).then(|| PathBuf::from(text)))
}

fn secret_or_none<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<SecretString>, D::Error> {
    let text = String::deserialize(deserializer)?;
    Ok((!text.is_empty()).then(|| SecretString::from(text)))
}
