//! A person's own account: password, sessions, workspaces, deletion.

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use axum_extra::extract::CookieJar;
use sauti_service::accounts;
use sauti_service::app::App;
use sauti_store::Session;

use super::form::{MyForm, PersonForm, go, own_path, workspace_cookie};
use super::page::{self, Me, Page};
use super::{refusal, shown};
use sauti_web::context::Context;
use sauti_web::member::{SignedIn, forget_session};
use sauti_web::problem::{Code, Problem};
use sauti_web::query::Query;

const HERE: &str = "/console/account";
const SESSIONS_SHOWN: usize = 10;

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    page: Page,
    me: Me,
    sessions: Vec<Session>,
    error: Option<String>,
    /// Typed into the form that deletes the account.
    email: String,
}

/// What was wrong with a form of this page, and the address that was typed into it.
type Wrong = Option<(String, String)>;

async fn render(app: &App, page: Page, me: Me, wrong: Wrong) -> Result<Response, Problem> {
    let status = match wrong {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    };
    let (error, email) = wrong.unzip();
    let mut sessions = app.store.list_sessions(&me.account.id).await?;
    // The one that looks stands first, then the newest.
    sessions.sort_by_key(|session| (session.id != me.session.id, -session.created_us));
    sessions.truncate(SESSIONS_SHOWN);
    let path = HERE.to_owned();
    let page = Page { path, ..page };
    page::render_with(
        status,
        &AccountPage {
            page,
            me,
            sessions,
            error,
            email: email.unwrap_or_default(),
        },
    )
}

/// Here the address is known, so only the password can be wrong.
fn message(problem: &Problem, page: &Page) -> String {
    match problem.code {
        Code::CredentialsWrong => page.t.error_old_password.to_owned(),
        _ => refusal::message(problem, page),
    }
}

pub async fn show(State(app): State<App>, page: Page, me: Me) -> Result<Response, Problem> {
    render(&app, page, me, None).await
}

pub async fn sign_out(
    State(app): State<App>,
    cookies: CookieJar,
    form: PersonForm,
) -> Result<Response, Problem> {
    accounts::sign_out(&app, &form.person.token).await?;
    Ok((
        forget_session(cookies),
        go("/console/sign-in", "signed-out"),
    )
        .into_response())
}

pub async fn sign_out_everywhere(
    State(app): State<App>,
    cookies: CookieJar,
    form: PersonForm,
) -> Result<Response, Problem> {
    accounts::sign_out_everywhere(&app, &form.person.account).await?;
    Ok((
        forget_session(cookies),
        go("/console/sign-in", "signed-out"),
    )
        .into_response())
}

pub async fn change_password(
    State(app): State<App>,
    page: Page,
    form: MyForm,
) -> Result<Response, Problem> {
    let MyForm { me, fields } = form;
    let (old, new) = (fields.secret("old"), fields.secret("password"));
    let keep = Some(&me.session.id);
    let changed = accounts::change_password(&app, &me.account, keep, old, new).await;
    match changed.map_err(Problem::from) {
        Ok(()) => Ok(go(HERE, "saved")),
        Err(problem) => {
            let wrong = (message(&problem, &page), String::new());
            render(&app, page, me, Some(wrong)).await
        }
    }
}

pub async fn rename(State(app): State<App>, form: MyForm) -> Result<Response, Problem> {
    app.store
        .rename_account(&form.me.account.id, form.fields.text("name"))
        .await?;
    Ok(go(HERE, "saved"))
}

pub async fn resend(State(app): State<App>, form: MyForm) -> Result<Response, Problem> {
    accounts::resend_confirmation(&app, &form.me.account).await?;
    Ok(go(HERE, "sent"))
}

