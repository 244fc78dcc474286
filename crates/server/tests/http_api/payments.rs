use axum::body::Body;
use axum::http::Request;
use sauti_service::webhooks::signature;
use sauti_store::ids::now_us;
use serde_json::{Value, json};

use crate::support::{Answer, CREDIT_MICRO, World};

const SECRET: &str = "a secret of the bridge";

async fn world() -> World {
    World::with(&[("payments.webhook_secret", SECRET)]).await
}

fn event(world: &World, id: &str) -> Value {
    json!({"event_id": id, "provider": "mpesa", "workspace_id": world.workspace_id,
        "amount_micro": 5_000_000, "currency": "KES"})
}

async fn report(world: &World, body: &Value, seconds: i64, secret: &str) -> Answer {
    let body = body.to_string();
    let signature = signature(secret.as_bytes(), seconds, body.as_bytes());
    let request = Request::post("/v1/payments/events")
        .header("sauti-signature", format!("t={seconds},v1={signature}"));
    world.send(request.body(Body::from(body)).unwrap()).await
}

fn now_s() -> i64 {
    now_us() / 1_000_000
}

#[tokio::test]
async fn a_signed_payment_arrives_once_however_often_it_is_sent() {
    let world = world().await;
    let event = event(&world, "mp-1");
    let first = report(&world, &event, now_s(), SECRET)
        .await
        .assert_ok()
        .json();
    assert_eq!(
        first,
        json!({"status": "applied", "balance_micro": CREDIT_MICRO + 5_000_000})
    );
    let again = report(&world, &event, now_s(), SECRET)
        .await
        .assert_ok()
        .json();
    assert_eq!(again["status"], "duplicate");
    assert_eq!(world.balance_micro().await, CREDIT_MICRO + 5_000_000);
    let mut changed = event.clone();
    changed["amount_micro"] = json!(9_000_000);
    report(&world, &changed, now_s(), SECRET)
        .await
        .assert_problem(409, "conflict");
    world.assert_ledger_is_sound().await;
}

#[tokio::test]
async fn a_wrong_old_or_missing_signature_moves_nothing() {
    let world = world().await;
    let event = event(&world, "mp-2");
    report(&world, &event, now_s(), "another secret")
        .await
        .assert_problem(401, "signature_invalid");
    report(&world, &event, now_s() - 301, SECRET)
        .await
        .assert_problem(401, "signature_invalid");
    report(&world, &event, now_s() + 301, SECRET)
        .await
        .assert_problem(401, "signature_invalid");
    let unsigned = Request::post("/v1/payments/events")
        .body(Body::from(event.to_string()))
        .unwrap();
    world
        .send(unsigned)
        .await
        .assert_problem(401, "signature_invalid");
    assert_eq!(world.balance_micro().await, CREDIT_MICRO);
}

#[tokio::test]
async fn without_a_secret_in_the_settings_payments_are_refused() {
    let world = World::new().await;
    let event = event(&world, "mp-3");
    report(&world, &event, now_s(), "")
        .await
        .assert_problem(401, "signature_invalid");
}

#[tokio::test]
async fn a_payment_in_another_currency_or_for_nobody_is_refused() {
    let world = world().await;
    let mut foreign = event(&world, "mp-4");
    foreign["currency"] = json!("USD");
    let failures = ledger_failures(&world).await;
    let refused = report(&world, &foreign, now_s(), SECRET).await;
    refused.assert_problem(422, "validation_failed");
    let errors = &refused.json()["errors"][0];
    assert_eq!(errors["message"], "currency must be one of: KES.");
    assert_eq!(
        ledger_failures(&world).await,
        failures,
        "operators read it as a full disk"
    );
    let mut nobody = event(&world, "mp-5");
    nobody["workspace_id"] = json!("ws_nobody");
    report(&world, &nobody, now_s(), SECRET)
        .await
        .assert_problem(422, "validation_failed");
    let mut negative = event(&world, "mp-6");
    negative["amount_micro"] = json!(-5);
    report(&world, &negative, now_s(), SECRET)
        .await
        .assert_problem(422, "validation_failed");
    let mut joined = event(&world, "7");
    joined["provider"] = json!("mpesa:mp");
    let refused = report(&world, &joined, now_s(), SECRET).await;
    refused.assert_problem(422, "validation_failed");
    assert_eq!(refused.json()["errors"][0]["field"], "provider");
    let refused = report(&world, &event(&world, " "), now_s(), SECRET).await;
    refused.assert_problem(422, "validation_failed");
    assert_eq!(refused.json()["errors"][0]["field"], "event_id");
}

#[tokio::test]
async fn a_payment_that_a_workspace_cannot_hold_is_refused() {
    let world = world().await;
    let nearly_full = (1 << 53) - CREDIT_MICRO - 1_000_000;
    let store = &world.app.store;
    let credit = store.credit(&world.workspace_id, nearly_full, "test", "nearly full");
    credit.await.unwrap();
    let failures = ledger_failures(&world).await;
    let refused = report(&world, &event(&world, "mp-8"), now_s(), SECRET).await;
    refused.assert_problem(422, "validation_failed");
    let error = &refused.json()["errors"][0];
    assert_eq!(error["field"], "amount_micro");
    assert_eq!(
        error["message"],
        "amount_micro: at most 1000000 can be booked."
    );
    assert_eq!(ledger_failures(&world).await, failures);
    assert_eq!(world.balance_micro().await, (1 << 53) - 1_000_000);
    world.assert_ledger_is_sound().await;
}

async fn ledger_failures(world: &World) -> Vec<String> {
    let metrics = world.get("/metrics").await;
    let text = String::from_utf8(metrics.body.to_vec()).unwrap();
    let lines = text
        .lines()
        .filter(|line| line.starts_with("sauti_ledger_failures_total"));
    // The exporter gives them in no particular order.
    let mut lines: Vec<String> = lines.map(str::to_owned).collect();
    lines.sort();
    lines
}
