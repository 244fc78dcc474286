//! Copies of the data store, and the way back.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use sauti_service::config::Config;
use sauti_service::{audit, data_folder};
use sauti_store::AuditAction;
use secrecy::ExposeSecret;

use super::state::{ACTOR, existing, with_store};
use super::{Common, output};
use crate::offline;

const POSTGRES: &str = "the database is PostgreSQL: use its own tools, see \"Back up and restore\" in docs/OPERATIONS.md";

/// Copy the SQLite database to a file while the service runs
///
/// The copy is whole, checked, and holds everything committed before it began. It appears under its name only when it
/// is complete. It holds addresses, hashes and money: keep it as safe as the original.
#[derive(Debug, Args)]
#[command(after_help = "\
Example, from cron:
  sauti backup /backup/sauti-$(date +%F).db --data /var/lib/sauti")]
pub(super) struct Backup {
    /// The copy; must not exist
    file: PathBuf,
}

impl Backup {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        let config = existing(common)?;
        if is_postgres(&config) {
            bail!(POSTGRES);
        }
        data_folder::prepare(&config)?;
        offline::block_on(async {
            let url = config.database_url();
            sauti_store::backup(url.expose_secret(), &self.file).await
        })??;
        let bytes = std::fs::metadata(&self.file)?.len();
        output::print(&format!(
            "{} written, {bytes} bytes, checked",
            self.file.display()
        ))
    }
}

/// Put a copy made by `sauti backup` in the place of the SQLite database
///
/// Stop the service first. The old database is kept beside the new one. The tables are brought up to date, what was
/// reserved when the copy was made is released, and the books are checked.
#[derive(Debug, Args)]
pub(super) struct Restore {
    /// The copy
    file: PathBuf,
}

impl Restore {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        let config = common.load()?;
        if is_postgres(&config) {
            bail!(POSTGRES);
        }
        data_folder::prepare(&config)?;
        let kept = offline::block_on(async {
            let url = config.database_url();
            sauti_store::restore(url.expose_secret(), &self.file).await
        })??;
        if let Some(kept) = kept {
            output::print(&format!("the old database is kept as {}", kept.display()))?;
        }
        with_store(common, async |store, _| {
            let report = store
                .check()
                .await
                .context("the restored books cannot be read")?;
            if !report.is_clean() {
                bail!("restored, but THE BOOKS DO NOT ADD UP: see `sauti ledger check`");
            }
            audit(store, None, ACTOR)
                .did(AuditAction::StoreRestored, "")
                .await;
            output::print(&format!(
                "restored: {} workspaces, {} transfers; the books add up",
                report.workspaces, report.transfers
            ))
        })
    }
}

pub(super) fn is_postgres(config: &Config) -> bool {
    config
        .database_url()
        .expose_secret()
        .starts_with("postgres")
}
