//! Where a workspace wants to be told of events.

use sauti_store::{AuditAction, WebhookEndpoint, WorkspaceId};

use crate::app::App;
use crate::{ServiceError, audit, outbound};

/// Refuses at once an address that no delivery could ever go to, rather than let each of them fail.
pub async fn add(
    app: &App,
    workspace_id: &WorkspaceId,
    actor: &str,
    url: &str,
    events: &[String],
) -> Result<WebhookEndpoint, ServiceError> {
    let may_be_inside = app.config.webhooks.allow_private_addresses;
    if !may_be_inside && outbound::leads_inside(url).await {
        return Err(ServiceError::PrivateAddress);
    }
    let made = app.store.add_webhook(workspace_id, url, events).await?;
    audit(&app.store, Some(workspace_id), actor)
        .did(AuditAction::WebhookCreated, &made.id)
        .await;
    Ok(made)
}
