//! `/v1/batches`: many texts or many recordings in one order.

mod order;
mod read;
pub mod results;

use axum::Json;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use sauti_service::app::App;
use sauti_service::{ServiceError, audit};
use sauti_store::{AuditAction, Batch, BatchId, BlobId, NewBatch, NewItem, Operation, Received};
use serde::{Deserialize, Serialize};

use crate::batches;
use order::Order;
use sauti_web::caller::{self, Batches, Caller, May};
use sauti_web::idempotency;
use sauti_web::problem::{Problem, Reason};
use sauti_web::query::Query;

const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
const PAGE: i64 = 20;

/// An order as JSON. The same as a form: `operation`, any number of `file` parts, and the fields that hold for all
/// items; or a part `items` with one JSON object a line.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = BatchRequest, example = json!({"operation": "speech", "items": [
    {"custom_id": "karibu", "text": "Karibu sana.", "voice_id": "asha"}]}))]
pub struct BatchBody {
    /// `speech` or `transcription`.
    pub operation: String,
    /// Each as the operation takes it, with a `custom_id` of your own. A recording is named by its `url`.
    #[schema(value_type = Vec<BatchRequestItem>)]
    pub items: Vec<serde_json::Value>,
    /// Fields that hold for every item that does not have them.
    #[schema(value_type = Option<Object>)]
    pub defaults: Option<serde_json::Value>,
}

/// One text or recording. Every other field of `SpeechRequest` or `TranscriptionRequest` can stand here too.
#[derive(Debug, utoipa::ToSchema)]
pub struct BatchRequestItem {
    /// Yours, to find the result by; the item's place in the list if absent.
    pub custom_id: Option<String>,
    /// What is to be said.
    pub text: Option<String>,
    /// Who says it.
    pub voice_id: Option<String>,
    /// Where the recording is fetched.
    pub url: Option<String>,
    /// In a form: the name of the part's file that holds the recording.
    pub file: Option<String>,
}

/// The same as a form, for recordings.
#[derive(Debug, utoipa::ToSchema)]
#[schema(as = BatchForm)]
pub struct BatchForm {
    /// `transcription` (default) or `speech`.
    pub operation: Option<String>,
    /// A recording; as many such parts as there are recordings.
    #[schema(value_type = Option<Vec<String>>, format = Binary)]
    pub file: Option<Vec<Vec<u8>>>,
    /// One JSON object a line. An item names its recording by `file`, the name of a part's file, or by `url`.
    pub items: Option<String>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct BatchInfo {
    pub batch_id: String,
    #[schema(value_type = String)]
    pub operation: Operation,
    /// `running`, `finished` or `cancelled`.
    pub status: &'static str,
    pub items: i64,
    pub counts: BatchCounts,
    /// What the items have cost so far, in micro-units.
    pub cost_micro: i64,
    pub currency: String,
    /// Times are microseconds since 1970.
    pub created_us: i64,
    pub finished_us: Option<i64>,
    /// When everything in it is deleted.
    pub expires_us: i64,
    pub results_url: String,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct BatchCounts {
    pub waiting: i64,
    pub running: i64,
    pub done: i64,
    pub failed: i64,
    pub cancelled: i64,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct BatchList {
    pub batches: Vec<BatchInfo>,
    pub has_more: bool,
    /// For the query's `before`.
    pub next_cursor: Option<String>,
}

fn shown(batch: Batch, currency: &str) -> BatchInfo {
    let counts = batch.counts;
    BatchInfo {
        results_url: format!("/v1/batches/{}/results", batch.id),
        batch_id: batch.id.to_string(),
        operation: batch.operation,
        status: batch.state.as_str(),
        items: batch.items,
        counts: BatchCounts {
            waiting: counts.waiting,
            running: counts.running,
            done: counts.done,
            failed: counts.failed,
            cancelled: counts.cancelled,
        },
        cost_micro: batch.amount_micro,
        currency: currency.to_owned(),
        created_us: batch.created_us,
        finished_us: batch.finished_us,
        expires_us: batch.expires_us,
    }
}

/// Order many texts or recordings
///
/// Everything is checked before the batch is accepted; money is set aside and taken item by item while it is worked
/// on. The event `batch.finished` tells its end.
#[utoipa::path(post, path = "/v1/batches", tag = "batches", operation_id = "createBatch",
    request_body(content((BatchBody = "application/json"), (BatchForm = "multipart/form-data"))),
    params(("Idempotency-Key" = Option<String>, Header, description = "Send the same value again to retry without ordering twice.")),
    responses(
        (status = 201, description = "Accepted.", body = BatchInfo),
        (status = 200, description = "Accepted before, under the same Idempotency-Key.", body = BatchInfo),
    ))]
pub async fn create_batch(
    State(app): State<App>,
    May(caller, _): May<Batches>,
    request: Request,
) -> Result<Response, Problem> {
    let idempotency_key = idempotency::key(request.headers())?.map(str::to_owned);
    let order = read::read(&app, &caller, request).await?;
    let new = new_batch(&app, &caller, &order, idempotency_key);
    let batch = match app.store.receive_batch(&new).await? {
        Received::New(batch_id) => {
            let written = write_down(&app, &caller, &batch_id, order).await;
            match written {
                Ok(batch) => batch,
                Err(problem) => {
                    app.store.discard_batch(&batch_id).await?;
                    return Err(problem);
                }
            }
        }
        Received::Before(batch) => {
            let mut response = Json(shown(*batch, &caller.currency)).into_response();
            response
                .headers_mut()
                .insert(REPLAYED, HeaderValue::from_static("true"));
            return Ok(response);
        }
        Received::InFlight => return Err(ServiceError::IdempotencyInFlight.into()),
        Received::Mismatch => return Err(ServiceError::IdempotencyMismatch.into()),
    };
    app.batch_bell.notify_one();
    audit(&app.store, Some(&caller.workspace_id), &caller.actor)
        .did(AuditAction::BatchCreated, &batch.id)
        .await;
    let body = Json(shown(batch, &caller.currency));
    Ok((StatusCode::CREATED, body).into_response())
}

fn new_batch(
    app: &App,
    caller: &Caller,
    order: &Order,
    idempotency_key: Option<String>,
) -> NewBatch {
    let config = &app.config.batches;
    NewBatch {
        workspace_id: caller.workspace_id.clone(),
        key_id: caller.key_id.clone(),
        operation: order.operation,
        items: order.items.len() as i64,
        bytes: order.bytes as i64,
        idempotency_key,
        fingerprint: order.fingerprint(),
        time_max: batches::time_max(app),
        keep: batches::keep(app),
        open_max: i64::from(config.open_max),
        bytes_max: i64::try_from(config.workspace_bytes_max).unwrap_or(i64::MAX),
    }
}

/// Recordings first, then items, then the start: nobody sees half a batch.
async fn write_down(
    app: &App,
    caller: &Caller,
    batch_id: &BatchId,
    order: Order,
) -> Result<Batch, Problem> {
    let mut items = Vec::with_capacity(order.items.len());
    for item in &order.items {
        let input_id = item.file.as_ref().map(|_| BlobId::generate());
        if let (Some(file), Some(input_id)) = (&item.file, &input_id) {
            let mut parts = order.spool.parts(file);
            let mut part = 0;
            while let Some(bytes) = parts.next().await? {
                app.store
                    .add_blob_part(batch_id, input_id, part, bytes)
                    .await?;
                part += 1;
            }
        }
        items.push(NewItem {
            custom_id: item.custom_id.clone(),
            request: item.request.clone(),
            input_id,
        });
    }
    let workspace_id = &caller.workspace_id;
    app.store
        .add_batch_items(workspace_id, batch_id, 0, items)
        .await?;
    Ok(app.store.start_batch(workspace_id, batch_id).await?)
}

/// The batch, for a caller who may do what it holds: a key for transcription has no business with speech.
async fn permitted(app: &App, caller: &Caller, batch_id: &BatchId) -> Result<Batch, Problem> {
    let batch = app.store.batch(&caller.workspace_id, batch_id).await?;
    caller::require_permission(caller, &[batch.operation.permission()])?;
    Ok(batch)
}

/// The operation whose batches alone this caller may see; `None` where it may see all.
fn only_operation(caller: &Caller) -> Option<Operation> {
    let may = |operation: Operation| caller.permissions.contains(operation.permission());
    match (may(Operation::Speech), may(Operation::Transcription)) {
        (true, true) => None,
        (true, false) => Some(Operation::Speech),
        (false, _) => Some(Operation::Transcription),
    }
}

/// List the batches
#[utoipa::path(get, path = "/v1/batches", tag = "batches", operation_id = "listBatches",
    params(("before" = Option<String>, Query, description = "The `next_cursor` of the page before.")),
    responses((status = 200, description = "The newest first.", body = BatchList)))]
