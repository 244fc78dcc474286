//! People: signing up, confirming, signing in, passwords, members and who may do what where. The JSON routes, the console's
//! pages and the command line all come here, so that a rule holds whichever way a person comes.

mod guard;
mod low_balance;
mod manage;
mod members;
mod sign_in;
mod sign_up;

use sauti_store::{Account, AccountId, Role, Workspace};

pub(crate) use low_balance::warn_of_low_balance;
pub use manage::{NewAccount, confirm, create, delete, reset_password, set_operator};
pub use members::{accept_invite, cancel_invite, invite, remove_member, require_role, set_role};
pub use sign_in::{
    SESSION_LIFETIME, change_password, delete_by_password, open_session, request_reset,
    reset_by_link, sign_in, sign_out, sign_out_everywhere,
};
pub use sign_up::{
    confirm_by_link, resend_confirmation, sign_up, welcome_forever, welcome_whoever_is_due,
};

use super::ServiceError;
use crate::app::App;
use crate::workspaces;

/// One more workspace of somebody's own. Each has shares of its own of what the service does at once, so an account makes only
/// a few an hour.
pub async fn new_workspace(
    app: &App,
    owner: &Account,
    name: &str,
) -> Result<Workspace, ServiceError> {
    guard::hourly(app, &format!("workspaces of {}", owner.id)).await?;
    let currency = &app.config.prices.currency;
    Ok(workspaces::create(&app.store, &owner.id, &owner.id, name, currency).await?)
}

/// The workspace a member works in: the one it names, else its first.
pub async fn workspace_for(
    app: &App,
    account_id: &AccountId,
    wanted: Option<&str>,
) -> Result<(Workspace, Role), ServiceError> {
    let mut mine = app.store.workspaces_of(account_id).await?.into_iter();
    let found = match wanted {
        Some(wanted) => mine.find(|(workspace, _)| *workspace.id == *wanted),
        None => mine.next(),
    };
    found.ok_or(ServiceError::NoMember)
}

/// The workspace a member chose in the console before; one they have left since counts as none.
pub async fn chosen_workspace(
    app: &App,
    account_id: &AccountId,
    chosen: &str,
) -> Result<(Workspace, Role), ServiceError> {
    let role = match chosen.parse() {
        Ok(workspace_id) => app.store.role_of(&workspace_id, account_id).await?,
        Err(_) => None,
    };
    workspace_for(app, account_id, role.map(|_| chosen)).await
}
