//! Events for a workspace's own servers: queued in the store, signed, tried again with growing
//! pauses, and never sent to an address inside our own network.

mod send;

pub use send::signature;

use std::time::Duration;

use sauti_store::ClaimedDelivery;
use sauti_store::ids::now_us;
use serde_json::json;

use crate::app::App;

/// What a workspace can be told of.
pub const EVENTS: &[&str] = &["balance.low", "batch.finished", "payment.received"];

const LOOK_EVERY: Duration = Duration::from_secs(2);
const LEASE: Duration = Duration::from_secs(60);
const AT_ONCE: i64 = 16;
/// Pauses before each new attempt; after the last one the delivery is given up. About a day in all.
const PAUSES_S: &[i64] = &[5, 30, 120, 600, 1_800, 7_200, 21_600, 43_200];

/// The balance fell below the workspace's mark.
pub fn balance_low(app: &App, workspace_id: &str, available_micro: i64) {
    enqueue(
        app,
        workspace_id,
        "balance.low",
        json!({"available_micro": available_micro}),
    );
}

pub fn payment_received(app: &App, workspace_id: &str, amount_micro: i64, available_micro: i64) {
    let data = json!({"amount_micro": amount_micro, "available_micro": available_micro});
    enqueue(app, workspace_id, "payment.received", data);
}

/// In the background: no request waits for the queue.
fn enqueue(app: &App, workspace_id: &str, event: &'static str, data: serde_json::Value) {
    let (app, workspace_id) = (app.clone(), workspace_id.to_owned());
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
pub fn payload(event: &str, workspace_id: &str, data: serde_json::Value) -> String {
    json!({"type": event, "workspace_id": workspace_id, "created_us": now_us(), "data": data})
        .to_string()
}

/// Sends what is due, for as long as the server runs.
pub async fn deliver_forever(app: App) {
    let sender = send::Sender::new(app.config.webhooks.allow_private_addresses);
    loop {
        match app.store.claim_deliveries(AT_ONCE, LEASE).await {
            Ok(due) if due.is_empty() => tokio::time::sleep(LOOK_EVERY).await,
            Ok(due) => {
                let sending = due
                    .into_iter()
                    .map(|delivery| deliver(&app, &sender, delivery));
                futures_util::future::join_all(sending).await;
            }
            Err(error) => {
                tracing::warn!(%error, "webhook deliveries could not be read");
                tokio::time::sleep(LOOK_EVERY * 5).await;
            }
        }
    }
}

async fn deliver(app: &App, sender: &send::Sender, delivery: ClaimedDelivery) {
    let outcome = sender.send(&delivery).await;
    let reported = match &outcome {
        Ok(status) if (200..300).contains(status) => {
            app.store.delivery_succeeded(&delivery, *status).await
        }
        Ok(status) => {
            let again_at_us = next_attempt_us(delivery.attempts);
            app.store
                .delivery_failed(&delivery, Some(*status), "not accepted", again_at_us)
                .await
        }
        Err(error) => {
            let again_at_us = next_attempt_us(delivery.attempts);
            app.store
                .delivery_failed(&delivery, None, &error.to_string(), again_at_us)
                .await
        }
    };
    if let Err(error) = reported {
        tracing::error!(%error, "the outcome of a webhook delivery was not written down");
    }
}

/// `attempts` counts the one that just failed.
fn next_attempt_us(attempts: i64) -> Option<i64> {
    let index = usize::try_from(attempts.max(1) - 1).ok()?;
    PAUSES_S
        .get(index)
        .map(|pause_s| now_us() + pause_s * 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_is_given_up_after_the_last_pause() {
        assert!(next_attempt_us(1).is_some());
        assert!(next_attempt_us(PAUSES_S.len() as i64).is_some());
        assert_eq!(next_attempt_us(PAUSES_S.len() as i64 + 1), None);
    }
}
