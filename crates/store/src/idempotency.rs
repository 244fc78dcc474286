//! Answers kept for retries: the first request with a key does the work, later ones get its answer.

use serde::{Deserialize, Serialize};

use crate::ids::new_id;
use crate::ledger::{AbandonAnswer, BeginAnswer, Begun, FinishAnswer, Guard, Storing};
use crate::sql::check_text;
use crate::{LedgerError, Store, StoreError, WorkspaceId};

/// An answer as it went out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredAnswer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// `None` when the body was too large to keep, or among the oldest: the work is to be done again, free of charge.
    pub body: Option<Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begin {
    /// Nobody has asked this before: do the work.
    New(Guard),
    /// Another request with this key is at work.
    InFlight,
    Replay(StoredAnswer),
    /// The key was used for another request.
    Mismatch,
}

impl Store {
    /// Claims an idempotency key for a request whose content hashes to `fingerprint`. If the caller's future is
    /// dropped meanwhile, the claim is abandoned.
    pub async fn begin(
        &self,
        workspace_id: &WorkspaceId,
        key: &str,
        fingerprint: &str,
    ) -> Result<Begin, LedgerError> {
        let guard = Guard {
            id: new_id("idem_"),
            workspace_id: workspace_id.clone(),
            key: check_text("idempotency_key", key, 1, 255)?,
        };
        let op = BeginAnswer {
            guard,
            fingerprint: check_text("fingerprint", fingerprint, 1, 128)?,
            instance_id: self.inner.instance.id(),
            lifetime_us: self.inner.options.idempotency_ttl.as_micros() as i64,
        };
        match self.inner.writers.submit(op).await? {
            Begun::New(guard) => Ok(Begin::New(guard)),
            Begun::InFlight => Ok(Begin::InFlight),
            Begun::Mismatch => Ok(Begin::Mismatch),
            Begun::Done(guard) => Ok(Begin::Replay(self.stored_answer(&guard).await?)),
        }
    }

    /// Stores the answer of a request that cost nothing; a charged one goes through `settle_and_store`.
    pub async fn finish(&self, guard: &Guard, answer: StoredAnswer) -> Result<(), LedgerError> {
        let storing = self.storing(guard, answer)?;
        self.inner.writers.submit(FinishAnswer { storing }).await
    }

    /// Gives the key up, so that the next request with it does the work. No error when it was not held any more.
    pub async fn abandon(&self, guard: &Guard) -> Result<(), LedgerError> {
        let guard = guard.clone();
        self.inner.writers.submit(AbandonAnswer { guard }).await
    }

    /// [`Store::abandon`] without waiting, for `Drop`.
    pub fn abandon_later(&self, guard: &Guard) {
        let guard = guard.clone();
        self.inner.writers.submit_later(AbandonAnswer { guard });
    }

    /// Drops the bodies of the oldest answers until the rest, of all workspaces, is no larger than this. Returns how
    /// many bytes are left.
    pub async fn trim_answers(&self, bytes_max: u64) -> Result<u64, StoreError> {
        let kept = self.stored_bytes().await?;
        if kept <= bytes_max {
            return Ok(kept);
        }
        let newest_dropped_us: Option<i64> = sqlx::query_scalar(
            "select max(created_us) from
                (select created_us, sum(body_bytes) over (order by created_us desc) as bytes_since
                 from idempotency where body_bytes > 0) as sums
             where bytes_since > $1",
        )
        .bind(bytes_max.min(i64::MAX as u64) as i64)
        .fetch_one(self.read())
        .await?;
        // In steps, so that nobody's charge waits for long.
        loop {
            let dropped = sqlx::query(
                "update idempotency set body = null, body_bytes = 0 where (workspace_id, idem_key) in
                    (select workspace_id, idem_key from idempotency where body_bytes > 0 and created_us <= $1
                     order by created_us limit 100)",
            )
            .bind(newest_dropped_us)
            .execute(self.write())
            .await?;
            if dropped.rows_affected() == 0 {
                return self.stored_bytes().await;
            }
        }
    }

    async fn stored_bytes(&self) -> Result<u64, StoreError> {
        let bytes: i64 = sqlx::query_scalar(
            "select cast(coalesce(sum(body_bytes), 0) as bigint) from idempotency where body_bytes > 0",
        )
        .fetch_one(self.read())
        .await?;
        Ok(bytes as u64)
    }

    pub(crate) fn storing(
        &self,
        guard: &Guard,
        answer: StoredAnswer,
    ) -> Result<Storing, StoreError> {
        let headers = serde_json::to_string(&answer.headers)
            .map_err(|error| StoreError::invalid("headers", error.to_string()))?;
        if headers.len() > 64 << 10 {
            return Err(StoreError::invalid("headers", "are too large to keep"));
        }
        let body = answer
            .body
            .filter(|body| body.len() <= self.inner.options.answer_bytes_max);
        Ok(Storing {
            guard: guard.clone(),
            status: i64::from(answer.status),
            headers,
            body,
        })
    }

    async fn stored_answer(&self, guard: &Guard) -> Result<StoredAnswer, LedgerError> {
        let row: Option<(i64, String, Option<Vec<u8>>)> = sqlx::query_as(
            "select status, headers, body from idempotency
             where workspace_id = $1 and idem_key = $2 and guard_id = $3 and state = 'done'",
        )
        .bind(&guard.workspace_id)
        .bind(&guard.key)
        .bind(&guard.id)
        .fetch_optional(self.write())
        .await?;
        let (status, headers, body) = row.ok_or(LedgerError::GuardLost)?;
        let headers = serde_json::from_str(&headers).unwrap_or_default();
        Ok(StoredAnswer {
            status: u16::try_from(status).unwrap_or(500),
            headers,
            body,
        })
    }
}
