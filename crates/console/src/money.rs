//! What was used, what it cost, and what is left.

use std::collections::{BTreeMap, HashMap};

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use sauti_service::accounts;
use sauti_service::app::App;
use sauti_service::workspaces::{self, WorkspaceChange};
use sauti_store::ids::{day_of, now_us};
use sauti_store::{AccountId, KeyId, Micro, Operation, Role, StatementRow, UsageQuery, UsageRow};

use super::chart::{self, Bar, Share};
use super::form::{MyForm, go_at};
use super::page::{self, Me, Page};
use super::shown;
use sauti_web::problem::{Problem, Reason};
use sauti_web::query::Query;

const DAY_US: i64 = 86_400 * 1_000_000;
const ROWS_SHOWN: i64 = 100;

/// One operation with one key, over the whole time.
struct Sum {
    operation: &'static str,
    key: String,
    requests: i64,
    cached: i64,
    units: i64,
    amount_micro: i64,
}

#[derive(Template)]
#[template(path = "usage.html")]
struct UsagePage {
    page: Page,
    me: Me,
    days: i64,
    from_day: String,
    to_day: String,
    bars: Vec<Bar>,
    by_operation: Vec<Share>,
    by_key: Vec<Share>,
    sums: Vec<Sum>,
    total_micro: i64,
    most_micro: i64,
}

impl UsagePage {
    fn width(&self) -> f64 {
        self.bars.len() as f64 * chart::STEP
    }

    fn shown(&self, micro: &i64) -> String {
        Micro(*micro).in_column(&self.me.workspace.currency)
    }
}

pub async fn usage(
    State(app): State<App>,
    page: Page,
    me: Me,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let days = match Query::parse(query.as_deref()).take("days").as_deref() {
        Some("7") => 7,
        Some("90") => 90,
        _ => 30,
    };
    let now = now_us();
    let all: Vec<String> = (0..days)
        .rev()
        .map(|back| day_of(now - back * DAY_US))
        .collect();
    let wanted = UsageQuery {
        from_day: day_of(now - (days - 1) * DAY_US),
        to_day: day_of(now),
        ..UsageQuery::default()
    };
    let rows = app.store.usage(&me.workspace.id, &wanted).await?;
    let keys = app.store.list_keys(&me.workspace.id).await?;
    let names: Names = keys.into_iter().map(|key| (key.id, key.name)).collect();
    let bars = chart::bars(&all, &rows);
    page::render(&UsagePage {
        by_operation: chart::shares(&rows, |row| operation(&page, row.operation).to_owned()),
        by_key: chart::shares(&rows, |row| key_name(&page, &names, row)),
        sums: sums(&page, &names, &rows),
        total_micro: bars.iter().map(|bar| bar.amount_micro).sum(),
        most_micro: bars.iter().map(|bar| bar.amount_micro).max().unwrap_or(0),
        bars,
        from_day: wanted.from_day,
        to_day: wanted.to_day,
        days,
        page,
        me,
    })
}

/// The names of keys by their ids.
type Names = HashMap<KeyId, String>;

/// What was done in the console has no key.
fn key_name(page: &Page, names: &Names, row: &UsageRow) -> String {
    match &row.key_id {
        None => page.t.console.to_owned(),
        Some(id) => names
            .get(id)
            .filter(|name| !name.is_empty())
            .cloned()
            .unwrap_or_else(|| id.to_string()),
    }
}

fn sums(page: &Page, names: &Names, rows: &[UsageRow]) -> Vec<Sum> {
    let mut sums: BTreeMap<(Operation, Option<&KeyId>), Sum> = BTreeMap::new();
    for row in rows {
        let key_id = row.key_id.as_ref();
        let sum = sums.entry((row.operation, key_id)).or_insert_with(|| Sum {
            operation: operation(page, row.operation),
            key: key_name(page, names, row),
            requests: 0,
            cached: 0,
            units: 0,
            amount_micro: 0,
        });
        sum.requests += row.requests;
        sum.cached += row.cached_requests;
        sum.units += row.units;
        sum.amount_micro += row.amount_micro;
    }
    sums.into_values().collect()
}

fn operation(page: &Page, operation: Operation) -> &'static str {
    match operation {
        Operation::Speech => page.t.op_speech,
        Operation::Transcription => page.t.op_transcription,
    }
}

#[derive(Template)]
#[template(path = "money.html")]
struct MoneyPage {
    page: Page,
    me: Me,
    rows: Vec<StatementRow>,
    prices: Vec<(&'static str, String)>,
}

impl MoneyPage {
    fn shown(&self, micro: &i64) -> String {
        Micro(*micro).in_column(&self.me.workspace.currency)
    }

    fn reserved(&self) -> String {
        self.shown(&self.me.reserved_micro)
    }

    fn what(&self, row: &StatementRow) -> String {
        let t = self.page.t;
        match row.kind.as_str() {
            "credit" if is_welcome(row) => t.kind_welcome.to_owned(),
            "credit" => {
                let receipt = row.external_id.as_ref().unwrap_or(&row.memo);
                format!("{} · {receipt}", t.kind_credit)
            }
            "refund" => t.kind_refund.to_owned(),
            "correction" => format!("{} · {}", t.kind_correction, row.memo),
            _ => match row.operation {
                None => t.kind_charge.to_owned(),
                Some(done) => operation(&self.page, done).to_owned(),
            },
        }
    }

    fn low(&self) -> String {
        let low = self.me.workspace.low_balance_micro;
        low.map(|micro| Micro(micro).to_string())
            .unwrap_or_default()
    }
}

/// Booked for an account; a provider may call itself "welcome" too.
fn is_welcome(row: &StatementRow) -> bool {
    let reference = row.external_id.as_deref().unwrap_or_default();
    let account_id = reference.strip_prefix("welcome:");
    account_id.is_some_and(|id| id.parse::<AccountId>().is_ok())
}

pub async fn money(State(app): State<App>, page: Page, me: Me) -> Result<Response, Problem> {
    let workspace_id = &me.workspace.id;
    let rows = app
        .store
        .newest_of_statement(workspace_id, ROWS_SHOWN)
        .await?;
    let prices = &app.config.prices;
    let shown = |micro| Micro(micro).in_currency(&me.workspace.currency);
    let prices = vec![
        (page.t.price_speech, shown(prices.per_1000_characters_micro)),
        (
            page.t.price_transcription,
            shown(prices.per_audio_minute_micro),
        ),
        (
            page.t.price_cached,
            format!("{:.0} %", prices.cached_fraction * 100.0),
        ),
    ];
    page::render(&MoneyPage {
        page,
        me,
        rows,
        prices,
    })
}

pub async fn set_alert(State(app): State<App>, form: MyForm) -> Result<Response, Problem> {
    let me = &form.me;
    accounts::require_role(&app, &me.workspace.id, &me.account.id, Role::Admin).await?;
    let low_micro = match form.fields.text("below") {
        "" => 0,
        text => amount(text)?,
    };
    let change = WorkspaceChange {
        low_balance_micro: Some(low_micro),
        ..WorkspaceChange::default()
    };
    workspaces::change(&app.store, &me.account.id, &me.workspace.id, change).await?;
    go_at(me, "/console/money", "saved")
}

pub fn amount(text: &str) -> Result<i64, Problem> {
    let expected = "an amount";
    let amount: Result<Micro, _> = text.parse();
    amount
        .map(|micro| micro.0)
        .map_err(|_| Problem::field("amount_micro", Reason::Malformed { expected }))
}
