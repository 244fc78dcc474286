//! Takes deliveries from the queue and sends them, each in a task of its own. Fair shares (bulkheads) for workspaces and
//! endpoints and a circuit breaker for each endpoint keep one that hangs from delaying the others.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use sauti_store::ids::now_us;
use sauti_store::{ClaimQuota, ClaimedDelivery, DeliveryFailure, Standing};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use super::send::Sender;
use crate::app::App;
use crate::telemetry::metrics;

const LOOK_EVERY: Duration = Duration::from_secs(2);
const COUNT_EVERY: Duration = Duration::from_secs(30);
/// Longer than a delivery and its report may take.
const LEASE: Duration = Duration::from_secs(60);
/// Pauses before each new attempt; after the last one the delivery is given up. About a day in all.
const PAUSES_S: &[i64] = &[5, 30, 120, 600, 1_800, 7_200, 21_600, 43_200];

/// The circuit breaker opens with this many failures in a row. Its pauses stay below those of a single delivery, so they
/// matter only where many deliveries wait for one endpoint.
const FAILURES_MAX: i64 = 3;
const BREAKER_PAUSE_S: i64 = 30;
const BREAKER_PAUSE_S_MAX: i64 = 900;

/// Sockets of one process for endpoints of one standing, and the shares of each workspace and endpoint in them. A
/// delivery is little work, but one that hangs keeps its place for 15 s.
struct DeliveryLane {
    standing: Standing,
    places: Arc<Semaphore>,
    per_endpoint: usize,
    per_workspace: usize,
}

impl DeliveryLane {
    fn all() -> [DeliveryLane; 2] {
        let good = DeliveryLane {
            standing: Standing::Good,
            places: Arc::new(Semaphore::new(64)),
            per_endpoint: 4,
            per_workspace: 8,
        };
        // The share of a workspace counts both lanes: what hangs here leaves half of it to the endpoints that work.
        let unproven = DeliveryLane {
            standing: Standing::Unproven,
            places: Arc::new(Semaphore::new(64)),
            per_endpoint: 1,
            per_workspace: 4,
        };
        [good, unproven]
    }

    fn quota(&self) -> ClaimQuota {
        ClaimQuota {
            standing: self.standing,
            total: self.places.available_permits(),
            per_endpoint: self.per_endpoint,
            per_workspace: self.per_workspace,
        }
    }
}

/// Sends what is due, for as long as the server runs. What is in flight when it ends comes back after its lease.
pub async fn deliver_forever(app: App) {
    let sender = Arc::new(Sender::new(app.config.webhooks.allow_private_addresses));
    let lanes = DeliveryLane::all();
    let mut sending = JoinSet::new();
    let mut count_at = Instant::now();
    loop {
        if Instant::now() >= count_at {
            count_backlog(&app).await;
            count_at = Instant::now() + COUNT_EVERY;
        }
        for lane in &lanes {
            for (delivery, place) in claim(&app, lane).await {
                let (app, sender) = (app.clone(), Arc::clone(&sender));
                let sent = async move {
                    deliver(&app, &sender, &delivery).await;
                    drop(place);
                };
                sending.spawn(sent.boxed());
            }
        }
        // A place that is free again may be for the next delivery of the same endpoint.
        tokio::select! {
            Some(_) = sending.join_next() => while sending.try_join_next().is_some() {},
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

async fn claim(app: &App, lane: &DeliveryLane) -> Vec<(ClaimedDelivery, OwnedSemaphorePermit)> {
    let quota = lane.quota();
    if quota.total == 0 {
        return Vec::new();
    }
    match app.store.claim_deliveries(quota, LEASE).await {
        // Only this task takes places, so there is one for each.
        Ok(due) => due
            .into_iter()
            .zip(std::iter::from_fn(|| {
                Arc::clone(&lane.places).try_acquire_owned().ok()
            }))
            .collect(),
        Err(error) => {
            tracing::warn!(%error, "webhook deliveries could not be read");
            Vec::new()
        }
    }
}

async fn count_backlog(app: &App) {
    match app.store.webhook_backlog().await {
        Ok(backlog) => metrics::webhook_backlog(backlog),
        Err(error) => tracing::warn!(%error, "waiting webhook deliveries could not be counted"),
    }
}

async fn deliver(app: &App, sender: &Sender, delivery: &ClaimedDelivery) {
    let (status, error) = match sender.send(delivery).await {
        Ok(status) if (200..300).contains(&status) => {
            metrics::webhook_attempt("delivered");
            let reported = app.store.delivery_succeeded(delivery, status).await;
            return note_report(reported);
        }
        Ok(status) => (Some(status), "not accepted".to_owned()),
        Err(error) => (None, error.to_string()),
    };
    let failure = DeliveryFailure {
        status,
        error: &error,
        again_at_us: next_attempt_us(delivery.attempts),
        pause_until_us: pause_s(delivery.endpoint.failures + 1)
            .map(|pause_s| now_us() + pause_s * 1_000_000),
    };
    metrics::webhook_attempt(match failure.again_at_us {
        Some(_) => "put_back",
        None => "failed",
    });
    note_report(app.store.delivery_failed(delivery, failure).await);
}

fn note_report(reported: Result<(), sauti_store::StoreError>) {
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

/// How long the circuit breaker stays open after so many failures in a row.
fn pause_s(failures: i64) -> Option<i64> {
    let doublings = u32::try_from((failures - FAILURES_MAX).min(32)).ok()?;
    Some((BREAKER_PAUSE_S << doublings).min(BREAKER_PAUSE_S_MAX))
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

    #[test]
    fn the_breaker_opens_with_the_third_failure_and_its_pauses_grow_to_a_bound() {
        let pauses: Vec<_> = (1..=9).map(pause_s).collect();
        let grown = [30, 60, 120, 240, 480, 900, 900].map(Some);
        assert_eq!(pauses[..2], [None, None]);
        assert_eq!(pauses[2..], grown);
        assert_eq!(pause_s(i64::MAX), Some(BREAKER_PAUSE_S_MAX));
    }

    #[test]
    fn the_breaker_never_delays_a_delivery_that_is_alone() {
        for (at, delivery_pause_s) in PAUSES_S.iter().enumerate() {
            assert!(pause_s(at as i64 + 1).unwrap_or(0) <= *delivery_pause_s);
        }
    }
}
