//! For whoever runs the service: health, queue, accounts, workspaces, money in.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use sauti_speech::{EngineStats, Readiness};
use sauti_store::{Account, Workspace};

use super::form::{MyForm, go};
use super::money::amount;
use super::page::{self, Me, Page};
use super::shown;
use crate::accounts;
use crate::app::App;
use crate::problem::{Code, Problem};

const LISTED: i64 = 200;

#[derive(Template)]
#[template(path = "operator.html")]
struct OperatorPage {
    page: Page,
    me: Me,
    engine: &'static str,
    is_ready: bool,
    database_answers: bool,
    stats: EngineStats,
    accounts: Vec<Account>,
    workspaces: Vec<(Workspace, String)>,
}

/// To everyone else the page does not exist.
fn require_operator(me: &Me) -> Result<(), Problem> {
    match me.account.operator && me.account.is_confirmed() {
        true => Ok(()),
        false => Err(Problem::new(Code::NotFound)),
    }
}

pub async fn show(State(app): State<App>, page: Page, me: Me) -> Result<Response, Problem> {
    require_operator(&me)?;
    let readiness = app.engine.readiness();
    let engine = match &readiness {
        Readiness::Ready => page.t.ready,
        Readiness::Loading => page.t.loading,
        Readiness::Failed(_) => page.t.failed,
        Readiness::Draining => page.t.draining,
    };
    let mut workspaces = Vec::new();
    for workspace in app.store.list_workspaces("", LISTED).await? {
        let balance = app.store.balance(&workspace.id).await?;
        let shown = shown::money(balance.available_micro, &workspace.currency);
        workspaces.push((workspace, shown));
    }
    page::render(&OperatorPage {
        engine,
        is_ready: matches!(readiness, Readiness::Ready),
        database_answers: app.store.ping().await.is_ok(),
        stats: app.engine.stats(),
        accounts: app.store.list_accounts("", LISTED).await?,
        workspaces,
        page,
        me,
    })
}

pub async fn credit(State(app): State<App>, page: Page, form: MyForm) -> Result<Response, Problem> {
    let MyForm { me, fields } = form;
    require_operator(&me)?;
    let workspace = app.store.workspace(fields.text("workspace")).await?;
    let amount_micro = amount(&page, fields.text("amount"))?;
    let reference = fields.text("reference");
    let credit = app
        .store
        .credit(&workspace.id, amount_micro, "operator", reference)
        .await?;
    if !credit.applied {
        return Ok(go("/console/operator", "credited-before"));
    }
    accounts::audit(
        &app,
        Some(&workspace.id),
        &me.account.id,
        "workspace.credited",
        reference,
    )
    .await;
    Ok(go("/console/operator", "credited"))
}
