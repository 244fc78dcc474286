//! For whoever runs the service: health, queue, accounts, workspaces, money in, letters.

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use sauti_service::app::App;
use sauti_service::mail::OutboxEmail;
use sauti_service::{accounts, workspaces};
use sauti_speech::{EngineStats, Readiness};
use sauti_store::{Account, Micro, PaymentEvent, Workspace};

use super::form::{MyForm, go};
use super::money::amount;
use super::page::{self, Me, Page};
use super::shown;
use sauti_web::problem::{Code, Problem};
use sauti_web::query::Query;

const HERE: &str = "/console/operator";
const LISTED: i64 = 100;

#[derive(Template)]
#[template(path = "operator.html")]
struct OperatorPage {
    page: Page,
    me: Me,
    engine: &'static str,
    is_ready: bool,
    database_answers: bool,
    version: &'static str,
    stats: EngineStats,
    accounts: Vec<Account>,
    workspaces: Vec<(Workspace, String)>,
    /// None where letters go out by SMTP.
    letters: Option<Vec<OutboxEmail>>,
}

impl OperatorPage {
    /// Where the list goes on, if it does.
    fn more_accounts(&self) -> Option<&str> {
        let last = self.accounts.last()?;
        (self.accounts.len() as i64 == LISTED).then_some(last.id.as_str())
    }

    fn more_workspaces(&self) -> Option<&str> {
        let (last, _) = self.workspaces.last()?;
        (self.workspaces.len() as i64 == LISTED).then_some(last.id.as_str())
    }
}

/// To everyone else the page does not exist.
fn require_operator(me: &Me) -> Result<(), Problem> {
    match me.account.operator && me.account.is_confirmed() {
        true => Ok(()),
        false => Err(Problem::new(Code::NotFound)),
    }
}

pub async fn show(
    State(app): State<App>,
    page: Page,
    me: Me,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    require_operator(&me)?;
    let mut query = Query::parse(query.as_deref());
    let after_account = query.take("accounts").and_then(|id| id.parse().ok());
    let after_workspace = query.take("workspaces").and_then(|id| id.parse().ok());
    let readiness = app.engine.readiness();
    let engine = match &readiness {
        Readiness::Ready => page.t.ready,
        Readiness::Loading => page.t.loading,
        Readiness::Failed(_) => page.t.failed,
        Readiness::Draining => page.t.draining,
    };
    let mut workspaces = Vec::new();
    let listed = app.store.list_workspaces(after_workspace.as_ref(), LISTED);
    for workspace in listed.await? {
        let balance = app.store.balance(&workspace.id).await?;
        let shown = Micro(balance.available_micro).in_currency(&workspace.currency);
        workspaces.push((workspace, shown));
    }
    page::render(&OperatorPage {
        engine,
        is_ready: matches!(readiness, Readiness::Ready),
        database_answers: app.store.ping().await.is_ok(),
        version: env!("CARGO_PKG_VERSION"),
        stats: app.engine.stats(),
        accounts: app
            .store
            .list_accounts(after_account.as_ref(), LISTED)
            .await?,
        letters: app.mailer.written(),
        workspaces,
        page,
        me,
    })
}

pub async fn credit(State(app): State<App>, form: MyForm) -> Result<Response, Problem> {
    let MyForm { me, fields } = form;
    require_operator(&me)?;
    let workspace_id = fields.text("workspace").parse()?;
    let workspace = app.store.workspace(&workspace_id).await?;
    let amount_micro = amount(fields.text("amount"))?;
    let payment = PaymentEvent {
        provider: "operator".to_owned(),
        event_id: fields.text("reference").to_owned(),
        workspace_id: workspace.id,
        amount_micro,
        currency: workspace.currency,
    };
    let credit = workspaces::credit(&app.store, &me.account.id, &payment).await?;
    let said = match credit.applied {
        true => "credited",
        false => "credited-before",
    };
    Ok(go(HERE, said))
}

/// For someone whose letter got lost.
pub async fn confirm(State(app): State<App>, form: MyForm) -> Result<Response, Problem> {
    let MyForm { me, fields } = form;
    require_operator(&me)?;
    let account_id = fields.text("account").parse()?;
    accounts::confirm(&app.store, &me.account.id, &account_id).await?;
    Ok(go(HERE, "saved"))
}
