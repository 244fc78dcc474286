use std::pin::pin;
use std::process::ExitCode;

use clap::{Subcommand, ValueEnum};
use futures_util::TryStreamExt;
use jiff::civil::Date;
use sauti_service::trail;
use sauti_store::{AuditQuery, WorkspaceId};

use super::state::with_store;
use super::{Common, output};

#[derive(Debug, Subcommand)]
pub(super) enum Audit {
    /// Print who did what, newest first; all workspaces unless one is named
    ///
    /// Days are in UTC. Safe beside a running server.
    Export {
        /// Only this one
        #[arg(long)]
        workspace: Option<WorkspaceId>,
        /// First day, such as 2026-01-01
        #[arg(long, value_name = "DAY")]
        from: Option<Date>,
        /// Last day
        #[arg(long, value_name = "DAY")]
        to: Option<Date>,
        /// A line for each entry, as JSON or CSV
        #[arg(long, value_enum, default_value = "jsonl")]
        format: AuditFormatWord,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum AuditFormatWord {
    /// One JSON object a line
    Jsonl,
    Csv,
}

impl From<AuditFormatWord> for trail::AuditFormat {
    fn from(format: AuditFormatWord) -> Self {
        match format {
            AuditFormatWord::Jsonl => Self::Jsonl,
            AuditFormatWord::Csv => Self::Csv,
        }
    }
}

impl Audit {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        let Self::Export {
            workspace,
            from,
            to,
            format,
        } = self;
        let query = AuditQuery {
            workspace_id: workspace,
            from_us: from.map(output::start_us).transpose()?,
            to_us: to
                .map(|day| output::start_us(day.tomorrow()?))
                .transpose()?,
            ..AuditQuery::default()
        };
        with_store(common, async |store, _| {
            if let Some(workspace_id) = &query.workspace_id {
                store.workspace(workspace_id).await?;
            }
            let mut pages = pin!(trail::export(store.clone(), query, format.into()));
            while let Some(page) = pages.try_next().await? {
                if !page.is_empty() {
                    output::print(&page)?;
                }
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}
