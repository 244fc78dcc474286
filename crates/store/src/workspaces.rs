//! Workspaces hold the money and the keys; accounts are members of them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::database::Tx;
use crate::ids::now_us;
use crate::sql::check_text;
use crate::{Store, StoreError, WorkspaceId};

/// Ordered: an owner may do all that an admin may, an admin all that a member may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Member,
    Admin,
    Owner,
}

impl Role {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Member => "member",
            Self::Admin => "admin",
            Self::Owner => "owner",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        match text {
            "member" => Ok(Self::Member),
            "admin" => Ok(Self::Admin),
            "owner" => Ok(Self::Owner),
            _ => Err(StoreError::invalid("role", "is not owner, admin or member")),
        }
    }
}

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

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Member {
    pub account_id: String,
    pub email: String,
    pub name: String,
    pub role: Role,
    pub since_us: i64,
}

type Row = (WorkspaceId, String, String, i64, Option<i64>, Option<i64>);

fn workspace_of((id, name, currency, created_us, closed_us, low_balance_micro): Row) -> Workspace {
    Workspace {
        id,
        name,
        currency,
        created_us,
        closed_us,
        low_balance_micro,
    }
}

impl Store {
    /// Makes an empty workspace, owned by `owner` (or by nobody, for the command line).
    pub async fn create_workspace(
        &self,
        owner: Option<&str>,
        name: &str,
        currency: &str,
    ) -> Result<Workspace, StoreError> {
        let currency = currency.trim().to_ascii_uppercase();
        if currency.len() != 3 || !currency.bytes().all(|letter| letter.is_ascii_uppercase()) {
            return Err(StoreError::invalid(
                "currency",
                "needs three letters, such as TZS",
            ));
        }
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
        let row: Option<Row> = sqlx::query_as(
            "select w.id, w.name, w.currency, w.created_us, w.closed_us, b.low_micro
             from workspaces w join balances b on b.workspace_id = w.id where w.id = $1",
        )
        .bind(workspace_id)
        .fetch_optional(self.read())
        .await?;
        row.map(workspace_of)
            .ok_or(StoreError::NotFound("workspace"))
    }

    /// Workspaces by age, after the id `after`.
    pub async fn list_workspaces(
        &self,
        after: &str,
        limit: i64,
    ) -> Result<Vec<Workspace>, StoreError> {
        let rows: Vec<Row> = sqlx::query_as(
            "select w.id, w.name, w.currency, w.created_us, w.closed_us, b.low_micro
             from workspaces w join balances b on b.workspace_id = w.id where w.id > $1 order by w.id limit $2",
        )
        .bind(after)
        .bind(limit.clamp(1, 1000))
        .fetch_all(self.read())
        .await?;
        Ok(rows.into_iter().map(workspace_of).collect())
    }

    /// The open workspaces of an account, with its role in each.
    pub async fn workspaces_of(
        &self,
        account_id: &str,
    ) -> Result<Vec<(Workspace, Role)>, StoreError> {
        type Joined = (
            WorkspaceId,
            String,
            String,
            i64,
            Option<i64>,
            Option<i64>,
            String,
        );
        let rows: Vec<Joined> = sqlx::query_as(
            "select w.id, w.name, w.currency, w.created_us, w.closed_us, b.low_micro, m.role
             from members m join workspaces w on w.id = m.workspace_id join balances b on b.workspace_id = w.id
             where m.account_id = $1 and w.closed_us is null order by w.id",
        )
        .bind(account_id)
        .fetch_all(self.read())
        .await?;
        rows.into_iter()
            .map(|(id, name, currency, created, closed, low, role)| {
                Ok((
                    workspace_of((id, name, currency, created, closed, low)),
                    role.parse()?,
                ))
            })
            .collect()
    }

    pub async fn rename_workspace(
        &self,
        workspace_id: &WorkspaceId,
        name: &str,
    ) -> Result<(), StoreError> {
        let done = sqlx::query("update workspaces set name = $2 where id = $1")
            .bind(workspace_id)
            .bind(check_text("name", name, 1, 200)?)
            .execute(self.write())
            .await?;
        found(done.rows_affected(), "workspace")
    }

    /// Below this total a settled charge reports `Balance::fell_low` once.
    pub async fn set_low_balance(
        &self,
        workspace_id: &WorkspaceId,
        low_micro: Option<i64>,
    ) -> Result<(), StoreError> {
        if low_micro.is_some_and(|low| low < 0) {
            return Err(StoreError::invalid(
                "low_balance_micro",
                "must not be negative",
            ));
        }
        let done = sqlx::query("update balances set low_micro = $2 where workspace_id = $1")
            .bind(workspace_id)
            .bind(low_micro)
            .execute(self.write())
            .await?;
        found(done.rows_affected(), "workspace")
    }

    pub async fn role_of(
        &self,
        workspace_id: &WorkspaceId,
        account_id: &str,
    ) -> Result<Option<Role>, StoreError> {
        let row: Option<(String,)> = sqlx::query_as(
            "select m.role from members m join workspaces w on w.id = m.workspace_id
             where m.workspace_id = $1 and m.account_id = $2 and w.closed_us is null",
        )
        .bind(workspace_id)
        .bind(account_id)
        .fetch_optional(self.read())
        .await?;
        row.map(|(role,)| role.parse()).transpose()
    }

    pub async fn members(&self, workspace_id: &WorkspaceId) -> Result<Vec<Member>, StoreError> {
        let rows: Vec<(String, String, String, String, i64)> = sqlx::query_as(
            "select a.id, a.email, a.name, m.role, m.created_us
             from members m join accounts a on a.id = m.account_id where m.workspace_id = $1 order by m.created_us, a.id",
        )
        .bind(workspace_id)
        .fetch_all(self.read())
        .await?;
        rows.into_iter()
            .map(|(account_id, email, name, role, since_us)| {
                Ok(Member {
                    account_id,
                    email,
                    name,
                    role: role.parse()?,
                    since_us,
                })
            })
            .collect()
    }

    pub async fn add_member(
        &self,
        workspace_id: &WorkspaceId,
        account_id: &str,
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
        account_id: &str,
        role: Role,
    ) -> Result<(), StoreError> {
        self.change_member(workspace_id, account_id, Some(role))
            .await
    }

    /// Refused when it would leave the workspace without an owner.
    pub async fn remove_member(
        &self,
        workspace_id: &WorkspaceId,
        account_id: &str,
    ) -> Result<(), StoreError> {
        self.change_member(workspace_id, account_id, None).await
    }

    async fn change_member(
        &self,
        workspace_id: &WorkspaceId,
        account_id: &str,
        role: Option<Role>,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin_write().await?;
        self.lock_workspace(&mut tx, workspace_id).await?;
        let done = match role {
            Some(role) => {
                sqlx::query(
                    "update members set role = $3 where workspace_id = $1 and account_id = $2",
                )
                .bind(workspace_id)
                .bind(account_id)
                .bind(role.as_str())
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
        found(done.rows_affected(), "member")?;
        let (owners,): (i64,) = sqlx::query_as(
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
        let row: Option<(String,)> = sqlx::query_as(sqlx::AssertSqlSafe(sql))
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
    account_id: &str,
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
    .bind(role.as_str())
    .bind(now_us())
    .execute(&mut **tx)
    .await?;
    found(done.rows_affected(), "account or workspace")
}

fn found(rows: u64, what: &'static str) -> Result<(), StoreError> {
    if rows == 0 {
        Err(StoreError::NotFound(what))
    } else {
        Ok(())
    }
}
