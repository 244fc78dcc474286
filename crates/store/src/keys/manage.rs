//! Making, listing, revoking and rotating keys.

use serde::Serialize;

use super::{ApiKey, Environment, Permissions};
use crate::ids::now_us;
use crate::sql::check_text;
use crate::{Store, StoreError, WorkspaceId};

/// What a new key shall be.
#[derive(Debug, Clone)]
pub struct NewKey {
    pub workspace_id: WorkspaceId,
    pub environment: Environment,
    pub name: String,
    pub permissions: Permissions,
    pub expires_us: Option<i64>,
    /// The most this key may ever spend, refunds taken off.
    pub spend_cap_micro: Option<i64>,
    /// The account, key or process that makes it. A key made by a key ends no later than that one, and shares its cap.
    pub created_by: String,
}

/// What is kept of a key: all but the secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyInfo {
    pub id: String,
    pub workspace_id: WorkspaceId,
    pub environment: Environment,
    pub name: String,
    pub last_four: String,
    pub permissions: Permissions,
    pub spend_cap_micro: Option<i64>,
    /// Spent and reserved so far, by the keys that it was rotated from and into as well: what counts towards the cap.
    pub committed_micro: i64,
    /// Names the keys that share a cap; empty for a key that shares it with none.
    #[serde(skip)]
    pub chain_id: String,
    pub created_by: String,
    pub created_us: i64,
    pub expires_us: Option<i64>,
    pub revoked_us: Option<i64>,
    pub last_used_us: Option<i64>,
}

/// A key at the only moment its text exists.
#[derive(Debug, Clone)]
pub struct IssuedKey {
    pub key: ApiKey,
    pub info: KeyInfo,
}

type Row = (
    String,
    WorkspaceId,
    String,
    String,
    String,
    String,
    Option<i64>,
    i64,
    String,
    i64,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    String,
);

const SELECT: &str = "select k.id, k.workspace_id, k.environment, k.name, k.last_four, k.permissions, k.spend_cap_micro,
    coalesce((select cast(sum(a.committed_micro) as bigint) from api_keys c join key_spend a on a.key_id = c.id
              where c.chain_id = k.chain_id and k.chain_id <> ''), s.committed_micro, 0), k.created_by, k.created_us, k.expires_us, k.revoked_us, k.last_used_us, k.chain_id
    from api_keys k left join key_spend s on s.key_id = k.id";

fn info_of(row: Row) -> Result<KeyInfo, StoreError> {
    let (
        id,
        workspace_id,
        environment,
        name,
        last_four,
        permissions,
        cap,
        committed,
        by,
        created,
        expires,
        revoked,
        used,
        chain_id,
    ) = row;
    Ok(KeyInfo {
        id,
        workspace_id,
        environment: environment.parse()?,
        name,
        last_four,
        permissions: permissions.parse()?,
        spend_cap_micro: cap,
        committed_micro: committed,
        chain_id,
        created_by: by,
        created_us: created,
        expires_us: expires,
        revoked_us: revoked,
        last_used_us: used,
    })
}

impl Store {
    pub async fn create_key(&self, mut new: NewKey) -> Result<IssuedKey, StoreError> {
        if !new.created_by.starts_with("key_") {
            return self.issue_key(new, "").await;
        }
        // A key gives away no more than it has, however many keys it makes: they spend from its cap together.
        let parent = self.key(&new.workspace_id, &new.created_by).await?;
        new.expires_us = least_of(new.expires_us, parent.expires_us);
        let Some(cap_micro) = parent.spend_cap_micro else {
            return self.issue_key(new, "").await;
        };
        new.spend_cap_micro = least_of(new.spend_cap_micro, Some(cap_micro));
        let chain_id = self.begin_chain(&parent.id).await?;
        let mut issued = self.issue_key(new, &chain_id).await?;
        issued.info.committed_micro = parent.committed_micro;
        Ok(issued)
    }

    /// The name under which keys share their cap with this one.
    async fn begin_chain(&self, key_id: &str) -> Result<String, StoreError> {
        let (chain_id,): (String,) = sqlx::query_as(
            "update api_keys set chain_id = case chain_id when '' then id else chain_id end
             where id = $1 returning chain_id",
        )
        .bind(key_id)
        .fetch_one(self.write())
        .await?;
        Ok(chain_id)
    }

