//! The settings and the money of a workspace, for those who are signed in.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use sauti_service::accounts;
use sauti_service::app::App;
use sauti_service::workspaces::{self, WorkspaceChange};
use sauti_store::{PaymentEvent, Role, WorkspaceId};
use serde::{Deserialize, Serialize};

use sauti_web::fields::{Fields, JsonBytes};
use sauti_web::member::SignedIn;
use sauti_web::problem::{Code, Problem};

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = WorkspaceRequest)]
pub struct WorkspaceBody {
    pub name: Option<String>,
    /// `balance.low` is told when the balance falls below this; 0 switches it off.
    pub low_balance_micro: Option<i64>,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = CreditRequest)]
pub struct CreditBody {
    /// In millionths of the currency.
    pub amount_micro: i64,
    /// The number of the receipt; it works once.
    pub reference: String,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = CorrectionRequest)]
pub struct CorrectionBody {
    /// In millionths of the currency; at most what is available.
    pub amount_micro: i64,
    /// Of the mistake, such as the receipt that was booked twice; it works once.
    pub reference: String,
    /// Stands in the statement and in the audit trail.
    pub reason: String,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct CreditAnswer {
    /// False when the reference was used before and nothing moved.
    pub applied: bool,
    pub balance_micro: i64,
}

/// Change a workspace
#[utoipa::path(patch, path = "/v1/workspaces/{workspace_id}", tag = "account", operation_id = "changeWorkspace",
    params(("workspace_id" = String, Path)), request_body = WorkspaceBody,
    responses((status = 204, description = "Done.")), security(("session" = [])))]
pub async fn change(
    State(app): State<App>,
    me: SignedIn,
    Path(workspace_id): Path<String>,
    JsonBytes(body): JsonBytes,
) -> Result<StatusCode, Problem> {
    let workspace_id: WorkspaceId = workspace_id.parse()?;
    accounts::require_role(&app, &workspace_id, &me.account.id, Role::Admin).await?;
    let mut fields = Fields::parse(&body)?;
    let (name, low_micro) = (fields.text("name"), fields.integer("low_balance_micro"));
    fields.finish_strictly(&["name", "low_balance_micro"])?;
    let change = WorkspaceChange {
        name: name.as_deref(),
        low_balance_micro: low_micro,
    };
    workspaces::change(&app.store, &me.account.id, &workspace_id, change).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Put money into a workspace, as the operator
#[utoipa::path(post, path = "/v1/workspaces/{workspace_id}/credits", tag = "account", operation_id = "creditWorkspace",
    params(("workspace_id" = String, Path)), request_body = CreditBody,
    responses((status = 200, description = "The money is there.", body = CreditAnswer)), security(("session" = [])))]
pub async fn credit(
    State(app): State<App>,
    me: SignedIn,
    Path(workspace_id): Path<String>,
    JsonBytes(body): JsonBytes,
) -> Result<Json<CreditAnswer>, Problem> {
    require_operator(&me)?;
    let (amount_micro, [reference]) = amount_and(&body, ["reference"])?;
    let (store, actor) = (&app.store, &me.account.id);
    // Names a workspace that does not exist before the ledger would.
    let workspace_id: WorkspaceId = workspace_id.parse()?;
    let workspace = store.workspace(&workspace_id).await?;
    let payment = PaymentEvent {
        provider: "operator".to_owned(),
        event_id: reference,
        workspace_id: workspace.id,
        amount_micro,
        currency: workspace.currency,
    };
    let credit = workspaces::credit(store, actor, &payment).await?;
    Ok(Json(CreditAnswer {
        applied: credit.applied,
        balance_micro: credit.balance.available_micro,
    }))
}

fn require_operator(me: &SignedIn) -> Result<(), Problem> {
    match me.account.operator {
        true if me.account.is_confirmed() => Ok(()),
        true => Err(Problem::new(Code::AccountUnconfirmed)),
        false => Err(Problem::detailed(
            Code::RoleMissing,
            "Only an operator of this service may do this.",
        )
        .in_swahili("Ni mwendeshaji wa huduma hii tu anayeruhusiwa kufanya hivi.")),
    }
}

/// Takes an amount and texts that all have to be there.
fn amount_and<const N: usize>(
    body: &[u8],
    names: [&'static str; N],
) -> Result<(i64, [String; N]), Problem> {
    let mut fields = Fields::parse(body)?;
    let amount_micro = fields.required("amount_micro", Fields::integer);
    let texts = names.map(|name| fields.required(name, Fields::text));
    fields.finish(&names, &["amount_micro"])?;
    Ok((amount_micro, texts))
}

/// Take money out of a workspace again, as the operator
///
/// For money that was put in by mistake. The statement shows it as a correction.
#[utoipa::path(post, path = "/v1/workspaces/{workspace_id}/corrections", tag = "account", operation_id = "correctWorkspace",
    params(("workspace_id" = String, Path)), request_body = CorrectionBody,
    responses((status = 200, description = "The money is out.", body = CreditAnswer)), security(("session" = [])))]
pub async fn correct(
    State(app): State<App>,
    me: SignedIn,
    Path(workspace_id): Path<String>,
    JsonBytes(body): JsonBytes,
) -> Result<Json<CreditAnswer>, Problem> {
    require_operator(&me)?;
    let (amount_micro, [reference, reason]) = amount_and(&body, ["reference", "reason"])?;
    let (store, actor) = (&app.store, &me.account.id);
    let workspace_id: WorkspaceId = workspace_id.parse()?;
    store.workspace(&workspace_id).await?;
    let correction = workspaces::correct(
        store,
        actor,
        &workspace_id,
        amount_micro,
        &reference,
        &reason,
    )
    .await?;
    Ok(Json(CreditAnswer {
        applied: correction.applied,
        balance_micro: correction.balance.available_micro,
    }))
}
