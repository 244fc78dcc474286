//! Money around a piece of work: set aside before it, taken when it is done, given back when it
//! is not, whatever the reason.

mod bill;
mod lease;
pub mod price;

use sauti_store::{
    Balance, ChargeRequest, FinishedItem, LedgerError, Reservation, ReserveRequest, StoreError,
    StoredAnswer, WorkspaceId,
};

pub use bill::Bill;
pub use lease::{Claim, IdempotencyLease, fingerprint};

use super::{Payer, accounts};
use crate::app::App;

/// An answer to be stored in the same transaction as its charge, for a retry with the same
/// idempotency key.
pub type Keep = (IdempotencyLease, StoredAnswer);

/// Money set aside. Dropped without being settled, it goes back to the workspace.
#[derive(Debug)]
pub struct Hold {
    app: App,
    workspace_id: WorkspaceId,
    /// None when there is nothing to pay: done and paid before.
    reservation: Option<Reservation>,
    available_micro: i64,
}

impl Hold {
    pub async fn reserve(app: &App, payer: &Payer, bill: &Bill) -> Result<Hold, LedgerError> {
        let request = ReserveRequest {
            workspace_id: payer.workspace_id.clone(),
            key_id: payer.key_id.clone(),
            operation: bill.operation,
            amount_micro: bill.amount_micro,
            request_id: payer.request_id.clone(),
        };
        let reservation = app.store.reserve(request).await?;
        Ok(Hold {
            app: app.clone(),
            workspace_id: reservation.workspace_id.clone(),
            available_micro: reservation.balance.available_micro,
            reservation: Some(reservation),
        })
    }

    /// For work that was paid for before.
    pub async fn paid(app: &App, payer: &Payer) -> Result<Hold, StoreError> {
        let balance = app.store.balance(&payer.workspace_id).await?;
        Ok(Hold {
            app: app.clone(),
            workspace_id: payer.workspace_id.clone(),
            reservation: None,
            available_micro: balance.available_micro,
        })
    }

    /// What is available besides this.
    pub fn available_micro(&self) -> i64 {
        self.available_micro
    }

    /// Takes the money, which may be less than was set aside. With an answer to keep, both happen
    /// or neither. Returns the balance.
    pub async fn settle(mut self, bill: &Bill, keep: Option<Keep>) -> Result<i64, LedgerError> {
        let Some(reservation) = &self.reservation else {
            return Ok(self.available_micro);
        };
        let (store, amount_micro, usage) = (&self.app.store, bill.amount_micro, bill.usage());
        let charge = match keep {
            None => store.settle(reservation, amount_micro, usage).await?,
            Some((lease, answer)) => {
                let guard = lease.guard();
                let charge = store
                    .settle_and_store(reservation, amount_micro, usage, guard, answer)
                    .await?;
                lease.answered();
                charge
            }
        };
        self.reservation = None;
        note_balance(&self.app, &self.workspace_id, &charge.balance);
        Ok(charge.balance.available_micro)
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
        note_balance(&self.app, &self.workspace_id, &charge.balance);
        Ok(())
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
    payer: &Payer,
    bill: &Bill,
    keep: Option<Keep>,
) -> Result<i64, LedgerError> {
    let request = ChargeRequest {
        workspace_id: payer.workspace_id.clone(),
        key_id: payer.key_id.clone(),
        operation: bill.operation,
        amount_micro: bill.amount_micro,
        request_id: payer.request_id.clone(),
        usage: bill.usage(),
    };
    let balance = match keep {
        None => app.store.charge(request).await?.balance,
        Some((lease, answer)) => {
            let guard = lease.guard();
            let charge = app.store.charge_and_store(request, guard, answer).await?;
            lease.answered();
            charge.balance
        }
    };
    note_balance(app, &payer.workspace_id, &balance);
    Ok(balance.available_micro)
}

/// Writes to those who run the workspace when a charge took its balance below the mark; the ledger tells its webhooks.
fn note_balance(app: &App, workspace_id: &WorkspaceId, balance: &Balance) {
    if balance.fell_low {
        accounts::warn_of_low_balance(app, workspace_id, balance.available_micro);
    }
}