    async fn issue_key(&self, new: NewKey, chain_id: &str) -> Result<IssuedKey, StoreError> {
        if new.permissions.is_empty() {
            return Err(StoreError::invalid(
                "permissions",
                "needs at least one permission",
            ));
        }
        if new.spend_cap_micro.is_some_and(|cap| cap < 0) {
            return Err(StoreError::invalid(
                "spend_cap_micro",
                "must not be negative",
            ));
        }
        let key = ApiKey::generate(new.environment)?;
        let info = KeyInfo {
            id: key.id().to_owned(),
            workspace_id: new.workspace_id,
            environment: new.environment,
            name: check_text("name", &new.name, 0, 200)?,
            last_four: key.last_four().to_owned(),
            permissions: new.permissions,
            spend_cap_micro: new.spend_cap_micro,
            committed_micro: 0,
            chain_id: chain_id.to_owned(),
            created_by: new.created_by,
            created_us: now_us(),
            expires_us: new.expires_us,
            revoked_us: None,
            last_used_us: None,
        };
        let made = sqlx::query(
            "insert into api_keys (id, workspace_id, environment, name, secret_hash, last_four, permissions,
                                   spend_cap_micro, created_by, created_us, expires_us, chain_id)
             select $1, id, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 from workspaces where id = $2 and closed_us is null",
        )
        .bind(&info.id)
        .bind(&info.workspace_id)
        .bind(info.environment.as_str())
        .bind(&info.name)
        .bind(key.hash())
        .bind(&info.last_four)
        .bind(info.permissions.to_string())
        .bind(info.spend_cap_micro)
        .bind(&info.created_by)
        .bind(info.created_us)
        .bind(info.expires_us)
        .bind(chain_id)
        .execute(self.write())
        .await?;
        if made.rows_affected() == 0 {
            return Err(StoreError::NotFound("workspace"));
        }
        Ok(IssuedKey { key, info })
    }

    /// All keys of a workspace, revoked ones too, oldest first.
    pub async fn list_keys(&self, workspace_id: &WorkspaceId) -> Result<Vec<KeyInfo>, StoreError> {
        let sql = format!("{SELECT} where k.workspace_id = $1 order by k.id");
        let rows: Vec<Row> = sqlx::query_as(sqlx::AssertSqlSafe(sql))
            .bind(workspace_id)
            .fetch_all(self.read())
            .await?;
        rows.into_iter().map(info_of).collect()
    }

    pub async fn key(
        &self,
        workspace_id: &WorkspaceId,
        key_id: &str,
    ) -> Result<KeyInfo, StoreError> {
        let sql = format!("{SELECT} where k.id = $1 and k.workspace_id = $2");
        let row: Option<Row> = sqlx::query_as(sqlx::AssertSqlSafe(sql))
            .bind(key_id)
            .bind(workspace_id)
            .fetch_optional(self.read())
            .await?;
        row.map_or(Err(StoreError::NotFound("key")), info_of)
    }

    /// Ends a key: at once in this process, within the cache's one second in others. Revoking twice is no error.
    pub async fn revoke_key(
        &self,
        workspace_id: &WorkspaceId,
        key_id: &str,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(
            "update api_keys set revoked_us = coalesce(revoked_us, $3) where id = $1 and workspace_id = $2",
        )
        .bind(key_id)
        .bind(workspace_id)
        .bind(now_us())
        .execute(self.write())
        .await?;
        self.inner.keys.forget(key_id);
        found(done.rows_affected())
    }

    /// A new key with the old one's name, permissions and expiry. They share the cap, and what was spent towards it: a
    /// rotation does not start it anew. The old one ends at `old_ends_us` (now when
    /// `None`), so that callers can change over without a gap.
    pub async fn rotate_key(
        &self,
        workspace_id: &WorkspaceId,
        key_id: &str,
        old_ends_us: Option<i64>,
        by: &str,
    ) -> Result<IssuedKey, StoreError> {
        let old = self.key(workspace_id, key_id).await?;
        if old.revoked_us.is_some() {
            return Err(StoreError::Refused("a revoked key cannot be rotated"));
        }
        let chain_id = self.begin_chain(key_id).await?;
        let like_old = NewKey {
            workspace_id: old.workspace_id,
            environment: old.environment,
            name: old.name,
            permissions: old.permissions,
            expires_us: old.expires_us,
            spend_cap_micro: old.spend_cap_micro,
            created_by: by.to_owned(),
        };
        let mut issued = self.issue_key(like_old, &chain_id).await?;
        issued.info.committed_micro = old.committed_micro;
        match old_ends_us {
            None => self.revoke_key(workspace_id, key_id).await?,
            Some(ends_us) => {
                let ends_us = old
                    .expires_us
                    .map_or(ends_us, |already| already.min(ends_us));
                sqlx::query("update api_keys set expires_us = $2 where id = $1")
                    .bind(key_id)
                    .bind(ends_us)
                    .execute(self.write())
                    .await?;
                self.inner.keys.forget(key_id);
            }
        }
        Ok(issued)
    }
}

/// The lesser of two bounds, where none is no bound.
fn least_of(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    one.into_iter().chain(other).min()
}

fn found(rows: u64) -> Result<(), StoreError> {
    if rows == 0 {
        Err(StoreError::NotFound("key"))
    } else {
        Ok(())
    }
}
