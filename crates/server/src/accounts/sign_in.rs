use std::net::IpAddr;
use std::time::{Duration, Instant};

use sauti_store::{Account, IssuedSession, SignInPolicy, TokenPurpose, password};
use secrecy::{ExposeSecret, SecretString};

use super::audit;
use super::guard::{hashing, token_attempt};
use super::sign_up::{send, welcome_whoever_is_due};
use crate::app::App;
use crate::mail::Letter;
use crate::problem::{Code, Problem};

pub const SESSION_LIFETIME: Duration = Duration::from_secs(14 * 24 * 3_600);

/// Opens a session, or says no in the same words and the same time whatever was wrong. Failures
/// count against the account (in the store) and against the address they come from.
pub async fn sign_in(
    app: &App,
    client: IpAddr,
    email: &str,
    password: SecretString,
    user_agent: &str,
) -> Result<(Account, IssuedSession), Problem> {
    let (address, now) = (client.to_string(), Instant::now());
    let wait = |seconds| Problem::new(Code::RateLimited).retry_after(seconds);
    app.sign_ins.check(&address, now).map_err(wait)?;
    let account = app.store.account_by_email(email).await?;
    if account.as_ref().is_some_and(Account::is_locked) {
        return Err(wait(app.config.limits.sign_in_window_s));
    }
    if !check(app, account.as_ref(), password).await? {
        app.sign_ins.count(&address, now);
        if let Some(account) = account {
            app.store.sign_in_failed(&account.id, policy(app)).await?;
            audit(app, None, &account.id, "sign_in.failed", &address).await;
        }
        return Err(Problem::new(Code::CredentialsWrong));
    }
    let account = account.ok_or(Code::CredentialsWrong)?;
    app.sign_ins.forget(&address);
    app.store.sign_in_succeeded(&account.id).await?;
    let session = open_session(app, &account, user_agent).await?;
    Ok((account, session))
}

/// For someone who has proven who they are.
pub async fn open_session(
    app: &App,
    account: &Account,
    user_agent: &str,
) -> Result<IssuedSession, Problem> {
    let session = app
        .store
        .create_session(&account.id, SESSION_LIFETIME, user_agent)
        .await?;
    audit(app, None, &account.id, "sign_in", &session.session.id).await;
    Ok(session)
}

fn policy(app: &App) -> SignInPolicy {
    let limits = &app.config.limits;
    SignInPolicy {
        failures_max: i64::from(limits.sign_in_failures_max),
        pause: Duration::from_secs(limits.sign_in_window_s),
    }
}

async fn check(
    app: &App,
    account: Option<&Account>,
    password: SecretString,
) -> Result<bool, Problem> {
    let hash = account.map(|account| account.password_hash.clone());
    hashing(app, move || match hash {
        Some(hash) => password::verify(&password, &hash),
        None => password::verify_nobody(&password),
    })
    .await
}

/// The password again, of one who is signed in: wrong ones count as at the door.
async fn check_again(app: &App, account: &Account, password: SecretString) -> Result<(), Problem> {
    if account.is_locked() {
        let wait_s = app.config.limits.sign_in_window_s;
        return Err(Problem::new(Code::RateLimited).retry_after(wait_s));
    }
    if check(app, Some(account), password).await? {
        return Ok(());
    }
    app.store.sign_in_failed(&account.id, policy(app)).await?;
    Err(Problem::new(Code::CredentialsWrong))
}

pub async fn sign_out(app: &App, session: &SecretString) -> Result<(), Problem> {
    Ok(app
        .store
        .revoke_session_by_token(session.expose_secret())
        .await?)
}

/// Sends a link to set a new password, if there is such an account; the answer is the same.
pub async fn request_reset(app: &App, client: IpAddr, email: &str) -> Result<(), Problem> {
    let (name, now) = (format!("reset {client}"), Instant::now());
    let wait = |seconds| Problem::new(Code::RateLimited).retry_after(seconds);
    app.sign_ups.check(&name, now).map_err(wait)?;
    app.sign_ups.count(&name, now);
    if let Some(account) = app.store.account_by_email(email).await? {
        let token = app
            .store
            .issue_token(&account.id, TokenPurpose::Reset)
            .await?;
        let link = format!("{}/console/reset?token={token}", app.config.public_url());
        send(app, &account.email, &Letter::reset(&link)).await;
    }
    Ok(())
}

/// Sets a new password by the link; every session of the account ends.
pub async fn reset(
    app: &App,
    client: IpAddr,
    token: &str,
    password: SecretString,
) -> Result<(), Problem> {
    let welcome_micro = app.config.signup.welcome_credit_micro;
    let account_id = token_attempt(app, client, async {
        let hash = hash(app, password).await?;
        Ok(app
            .store
            .reset_password(token, &hash, welcome_micro)
            .await?)
    })
    .await?;
    app.store.revoke_all_sessions(&account_id).await?;
    audit(app, None, &account_id, "password.reset", &account_id).await;
    // Who can read the mail has confirmed the address too.
    welcome_whoever_is_due(app).await;
    Ok(())
}

/// Sets a new password by the old one; every session of the account but the one named ends.
pub async fn change_password(
    app: &App,
    account: &Account,
    keep_session: Option<&str>,
    old: SecretString,
    new: SecretString,
) -> Result<(), Problem> {
    check_again(app, account, old).await?;
    let hash = hash(app, new).await?;
    app.store
        .set_password(&account.id, &hash, keep_session)
        .await?;
    audit(app, None, &account.id, "password.changed", &account.id).await;
    Ok(())
}

async fn hash(app: &App, password: SecretString) -> Result<String, Problem> {
    Ok(hashing(app, move || password::hash(&password)).await??)
}

/// Forgets the person, by their password: address, name, sessions, memberships, invitations. The books stay.
pub async fn delete(app: &App, account: &Account, password: SecretString) -> Result<(), Problem> {
    check_again(app, account, password).await?;
    app.store.delete_account(&account.id).await?;
    audit(app, None, &account.id, "account.deleted", &account.id).await;
    Ok(())
}
