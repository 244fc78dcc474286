//! Accounts made, confirmed, changed and ended, whichever door asks for it. Who may ask, and how often, is the door's to know.

use sauti_store::{Account, AccountId, AuditAction, Store, StoreError, Workspace, folded_email};

use crate::{audit, workspaces};

const NAME_CHARS_MAX: usize = 200;

#[derive(Debug)]
pub struct NewAccount<'a> {
    pub email: &'a str,
    pub name: &'a str,
    pub password_hash: &'a str,
    /// Of its workspace.
    pub currency: &'a str,
}

/// An account with a workspace of its own, named after its owner; not confirmed yet. `actor` is the account itself where it
/// is not given.
pub async fn create(
    store: &Store,
    actor: Option<&str>,
    new: NewAccount<'_>,
) -> Result<(Account, Workspace), StoreError> {
    let account = store
        .create_account(new.email, new.password_hash, new.name)
        .await?;
    let actor = actor.unwrap_or(&account.id);
    audit(store, None, actor)
        .did(AuditAction::AccountCreated, &account.id)
        .await;
    let name = match new.name.trim() {
        "" => account.email.as_str(),
        name => name,
    };
    let name: String = name.chars().take(NAME_CHARS_MAX).collect();
    let workspace = workspaces::create(store, actor, &account.id, &name, new.currency).await?;
    Ok((account, workspace))
}

/// Without the link from the mail: for an operator.
pub async fn confirm(store: &Store, actor: &str, account_id: &AccountId) -> Result<(), StoreError> {
    store.confirm_account_by_id(account_id).await?;
    audit(store, None, actor)
        .did(AuditAction::AccountConfirmed, account_id)
        .await;
    Ok(())
}

pub async fn set_operator(
    store: &Store,
    actor: &str,
    account_id: &AccountId,
    operator: bool,
) -> Result<(), StoreError> {
    store.set_operator(account_id, operator).await?;
    let detail = if operator { "granted" } else { "removed" };
    audit(store, None, actor)
        .did_so(AuditAction::AccountOperator, account_id, detail)
        .await;
    Ok(())
}

/// By an operator, without the old password: every session ends, and guesses at the old password are forgotten.
pub async fn reset_password(
    store: &Store,
    actor: &str,
    account: &Account,
    password_hash: &str,
) -> Result<(), StoreError> {
    store.set_password(&account.id, password_hash, None).await?;
    let guesses = password_guesses(&account.email);
    store.forget_attempts(&guesses).await?;
    audit(store, None, actor)
        .did(AuditAction::PasswordReset, &account.id)
        .await;
    Ok(())
}

/// Under what the guesses at a password are counted.
pub(crate) fn password_guesses(email: &str) -> String {
    format!("password {}", folded_email(email))
}

/// Forgets the person: address, name, sessions, memberships, invitations. The books stay. Refused with
/// [`StoreError::MoneyLeft`] while a workspace that nobody else is in holds money, unless that is given up.
pub async fn delete(
    store: &Store,
    actor: &str,
    account_id: &AccountId,
    gives_up_money: bool,
) -> Result<(), StoreError> {
    store.delete_account(account_id, gives_up_money).await?;
    audit(store, None, actor)
        .did(AuditAction::AccountDeleted, account_id)
        .await;
    Ok(())
}
