use axum::body::Body;
use axum::http::{Method, Request};
use serde_json::{Value, json};

use crate::support::{Answer, World};

const EMAIL: &str = "amina@example.com";
const PASSWORD: &str = "siri kubwa sana";

async fn send(
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

async fn post(world: &World, path: &str, body: Value) -> Answer {
    send(world, Method::POST, path, &body, &[]).await
}

/// The newest letter to this address, once it is written.
async fn letter_to(world: &World, email: &str, count: usize) -> String {
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

fn token_in(letter: &str) -> String {
    // Quoted-printable breaks long lines with a trailing "=" and writes "=" as "=3D".
    let plain = letter.replace("=\r\n", "").replace("=3D", "=");
    let start = plain.find("token=").unwrap() + "token=".len();
    plain[start..]
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect()
}

async fn signed_up(world: &World) {
    let answer = post(
        world,
        "/v1/account",
        json!({"email": EMAIL, "password": PASSWORD, "name": "Amina"}),
    )
    .await;
    assert_eq!(
        answer.status.as_u16(),
        202,
        "{}",
        String::from_utf8_lossy(&answer.body)
    );
}

async fn signed_in(world: &World) -> (String, String) {
    let answer = post(
        world,
        "/v1/account/session",
        json!({"email": EMAIL, "password": PASSWORD}),
    )
    .await;
    let cookie = answer.assert_ok().header("set-cookie").to_owned();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"),
        "{cookie}"
    );
    let csrf = answer.json()["csrf_token"].as_str().unwrap().to_owned();
    (cookie.split(';').next().unwrap().to_owned(), csrf)
}

#[tokio::test]
async fn a_stranger_becomes_a_member_who_can_work() {
    let world = World::new().await;
    signed_up(&world).await;
    let token = token_in(&letter_to(&world, EMAIL, 1).await);
    let (cookie, csrf) = signed_in(&world).await;
    let me = send(
        &world,
        Method::GET,
        "/v1/account",
        &json!({}),
        &[("cookie", &cookie)],
    )
    .await
    .assert_ok()
    .json();
    assert_eq!(me["confirmed"], false);
    assert_eq!(me["workspaces"][0]["role"], "owner");
    let balance = send(
        &world,
        Method::GET,
        "/v1/balance",
        &json!({}),
        &[("cookie", &cookie)],
    )
    .await;
    balance.assert_problem(403, "account_unconfirmed");

    assert_eq!(
        post(&world, "/v1/account/confirm", json!({"token": token}))
            .await
            .status
            .as_u16(),
        204
    );
    post(&world, "/v1/account/confirm", json!({"token": token}))
        .await
        .assert_problem(404, "not_found");
    let balance = send(
        &world,
        Method::GET,
        "/v1/balance",
        &json!({}),
        &[("cookie", &cookie)],
    )
    .await;
    assert_eq!(balance.assert_ok().json()["available_micro"], 0);

    let quote = json!({"text": "Habari"});
    let forged = send(
        &world,
        Method::POST,
        "/v1/quotes",
        &quote,
        &[("cookie", &cookie)],
    )
    .await;
    forged.assert_problem(403, "csrf_failed");
    let headers = [("cookie", cookie.as_str()), ("x-csrf-token", csrf.as_str())];
    send(&world, Method::POST, "/v1/quotes", &quote, &headers)
        .await
        .assert_ok();

    let out = send(
        &world,
        Method::DELETE,
        "/v1/account/session",
        &json!({}),
        &headers,
    )
    .await;
    assert_eq!(out.status.as_u16(), 204);
    let after = send(
        &world,
        Method::GET,
        "/v1/account",
        &json!({}),
        &[("cookie", &cookie)],
    )
    .await;
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
    let (cookie, _) = signed_in(&world).await;
    for email in [EMAIL, "nobody@example.com"] {
        let answer = post(
            &world,
            "/v1/account/password-reset",
            json!({"email": email}),
        )
        .await;
        assert_eq!(answer.status.as_u16(), 202);
    }
    let letters = letter_to(&world, EMAIL, 2)
        .await
        .replace("=\r\n", "")
        .replace("=3D", "=");
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
    assert_eq!(
        done.status.as_u16(),
        204,
        "{}",
        String::from_utf8_lossy(&done.body)
    );
    let after = send(
        &world,
        Method::GET,
        "/v1/account",
        &json!({}),
        &[("cookie", &cookie)],
    )
    .await;
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
    signed_up(&world).await;
    let token = token_in(&letter_to(&world, EMAIL, 1).await);
    post(&world, "/v1/account/confirm", json!({"token": token}))
        .await
        .assert_ok();
    let (cookie, csrf) = signed_in(&world).await;
    let headers = [("cookie", cookie.as_str()), ("x-csrf-token", csrf.as_str())];
    let me = send(&world, Method::GET, "/v1/account", &json!({}), &headers)
        .await
        .json();
    let members = format!(
        "/v1/workspaces/{}/members",
        me["workspaces"][0]["workspace_id"].as_str().unwrap()
    );

    let invited = send(
        &world,
        Method::POST,
        &members,
        &json!({"email": "juma@example.com", "role": "member"}),
        &headers,
    )
    .await;
    assert_eq!(
        invited.status.as_u16(),
        202,
        "{}",
        String::from_utf8_lossy(&invited.body)
    );
    letter_to(&world, "juma@example.com", 1).await;
    let listed = send(&world, Method::GET, &members, &json!({}), &headers)
        .await
        .assert_ok()
        .json();
    assert_eq!(listed["invites"].as_array().unwrap().len(), 1);

    let foreign = format!("/v1/workspaces/{}/members", world.workspace_id);
    send(&world, Method::GET, &foreign, &json!({}), &headers)
        .await
        .assert_problem(404, "not_found");
    let own = format!("{members}/{}", me["account_id"].as_str().unwrap());
    let last_owner = send(
        &world,
        Method::PUT,
        &own,
        &json!({"role": "member"}),
        &headers,
    )
    .await;
    assert!(
        last_owner.status.is_client_error(),
        "the last owner stays one"
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
    signed_up(&world).await;
    let token = token_in(&letter_to(&world, EMAIL, 1).await);
    post(&world, "/v1/account/confirm", json!({"token": token}))
        .await
        .assert_ok();
    let (cookie, csrf) = signed_in(&world).await;
    let headers = [("cookie", cookie.as_str()), ("x-csrf-token", csrf.as_str())];
    let path = format!("/v1/workspaces/{}/credits", world.workspace_id);
    let body = json!({"amount_micro": 1_000_000, "reference": "receipt 7"});
    send(&world, Method::POST, &path, &body, &headers)
        .await
        .assert_problem(403, "role_missing");
    let account = world
        .app
        .store
        .account_by_email(EMAIL)
        .await
        .unwrap()
        .unwrap();
    world
        .app
        .store
        .set_operator(&account.id, true)
        .await
        .unwrap();
    for applied in [true, false] {
        let answer = send(&world, Method::POST, &path, &body, &headers)
            .await
            .assert_ok()
            .json();
        assert_eq!(
            answer,
            json!({"applied": applied, "balance_micro": crate::support::CREDIT_MICRO + 1_000_000})
        );
    }
    let nobody = send(
        &world,
        Method::POST,
        "/v1/workspaces/ws_x/credits",
        &body,
        &headers,
    )
    .await;
    nobody.assert_problem(404, "not_found");
}

#[tokio::test]
async fn an_admin_names_the_workspace_and_sets_its_low_mark() {
    let world = World::new().await;
    signed_up(&world).await;
    let token = token_in(&letter_to(&world, EMAIL, 1).await);
    post(&world, "/v1/account/confirm", json!({"token": token}))
        .await
        .assert_ok();
    let (cookie, csrf) = signed_in(&world).await;
    let headers = [("cookie", cookie.as_str()), ("x-csrf-token", csrf.as_str())];
    let me = send(&world, Method::GET, "/v1/account", &json!({}), &headers)
        .await
        .json();
    let id = me["workspaces"][0]["workspace_id"].as_str().unwrap();
    let change = json!({"name": "Benki", "low_balance_micro": 5_000_000});
    let answer = send(
        &world,
        Method::PATCH,
        &format!("/v1/workspaces/{id}"),
        &change,
        &headers,
    )
    .await;
    assert_eq!(
        answer.status.as_u16(),
        204,
        "{}",
        String::from_utf8_lossy(&answer.body)
    );
    let workspace = world.app.store.workspace(id).await.unwrap();
    assert_eq!(
        (workspace.name.as_str(), workspace.low_balance_micro),
        ("Benki", Some(5_000_000))
    );
    let foreign = format!("/v1/workspaces/{}", world.workspace_id);
    send(&world, Method::PATCH, &foreign, &change, &headers)
        .await
        .assert_problem(404, "not_found");
}
