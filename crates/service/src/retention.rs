//! Forgets what has been kept for long enough, or takes too much room.

use std::time::Duration;

use sauti_store::ids::now_us;

use crate::app::App;
use crate::telemetry::metrics;

const EVERY: Duration = Duration::from_secs(3_600);
const TRIM_EVERY: Duration = Duration::from_secs(10);
const DAY_US: i64 = 24 * 3_600 * 1_000_000;

pub async fn forget_forever(app: App) {
    let mut hours = tokio::time::interval(EVERY);
    loop {
        hours.tick().await;
        app.cache.forget_old().await;
        let (now, kept) = (now_us(), &app.config.retention);
        let audit_us = now - i64::from(kept.audit_days) * DAY_US;
        let deliveries_us = now - i64::from(kept.webhook_days) * DAY_US;
        match app.store.forget_before(audit_us, deliveries_us).await {
            Ok(0) => {}
            Ok(rows) => tracing::info!(rows, "forgot what was kept for long enough"),
            Err(error) => {
                tracing::warn!(source = ?error, "old records could not be dropped; they will be next hour")
            }
        }
    }
}

/// Keeps the answers for retries within `database.stored_answers_bytes_max`.
pub async fn trim_answers_forever(app: App) {
    let mut ticks = tokio::time::interval(TRIM_EVERY);
    let bytes_max = app.config.database.stored_answers_bytes_max;
    loop {
        ticks.tick().await;
        match app.store.trim_answers(bytes_max).await {
            Ok(kept) => metrics::stored_answers(kept),
            Err(error) => {
                tracing::warn!(source = ?error, "old stored answers could not be dropped; they will be soon")
            }
        }
    }
}
