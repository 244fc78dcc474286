//! Money around a request: set aside before the work, taken when it is done, given back when it
//! is not, whatever the reason.

pub mod price;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use sauti_store::{
    Balance, ChargeRequest, FinishedItem, LedgerError, Reservation, ReserveRequest,
    Usage as StoreUsage,
};

use crate::app::App;
use crate::http::Caller;
use crate::http::context::Context;
use crate::http::idempotency::{Held, stored};
use crate::problem::Problem;

const UNITS: HeaderName = HeaderName::from_static("sauti-units");
const COST: HeaderName = HeaderName::from_static("sauti-cost");
const BALANCE: HeaderName = HeaderName::from_static("sauti-balance");
const CACHE: HeaderName = HeaderName::from_static("sauti-cache");
const CURRENCY: HeaderName = HeaderName::from_static("sauti-currency");

/// What a piece of work amounts to.
#[derive(Debug, Clone, PartialEq)]
pub struct Bill {
    pub operation: &'static str,
    /// Characters or seconds, rounded up.
    pub units: i64,
    pub amount_micro: i64,
    pub audio_seconds: f64,
    pub cached: bool,
}

impl Bill {
    fn usage(&self) -> StoreUsage {
        let audio_ms = (self.audio_seconds * 1_000.0).round() as i64;
        StoreUsage {
            units: self.units,
            audio_ms,
            cached: self.cached,
        }
    }

    /// Everything but the balance, which is known only once the charge is booked.
    pub fn add_headers(&self, headers: &mut HeaderMap, currency: &str) {
        headers.insert(UNITS, HeaderValue::from(self.units));
        headers.insert(COST, HeaderValue::from(self.amount_micro));
        let cache = if self.cached { "hit" } else { "miss" };
        headers.insert(CACHE, HeaderValue::from_static(cache));
        if let Ok(currency) = HeaderValue::from_str(currency) {
            headers.insert(CURRENCY, currency);
        }
    }
}

pub fn add_balance(headers: &mut HeaderMap, available_micro: i64) {
    headers.insert(BALANCE, HeaderValue::from(available_micro));
}

/// Money set aside. Dropped without being settled, it goes back to the workspace.
#[derive(Debug)]
pub struct Hold {
    app: App,
    workspace_id: String,
    /// None when there is nothing to pay: done and paid before.
    reservation: Option<Reservation>,
    available_micro: i64,
}

impl Hold {
    pub async fn reserve(
        app: &App,
        caller: &Caller,
        context: &Context,
        bill: &Bill,
    ) -> Result<Hold, Problem> {
        let request = ReserveRequest {
            workspace_id: caller.workspace_id.clone(),
            key_id: caller.key_id.clone(),
            operation: bill.operation.to_owned(),
            amount_micro: bill.amount_micro,
            request_id: context.request_id().to_owned(),
        };
        Ok(Hold::of(app, request).await?)
    }

    pub async fn of(app: &App, request: ReserveRequest) -> Result<Hold, LedgerError> {
        let reservation = app.store.reserve(request).await?;
        Ok(Hold {
            app: app.clone(),
            workspace_id: reservation.workspace_id.clone(),
            available_micro: reservation.balance.available_micro,
            reservation: Some(reservation),
        })
    }

    /// Takes the money for an item of a batch and writes its answer down: both or neither.
    pub async fn settle_item(mut self, bill: &Bill, item: FinishedItem) -> Result<(), LedgerError> {
        let Some(reservation) = &self.reservation else {
            return Err(LedgerError::UnknownReservation);
        };
        let store = &self.app.store;
        let charge = store
            .settle_item(reservation, bill.amount_micro, bill.usage(), item)
            .await?;
        self.reservation = None;
        self.app.note_balance(&self.workspace_id, &charge.balance);
        Ok(())
    }

    /// For work that was paid for before.
    pub async fn paid(app: &App, caller: &Caller) -> Result<Hold, Problem> {
        let balance = app.store.balance(&caller.workspace_id).await?;
        Ok(Hold {
            app: app.clone(),
            workspace_id: caller.workspace_id.clone(),
            reservation: None,
            available_micro: balance.available_micro,
        })
    }

    /// What is available besides this.
    pub fn available_micro(&self) -> i64 {
        self.available_micro
    }

    /// Takes the money. With an answer to keep, both happen or neither. Returns the balance.
    pub async fn settle(
        mut self,
        bill: &Bill,
        keep: Option<(Held, &HeaderMap, &[u8])>,
    ) -> Result<i64, Problem> {
        let Some(reservation) = &self.reservation else {
            return Ok(self.available_micro);
        };
        let (amount_micro, usage) = (bill.amount_micro, bill.usage());
        let store = &self.app.store;
        let charge = match keep {
            None => store.settle(reservation, amount_micro, usage).await?,
            Some((held, headers, body)) => match held.guard() {
                None => store.settle(reservation, amount_micro, usage).await?,
                Some(guard) => {
                    let answer = stored(headers, body);
                    let charge = store
                        .settle_and_store(reservation, amount_micro, usage, guard, answer)
                        .await?;
                    held.answered();
                    charge
                }
            },
        };
        self.reservation = None;
        self.app.note_balance(&self.workspace_id, &charge.balance);
        Ok(charge.balance.available_micro)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let Some(reservation) = self.reservation.take() {
            self.app.store.release_later(&reservation);
        }
    }
}

/// Pays for work that is already done, in one durable step. Returns the balance.
pub async fn charge(
    app: &App,
    caller: &Caller,
    context: &Context,
    bill: &Bill,
    keep: Option<(Held, &HeaderMap, &[u8])>,
) -> Result<i64, Problem> {
    let request = ChargeRequest {
        workspace_id: caller.workspace_id.clone(),
        key_id: caller.key_id.clone(),
        operation: bill.operation.to_owned(),
        amount_micro: bill.amount_micro,
        request_id: context.request_id().to_owned(),
        usage: bill.usage(),
    };
    let balance: Balance = match keep {
        Some((held, headers, body)) => match held.guard() {
            Some(guard) => {
                let answer = stored(headers, body);
                let charge = app.store.charge_and_store(request, guard, answer).await?;
                held.answered();
                charge.balance
            }
            None => app.store.charge(request).await?.balance,
        },
        None => app.store.charge(request).await?.balance,
    };
    app.note_balance(&caller.workspace_id, &balance);
    Ok(balance.available_micro)
}
