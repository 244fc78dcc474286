use std::net::IpAddr;

use sauti_store::{
    Account, AccountId, AuditAction, Invite, InviteId, Role, WorkspaceId, check_new_account,
};
use secrecy::ExposeSecret;

use super::guard::{self, token_attempt};
use super::sign_up::send;
use crate::app::App;
use crate::mail::Letter;
use crate::{ServiceError, audit};

/// Refuses members below the role, and hides the workspace from those who are no members.
pub async fn require_role(
    app: &App,
    workspace_id: &WorkspaceId,
    account_id: &AccountId,
    least: Role,
) -> Result<Role, ServiceError> {
    let role = app.store.role_of(workspace_id, account_id).await?;
    match role {
        Some(role) if role >= least => Ok(role),
        Some(_) => Err(ServiceError::RoleMissing),
        None => Err(ServiceError::NoMember),
    }
}

/// Invites by mail. Nobody can give away more than they have; and whoever has proven no address sends no mail to others.
pub async fn invite(
    app: &App,
    client: IpAddr,
    inviter: &Account,
    workspace_id: &WorkspaceId,
    email: &str,
    role: Role,
) -> Result<Invite, ServiceError> {
    require_role(app, workspace_id, &inviter.id, Role::Admin.max(role)).await?;
    if !inviter.is_confirmed() {
        return Err(ServiceError::Unconfirmed);
    }
    check_new_account(email, "")?;
    guard::hourly(app, &format!("invites of {}", inviter.id)).await?;
    guard::letter(app, "invite", client, email).await?;
    let workspace = app.store.workspace(workspace_id).await?;
    let issued = app
        .store
        .invite(workspace_id, email, role, &inviter.id)
        .await?;
    let link = format!(
        "{}/console/invite?token={}",
        app.config.public_url(),
        issued.token.expose_secret()
    );
    send(
        app,
        &issued.invite.email,
        &Letter::invite(&workspace.name, &inviter.email, &link),
    )
    .await;
    audit(&app.store, Some(workspace_id), &inviter.id)
        .did_so(AuditAction::MemberInvited, &issued.invite.id, role.as_str())
        .await;
    Ok(issued.invite)
}

pub async fn cancel_invite(
    app: &App,
    actor: &Account,
    workspace_id: &WorkspaceId,
    invite_id: &InviteId,
) -> Result<(), ServiceError> {
    require_role(app, workspace_id, &actor.id, Role::Admin).await?;
    app.store.cancel_invite(workspace_id, invite_id).await?;
    audit(&app.store, Some(workspace_id), &actor.id)
        .did(AuditAction::MemberUninvited, invite_id)
        .await;
    Ok(())
}

pub async fn accept_invite(
    app: &App,
    client: IpAddr,
    account: &Account,
    token: &str,
) -> Result<(WorkspaceId, Role), ServiceError> {
    let attempt = async { Ok(app.store.accept_invite(token, &account.id).await?) };
    let (workspace_id, role) = token_attempt(app, client, attempt).await?;
    audit(&app.store, Some(&workspace_id), &account.id)
        .did_so(AuditAction::MemberJoined, &account.id, role.as_str())
        .await;
    Ok((workspace_id, role))
}

pub async fn set_role(
    app: &App,
    actor: &Account,
    workspace_id: &WorkspaceId,
    account_id: &AccountId,
    role: Role,
) -> Result<(), ServiceError> {
    require_role(app, workspace_id, &actor.id, Role::Admin.max(role)).await?;
    require_above(app, actor, workspace_id, account_id).await?;
    app.store.set_role(workspace_id, account_id, role).await?;
    audit(&app.store, Some(workspace_id), &actor.id)
        .did_so(AuditAction::MemberRole, account_id, role.as_str())
        .await;
    Ok(())
}

/// A member may leave; an admin may remove those who are not above them.
pub async fn remove_member(
    app: &App,
    actor: &Account,
    workspace_id: &WorkspaceId,
    account_id: &AccountId,
) -> Result<(), ServiceError> {
    let is_leaving = actor.id == *account_id;
    let least = if is_leaving {
        Role::Member
    } else {
        Role::Admin
    };
    require_role(app, workspace_id, &actor.id, least).await?;
    require_above(app, actor, workspace_id, account_id).await?;
    app.store.remove_member(workspace_id, account_id).await?;
    audit(&app.store, Some(workspace_id), &actor.id)
        .did(AuditAction::MemberRemoved, account_id)
        .await;
    Ok(())
}

async fn require_above(
    app: &App,
    actor: &Account,
    workspace_id: &WorkspaceId,
    account_id: &AccountId,
) -> Result<(), ServiceError> {
    let theirs = app
        .store
        .role_of(workspace_id, account_id)
        .await?
        .unwrap_or(Role::Member);
    require_role(app, workspace_id, &actor.id, theirs).await?;
    Ok(())
}
