//! Webhook endpoints and the queue of deliveries. Sending is the server's business; several may pull from one queue.

mod deliveries;
mod event;

pub use deliveries::{
    ClaimQuota, ClaimedDelivery, Delivery, DeliveryFailure, DeliveryState, Standing, WebhookBacklog,
};
pub use event::event_payload;
pub(crate) use event::{WorkspaceEvent, queue_event};

use serde::Serialize;
use sqlx::AssertSqlSafe;

use crate::ids::{now_us, random_base62};
use crate::sql::{check_text, found, require, row};
use crate::{Store, StoreError, WebhookId, WorkspaceId};

const ENDPOINTS_MAX: i64 = 20;
const PAYLOAD_BYTES_MAX: usize = 64 << 10;

row! {
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
    pub struct WebhookEndpoint {
        #[serde(rename = "webhook_id")]
        pub id: WebhookId,
        pub workspace_id: WorkspaceId,
        pub url: String,
        /// Signs the deliveries, so it is kept readable; shown when made.
        #[serde(skip)]
        pub secret: String,
        /// Event types; empty for all.
        pub events: Vec<String> = String => split_events,
        pub created_us: i64,
        pub disabled_us: Option<i64>,
        /// Attempts that failed in a row.
        pub failures: i64,
        /// The circuit breaker is open: nothing is sent before this moment.
        pub paused_until_us: Option<i64> = i64 => still_to_come,
        pub succeeded_us: Option<i64>,
    }
}

const SELECT_ENDPOINTS: &str =
    "select id, workspace_id, url, secret, events, created_us, disabled_us,
        failures, paused_until_us, succeeded_us from webhook_endpoints";

fn split_events(events: String) -> Vec<String> {
    let events = events.split(',').filter(|name| !name.is_empty());
    events.map(str::to_owned).collect()
}

fn still_to_come(moment_us: i64) -> Option<i64> {
    Some(moment_us).filter(|moment_us| *moment_us > now_us())
}

impl Store {
    pub async fn add_webhook(
        &self,
        workspace_id: &WorkspaceId,
        url: &str,
        events: &[String],
    ) -> Result<WebhookEndpoint, StoreError> {
        let url = check_text("url", url, 1, 2000)?;
        let on_the_web = url.starts_with("https://") || url.starts_with("http://");
        require(on_the_web, "url", "must begin with https:// or http://")?;
        let authority = url.split(['/', '?', '#']).nth(2).unwrap_or_default();
        let rule = "must have no user and password in it: none are sent; check the signature";
        require(!authority.contains('@'), "url", rule)?;
        let is_letter = |b: u8| b.is_ascii_lowercase() || b".-_".contains(&b);
        let is_name = |name: &String| !name.is_empty() && name.bytes().all(is_letter);
        let named = events.iter().all(is_name);
        require(named, "events", "are names such as balance.low")?;
        let endpoint = WebhookEndpoint {
            id: WebhookId::generate(),
            workspace_id: workspace_id.clone(),
            url,
            secret: format!("whsec_{}", random_base62(40)?),
            events: events.to_vec(),
            created_us: now_us(),
            disabled_us: None,
            failures: 0,
            paused_until_us: None,
            succeeded_us: None,
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

    pub async fn webhooks(
        &self,
        workspace_id: &WorkspaceId,
    ) -> Result<Vec<WebhookEndpoint>, StoreError> {
        let sql = format!(
            "{SELECT_ENDPOINTS} where workspace_id = $1 and disabled_us is null order by id"
        );
        Ok(sqlx::query_as(AssertSqlSafe(sql))
            .bind(workspace_id)
            .fetch_all(self.read())
            .await?)
    }

    /// Stops an endpoint; what still waits for it is dropped.
    pub async fn remove_webhook(
        &self,
        workspace_id: &WorkspaceId,
        endpoint_id: &WebhookId,
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
        found(&done, "webhook")?;
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
        workspace_id: &WorkspaceId,
        event_type: &str,
        payload: &str,
    ) -> Result<usize, StoreError> {
        let fits = payload.len() <= PAYLOAD_BYTES_MAX && !payload.contains('\0');
        require(fits, "payload", "is too large or holds NUL")?;
        let mut tx = self.begin_write().await?;
        let queued = queue_event(&mut tx, workspace_id, event_type, payload).await?;
        tx.commit().await?;
        Ok(queued)
    }
}
