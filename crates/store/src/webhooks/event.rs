//! What a workspace is told, and its way into the queue of deliveries: in the transaction of what it tells of (transactional
//! outbox), so that both are written or neither.

use serde_json::{Value, json};
use sqlx::AnyConnection;

use crate::ids::{new_id, now_us};
use crate::{DeliveryId, WebhookId, WorkspaceId};

#[derive(Debug)]
pub(crate) struct WorkspaceEvent {
    pub(crate) workspace_id: WorkspaceId,
    pub(crate) event_type: &'static str,
    pub(crate) data: Value,
}

/// What an endpoint receives.
pub fn event_payload(event_type: &str, workspace_id: &WorkspaceId, data: &Value) -> String {
    json!({"type": event_type, "workspace_id": workspace_id, "created_us": now_us(), "data": data})
        .to_string()
}

/// Queues an event for every endpoint of the workspace that wants it; returns how many.
pub(crate) async fn queue_event(
    tx: &mut AnyConnection,
    workspace_id: &WorkspaceId,
    event_type: &str,
    payload: &str,
) -> Result<usize, sqlx::Error> {
    let event_id = new_id("evt_");
    let now = now_us();
    let endpoints: Vec<(WebhookId, String)> = sqlx::query_as(
        "select id, events from webhook_endpoints where workspace_id = $1 and disabled_us is null order by id",
    )
    .bind(workspace_id)
    .fetch_all(&mut *tx)
    .await?;
    let wants = |(_, events): &(WebhookId, String)| {
        events.is_empty() || events.split(',').any(|name| name == event_type)
    };
    let mut queued = 0;
    for (endpoint_id, _) in endpoints.into_iter().filter(wants) {
        sqlx::query(
            "insert into webhook_deliveries (id, endpoint_id, workspace_id, event_id, event_type, payload, state,
                attempts, next_attempt_us, claimed_until_us, claim, last_error, created_us)
             values ($1, $2, $3, $4, $5, $6, 'pending', 0, $7, 0, '', '', $7)",
        )
        .bind(DeliveryId::generate())
        .bind(&endpoint_id)
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
