//! `POST /v1/payments/events`: a payment provider's bridge tells of money that arrived.
//!
//! The body is signed: `Sauti-Signature: t=<seconds>,v1=<hex>`, HMAC-SHA256 with the shared
//! secret over `<seconds>.<body>`. An event id works once, and an old signature not at all.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use sauti_service::app::App;
use sauti_service::webhooks;
use sauti_store::ids::now_us;
use sauti_store::{LedgerError, PaymentEvent, StoreError};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use sauti_web::fields::{Fields, read_body};
use sauti_web::problem::{Code, Problem, Reason};

const EVENT_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = PaymentEvent)]
pub struct PaymentBody {
    /// The provider's own id of the event; it works once.
    pub event_id: String,
    /// Such as `mpesa`.
    pub provider: String,
    pub workspace_id: String,
    /// In millionths of the currency.
    pub amount_micro: i64,
    /// Must be the workspace's own.
    pub currency: String,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct PaymentAnswer {
    /// `applied`, or `duplicate` when the event came before and nothing moved.
    pub status: &'static str,
    pub balance_micro: i64,
}

/// Report a payment
///
/// For the bridge of a payment provider. The raw body is signed with the secret of the settings.
#[utoipa::path(post, path = "/v1/payments/events", tag = "operation", operation_id = "reportPayment",
    request_body = PaymentBody,
    params(("Sauti-Signature" = String, Header, description = "t=<seconds>,v1=<hex of HMAC-SHA256 over \"<seconds>.<body>\">")),
    responses((status = 200, description = "The money is there.", body = PaymentAnswer)), security(()))]
pub async fn report_payment(
    State(app): State<App>,
    request: Request,
) -> Result<Json<PaymentAnswer>, Problem> {
    let headers = request.headers().clone();
    let body = read_body(request, EVENT_BYTES_MAX).await?;
    verify(&app, &headers, &body)?;
    let event = parse(&body)?;
    let credit = app
        .store
        .record_payment(&event)
        .await
        .map_err(|error| match error {
            LedgerError::UnknownWorkspace => unknown_workspace(),
            LedgerError::Store(StoreError::Invalid {
                field: "reference",
                message,
            }) => Problem::field("event_id", Reason::Other { message }),
            error => error.into(),
        })?;
    Ok(Json(PaymentAnswer {
        status: match credit.applied {
            true => "applied",
            false => "duplicate",
        },
        balance_micro: credit.balance.available_micro,
    }))
}

fn unknown_workspace() -> Problem {
    let expected = "a workspace that exists";
    Problem::field("workspace_id", Reason::Malformed { expected })
}

fn verify(app: &App, headers: &HeaderMap, body: &[u8]) -> Result<(), Problem> {
    let refused = || Problem::new(Code::SignatureInvalid);
    let secret = app
        .config
        .payments
        .webhook_secret
        .as_ref()
        .ok_or_else(refused)?;
    let header = headers
        .get("sauti-signature")
        .and_then(|value| value.to_str().ok())
        .ok_or_else(refused)?;
    let part = |name: &str| {
        header
            .split(',')
            .find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='))
    };
    let seconds: i64 = part("t")
        .and_then(|text| text.parse().ok())
        .ok_or_else(refused)?;
    let age_s = (now_us() / 1_000_000).abs_diff(seconds);
    let given = part("v1").ok_or_else(refused)?;
    let expected = webhooks::signature(secret.expose_secret().as_bytes(), seconds, body);
    let genuine = bool::from(expected.as_bytes().ct_eq(given.as_bytes()));
    match genuine && age_s <= app.config.payments.tolerance_s {
        true => Ok(()),
        false => Err(refused()),
    }
}

fn parse(body: &[u8]) -> Result<PaymentEvent, Problem> {
    const NAMES: &[&str] = &[
        "event_id",
        "provider",
        "workspace_id",
        "amount_micro",
        "currency",
    ];
    let mut fields = Fields::parse(body)?;
    let mut text = |name: &'static str| fields.required(name, Fields::text);
    let (event_id, provider) = (text("event_id"), text("provider"));
    let (workspace_id, currency) = (text("workspace_id"), text("currency"));
    let amount_micro = fields.required("amount_micro", Fields::integer);
    // The ledger knows the payment as `provider:event_id`.
    if provider.contains(':') {
        let expected = "a name without \":\"";
        fields.error("provider", Reason::Malformed { expected });
    }
    fields.finish(NAMES, &[])?;
    Ok(PaymentEvent {
        provider,
        event_id,
        workspace_id: workspace_id.parse().map_err(|_| unknown_workspace())?,
        amount_micro,
        currency,
    })
}
