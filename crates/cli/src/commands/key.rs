use std::process::ExitCode;

use clap::{Args, Subcommand};
use sauti_service::config::Config;
use sauti_service::keys;
use sauti_store::ids::now_us;
use sauti_store::{IssuedKey, KeyInfo, NewKey, Permissions, Store, WorkspaceId};
use serde_json::json;

use super::state::{self, ACTOR, with_store};
use super::{Common, output};

const DAY_US: i64 = 24 * 3600 * 1_000_000;

#[derive(Debug, Subcommand)]
pub(super) enum KeyCommand {
    Create(Create),
    /// List the keys of a workspace; their secrets are not kept anywhere
    List {
        /// The workspace's id (ws_...); `sauti workspace list` shows them
        workspace: WorkspaceId,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// End a key: a running service refuses it within a second
    Revoke {
        /// The workspace's id (ws_...); `sauti workspace list` shows them
        workspace: WorkspaceId,
        /// Its id (key_...); `sauti key list` shows them
        key: String,
    },
    /// Make a new key with the rights of an old one
    ///
    /// The old key ends at once, or after --keep-hours, so that callers can change over.
    Rotate {
        /// The workspace's id (ws_...); `sauti workspace list` shows them
        workspace: WorkspaceId,
        /// Its id (key_...); `sauti key list` shows them
        key: String,
        /// How long the old key still works
        #[arg(long, value_name = "N", default_value_t = 0)]
        keep_hours: u32,
    },
}

/// Make an API key; prints it as JSON, this once
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  sauti key create ws_01... --name 'Call centre' --permissions speech,transcription --cap 500")]
pub(super) struct Create {
    /// The workspace's id (ws_...); `sauti workspace list` shows them
    workspace: WorkspaceId,
    /// Where it is used
    #[arg(long, default_value = "")]
    name: String,
    /// speech, transcription, voices, usage, keys
    #[arg(
        long,
        value_name = "LIST",
        default_value = "speech,transcription,voices"
    )]
    permissions: Permissions,
    /// The key ends after so many days
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=36_500))]
    expires_days: Option<u32>,
    /// The most the key may spend, in units of the workspace's currency
    #[arg(long, value_name = "AMOUNT", value_parser = output::parse_money)]
    cap: Option<i64>,
}

impl KeyCommand {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        with_store(common, async |store, config| match self {
            Self::Create(create) => create.run(store, config).await,
            Self::List { workspace, json } => list(store, &workspace, json).await,
            Self::Revoke { workspace, key } => {
                keys::revoke(store, ACTOR, &workspace, &key.parse()?).await?;
                output::print(&format!("{key} is revoked"))
            }
            Self::Rotate {
                workspace,
                key,
                keep_hours,
            } => {
                let ends_us = now_us() + i64::from(keep_hours) * 3600 * 1_000_000;
                let ends_us = (keep_hours > 0).then_some(ends_us);
                let key_id = key.parse()?;
                let issued = keys::rotate(store, ACTOR, &workspace, &key_id, ends_us).await?;
                print_issued(&issued)
            }
        })
    }
}

impl Create {
    async fn run(self, store: &Store, config: &Config) -> anyhow::Result<ExitCode> {
        let days = self.expires_days.map(i64::from);
        let ends_us = days.map(|days| now_us() + days * DAY_US);
        let new = NewKey {
            workspace_id: self.workspace,
            environment: state::key_environment(config)?,
            name: self.name,
            permissions: self.permissions,
            expires_us: ends_us,
            spend_cap_micro: self.cap,
            created_by: ACTOR.to_owned(),
        };
        let issued = keys::create(store, new).await?;
        print_issued(&issued)
    }
}

fn print_issued(issued: &IssuedKey) -> anyhow::Result<ExitCode> {
    output::print_json(&json!({
        "key_id": issued.info.id,
        "api_key": issued.key.reveal(),
        "workspace_id": issued.info.workspace_id,
        "name": issued.info.name,
        "permissions": issued.info.permissions,
        "expires": issued.info.expires_us.map(output::moment),
    }))
}

async fn list(
    store: &Store,
    workspace_id: &WorkspaceId,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    store.workspace(workspace_id).await?;
    let keys = store.list_keys(workspace_id).await?;
    if as_json {
        return output::print_json(&keys);
    }
    let now = now_us();
    let state = |key: &KeyInfo| match (key.revoked_us, key.expires_us) {
        (Some(_), _) => "revoked".to_owned(),
        (None, Some(at_us)) if at_us <= now => "expired".to_owned(),
        (None, Some(at_us)) => format!("until {}", output::moment(at_us)),
        (None, None) => "valid".to_owned(),
    };
    let row = |key: &KeyInfo| {
        vec![
            key.id.to_string(),
            key.name.clone(),
            format!("...{}", key.last_four),
            key.permissions.to_string(),
            key.last_used_us
                .map_or_else(|| "never".to_owned(), output::moment),
            state(key),
        ]
    };
    let rows: Vec<_> = keys.iter().map(row).collect();
    let header = [
        "KEY",
        "NAME",
        "ENDS IN",
        "PERMISSIONS",
        "LAST USED",
        "STATE",
    ];
    output::print_table(&header, &rows)
}
