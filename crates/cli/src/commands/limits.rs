use std::process::ExitCode;

use clap::Subcommand;
use sauti_service::ratelimit::{LIVE, RateLimits, apply};

use sauti_store::AuditAction;

use super::state::{ACTOR, with_store};
use super::{Common, output};

#[derive(Debug, Subcommand)]
pub(super) enum LimitsCommand {
    /// Print the limits that hold now
    Show,
    /// Change a limit for every process on this database, within seconds and without a restart
    ///
    /// The limits are requests_per_minute, concurrent_requests and audio_seconds_per_minute, each per key.
    Set {
        /// The limit; `sauti limits show` lists them
        #[arg(value_parser = LIVE.to_vec())]
        name: String,
        /// The new value, at least 1
        #[arg(value_parser = clap::value_parser!(u32).range(1..))]
        value: u32,
    },
    /// Go back to what the settings say
    Reset {
        /// The limit; `sauti limits show` lists them
        #[arg(value_parser = LIVE.to_vec())]
        name: String,
    },
}

impl LimitsCommand {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        with_store(common, async |store, config| {
            match &self {
                Self::Show => {}
                Self::Set { name, value } => {
                    store.set_live_limit(name, Some(i64::from(*value))).await?;
                    let detail = value.to_string();
                    store
                        .audit(None, ACTOR, AuditAction::LimitsSet, name, &detail)
                        .await?;
                }
                Self::Reset { name } => {
                    store.set_live_limit(name, None).await?;
                    store
                        .audit(None, ACTOR, AuditAction::LimitsReset, name, "")
                        .await?;
                }
            }
            let limits = apply(
                RateLimits::from(&config.limits),
                &store.live_limits().await?,
            );
            output::print(&format!(
                "requests_per_minute       {}\nconcurrent_requests       {}\naudio_seconds_per_minute  {}",
                limits.requests_per_minute,
                limits.concurrent_requests,
                limits.audio_seconds_per_minute
            ))?;
            Ok(ExitCode::SUCCESS)
        })
    }
}
