//! Who did what in a workspace.

use axum::Json;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use sauti_service::app::App;
use sauti_service::trail::{self, AuditFormat};
use sauti_store::{AuditEntry, AuditQuery};
use serde::Serialize;

use crate::usage::take_days;
use sauti_web::caller::{Keys, May};
use sauti_web::problem::{Problem, Reason};
use sauti_web::query::Query;

const PAGE: i64 = 100;
const PAGE_MAX: i64 = 1_000;
const DAY_US: i64 = 24 * 3_600 * 1_000_000;

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct AuditBody {
    pub entries: Vec<AuditEntry>,
    /// To be sent as `before` for the next page.
    pub next_cursor: Option<String>,
}

/// Show the audit trail, newest first
#[utoipa::path(get, path = "/v1/audit", tag = "workspace", operation_id = "listAudit",
    params(
        ("before" = Option<String>, Query, description = "The next_cursor of the page before."),
        ("limit" = Option<i64>, Query, description = "1 to 1000; 100 if absent."),
    ),
    responses((status = 200, description = "Who did what.", body = AuditBody)))]
pub async fn list(
    State(app): State<App>,
    May(caller, _): May<Keys>,
    RawQuery(query): RawQuery,
) -> Result<Json<AuditBody>, Problem> {
    let mut query = Query::parse(query.as_deref());
    let before = query.take("before");
    let limit = query.take_integer("limit", 1..=PAGE_MAX)?.unwrap_or(PAGE);
    query.finish(&["before", "limit"])?;
    let wanted = AuditQuery {
        workspace_id: Some(caller.workspace_id),
        before,
        limit,
        ..AuditQuery::default()
    };
    let entries = app.store.audit_list(&wanted).await?;
    let full = entries.len() as i64 == limit;
    let next_cursor = entries
        .last()
        .filter(|_| full)
        .map(|entry| entry.id.clone());
    Ok(Json(AuditBody {
        entries,
        next_cursor,
    }))
}

/// Take the whole audit trail away as a file, newest first
#[utoipa::path(get, path = "/v1/audit/export", tag = "workspace", operation_id = "exportAudit",
    params(
        ("from" = Option<String>, Query, description = "First day, such as 2026-01-01; the first there is if absent."),
        ("to" = Option<String>, Query, description = "Last day; today if absent."),
        ("format" = Option<String>, Query, description = "jsonl (default) or csv."),
    ),
    responses((status = 200, description = "One entry a line.", content(
        (String = "application/x-ndjson"), (String = "text/csv")))))]
pub async fn export(
    State(app): State<App>,
    May(caller, _): May<Keys>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let mut query = Query::parse(query.as_deref());
    let format = match query.take("format").as_deref() {
        None | Some("jsonl") => AuditFormat::Jsonl,
        Some("csv") => AuditFormat::Csv,
        Some(_) => {
            let allowed = "jsonl, csv".to_owned();
            return Err(Problem::field("format", Reason::UnknownValue { allowed }));
        }
    };
    let (from_us, to_us) = take_days(&mut query)?;
    query.finish(&["from", "to", "format"])?;
    let wanted = AuditQuery {
        workspace_id: Some(caller.workspace_id),
        from_us,
        to_us: to_us.map(|day_us| day_us + DAY_US),
        ..AuditQuery::default()
    };
    let attachment = match format {
        AuditFormat::Jsonl => "attachment; filename=\"audit.jsonl\"",
        AuditFormat::Csv => "attachment; filename=\"audit.csv\"",
    };
    let headers = [
        (CONTENT_TYPE, format.content_type()),
        (CONTENT_DISPOSITION, attachment),
    ];
    let pages = trail::export(app.store.clone(), wanted, format);
    Ok((headers, Body::from_stream(pages)).into_response())
}
