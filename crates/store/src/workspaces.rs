//! Workspaces hold the money and the keys; accounts are members of them.

use serde::Serialize;
use sqlx::{FromRow, Row};

use crate::database::Tx;
use crate::ids::now_us;
use crate::invites::{forget_invites, forget_invites_above};
use crate::sql::{check_text, found, require, row};
use crate::text_columns::text_enum;
use crate::{AccountId, Store, StoreError, WorkspaceId};

text_enum! {
    /// Ordered: an owner may do all that an admin may, an admin all that a member may.
    pub enum Role ("role") {
        Member = "member",
        Admin = "admin",
        Owner = "owner",
    }
}

row! {
    #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
    pub struct Workspace {
        pub id: WorkspaceId,
        pub name: String,
        /// Three letters, upper case.
        pub currency: String,
        pub created_us: i64,
        pub closed_us: Option<i64>,
        pub low_balance_micro: Option<i64>,
    }
}

row! {
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
    pub struct Member {
        pub account_id: AccountId,
        pub email: String,
        pub name: String,
        pub role: Role,
        pub since_us: i64,
    }
}

/// What shall be otherwise; `None` stays as it is.
#[derive(Debug, Default)]
pub struct WorkspaceChange<'a> {
    pub name: Option<&'a str>,
    /// Below this total a settled charge reports `Balance::fell_low` once; 0 switches it off.
    pub low_balance_micro: Option<i64>,
}

const SELECT: &str =
    "select w.id, w.name, w.currency, w.created_us, w.closed_us, b.low_micro as low_balance_micro
    from workspaces w join balances b on b.workspace_id = w.id";

impl Store {
    /// Makes an empty workspace, owned by `owner` (or by nobody, for the command line).
    pub async fn create_workspace(
        &self,
        owner: Option<&AccountId>,
        name: &str,
        currency: &str,
    ) -> Result<Workspace, StoreError> {
        let currency = currency.trim().to_ascii_uppercase();
        let plausible = currency.len() == 3 && currency.bytes().all(|b| b.is_ascii_uppercase());
        require(plausible, "currency", "needs three letters, such as TZS")?;
        let name = check_text("name", name, 1, 200)?;
        let created_us = now_us();
        let workspace = Workspace {
            id: WorkspaceId::generate(),
            name,
            currency,
            created_us,
            closed_us: None,
            low_balance_micro: None,
        };
        let mut tx = self.begin_write().await?;
        sqlx::query(
            "insert into workspaces (id, name, currency, created_us) values ($1, $2, $3, $4)",
        )
        .bind(&workspace.id)
        .bind(&workspace.name)
        .bind(&workspace.currency)
        .bind(created_us)
        .execute(&mut *tx)
        .await?;
        sqlx::query("insert into balances (workspace_id, available_micro, reserved_micro) values ($1, 0, 0)")
            .bind(&workspace.id)
            .execute(&mut *tx)
            .await?;
        if let Some(account_id) = owner {
            insert_member(&mut tx, &workspace.id, account_id, Role::Owner).await?;
        }
        tx.commit().await?;
        Ok(workspace)
    }

    pub async fn workspace(&self, workspace_id: &WorkspaceId) -> Result<Workspace, StoreError> {
        let sql = format!("{SELECT} where w.id = $1");
        let row = sqlx::query_as(sqlx::AssertSqlSafe(sql))
            .bind(workspace_id)
            .fetch_optional(self.read())
            .await?;
        row.ok_or(StoreError::NotFound("workspace"))
    }

    /// Workspaces by age, after the id `after`.
    pub async fn list_workspaces(
        &self,
        after: Option<&WorkspaceId>,
        limit: i64,
    ) -> Result<Vec<Workspace>, StoreError> {
        let sql = format!("{SELECT} where w.id > $1 order by w.id limit $2");
        Ok(sqlx::query_as(sqlx::AssertSqlSafe(sql))
            .bind(after.map_or("", WorkspaceId::as_str))
            .bind(limit.clamp(1, 1000))
            .fetch_all(self.read())
            .await?)
    }

    /// The open workspaces of an account, with its role in each.
    pub async fn workspaces_of(
        &self,
        account_id: &AccountId,
    ) -> Result<Vec<(Workspace, Role)>, StoreError> {
        let sql = "select w.id, w.name, w.currency, w.created_us, w.closed_us, b.low_micro as low_balance_micro, m.role
             from members m join workspaces w on w.id = m.workspace_id join balances b on b.workspace_id = w.id
             where m.account_id = $1 and w.closed_us is null order by w.id";
        let rows = sqlx::query(sql)
            .bind(account_id)
            .fetch_all(self.read())
            .await?;
        let both = |row| Ok((Workspace::from_row(row)?, row.try_get("role")?));
        rows.iter().map(both).collect()
    }

