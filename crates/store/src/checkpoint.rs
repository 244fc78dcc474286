//! Moves SQLite's write-ahead log into the database file, beside the writers instead of in their way.
//!
//! Left to itself SQLite does this inside some caller's commit, which then waits for many pages and two more syncs. Here
//! a task of its own does it often and in small steps. The log can only start again from its beginning at a moment when
//! all of it has been moved; under steady load that moment never comes by itself, so once the log is long the last few
//! pages are moved while the writing connection is held. Durability is not touched: commits sync the log as before.

use std::sync::{Arc, Weak};
use std::time::Duration;

use sqlx::AnyConnection;

use crate::database::Backend;
use crate::open::StoreInner;
use crate::{Store, StoreError};

const EVERY: Duration = Duration::from_millis(200);
/// 32 MB in pages of 4 KB.
const LOG_PAGES_MAX: i64 = 8 * 1024;

pub(crate) fn spawn(store: &Store) {
    if store.backend() == Backend::Postgres {
        return;
    }
    let weak: Weak<StoreInner> = Arc::downgrade(&store.inner);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(EVERY).await;
            let Some(inner) = weak.upgrade() else { return };
            if inner.write.is_closed() {
                return;
            }
            if let Err(error) = checkpoint(&inner).await {
                tracing::debug!(source = ?error, "the log was not moved; it will be tried again");
            }
        }
    });
}

async fn checkpoint(inner: &StoreInner) -> Result<(), StoreError> {
    let mut beside = inner.read.acquire().await?;
    if move_pages(&mut beside).await? <= LOG_PAGES_MAX {
        return Ok(());
    }
    // What came in the meantime, so that little is left for the moment that holds writers up.
    move_pages(&mut beside).await?;
    let mut writer = inner.write.acquire().await?;
    move_pages(&mut writer).await?;
    Ok(())
}

/// Moves what no reader still needs, waiting for nobody; tells how many pages the log holds.
async fn move_pages(connection: &mut AnyConnection) -> Result<i64, StoreError> {
    let (_busy, log_pages, _moved): (i64, i64, i64) =
        sqlx::query_as("pragma wal_checkpoint(passive)")
            .fetch_one(connection)
            .await?;
    Ok(log_pages)
}
