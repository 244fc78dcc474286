//! Making, listing, revoking and rotating keys.

use serde::Serialize;

use super::{ApiKey, Environment, Permissions};
use crate::ids::now_us;
use crate::sql::{check_text, found, require, row};
use crate::{KeyId, Store, StoreError, WorkspaceId};

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

row! {
    /// What is kept of a key: all but the secret.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
    pub struct KeyInfo {
        pub id: KeyId,
        pub workspace_id: WorkspaceId,
        pub environment: Environment,
        pub name: String,
        pub last_four: String,
        pub permissions: Permissions,
        pub spend_cap_micro: Option<i64>,
        /// Spent and reserved so far, by the keys that it was rotated from and into as well: what counts towards the cap.
        pub committed_micro: i64,
        /// The first of the keys that share a cap with this one.
        #[serde(skip)]
        pub chain_id: Option<KeyId>,
        pub created_by: String,
        pub created_us: i64,
        pub expires_us: Option<i64>,
        pub revoked_us: Option<i64>,
        pub last_used_us: Option<i64>,
    }
}

/// A key at the only moment its text exists.
#[derive(Debug, Clone)]
pub struct IssuedKey {
    pub key: ApiKey,
    pub info: KeyInfo,
}

const SELECT: &str = "select k.id, k.workspace_id, k.environment, k.name, k.last_four, k.permissions, k.spend_cap_micro,
    coalesce((select cast(sum(a.committed_micro) as bigint) from api_keys c join key_spend a on a.key_id = c.id
              where c.chain_id = k.chain_id and k.chain_id <> ''), s.committed_micro, 0) as committed_micro,
    k.created_by, k.created_us, k.expires_us, k.revoked_us, k.last_used_us, nullif(k.chain_id, '') as chain_id
    from api_keys k left join key_spend s on s.key_id = k.id";

impl Store {
    pub async fn create_key(&self, mut new: NewKey) -> Result<IssuedKey, StoreError> {
        let Ok(parent_id) = new.created_by.parse::<KeyId>() else {
            return self.issue_key(new, None).await;
        };
        // A key gives away no more than it has, however many keys it makes: they spend from its cap together.
        let parent = self.key(&new.workspace_id, &parent_id).await?;
        new.expires_us = least_of(new.expires_us, parent.expires_us);
        let Some(cap_micro) = parent.spend_cap_micro else {
            return self.issue_key(new, None).await;
        };
        new.spend_cap_micro = least_of(new.spend_cap_micro, Some(cap_micro));
        let chain_id = self.begin_chain(&parent.id).await?;
        let mut issued = self.issue_key(new, Some(chain_id)).await?;
        issued.info.committed_micro = parent.committed_micro;
        Ok(issued)
    }

    /// The name under which keys share their cap with this one.
    async fn begin_chain(&self, key_id: &KeyId) -> Result<KeyId, StoreError> {
        Ok(sqlx::query_scalar(
            "update api_keys set chain_id = case chain_id when '' then id else chain_id end
             where id = $1 returning chain_id",
        )
        .bind(key_id)
        .fetch_one(self.write())
        .await?)
    }

    async fn issue_key(
        &self,
        new: NewKey,
        chain_id: Option<KeyId>,
    ) -> Result<IssuedKey, StoreError> {
        let permitted = !new.permissions.is_empty();
        require(permitted, "permissions", "needs at least one permission")?;
        let fits = new.spend_cap_micro.is_none_or(|cap| cap >= 0);
        require(fits, "spend_cap_micro", "must not be negative")?;
        let key = ApiKey::generate(new.environment)?;
        let info = KeyInfo {
            id: key.id().clone(),
            workspace_id: new.workspace_id,
            environment: new.environment,
            name: check_text("name", &new.name, 0, 200)?,
            last_four: key.last_four().to_owned(),
            permissions: new.permissions,
            spend_cap_micro: new.spend_cap_micro,
            committed_micro: 0,
            chain_id,
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
        .bind(info.environment)
        .bind(&info.name)
        .bind(key.hash())
        .bind(&info.last_four)
        .bind(info.permissions)
        .bind(info.spend_cap_micro)
        .bind(&info.created_by)
        .bind(info.created_us)
        .bind(info.expires_us)
        .bind(info.chain_id.as_deref().unwrap_or_default())
        .execute(self.write())
        .await?;
        found(&made, "workspace")?;
        Ok(IssuedKey { key, info })
    }

    /// All keys of a workspace, revoked ones too, oldest first.
    pub async fn list_keys(&self, workspace_id: &WorkspaceId) -> Result<Vec<KeyInfo>, StoreError> {
        let sql = format!("{SELECT} where k.workspace_id = $1 order by k.id");
        Ok(sqlx::query_as(sqlx::AssertSqlSafe(sql))
            .bind(workspace_id)
            .fetch_all(self.read())
            .await?)
    }

    pub async fn key(
        &self,
        workspace_id: &WorkspaceId,
        key_id: &KeyId,
    ) -> Result<KeyInfo, StoreError> {
        let sql = format!("{SELECT} where k.id = $1 and k.workspace_id = $2");
        let row = sqlx::query_as(sqlx::AssertSqlSafe(sql))
            .bind(key_id)
            .bind(workspace_id)
            .fetch_optional(self.read())
            .await?;
        row.ok_or(StoreError::NotFound("key"))
    }

    /// Ends a key: at once in this process, within the cache's one second in others. Revoking twice is no error.
    pub async fn revoke_key(
        &self,
        workspace_id: &WorkspaceId,
        key_id: &KeyId,
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
        found(&done, "key")
    }

    /// A new key with the old one's name, permissions and expiry. They share the cap, and what was spent towards it: a
    /// rotation does not start it anew. The old one ends at `old_ends_us` (now when
    /// `None`), so that callers can change over without a gap.
    pub async fn rotate_key(
        &self,
        workspace_id: &WorkspaceId,
        key_id: &KeyId,
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
        let mut issued = self.issue_key(like_old, Some(chain_id)).await?;
        issued.info.committed_micro = old.committed_micro;
        match old_ends_us {
            None => self.revoke_key(workspace_id, key_id).await?,
            Some(ends_us) => {
                sqlx::query("update api_keys set expires_us = $2 where id = $1")
                    .bind(key_id)
                    .bind(least_of(old.expires_us, Some(ends_us)))
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
