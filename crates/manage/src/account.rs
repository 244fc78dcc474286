//! Accounts and sessions as JSON. The console's pages use the same functions.

use axum::Json;
use axum::extract::State;
use axum::http::header::USER_AGENT;
use axum::http::{HeaderMap, StatusCode};
use axum_extra::extract::CookieJar;
use sauti_service::accounts;
use sauti_service::app::App;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use sauti_web::context::Context;
use sauti_web::csrf::csrf_token;
use sauti_web::fields::{Fields, JsonBytes};
use sauti_web::member::{SignedIn, forget_session, session_cookie};
use sauti_web::problem::Problem;

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = SignUpRequest)]
pub struct SignUpBody {
    pub email: String,
    /// At least 10 characters.
    pub password: String,
    pub name: Option<String>,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = SignInRequest)]
pub struct SignInBody {
    pub email: String,
    pub password: String,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = TokenRequest)]
pub struct TokenBody {
    /// From the link in the mail.
    pub token: String,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = DeletionRequest)]
pub struct DeletionBody {
    /// The account's own, once more.
    pub password: String,
    /// Money in workspaces that nobody else is in is lost with them, and the caller knows.
    pub give_up_money: Option<bool>,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = EmailRequest)]
pub struct EmailBody {
    pub email: String,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = NewPasswordRequest)]
pub struct NewPasswordBody {
    /// From the link in the mail.
    pub token: String,
    pub password: String,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct AccountBody {
    pub account_id: String,
    pub email: String,
    pub name: String,
    pub confirmed: bool,
    pub workspaces: Vec<MyWorkspace>,
    /// To be sent as `X-CSRF-Token` with every change.
    pub csrf_token: String,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct MyWorkspace {
    pub workspace_id: String,
    pub name: String,
    pub currency: String,
    pub role: String,
}

/// Takes fields that all have to be there.
pub fn required<const N: usize>(
    body: &[u8],
    names: [&'static str; N],
) -> Result<[String; N], Problem> {
    let mut fields = Fields::parse(body)?;
    let values = names.map(|name| fields.required(name, Fields::text));
    fields.finish(&names, &["name"])?;
    Ok(values)
}

/// Make an account
///
/// The answer is the same whether or not the address has an account; the mail tells.
#[utoipa::path(post, path = "/v1/account", tag = "account", operation_id = "signUp",
    request_body = SignUpBody,
    responses((status = 202, description = "Look into your mail.")), security(()))]
pub async fn sign_up(
    State(app): State<App>,
    context: Context,
    JsonBytes(body): JsonBytes,
) -> Result<StatusCode, Problem> {
    let [email, password] = required(&body, ["email", "password"])?;
    let name = Fields::parse(&body)?.text("name").unwrap_or_default();
    accounts::sign_up(
        &app,
        context.client(),
        &email,
        SecretString::from(password),
        &name,
    )
    .await?;
    Ok(StatusCode::ACCEPTED)
}

/// Confirm an account
#[utoipa::path(post, path = "/v1/account/confirm", tag = "account", operation_id = "confirmAccount",
    request_body = TokenBody,
    responses((status = 204, description = "The account is confirmed.")), security(()))]
pub async fn confirm(
    State(app): State<App>,
    context: Context,
    JsonBytes(body): JsonBytes,
) -> Result<StatusCode, Problem> {
    let [token] = required(&body, ["token"])?;
    accounts::confirm_by_link(&app, context.client(), &token).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Sign in
#[utoipa::path(post, path = "/v1/account/session", tag = "account", operation_id = "signIn",
    request_body = SignInBody,
    responses((status = 200, description = "Signed in; the cookie holds the session.", body = AccountBody)), security(()))]
