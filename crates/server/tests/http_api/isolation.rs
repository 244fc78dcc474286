//! Nobody reaches another workspace: every operation of the OpenAPI document, asked by every kind of caller with the ids of
//! a workspace that is not theirs. An operation that has no rule here fails the test, so that nobody forgets one.

use std::collections::BTreeSet;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request};
use sauti_server::openapi;
use sauti_store::{AccountId, Alphabet, NewKey, Permission, Permissions, Pronunciation, Role};
use sauti_web::csrf::csrf_token;
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::support::{Answer, World};

/// What an outsider must meet.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rule {
    /// Anyone may ask; the answer says nothing of any workspace.
    Open,
    /// It works on the caller's own workspace, whatever else the request names.
    Own,
    /// It is about the caller alone: their account or session.
    Self_,
    /// It names something of the other workspace: refused, and nothing changes.
    Foreign,
    /// It takes a secret that only its owner has: a token from a mail, a signature.
    Secret,
}

use Rule::{Foreign, Open, Own, Secret, Self_};

/// Method, path, rule, and a body that would be right if the caller were.
fn rules() -> Vec<(&'static str, &'static str, Rule, Value)> {
    vec![
        ("GET", "/healthz", Open, Value::Null),
        ("GET", "/metrics", Open, Value::Null),
        ("GET", "/readyz", Open, Value::Null),
        ("GET", "/v1/account", Self_, Value::Null),
        (
            "POST",
            "/v1/account",
            Open,
            json!({"email": "mgeni@example.com", "password": "siri kubwa sana"}),
        ),
        ("POST", "/v1/account/confirm", Secret, json!({"token": "x"})),
        (
            "POST",
            "/v1/account/deletion",
            Secret,
            json!({"password": "si nywila yake"}),
        ),
        (
            "PUT",
            "/v1/account/password-reset",
            Secret,
            json!({"token": "x", "password": "siri kubwa sana"}),
        ),
        (
            "POST",
            "/v1/account/password-reset",
            Open,
            json!({"email": VICTIM_EMAIL}),
        ),
        (
            "POST",
            "/v1/account/session",
            Secret,
            json!({"email": VICTIM_EMAIL, "password": "si nywila yake"}),
        ),
        ("DELETE", "/v1/account/session", Self_, Value::Null),
        (
            "POST",
            "/v1/audio/speech",
            Own,
            json!({"text": "Habari", "voice_id": "asha"}),
        ),
        ("POST", "/v1/audio/transcriptions", Own, Value::Null),
        ("GET", "/v1/audio/transcriptions/live", Own, Value::Null),
        ("GET", "/v1/audit", Own, Value::Null),
        ("GET", "/v1/audit/export", Own, Value::Null),
        ("GET", "/v1/balance", Own, Value::Null),
        (
            "POST",
            "/v1/batches",
            Own,
            json!({"operation": "speech", "items": [{"custom_id": "a", "text": "Habari", "voice_id": "asha"}]}),
        ),
        ("GET", "/v1/batches", Own, Value::Null),
        ("GET", "/v1/batches/{batch_id}", Foreign, Value::Null),
        (
            "POST",
            "/v1/batches/{batch_id}/cancel",
            Foreign,
            Value::Null,
        ),
        (
            "GET",
            "/v1/batches/{batch_id}/results",
            Foreign,
            Value::Null,
        ),
        (
            "GET",
            "/v1/batches/{batch_id}/items/{index}/audio",
            Foreign,
            Value::Null,
        ),
        ("POST", "/v1/invitations", Secret, json!({"token": "x"})),
        ("GET", "/v1/keys", Own, Value::Null),
        (
            "POST",
            "/v1/keys",
            Own,
            json!({"name": "mpya", "permissions": ["voices"]}),
        ),
        ("DELETE", "/v1/keys/{key_id}", Foreign, Value::Null),
        ("POST", "/v1/keys/{key_id}/rotate", Foreign, Value::Null),
        ("GET", "/v1/lexicon", Own, Value::Null),
        ("PUT", "/v1/lexicon/{word}", Own, json!({"said": "mgeni"})),
        ("DELETE", "/v1/lexicon/{word}", Own, Value::Null),
        ("GET", "/v1/limits", Own, Value::Null),
        ("GET", "/v1/models", Own, Value::Null),
        ("GET", "/v1/models/{model}", Own, Value::Null),
        ("POST", "/v1/normalise", Own, json!({"text": "Habari"})),
        (
            "POST",
            "/v1/payments/events",
            Secret,
            json!({"id": "e1", "workspace_id": "{workspace_id}", "amount_micro": 1}),
        ),
        ("POST", "/v1/quotes", Own, json!({"text": "Habari"})),
        ("GET", "/v1/statement", Own, Value::Null),
        ("GET", "/v1/usage", Own, Value::Null),
        ("GET", "/v1/vocabularies", Own, Value::Null),
        ("GET", "/v1/vocabularies/{name}", Own, Value::Null),
        (
            "PUT",
            "/v1/vocabularies/{name}",
            Own,
            json!({"text": "mgeni"}),
        ),
        ("DELETE", "/v1/vocabularies/{name}", Own, Value::Null),
        ("GET", "/v1/voices", Own, Value::Null),
        ("GET", "/v1/voices/{voice_id}", Own, Value::Null),
        ("GET", "/v1/voices/{voice_id}/preview", Own, Value::Null),
        ("GET", "/v1/webhooks", Own, Value::Null),
        (
            "POST",
            "/v1/webhooks",
            Own,
            json!({"url": "https://example.com/mgeni", "events": ["balance.low"]}),
        ),
        ("DELETE", "/v1/webhooks/{webhook_id}", Foreign, Value::Null),
        (
            "PATCH",
            "/v1/workspaces/{workspace_id}",
            Foreign,
            json!({"name": "Nimeiba"}),
        ),
        (
            "POST",
            "/v1/workspaces/{workspace_id}/credits",
            Foreign,
            json!({"amount_micro": 5, "reference": "wizi"}),
        ),
        (
            "POST",
            "/v1/workspaces/{workspace_id}/corrections",
            Foreign,
            json!({"amount_micro": 5, "reference": "wizi", "reason": "wizi"}),
        ),
        (
            "GET",
            "/v1/workspaces/{workspace_id}/members",
            Foreign,
            Value::Null,
        ),
        (
            "POST",
            "/v1/workspaces/{workspace_id}/members",
            Foreign,
            json!({"email": "mgeni@example.com", "role": "member"}),
        ),
        (
            "PUT",
            "/v1/workspaces/{workspace_id}/members/{account_id}",
            Foreign,
            json!({"role": "member"}),
        ),
        (
            "DELETE",
            "/v1/workspaces/{workspace_id}/members/{account_id}",
            Foreign,
            Value::Null,
        ),
    ]
}

