//! Who asks, and whether they may: key, account, permission, rate, in this order.
//!
//! A program brings a key. The console's pages bring a session cookie and a token that only they
//! can know; they act as a member of a workspace.

use std::marker::PhantomData;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use axum_extra::extract::CookieJar;
use sauti_service::Payer;
use sauti_service::accounts;
use sauti_service::app::App;
use sauti_service::ratelimit::Permit;
use sauti_store::{KeyId, Permission, Permissions, Role, WorkspaceId};

use super::context::Context;
use super::csrf::is_csrf_token;
use crate::problem::{Code, Problem};

pub const SESSION_COOKIE: &str = "sauti_session";
pub const CSRF_HEADER: &str = "x-csrf-token";
pub const WORKSPACE_HEADER: &str = "sauti-workspace";
/// The workspace chosen in the console, for what cannot carry the header: sounds and WebSockets.
pub const WORKSPACE_COOKIE: &str = "sauti_workspace";

/// A caller who passed every check.
#[derive(Debug, Clone)]
pub struct Caller {
    pub workspace_id: WorkspaceId,
    pub currency: String,
    /// None for a member at the console.
    pub key_id: Option<KeyId>,
    pub permissions: Permissions,
    /// A key's or an account's id, for the audit trail and the rate.
    pub actor: String,
    /// Its place among the requests at once, held until the last clone goes.
    _permit: Option<Arc<Permit>>,
}

impl Caller {
    /// Who pays for what this request asks for.
    pub fn payer(&self, context: &Context) -> Payer {
        Payer {
            workspace_id: self.workspace_id.clone(),
            currency: self.currency.clone(),
            key_id: self.key_id.clone(),
            request_id: context.request_id().to_owned(),
        }
    }
}

/// What an operation asks of a caller: any one of these permissions, or none in particular.
pub trait Needs: Send + Sync + 'static {
    const ANY_OF: &'static [Permission];
}

