//! The queue of webhook deliveries: claimed for a lease, in fair shares, and reported back. An endpoint that hangs or
//! fails holds up neither its neighbours nor other workspaces.

use std::time::Duration;

use serde::Serialize;
use sqlx::AssertSqlSafe;

use super::{SELECT_ENDPOINTS, WebhookEndpoint};
use crate::ids::{new_id, now_us};
use crate::rows::select_in;
use crate::sql::row;
use crate::text_columns::text_enum;
use crate::{DeliveryId, Store, StoreError, WebhookId, WorkspaceId};

/// What an endpoint has not taken for this long is given up with its next failure.
const KEEP_TRYING_US: i64 = 3 * 24 * 3600 * 1_000_000;

text_enum! {
    pub enum DeliveryState ("state") {
        Pending = "pending",
        Delivered = "delivered",
        Failed = "failed",
    }
}

row! {
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
    pub struct Delivery {
        pub id: DeliveryId,
        #[serde(rename = "webhook_id")]
        pub endpoint_id: WebhookId,
        pub event_id: String,
        pub event_type: String,
        pub state: DeliveryState,
        pub attempts: i64,
        pub next_attempt_us: i64,
        pub last_status: Option<i64>,
        pub last_error: String,
        pub created_us: i64,
        pub finished_us: Option<i64>,
    }
}

/// A delivery to be sent now. `claim` proves to the later report that it was not claimed by another meanwhile.
#[derive(Debug, Clone)]
pub struct ClaimedDelivery {
    pub id: DeliveryId,
    pub claim: String,
    pub event_id: String,
    pub event_type: String,
    pub payload: String,
    pub attempts: i64,
    pub created_us: i64,
    pub endpoint: WebhookEndpoint,
}

/// Whether the newest attempt at an endpoint succeeded. Those that have yet to prove themselves are claimed apart, so
/// that they cannot take every place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Good,
    Unproven,
}

impl Standing {
    fn condition(self) -> &'static str {
        match self {
            Self::Good => "e.failures = 0 and e.succeeded_us is not null",
            Self::Unproven => "(e.failures > 0 or e.succeeded_us is null)",
        }
    }
}

/// How much may be claimed. What other senders have in flight counts towards the shares of endpoint and workspace.
#[derive(Debug, Clone, Copy)]
pub struct ClaimQuota {
    pub standing: Standing,
    pub total: usize,
    pub per_endpoint: usize,
    pub per_workspace: usize,
}

/// Why an attempt failed, and what follows.
#[derive(Debug, Clone, Copy)]
pub struct DeliveryFailure<'a> {
    pub status: Option<u16>,
    pub error: &'a str,
    /// When to try again; `None` gives the delivery up.
    pub again_at_us: Option<i64>,
    /// Opens the circuit breaker: until then nothing is sent to the endpoint.
    pub pause_until_us: Option<i64>,
}

/// What waits, for the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookBacklog {
    pub deliveries_pending: i64,
    pub endpoints_paused: i64,
}

row! {
    struct ClaimedRow {
        id: DeliveryId,
        endpoint_id: WebhookId,
        event_id: String,
        event_type: String,
        payload: String,
        attempts: i64,
        created_us: i64,
    }
}

impl Store {
    /// Takes due deliveries for `lease`; one whose sender dies comes back after that.
    pub async fn claim_deliveries(
        &self,
        quota: ClaimQuota,
        lease: Duration,
    ) -> Result<Vec<ClaimedDelivery>, StoreError> {
        let now = now_us();
        let due = self.due_deliveries(quota, now).await?;
        if due.is_empty() {
            return Ok(Vec::new());
        }
        let claim = new_id("claim_");
        let until_us = now.saturating_add(lease.as_micros() as i64);
        let mut ours = Vec::with_capacity(due.len());
        let mut tx = self.begin_write().await?;
        for id in due {
            // Another sender may have read the same row as due: the condition decides who has it.
            let done = sqlx::query(
                "update webhook_deliveries set claimed_until_us = $2, claim = $3, attempts = attempts + 1
                 where id = $4 and state = 'pending' and claimed_until_us < $1",
            )
            .bind(now)
            .bind(until_us)
            .bind(&claim)
            .bind(&id)
            .execute(&mut *tx)
            .await?;
            if done.rows_affected() == 1 {
                ours.push(id);
            }
        }
        let claimed = read_claimed(&mut tx, &claim, &ours).await?;
        tx.commit().await?;
        Ok(claimed)
    }

