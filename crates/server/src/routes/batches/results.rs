//! What came of a batch: one file with a line for each item, and the sounds.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use sauti_service::app::App;
use sauti_store::{BatchId, BatchItem, BlobId, Store, StoreError};
use serde_json::{Map, Value, json};

use sauti_web::caller::{Batches, May};
use sauti_web::problem::{Code, Problem, Reason};

const ITEMS_AT_ONCE: i64 = 100;

/// Fetch the results
///
/// JSON Lines, in the order of the items. A line has `index`, `custom_id`, `status` (`done`, `failed` or `cancelled`)
/// and `cost_micro`; a transcription `result`; speech `audio_url`; a failed item `error`.
#[utoipa::path(get, path = "/v1/batches/{batch_id}/results", tag = "batches", operation_id = "getBatchResults",
    params(("batch_id" = String, Path)),
    responses(
        (status = 200, description = "A line for each item.", content((String = "application/jsonl"))),
        (status = 409, description = "The batch is not over yet.", content((sauti_web::problem::ProblemBody = "application/problem+json"))),
    ))]
pub async fn get_results(
    State(app): State<App>,
    May(caller, _): May<Batches>,
    Path(batch_id): Path<String>,
) -> Result<Response, Problem> {
    let batch = super::permitted(&app, &caller, &batch_id.parse()?).await?;
    if !batch.state.is_over() {
        let detail = "The batch is not over yet; its results come when it is.";
        return Err(Problem::detailed(Code::Conflict, detail).retry_after(5));
    }
    let attachment = format!("attachment; filename=\"{}.jsonl\"", batch.id);
    // A store that fails in the middle breaks the connection off: the file never looks whole when it is not.
    let lines = stream::try_unfold((app.store.clone(), batch.id, -1), page);
    let mut response = Response::new(Body::from_stream(lines));
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("application/jsonl; charset=utf-8"),
    );
    if let Ok(attachment) = HeaderValue::from_str(&attachment) {
        headers.insert(CONTENT_DISPOSITION, attachment);
    }
    Ok(response)
}

/// Whose rows come next, and after which.
type Place<Id> = (Store, Id, i64);

async fn page(
    (store, batch_id, after): Place<BatchId>,
) -> Result<Option<(Bytes, Place<BatchId>)>, StoreError> {
    let items = store.batch_items(&batch_id, after, ITEMS_AT_ONCE).await?;
    let Some(last) = items.last().map(|item| item.position) else {
        return Ok(None);
    };
    let mut lines = String::new();
    for item in items {
        lines.push_str(&line(&batch_id, item).to_string());
        lines.push('\n');
    }
    Ok(Some((Bytes::from(lines), (store, batch_id, last))))
}

fn line(batch_id: &BatchId, item: BatchItem) -> Value {
    let mut line = json!({
        "index": item.position,
        "item_id": item.id,
        "custom_id": item.custom_id,
        "status": item.state,
        "cost_micro": item.amount_micro,
    });
    let answer: Value = serde_json::from_str(&item.answer).unwrap_or_default();
    match (item.state.as_str(), answer) {
        ("failed", error) => line["error"] = error,
        (_, Value::Object(answer)) => merge(&mut line, answer),
        _ => {}
    }
    if item.output_id.is_some() {
        line["audio_url"] = format!("/v1/batches/{batch_id}/items/{}/audio", item.position).into();
    }
    line
}

fn merge(line: &mut Value, answer: Map<String, Value>) {
    for (name, value) in answer {
        line[name] = value;
    }
}

/// Fetch the sound of an item
#[utoipa::path(get, path = "/v1/batches/{batch_id}/items/{index}/audio", tag = "batches", operation_id = "getBatchAudio",
    params(("batch_id" = String, Path), ("index" = i64, Path, description = "As in the results.")),
    responses((status = 200, description = "The sound, in the format that was ordered.", content(
        (Vec<u8> = "audio/wav"), (Vec<u8> = "audio/mpeg"), (Vec<u8> = "audio/ogg"), (Vec<u8> = "audio/flac"),
        (Vec<u8> = "audio/pcm"), (Vec<u8> = "audio/basic"), (Vec<u8> = "audio/x-alaw-basic"),
    ))))]
pub async fn get_audio(
    State(app): State<App>,
    May(caller, _): May<Batches>,
    Path((batch_id, index)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let expected = "a whole number";
    let index = index
        .parse()
        .map_err(|_| Problem::field("index", Reason::WrongType { expected }))?;
    let batch_id = batch_id.parse()?;
    super::permitted(&app, &caller, &batch_id).await?;
    let item = app
        .store
        .batch_item(&caller.workspace_id, &batch_id, index)
        .await?;
    let answer: Value = serde_json::from_str(&item.answer).unwrap_or_default();
    let described = (answer["content_type"].as_str(), answer["bytes"].as_u64());
    let ((Some(content_type), Some(bytes)), Some(output_id)) = (described, item.output_id) else {
        return Err(Problem::detailed(Code::NotFound, "This item has no sound."));
    };
    let parts = stream::try_unfold((app.store.clone(), output_id, 0), part);
    let mut response = Response::new(Body::from_stream(parts));
    let headers = response.headers_mut();
    headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes));
    if let Ok(content_type) = HeaderValue::from_str(content_type) {
        headers.insert(CONTENT_TYPE, content_type);
    }
    Ok(response)
}

async fn part(
    (store, blob_id, part): Place<BlobId>,
) -> Result<Option<(Vec<u8>, Place<BlobId>)>, StoreError> {
    let bytes = store.blob_part(&blob_id, part).await?;
    Ok(bytes.map(|bytes| (bytes, (store, blob_id, part + 1))))
}
