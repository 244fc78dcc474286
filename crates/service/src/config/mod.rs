//! Settings: one commented default file, overlaid by the operator's file, then by variables, then
//! by the command line; checked as a whole, so that every mistake is named in one go.

mod hint;
mod overlay;
mod paths;
mod sections;
mod validate;
mod weakness;

use std::path::{Path, PathBuf};

use serde::Deserialize;

pub use crate::money::price::Prices;
pub use hint::near_miss;
pub use sections::{
    Batches, Cache, Data, Database, EngineSettings, Keys, Limits, Mail, Models, Nats, Network,
    Payments, Retention, Server, Signup, Telemetry, Valkey, VoiceNames, Webhooks,
};
pub(crate) use sections::{LogFormat, TlsFiles};

/// The defaults, with a comment for every key. It is also the list of the keys that exist, and of the bounds of numbers.
pub const DEFAULT_TOML: &str = include_str!("default.toml");

#[derive(Debug, Clone, Deserialize)]
pub struct Config {
    pub server: Server,
    pub data: Data,
    pub database: Database,
    pub valkey: Valkey,
    pub nats: Nats,
    pub models: Models,
    pub engine: EngineSettings,
    pub voices: VoiceNames,
    pub limits: Limits,
    pub prices: Prices,
    pub cache: Cache,
    pub mail: Mail,
    pub payments: Payments,
    pub signup: Signup,
    pub webhooks: Webhooks,
    pub batches: Batches,
    pub retention: Retention,
    pub keys: Keys,
    pub telemetry: Telemetry,
}

/// One thing wrong with one key.
#[derive(Debug, Clone, PartialEq)]
pub struct BadSetting {
    /// `section.key`, or the variable or file it came from.
    pub key: String,
    pub message: String,
}

impl BadSetting {
    fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            message: message.into(),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read the settings file {}", path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{} is not a TOML file: {message}", path.display())]
    Syntax { path: PathBuf, message: String },
    #[error("the settings are wrong:{}", list(.0))]
    Wrong(Vec<BadSetting>),
}

fn list(problems: &[BadSetting]) -> String {
    problems
        .iter()
        .map(|problem| format!("\n  {}: {}", problem.key, problem.message))
        .collect()
}

/// Where settings come from, the later over the earlier.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    pub file: Option<PathBuf>,
    /// Pairs as in the process environment; what does not start with `SAUTI_` is ignored.
    pub variables: Vec<(String, String)>,
    /// `section.key` and its value, from the command line.
    pub overrides: Vec<(String, String)>,
}

impl Sources {
    /// The file that was named, else the one `SAUTI_CONFIG` names, else `sauti.toml` in the folder that systemd gives, where there is
    /// one; and the process environment.
    pub fn from_process(file: Option<&Path>) -> Self {
        let named = file.map(Path::to_path_buf);
        let by_variable = || {
            std::env::var_os("SAUTI_CONFIG")
                .filter(|v| !v.is_empty())
                .map(PathBuf::from)
        };
        let by_folder = || {
            let folder = std::env::var_os("CONFIGURATION_DIRECTORY")?;
            Some(Path::new(&folder).join("sauti.toml")).filter(|file| file.exists())
        };
        // A variable that is not UTF-8 cannot be one of ours.
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Self {
            file: named.or_else(by_variable).or_else(by_folder),
            variables,
            overrides: Vec::new(),
        }
    }

    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<String>) -> Self {
        self.overrides.push((key.to_owned(), value.into()));
        self
    }
}

impl Config {
    pub fn load(sources: &Sources) -> Result<Self, ConfigError> {
        let (table, mut problems) = overlay::merge(sources)?;
        let out_of_bounds = validate::out_of_bounds(&table);
        let config: Self = table.try_into().map_err(|error: toml::de::Error| {
            ConfigError::Wrong(vec![BadSetting::new("settings", error.message())])
        })?;
        problems.extend(validate::problems(&config));
        problems.extend(out_of_bounds);
        if problems.is_empty() {
            Ok(config)
        } else {
            Err(ConfigError::Wrong(problems))
        }
    }

    /// The defaults with these keys changed, blind to files and variables: for tests.
    pub fn with_overrides(overrides: &[(&str, &str)]) -> Result<Self, ConfigError> {
        let overrides = overrides
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        Self::load(&Sources {
            overrides,
            ..Sources::default()
        })
    }
}

/// The settings in force as TOML, with every secret hidden.
pub fn effective_toml(sources: &Sources) -> Result<String, ConfigError> {
    let (mut table, problems) = overlay::merge(sources)?;
    if !problems.is_empty() {
        return Err(ConfigError::Wrong(problems));
    }
    overlay::hide_secrets(&mut table);
    Ok(toml::to_string_pretty(&table).unwrap_or_default())
}

#[cfg(test)]
mod tests;