const VICTIM_EMAIL: &str = "mtu@example.com";
/// Words that stand only in the victim's workspace; none may ever be in an outsider's answer.
const SECRETS: [&str; 5] = [
    "Ufunguo-wa-siri-7391",
    "neno-la-siri-5512",
    "siri-8841.example.com",
    VICTIM_EMAIL,
    "whsec_",
];

fn operations() -> BTreeSet<(String, String)> {
    let document = serde_json::to_value(openapi::document()).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let methods = |(path, item): (&String, &Value)| {
        let path = path.clone();
        let names: Vec<String> = item.as_object().unwrap().keys().cloned().collect();
        let verbs = ["get", "put", "post", "delete", "patch"];
        let is_verb = move |name: &String| verbs.contains(&name.as_str());
        names
            .into_iter()
            .filter(is_verb)
            .map(move |name| (name.to_uppercase(), path.clone()))
    };
    paths.iter().flat_map(methods).collect()
}

#[test]
fn every_operation_has_a_rule() {
    let ruled: BTreeSet<_> = rules()
        .into_iter()
        .map(|(method, path, ..)| (method.to_owned(), path.to_owned()))
        .collect();
    let there = operations();
    assert!(there.len() > 40, "the document lists {}", there.len());
    let without: Vec<_> = there.difference(&ruled).collect();
    assert!(
        without.is_empty(),
        "say in isolation.rs what an outsider must meet at {without:?}"
    );
    let gone: Vec<_> = ruled.difference(&there).collect();
    assert!(gone.is_empty(), "no such operations any more: {gone:?}");
}

/// The things in the victim's workspace that outsiders are after.
struct Victim {
    key_id: String,
    webhook_id: String,
    batch_id: String,
}

async fn victim(world: &World) -> Victim {
    let (store, workspace_id) = (&world.app.store, &world.workspace_id);
    let named = NewKey {
        name: SECRETS[0].to_owned(),
        ..world.new_key()
    };
    let key_id = store.create_key(named).await.unwrap().info.id;
    let word = Pronunciation {
        word: SECRETS[1].to_owned(),
        spoken: "siri".to_owned(),
        alphabet: Alphabet::Respelling,
    };
    store.set_pronunciation(workspace_id, &word).await.unwrap();
    let url = format!("https://{}/hook", SECRETS[2]);
    let hook = store
        .add_webhook(workspace_id, &url, &["balance.low".to_owned()])
        .await
        .unwrap();
    let order = json!({"operation": "speech", "items": [{"custom_id": "a", "text": "Habari", "voice_id": "asha"}]});
    let batch = world.post("/v1/batches", &order).await.assert_ok().json();
    Victim {
        key_id: key_id.to_string(),
        webhook_id: hook.id.to_string(),
        batch_id: batch["batch_id"].as_str().unwrap().to_owned(),
    }
}

