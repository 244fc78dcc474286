use std::process::ExitCode;

use clap::Args;
use sauti_service::accounts::NewAccount;
use sauti_service::config::Config;
use sauti_service::{accounts, audit, keys};
use sauti_store::{AccountId, AuditAction, NewKey, Permissions, Store, WorkspaceId};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use super::state::{self, ACTOR, with_new_store};
use super::{Common, output};

/// Make a confirmed account, a funded workspace and a key, in one step
///
/// Prints JSON: {"account_id", "workspace_id", "api_key"}. For scripts and tests.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  sauti bootstrap --data /var/lib/sauti --credit 1000 --permissions speech,transcription")]
pub(super) struct Bootstrap {
    /// Money for the workspace, in units of its currency
    #[arg(long, value_name = "N", default_value = "1000", value_parser = output::parse_money)]
    credit: i64,
    /// What the key may do: speech, transcription, voices, usage, keys
    #[arg(
        long,
        value_name = "LIST",
        default_value = "speech,transcription,voices,usage,keys"
    )]
    permissions: Permissions,
    /// The account's address; made up where it is not given
    #[arg(long)]
    email: Option<String>,
}

impl Bootstrap {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        with_new_store(common, async |store, config| {
            let email = self
                .email
                .unwrap_or_else(|| format!("{}@bootstrap.invalid", sauti_store::ids::new_id("a")));
            let (credit, permissions) = (self.credit, self.permissions);
            let made = make(store, config, &email, "Bootstrap", credit, permissions).await?;
            output::print_json(&json!({
                "account_id": made.account_id,
                "workspace_id": made.workspace_id,
                "api_key": made.api_key.expose_secret(),
            }))
        })
    }
}

/// A tenant ready to work.
pub(super) struct Tenant {
    pub account_id: AccountId,
    pub password: SecretString,
    pub workspace_id: WorkspaceId,
    pub api_key: SecretString,
}

pub(super) async fn make(
    store: &Store,
    config: &Config,
    email: &str,
    name: &str,
    credit_micro: i64,
    permissions: Permissions,
) -> anyhow::Result<Tenant> {
    let password = state::random_password()?;
    let hash = state::hash_password(password.clone()).await?;
    let new = NewAccount {
        email,
        name,
        password_hash: &hash,
        currency: &config.prices.currency,
    };
    let (account, workspace) = accounts::create(store, Some(ACTOR), new).await?;
    accounts::confirm(store, ACTOR, &account.id).await?;
    if credit_micro > 0 {
        store
            .credit(&workspace.id, credit_micro, "bootstrap", &workspace.id)
            .await?;
    }
    let key = NewKey {
        workspace_id: workspace.id.clone(),
        environment: state::key_environment(config)?,
        name: name.to_owned(),
        permissions,
        expires_us: None,
        spend_cap_micro: None,
        created_by: ACTOR.to_owned(),
    };
    let issued = keys::create(store, key).await?;
    audit(store, Some(&workspace.id), ACTOR)
        .did(AuditAction::WorkspaceBootstrapped, &account.id)
        .await;
    Ok(Tenant {
        account_id: account.id,
        password,
        workspace_id: workspace.id,
        api_key: issued.key.reveal().into(),
    })
}