    /// Ids of what may be claimed, the workspaces in turn. Read apart from the claim: a long queue of paused endpoints
    /// must not hold SQLite's one writer. Replicas that read at the same moment may together exceed a share by a
    /// delivery each.
    async fn due_deliveries(
        &self,
        quota: ClaimQuota,
        now: i64,
    ) -> Result<Vec<DeliveryId>, StoreError> {
        let sql = format!(
            "with in_flight as (
                select endpoint_id, workspace_id from webhook_deliveries
                where state = 'pending' and claimed_until_us >= $1),
             busy_endpoints as (select endpoint_id as id, count(*) as sending from in_flight group by endpoint_id),
             busy_workspaces as (select workspace_id as id, count(*) as sending from in_flight group by workspace_id),
             at_endpoint as (
                select d.id, d.workspace_id, d.next_attempt_us, coalesce(b.sending, 0)
                    + row_number() over (partition by d.endpoint_id order by d.next_attempt_us, d.id) as place
                from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id
                    left join busy_endpoints b on b.id = d.endpoint_id
                where d.state = 'pending' and d.next_attempt_us <= $1 and d.claimed_until_us < $1
                    and e.paused_until_us <= $1 and {}),
             at_workspace as (
                select a.id, a.next_attempt_us, coalesce(b.sending, 0)
                    + row_number() over (partition by a.workspace_id order by a.next_attempt_us, a.id) as place
                from at_endpoint a left join busy_workspaces b on b.id = a.workspace_id
                where a.place <= $2)
             select id from at_workspace where place <= $3 order by place, next_attempt_us, id limit $4",
            quota.standing.condition()
        );
        Ok(sqlx::query_scalar(AssertSqlSafe(sql))
            .bind(now)
            .bind(quota.per_endpoint as i64)
            .bind(quota.per_workspace as i64)
            .bind(quota.total as i64)
            .fetch_all(self.read())
            .await?)
    }

    /// Closes the endpoint's circuit breaker, too.
    pub async fn delivery_succeeded(
        &self,
        delivery: &ClaimedDelivery,
        status: u16,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin_write().await?;
        let ours = report(
            &mut tx,
            delivery,
            DeliveryState::Delivered,
            Some(status),
            "",
            0,
        )
        .await?;
        if ours {
            sqlx::query(
                "update webhook_endpoints set failures = 0, paused_until_us = 0, succeeded_us = $2
                 where id = $1 and (failures > 0 or succeeded_us is null)",
            )
            .bind(&delivery.endpoint.id)
            .bind(now_us())
            .execute(&mut *tx)
            .await?;
        }
        tx.commit().await?;
        Ok(())
    }

    /// Puts a delivery back or gives it up, and counts the failure towards the endpoint's circuit breaker.
    pub async fn delivery_failed(
        &self,
        delivery: &ClaimedDelivery,
        failure: DeliveryFailure<'_>,
    ) -> Result<(), StoreError> {
        let state = match failure.again_at_us {
            Some(_) => DeliveryState::Pending,
            None => DeliveryState::Failed,
        };
        let error = failure.error.chars().filter(|c| !c.is_control());
        let error: String = error.take(500).collect();
        let again_at_us = failure.again_at_us.unwrap_or(0);
        let mut tx = self.begin_write().await?;
        let ours = report(
            &mut tx,
            delivery,
            state,
            failure.status,
            &error,
            again_at_us,
        )
        .await?;
        if ours {
            let now = now_us();
            sqlx::query(
                "update webhook_endpoints set failures = failures + 1, paused_until_us = $2 where id = $1",
            )
            .bind(&delivery.endpoint.id)
            .bind(failure.pause_until_us.unwrap_or(0))
            .execute(&mut *tx)
            .await?;
            sqlx::query(
                "update webhook_deliveries set state = 'failed', finished_us = $2,
                    last_error = 'the endpoint took nothing for three days'
                 where endpoint_id = $1 and state = 'pending' and claimed_until_us < $2 and created_us < $3",
            )
            .bind(&delivery.endpoint.id)
            .bind(now)
            .bind(now - KEEP_TRYING_US)
            .execute(&mut *tx)
            .await?;
        }
        tx.commit().await?;
        Ok(())
    }

    pub async fn webhook_backlog(&self) -> Result<WebhookBacklog, StoreError> {
        let (deliveries_pending, endpoints_paused) = sqlx::query_as(
            "select (select count(*) from webhook_deliveries where state = 'pending'),
                    (select count(*) from webhook_endpoints where disabled_us is null and paused_until_us > $1)",
        )
        .bind(now_us())
        .fetch_one(self.read())
        .await?;
        Ok(WebhookBacklog {
            deliveries_pending,
            endpoints_paused,
        })
    }

    /// The newest deliveries of a workspace.
    pub async fn deliveries(
        &self,
        workspace_id: &WorkspaceId,
        limit: i64,
    ) -> Result<Vec<Delivery>, StoreError> {
        Ok(sqlx::query_as(
            "select id, endpoint_id, event_id, event_type, state, attempts, next_attempt_us, last_status, last_error,
                    created_us, finished_us
             from webhook_deliveries where workspace_id = $1 order by created_us desc, id desc limit $2",
        )
        .bind(workspace_id)
        .bind(limit.clamp(1, 1000))
        .fetch_all(self.read())
        .await?)
    }
}

