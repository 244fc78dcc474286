//! Workspaces made, changed, and given money.

use sauti_store::{
    AccountId, AuditAction, Credit, LedgerError, PaymentEvent, Store, StoreError, Workspace,
    WorkspaceId,
};

pub use sauti_store::WorkspaceChange;

use super::audit;

pub async fn create(
    store: &Store,
    actor: &str,
    owner_id: &AccountId,
    name: &str,
    currency: &str,
) -> Result<Workspace, StoreError> {
    let workspace = store
        .create_workspace(Some(owner_id), name, currency)
        .await?;
    let id = &workspace.id;
    audit(store, Some(id), actor)
        .did(AuditAction::WorkspaceCreated, id)
        .await;
    Ok(workspace)
}

pub async fn change(
    store: &Store,
    actor: &str,
    workspace_id: &WorkspaceId,
    change: WorkspaceChange<'_>,
) -> Result<(), StoreError> {
    store.change_workspace(workspace_id, change).await?;
    audit(store, Some(workspace_id), actor)
        .did(AuditAction::WorkspaceChanged, workspace_id)
        .await;
    Ok(())
}

/// Money that an operator puts in. The same provider and event again change nothing.
pub async fn credit(
    store: &Store,
    actor: &str,
    payment: &PaymentEvent,
) -> Result<Credit, LedgerError> {
    let (workspace_id, reference) = (&payment.workspace_id, &payment.event_id);
    let credit = store.record_payment(payment).await?;
    if credit.applied {
        audit(store, Some(workspace_id), actor)
            .did_so(AuditAction::WorkspaceCredited, &credit.id, reference)
            .await;
    }
    Ok(credit)
}

/// Money that an operator takes out again, because it was put in by mistake. The reason stands in the audit trail. The same
/// reference again changes nothing.
pub async fn correct(
    store: &Store,
    actor: &str,
    workspace_id: &WorkspaceId,
    amount_micro: i64,
    reference: &str,
    reason: &str,
) -> Result<Credit, LedgerError> {
    let correction = store
        .correct(workspace_id, amount_micro, reference, reason)
        .await?;
    if correction.applied {
        let detail = format!("{reference}: {reason}");
        audit(store, Some(workspace_id), actor)
            .did_so(AuditAction::WorkspaceCorrected, &correction.id, &detail)
            .await;
    }
    Ok(correction)
}
