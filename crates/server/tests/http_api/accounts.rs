use axum::body::Body;
use axum::http::{Method, Request};
use sauti_store::AuditQuery;
use serde_json::{Value, json};

use crate::support::{Answer, CREDIT_MICRO, World};

pub const EMAIL: &str = "amina@example.com";
pub const PASSWORD: &str = "siri kubwa sana";

pub async fn send(
    world: &World,
    method: Method,
    path: &str,
    body: &Value,
    headers: &[(&str, &str)],
) -> Answer {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    world
        .send(request.body(Body::from(body.to_string())).unwrap())
        .await
}

pub async fn post(world: &World, path: &str, body: Value) -> Answer {
    send(world, Method::POST, path, &body, &[]).await
}

/// The newest letter to this address, once it is written.
pub async fn letter_to(world: &World, email: &str, count: usize) -> String {
    let outbox = world.dir.path().join("data/outbox");
    for _ in 0..500 {
        let mut letters: Vec<String> = std::fs::read_dir(&outbox)
            .into_iter()
            .flatten()
            .filter_map(|file| std::fs::read_to_string(file.ok()?.path()).ok())
            .filter(|letter| letter.contains(&format!("To: {email}")))
            .collect();
        if letters.len() >= count {
            letters.sort_by_key(|letter| letter.len());
            return letters.concat();
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("no letter to {email}");
}

pub fn token_in(letter: &str) -> String {
    let start = letter.find("token=").unwrap() + "token=".len();
    letter[start..]
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect()
}

pub async fn signed_up(world: &World) {
    let answer = post(
        world,
        "/v1/account",
        json!({"email": EMAIL, "password": PASSWORD, "name": "Amina"}),
    )
    .await;
    answer.assert_status(202);
}

/// Somebody with a session.
pub struct Member {
    cookie: String,
    csrf: String,
}

impl Member {
    async fn signed_in(world: &World) -> Member {
        let credentials = json!({"email": EMAIL, "password": PASSWORD});
        let answer = post(world, "/v1/account/session", credentials).await;
        let cookie = answer.assert_ok().header("set-cookie");
        assert!(
            cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"),
            "{cookie}"
        );
        Member {
            cookie: cookie.split(';').next().unwrap().to_owned(),
            csrf: answer.json()["csrf_token"].as_str().unwrap().to_owned(),
        }
    }

    /// From the first visit to a session with a confirmed account.
    pub async fn confirmed(world: &World) -> Member {
        signed_up(world).await;
        let token = token_in(&letter_to(world, EMAIL, 1).await);
        post(world, "/v1/account/confirm", json!({"token": token}))
            .await
            .assert_ok();
        Member::signed_in(world).await
    }

    async fn send(&self, world: &World, method: Method, path: &str, body: &Value) -> Answer {
        let headers = [
            ("cookie", self.cookie.as_str()),
            ("x-csrf-token", self.csrf.as_str()),
        ];
        send(world, method, path, body, &headers).await
    }

    async fn get(&self, world: &World, path: &str) -> Answer {
        self.send(world, Method::GET, path, &json!({})).await
    }

    pub async fn post(&self, world: &World, path: &str, body: &Value) -> Answer {
        self.send(world, Method::POST, path, body).await
    }

    /// What the account says of itself, and the id of its own workspace.
    async fn account(&self, world: &World) -> (Value, String) {
        let account = self.get(world, "/v1/account").await.assert_ok().json();
        let id = account["workspaces"][0]["workspace_id"].as_str().unwrap();
        let id = id.to_owned();
        (account, id)
    }
}

#[tokio::test]
async fn only_an_address_can_be_invited_as_only_an_address_can_sign_up() {
    let world = World::new().await;
    let member = Member::confirmed(&world).await;
    let (_, workspace_id) = member.account(&world).await;
    let members = format!("/v1/workspaces/{workspace_id}/members");
    for email in [
        "",
        "amina",
        "@example.com",
        "amina@",
        "a b@example.com",
        "a@b@c",
        "a@.b",
        "x<asha@example.com>",
    ] {
        let invited = json!({"email": email, "role": "member"});
        let answer = member.post(&world, &members, &invited).await;
        answer.assert_problem(422, "validation_failed");
        let stranger = json!({"email": email, "password": PASSWORD, "name": "Juma"});
        let answer = post(&world, "/v1/account", stranger).await;
        answer.assert_problem(422, "validation_failed");
    }
    let listed = member.get(&world, &members).await.assert_ok().json();
    assert_eq!(listed["invites"], json!([]));
    // The letter goes to the address as it was understood.
    let invited = json!({"email": " Juma@Example.com ", "role": "member"});
    let answer = member.post(&world, &members, &invited).await;
    answer.assert_status(202);
    letter_to(&world, "juma@example.com", 1).await;
}

#[tokio::test]
async fn a_stranger_becomes_a_member_who_can_work() {
    let world = World::new().await;
    signed_up(&world).await;
    let token = token_in(&letter_to(&world, EMAIL, 1).await);
    let member = Member::signed_in(&world).await;
    let (me, _) = member.account(&world).await;
    assert_eq!(me["confirmed"], false);
    assert_eq!(me["workspaces"][0]["role"], "owner");
    let balance = member.get(&world, "/v1/balance").await;
    balance.assert_problem(403, "account_unconfirmed");

    let confirmation = json!({"token": token});
    post(&world, "/v1/account/confirm", confirmation.clone())
        .await
        .assert_status(204);
    post(&world, "/v1/account/confirm", confirmation)
        .await
        .assert_problem(404, "not_found");
    let balance = member.get(&world, "/v1/balance").await;
    let welcome_micro = world.app.config.signup.welcome_credit_micro;
    assert_eq!(balance.assert_ok().json()["available_micro"], welcome_micro);

    let quote = json!({"text": "Habari"});
    let cookie_alone = [("cookie", member.cookie.as_str())];
    let forged = send(&world, Method::POST, "/v1/quotes", &quote, &cookie_alone).await;
    forged.assert_problem(403, "csrf_failed");
    member.post(&world, "/v1/quotes", &quote).await.assert_ok();

    let out = member
        .send(&world, Method::DELETE, "/v1/account/session", &json!({}))
        .await;
    out.assert_status(204);
    let after = member.get(&world, "/v1/account").await;
    after.assert_problem(401, "session_missing");
}

#[tokio::test]
async fn signing_up_twice_is_told_only_by_mail() {
    let world = World::new().await;
    signed_up(&world).await;
    signed_up(&world).await;
    let letters = letter_to(&world, EMAIL, 2).await;
    assert!(letters.contains("sign-in"), "{letters}");
}

#[tokio::test]
async fn a_wrong_password_and_a_wrong_address_sound_the_same_until_there_are_too_many() {
    let world = World::with(&[("limits.sign_in_failures_max", "3")]).await;
    signed_up(&world).await;
    let wrong = json!({"email": EMAIL, "password": "si hii kabisa"});
    let nobody = json!({"email": "nobody@example.com", "password": "si hii kabisa"});
    let first = post(&world, "/v1/account/session", wrong.clone()).await;
    let second = post(&world, "/v1/account/session", nobody).await;
    let (first, second) = (
        first.assert_problem(401, "credentials_wrong"),
        second.assert_problem(401, "credentials_wrong"),
    );
    assert_eq!(first["detail"], second["detail"]);
    post(&world, "/v1/account/session", wrong.clone())
        .await
        .assert_problem(401, "credentials_wrong");
    let paused = post(&world, "/v1/account/session", wrong).await;
    paused.assert_problem(429, "rate_limited");
    assert!(paused.header("retry-after").parse::<u64>().unwrap() > 0);
}

#[tokio::test]
async fn a_forgotten_password_is_set_anew_by_mail_and_ends_every_session() {
    let world = World::new().await;
    signed_up(&world).await;
    letter_to(&world, EMAIL, 1).await;
    let member = Member::signed_in(&world).await;
    for email in [EMAIL, "nobody@example.com"] {
        let answer = post(
            &world,
            "/v1/account/password-reset",
            json!({"email": email}),
        )
        .await;
        answer.assert_status(202);
    }
    let letters = letter_to(&world, EMAIL, 2).await;
    let token = token_in(&letters[letters.find("/console/reset").unwrap()..]);
    let short = send(
        &world,
        Method::PUT,
        "/v1/account/password-reset",
        &json!({"token": token, "password": "fupi"}),
        &[],
    )
    .await;
    short.assert_problem(422, "validation_failed");
    let body = json!({"token": token, "password": "nyingine kubwa sana"});
    let done = send(
        &world,
        Method::PUT,
        "/v1/account/password-reset",
        &body,
        &[],
    )
    .await;
    done.assert_status(204);
    let after = member.get(&world, "/v1/account").await;
    after.assert_problem(401, "session_missing");
    post(
        &world,
        "/v1/account/session",
        json!({"email": EMAIL, "password": PASSWORD}),
    )
    .await
    .assert_problem(401, "credentials_wrong");
    post(
        &world,
        "/v1/account/session",
        json!({"email": EMAIL, "password": "nyingine kubwa sana"}),
    )
    .await
    .assert_ok();
}

#[tokio::test]
async fn members_are_invited_and_roles_hold() {
    let world = World::new().await;
    let member = Member::confirmed(&world).await;
    let (me, workspace_id) = member.account(&world).await;
    let members = format!("/v1/workspaces/{workspace_id}/members");

    let invitation = json!({"email": "juma@example.com", "role": "member"});
    let invited = member.post(&world, &members, &invitation).await;
    invited.assert_status(202);
    letter_to(&world, "juma@example.com", 1).await;
    let listed = member.get(&world, &members).await.assert_ok().json();
    assert_eq!(listed["invites"].as_array().unwrap().len(), 1);

    let foreign = format!("/v1/workspaces/{}/members", world.workspace_id);
    let listed = member.get(&world, &foreign).await;
    listed.assert_problem(404, "not_found");
    let my_id = me["account_id"].as_str().unwrap();
    let nowhere = "/v1/workspaces/ws_00000000000000000000000000/members";
    let [somewhere, nowhere] = [foreign.as_str(), nowhere].map(async |members| {
        let path = format!("{members}/{my_id}");
        let left = member.send(&world, Method::DELETE, &path, &json!({})).await;
        left.assert_problem(404, "not_found")["detail"].clone()
    });
    assert_eq!(somewhere.await, nowhere.await, "whether it exists");

    let audit = AuditQuery {
        workspace_id: Some(workspace_id.parse().unwrap()),
        limit: 1,
        ..AuditQuery::default()
    };
    let trail = world.app.store.audit_list(&audit).await.unwrap();
    let (action, role) = (trail[0].action.as_str(), trail[0].detail.as_str());
    assert_eq!((action, role), ("member.invited", "member"));
    let own = format!("{members}/{my_id}");
    let last_owner = member
        .send(&world, Method::PUT, &own, &json!({"role": "member"}))
        .await;
    assert!(
        last_owner.status.is_client_error(),
        "the last owner stays one"
    );
}

#[tokio::test]
async fn whoever_has_proven_no_address_sends_no_invitations() {
    let world = World::new().await;
    signed_up(&world).await;
    letter_to(&world, EMAIL, 1).await;
    let member = Member::signed_in(&world).await;
    let (_, id) = member.account(&world).await;
    let invitation = json!({"email": "juma@example.com", "role": "member"});
    let path = format!("/v1/workspaces/{id}/members");
    let refused = member.post(&world, &path, &invitation).await;
    refused.assert_problem(403, "account_unconfirmed");
    assert_eq!(
        world.app.store.invites(&id.parse().unwrap()).await.unwrap(),
        []
    );
}

#[tokio::test]
async fn invitations_are_limited_for_an_account_and_for_a_receiver() {
    let world = World::with(&[("limits.signups_per_hour", "2")]).await;
    let member = Member::confirmed(&world).await;
    let (_, id) = member.account(&world).await;
    let path = format!("/v1/workspaces/{id}/members");
    let invite = async |email: &str| {
        let invitation = json!({"email": email, "role": "member"});
        let answer = member.post(&world, &path, &invitation).await;
        answer.status.as_u16()
    };
    let mut answers = Vec::new();
    for number in 0..4 {
        answers.push(invite(&format!("n{number}@example.com")).await);
    }
    assert_eq!(answers, [202, 202, 429, 429]);
    assert_eq!(
        world
            .app
            .store
            .invites(&id.parse().unwrap())
            .await
            .unwrap()
            .len(),
        2
    );
}

#[tokio::test]
async fn strangers_cannot_sign_up_where_that_is_closed() {
    let world = World::with(&[("signup.open", "false")]).await;
    let answer = post(
        &world,
        "/v1/account",
        json!({"email": EMAIL, "password": PASSWORD}),
    )
    .await;
    answer.assert_problem(403, "role_missing");
}

#[tokio::test]
async fn an_operator_puts_money_in_and_nobody_else_does() {
    let world = World::new().await;
    let member = Member::confirmed(&world).await;
    let path = format!("/v1/workspaces/{}/credits", world.workspace_id);
    let body = json!({"amount_micro": 1_000_000, "reference": "receipt 7"});
    let refused = member.post(&world, &path, &body).await;
    refused.assert_problem(403, "role_missing");
    let detail = &refused.json()["detail"];
    assert_eq!(detail, "Only an operator of this service may do this.");
    let store = &world.app.store;
    let account = store.account_by_email(EMAIL).await.unwrap().unwrap();
    store.set_operator(&account.id, true).await.unwrap();
    for applied in [true, false] {
        let answer = member.post(&world, &path, &body).await.assert_ok().json();
        assert_eq!(
            answer,
            json!({"applied": applied, "balance_micro": CREDIT_MICRO + 1_000_000})
        );
    }
    let nobody = "/v1/workspaces/ws_x/credits";
    let nobody = member.post(&world, nobody, &body).await;
    nobody.assert_problem(404, "not_found");
}

#[tokio::test]
async fn a_member_who_may_not_make_keys_is_told_of_the_role_and_not_of_a_key() {
    let world = World::new().await;
    let member = Member::confirmed(&world).await;
    let store = &world.app.store;
    let account = store.account_by_email(EMAIL).await.unwrap().unwrap();
    let role = sauti_store::Role::Member;
    let added = store.add_member(&world.workspace_id, &account.id, role);
    added.await.unwrap();
    let headers = [
        ("cookie", member.cookie.as_str()),
        ("x-csrf-token", member.csrf.as_str()),
        ("sauti-workspace", world.workspace_id.as_str()),
    ];
    let asked = json!({"name": "x", "permissions": ["speech"]});
    let refused = send(&world, Method::POST, "/v1/keys", &asked, &headers).await;
    refused.assert_problem(403, "role_missing");
}

#[tokio::test]
async fn an_operator_has_a_confirmed_account() {
    let world = World::new().await;
    signed_up(&world).await;
    letter_to(&world, EMAIL, 1).await;
    let member = Member::signed_in(&world).await;
    let store = &world.app.store;
    let account = store.account_by_email(EMAIL).await.unwrap().unwrap();
    store.set_operator(&account.id, true).await.unwrap();
    let path = format!("/v1/workspaces/{}/credits", world.workspace_id);
    let body = json!({"amount_micro": 1_000_000, "reference": "receipt 7"});
    let refused = member.post(&world, &path, &body).await;
    refused.assert_problem(403, "account_unconfirmed");
}

#[tokio::test]
async fn an_operator_takes_back_what_was_put_in_by_mistake_and_the_trail_says_why() {
    let world = World::new().await;
    let member = Member::confirmed(&world).await;
    let path = format!("/v1/workspaces/{}/corrections", world.workspace_id);
    let body =
        json!({"amount_micro": 1_000_000, "reference": "receipt 7", "reason": "booked twice"});
    let refused = member.post(&world, &path, &body).await;
    refused.assert_problem(403, "role_missing");
    let store = &world.app.store;
    let account = store.account_by_email(EMAIL).await.unwrap().unwrap();
    store.set_operator(&account.id, true).await.unwrap();
    for applied in [true, false] {
        let answer = member.post(&world, &path, &body).await.assert_ok().json();
        assert_eq!(
            answer,
            json!({"applied": applied, "balance_micro": CREDIT_MICRO - 1_000_000})
        );
    }
    let too_much = json!({"amount_micro": CREDIT_MICRO, "reference": "8", "reason": "x"});
    let too_much = member.post(&world, &path, &too_much).await;
    too_much.assert_problem(402, "balance_insufficient");
    let trail = world.get("/v1/audit?limit=1").await.assert_ok().json();
    assert_eq!(trail["entries"][0]["action"], "workspace.corrected");
    assert_eq!(trail["entries"][0]["detail"], "receipt 7: booked twice");
    world.assert_ledger_is_sound().await;
}

#[tokio::test]
async fn a_change_of_a_field_that_does_not_exist_is_not_told_as_done() {
    let world = World::new().await;
    let member = Member::confirmed(&world).await;
    let (_, id) = member.account(&world).await;
    let path = format!("/v1/workspaces/{id}");
    for wrong in [
        json!({"currency": "USD"}),
        json!({"name": "Benki", "colour": "red"}),
    ] {
        let answer = member.send(&world, Method::PATCH, &path, &wrong).await;
        let problem = answer.assert_problem(422, "validation_failed");
        assert_eq!(problem["errors"][0]["code"], "unknown_field");
    }
    let negative = json!({"name": "Benki", "low_balance_micro": -5});
    let answer = member.send(&world, Method::PATCH, &path, &negative).await;
    let problem = answer.assert_problem(422, "validation_failed");
    assert_eq!(problem["errors"][0]["field"], "low_balance_micro");
    let workspace = world
        .app
        .store
        .workspace(&id.parse().unwrap())
        .await
        .unwrap();
    assert_eq!(workspace.name, "Amina");
}

#[tokio::test]
async fn an_admin_names_the_workspace_and_sets_its_low_mark() {
    let world = World::new().await;
    let member = Member::confirmed(&world).await;
    let (_, id) = member.account(&world).await;
    let change = json!({"name": "Benki", "low_balance_micro": 5_000_000});
    let patch = async |id: &str| {
        let path = format!("/v1/workspaces/{id}");
        member.send(&world, Method::PATCH, &path, &change).await
    };
    patch(&id).await.assert_status(204);
    let workspace = world
        .app
        .store
        .workspace(&id.parse().unwrap())
        .await
        .unwrap();
    assert_eq!(
        (workspace.name.as_str(), workspace.low_balance_micro),
        ("Benki", Some(5_000_000))
    );
    let foreign = patch(&world.workspace_id).await;
    foreign.assert_problem(404, "not_found");
}
