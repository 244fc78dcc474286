//! Webhook endpoints and the queue of deliveries. Sending is the server's business; several may pull from one queue.

use std::time::Duration;

use serde::Serialize;
use sqlx::AnyConnection;

use crate::ids::{new_id, now_us, random_base62};
use crate::sql::check_text;
use crate::{Store, StoreError};

const ENDPOINTS_MAX: i64 = 20;
const PAYLOAD_BYTES_MAX: usize = 64 << 10;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WebhookEndpoint {
    pub id: String,
    pub workspace_id: String,
    pub url: String,
    /// Signs the deliveries, so it is kept readable; shown when made.
    #[serde(skip)]
    pub secret: String,
    /// Event types; empty for all.
    pub events: Vec<String>,
    pub created_us: i64,
    pub disabled_us: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryState {
    Pending,
    Delivered,
    Failed,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Delivery {
    pub id: String,
    pub endpoint_id: String,
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

/// A delivery to be sent now. `claim` proves to the later report that it was not claimed by another meanwhile.
#[derive(Debug, Clone)]
pub struct ClaimedDelivery {
    pub id: String,
    pub claim: String,
    pub event_id: String,
    pub event_type: String,
    pub payload: String,
    pub attempts: i64,
    pub created_us: i64,
    pub endpoint: WebhookEndpoint,
}

type EndpointRow = (String, String, String, String, String, i64, Option<i64>);

fn endpoint_of(
    (id, workspace_id, url, secret, events, created_us, disabled_us): EndpointRow,
) -> WebhookEndpoint {
    let events = events
        .split(',')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    WebhookEndpoint {
        id,
        workspace_id,
        url,
        secret,
        events,
        created_us,
        disabled_us,
    }
}

impl Store {
    pub async fn add_webhook(
        &self,
        workspace_id: &str,
        url: &str,
        events: &[String],
    ) -> Result<WebhookEndpoint, StoreError> {
        let url = check_text("url", url, 1, 2000)?;
        if !url.starts_with("https://") && !url.starts_with("http://") {
            return Err(StoreError::invalid(
                "url",
                "must begin with https:// or http://",
            ));
        }
        if events.iter().any(|name| {
            name.is_empty()
                || !name
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b".-_".contains(&b))
        }) {
            return Err(StoreError::invalid(
                "events",
                "are names such as balance.low",
            ));
        }
        let endpoint = WebhookEndpoint {
            id: new_id("hook_"),
            workspace_id: workspace_id.to_owned(),
            url,
            secret: format!("whsec_{}", random_base62(40)?),
            events: events.to_vec(),
            created_us: now_us(),
            disabled_us: None,
        };
        let made = sqlx::query(
            "insert into webhook_endpoints (id, workspace_id, url, secret, events, created_us)
             select $1, w.id, $3, $4, $5, $6 from workspaces w where w.id = $2
               and (select count(*) from webhook_endpoints e where e.workspace_id = $2 and e.disabled_us is null) < $7",
        )
        .bind(&endpoint.id)
        .bind(workspace_id)
        .bind(&endpoint.url)
        .bind(&endpoint.secret)
        .bind(endpoint.events.join(","))
        .bind(endpoint.created_us)
        .bind(ENDPOINTS_MAX)
        .execute(self.write())
        .await?;
        if made.rows_affected() == 0 {
            self.workspace(workspace_id).await?;
            return Err(StoreError::Refused(
                "the workspace has as many webhooks as it may",
            ));
        }
        Ok(endpoint)
    }

    pub async fn webhooks(&self, workspace_id: &str) -> Result<Vec<WebhookEndpoint>, StoreError> {
        let rows: Vec<EndpointRow> = sqlx::query_as(
            "select id, workspace_id, url, secret, events, created_us, disabled_us from webhook_endpoints
             where workspace_id = $1 and disabled_us is null order by id",
        )
        .bind(workspace_id)
        .fetch_all(self.read())
        .await?;
        Ok(rows.into_iter().map(endpoint_of).collect())
    }

    /// Stops an endpoint; what still waits for it is dropped.
    pub async fn remove_webhook(
        &self,
        workspace_id: &str,
        endpoint_id: &str,
    ) -> Result<(), StoreError> {
        let now = now_us();
        let mut tx = self.begin_write().await?;
        let done = sqlx::query(
            "update webhook_endpoints set disabled_us = $3 where id = $1 and workspace_id = $2 and disabled_us is null",
        )
        .bind(endpoint_id)
        .bind(workspace_id)
        .bind(now)
        .execute(&mut *tx)
        .await?;
        if done.rows_affected() == 0 {
            return Err(StoreError::NotFound("webhook"));
        }
        sqlx::query(
            "update webhook_deliveries set state = 'failed', finished_us = $2, last_error = 'the webhook was removed'
             where endpoint_id = $1 and state = 'pending'",
        )
        .bind(endpoint_id)
        .bind(now)
        .execute(&mut *tx)
        .await?;
        tx.commit().await?;
        Ok(())
    }

    /// Queues an event for every endpoint of the workspace that wants it; returns how many.
    pub async fn enqueue_event(
        &self,
        workspace_id: &str,
        event_type: &str,
        payload: &str,
    ) -> Result<usize, StoreError> {
        let mut tx = self.begin_write().await?;
        let queued = self
            .queue_event(&mut tx, workspace_id, event_type, payload)
            .await?;
        tx.commit().await?;
        Ok(queued)
    }

    /// [`Store::enqueue_event`] as a part of what it tells of: both are written or neither.
    pub(crate) async fn queue_event(
        &self,
        tx: &mut AnyConnection,
        workspace_id: &str,
        event_type: &str,
        payload: &str,
    ) -> Result<usize, StoreError> {
        if payload.len() > PAYLOAD_BYTES_MAX || payload.contains('\0') {
            return Err(StoreError::invalid("payload", "is too large or holds NUL"));
        }
        let event_id = new_id("evt_");
        let now = now_us();
        let endpoints: Vec<EndpointRow> = sqlx::query_as(
            "select id, workspace_id, url, secret, events, created_us, disabled_us from webhook_endpoints
             where workspace_id = $1 and disabled_us is null order by id",
        )
        .bind(workspace_id)
        .fetch_all(&mut *tx)
        .await?;
        let wants = |endpoint: &WebhookEndpoint| {
            endpoint.events.is_empty() || endpoint.events.iter().any(|name| name == event_type)
        };
        let mut queued = 0;
        for endpoint in endpoints.into_iter().map(endpoint_of).filter(wants) {
            sqlx::query(
                "insert into webhook_deliveries (id, endpoint_id, workspace_id, event_id, event_type, payload, state,
                    attempts, next_attempt_us, claimed_until_us, claim, last_error, created_us)
                 values ($1, $2, $3, $4, $5, $6, 'pending', 0, $7, 0, '', '', $7)",
            )
            .bind(new_id("del_"))
            .bind(&endpoint.id)
            .bind(workspace_id)
            .bind(&event_id)
            .bind(event_type)
            .bind(payload)
            .bind(now)
            .execute(&mut *tx)
            .await?;
            queued += 1;
        }
        Ok(queued)
    }

    /// Takes due deliveries for `lease`; one whose sender dies comes back after that.
    pub async fn claim_deliveries(
        &self,
        limit: i64,
        lease: Duration,
    ) -> Result<Vec<ClaimedDelivery>, StoreError> {
        let now = now_us();
        let claim = new_id("claim_");
        // The conditions stand twice: PostgreSQL checks the outer ones again after waiting for another claimer's row.
        sqlx::query(
            "update webhook_deliveries set claimed_until_us = $2, claim = $3, attempts = attempts + 1
             where state = 'pending' and claimed_until_us < $1 and id in (
                select id from webhook_deliveries
                where state = 'pending' and next_attempt_us <= $1 and claimed_until_us < $1
                order by next_attempt_us, id limit $4)",
        )
        .bind(now)
        .bind(now.saturating_add(lease.as_micros() as i64))
        .bind(&claim)
        .bind(limit.clamp(1, 1000))
        .execute(self.write())
        .await?;
        type Row = (
            String,
            String,
            String,
            String,
            i64,
            i64,
            String,
            String,
            String,
            String,
            String,
            i64,
            Option<i64>,
        );
        let rows: Vec<Row> = sqlx::query_as(
            "select d.id, d.event_id, d.event_type, d.payload, d.attempts, d.created_us,
                    e.id, e.workspace_id, e.url, e.secret, e.events, e.created_us, e.disabled_us
             from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id
             where d.claim = $1 and d.state = 'pending' order by d.id",
        )
        .bind(&claim)
        .fetch_all(self.write())
        .await?;
        let claimed_of = |row: Row| ClaimedDelivery {
            id: row.0,
            claim: claim.clone(),
            event_id: row.1,
            event_type: row.2,
            payload: row.3,
            attempts: row.4,
            created_us: row.5,
            endpoint: endpoint_of((row.6, row.7, row.8, row.9, row.10, row.11, row.12)),
        };
        Ok(rows.into_iter().map(claimed_of).collect())
    }

    pub async fn delivery_succeeded(
        &self,
        delivery: &ClaimedDelivery,
        status: u16,
    ) -> Result<(), StoreError> {
        self.report(delivery, "delivered", i64::from(status), "", 0)
            .await
    }

    /// Puts a delivery back to be tried at `again_at_us`, or gives it up when that is `None`.
    pub async fn delivery_failed(
        &self,
        delivery: &ClaimedDelivery,
        status: Option<u16>,
        error: &str,
        again_at_us: Option<i64>,
    ) -> Result<(), StoreError> {
        let state = if again_at_us.is_some() {
            "pending"
        } else {
            "failed"
        };
        let error: String = error
            .chars()
            .filter(|c| !c.is_control())
            .take(500)
            .collect();
        self.report(
            delivery,
            state,
            status.map_or(0, i64::from),
            &error,
            again_at_us.unwrap_or(0),
        )
        .await
    }

    async fn report(
        &self,
        delivery: &ClaimedDelivery,
        state: &'static str,
        status: i64,
        error: &str,
        next_attempt_us: i64,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "update webhook_deliveries set state = $3, last_status = case when $4 = 0 then null else $4 end,
                    last_error = $5, next_attempt_us = $6, claimed_until_us = 0, claim = '',
                    finished_us = case when $3 = 'pending' then null else $7 end
             where id = $1 and claim = $2 and state = 'pending'",
        )
        .bind(&delivery.id)
        .bind(&delivery.claim)
        .bind(state)
        .bind(status)
        .bind(error)
        .bind(next_attempt_us)
        .bind(now_us())
        .execute(self.write())
        .await?;
        Ok(())
    }

    /// The newest deliveries of a workspace.
    pub async fn deliveries(
        &self,
        workspace_id: &str,
        limit: i64,
    ) -> Result<Vec<Delivery>, StoreError> {
        type Row = (
            String,
            String,
            String,
            String,
            String,
            i64,
            i64,
            Option<i64>,
            String,
            i64,
            Option<i64>,
        );
        let rows: Vec<Row> = sqlx::query_as(
            "select id, endpoint_id, event_id, event_type, state, attempts, next_attempt_us, last_status, last_error,
                    created_us, finished_us
             from webhook_deliveries where workspace_id = $1 order by created_us desc, id desc limit $2",
        )
        .bind(workspace_id)
        .bind(limit.clamp(1, 1000))
        .fetch_all(self.read())
        .await?;
        let delivery_of = |row: Row| Delivery {
            id: row.0,
            endpoint_id: row.1,
            event_id: row.2,
            event_type: row.3,
            state: match row.4.as_str() {
                "delivered" => DeliveryState::Delivered,
                "failed" => DeliveryState::Failed,
                _ => DeliveryState::Pending,
            },
            attempts: row.5,
            next_attempt_us: row.6,
            last_status: row.7,
            last_error: row.8,
            created_us: row.9,
            finished_us: row.10,
        };
        Ok(rows.into_iter().map(delivery_of).collect())
    }
}
