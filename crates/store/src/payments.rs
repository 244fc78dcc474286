//! Payments reported by a provider. An event id works once; the ledger's transfer is its record.

use serde::Serialize;

use crate::ledger::{Credit, StatementRow};
use crate::{LedgerError, Store, StoreError, WorkspaceId};

#[derive(Debug, Clone)]
pub struct PaymentEvent {
    pub provider: String,
    /// The provider's own id of the event.
    pub event_id: String,
    pub workspace_id: WorkspaceId,
    pub amount_micro: i64,
    pub currency: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum PaymentOutcome {
    Applied(Credit),
    /// The same event came before; nothing moved.
    Duplicate(Credit),
}

impl Store {
    pub async fn record_payment(
        &self,
        event: &PaymentEvent,
    ) -> Result<PaymentOutcome, LedgerError> {
        let workspace = self
            .workspace(&event.workspace_id)
            .await
            .map_err(|error| match error {
                StoreError::NotFound(_) => LedgerError::UnknownWorkspace,
                error => error.into(),
            })?;
        if !workspace
            .currency
            .eq_ignore_ascii_case(event.currency.trim())
        {
            return Err(LedgerError::OtherCurrency(workspace.currency));
        }
        let credit = self
            .credit(
                &event.workspace_id,
                event.amount_micro,
                &event.provider,
                &event.event_id,
            )
            .await?;
        Ok(if credit.applied {
            PaymentOutcome::Applied(credit)
        } else {
            PaymentOutcome::Duplicate(credit)
        })
    }

    /// The newest credits of a workspace.
    pub async fn payments(
        &self,
        workspace_id: &WorkspaceId,
        limit: i64,
    ) -> Result<Vec<StatementRow>, StoreError> {
        self.transfers_where(
            "workspace_id = $1 and kind = 'credit' order by created_us desc, id desc limit $2",
        )
        .bind(workspace_id)
        .bind(limit.clamp(1, 1000))
        .fetch_all(self.read())
        .await
        .map_err(StoreError::from)
    }
}
