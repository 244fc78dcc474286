//! Money: a double-entry ledger in micro-units. Work reserves, then settles what it used or releases all of it.
//!
//! Every change goes to a writer that puts many into one durable transaction; a call returns after that commit.

mod answers;
mod books;
mod charges;
mod check;
mod commit_group;
mod items;
mod job;
mod needs;
mod op;
mod reservation_state;
mod reservations;
mod statement;
mod types;
mod write;
mod writer;

use crate::idempotency::StoredAnswer;
use crate::sql::{check_text, require};
use crate::{InstanceId, LedgerError, ReservationId, Store, StoreError, TransferId, WorkspaceId};

pub(crate) use answers::{AbandonAnswer, BeginAnswer, Begun, FinishAnswer};
pub use check::CheckReport;
pub(crate) use check::check_books;
pub(crate) use needs::Storing;
pub use reservation_state::ReservationState;
pub use statement::{StatementQuery, StatementRow};
pub use types::{
    Balance, Charge, ChargeRequest, Credit, FinishedItem, Guard, PaymentEvent, Reservation,
    ReserveRequest, Usage,
};
pub(crate) use writer::Writers;

use charges::{ChargeAtOnce, PutCredit, Refund};
use reservations::{Release, Reserve, Settle};

/// Far above any balance, far below where sums could overflow.
const AMOUNT_MICRO_MAX: i64 = 1 << 53;

impl Store {
    /// Sets money aside before work begins; fails when the balance or the key's cap does not allow it. If the caller's
    /// future is dropped meanwhile, the reservation is released.
    pub async fn reserve(&self, request: ReserveRequest) -> Result<Reservation, LedgerError> {
        let amount_micro = check_amount(request.amount_micro)?;
        let op = Reserve {
            reservation_id: ReservationId::generate(),
            transfer_id: TransferId::generate(),
            instance_id: self.inner.instance.id(),
            operation: request.operation,
            request_id: check_text("request_id", &request.request_id, 0, 128)?,
            key_id: request.key_id,
            workspace_id: request.workspace_id,
            amount_micro,
        };
        self.inner.writers.submit(op).await
    }

    /// Takes what was really used out of a reservation; the rest returns to the balance. Exactly once: a reservation
    /// that is finished already gives [`LedgerError::Finished`] and nothing moves.
    pub async fn settle(
        &self,
        reservation: &Reservation,
        amount_micro: i64,
        usage: Usage,
    ) -> Result<Charge, LedgerError> {
        self.settle_with(reservation, amount_micro, usage, None, None)
            .await
    }

    /// Settles and stores the answer for idempotent retries in one durable step: never charged without being
    /// replayable. After [`LedgerError::GuardLost`] the reservation is still open and the caller's to release.
    pub async fn settle_and_store(
        &self,
        reservation: &Reservation,
        amount_micro: i64,
        usage: Usage,
        guard: &Guard,
        answer: StoredAnswer,
    ) -> Result<Charge, LedgerError> {
        let storing = self.storing(guard, answer)?;
        self.settle_with(reservation, amount_micro, usage, Some(storing), None)
            .await
    }

    pub(crate) async fn settle_with(
        &self,
        reservation: &Reservation,
        amount_micro: i64,
        usage: Usage,
        storing: Option<Storing>,
        item: Option<FinishedItem>,
    ) -> Result<Charge, LedgerError> {
        let op = Settle {
            reservation_id: reservation.id.clone(),
            workspace_id: reservation.workspace_id.clone(),
            transfer_id: TransferId::generate(),
            amount_micro: check_amount(amount_micro)?,
            usage: usage.bounded(),
            storing,
            item,
        };
        self.inner.writers.submit(op).await
    }

    /// Returns all of a reservation to the balance. Releasing twice gives [`LedgerError::Finished`].
    pub async fn release(&self, reservation: &Reservation) -> Result<Balance, LedgerError> {
        self.inner.writers.submit(released(reservation)).await
    }

    /// [`Store::release`] without waiting, for `Drop`.
    pub fn release_later(&self, reservation: &Reservation) {
        self.inner.writers.submit_later(released(reservation));
    }

    /// Reserves and settles in one durable step, for work that is done already (such as a cached answer).
    pub async fn charge(&self, request: ChargeRequest) -> Result<Charge, LedgerError> {
        self.charge_with(request, None).await
    }

    /// [`Store::charge`] and the answer for idempotent retries in the same durable step.
    pub async fn charge_and_store(
        &self,
        request: ChargeRequest,
        guard: &Guard,
        answer: StoredAnswer,
    ) -> Result<Charge, LedgerError> {
        let storing = self.storing(guard, answer)?;
        self.charge_with(request, Some(storing)).await
    }

    async fn charge_with(
        &self,
        request: ChargeRequest,
        storing: Option<Storing>,
    ) -> Result<Charge, LedgerError> {
        let op = ChargeAtOnce {
            transfer_id: TransferId::generate(),
            operation: request.operation,
            request_id: check_text("request_id", &request.request_id, 0, 128)?,
            key_id: request.key_id,
            workspace_id: request.workspace_id,
            amount_micro: check_amount(request.amount_micro)?,
            usage: request.usage.bounded(),
            storing,
        };
        self.inner.writers.submit(op).await
    }

    /// Puts money into a workspace. The same `source` and `reference` again change nothing and report `applied: false`;
    /// with another amount or workspace they give [`LedgerError::ExternalIdReused`].
    pub async fn credit(
        &self,
        workspace_id: &WorkspaceId,
        amount_micro: i64,
        source: &str,
        reference: &str,
    ) -> Result<Credit, LedgerError> {
        self.credit_for(workspace_id, amount_micro, source, reference, None)
            .await
    }

