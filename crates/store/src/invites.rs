//! Invitations into a workspace by e-mail.

use serde::Serialize;

use crate::accounts::parse_email;
use crate::database::Tx;
use crate::ids::{hash_hex, now_us, random_base62};
use crate::sql::{found, row};
use crate::workspaces::{Role, insert_member};
use crate::{AccountId, InviteId, Store, StoreError, WorkspaceId};

const LIFETIME_US: i64 = 7 * 24 * 3600 * 1_000_000;

row! {
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
    pub struct Invite {
        pub id: InviteId,
        pub workspace_id: WorkspaceId,
        pub email: String,
        pub role: Role,
        pub invited_by: String,
        pub expires_us: i64,
    }
}

/// The token is shown here and never again.
#[derive(Debug, Clone)]
pub struct IssuedInvite {
    pub token: secrecy::SecretString,
    pub invite: Invite,
}

impl Store {
    /// In place of what the address was invited to this workspace with before.
    pub async fn invite(
        &self,
        workspace_id: &WorkspaceId,
        email: &str,
        role: Role,
        invited_by: &str,
    ) -> Result<IssuedInvite, StoreError> {
        let token = random_base62(43)?;
        let now = now_us();
        let invite = Invite {
            id: InviteId::generate(),
            workspace_id: workspace_id.clone(),
            email: parse_email(email)?,
            role,
            invited_by: invited_by.to_owned(),
            expires_us: now + LIFETIME_US,
        };
        let mut tx = self.begin_write().await?;
        self.lock_workspace(&mut tx, workspace_id).await?;
        forget_invites(&mut tx, workspace_id, &invite.email).await?;
        let made = sqlx::query(
            "insert into invites (id, token_hash, workspace_id, email, role, invited_by, created_us, expires_us)
             select $1, $2, id, $4, $5, $6, $7, $8 from workspaces where id = $3 and closed_us is null",
        )
        .bind(&invite.id)
        .bind(hash_hex(&token))
        .bind(workspace_id)
        .bind(&invite.email)
        .bind(role)
        .bind(invited_by)
        .bind(now)
        .bind(invite.expires_us)
        .execute(&mut *tx)
        .await?;
        found(&made, "workspace")?;
        tx.commit().await?;
        Ok(IssuedInvite {
            token: token.into(),
            invite,
        })
    }

    /// Invitations that can still be accepted.
    pub async fn invites(&self, workspace_id: &WorkspaceId) -> Result<Vec<Invite>, StoreError> {
        Ok(sqlx::query_as(
            "select id, workspace_id, email, role, invited_by, expires_us from invites
             where workspace_id = $1 and accepted_us is null and expires_us > $2 order by id",
        )
        .bind(workspace_id)
        .bind(now_us())
        .fetch_all(self.read())
        .await?)
    }

    pub async fn cancel_invite(
        &self,
        workspace_id: &WorkspaceId,
        invite_id: &InviteId,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(
            "delete from invites where id = $1 and workspace_id = $2 and accepted_us is null",
        )
        .bind(invite_id)
        .bind(workspace_id)
        .execute(self.write())
        .await?;
        found(&done, "invitation")
    }

    /// Joins the account to the workspace. The invitation works once, and only for the address it was sent to.
    pub async fn accept_invite(
        &self,
        token: &str,
        account_id: &AccountId,
    ) -> Result<(WorkspaceId, Role), StoreError> {
        let account = self.account(account_id).await?;
        let mut tx = self.begin_write().await?;
        let token_hash = hash_hex(token);
        let found: Option<WorkspaceId> = sqlx::query_scalar(
            "select workspace_id from invites where token_hash = $1 and email = $2",
        )
        .bind(&token_hash)
        .bind(&account.email)
        .fetch_optional(&mut *tx)
        .await?;
        let workspace_id = found.ok_or(StoreError::TokenRefused)?;
        // Before the invitation is taken: a change of the member may be about to delete it.
        self.lock_workspace(&mut tx, &workspace_id).await?;
        let taken: Option<Role> = sqlx::query_scalar(
            "update invites set accepted_us = $2
             where token_hash = $1 and accepted_us is null and expires_us > $2 returning role",
        )
        .bind(&token_hash)
        .bind(now_us())
        .fetch_optional(&mut *tx)
        .await?;
        let role = taken.ok_or(StoreError::TokenRefused)?;
        forget_invites(&mut tx, &workspace_id, &account.email).await?;
        insert_member(&mut tx, &workspace_id, account_id, role).await?;
        tx.commit().await?;
        self.inner.keys.clear();
        Ok((workspace_id, role))
    }
}

/// The open ones of an address: an old link must not give back a role that was taken away since.
pub(crate) async fn forget_invites(
    tx: &mut Tx,
    workspace_id: &WorkspaceId,
    email: &str,
) -> Result<(), StoreError> {
    sqlx::query(
        "delete from invites where workspace_id = $1 and email = $2 and accepted_us is null",
    )
    .bind(workspace_id)
    .bind(email)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Those that a member has sent and, in their new role, could not send: nobody comes back by an invitation of their own.
pub(crate) async fn forget_invites_above(
    tx: &mut Tx,
    workspace_id: &WorkspaceId,
    inviter_id: &AccountId,
    role: Option<Role>,
) -> Result<(), StoreError> {
    let may_give = |given: &Role| role.is_some_and(|role| role >= Role::Admin.max(*given));
    for given in Role::ALL.into_iter().filter(|given| !may_give(given)) {
        sqlx::query(
            "delete from invites where workspace_id = $1 and invited_by = $2 and role = $3 and accepted_us is null",
        )
        .bind(workspace_id)
        .bind(inviter_id)
        .bind(given)
        .execute(&mut **tx)
        .await?;
    }
    Ok(())
}