macro_rules! needs {
    ($($(#[$doc:meta])* $name:ident => [$($permission:ident),*];)+) => {
        $($(#[$doc])* #[derive(Debug)] pub struct $name;
        impl Needs for $name { const ANY_OF: &'static [Permission] = &[$(Permission::$permission),*]; })+
    };
}

needs! {
    Speech => [Speech];
    Transcription => [Transcription];
    /// Who may speak must be able to see the voices.
    Voices => [Voices, Speech];
    /// Which of the two a batch needs is known only from its body.
    Batches => [Speech, Transcription];
    Usage => [Usage];
    Keys => [Keys];
    AnyKey => [];
}

/// The extractor: `May(caller): May<Speech>`.
#[derive(Debug)]
pub struct May<N>(pub Caller, pub PhantomData<N>);

impl<N: Needs> FromRequestParts<App> for May<N> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<May<N>, Problem> {
        let Ok(context) = Context::from_request_parts(parts, app).await;
        let mut caller = identify(app, parts).await?;
        context.set_workspace_id(&caller.workspace_id);
        require_permission(&caller, N::ANY_OF)?;
        caller._permit = Some(admit(app, &caller.actor, &context).await?);
        Ok(May(caller, PhantomData))
    }
}

/// Whether whoever opened a connection may still use it: the checks of the door once more, without the rate.
pub async fn may_still<N: Needs>(app: &App, parts: &Parts) -> Result<(), Problem> {
    require_permission(&identify(app, parts).await?, N::ANY_OF)
}

async fn identify(app: &App, parts: &Parts) -> Result<Caller, Problem> {
    if let Some(key) = bearer(&parts.headers)? {
        return by_key(app, key).await;
    }
    let cookies = CookieJar::from_headers(&parts.headers);
    if let Some(cookie) = cookies.get(SESSION_COOKIE) {
        return by_session(app, parts, cookie.value()).await;
    }
    Err(Problem::new(Code::KeyMissing))
}

/// The key in the Authorization header. Only the Bearer scheme counts.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let Some(value) = headers.get(AUTHORIZATION) else {
        return Ok(None);
    };
    let value = value.to_str().map_err(|_| Code::KeyMalformed)?;
    let (scheme, key) = value.split_once(' ').unwrap_or((value, ""));
    let key = key.trim();
    match scheme.eq_ignore_ascii_case("bearer") && !key.is_empty() {
        true => Ok(Some(key)),
        false => Err(Problem::new(Code::KeyMissing)),
    }
}

async fn by_key(app: &App, key: &str) -> Result<Caller, Problem> {
    let known = app.store.authenticate(key).await?;
    if !known.confirmed {
        return Err(Problem::new(Code::AccountUnconfirmed));
    }
    Ok(Caller {
        workspace_id: known.workspace_id.clone(),
        currency: known.currency.clone(),
        key_id: Some(known.key_id.clone()),
        permissions: known.permissions,
        actor: known.key_id.to_string(),
        _permit: None,
    })
}

async fn by_session(app: &App, parts: &Parts, token: &str) -> Result<Caller, Problem> {
    let found = app.store.session_by_token(token).await?;
    let (_, account) = found.ok_or(Code::SessionMissing)?;
    require_csrf(&parts.method, &parts.headers, token)?;
    if !account.is_confirmed() {
        return Err(Problem::new(Code::AccountUnconfirmed));
    }
    let cookies = CookieJar::from_headers(&parts.headers);
    let wanted = parts
        .headers
        .get(WORKSPACE_HEADER)
        .and_then(|value| value.to_str().ok());
    let chosen = cookies.get(WORKSPACE_COOKIE).map(|cookie| cookie.value());
    let (workspace, role) = match (wanted, chosen) {
        (None, Some(chosen)) => accounts::chosen_workspace(app, &account.id, chosen).await?,
        _ => accounts::workspace_for(app, &account.id, wanted).await?,
    };
    Ok(Caller {
        workspace_id: workspace.id,
        currency: workspace.currency,
        key_id: None,
        permissions: permissions_of(role),
        actor: account.id.to_string(),
        _permit: None,
    })
}

/// A page of another site can send our cookie along, but cannot read our pages to learn this.
pub fn require_csrf(method: &Method, headers: &HeaderMap, token: &str) -> Result<(), Problem> {
    if method.is_safe() {
        return Ok(());
    }
    let given = headers
        .get(CSRF_HEADER)
        .map(|value| value.as_bytes())
        .unwrap_or_default();
    match is_csrf_token(token, given) {
        true => Ok(()),
        false => Err(Problem::new(Code::CsrfFailed)),
    }
}

/// Every member may use the service; its keys are for those who run the workspace.
fn permissions_of(role: Role) -> Permissions {
    Permission::ALL
        .into_iter()
        .filter(|permission| *permission != Permission::Keys || role >= Role::Admin)
        .collect()
}

pub fn require_permission(caller: &Caller, any_of: &[Permission]) -> Result<(), Problem> {
    let held = any_of
        .iter()
        .any(|permission| caller.permissions.contains(*permission));
    if any_of.is_empty() || held {
        return Ok(());
    }
    // A member has no key to change: someone above them has to do it.
    if caller.key_id.is_none() {
        return Err(Problem::new(Code::RoleMissing));
    }
    let names: Vec<_> = any_of
        .iter()
        .map(|permission| permission.as_str())
        .collect();
    let detail = format!(
        "This operation needs a key with the permission {}.",
        names.join(" or ")
    );
    Err(Problem::detailed(Code::PermissionMissing, detail))
}

/// Counts a request, and takes a place among those at once until the permit goes.
pub async fn admit(app: &App, actor: &str, context: &Context) -> Result<Arc<Permit>, Problem> {
    match app.rates.admit(actor).await {
        Ok((status, permit)) => {
            context.set_rate(status);
            Ok(Arc::new(permit))
        }
        Err(refused) => {
            context.set_rate(refused.status);
            Err(Problem::new(Code::RateLimited).retry_after(refused.retry_after_s))
        }
    }
}