    /// [`Store::credit`], of which the workspace is told where somebody paid it.
    pub(crate) async fn credit_for(
        &self,
        workspace_id: &WorkspaceId,
        amount_micro: i64,
        source: &str,
        reference: &str,
        payment: Option<PaymentEvent>,
    ) -> Result<Credit, LedgerError> {
        let source = check_text("provider", source, 1, 64)?;
        let reference = check_text("reference", reference, 1, 200)?;
        require(amount_micro > 0, "amount_micro", "must be above zero")?;
        let op = PutCredit {
            transfer_id: TransferId::generate(),
            workspace_id: workspace_id.clone(),
            amount_micro: check_amount(amount_micro)?,
            external_id: format!("{source}:{reference}"),
            memo: source,
            payment,
        };
        self.inner.writers.submit(op).await
    }

    /// Takes money out again that was put in by mistake: at most what is available. The same `reference` again changes
    /// nothing. Also from a closed workspace.
    pub async fn correct(
        &self,
        workspace_id: &WorkspaceId,
        amount_micro: i64,
        reference: &str,
        reason: &str,
    ) -> Result<Credit, LedgerError> {
        let reference = check_text("reference", reference, 1, 200)?;
        let reason = check_text("reason", reason, 1, 200)?;
        require(amount_micro > 0, "amount_micro", "must be above zero")?;
        let op = PutCredit {
            transfer_id: TransferId::generate(),
            workspace_id: workspace_id.clone(),
            amount_micro: -check_amount(amount_micro)?,
            external_id: format!("correction:{reference}"),
            memo: reason,
            payment: None,
        };
        self.inner.writers.submit(op).await
    }

    /// Gives back a settled charge, once, at most its amount (all of it when `amount_micro` is `None`).
    pub async fn refund(
        &self,
        workspace_id: &WorkspaceId,
        charge_id: &TransferId,
        amount_micro: Option<i64>,
        memo: &str,
    ) -> Result<Charge, LedgerError> {
        let fits = amount_micro.is_none_or(|amount| amount > 0);
        require(fits, "amount_micro", "must be above zero")?;
        let op = Refund {
            transfer_id: TransferId::generate(),
            charge_id: charge_id.clone(),
            workspace_id: workspace_id.clone(),
            amount_micro: amount_micro.map(check_amount).transpose()?,
            memo: check_text("memo", memo, 0, 500)?,
        };
        self.inner.writers.submit(op).await
    }

    pub async fn balance(&self, workspace_id: &WorkspaceId) -> Result<Balance, StoreError> {
        let row: Option<(i64, i64)> = sqlx::query_as(
            "select available_micro, reserved_micro from balances where workspace_id = $1",
        )
        .bind(workspace_id)
        .fetch_optional(self.read())
        .await?;
        let balance = row.map(|(available_micro, reserved_micro)| Balance {
            available_micro,
            reserved_micro,
            fell_low: false,
        });
        balance.ok_or(StoreError::NotFound("workspace"))
    }

    /// Releases what instances declared dead have left open, and, of one named instance, what is older than
    /// `older_than_us`. Returns how many reservations were released.
    pub async fn release_abandoned(
        &self,
        instance_id: Option<&InstanceId>,
        older_than_us: i64,
    ) -> Result<u64, StoreError> {
        let mut released = 0;
        loop {
            let open: Vec<(ReservationId, WorkspaceId)> = sqlx::query_as(
                "select r.id, r.workspace_id from reservations r
                 where r.state = 'open' and (
                    r.instance_id not in (select id from instances where dead_us is null)
                    or (r.instance_id = $1 and r.created_us < $2))
                 order by r.id limit 500",
            )
            .bind(instance_id.map_or("", InstanceId::as_str))
            .bind(older_than_us)
            .fetch_all(self.write())
            .await?;
            if open.is_empty() {
                return Ok(released);
            }
            released += self.release_all(open).await?;
        }
    }

    async fn release_all(
        &self,
        open: Vec<(ReservationId, WorkspaceId)>,
    ) -> Result<u64, StoreError> {
        let waiting: Vec<_> = open
            .into_iter()
            .map(|(reservation_id, workspace_id)| {
                let op = Release::of(reservation_id, workspace_id, ReservationState::Abandoned);
                let store = self.clone();
                tokio::spawn(async move { store.inner.writers.submit(op).await })
            })
            .collect();
        let mut released = 0;
        for task in waiting {
            match task.await.map_err(|_| StoreError::Closed)? {
                Ok(_) => released += 1,
                // Its owner was alive after all and got there first, or another replica swept it.
                Err(LedgerError::Finished(_)) => {}
                Err(LedgerError::Store(error)) => return Err(error),
                Err(error) => {
                    tracing::error!(%error, "an abandoned reservation could not be released")
                }
            }
        }
        Ok(released)
    }

    /// How many reservations are open, in all instances.
    pub async fn open_reservations(&self) -> Result<i64, StoreError> {
        let sql = "select count(*) from reservations where state = 'open'";
        Ok(sqlx::query_scalar(sql).fetch_one(self.read()).await?)
    }
}

fn check_amount(amount_micro: i64) -> Result<i64, StoreError> {
    let fits = (0..=AMOUNT_MICRO_MAX).contains(&amount_micro);
    require(fits, "amount_micro", "is negative or too large")?;
    Ok(amount_micro)
}

fn released(reservation: &Reservation) -> Release {
    Release::of(
        reservation.id.clone(),
        reservation.workspace_id.clone(),
        ReservationState::Released,
    )
}
