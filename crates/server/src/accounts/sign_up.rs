use std::net::IpAddr;
use std::time::Instant;

use sauti_store::{Account, StoreError, TokenPurpose, password};
use secrecy::SecretString;

use super::audit;
use crate::app::App;
use crate::mail::Letter;
use crate::problem::{Code, Problem};

/// Makes an account with its own workspace and sends the link that confirms it. Whether the
/// address has an account already is told only by mail, to the one who owns it.
pub async fn sign_up(
    app: &App,
    client: IpAddr,
    email: &str,
    password: SecretString,
    name: &str,
) -> Result<(), Problem> {
    if !app.config.signup.open {
        return Err(Problem::detailed(
            Code::RoleMissing,
            "Accounts are made by the operator here.",
        ));
    }
    let (address, now) = (client.to_string(), Instant::now());
    let wait = |seconds| Problem::new(Code::RateLimited).retry_after(seconds);
    app.sign_ups.check(&address, now).map_err(wait)?;
    app.sign_ups.count(&address, now);
    match create(app, email, password, name).await {
        Ok(account) => send_confirmation(app, &account).await,
        Err(StoreError::Exists(_)) => {
            let link = format!("{}/console/sign-in", app.config.public_url());
            send(app, email, &Letter::already_known(&link)).await;
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

async fn create(
    app: &App,
    email: &str,
    password: SecretString,
    name: &str,
) -> Result<Account, StoreError> {
    let hashed = tokio::task::spawn_blocking(move || password::hash(&password)).await;
    let hash = hashed.map_err(|_| StoreError::Closed)??;
    let account = app.store.create_account(email, &hash, name).await?;
    let currency = &app.config.prices.currency;
    let workspace_name = if name.trim().is_empty() { email } else { name };
    let workspace = app
        .store
        .create_workspace(Some(&account.id), workspace_name, currency)
        .await?;
    audit(
        app,
        Some(&workspace.id),
        &account.id,
        "account.created",
        &account.id,
    )
    .await;
    Ok(account)
}

/// For the command line and the operator: no mail, no waiting.
pub async fn create_confirmed(
    app: &App,
    email: &str,
    password: SecretString,
    name: &str,
) -> Result<Account, Problem> {
    let account = create(app, email, password, name).await?;
    app.store.confirm_account_by_id(&account.id).await?;
    Ok(app.store.account(&account.id).await?)
}

pub async fn resend_confirmation(app: &App, account: &Account) -> Result<(), Problem> {
    if account.is_confirmed() {
        return Ok(());
    }
    let (name, now) = (format!("confirm {}", account.id), Instant::now());
    let wait = |seconds| Problem::new(Code::RateLimited).retry_after(seconds);
    app.sign_ups.check(&name, now).map_err(wait)?;
    app.sign_ups.count(&name, now);
    send_confirmation(app, account).await
}

async fn send_confirmation(app: &App, account: &Account) -> Result<(), Problem> {
    let token = app
        .store
        .issue_token(&account.id, TokenPurpose::Confirm)
        .await?;
    let link = format!("{}/console/confirm?token={token}", app.config.public_url());
    send(app, &account.email, &Letter::confirm(&link)).await;
    Ok(())
}

/// Returns the account's id. A link works once.
pub async fn confirm(app: &App, token: &str) -> Result<String, Problem> {
    let account_id = app.store.confirm_account(token).await?;
    audit(app, None, &account_id, "account.confirmed", &account_id).await;
    Ok(account_id)
}

/// In the background: how long a mail takes would tell whether there was one to send.
pub(super) async fn send(app: &App, to: &str, letter: &Letter) {
    let (app, to, letter) = (app.clone(), to.to_owned(), letter.clone());
    tokio::spawn(async move {
        if let Err(error) = app.mailer.send(&to, &letter).await {
            tracing::error!(%error, "a mail was not sent");
        }
    });
}
