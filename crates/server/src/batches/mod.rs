//! Batches: work that nobody waits for at the other end of a line. Items lie in the store; each process takes as many as
//! its settings say, works on them while the engine has nothing better to do, and writes the answer and the price down
//! in one step. What a dead process had in hand comes back by the store's sweep.
//!
//! Where there is a queue (NATS JetStream) it hands the items out, and the database is looked through only for what it
//! may have lost; where there is none, or it is away, each process asks the database for work every second.

mod fetch;
mod item;
mod nats_worker;
mod origins;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use parking_lot::{Mutex, MutexGuard};
use sauti_service::app::App;
use sauti_service::nats::NatsQueue;
use sauti_service::outbound::Connector;
use sauti_service::{ServiceError, audit};
use sauti_speech::Readiness;
use sauti_store::{
    AuditAction, Batch, BatchId, ClaimedItem, ItemId, StoreError, WorkspaceId, event_payload,
};
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

pub use origins::is_allowed;

use nats_worker::Sweep;

pub const FINISHED: &str = "batch.finished";

/// How often to look for work that came by another process.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often to look for what the queue may have lost.
const SWEEP_EVERY: Duration = Duration::from_secs(5);
const PAUSE_AFTER_ERROR: Duration = Duration::from_secs(5);

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
    event_payload(FINISHED, &batch.workspace_id, &data)
}

/// Stops a batch. One that is over stays as it is.
pub async fn cancel(
    app: &App,
    workspace_id: &WorkspaceId,
    actor: &str,
    batch_id: &BatchId,
) -> Result<Batch, ServiceError> {
    let cancelled = app
        .store
        .cancel_batch(workspace_id, batch_id, keep(app), FINISHED, finished_event)
        .await?;
    match cancelled {
        Some(batch) => {
            audit(&app.store, Some(workspace_id), actor)
                .did(AuditAction::BatchCancelled, batch_id)
                .await;
            Ok(batch)
        }
        None => Ok(app.store.batch(workspace_id, batch_id).await?),
    }
}

async fn finish(app: &App, batch_id: &BatchId) {
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
pub(crate) struct BatchWorker {
    pub app: App,
    pub connector: Connector,
    /// One at a time, so that the other places stay free for recordings that somebody waits for.
    pub decoding: Semaphore,
    /// Items that may be worked on at the same time.
    places: Arc<Semaphore>,
    /// The items that are being worked on here.
    held: Mutex<HashSet<ItemId>>,
    /// Held from a claim until its item is among those above.
    claiming: tokio::sync::Mutex<()>,
}

impl BatchWorker {
    fn new(app: App) -> BatchWorker {
        BatchWorker {
            connector: Connector::new(app.config.batches.allow_private_addresses),
            decoding: Semaphore::new(1),
            places: Arc::new(Semaphore::new(app.config.batches.workers)),
            held: Mutex::default(),
            claiming: tokio::sync::Mutex::default(),
            app,
        }
    }

    fn held(&self) -> MutexGuard<'_, HashSet<ItemId>> {
        self.held.lock()
    }

    /// Takes an item by its name, if it waits.
    async fn claim(&self, item_id: &ItemId) -> Result<Option<ClaimedItem>, StoreError> {
        let _claiming = self.claiming.lock().await;
        let item = self.app.store.claim_batch_item(item_id).await?;
        self.held().extend(item.iter().map(|item| item.id.clone()));
        Ok(item)
    }

    /// Takes as many items as there are places.
    async fn claim_some(&self, places: usize) -> Result<Vec<ClaimedItem>, StoreError> {
        let _claiming = self.claiming.lock().await;
        let items = self.app.store.claim_batch_items(places as i64).await?;
        self.held().extend(items.iter().map(|item| item.id.clone()));
        Ok(items)
    }
}

