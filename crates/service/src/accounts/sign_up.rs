use std::net::IpAddr;
use std::time::Duration;

use futures_util::FutureExt as _;
use sauti_store::{
    Account, AccountId, AuditAction, Role, StoreError, TokenPurpose, check_new_account, password,
};
use secrecy::SecretString;

use super::guard::{self, hashing, token_attempt};
use super::manage::{self, NewAccount};
use crate::app::App;
use crate::mail::Letter;
use crate::{ServiceError, audit};

const WELCOME_EVERY: Duration = Duration::from_secs(600);

/// Makes an account with its own workspace and sends the link that confirms it. Whether the address has an account already is
/// told only by mail, to the one who owns it: what differs happens after the answer. Returns the letter where the settings
/// let it be shown.
pub async fn sign_up(
    app: &App,
    client: IpAddr,
    email: &str,
    password: SecretString,
    name: &str,
) -> Result<Option<Letter>, ServiceError> {
    if !app.config.signup.open {
        return Err(ServiceError::SignUpClosed);
    }
    check_new_account(email, name)?;
    guard::letter(app, "sign-up", client, email).await?;
    let hash = hashing(app, move || password::hash(&password)).await??;
    let made = tokio::spawn(make_and_write(
        app.clone(),
        email.to_owned(),
        hash,
        name.to_owned(),
    ));
    match app.config.mail.show_outbox {
        true => made.await.map_err(ServiceError::internal)?.map(Some),
        false => Ok(None),
    }
}

async fn make_and_write(
    app: App,
    email: String,
    hash: String,
    name: String,
) -> Result<Letter, ServiceError> {
    let new = NewAccount {
        email: &email,
        name: &name,
        password_hash: &hash,
        currency: &app.config.prices.currency,
    };
    let letter = match manage::create(&app.store, None, new).await {
        Ok((account, _)) => confirmation(&app, &account).await,
        Err(StoreError::Exists(_)) => {
            let link = format!("{}/console/sign-in", app.config.public_url());
            Ok(Letter::already_known(&link))
        }
        Err(error) => Err(error.into()),
    };
    match &letter {
        Ok(letter) => send(&app, &email, letter).await,
        Err(error) => tracing::error!(%error, "nobody was signed up"),
    }
    letter
}

pub async fn resend_confirmation(app: &App, account: &Account) -> Result<(), ServiceError> {
    if account.is_confirmed() {
        return Ok(());
    }
    guard::hourly(app, &format!("confirm {}", account.id)).await?;
    let letter = confirmation(app, account).await?;
    send(app, &account.email, &letter).await;
    Ok(())
}

async fn confirmation(app: &App, account: &Account) -> Result<Letter, ServiceError> {
    let token = app
        .store
        .issue_token(&account.id, TokenPurpose::Confirm)
        .await?;
    let link = format!("{}/console/confirm?token={token}", app.config.public_url());
    Ok(Letter::confirm(&link))
}

/// Returns the account. A link works once.
pub async fn confirm_by_link(
    app: &App,
    client: IpAddr,
    token: &str,
) -> Result<Account, ServiceError> {
    let welcome_micro = app.config.signup.welcome_credit_micro;
    let attempt = async { Ok(app.store.confirm_account(token, welcome_micro).await?) };
    let account_id = token_attempt(app, client, attempt).await?;
    audit(&app.store, None, &account_id)
        .did(AuditAction::AccountConfirmed, &account_id)
        .await;
    welcome_whoever_is_due(app).await;
    Ok(app.store.account(&account_id).await?)
}

/// Gives new accounts something to begin with. That it is owed was written down with the confirmation, and the ledger
/// books a reference only once: so it is given exactly once, also where a process dies in between. A failure is
/// logged and tried again: the account is confirmed all the same.
pub async fn welcome_whoever_is_due(app: &App) {
    let due = match app.store.welcomes_due().await {
        Ok(due) => due,
        Err(error) => return tracing::error!(?error, "nobody could be welcomed"),
    };
    for (account_id, amount_micro) in due {
        if let Err(error) = give_welcome(app, &account_id, amount_micro).await {
            tracing::error!(?error, account = %account_id, "no welcome credit was given");
        }
    }
}

/// At the start, for those whom a dead process did not get to, and now and then.
pub async fn welcome_forever(app: App) {
    let mut ticks = tokio::time::interval(WELCOME_EVERY);
    loop {
        ticks.tick().await;
        welcome_whoever_is_due(&app).await;
    }
}

/// Into the workspace that was made with the account, not one they were invited to.
async fn give_welcome(
    app: &App,
    account_id: &AccountId,
    amount_micro: i64,
) -> Result<(), ServiceError> {
    let mine = app.store.workspaces_of(account_id).await?;
    if let Some((workspace, _)) = mine.iter().find(|(_, role)| *role == Role::Owner) {
        let credit = app
            .store
            .credit(&workspace.id, amount_micro, "welcome", account_id)
            .await?;
        if credit.applied {
            audit(&app.store, Some(&workspace.id), account_id)
                .did(AuditAction::WorkspaceWelcomed, &workspace.id)
                .await;
        }
    }
    app.store.welcome_given(account_id).await?;
    Ok(())
}

/// In the background: how long a mail takes would tell whether there was one to send.
pub(super) async fn send(app: &App, to: &str, letter: &Letter) {
    let (app, to, letter) = (app.clone(), to.to_owned(), letter.clone());
    let sent = async move {
        if let Err(error) = app.mailer.send(&to, &letter).await {
            tracing::error!(%error, "a mail was not sent");
        }
    };
    tokio::spawn(sent.boxed());
}
