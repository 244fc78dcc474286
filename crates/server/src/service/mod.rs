//! What the service does, once for every door: HTTP, console, command line, batch worker, live
//! socket. A door parses what it was asked and prints what came of it; the deed itself is here.
//!
//! Must not know: HTTP, axum, headers, extractors, HTML, the command line. Whoever calls says who
//! pays ([`Payer`]) and gets values and errors back, never a response.

pub mod accounts;
mod error;
mod field_error;
pub mod keys;
pub mod money;
mod payer;
pub mod speaking;
pub mod transcribing;
pub mod vocabularies;
pub mod webhooks;
pub mod workspaces;

use sauti_store::{AuditAction, Store, WorkspaceId};

pub use error::ServiceError;
pub use field_error::{FieldError, Reason};
pub use payer::Payer;

/// Writes down who did what. The deed is done already: a failure here is logged, not returned.
pub async fn audit(
    store: &Store,
    workspace_id: Option<&WorkspaceId>,
    actor: &str,
    action: AuditAction,
    target: &str,
    detail: &str,
) {
    let written = store.audit(workspace_id, actor, action, target, detail);
    if let Err(error) = written.await {
        tracing::error!(%error, action = action.as_str(), "the audit trail has a gap");
    }
}
