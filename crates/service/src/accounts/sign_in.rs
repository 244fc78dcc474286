use std::net::IpAddr;
use std::time::Duration;

use futures_util::FutureExt as _;
use sauti_store::{Account, AuditAction, IssuedSession, SessionId, TokenPurpose, password};
use secrecy::{ExposeSecret, SecretString};

use super::guard::{self, hashing, token_attempt};
use super::manage::{self, password_guesses};
use super::sign_up::{send, welcome_whoever_is_due};
use crate::app::App;
use crate::mail::Letter;
use crate::{ServiceError, audit};

pub const SESSION_LIFETIME: Duration = Duration::from_secs(14 * 24 * 3_600);

/// Opens a session, or says no in the same words and the same time whatever was wrong. Every try counts before the password
/// is looked at; one that succeeds is given back, and leaves those that failed counted.
pub async fn sign_in(
    app: &App,
    client: IpAddr,
    email: &str,
    password: SecretString,
    user_agent: &str,
) -> Result<(Account, IssuedSession), ServiceError> {
    let attempt = guard::password_guess(app, Some(client), email).await?;
    let account = app.store.account_by_email(email).await?;
    match check(app, account.as_ref(), password).await {
        Ok(true) => {}
        Ok(false) => {
            if let Some(account) = account {
                audit_later(
                    app,
                    account.id.to_string(),
                    AuditAction::SignInFailed,
                    client.to_string(),
                );
            }
            return Err(ServiceError::CredentialsWrong);
        }
        Err(error) => {
            attempt.give_back().await?;
            return Err(error);
        }
    }
    let account = account.ok_or(ServiceError::CredentialsWrong)?;
    attempt.give_back().await?;
    let session = open_session(app, &account, user_agent).await?;
    Ok((account, session))
}

/// After the answer: how long it takes would tell that the account exists.
fn audit_later(app: &App, actor: String, action: AuditAction, target: String) {
    let app = app.clone();
    tokio::spawn(async move { audit(&app.store, None, &actor).did(action, &target).await });
}

/// For someone who has proven who they are.
pub async fn open_session(
    app: &App,
    account: &Account,
    user_agent: &str,
) -> Result<IssuedSession, ServiceError> {
    let session = app
        .store
        .create_session(&account.id, SESSION_LIFETIME, user_agent)
        .await?;
    audit(&app.store, None, &account.id)
        .did(AuditAction::SignedIn, &session.session.id)
        .await;
    Ok(session)
}

async fn check(
    app: &App,
    account: Option<&Account>,
    password: SecretString,
) -> Result<bool, ServiceError> {
    let hash = account.map(|account| account.password_hash.clone());
    hashing(app, move || match hash {
        Some(hash) => password::verify(&password, &hash),
        None => password::verify_nobody(&password),
    })
    .await
}

/// The password again, of one who is signed in: wrong ones count as at the door.
async fn check_again(
    app: &App,
    account: &Account,
    password: SecretString,
) -> Result<(), ServiceError> {
    let attempt = guard::password_guess(app, None, &account.email).await?;
    let checked = check(app, Some(account), password).await;
    if !matches!(checked, Ok(false)) {
        attempt.give_back().await?;
    }
    match checked? {
        true => Ok(()),
        false => Err(ServiceError::CredentialsWrong),
    }
}

pub async fn sign_out(app: &App, session: &SecretString) -> Result<(), ServiceError> {
    Ok(app
        .store
        .revoke_session_by_token(session.expose_secret())
        .await?)
}

pub async fn sign_out_everywhere(app: &App, account: &Account) -> Result<(), ServiceError> {
    let id = &account.id;
    app.store.revoke_all_sessions(id).await?;
    audit(&app.store, None, id)
        .did(AuditAction::SessionsRevoked, id)
        .await;
    Ok(())
}

/// Sends a link to set a new password, if there is such an account. Everything that only an account needs happens after the
/// answer, so that neither the answer nor its time tells.
pub async fn request_reset(app: &App, client: IpAddr, email: &str) -> Result<(), ServiceError> {
    guard::letter(app, "reset", client, email).await?;
    let (app, email) = (app.clone(), email.to_owned());
    let sent = async move {
        if let Err(error) = send_reset(&app, &email).await {
            tracing::error!(%error, "no link to a new password was sent");
        }
    };
    tokio::spawn(sent.boxed());
    Ok(())
}

async fn send_reset(app: &App, email: &str) -> Result<(), ServiceError> {
    let Some(account) = app.store.account_by_email(email).await? else {
        return Ok(());
    };
    let token = app
        .store
        .issue_token(&account.id, TokenPurpose::Reset)
        .await?;
    let link = format!("{}/console/reset?token={token}", app.config.public_url());
    send(app, &account.email, &Letter::reset(&link)).await;
    Ok(())
}

/// Sets a new password by the link; every session of the account ends.
pub async fn reset_by_link(
    app: &App,
    client: IpAddr,
    token: &str,
    password: SecretString,
) -> Result<(), ServiceError> {
    let welcome_micro = app.config.signup.welcome_credit_micro;
    let account_id = token_attempt(app, client, async {
        let hash = hash(app, password).await?;
        Ok(app
            .store
            .reset_password(token, &hash, welcome_micro)
            .await?)
    })
    .await?;
    let account = app.store.account(&account_id).await?;
    let guesses = password_guesses(&account.email);
    app.store.forget_attempts(&guesses).await?;
    audit(&app.store, None, &account_id)
        .did(AuditAction::PasswordReset, &account_id)
        .await;
    // Who can read the mail has confirmed the address too.
    welcome_whoever_is_due(app).await;
    Ok(())
}

/// Sets a new password by the old one; every session of the account but the one named ends.
pub async fn change_password(
    app: &App,
    account: &Account,
    keep_session: Option<&SessionId>,
    old: SecretString,
    new: SecretString,
) -> Result<(), ServiceError> {
    check_again(app, account, old).await?;
    let hash = hash(app, new).await?;
    app.store
        .set_password(&account.id, &hash, keep_session)
        .await?;
    audit(&app.store, None, &account.id)
        .did(AuditAction::PasswordChanged, &account.id)
        .await;
    Ok(())
}

async fn hash(app: &App, password: SecretString) -> Result<String, ServiceError> {
    Ok(hashing(app, move || password::hash(&password)).await??)
}

/// Forgets the person, by their password: see [`manage::delete`].
pub async fn delete_by_password(
    app: &App,
    account: &Account,
    password: SecretString,
    gives_up_money: bool,
) -> Result<(), ServiceError> {
    check_again(app, account, password).await?;
    manage::delete(&app.store, &account.id, &account.id, gives_up_money).await?;
    Ok(())
}