    /// All of it or nothing.
    pub async fn change_workspace(
        &self,
        workspace_id: &WorkspaceId,
        change: WorkspaceChange<'_>,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin_write().await?;
        // The balance row first, as the ledger does.
        if let Some(low_micro) = change.low_balance_micro {
            require(low_micro >= 0, "low_balance_micro", "must not be negative")?;
            let done = sqlx::query("update balances set low_micro = $2 where workspace_id = $1")
                .bind(workspace_id)
                .bind(Some(low_micro).filter(|low_micro| *low_micro != 0))
                .execute(&mut *tx)
                .await?;
            found(&done, "workspace")?;
        }
        if let Some(name) = change.name {
            let done = sqlx::query("update workspaces set name = $2 where id = $1")
                .bind(workspace_id)
                .bind(check_text("name", name, 1, 200)?)
                .execute(&mut *tx)
                .await?;
            found(&done, "workspace")?;
        }
        tx.commit().await?;
        Ok(())
    }

    pub async fn role_of(
        &self,
        workspace_id: &WorkspaceId,
        account_id: &AccountId,
    ) -> Result<Option<Role>, StoreError> {
        Ok(sqlx::query_scalar(
            "select m.role from members m join workspaces w on w.id = m.workspace_id
             where m.workspace_id = $1 and m.account_id = $2 and w.closed_us is null",
        )
        .bind(workspace_id)
        .bind(account_id)
        .fetch_optional(self.read())
        .await?)
    }

    pub async fn members(&self, workspace_id: &WorkspaceId) -> Result<Vec<Member>, StoreError> {
        Ok(sqlx::query_as(
            "select a.id as account_id, a.email, a.name, m.role, m.created_us as since_us
             from members m join accounts a on a.id = m.account_id where m.workspace_id = $1 order by m.created_us, a.id",
        )
        .bind(workspace_id)
        .fetch_all(self.read())
        .await?)
    }

    pub async fn add_member(
        &self,
        workspace_id: &WorkspaceId,
        account_id: &AccountId,
        role: Role,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin_write().await?;
        insert_member(&mut tx, workspace_id, account_id, role).await?;
        tx.commit().await?;
        self.inner.keys.clear();
        Ok(())
    }

    /// Refused when it would leave the workspace without an owner.
    pub async fn set_role(
        &self,
        workspace_id: &WorkspaceId,
        account_id: &AccountId,
        role: Role,
    ) -> Result<(), StoreError> {
        self.change_member(workspace_id, account_id, Some(role))
            .await
    }

    /// Refused when it would leave the workspace without an owner.
    pub async fn remove_member(
        &self,
        workspace_id: &WorkspaceId,
        account_id: &AccountId,
    ) -> Result<(), StoreError> {
        self.change_member(workspace_id, account_id, None).await
    }

    async fn change_member(
        &self,
        workspace_id: &WorkspaceId,
        account_id: &AccountId,
        role: Option<Role>,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin_write().await?;
        self.lock_workspace(&mut tx, workspace_id).await?;
        let email: Option<String> = sqlx::query_scalar("select email from accounts where id = $1")
            .bind(account_id)
            .fetch_optional(&mut *tx)
            .await?;
        let email = email.ok_or(StoreError::NotFound("member"))?;
        forget_invites(&mut tx, workspace_id, &email).await?;
        forget_invites_above(&mut tx, workspace_id, account_id, role).await?;
        let done = match role {
            Some(role) => {
                sqlx::query(
                    "update members set role = $3 where workspace_id = $1 and account_id = $2",
                )
                .bind(workspace_id)
                .bind(account_id)
                .bind(role)
                .execute(&mut *tx)
                .await?
            }
            None => {
                sqlx::query("delete from members where workspace_id = $1 and account_id = $2")
                    .bind(workspace_id)
                    .bind(account_id)
                    .execute(&mut *tx)
                    .await?
            }
        };
        found(&done, "member")?;
        let owners: i64 = sqlx::query_scalar(
            "select count(*) from members where workspace_id = $1 and role = 'owner'",
        )
        .bind(workspace_id)
        .fetch_one(&mut *tx)
        .await?;
        if owners == 0 {
            return Err(StoreError::Refused("a workspace needs an owner"));
        }
        tx.commit().await?;
        self.inner.keys.clear();
        Ok(())
    }

    /// Two changes of one workspace's members wait for each other, so that the last two owners cannot both leave.
    pub(crate) async fn lock_workspace(
        &self,
        tx: &mut Tx,
        workspace_id: &WorkspaceId,
    ) -> Result<(), StoreError> {
        let sql = format!(
            "select id from workspaces where id = $1{}",
            self.inner.backend.row_lock()
        );
        let row = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(workspace_id)
            .fetch_optional(&mut **tx)
            .await?;
        row.map(|_| ()).ok_or(StoreError::NotFound("workspace"))
    }
}

/// Joins an account; one that is a member already keeps the higher of the two roles.
pub(crate) async fn insert_member(
    tx: &mut Tx,
    workspace_id: &WorkspaceId,
    account_id: &AccountId,
    role: Role,
) -> Result<(), StoreError> {
    let done = sqlx::query(
        "insert into members (workspace_id, account_id, role, created_us)
         select w.id, a.id, $3, $4 from workspaces w join accounts a on a.id = $2
         where w.id = $1 and a.deleted_us is null and w.closed_us is null
         on conflict (workspace_id, account_id) do update set role =
            case when members.role = 'owner' or excluded.role = 'member' then members.role else excluded.role end",
    )
    .bind(workspace_id)
    .bind(account_id)
    .bind(role)
    .bind(now_us())
    .execute(&mut **tx)
    .await?;
    found(&done, "account or workspace")
}
