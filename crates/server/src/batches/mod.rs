//! Batches: work that nobody waits for at the other end of a line. Items lie in the store; each process takes as many as
//! its settings say, works on them while the engine has nothing better to do, and writes the answer and the price down
//! in one step. What a dead process had in hand comes back by the store's sweep.

mod fetch;
mod item;
mod origins;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sauti_speech::Readiness;
use sauti_store::{Batch, ClaimedItem, StoreError};
use serde_json::json;
use tokio::task::JoinSet;

use crate::app::App;
use crate::outbound::Connector;
use crate::problem::Problem;
use crate::webhooks;

pub use item::form_fields;
pub use origins::is_allowed;

pub const FINISHED: &str = "batch.finished";

/// How often to look for work that came by another process.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const PAUSE_AFTER_ERROR: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Speech,
    Transcription,
}

impl Operation {
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Speech => "speech",
            Operation::Transcription => "transcription",
        }
    }

    pub fn parse(text: &str) -> Option<Operation> {
        match text {
            "speech" => Some(Operation::Speech),
            "transcription" => Some(Operation::Transcription),
            _ => None,
        }
    }
}

pub fn keep(app: &App) -> Duration {
    Duration::from_secs(u64::from(app.config.batches.keep_hours) * 3_600)
}

pub fn time_max(app: &App) -> Duration {
    Duration::from_secs(u64::from(app.config.batches.hours_max) * 3_600)
}

/// What a webhook is told of a batch that is over.
fn finished_event(batch: &Batch) -> String {
    let data = json!({
        "batch_id": batch.id,
        "status": batch.state.as_str(),
        "operation": batch.operation,
        "items": batch.items,
        "done": batch.counts.done,
        "failed": batch.counts.failed,
        "cancelled": batch.counts.cancelled,
        "cost_micro": batch.amount_micro,
    });
    webhooks::payload(FINISHED, &batch.workspace_id, data)
}

/// Stops a batch. One that is over stays as it is.
pub async fn cancel(app: &App, workspace_id: &str, batch_id: &str) -> Result<Batch, Problem> {
    let cancelled = app
        .store
        .cancel_batch(workspace_id, batch_id, keep(app), FINISHED, finished_event)
        .await?;
    match cancelled {
        Some(batch) => Ok(batch),
        None => Ok(app.store.batch(workspace_id, batch_id).await?),
    }
}

async fn finish(app: &App, batch_id: &str) {
    let finished = app
        .store
        .finish_batch(batch_id, keep(app), FINISHED, finished_event);
    match finished.await {
        Ok(Some(batch)) => {
            let counts = batch.counts;
            tracing::info!(batch = %batch.id, items = batch.items, done = counts.done, failed = counts.failed, "a batch is finished");
        }
        Ok(None) => {}
        Err(error) => {
            tracing::warn!(%error, batch = %batch_id, "the end of a batch was not written down yet")
        }
    }
}

/// What every item needs, made once.
pub(crate) struct Desk {
    pub app: App,
    pub connector: Connector,
    /// One at a time, so that the other places stay free for recordings that somebody waits for.
    pub decoding: tokio::sync::Semaphore,
    /// The items that are being worked on here.
    held: Mutex<HashSet<String>>,
}

impl Desk {
    fn held(&self) -> MutexGuard<'_, HashSet<String>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Works on batches for as long as the server runs.
pub async fn work_forever(app: App) {
    let places = app.config.batches.workers;
    if places == 0 {
        return;
    }
    let desk = Arc::new(Desk {
        connector: Connector::new(app.config.batches.allow_private_addresses),
        decoding: tokio::sync::Semaphore::new(1),
        held: Mutex::default(),
        app,
    });
    let mut working = JoinSet::new();
    loop {
        while working.try_join_next().is_some() {}
        let free = places - working.len().min(places);
        let pause = match take(&desk, free).await {
            Ok(items) => {
                for item in items {
                    desk.held().insert(item.id.clone());
                    working.spawn(work(Arc::clone(&desk), item));
                }
                LOOK_EVERY
            }
            Err(error) => {
                tracing::warn!(%error, "batches could not be read");
                PAUSE_AFTER_ERROR
            }
        };
        tokio::select! {
            Some(_) = working.join_next(), if !working.is_empty() => {}
            () = desk.app.batch_bell.notified(), if working.len() < places => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Items for the free places, none while the models load; and the ends of batches that nobody wrote down.
async fn take(desk: &Desk, free: usize) -> Result<Vec<ClaimedItem>, StoreError> {
    let app = &desk.app;
    put_unknown_back(desk).await?;
    for batch_id in app.store.ended_batches().await? {
        finish(app, &batch_id).await;
    }
    if free == 0 || app.engine.readiness() != Readiness::Ready {
        return Ok(Vec::new());
    }
    app.store.claim_batch_items(free as i64).await
}

/// Items that are ours by the database and that nobody here works on: a connection broke off between a claim and its
/// answer, or a report did not arrive. Called between claims, so that none is on its way.
async fn put_unknown_back(desk: &Desk) -> Result<(), StoreError> {
    let held = desk.app.store.held_items().await?;
    let unknown: Vec<_> = {
        let known = desk.held();
        held.into_iter().filter(|id| !known.contains(id)).collect()
    };
    for item_id in unknown {
        tracing::warn!(item = %item_id, "an item was held without being worked on; it is put back");
        desk.app.store.put_unknown_item_back(&item_id).await?;
    }
    Ok(())
}

/// An item in hand; out of hand when dropped, however the work on it ended.
struct InHand<'a>(&'a Desk, &'a str);

impl Drop for InHand<'_> {
    fn drop(&mut self) {
        self.0.held().remove(self.1);
    }
}

async fn work(desk: Arc<Desk>, item: ClaimedItem) {
    let in_hand = InHand(&desk, &item.id);
    item::work(&desk, &item).await;
    drop(in_hand);
    finish(&desk.app, &item.batch_id).await;
}
