use sauti_store::{Micro, Role, WorkspaceId};

use super::sign_up::send;
use crate::ServiceError;
use crate::app::App;
use crate::mail::Letter;

/// Writes to those who run the workspace. In the background: the charge that took the balance
/// below the mark does not wait for it.
pub(crate) fn warn_of_low_balance(app: &App, workspace_id: &WorkspaceId, available_micro: i64) {
    let (app, workspace_id) = (app.clone(), workspace_id.clone());
    tokio::spawn(async move {
        if let Err(error) = warn(&app, &workspace_id, available_micro).await {
            tracing::error!(%error, "nobody was told of a low balance");
        }
    });
}

async fn warn(
    app: &App,
    workspace_id: &WorkspaceId,
    available_micro: i64,
) -> Result<(), ServiceError> {
    let workspace = app.store.workspace(workspace_id).await?;
    let balance = Micro(available_micro).in_currency(&workspace.currency);
    let link = format!("{}/console/money", app.config.public_url());
    let letter = Letter::balance_low(&workspace.name, &balance, &link);
    for member in app.store.members(workspace_id).await? {
        if member.role >= Role::Admin {
            send(app, &member.email, &letter).await;
        }
    }
    Ok(())
}
