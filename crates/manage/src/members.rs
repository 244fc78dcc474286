//! The people of a workspace, for those who are signed in.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use sauti_service::accounts;
use sauti_service::app::App;
use sauti_store::{Invite, Member, Role, WorkspaceId};
use serde::{Deserialize, Serialize};

use crate::account::required;
use sauti_web::context::Context;
use sauti_web::fields::JsonBytes;
use sauti_web::member::SignedIn;
use sauti_web::problem::Problem;

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct MemberList {
    pub members: Vec<Member>,
    /// Invitations that were not accepted yet.
    pub invites: Vec<Invite>,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = InviteRequest)]
pub struct InviteBody {
    pub email: String,
    /// `owner`, `admin` or `member`; no more than your own.
    pub role: String,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = RoleRequest)]
pub struct RoleBody {
    /// `owner`, `admin` or `member`; no more than your own.
    pub role: String,
}

/// List the members
#[utoipa::path(get, path = "/v1/workspaces/{workspace_id}/members", tag = "account", operation_id = "listMembers",
    params(("workspace_id" = String, Path)),
    responses((status = 200, description = "Members and open invitations.", body = MemberList)), security(("session" = [])))]
pub async fn list_members(
    State(app): State<App>,
    me: SignedIn,
    Path(workspace_id): Path<String>,
) -> Result<Json<MemberList>, Problem> {
    let workspace_id: WorkspaceId = workspace_id.parse()?;
    accounts::require_role(&app, &workspace_id, &me.account.id, Role::Member).await?;
    let members = app.store.members(&workspace_id).await?;
    let invites = app.store.invites(&workspace_id).await?;
    Ok(Json(MemberList { members, invites }))
}

/// Invite someone
#[utoipa::path(post, path = "/v1/workspaces/{workspace_id}/members", tag = "account", operation_id = "inviteMember",
    params(("workspace_id" = String, Path)), request_body = InviteBody,
    responses((status = 202, description = "The invitation is in the mail.")), security(("session" = [])))]
pub async fn invite(
    State(app): State<App>,
    me: SignedIn,
    context: Context,
    Path(workspace_id): Path<String>,
    JsonBytes(body): JsonBytes,
) -> Result<StatusCode, Problem> {
    let [email, role] = required(&body, ["email", "role"])?;
    let role: Role = role.parse()?;
    let workspace_id: WorkspaceId = workspace_id.parse()?;
    accounts::invite(
        &app,
        context.client(),
        &me.account,
        &workspace_id,
        &email,
        role,
    )
    .await?;
    Ok(StatusCode::ACCEPTED)
}

/// Accept an invitation
#[utoipa::path(post, path = "/v1/invitations", tag = "account", operation_id = "acceptInvitation",
    request_body = crate::account::TokenBody,
    responses((status = 204, description = "You are a member now.")), security(("session" = [])))]
pub async fn accept(
    State(app): State<App>,
    me: SignedIn,
    context: Context,
    JsonBytes(body): JsonBytes,
) -> Result<StatusCode, Problem> {
    let [token] = required(&body, ["token"])?;
    accounts::accept_invite(&app, context.client(), &me.account, &token).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Change a member's role
#[utoipa::path(put, path = "/v1/workspaces/{workspace_id}/members/{account_id}", tag = "account", operation_id = "setRole",
    params(("workspace_id" = String, Path), ("account_id" = String, Path)), request_body = RoleBody,
    responses((status = 204, description = "Done.")), security(("session" = [])))]
pub async fn set_role(
    State(app): State<App>,
    me: SignedIn,
    Path((workspace_id, account_id)): Path<(String, String)>,
    JsonBytes(body): JsonBytes,
) -> Result<StatusCode, Problem> {
    let [role] = required(&body, ["role"])?;
    let workspace_id: WorkspaceId = workspace_id.parse()?;
    let account_id = account_id.parse()?;
    accounts::set_role(&app, &me.account, &workspace_id, &account_id, role.parse()?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Remove a member
#[utoipa::path(delete, path = "/v1/workspaces/{workspace_id}/members/{account_id}", tag = "account", operation_id = "removeMember",
    params(("workspace_id" = String, Path), ("account_id" = String, Path)),
    responses((status = 204, description = "Done.")), security(("session" = [])))]
pub async fn remove(
    State(app): State<App>,
    me: SignedIn,
    Path((workspace_id, account_id)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    let workspace_id: WorkspaceId = workspace_id.parse()?;
    let account_id = account_id.parse()?;
    accounts::remove_member(&app, &me.account, &workspace_id, &account_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
