//! Work that comes through the queue: what to send, and what to do with a message.
//!
//! Of each batch only the first items that wait are in the queue; each one that is over brings the next. So a small batch
//! does not wait behind a large one, though the queue knows only first come, first served.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sauti_service::nats::{ItemRef, NatsQueue, QueueMessage};
use sauti_speech::Readiness;
use sauti_store::ids::now_us;
use sauti_store::{BatchId, StoreError};

use super::BatchWorker;

/// Items of one batch in the queue at the same time.
const WINDOW: i64 = 32;
/// When the queue is empty and yet items wait that were sent this long ago, something was lost.
const LOST_AFTER: Duration = Duration::from_secs(10);
/// And when the queue is never empty, it may be one of these.
const SENT_AGAIN_AFTER: Duration = Duration::from_secs(600);
const PAUSE_BEFORE_READY: Duration = Duration::from_millis(200);

/// One place of the worker, filled by the queue for as long as the server runs.
pub async fn work_forever(worker: Arc<BatchWorker>, queue: Arc<NatsQueue>) -> Infallible {
    loop {
        queue.until(true).await;
        if worker.app.engine.readiness() != Readiness::Ready {
            tokio::time::sleep(PAUSE_BEFORE_READY).await;
            continue;
        }
        let place = worker.places.acquire().await;
        if let Some(message) = queue.pull().await {
            handle(&worker, &queue, message).await;
        }
        drop(place);
    }
}

async fn handle(worker: &Arc<BatchWorker>, queue: &NatsQueue, message: QueueMessage) {
    match attempt(worker, queue, &message).await {
        Ok(true) => message.done().await,
        Ok(false) => message.later().await,
        Err(error) => {
            tracing::warn!(%error, item = %message.item_ref.item, "the store failed under an item of a batch");
            message.later().await;
        }
    }
}

/// Whether the message has served its purpose.
async fn attempt(
    worker: &Arc<BatchWorker>,
    queue: &NatsQueue,
    message: &QueueMessage,
) -> Result<bool, StoreError> {
    let item_ref = &message.item_ref;
    if let Some(item) = worker.claim(&item_ref.item).await? {
        tokio::select! {
            () = super::work(Arc::clone(worker), item) => {}
            never = message.beat_forever() => match never {},
        }
    }
    // Not claimed: over already, in other hands, or resting after a failure.
    if worker.app.store.item_is_open(&item_ref.item).await? {
        return Ok(false);
    }
    // Before this message is given up: should we die now, it comes again and brings the next item then.
    let next = waiting(worker, &item_ref.batch, item_ref.position + WINDOW - 1, 1).await?;
    Ok(queue.publish(&next, "").await.is_ok())
}

async fn waiting(
    worker: &BatchWorker,
    batch_id: &BatchId,
    after: i64,
    limit: i64,
) -> Result<Vec<ItemRef>, StoreError> {
    let items = worker
        .app
        .store
        .waiting_items(batch_id, after, limit)
        .await?;
    let item_ref = |(position, item)| ItemRef {
        item,
        batch: batch_id.clone(),
        position,
    };
    Ok(items.into_iter().map(item_ref).collect())
}

/// Sends what waits in the database and is not known to be in the queue.
#[derive(Default)]
pub struct Sweep {
    /// When the first items of each batch were sent.
    sent: HashMap<BatchId, Instant>,
    returns: u64,
}

impl Sweep {
    pub async fn run(&mut self, worker: &BatchWorker, queue: &NatsQueue) -> Result<(), StoreError> {
        let standing = queue.standing();
        if standing.returns != self.returns {
            // The queue may have lost its storage: everything is sent anew, and what it still has it knows again.
            self.sent.clear();
            self.returns = standing.returns;
        }
        let open = worker.app.store.batches_with_waiting_items().await?;
        self.sent.retain(|batch_id, _| open.contains(batch_id));
        for batch_id in open {
            let age = self.sent.get(&batch_id).map(Instant::elapsed);
            let lost = standing.pending == 0 && age.is_some_and(|age| age > LOST_AFTER);
            if age.is_some_and(|age| age < SENT_AGAIN_AFTER) && !lost {
                continue;
            }
            let item_refs = waiting(worker, &batch_id, -1, WINDOW).await?;
            // Past the server's memory of what it has seen, but once a minute for all processes together.
            let mark = match lost {
                true => format!("@{}", now_us() / 60_000_000),
                false => String::new(),
            };
            if queue.publish(&item_refs, &mark).await.is_err() {
                return Ok(());
            }
            self.sent.insert(batch_id, Instant::now());
        }
        Ok(())
    }
}
