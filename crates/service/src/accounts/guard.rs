//! What keeps guessers slow and their guesses cheap for us: attempts are counted before they are made, by client address in
//! this process and by e-mail address or account in the store; and only a few passwords are hashed at a time, each on a
//! thread of its own.

use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

use sauti_store::{AttemptLimit, StoreError, folded_email};

use super::manage::password_guesses;
use crate::ServiceError;
use crate::app::App;
use crate::ratelimit::Attempts;

/// Whoever waits longer for a turn is told to come back.
const TURN_TIME_MAX: Duration = Duration::from_secs(3);
const HOUR: Duration = Duration::from_secs(3_600);

/// Hashes or checks a password off the async threads, when its turn has come.
pub(super) async fn hashing<T: Send + 'static>(
    app: &App,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ServiceError> {
    let turn = tokio::time::timeout(TURN_TIME_MAX, app.hashing.acquire()).await;
    let Ok(Ok(_turn)) = turn else {
        return Err(ServiceError::Busy {
            retry_after_s: TURN_TIME_MAX.as_secs(),
        });
    };
    tokio::task::spawn_blocking(work)
        .await
        .map_err(ServiceError::internal)
}

/// An attempt that is counted already. Dropped, it stays counted, as it does when its caller goes away.
#[must_use]
pub(super) struct Attempt<'a> {
    app: &'a App,
    by_address: Option<(&'a Attempts, String)>,
    by_name: Option<String>,
}

impl Attempt<'_> {
    /// It succeeded, or was never made.
    pub(super) async fn give_back(self) -> Result<(), ServiceError> {
        if let Some((attempts, name)) = self.by_address {
            attempts.give_back(&name);
        }
        if let Some(name) = self.by_name {
            self.app.store.give_back_attempt(&name).await?;
        }
        Ok(())
    }
}

/// A guess at the password of an e-mail address. It counts in the same way whether or not anybody has that address, so that
/// neither answers nor their number tell who has an account.
pub(super) async fn password_guess<'a>(
    app: &'a App,
    client: Option<IpAddr>,
    email: &str,
) -> Result<Attempt<'a>, ServiceError> {
    let by_address = match client {
        Some(client) => Some((&app.sign_ins, take(&app.sign_ins, "password", client)?)),
        None => None,
    };
    let limits = &app.config.limits;
    let limit = AttemptLimit {
        tried_max: limits.sign_in_failures_max,
        window: Duration::from_secs(limits.sign_in_window_s),
    };
    let name = password_guesses(email);
    match app.store.take_attempt(&name, limit).await? {
        Some(wait_s) => Err(too_many(wait_s)),
        None => Ok(Attempt {
            app,
            by_address,
            by_name: Some(name),
        }),
    }
}

/// A letter that somebody asks to be sent, by the address they ask from and by its receiver.
pub(super) async fn letter(
    app: &App,
    kind: &str,
    client: IpAddr,
    to: &str,
) -> Result<(), ServiceError> {
    take(&app.sign_ups, kind, client)?;
    hourly(app, &format!("{kind} {}", folded_email(to))).await
}

/// So many an hour under one name, in all replicas together.
pub(super) async fn hourly(app: &App, name: &str) -> Result<(), ServiceError> {
    let limit = AttemptLimit {
        tried_max: app.config.limits.signups_per_hour,
        window: HOUR,
    };
    match app.store.take_attempt(name, limit).await? {
        Some(wait_s) => Err(too_many(wait_s)),
        None => Ok(()),
    }
}

/// A try with a token from a link. One that is refused counts against the address it came from, as a wrong password does.
pub(super) async fn token_attempt<T>(
    app: &App,
    client: IpAddr,
    attempt: impl Future<Output = Result<T, ServiceError>>,
) -> Result<T, ServiceError> {
    let name = take(&app.sign_ins, "token", client)?;
    let outcome = attempt.await;
    if !matches!(outcome, Err(ServiceError::Store(StoreError::TokenRefused))) {
        app.sign_ins.give_back(&name);
    }
    outcome
}

fn take(attempts: &Attempts, kind: &str, client: IpAddr) -> Result<String, ServiceError> {
    let name = format!("{kind} {}", network_of(client));
    attempts.take(&name, Instant::now()).map_err(too_many)?;
    Ok(name)
}

/// An IPv6 customer has a whole /64 to choose addresses from.
fn network_of(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address => address,
    }
}

fn too_many(retry_after_s: u64) -> ServiceError {
    ServiceError::TooManyAttempts { retry_after_s }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_addresses_of_one_ipv6_customer_count_as_one() {
        let network = |text: &str| network_of(text.parse().unwrap()).to_string();
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(network("::ffff:41.0.0.9"), "41.0.0.9");
        assert_eq!(network("41.0.0.9"), "41.0.0.9");
    }
}