/// Works on batches for as long as the server runs.
pub async fn work_forever(app: App) {
    let queue = match NatsQueue::connect(&app.config.nats).await {
        Ok(queue) => queue.map(Arc::new),
        Err(error) => {
            tracing::error!("{error:#}");
            None
        }
    };
    let workers = app.config.batches.workers;
    if workers == 0 && queue.is_none() {
        return;
    }
    let worker = Arc::new(BatchWorker::new(app));
    let mut helpers = JoinSet::new();
    if let Some(queue) = &queue {
        let kept = Arc::clone(queue);
        helpers.spawn(async move { kept.keep_forever().await }.boxed());
        for _ in 0..workers {
            let place = nats_worker::work_forever(Arc::clone(&worker), Arc::clone(queue));
            helpers.spawn(place.boxed());
        }
    }
    let mut working = JoinSet::new();
    let mut sweep = Sweep::default();
    loop {
        while working.try_join_next().is_some() {}
        let up = queue.as_deref().filter(|queue| queue.standing().up);
        let looked = match up {
            Some(queue) => sent_on(&worker, queue, &mut sweep).await,
            None => take(&worker, &mut working).await,
        };
        let pause = match (looked, up) {
            (Ok(()), Some(_)) => SWEEP_EVERY,
            (Ok(()), None) => LOOK_EVERY,
            (Err(error), _) => {
                tracing::warn!(%error, "batches could not be read");
                PAUSE_AFTER_ERROR
            }
        };
        let turned = async {
            match &queue {
                Some(queue) => queue.until(up.is_none()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            Some(_) = working.join_next(), if !working.is_empty() => {}
            () = worker.app.batch_bell.notified(), if up.is_some() || working.len() < workers => {}
            () = turned => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

async fn sent_on(
    worker: &BatchWorker,
    queue: &NatsQueue,
    sweep: &mut Sweep,
) -> Result<(), StoreError> {
    tidy_up(worker).await?;
    sweep.run(worker, queue).await
}

/// Begins with as many items as there are free places, none while the models load.
async fn take(worker: &Arc<BatchWorker>, working: &mut JoinSet<()>) -> Result<(), StoreError> {
    tidy_up(worker).await?;
    let places: Vec<OwnedSemaphorePermit> =
        std::iter::from_fn(|| Arc::clone(&worker.places).try_acquire_owned().ok()).collect();
    if places.is_empty() || worker.app.engine.readiness() != Readiness::Ready {
        return Ok(());
    }
    let items = worker.claim_some(places.len()).await?;
    for (item, place) in items.into_iter().zip(places) {
        let worker = Arc::clone(worker);
        let work = async move {
            work(worker, item).await;
            drop(place);
        };
        working.spawn(work.boxed());
    }
    Ok(())
}

/// What was claimed and not begun, and the ends of batches that nobody wrote down.
async fn tidy_up(worker: &BatchWorker) -> Result<(), StoreError> {
    put_unknown_back(worker).await?;
    for batch_id in worker.app.store.ended_batches().await? {
        finish(&worker.app, &batch_id).await;
    }
    Ok(())
}

/// Items that are ours by the database and that nobody here works on: a connection broke off between a claim and its
/// answer, or a report did not arrive. Called between claims, so that none is on its way.
async fn put_unknown_back(worker: &BatchWorker) -> Result<(), StoreError> {
    let _claiming = worker.claiming.lock().await;
    let held = worker.app.store.held_items().await?;
    let unknown: Vec<_> = {
        let known = worker.held();
        held.into_iter().filter(|id| !known.contains(id)).collect()
    };
    for item_id in unknown {
        // It may have ended since it was looked up.
        if worker.app.store.put_unknown_item_back(&item_id).await? {
            tracing::warn!(item = %item_id, "an item was held without being worked on; it was put back");
        }
    }
    Ok(())
}

/// An item in hand; out of hand when dropped, however the work on it ended.
struct InHand<'a>(&'a BatchWorker, &'a ItemId);

impl Drop for InHand<'_> {
    fn drop(&mut self) {
        self.0.held().remove(self.1);
    }
}

async fn work(worker: Arc<BatchWorker>, item: ClaimedItem) {
    let in_hand = InHand(&worker, &item.id);
    item::work(&worker, &item).await;
    drop(in_hand);
    finish(&worker.app, &item.batch_id).await;
}