/// Everything of the victim's that could have changed, as text.
async fn state(world: &World) -> String {
    let (store, id) = (&world.app.store, &world.workspace_id);
    let keys = store.list_keys(id).await.unwrap();
    let keys: Vec<_> = keys
        .iter()
        .map(|key| (&key.id, &key.name, key.revoked_us))
        .collect();
    format!(
        "{:?} {keys:?} {:?} {:?} {:?} {:?} {:?}",
        store.workspace(id).await.unwrap(),
        store.members(id).await.unwrap(),
        store.webhooks(id).await.unwrap(),
        store.pronunciations(id).await.unwrap(),
        store.balance(id).await.unwrap().available_micro,
        store.invites(id).await.unwrap(),
    )
}

/// Headers with which an outsider comes.
pub(super) type Caller = (String, Vec<(String, String)>);

/// Keys with every single permission and with all; members of every role; and those who are nobody.
async fn outsiders(world: &World) -> Vec<Caller> {
    let store = &world.app.store;
    let owner = store
        .create_account("jirani@example.com", "not a hash", "Jirani")
        .await
        .unwrap();
    store.confirm_account_by_id(&owner.id).await.unwrap();
    let theirs = store
        .create_workspace(Some(&owner.id), "Jirani", "KES")
        .await
        .unwrap();
    store
        .credit(&theirs.id, 50_000_000, "test", "second")
        .await
        .unwrap();
    let mut callers: Vec<Caller> = vec![
        ("nobody".to_owned(), vec![]),
        ("a made-up key".to_owned(), vec![bearer("sauti_test_x_y")]),
        (
            "a made-up session".to_owned(),
            vec![("cookie".to_owned(), "sauti_session=abc".to_owned())],
        ),
    ];
    let mut permissions: Vec<Permissions> = Permission::ALL
        .into_iter()
        .map(|one| [one].into_iter().collect())
        .collect();
    permissions.push(Permissions::all());
    for held in permissions {
        let new = NewKey {
            workspace_id: theirs.id.clone(),
            permissions: held,
            created_by: owner.id.to_string(),
            ..world.new_key()
        };
        callers.push((
            format!("a key for {held:?}"),
            vec![bearer(&world.make_key(new).await)],
        ));
    }
    let roles = [
        ("owner", Role::Owner),
        ("admin", Role::Admin),
        ("member", Role::Member),
    ];
    for (name, role) in roles {
        let account = store
            .create_account(&format!("{name}@jirani.example"), "not a hash", name)
            .await
            .unwrap();
        store.confirm_account_by_id(&account.id).await.unwrap();
        store
            .add_member(&theirs.id, &account.id, role)
            .await
            .unwrap();
        callers.extend(sessions(world, name, &account.id).await);
    }
    let account = store
        .create_account("mpya@jirani.example", "not a hash", "Mpya")
        .await
        .unwrap();
    callers.extend(sessions(world, "unconfirmed", &account.id).await);
    callers
}

fn bearer(key: &str) -> (String, String) {
    ("authorization".to_owned(), format!("Bearer {key}"))
}

/// A session as it is, one that names the victim's workspace in the header, and one that does so in the cookie.
pub(super) async fn sessions(world: &World, name: &str, account_id: &AccountId) -> Vec<Caller> {
    let mut callers = Vec::new();
    for way in ["plain", "header", "cookie"] {
        let issued = world
            .app
            .store
            .create_session(account_id, Duration::from_secs(600), "test")
            .await
            .unwrap();
        let token = issued.token.expose_secret();
        let mut cookie = format!("sauti_session={token}");
        let mut headers = vec![("x-csrf-token".to_owned(), csrf_token(token))];
        match way {
            "header" => {
                headers.push(("sauti-workspace".to_owned(), world.workspace_id.to_string()))
            }
            "cookie" => cookie += &format!("; sauti_workspace={}", world.workspace_id),
            _ => {}
        }
        headers.push(("cookie".to_owned(), cookie));
        callers.push((format!("a session of the {name}, {way}"), headers));
    }
    callers
}

