use std::path::PathBuf;

use clap::Args;
use sauti_service::config::{Config, ConfigError, Sources};

/// What any command may be told about its settings.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// Settings file, over the built-in defaults (`sauti config default` shows them)
    #[arg(long, global = true, value_name = "FILE", help_heading = "Settings")]
    config: Option<PathBuf>,
    /// Folder of the database, the cache and the outbox
    #[arg(long, global = true, value_name = "DIR", help_heading = "Settings")]
    data: Option<PathBuf>,
    /// Folder of the models
    #[arg(long, global = true, value_name = "DIR", help_heading = "Settings")]
    models: Option<PathBuf>,
    /// Any other setting, by its name; may be repeated
    #[arg(
        long,
        global = true,
        value_name = "SECTION.KEY=VALUE",
        value_parser = key_and_value,
        help_heading = "Settings"
    )]
    set: Vec<(String, String)>,
}

impl Common {
    pub(super) fn sources(&self) -> Sources {
        let mut sources = Sources::from_process(self.config.as_deref());
        if let Some(dir) = &self.data {
            sources = sources.with("data.dir", dir.to_string_lossy());
        }
        if let Some(dir) = &self.models {
            sources = sources.with("models.dir", dir.to_string_lossy());
        }
        for (key, value) in &self.set {
            sources = sources.with(key, value);
        }
        sources
    }

    pub(super) fn load(&self) -> Result<Config, ConfigError> {
        Config::load(&self.sources())
    }
}

fn key_and_value(setting: &str) -> Result<(String, String), String> {
    let (key, value) = setting
        .split_once('=')
        .ok_or("a setting needs a value, such as server.listen=127.0.0.1:8080")?;
    Ok((key.trim().to_owned(), value.to_owned()))
}
