//! Tasks that run beside the requests for as long as the server does.

use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::app::App;
use crate::ratelimit::{self, RateLimits};
use crate::{accounts, allocator, retention, vocabularies, webhooks};

const LIMITS_EVERY: Duration = Duration::from_secs(3);

/// Boxed, so that they are compiled here and not once more in each program that runs them.
pub fn tasks(app: &App) -> [BoxFuture<'static, ()>; 7] {
    [
        Box::pin(webhooks::deliver_forever(app.clone())),
        Box::pin(retention::forget_forever(app.clone())),
        Box::pin(retention::trim_answers_forever(app.clone())),
        Box::pin(accounts::welcome_forever(app.clone())),
        Box::pin(vocabularies::build_forever(app.clone())),
        Box::pin(follow_limits_forever(app.clone())),
        Box::pin(allocator::trim_forever()),
    ]
}

/// Limits that an operator changes while the service runs.
async fn follow_limits_forever(app: App) {
    loop {
        let settings = RateLimits::from(&app.config.limits);
        ratelimit::follow(&app.store, &app.rates, settings).await;
        tokio::time::sleep(LIMITS_EVERY).await;
    }
}