async fn read_claimed(
    tx: &mut sqlx::AnyConnection,
    claim: &str,
    ids: &[DeliveryId],
) -> Result<Vec<ClaimedDelivery>, StoreError> {
    let before = "select id, endpoint_id, event_id, event_type, payload, attempts, created_us
        from webhook_deliveries where id";
    let ids: Vec<String> = ids.iter().map(DeliveryId::to_string).collect();
    let rows: Vec<ClaimedRow> = select_in(&mut *tx, before, &ids, "").await?;
    let endpoint_ids: Vec<String> = rows.iter().map(|row| row.endpoint_id.to_string()).collect();
    let before = format!("{SELECT_ENDPOINTS} where id");
    let endpoints: Vec<WebhookEndpoint> = select_in(tx, &before, &endpoint_ids, "").await?;
    let endpoints: std::collections::HashMap<WebhookId, WebhookEndpoint> = endpoints
        .into_iter()
        .map(|endpoint| (endpoint.id.clone(), endpoint))
        .collect();
    let claimed = rows.into_iter().filter_map(|row| {
        Some(ClaimedDelivery {
            endpoint: endpoints.get(&row.endpoint_id)?.clone(),
            claim: claim.to_owned(),
            id: row.id,
            event_id: row.event_id,
            event_type: row.event_type,
            payload: row.payload,
            attempts: row.attempts,
            created_us: row.created_us,
        })
    });
    Ok(claimed.collect())
}

/// Whether the claim still held, so that the report counts.
async fn report(
    tx: &mut sqlx::AnyConnection,
    delivery: &ClaimedDelivery,
    state: DeliveryState,
    status: Option<u16>,
    error: &str,
    next_attempt_us: i64,
) -> Result<bool, StoreError> {
    let done = sqlx::query(
        "update webhook_deliveries set state = $3, last_status = $4,
                last_error = $5, next_attempt_us = $6, claimed_until_us = 0, claim = '',
                finished_us = case when $3 = 'pending' then null else $7 end
         where id = $1 and claim = $2 and state = 'pending'",
    )
    .bind(&delivery.id)
    .bind(&delivery.claim)
    .bind(state)
    .bind(status.map(i64::from))
    .bind(error)
    .bind(next_attempt_us)
    .bind(now_us())
    .execute(tx)
    .await?;
    Ok(done.rows_affected() == 1)
}
