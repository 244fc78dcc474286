//! The settings and the money of a workspace, for those who are signed in.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use sauti_store::{PaymentEvent, Role, WorkspaceId};
use serde::{Deserialize, Serialize};

use crate::accounts::{self, audit};
use crate::app::App;
use crate::http::fields::{Fields, JsonBytes};
use crate::http::member::SignedIn;
use crate::problem::{Code, Problem, Reason};
use crate::webhooks;

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
    fields.finish(&["name", "low_balance_micro"], &[])?;
    if let Some(name) = name {
        app.store.rename_workspace(&workspace_id, &name).await?;
    }
    if let Some(low_micro) = low_micro {
        let mark = Some(low_micro).filter(|low_micro| *low_micro != 0);
        app.store.set_low_balance(&workspace_id, mark).await?;
    }
    audit(
        &app,
        Some(&workspace_id),
        &me.account.id,
        "workspace.changed",
        &workspace_id,
    )
    .await;
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
    if !me.account.operator {
        return Err(Problem::new(Code::RoleMissing));
    }
    let mut fields = Fields::parse(&body)?;
    let (amount_micro, reference) = (fields.integer("amount_micro"), fields.text("reference"));
    if amount_micro.is_none() && !fields.is_wrong("amount_micro") {
        fields.error("amount_micro", Reason::Required);
    }
    if reference.is_none() && !fields.is_wrong("reference") {
        fields.error("reference", Reason::Required);
    }
    fields.finish(&["amount_micro", "reference"], &[])?;
    let (amount_micro, reference) = (
        amount_micro.unwrap_or_default(),
        reference.unwrap_or_default(),
    );
    // Names a workspace that does not exist before the ledger would.
    let workspace_id: WorkspaceId = workspace_id.parse()?;
    let workspace = app.store.workspace(&workspace_id).await?;
    let payment = PaymentEvent {
        provider: "operator".to_owned(),
        event_id: reference,
        workspace_id: workspace.id,
        amount_micro,
        currency: workspace.currency,
    };
    let credit = app
        .store
        .credit(
            &workspace_id,
            amount_micro,
            &payment.provider,
            &payment.event_id,
        )
        .await?;
    let balance_micro = credit.balance.available_micro;
    if credit.applied {
        audit(
            &app,
            Some(&workspace_id),
            &me.account.id,
            "workspace.credited",
            &credit.id,
        )
        .await;
        webhooks::payment_received(&app, &payment, balance_micro);
    }
    Ok(Json(CreditAnswer {
        applied: credit.applied,
        balance_micro,
    }))
}
