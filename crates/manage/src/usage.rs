//! What was used and what is left.

use axum::Json;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use sauti_service::app::App;
use sauti_store::ids::{day_of, now_us};
use sauti_store::{
    StatementQuery, StatementRow, StoreError, TransferId, UsageQuery, UsageRow, WorkspaceId,
};
use serde::Serialize;

use sauti_web::caller::{May, Usage};
use sauti_web::problem::{Problem, Reason};
use sauti_web::query::Query;

const DAY_US: i64 = 86_400 * 1_000_000;
const STATEMENT_ROWS_MAX: i64 = 10_000;

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct BalanceBody {
    pub currency: String,
    /// What can be spent, in micro-units.
    pub available_micro: i64,
    /// Set aside for requests that are running.
    pub reserved_micro: i64,
}

/// Show the balance
#[utoipa::path(get, path = "/v1/balance", tag = "workspace", operation_id = "getBalance",
    responses((status = 200, description = "In micro-units: millionths of the currency.", body = BalanceBody)))]
pub async fn get_balance(
    State(app): State<App>,
    May(caller, _): May<Usage>,
) -> Result<Json<BalanceBody>, Problem> {
    let balance = app.store.balance(&caller.workspace_id).await?;
    Ok(Json(BalanceBody {
        currency: caller.currency,
        available_micro: balance.available_micro,
        reserved_micro: balance.reserved_micro,
    }))
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct UsageBody {
    pub from: String,
    pub to: String,
    pub days: Vec<UsageDay>,
}

/// One day of one operation with one key.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct UsageDay {
    pub day: String,
    pub operation: String,
    pub key_id: Option<String>,
    pub requests: i64,
    pub cached_requests: i64,
    /// Characters or seconds.
    pub units: i64,
    pub audio_seconds: f64,
    pub amount_micro: i64,
}

impl From<UsageRow> for UsageDay {
    fn from(row: UsageRow) -> UsageDay {
        UsageDay {
            day: row.day,
            operation: row.operation.to_string(),
            key_id: row.key_id.map(|id| id.to_string()),
            requests: row.requests,
            cached_requests: row.cached_requests,
            units: row.units,
            audio_seconds: row.audio_ms as f64 / 1_000.0,
            amount_micro: row.amount_micro,
        }
    }
}

/// Show what was used, by day
#[utoipa::path(get, path = "/v1/usage", tag = "workspace", operation_id = "getUsage",
    params(
        ("from" = Option<String>, Query, description = "First day, such as 2026-01-01; 30 days before the last one if absent."),
        ("to" = Option<String>, Query, description = "Last day; today if absent."),
        ("operation" = Option<String>, Query, description = "speech or transcription."),
        ("key_id" = Option<String>, Query, description = "Only this key."),
        ("format" = Option<String>, Query, description = "json (default) or csv."),
    ),
    responses((status = 200, description = "Days with use, oldest first.", content(
        (UsageBody = "application/json"), (String = "text/csv")))))]
pub async fn get_usage(
    State(app): State<App>,
    May(caller, _): May<Usage>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let mut query = Query::parse(query.as_deref());
    let (from_us, to_us) = take_some_days(&mut query)?;
    let (from_day, to_day) = (day_of(from_us), day_of(to_us));
    let allowed = "speech, transcription".to_owned();
    let operation = query.take_parsed("operation", Reason::UnknownValue { allowed })?;
    let expected = "the id of a key";
    let key_id = query.take_parsed("key_id", Reason::Malformed { expected })?;
    let csv = wants_csv(&mut query)?;
    query.finish(&["from", "to", "operation", "key_id", "format"])?;
    let wanted = UsageQuery {
        from_day: from_day.clone(),
        to_day: to_day.clone(),
        key_id,
        operation,
    };
    let rows = app.store.usage(&caller.workspace_id, &wanted).await?;
    if csv {
        let lines = rows.iter().map(|row| row.to_csv() + "\n");
        let csv = format!("{}\n{}", UsageRow::CSV_HEADER, lines.collect::<String>());
        return Ok(([(CONTENT_TYPE, "text/csv; charset=utf-8")], csv).into_response());
    }
    let days = rows.into_iter().map(UsageDay::from).collect();
    Ok(Json(UsageBody {
        from: from_day,
        to: to_day,
        days,
    })
    .into_response())
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct StatementBody {
    pub rows: Vec<StatementRow>,
    pub has_more: bool,
    /// Give this as `after` to get the rows after these.
    pub next_cursor: Option<String>,
}

/// Show every movement of money
#[utoipa::path(get, path = "/v1/statement", tag = "workspace", operation_id = "getStatement",
    params(
        ("from" = Option<String>, Query, description = "First day, such as 2026-01-01; 30 days before the last one if absent."),
        ("to" = Option<String>, Query, description = "Last day; today if absent."),
        ("after" = Option<String>, Query, description = "The `next_cursor` of the page before."),
        ("limit" = Option<i64>, Query, description = "Rows a page, 1 to 10,000 (default)."),
        ("format" = Option<String>, Query, description = "json (default) or csv."),
    ),
    responses((status = 200, description = "Oldest first; as JSON a page, as CSV all.", content(
        (StatementBody = "application/json"), (String = "text/csv")))))]
