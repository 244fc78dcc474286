//! Checking a presented key. The answer is cached for a second; a revoked key is forgotten at once here.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use sqlx::{FromRow, Row};
use subtle::ConstantTimeEq;

use crate::ids::now_us;
use crate::keys::{ApiKey, Environment, Permissions};
use crate::rows::{Value, execute_rows};
use crate::sql::{is_set, row};
use crate::{AuthError, KeyId, Store, StoreError, WorkspaceId};

/// Enough for every key in use; a flood of invented ids empties the cache instead of growing it.
const CACHE_ENTRIES_MAX: usize = 20_000;

row! {
    /// Who a request comes from.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct KeyHolder {
        pub key_id: KeyId,
        pub key_name: String,
        pub environment: Environment,
        pub workspace_id: WorkspaceId,
        pub currency: String,
        pub permissions: Permissions,
        /// Whether an owner of the workspace has confirmed their account.
        pub confirmed: bool = i64 => is_set,
    }
}

struct Known {
    secret_hash: String,
    caller: Arc<KeyHolder>,
    expires_us: Option<i64>,
    revoked: bool,
}

struct Cached {
    known: Option<Arc<Known>>,
    since: Instant,
}

/// Keys seen lately, and when each was last used until that is written down.
pub(crate) struct KeyCache {
    ttl: Duration,
    entries: Mutex<Entries>,
    used: Mutex<HashMap<KeyId, i64>>,
}

#[derive(Default)]
struct Entries {
    by_id: HashMap<KeyId, Cached>,
    /// Counts invalidations: what was read from the database before one must not be cached after it.
    epoch: u64,
}

impl KeyCache {
    pub(crate) fn new(ttl: Duration) -> Self {
        Self {
            ttl,
            entries: Mutex::default(),
            used: Mutex::default(),
        }
    }

    pub(crate) fn forget(&self, key_id: &KeyId) {
        let mut entries = self.entries.lock();
        entries.epoch += 1;
        entries.by_id.remove(key_id);
    }

    pub(crate) fn clear(&self) {
        let mut entries = self.entries.lock();
        entries.epoch += 1;
        entries.by_id.clear();
    }

    /// The cached answer, or the epoch to hand to `insert` after asking the database.
    fn get(&self, key_id: &KeyId) -> Result<Option<Arc<Known>>, u64> {
        let entries = self.entries.lock();
        match entries.by_id.get(key_id) {
            Some(cached) if cached.since.elapsed() < self.ttl => Ok(cached.known.clone()),
            _ => Err(entries.epoch),
        }
    }

    fn insert(&self, key_id: &KeyId, known: Option<Arc<Known>>, epoch: u64) {
        let mut entries = self.entries.lock();
        if entries.epoch != epoch {
            return;
        }
        if entries.by_id.len() >= CACHE_ENTRIES_MAX {
            entries.by_id.clear();
        }
        let since = Instant::now();
        entries
            .by_id
            .insert(key_id.to_owned(), Cached { known, since });
    }

    fn touch(&self, key_id: &KeyId, at_us: i64) {
        let mut used = self.used.lock();
        match used.get_mut(key_id) {
            Some(last_us) => *last_us = at_us,
            None => _ = used.insert(key_id.to_owned(), at_us),
        }
    }
}

impl Store {
    /// Accepts a key or says why not. Permission, confirmation and balance are the caller's to check.
    pub async fn authenticate(&self, text: &str) -> Result<Arc<KeyHolder>, AuthError> {
        let key = ApiKey::parse(text)?;
        let known = match self.inner.keys.get(key.id()) {
            Ok(known) => known,
            Err(epoch) => {
                let known = self.load_key(key.id()).await?.map(Arc::new);
                self.inner.keys.insert(key.id(), known.clone(), epoch);
                known
            }
        };
        let known = known.ok_or(AuthError::Unknown)?;
        if !bool::from(key.hash().as_bytes().ct_eq(known.secret_hash.as_bytes())) {
            return Err(AuthError::Unknown);
        }
        if known.revoked {
            return Err(AuthError::Revoked);
        }
        let now = now_us();
        if known.expires_us.is_some_and(|expires_us| expires_us <= now) {
            return Err(AuthError::Expired);
        }
        self.inner.keys.touch(key.id(), now);
        Ok(known.caller.clone())
    }

    async fn load_key(&self, key_id: &KeyId) -> Result<Option<Known>, StoreError> {
        let row = sqlx::query(
            "select k.id as key_id, k.name as key_name, k.environment, k.workspace_id, w.currency, k.permissions,
                    k.secret_hash, k.expires_us, k.revoked_us,
                    (select count(*) from members m join accounts a on a.id = m.account_id
                     where m.workspace_id = w.id and m.role = 'owner' and a.confirmed_us is not null) as confirmed
             from api_keys k join workspaces w on w.id = k.workspace_id
             where k.id = $1 and w.closed_us is null",
        )
        .bind(key_id)
        .fetch_optional(self.read())
        .await?;
        let known = |row| {
            Ok(Known {
                caller: Arc::new(KeyHolder::from_row(&row)?),
                secret_hash: row.try_get("secret_hash")?,
                expires_us: row.try_get("expires_us")?,
                revoked: row.try_get::<Option<i64>, _>("revoked_us")?.is_some(),
            })
        };
        row.map(known).transpose()
    }

    /// Writes down when keys were last used. Called from time to time, never by a request.
    pub async fn flush_key_use(&self) -> Result<(), StoreError> {
        let used = std::mem::take(&mut *self.inner.keys.used.lock());
        if used.is_empty() {
            return Ok(());
        }
        let mut rows: Vec<(KeyId, i64)> = used.into_iter().collect();
        // Replicas write the same keys: in one order, so that they wait for each other instead of deadlocking.
        rows.sort();
        let rows = rows
            .into_iter()
            .map(|(key_id, at_us)| vec![Value::from(&key_id), at_us.into()])
            .collect();
        let mut connection = self.write().acquire().await?;
        execute_rows(
            &mut connection,
            "update api_keys set last_used_us = v.column2 from (values ",
            rows,
            ") as v where api_keys.id = v.column1 and coalesce(api_keys.last_used_us, 0) < v.column2",
        )
        .await?;
        Ok(())
    }
}
