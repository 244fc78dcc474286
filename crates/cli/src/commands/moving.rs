use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use sauti_service::audit;
use sauti_store::AuditAction;
use secrecy::ExposeSecret;

use super::backup::is_postgres;
use super::state::{ACTOR, with_store};
use super::{Common, output};
use crate::offline::{self, Progress};

/// Move everything from SQLite to an empty PostgreSQL database
///
/// Stop the service, and name the PostgreSQL database as database.url. Accounts, keys, money, batches and records are
/// copied in one transaction, counted and checked; a move that breaks off changes nothing and may be begun again. The
/// SQLite database is kept under another name.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  SAUTI_DATABASE__URL=postgres://sauti@db/sauti sauti move --data /var/lib/sauti")]
pub(super) struct Move {
    /// The SQLite database; sauti.db in the data folder where none is named
    file: Option<PathBuf>,
}

impl Move {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        let config = common.load()?;
        if !is_postgres(&config) {
            bail!("name the PostgreSQL database to move to as database.url");
        }
        let file = self
            .file
            .unwrap_or_else(|| config.data.dir.join("sauti.db"));
        let progress = Progress::on_terminal();
        let told = |table: &str, rows: i64, total: i64| {
            progress.show(&format!("{table}: {rows} of {total} rows"));
            if rows == total {
                progress.clear();
                // The move goes on whether or not somebody reads this.
                let _ = output::print(&format!("{table}: {rows} rows"));
            }
        };
        let moved = offline::block_on(async {
            let url = config.database_url();
            sauti_store::move_to_postgres(&file, url.expose_secret(), told).await
        })??;
        output::print(&format!(
            "moved: {} workspaces, {} transfers; every row is there, and the books add up\n\
             the SQLite database is kept as {}",
            moved.report.workspaces,
            moved.report.transfers,
            moved.kept.display()
        ))?;
        with_store(common, async |store, _| {
            audit(store, None, ACTOR)
                .did(AuditAction::StoreMoved, "")
                .await;
            Ok(ExitCode::SUCCESS)
        })
    }
}
