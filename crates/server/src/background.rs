//! Tasks that run beside the requests for as long as the server does.

use std::time::Duration;

use sauti_service::app::App;
use sauti_service::ratelimit::{self, RateLimits};
use sauti_service::{accounts, allocator, retention, vocabularies, webhooks};
use tokio::task::JoinSet;

use crate::batches;

const LIMITS_EVERY: Duration = Duration::from_secs(3);

/// Tasks beside the requests; they end with the server.
pub struct Background(JoinSet<()>);

impl Background {
    pub async fn abort_all(mut self) {
        self.0.shutdown().await;
    }

    pub fn start(app: &App) -> Background {
        let mut tasks = JoinSet::new();
        tasks.spawn(webhooks::deliver_forever(app.clone()));
        tasks.spawn(batches::work_forever(app.clone()));
        tasks.spawn(retention::forget_forever(app.clone()));
        tasks.spawn(retention::trim_answers_forever(app.clone()));
        tasks.spawn(accounts::welcome_forever(app.clone()));
        tasks.spawn(vocabularies::build_forever(app.clone()));
        tasks.spawn(follow_limits_forever(app.clone()));
        tasks.spawn(allocator::trim_forever());
        Background(tasks)
    }
}

/// Limits that an operator changes while the service runs.
async fn follow_limits_forever(app: App) {
    loop {
        let settings = RateLimits::from(&app.config.limits);
        ratelimit::follow(&app.store, &app.rates, settings).await;
        tokio::time::sleep(LIMITS_EVERY).await;
    }
}
