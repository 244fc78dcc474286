//! Keys over the API, for keys that may manage keys.

use axum::Json;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::StatusCode;
use sauti_service::app::App;
use sauti_service::keys;
use sauti_store::ids::now_us;
use sauti_store::{Environment, IssuedKey, KeyInfo, NewKey, Permission, Permissions};
use serde::{Deserialize, Serialize};

use sauti_web::caller::{Caller, Keys, May};
use sauti_web::fields::{Fields, JSON_BYTES_MAX, JsonBytes, read_body};
use sauti_web::problem::{Code, Problem, Reason};
use sauti_web::query::Query;

/// A key as it is listed: never the key itself.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Key {
    pub key_id: String,
    pub name: String,
    pub environment: String,
    pub last_four: String,
    pub permissions: Vec<String>,
    pub spend_cap_micro: Option<i64>,
    /// Spent or set aside of the cap.
    pub committed_micro: i64,
    /// Times are microseconds since 1970.
    pub created_us: i64,
    pub expires_us: Option<i64>,
    pub revoked_us: Option<i64>,
    pub last_used_us: Option<i64>,
}

impl From<KeyInfo> for Key {
    fn from(info: KeyInfo) -> Key {
        Key {
            key_id: info.id.to_string(),
            name: info.name,
            environment: info.environment.as_str().to_owned(),
            last_four: info.last_four,
            permissions: info
                .permissions
                .iter()
                .map(|permission| permission.to_string())
                .collect(),
            spend_cap_micro: info.spend_cap_micro,
            committed_micro: info.committed_micro,
            created_us: info.created_us,
            expires_us: info.expires_us,
            revoked_us: info.revoked_us,
            last_used_us: info.last_used_us,
        }
    }
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct KeyList {
    pub keys: Vec<Key>,
}

/// A new key. It is shown here and never again.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct NewKeyBody {
    pub api_key: String,
    #[serde(flatten)]
    pub key: Key,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = KeyRequest, example = json!({"name": "IVR", "permissions": ["speech"]}))]
pub struct KeyBody {
    pub name: String,
    /// Of `speech`, `transcription`, `voices`, `usage`, `keys`; no more than the caller has.
    pub permissions: Vec<String>,
    /// A key made by a key ends no later than that one.
    pub expires_in_days: Option<i64>,
    /// A key made by a key with a cap has no higher one, and both count what they spend together.
    pub spend_cap_micro: Option<i64>,
}

/// List the keys
#[utoipa::path(get, path = "/v1/keys", tag = "workspace", operation_id = "listKeys",
    responses((status = 200, description = "Every key of the workspace.", body = KeyList)))]
pub async fn list_keys(
    State(app): State<App>,
    May(caller, _): May<Keys>,
) -> Result<Json<KeyList>, Problem> {
    let keys = app.store.list_keys(&caller.workspace_id).await?;
    Ok(Json(KeyList {
        keys: keys.into_iter().map(Key::from).collect(),
    }))
}

/// Make a key
#[utoipa::path(post, path = "/v1/keys", tag = "workspace", operation_id = "createKey",
    request_body = KeyBody,
    responses((status = 201, description = "The key, shown this once.", body = NewKeyBody)))]
pub async fn create_key(
    State(app): State<App>,
    May(caller, _): May<Keys>,
    JsonBytes(body): JsonBytes,
) -> Result<(StatusCode, Json<NewKeyBody>), Problem> {
    let new = parse(&app, &caller, &body)?;
    let issued = keys::create(&app.store, new).await?;
    Ok((StatusCode::CREATED, Json(shown(issued))))
}

fn parse(app: &App, caller: &Caller, body: &[u8]) -> Result<NewKey, Problem> {
    let mut fields = Fields::parse(body)?;
    let name = fields.required("name", Fields::text);
    let names = fields.required("permissions", Fields::texts);
    let parsed: Option<Permissions> = names
        .iter()
        .map(|name| name.parse::<Permission>().ok())
        .collect();
    if parsed.is_none() {
        let allowed = Permission::ALL.map(Permission::as_str).join(", ");
        fields.error("permissions", Reason::UnknownValue { allowed });
    }
    let days = fields.integer("expires_in_days");
    if days.is_some_and(|days| !(1..=3_650).contains(&days)) {
        fields.error(
            "expires_in_days",
            Reason::OutOfRange {
                min: 1.0,
                max: 3_650.0,
            },
        );
    }
    let spend_cap_micro = fields.integer("spend_cap_micro");
    fields.finish_strictly(&["name", "permissions", "expires_in_days", "spend_cap_micro"])?;
    let permissions = parsed.unwrap_or_default();
    require_no_more_than_own(caller, permissions)?;
    Ok(NewKey {
        workspace_id: caller.workspace_id.clone(),
        environment: environment(app)?,
        name,
        permissions,
        expires_us: days.map(|days| now_us() + days * 86_400 * 1_000_000),
        spend_cap_micro,
        created_by: caller.actor.clone(),
    })
}

