use std::process::ExitCode;

use anyhow::ensure;
use clap::{Args, Subcommand};
use sauti_service::config::Config;
use sauti_service::workspaces;
use sauti_store::{
    Credit, Micro, PaymentEvent, StatementQuery, StatementRow, Store, Workspace, WorkspaceId,
};
use serde_json::json;

use super::state::{self, ACTOR, with_store};
use super::{Common, output};

const PAGE: i64 = 1_000;

#[derive(Debug, Subcommand)]
pub(super) enum WorkspaceCommand {
    /// Make a workspace; prints its id as JSON
    #[command(after_help = "Example:\n  sauti workspace create Duka --owner asha@example.com")]
    Create {
        /// What it is called
        name: String,
        /// The account that owns it, by id or e-mail
        #[arg(long, value_name = "ACCOUNT")]
        owner: String,
        /// ISO 4217 code; the settings' where it is not given
        #[arg(long)]
        currency: Option<String>,
    },
    /// List all workspaces with their balances
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    Credit(CreditCommand),
    Correct(Correct),
    /// Print the balance as JSON
    Balance {
        /// Its id (ws_...); `sauti workspace list` shows them
        workspace: WorkspaceId,
    },
    Statement(Statement),
    /// List the members of a workspace
    Members {
        /// Its id (ws_...); `sauti workspace list` shows them
        workspace: WorkspaceId,
    },
}

/// Put money into a workspace
///
/// The same --reference again changes nothing, so a retry never pays twice.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  sauti workspace credit ws_01... 2500.00 --reference mpesa-QK12AB34")]
pub(super) struct CreditCommand {
    /// Its id (ws_...); `sauti workspace list` shows them
    workspace: WorkspaceId,
    /// In units of the workspace's currency: 250 or 12.50
    #[arg(value_parser = output::parse_money)]
    amount: i64,
    /// The payment's own number; made up where it is not given
    #[arg(long, value_name = "TEXT")]
    reference: Option<String>,
}

/// Take money out of a workspace that was put in by mistake
///
/// At most what is available. The statement shows a correction, the audit trail the reason. The same --reference again
/// changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  sauti workspace correct ws_01... 2500.00 --reference mpesa-QK12AB34 --reason 'booked twice'")]
pub(super) struct Correct {
    /// Its id (ws_...); `sauti workspace list` shows them
    workspace: WorkspaceId,
    /// In units of the workspace's currency: 250 or 12.50
    #[arg(value_parser = output::parse_money)]
    amount: i64,
    /// The number of the mistake
    #[arg(long, value_name = "TEXT")]
    reference: String,
    /// Why; kept in the audit trail
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

/// Print what came in and what was spent
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  sauti workspace statement ws_01... --csv --since 2026-01-01 --until 2026-02-01 > january.csv")]
pub(super) struct Statement {
    /// Its id (ws_...); `sauti workspace list` shows them
    workspace: WorkspaceId,
    /// As CSV, every column
    #[arg(long)]
    csv: bool,
    /// From this day on (UTC), YYYY-MM-DD
    #[arg(long, value_name = "DATE")]
    since: Option<jiff::civil::Date>,
    /// Before this day (UTC), YYYY-MM-DD
    #[arg(long, value_name = "DATE")]
    until: Option<jiff::civil::Date>,
}

impl WorkspaceCommand {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        with_store(common, async |store, config| match self {
            Self::Create {
                name,
                owner,
                currency,
            } => create(store, config, &name, &owner, currency).await,
            Self::List { json } => list(store, json).await,
            Self::Credit(credit) => credit.run(store).await,
            Self::Correct(correct) => correct.run(store).await,
            Self::Balance { workspace } => balance(store, &workspace).await,
            Self::Statement(statement) => statement.run(store).await,
            Self::Members { workspace } => members(store, &workspace).await,
        })
    }
}

async fn create(
    store: &Store,
    config: &Config,
    name: &str,
    owner: &str,
    currency: Option<String>,
) -> anyhow::Result<ExitCode> {
    let owner = state::find_account(store, owner).await?;
    let currency = currency.as_deref().unwrap_or(&config.prices.currency);
    let workspace = workspaces::create(store, ACTOR, &owner.id, name, currency).await?;
    output::print_json(&json!({
        "workspace_id": workspace.id,
        "name": workspace.name,
        "currency": workspace.currency,
    }))
}

