//! Events for a workspace's own servers: queued in the store, signed, tried again with growing
//! pauses, and never sent to an address inside our own network.

mod deliver;
mod send;

pub use deliver::deliver_forever;
pub use send::signature;

use sauti_store::ids::now_us;
use sauti_store::{PaymentEvent, WorkspaceId};
use serde_json::json;

use crate::app::App;

/// What a workspace can be told of.
pub const EVENTS: &[&str] = &["balance.low", "batch.finished", "payment.received"];

/// The balance fell below the workspace's mark.
pub fn balance_low(app: &App, workspace_id: &WorkspaceId, available_micro: i64) {
    enqueue(
        app,
        workspace_id,
        "balance.low",
        json!({"available_micro": available_micro}),
    );
}

pub fn payment_received(app: &App, payment: &PaymentEvent, available_micro: i64) {
    let data = json!({
        "provider": payment.provider,
        "receipt": payment.event_id,
        "currency": payment.currency,
        "amount_micro": payment.amount_micro,
        "available_micro": available_micro,
    });
    enqueue(app, &payment.workspace_id, "payment.received", data);
}

/// In the background: no request waits for the queue.
fn enqueue(app: &App, workspace_id: &WorkspaceId, event: &'static str, data: serde_json::Value) {
    let (app, workspace_id) = (app.clone(), workspace_id.clone());
    tokio::spawn(async move {
        let payload = payload(event, &workspace_id, data);
        if let Err(error) = app
            .store
            .enqueue_event(&workspace_id, event, &payload)
            .await
        {
            tracing::error!(%error, event, "an event was not queued");
        }
    });
}

/// What an endpoint receives.
pub fn payload(event: &str, workspace_id: &WorkspaceId, data: serde_json::Value) -> String {
    json!({"type": event, "workspace_id": workspace_id, "created_us": now_us(), "data": data})
        .to_string()
}
