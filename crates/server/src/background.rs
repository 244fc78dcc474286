//! Tasks that run beside the requests for as long as the server does.

use futures_util::FutureExt as _;
use sauti_service::app::App;
use sauti_service::background;
use tokio::task::JoinSet;

use crate::batches;

/// Tasks beside the requests; they end with the server.
pub struct Background(JoinSet<()>);

impl Background {
    pub async fn abort_all(mut self) {
        self.0.shutdown().await;
    }

    pub fn start(app: &App) -> Background {
        let batches = batches::work_forever(app.clone()).boxed();
        let tasks = background::tasks(app).into_iter().chain([batches]);
        Background(tasks.collect())
    }
}