async fn list(store: &Store, as_json: bool) -> anyhow::Result<ExitCode> {
    let mut workspaces: Vec<Workspace> = Vec::new();
    loop {
        let after = workspaces.last().map(|workspace| &workspace.id);
        let page = store.list_workspaces(after, PAGE).await?;
        let is_last = page.len() < PAGE as usize;
        workspaces.extend(page);
        if is_last {
            break;
        }
    }
    let mut rows = Vec::with_capacity(workspaces.len());
    let mut shown = Vec::with_capacity(workspaces.len());
    for workspace in workspaces {
        let available_micro = store.balance(&workspace.id).await?.available_micro;
        let mut object = serde_json::to_value(&workspace)?;
        object["available_micro"] = json!(available_micro);
        shown.push(object);
        let closed = workspace.closed_us.map_or("", |_| "closed");
        rows.push(vec![
            workspace.id.to_string(),
            workspace.name,
            format!("{} {}", workspace.currency, Micro(available_micro)),
            closed.to_owned(),
        ]);
    }
    if as_json {
        return output::print_json(&shown);
    }
    output::print_table(&["WORKSPACE", "NAME", "BALANCE", ""], &rows)
}

impl CreditCommand {
    async fn run(self, store: &Store) -> anyhow::Result<ExitCode> {
        ensure!(self.amount > 0, "the amount must be above zero");
        let workspace = store.workspace(&self.workspace).await?;
        let made_up = || sauti_store::ids::new_id("cli_");
        let payment = PaymentEvent {
            provider: ACTOR.to_owned(),
            event_id: self.reference.unwrap_or_else(made_up),
            workspace_id: workspace.id.clone(),
            amount_micro: self.amount,
            currency: workspace.currency.clone(),
        };
        let credit = workspaces::credit(store, ACTOR, &payment).await?;
        print_moved(&workspace, &payment.event_id, &credit)
    }
}

impl Correct {
    async fn run(self, store: &Store) -> anyhow::Result<ExitCode> {
        let workspace = store.workspace(&self.workspace).await?;
        let (id, reference, reason) = (&workspace.id, &self.reference, &self.reason);
        let correction =
            workspaces::correct(store, ACTOR, id, self.amount, reference, reason).await?;
        print_moved(&workspace, reference, &correction)
    }
}

fn print_moved(workspace: &Workspace, reference: &str, moved: &Credit) -> anyhow::Result<ExitCode> {
    output::print_json(&json!({
        "workspace_id": workspace.id,
        "reference": reference,
        "applied": moved.applied,
        "currency": workspace.currency,
        "available_micro": moved.balance.available_micro,
        "available": Micro(moved.balance.available_micro).to_string(),
    }))
}

async fn balance(store: &Store, workspace_id: &WorkspaceId) -> anyhow::Result<ExitCode> {
    let workspace = store.workspace(workspace_id).await?;
    let balance = store.balance(workspace_id).await?;
    output::print_json(&json!({
        "workspace_id": workspace.id,
        "currency": workspace.currency,
        "available_micro": balance.available_micro,
        "reserved_micro": balance.reserved_micro,
        "available": Micro(balance.available_micro).to_string(),
        "reserved": Micro(balance.reserved_micro).to_string(),
    }))
}

async fn members(store: &Store, workspace_id: &WorkspaceId) -> anyhow::Result<ExitCode> {
    let row = |member: sauti_store::Member| {
        let since = output::moment(member.since_us);
        vec![
            member.account_id.to_string(),
            member.email,
            member.name,
            member.role.to_string(),
            since,
        ]
    };
    store.workspace(workspace_id).await?;
    let members = store.members(workspace_id).await?;
    let rows: Vec<_> = members.into_iter().map(row).collect();
    let header = ["ACCOUNT", "E-MAIL", "NAME", "ROLE", "SINCE"];
    output::print_table(&header, &rows)
}

impl Statement {
    async fn run(self, store: &Store) -> anyhow::Result<ExitCode> {
        let workspace = store.workspace(&self.workspace).await?;
        let mut query = StatementQuery {
            from_us: self.since.map_or(Ok(0), output::start_us)?,
            to_us: self.until.map_or(Ok(i64::MAX), output::start_us)?,
            after: None,
            limit: PAGE,
        };
        if self.csv {
            output::print(StatementRow::CSV_HEADER)?;
        }
        let mut table_rows = Vec::new();
        loop {
            let page = store.statement(&workspace.id, &query).await?;
            let Some(last) = page.last() else { break };
            query.after = Some((last.created_us, last.id.clone()));
            if self.csv {
                // Page by page: a statement may be longer than memory.
                let lines: Vec<String> = page.iter().map(StatementRow::to_csv).collect();
                output::print(&lines.join("\n"))?;
            } else {
                table_rows.extend(page.iter().map(statement_cells));
            }
        }
        if self.csv {
            return Ok(ExitCode::SUCCESS);
        }
        let total = workspace.currency.as_str();
        let header = ["TIME", "KIND", "AMOUNT", total, "FOR", "UNITS"];
        output::print_table(&header, &table_rows)
    }
}

fn statement_cells(row: &StatementRow) -> Vec<String> {
    let what = match row.operation {
        Some(operation) => operation.as_str(),
        None => &row.memo,
    };
    vec![
        output::moment(row.created_us),
        row.kind.clone(),
        format!("{:.6}", Micro(row.amount_micro)),
        format!("{:.6}", Micro(row.total_after_micro)),
        what.to_owned(),
        row.units.to_string(),
    ]
}
