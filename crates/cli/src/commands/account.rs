use std::io::BufRead;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};
use sauti_service::accounts::{self, NewAccount};
use sauti_service::config::Config;
use sauti_store::{Account, Micro, Store};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use super::state::{self, ACTOR, with_new_store, with_store};
use super::{Common, output};

const PAGE: i64 = 1_000;

#[derive(Debug, Subcommand)]
pub(super) enum AccountCommand {
    Create(Create),
    /// Confirm an account's address without the link from the mail
    Confirm {
        /// Its id (acc_...) or its e-mail address
        account: String,
    },
    /// List all accounts
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show an account and its workspaces as JSON
    Show {
        /// Its id (acc_...) or its e-mail address
        account: String,
    },
    /// Let an account credit workspaces from the console, or stop it
    Operator {
        /// Its id (acc_...) or its e-mail address
        account: String,
        /// Take the right away
        #[arg(long)]
        remove: bool,
    },
    /// Forget a person: address, name, password, sessions, memberships
    ///
    /// A workspace that nobody else is in is closed and its keys are revoked; its ledger stays.
    Delete {
        /// Its id (acc_...) or its e-mail address
        account: String,
        /// Do it without asking
        #[arg(long)]
        yes: bool,
    },
    /// Set a new password and end all sessions
    ResetPassword {
        /// Its id (acc_...) or its e-mail address
        account: String,
        /// Read the password from standard input rather than making one
        #[arg(long)]
        password_stdin: bool,
    },
}

/// Make an account with a workspace of its own
///
/// Prints JSON with the ids of both. Without --password-stdin a password is made and printed.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  sauti account create asha@example.com --name Asha --confirmed --data /var/lib/sauti")]
pub(super) struct Create {
    /// The e-mail address to sign in with
    email: String,
    /// The person or company; the workspace is called so too
    #[arg(long, default_value = "")]
    name: String,
    /// Take the address as confirmed
    #[arg(long)]
    confirmed: bool,
    /// Read the password from standard input rather than making one
    #[arg(long)]
    password_stdin: bool,
}

impl AccountCommand {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<ExitCode> {
        let begins = matches!(self, Self::Create(_));
        let work = async |store: &Store, config: &Config| match self {
            Self::Create(create) => create.run(store, config).await,
            Self::Confirm { account } => {
                let account = state::find_account(store, &account).await?;
                accounts::confirm(store, ACTOR, &account.id).await?;
                output::print(&format!("{} is confirmed", account.email))
            }
            Self::List { json } => list(store, json).await,
            Self::Show { account } => show(store, &account).await,
            Self::Operator { account, remove } => {
                let account = state::find_account(store, &account).await?;
                accounts::set_operator(store, ACTOR, &account.id, !remove).await?;
                let is = if remove { "no longer" } else { "now" };
                output::print(&format!("{} is {is} an operator", account.email))
            }
            Self::Delete { account, yes } => delete(store, &account, yes).await,
            Self::ResetPassword {
                account,
                password_stdin,
            } => reset_password(store, &account, password_stdin).await,
        };
        match begins {
            true => with_new_store(common, work),
            false => with_store(common, work),
        }
    }
}

impl Create {
    async fn run(self, store: &Store, config: &Config) -> anyhow::Result<ExitCode> {
        let (password, made) = password(self.password_stdin)?;
        let hash = state::hash_password(password.clone()).await?;
        let new = NewAccount {
            email: &self.email,
            name: &self.name,
            password_hash: &hash,
            currency: &config.prices.currency,
        };
        let (account, workspace) = accounts::create(store, Some(ACTOR), new).await?;
        if self.confirmed {
            accounts::confirm(store, ACTOR, &account.id).await?;
        }
        let mut shown = json!({
            "account_id": account.id,
            "workspace_id": workspace.id,
            "email": account.email,
            "confirmed": self.confirmed,
        });
        if made {
            shown["password"] = json!(password.expose_secret());
        }
        output::print_json(&shown)
    }
}

/// The password, and whether we made it.
fn password(from_stdin: bool) -> anyhow::Result<(SecretString, bool)> {
    if !from_stdin {
        return Ok((state::random_password()?, true));
    }
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    read.context("cannot read the password")?;
    Ok((line.trim_end_matches(['\n', '\r']).into(), false))
}

async fn list(store: &Store, as_json: bool) -> anyhow::Result<ExitCode> {
    let mut accounts: Vec<Account> = Vec::new();
    loop {
        let after = accounts.last().map(|account| &account.id);
        let page = store.list_accounts(after, PAGE).await?;
        let is_last = page.len() < PAGE as usize;
        accounts.extend(page);
        if is_last {
            break;
        }
    }
    if as_json {
        return output::print_json(&accounts);
    }
    let row = |account: &Account| {
        let confirmed = if account.is_confirmed() { "yes" } else { "no" };
        vec![
            account.id.to_string(),
            account.email.clone(),
            account.name.clone(),
            confirmed.to_owned(),
            output::moment(account.created_us),
        ]
    };
    let rows: Vec<_> = accounts.iter().map(row).collect();
    let header = ["ACCOUNT", "E-MAIL", "NAME", "CONFIRMED", "MADE"];
    output::print_table(&header, &rows)
}

async fn show(store: &Store, named: &str) -> anyhow::Result<ExitCode> {
    let account = state::find_account(store, named).await?;
    let mut workspaces = Vec::new();
    for (workspace, role) in store.workspaces_of(&account.id).await? {
        let balance = store.balance(&workspace.id).await?;
        workspaces.push(json!({
            "workspace_id": workspace.id,
            "name": workspace.name,
            "role": role,
            "currency": workspace.currency,
            "available_micro": balance.available_micro,
        }));
    }
    let mut shown = serde_json::to_value(&account)?;
    shown["workspaces"] = json!(workspaces);
    output::print_json(&shown)
}

async fn delete(store: &Store, named: &str, yes: bool) -> anyhow::Result<ExitCode> {
    let account = state::find_account(store, named).await?;
    let lost = money_lost(store, &account).await?;
    for money in &lost {
        eprintln!("{money} would be lost: nobody else is in that workspace");
    }
    if !yes && !confirmed(&format!("Delete {} for good?", account.email))? {
        return output::print("nothing was deleted");
    }
    accounts::delete(store, ACTOR, &account.id, true).await?;
    output::print(&format!("{} is deleted", account.id))
}

/// What lies in workspaces that nobody else is in, in words.
async fn money_lost(store: &Store, account: &Account) -> anyhow::Result<Vec<String>> {
    let mut lost = Vec::new();
    for (workspace, _) in store.workspaces_of(&account.id).await? {
        let available_micro = store.balance(&workspace.id).await?.available_micro;
        if available_micro > 0 && store.members(&workspace.id).await?.len() == 1 {
            let (amount, currency) = (Micro(available_micro), workspace.currency);
            lost.push(format!("{currency} {amount} in {}", workspace.id));
        }
    }
    Ok(lost)
}

fn confirmed(question: &str) -> anyhow::Result<bool> {
    eprint!("{question} [y/N] ");
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes" | "ndiyo"))
}

async fn reset_password(store: &Store, named: &str, from_stdin: bool) -> anyhow::Result<ExitCode> {
    let account = state::find_account(store, named).await?;
    let (password, made) = password(from_stdin)?;
    let hash = state::hash_password(password.clone()).await?;
    accounts::reset_password(store, ACTOR, &account, &hash).await?;
    if made {
        return output::print(password.expose_secret());
    }
    output::print(&format!("the password of {} is changed", account.email))
}
