//! Payments reported by a provider. An event id works once; the ledger's transfer is its record.

use crate::ledger::{Credit, StatementRow};
use crate::{LedgerError, PaymentEvent, Store, StoreError, WorkspaceId};

impl Store {
    /// Puts the money in and queues `payment.received` for the workspace's webhooks: both or neither.
    pub async fn record_payment(&self, event: &PaymentEvent) -> Result<Credit, LedgerError> {
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
        self.credit_for(
            &event.workspace_id,
            event.amount_micro,
            &event.provider,
            &event.event_id,
            Some(PaymentEvent {
                currency: workspace.currency,
                ..event.clone()
            }),
        )
        .await
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