pub async fn delete(
    State(app): State<App>,
    page: Page,
    cookies: CookieJar,
    form: MyForm,
) -> Result<Response, Problem> {
    let MyForm { me, fields } = form;
    let email = fields.text("email").to_owned();
    if !email.eq_ignore_ascii_case(&me.account.email) {
        let message = page.t.error_delete_word.to_owned();
        return render(&app, page, me, Some((message, email))).await;
    }
    let (password, gives_up_money) = (fields.secret("password"), !fields.text("money").is_empty());
    let gone = accounts::delete_by_password(&app, &me.account, password, gives_up_money).await;
    match gone.map_err(Problem::from) {
        Ok(()) => Ok((forget_session(cookies), go("/console/sign-in", "deleted")).into_response()),
        Err(problem) => {
            let message = match problem.code {
                Code::Conflict => page.t.error_only_owner.to_owned(),
                _ => message(&problem, &page),
            };
            render(&app, page, me, Some((message, email))).await
        }
    }
}

pub async fn switch_workspace(cookies: CookieJar, form: MyForm) -> Result<Response, Problem> {
    let wanted = form.fields.text("workspace");
    let mut mine = form.me.workspaces.iter();
    let (workspace, _) = mine
        .find(|(workspace, _)| *workspace.id == *wanted)
        .ok_or(Code::NotFound)?;
    let back = Redirect::to(own_path(form.fields.text("next")));
    Ok((cookies.add(workspace_cookie(&workspace.id)?), back).into_response())
}

#[derive(Template)]
#[template(path = "new_workspace.html")]
struct NewWorkspacePage {
    page: Page,
    csrf: String,
    name: String,
    /// Someone in no workspace can do nothing else.
    first: bool,
    error: Option<String>,
}

pub async fn show_new_workspace(
    State(app): State<App>,
    page: Page,
    person: SignedIn,
) -> Result<Response, Problem> {
    let first = app
        .store
        .workspaces_of(&person.account.id)
        .await?
        .is_empty();
    page::render(&NewWorkspacePage {
        page,
        csrf: person.csrf(),
        name: person.account.name,
        first,
        error: None,
    })
}

pub async fn new_workspace(
    State(app): State<App>,
    page: Page,
    cookies: CookieJar,
    form: PersonForm,
) -> Result<Response, Problem> {
    let PersonForm { person, fields } = form;
    let name = fields.text("name");
    let made = accounts::new_workspace(&app, &person.account, name).await;
    let workspace = match made.map_err(Problem::from) {
        Ok(workspace) => workspace,
        Err(problem) if problem.code == Code::Internal => return Err(problem),
        Err(problem) => {
            let shown = NewWorkspacePage {
                error: Some(refusal::message(&problem, &page)),
                csrf: person.csrf(),
                name: name.to_owned(),
                first: false,
                page,
            };
            return page::render_with(problem.code.status(), &shown);
        }
    };
    let cookie = workspace_cookie(&workspace.id)?;
    Ok((cookies.add(cookie), go("/console/members", "saved")).into_response())
}

#[derive(Template)]
#[template(path = "invite.html")]
struct InvitePage {
    page: Page,
    csrf: String,
    token: String,
    error: Option<String>,
}

pub async fn show_invite(
    mut page: Page,
    person: SignedIn,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let token = Query::parse(query.as_deref())
        .take("token")
        .unwrap_or_default();
    page.keep_token(&token);
    page::render(&InvitePage {
        page,
        csrf: person.csrf(),
        token,
        error: None,
    })
}

pub async fn accept_invite(
    State(app): State<App>,
    mut page: Page,
    context: Context,
    cookies: CookieJar,
    form: PersonForm,
) -> Result<Response, Problem> {
    let token = form.fields.text("token").to_owned();
    page.keep_token(&token);
    let account = &form.person.account;
    let joined = accounts::accept_invite(&app, context.client(), account, &token).await;
    match joined.map_err(Problem::from) {
        Ok((workspace_id, _)) => {
            let cookie = workspace_cookie(&workspace_id)?;
            Ok((cookies.add(cookie), go("/console/members", "joined")).into_response())
        }
        Err(problem) => {
            let error = Some(match problem.code {
                Code::NotFound => page.t.error_invite.to_owned(),
                _ => refusal::message(&problem, &page),
            });
            page::render_with(
                problem.code.status(),
                &InvitePage {
                    page,
                    csrf: form.person.csrf(),
                    token,
                    error,
                },
            )
        }
    }
}