pub async fn list_batches(
    State(app): State<App>,
    May(caller, _): May<Batches>,
    RawQuery(query): RawQuery,
) -> Result<Json<BatchList>, Problem> {
    let mut query = Query::parse(query.as_deref());
    let expected = "a cursor of the page before";
    let before_us = query.take_parsed("before", Reason::Malformed { expected })?;
    query.finish(&["before"])?;
    let mut found = app
        .store
        .batches(
            &caller.workspace_id,
            only_operation(&caller),
            before_us.unwrap_or(i64::MAX),
            PAGE + 1,
        )
        .await?;
    let has_more = found.len() as i64 > PAGE;
    found.truncate(PAGE as usize);
    let last = found.last().filter(|_| has_more);
    Ok(Json(BatchList {
        next_cursor: last.map(|batch| batch.created_us.to_string()),
        has_more,
        batches: found
            .into_iter()
            .map(|batch| shown(batch, &caller.currency))
            .collect(),
    }))
}

/// Show a batch
#[utoipa::path(get, path = "/v1/batches/{batch_id}", tag = "batches", operation_id = "getBatch",
    params(("batch_id" = String, Path)),
    responses((status = 200, description = "How far it is.", body = BatchInfo)))]
pub async fn get_batch(
    State(app): State<App>,
    May(caller, _): May<Batches>,
    Path(batch_id): Path<String>,
) -> Result<Json<BatchInfo>, Problem> {
    let batch = permitted(&app, &caller, &batch_id.parse()?).await?;
    Ok(Json(shown(batch, &caller.currency)))
}

/// Cancel a batch
///
/// What was not begun is not begun, what is being worked on is dropped, and neither is charged. Finished items keep
/// their results.
#[utoipa::path(post, path = "/v1/batches/{batch_id}/cancel", tag = "batches", operation_id = "cancelBatch",
    params(("batch_id" = String, Path)),
    responses((status = 200, description = "The batch as it is now; one that was over stays as it was.", body = BatchInfo)))]
pub async fn cancel_batch(
    State(app): State<App>,
    May(caller, _): May<Batches>,
    Path(batch_id): Path<String>,
) -> Result<Json<BatchInfo>, Problem> {
    let batch_id = batch_id.parse()?;
    permitted(&app, &caller, &batch_id).await?;
    let batch = batches::cancel(&app, &caller.workspace_id, &caller.actor, &batch_id).await?;
    Ok(Json(shown(batch, &caller.currency)))
}