pub async fn sign_in(
    State(app): State<App>,
    context: Context,
    headers: HeaderMap,
    cookies: CookieJar,
    JsonBytes(body): JsonBytes,
) -> Result<(CookieJar, Json<AccountBody>), Problem> {
    let [email, password] = required(&body, ["email", "password"])?;
    let agent = headers
        .get(USER_AGENT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let password = SecretString::from(password);
    let (account, issued) =
        accounts::sign_in(&app, context.client(), &email, password, agent).await?;
    let token = issued.token.expose_secret().to_owned();
    let body = describe(&app, &account, &token).await?;
    Ok((cookies.add(session_cookie(&app, &issued)?), Json(body)))
}

async fn describe(
    app: &App,
    account: &sauti_store::Account,
    token: &str,
) -> Result<AccountBody, Problem> {
    let workspaces = app.store.workspaces_of(&account.id).await?;
    let workspaces = workspaces.into_iter().map(|(workspace, role)| MyWorkspace {
        workspace_id: workspace.id.to_string(),
        name: workspace.name,
        currency: workspace.currency,
        role: role.to_string(),
    });
    Ok(AccountBody {
        account_id: account.id.to_string(),
        email: account.email.clone(),
        name: account.name.clone(),
        confirmed: account.is_confirmed(),
        workspaces: workspaces.collect(),
        csrf_token: csrf_token(token),
    })
}

/// Show who is signed in
#[utoipa::path(get, path = "/v1/account", tag = "account", operation_id = "getAccount",
    responses((status = 200, description = "The account of the session.", body = AccountBody)), security(("session" = [])))]
pub async fn get_account(
    State(app): State<App>,
    me: SignedIn,
) -> Result<Json<AccountBody>, Problem> {
    Ok(Json(
        describe(&app, &me.account, me.token.expose_secret()).await?,
    ))
}

/// Sign out
#[utoipa::path(delete, path = "/v1/account/session", tag = "account", operation_id = "signOut",
    responses((status = 204, description = "The session has ended.")), security(("session" = [])))]
pub async fn sign_out(
    State(app): State<App>,
    me: SignedIn,
    cookies: CookieJar,
) -> Result<(StatusCode, CookieJar), Problem> {
    accounts::sign_out(&app, &me.token).await?;
    Ok((StatusCode::NO_CONTENT, forget_session(cookies)))
}

/// Ask for a link to set a new password
#[utoipa::path(post, path = "/v1/account/password-reset", tag = "account", operation_id = "requestPasswordReset",
    request_body = EmailBody,
    responses((status = 202, description = "If there is such an account, look into your mail.")), security(()))]
pub async fn request_reset(
    State(app): State<App>,
    context: Context,
    JsonBytes(body): JsonBytes,
) -> Result<StatusCode, Problem> {
    let [email] = required(&body, ["email"])?;
    accounts::request_reset(&app, context.client(), &email).await?;
    Ok(StatusCode::ACCEPTED)
}

/// Set a new password by the link
#[utoipa::path(put, path = "/v1/account/password-reset", tag = "account", operation_id = "resetPassword",
    request_body = NewPasswordBody,
    responses((status = 204, description = "Sign in with the new password.")), security(()))]
pub async fn reset(
    State(app): State<App>,
    context: Context,
    JsonBytes(body): JsonBytes,
) -> Result<StatusCode, Problem> {
    let [token, password] = required(&body, ["token", "password"])?;
    accounts::reset_by_link(&app, context.client(), &token, SecretString::from(password)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Delete the account
///
/// Address, name, password, sessions, memberships and invitations are forgotten. A workspace that nobody else is in is
/// closed and its keys are revoked; what was paid and used stays in the books, without a name. Refused with 409 for the
/// only owner of a workspace with other members, and with `money_left` while a workspace that would be closed holds money.
#[utoipa::path(post, path = "/v1/account/deletion", tag = "account", operation_id = "deleteAccount",
    request_body = DeletionBody,
    responses((status = 204, description = "The account is gone.")), security(("session" = [])))]
pub async fn delete(
    State(app): State<App>,
    me: SignedIn,
    cookies: CookieJar,
    JsonBytes(body): JsonBytes,
) -> Result<(StatusCode, CookieJar), Problem> {
    let mut fields = Fields::parse(&body)?;
    let password = SecretString::from(fields.required("password", Fields::text));
    let gives_up_money = fields.flag("give_up_money").unwrap_or(false);
    fields.finish(&["password", "give_up_money"], &[])?;
    accounts::delete_by_password(&app, &me.account, password, gives_up_money).await?;
    Ok((StatusCode::NO_CONTENT, forget_session(cookies)))
}
