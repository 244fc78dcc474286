use std::process::ExitCode;

use clap::Subcommand;
use sauti_service::config::{DEFAULT_TOML, effective_toml};

use super::{Common, output};

#[derive(Debug, Subcommand)]
pub(super) enum Settings {
    /// Check the settings; every mistake is named by its key
    ///
    /// Looks at the file and the SAUTI_... variables that `sauti serve` would see.
    #[command(
        after_help = "Example:\n  sauti config check --config /etc/sauti.toml && systemctl restart sauti"
    )]
    Check,
    /// Print the settings in force, secrets hidden
    Show,
    /// Print the default settings, each with its explanation
    #[command(after_help = "Example:\n  sauti config default > sauti.toml")]
    Default,
}

impl Settings {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        match self {
            Self::Check => {
                common.load()?;
                output::print("the settings are in order")
            }
            Self::Show => {
                common.load()?;
                output::print(&effective_toml(&common.sources())?)
            }
            Self::Default => output::print(DEFAULT_TOML),
        }
    }
}
