//! Where a workspace wants to be told of events.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use sauti_service::app::App;
use sauti_service::webhooks::EVENTS;
use sauti_service::{audit, webhooks};
use sauti_store::{AuditAction, Delivery, WebhookEndpoint};
use serde::{Deserialize, Serialize};

use sauti_web::caller::{Keys, May};
use sauti_web::fields::{Fields, JsonBytes};
use sauti_web::problem::{Problem, Reason};

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct WebhookList {
    /// Each with its `webhook_id`.
    pub webhooks: Vec<WebhookEndpoint>,
    /// The newest deliveries, each with the `webhook_id` that it is for.
    pub deliveries: Vec<Delivery>,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = WebhookRequest, example = json!({"url": "https://example.com/sauti", "events": ["balance.low"]}))]
pub struct WebhookBody {
    pub url: String,
    /// `balance.low`, `batch.finished`, `payment.received`; all if absent.
    pub events: Option<Vec<String>>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct NewWebhook {
    pub webhook_id: String,
    pub url: String,
    pub events: Vec<String>,
    /// Signs the deliveries (`Sauti-Signature`); shown this once.
    pub secret: String,
}

/// List the webhooks
#[utoipa::path(get, path = "/v1/webhooks", tag = "workspace", operation_id = "listWebhooks",
    responses((status = 200, description = "Webhooks and their newest deliveries.", body = WebhookList)))]
pub async fn list(
    State(app): State<App>,
    May(caller, _): May<Keys>,
) -> Result<Json<WebhookList>, Problem> {
    let webhooks = app.store.webhooks(&caller.workspace_id).await?;
    let deliveries = app.store.deliveries(&caller.workspace_id, 50).await?;
    Ok(Json(WebhookList {
        webhooks,
        deliveries,
    }))
}

/// Add a webhook
#[utoipa::path(post, path = "/v1/webhooks", tag = "workspace", operation_id = "createWebhook",
    request_body = WebhookBody,
    responses((status = 201, description = "With its secret, shown this once.", body = NewWebhook)))]
pub async fn create(
    State(app): State<App>,
    May(caller, _): May<Keys>,
    JsonBytes(body): JsonBytes,
) -> Result<(StatusCode, Json<NewWebhook>), Problem> {
    let mut fields = Fields::parse(&body)?;
    let url = fields.required("url", Fields::text);
    let events = fields.texts("events").unwrap_or_default();
    if events.iter().any(|event| !EVENTS.contains(&event.as_str())) {
        fields.error(
            "events",
            Reason::UnknownValue {
                allowed: EVENTS.join(", "),
            },
        );
    }
    fields.finish_strictly(&["url", "events"])?;
    let workspace_id = &caller.workspace_id;
    let made = webhooks::add(&app, workspace_id, &caller.actor, &url, &events).await?;
    let body = NewWebhook {
        webhook_id: made.id.to_string(),
        url: made.url,
        events: made.events,
        secret: made.secret,
    };
    Ok((StatusCode::CREATED, Json(body)))
}

/// Remove a webhook
#[utoipa::path(delete, path = "/v1/webhooks/{webhook_id}", tag = "workspace", operation_id = "removeWebhook",
    params(("webhook_id" = String, Path)),
    responses((status = 204, description = "Nothing more is sent there.")))]
pub async fn remove(
    State(app): State<App>,
    May(caller, _): May<Keys>,
    Path(webhook_id): Path<String>,
) -> Result<StatusCode, Problem> {
    let webhook_id = webhook_id.parse()?;
    app.store
        .remove_webhook(&caller.workspace_id, &webhook_id)
        .await?;
    audit(&app.store, Some(&caller.workspace_id), &caller.actor)
        .did(AuditAction::WebhookRemoved, &webhook_id)
        .await;
    Ok(StatusCode::NO_CONTENT)
}
