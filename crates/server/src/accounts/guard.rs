//! What keeps guessers slow and their guesses cheap for us: attempts are counted by address, and only a few passwords are
//! hashed at a time, each on a thread of its own.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use crate::app::App;
use crate::problem::{Code, Problem};

/// Whoever waits longer for a turn is told to come back.
const TURN_TIME_MAX: Duration = Duration::from_secs(3);

/// Hashes or checks a password off the async threads, when its turn has come.
pub(super) async fn hashing<T: Send + 'static>(
    app: &App,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    let turn = tokio::time::timeout(TURN_TIME_MAX, app.hashing.acquire()).await;
    let Ok(Ok(_turn)) = turn else {
        return Err(Problem::new(Code::Overloaded).retry_after(TURN_TIME_MAX.as_secs()));
    };
    tokio::task::spawn_blocking(work)
        .await
        .map_err(Problem::internal)
}

/// A try with a token from a link. One that is refused counts against the address it came from, as a wrong password does.
pub(super) async fn token_attempt<T>(
    app: &App,
    client: IpAddr,
    attempt: impl Future<Output = Result<T, Problem>>,
) -> Result<T, Problem> {
    let (name, now) = (format!("token {client}"), Instant::now());
    let wait = |seconds| Problem::new(Code::RateLimited).retry_after(seconds);
    app.sign_ins.check(&name, now).map_err(wait)?;
    let outcome = attempt.await;
    if outcome
        .as_ref()
        .is_err_and(|problem| problem.code == Code::NotFound)
    {
        app.sign_ins.count(&name, now);
    }
    outcome
}