pub async fn get_statement(
    State(app): State<App>,
    May(caller, _): May<Usage>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let mut query = Query::parse(query.as_deref());
    let (from_us, to_us) = take_some_days(&mut query)?;
    let after = query.take("after").map(|cursor| {
        let expected = "the next_cursor of the page before";
        cursor_read(&cursor).ok_or_else(|| Problem::field("after", Reason::Malformed { expected }))
    });
    let limit = query.take_integer("limit", 1..=STATEMENT_ROWS_MAX)?;
    let limit = limit.unwrap_or(STATEMENT_ROWS_MAX);
    let wanted = StatementQuery {
        from_us,
        to_us: to_us + DAY_US,
        after: after.transpose()?,
        limit: limit + 1,
    };
    let csv = wants_csv(&mut query)?;
    query.finish(&["from", "to", "after", "limit", "format"])?;
    if csv {
        let limit = STATEMENT_ROWS_MAX;
        let first = StatementQuery { limit, ..wanted };
        return Ok(statement_csv(app, caller.workspace_id, first));
    }
    let mut rows = app.store.statement(&caller.workspace_id, &wanted).await?;
    let has_more = rows.len() as i64 > limit;
    rows.truncate(limit as usize);
    let next_cursor = rows.last().filter(|_| has_more).map(cursor);
    Ok(Json(StatementBody {
        rows,
        has_more,
        next_cursor,
    })
    .into_response())
}

fn cursor(row: &StatementRow) -> String {
    format!("{}-{}", row.created_us, row.id)
}

fn cursor_read(cursor: &str) -> Option<(i64, TransferId)> {
    let (created_us, id) = cursor.split_once('-')?;
    Some((created_us.parse().ok()?, id.parse().ok()?))
}

/// Read a page at a time, while it is sent.
fn statement_csv(app: App, workspace_id: WorkspaceId, first: StatementQuery) -> Response {
    let pages = stream::try_unfold(Some(first), move |wanted| {
        let (app, workspace_id) = (app.clone(), workspace_id.clone());
        async move {
            let Some(mut wanted) = wanted else {
                return Ok(None);
            };
            let rows = app.store.statement(&workspace_id, &wanted).await?;
            let lines: String = rows.iter().map(|row| row.to_csv() + "\n").collect();
            wanted.after = rows.last().map(|row| (row.created_us, row.id.clone()));
            let is_full = rows.len() as i64 == wanted.limit;
            Ok::<_, StoreError>(Some((lines, is_full.then_some(wanted))))
        }
    });
    let header = stream::once(async { Ok(format!("{}\n", StatementRow::CSV_HEADER)) });
    let body = Body::from_stream(header.chain(pages));
    ([(CONTENT_TYPE, "text/csv; charset=utf-8")], body).into_response()
}

fn wants_csv(query: &mut Query) -> Result<bool, Problem> {
    match query.take("format").as_deref() {
        None | Some("json") => Ok(false),
        Some("csv") => Ok(true),
        Some(_) => Err(Problem::field(
            "format",
            Reason::UnknownValue {
                allowed: "json, csv".to_owned(),
            },
        )),
    }
}

/// A time in the first day and one in the last, which are the last thirty if nothing is said.
fn take_some_days(query: &mut Query) -> Result<(i64, i64), Problem> {
    let (from_us, to_us) = take_days(query)?;
    let to_us = to_us.unwrap_or_else(now_us);
    Ok((from_us.unwrap_or(to_us - 30 * DAY_US), to_us))
}

/// The beginnings of the first and the last day, where they are given.
pub(super) fn take_days(query: &mut Query) -> Result<(Option<i64>, Option<i64>), Problem> {
    let from_us = take_day(query, "from")?;
    let to_us = take_day(query, "to")?;
    if let (Some(from_us), Some(to_us)) = (from_us, to_us)
        && from_us > to_us
    {
        let expected = "a day that is not before from";
        return Err(Problem::field("to", Reason::Malformed { expected }));
    }
    Ok((from_us, to_us))
}

fn take_day(query: &mut Query, name: &'static str) -> Result<Option<i64>, Problem> {
    let Some(day) = query.take(name) else {
        return Ok(None);
    };
    let expected = "a day such as 2026-01-31";
    let wrong = || Problem::field(name, Reason::Malformed { expected });
    let date: jiff::civil::Date = day.parse().map_err(|_| wrong())?;
    let midnight = date
        .to_zoned(jiff::tz::TimeZone::UTC)
        .map_err(|_| wrong())?;
    Ok(Some(midnight.timestamp().as_microsecond()))
}