pub(super) async fn ask(
    world: &World,
    method: &str,
    path: &str,
    body: &Value,
    headers: &[(String, String)],
) -> Answer {
    let mut request = Request::builder()
        .method(method.parse::<Method>().unwrap())
        .uri(path);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    if !body.is_null() {
        request = request.header("content-type", "application/json");
    }
    let body = if body.is_null() {
        Body::empty()
    } else {
        Body::from(body.to_string())
    };
    world.send(request.body(body).unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn no_caller_reads_or_changes_another_workspace_by_any_operation() {
    let world = World::with(&[
        ("limits.requests_per_minute", "100000"),
        ("limits.signups_per_hour", "100000"),
        ("limits.sign_in_failures_max", "100000"),
    ])
    .await;
    let victim = victim(&world).await;
    // The owner is shown what outsiders must not see: the search below can find it.
    for (path, secret) in ["/v1/keys", "/v1/lexicon", "/v1/webhooks"]
        .into_iter()
        .zip(SECRETS)
    {
        assert!(
            String::from_utf8_lossy(&world.get(path).await.body).contains(secret),
            "{path}"
        );
    }
    let callers = outsiders(&world).await;
    let before = state(&world).await;
    let fill = |text: &str| {
        text.replace("{workspace_id}", &world.workspace_id)
            .replace("{key_id}", &victim.key_id)
            .replace("{webhook_id}", &victim.webhook_id)
            .replace("{account_id}", &world.account_id)
            .replace("{word}", SECRETS[1])
            .replace("{batch_id}", &victim.batch_id)
            .replace("{index}", "0")
            .replace("{voice_id}", "asha")
            .replace("{model}", "sauti-speech")
    };
    let mut asked = 0;
    for (method, path, rule, body) in rules() {
        let body: Value = serde_json::from_str(&fill(&body.to_string())).unwrap();
        for (who, headers) in &callers {
            let ends_session = method == "DELETE" && path == "/v1/account/session";
            if ends_session && !who.contains("made-up") && who != "nobody" {
                continue;
            }
            let answer = ask(&world, method, &fill(path), &body, headers).await;
            asked += 1;
            let at = format!(
                "{method} {path} as {who}: {} {}",
                answer.status,
                String::from_utf8_lossy(&answer.body)
            );
            judge(rule, who, &answer, &at);
        }
    }
    assert!(asked > 700, "{asked} requests");
    let batch = world.get(&fill("/v1/batches/{batch_id}")).await.json();
    assert_eq!(batch["status"], "running", "{batch}");
    assert_eq!(
        state(&world).await,
        before,
        "something of the victim's was changed"
    );
    assert!(world.app.store.check().await.unwrap().is_clean());
}

fn judge(rule: Rule, who: &str, answer: &Answer, at: &str) {
    let text = String::from_utf8_lossy(&answer.body);
    // The models are not loaded in this test, which is no fault of the isolation.
    let warming = answer.status == 503 && text.contains("warming_up");
    assert!(answer.status.as_u16() < 500 || warming, "{at}");
    for secret in SECRETS {
        // A caller may be told the word or address that it named itself, in `instance` or `detail`; never the key's name.
        let named = text.contains(secret) && at.contains("{word}");
        // Whoever makes a webhook is shown its own new secret.
        let own_hook = secret == "whsec_" && at.starts_with("POST /v1/webhooks");
        assert!(
            !text.contains(secret) || named || own_hook,
            "{secret} is told: {at}"
        );
    }
    let stranger = who == "nobody" || who.contains("made-up");
    match rule {
        Foreign | Secret => assert!(answer.status.is_client_error(), "{at}"),
        Own | Self_ if stranger => assert_eq!(answer.status, 401, "{at}"),
        Own | Self_ | Open => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_can_be_guessed_only_a_few_times_from_one_address() {
    let world = World::with(&[("limits.sign_in_failures_max", "3")]).await;
    let guesses = [
        ("POST", "/v1/account/confirm", json!({"token": "x"})),
        (
            "PUT",
            "/v1/account/password-reset",
            json!({"token": "x", "password": "siri kubwa sana"}),
        ),
        ("POST", "/v1/account/confirm", json!({"token": "y"})),
    ];
    for (method, path, body) in &guesses {
        ask(&world, method, path, body, &[])
            .await
            .assert_problem(404, "not_found");
    }
    for (method, path, body) in &guesses {
        let refused = ask(&world, method, path, body, &[]).await;
        refused.assert_problem(429, "rate_limited");
        assert!(!refused.header("retry-after").is_empty());
    }
}
