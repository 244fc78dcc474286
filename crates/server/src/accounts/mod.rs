//! People: signing up, confirming, signing in, passwords, workspaces and who may do what there.
//!
//! These are the service's own functions; the JSON routes and the console's pages both call them,
//! so that a rule holds whichever way a person comes.

mod csrf;
mod guard;
mod low_balance;
mod members;
mod sign_in;
mod sign_up;

use sauti_store::{Role, Workspace, WorkspaceId};

pub use csrf::{csrf_token, is_csrf_token, masked_csrf_token, visit_token};
pub use guard::password_name;
pub use low_balance::warn_of_low_balance;
pub use members::{accept_invite, invite, remove_member, require_role, set_role};
pub use sign_in::{
    SESSION_LIFETIME, change_password, delete, open_session, request_reset, reset, sign_in,
    sign_out,
};
pub use sign_up::{
    confirm, create_confirmed, resend_confirmation, sign_up, welcome_forever,
    welcome_whoever_is_due,
};

use crate::app::App;
use crate::problem::{Code, Problem};

/// The workspace a member works in: the one it names, else its first.
pub async fn workspace_for(
    app: &App,
    account_id: &str,
    wanted: Option<&str>,
) -> Result<(Workspace, Role), Problem> {
    let mut mine = app.store.workspaces_of(account_id).await?.into_iter();
    let found = match wanted {
        Some(wanted) => mine.find(|(workspace, _)| *workspace.id == *wanted),
        None => mine.next(),
    };
    found.ok_or_else(|| Problem::detailed(Code::NotFound, "You are in no such workspace."))
}

/// The workspace a member chose in the console before; one they have left since counts as none.
pub async fn chosen_workspace(
    app: &App,
    account_id: &str,
    chosen: &str,
) -> Result<(Workspace, Role), Problem> {
    let role = match chosen.parse() {
        Ok(workspace_id) => app.store.role_of(&workspace_id, account_id).await?,
        Err(_) => None,
    };
    workspace_for(app, account_id, role.map(|_| chosen)).await
}

/// Writes down who did what. The deed is done already: a failure here is logged, not returned.
pub async fn audit(
    app: &App,
    workspace_id: Option<&WorkspaceId>,
    actor: &str,
    action: &str,
    target: &str,
) {
    if let Err(error) = app
        .store
        .audit(workspace_id, actor, action, target, "")
        .await
    {
        tracing::error!(%error, action, "the audit trail has a gap");
    }
}