/// Nobody can give away more than they have.
fn require_no_more_than_own(caller: &Caller, wanted: Permissions) -> Result<(), Problem> {
    if wanted
        .iter()
        .all(|permission| caller.permissions.contains(permission))
    {
        return Ok(());
    }
    Err(Problem::detailed(
        Code::PermissionMissing,
        "A key cannot be given permissions that the caller does not have.",
    ))
}

/// The new key would outlive or outspend the one that asks for it: a key can rotate only what ends no later than itself, and
/// with a cap only what shares that cap.
async fn require_within_own_bounds(
    app: &App,
    caller: &Caller,
    old: &KeyInfo,
) -> Result<(), Problem> {
    let Some(key_id) = &caller.key_id else {
        return Ok(());
    };
    let own = app.store.key(&caller.workspace_id, key_id).await?;
    let outlives = own
        .expires_us
        .is_some_and(|ends_us| old.expires_us.is_none_or(|old_us| old_us > ends_us));
    let shares_cap = own.chain_id.is_some() && own.chain_id == old.chain_id;
    let outspends = own.spend_cap_micro.is_some() && !shares_cap;
    match own.id != old.id && (outlives || outspends) {
        false => Ok(()),
        true => Err(Problem::detailed(
            Code::PermissionMissing,
            "A key cannot replace one that ends later than itself or does not share its spend cap.",
        )),
    }
}

pub fn environment(app: &App) -> Result<Environment, Problem> {
    app.config
        .keys
        .environment
        .parse()
        .map_err(Problem::internal)
}

fn shown(issued: IssuedKey) -> NewKeyBody {
    NewKeyBody {
        api_key: issued.key.reveal().to_owned(),
        key: issued.info.into(),
    }
}

/// Replace a key by a new one like it
#[utoipa::path(post, path = "/v1/keys/{key_id}/rotate", tag = "workspace", operation_id = "rotateKey",
    params(
        ("key_id" = String, Path, description = "As in the list of keys."),
        ("old_lives_hours" = Option<i64>, Query, description = "How long the old key is still accepted, 0 to 168; 0 if absent: it ends at once. May also come in a JSON body."),
    ),
    responses((status = 201, description = "The new key, shown this once.", body = NewKeyBody)))]
pub async fn rotate_key(
    State(app): State<App>,
    May(caller, _): May<Keys>,
    Path(key_id): Path<String>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<(StatusCode, Json<NewKeyBody>), Problem> {
    let body = read_body(request, JSON_BYTES_MAX).await?;
    let hours = old_lives_hours(query.as_deref(), &body)?;
    let key_id = key_id.parse()?;
    let old = app.store.key(&caller.workspace_id, &key_id).await?;
    require_no_more_than_own(&caller, old.permissions)?;
    require_within_own_bounds(&app, &caller, &old).await?;
    let old_ends_us = Some(now_us() + hours * 3_600 * 1_000_000).filter(|_| hours > 0);
    let Caller {
        actor,
        workspace_id,
        ..
    } = &caller;
    let issued = keys::rotate(&app.store, actor, workspace_id, &key_id, old_ends_us).await?;
    Ok((StatusCode::CREATED, Json(shown(issued))))
}

/// In the address or in the body. What is not understood is refused: a slip would end the old key at once.
fn old_lives_hours(query: Option<&str>, body: &[u8]) -> Result<i64, Problem> {
    const NAME: &str = "old_lives_hours";
    const HOURS_MAX: i64 = 168;
    let mut query = Query::parse(query);
    let in_address = query.take_integer(NAME, 0..=HOURS_MAX)?;
    query.finish_strictly(&[NAME])?;
    if body.is_empty() {
        return Ok(in_address.unwrap_or(0));
    }
    let mut fields = Fields::parse(body)?;
    let hours = fields.integer(NAME).or(in_address).unwrap_or(0);
    if !(0..=HOURS_MAX).contains(&hours) {
        let (min, max) = (0.0, HOURS_MAX as f64);
        fields.error(NAME, Reason::OutOfRange { min, max });
    }
    fields.finish_strictly(&[NAME])?;
    Ok(hours)
}

/// Revoke a key
#[utoipa::path(delete, path = "/v1/keys/{key_id}", tag = "workspace", operation_id = "revokeKey",
    params(("key_id" = String, Path, description = "As in the list of keys.")),
    responses((status = 204, description = "It is accepted no more.")))]
pub async fn revoke_key(
    State(app): State<App>,
    May(caller, _): May<Keys>,
    Path(key_id): Path<String>,
) -> Result<StatusCode, Problem> {
    let key_id = key_id.parse()?;
    keys::revoke(&app.store, &caller.actor, &caller.workspace_id, &key_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
