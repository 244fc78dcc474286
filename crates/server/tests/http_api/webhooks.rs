use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Request};
use axum::routing::post;
use sauti_server::background::Background;
use sauti_service::webhooks::signature;
use sauti_store::ids::now_us;
use sauti_store::{ClaimQuota, DeliveryFailure, Standing};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::support::World;

const SECRET: &str = "a secret of the bridge";

/// A workspace's own server: passes on what it gets.
pub async fn receiver() -> (String, mpsc::UnboundedReceiver<(HeaderMap, Bytes)>) {
    let (sender, received) = mpsc::unbounded_channel();
    let router = Router::new().route(
        "/hook",
        post(move |headers: HeaderMap, body: Bytes| async move {
            sender.send((headers, body)).ok();
        }),
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, received)
}

async fn pay(world: &World) {
    let body = json!({"event_id": "mp-1", "provider": "mpesa", "workspace_id": world.workspace_id,
        "amount_micro": 5_000_000, "currency": "KES"})
    .to_string();
    let seconds = now_us() / 1_000_000;
    let signed = signature(SECRET.as_bytes(), seconds, body.as_bytes());
    let request = Request::post("/v1/payments/events")
        .header("sauti-signature", format!("t={seconds},v1={signed}"))
        .body(axum::body::Body::from(body));
    world.send(request.unwrap()).await.assert_ok();
}

#[tokio::test]
async fn an_address_in_a_private_network_is_refused_at_once() {
    let world = World::new().await;
    for url in [
        "http://127.0.0.1:9/x",
        "https://192.168.1.7/x",
        "http://localhost/x",
    ] {
        let asked = json!({"url": url});
        let swahili = [("accept-language", "sw")];
        let refused = world.post_with("/v1/webhooks", &asked, &swahili).await;
        let problem = refused.assert_problem(422, "validation_failed");
        assert_eq!(problem["errors"][0]["code"], "private_address", "{url}");
        assert!(
            problem["detail"]
                .as_str()
                .unwrap()
                .contains("mtandao wa ndani")
        );
    }
    assert_eq!(
        world.get("/v1/webhooks").await.json()["webhooks"],
        json!([])
    );
}

#[tokio::test]
async fn a_payment_is_told_to_the_workspaces_own_server_signed() {
    let settings = [
        ("payments.webhook_secret", SECRET),
        ("webhooks.allow_private_addresses", "true"),
    ];
    let world = World::with(&settings).await;
    let _background = Background::start(&world.app);
    let (url, mut received) = receiver().await;
    let made = world
        .post(
            "/v1/webhooks",
            &json!({"url": url, "events": ["payment.received"]}),
        )
        .await;
    assert_eq!(made.status.as_u16(), 201);
    let made = made.json();
    let secret = made["secret"].as_str().unwrap().to_owned();
    pay(&world).await;

    let (headers, body) = tokio::time::timeout(Duration::from_secs(30), received.recv())
        .await
        .unwrap()
        .unwrap();
    let event: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(event["type"], "payment.received");
    assert_eq!(event["data"]["amount_micro"], 5_000_000);
    assert_eq!(event["data"]["provider"], "mpesa");
    assert_eq!(event["data"]["receipt"], "mp-1");
    assert_eq!(event["data"]["currency"], "KES");
    let header = headers["sauti-signature"].to_str().unwrap();
    let seconds: i64 = header
        .strip_prefix("t=")
        .unwrap()
        .split(',')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let expected = format!(
        "t={seconds},v1={}",
        signature(secret.as_bytes(), seconds, &body)
    );
    assert_eq!(header, expected);
    let listed = world.get("/v1/webhooks").await.assert_ok().json();
    assert!(
        listed["webhooks"][0].get("secret").is_none(),
        "shown once only"
    );
    assert!(made["webhook_id"].is_string());
    for list in ["webhooks", "deliveries"] {
        assert_eq!(listed[list][0]["webhook_id"], made["webhook_id"], "{list}");
    }
}

#[tokio::test]
async fn nothing_is_sent_to_addresses_inside() {
    let world = World::with(&[("payments.webhook_secret", SECRET)]).await;
    let _background = Background::start(&world.app);
    let (url, mut received) = receiver().await;
    // As if its name had led elsewhere when it was added.
    let added = world.app.store.add_webhook(&world.workspace_id, &url, &[]);
    added.await.unwrap();
    pay(&world).await;
    for _ in 0..1_000 {
        let listed = world.get("/v1/webhooks").await.assert_ok().json();
        let delivery = &listed["deliveries"][0];
        if delivery["last_error"]
            .as_str()
            .is_some_and(|error| !error.is_empty())
        {
            assert!(
                delivery["last_error"]
                    .as_str()
                    .unwrap()
                    .contains("may not go to"),
                "{delivery}"
            );
            assert!(received.try_recv().is_err());
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the delivery was never tried");
}

#[tokio::test]
async fn a_webhook_for_an_unknown_event_is_refused() {
    let world = World::new().await;
    let body = json!({"url": "https://example.com", "events": ["balance.lo"]});
    world
        .post("/v1/webhooks", &body)
        .await
        .assert_problem(422, "validation_failed");
    world
        .post("/v1/webhooks", &json!({"url": "ftp://example.com"}))
        .await
        .assert_problem(422, "validation_failed");
    world
        .post("/v1/webhooks", &json!({"url": "https:///x"}))
        .await
        .assert_problem(422, "validation_failed");
}

#[tokio::test]
async fn an_address_with_a_password_is_refused_for_none_is_sent() {
    let settings = [("webhooks.allow_private_addresses", "true")];
    let world = World::with(&settings).await;
    for (url, status) in [
        ("https://asha:siri@example.com/a", 422),
        ("https://example.com/a@b?c=d@e", 201),
    ] {
        let answer = world.post("/v1/webhooks", &json!({"url": url})).await;
        assert_eq!(answer.status, status, "{url}");
    }
}

/// Takes connections and never answers; tells of each.
async fn silent() -> (String, mpsc::UnboundedReceiver<TcpStream>) {
    let (sender, taken) = mpsc::unbounded_channel();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            sender.send(stream).ok();
        }
    });
    (url, taken)
}

#[tokio::test]
async fn endpoints_that_hang_delay_nobody_elses_deliveries() {
    let world = World::with(&[("webhooks.allow_private_addresses", "true")]).await;
    let store = &world.app.store;
    let other = store
        .create_workspace(None, "Nyingine", "KES")
        .await
        .unwrap();
    let (hanging, mut taken) = silent().await;
    for at in 0..20 {
        let url = format!("{hanging}/{at}");
        store.add_webhook(&other.id, &url, &[]).await.unwrap();
    }
    for _ in 0..5 {
        store
            .enqueue_event(&other.id, "balance.low", "{}")
            .await
            .unwrap();
    }
    let (url, mut received) = receiver().await;
    store
        .add_webhook(&world.workspace_id, &url, &[])
        .await
        .unwrap();
    let _background = Background::start(&world.app);
    // Sure to be behind the hundred: some of them are in flight.
    let mut open = vec![taken.recv().await.unwrap()];
    for _ in 0..8 {
        store
            .enqueue_event(&world.workspace_id, "balance.low", "{}")
            .await
            .unwrap();
    }
    for _ in 0..8 {
        let told = tokio::time::timeout(Duration::from_secs(12), received.recv());
        told.await
            .expect("before any that hangs is given up")
            .unwrap();
    }
    while let Ok(stream) = taken.try_recv() {
        open.push(stream);
    }
    assert!(open.len() <= 4, "{} at once for one workspace", open.len());
}

#[tokio::test]
async fn an_endpoint_that_fails_is_shown_as_paused() {
    let world = World::new().await;
    let store = &world.app.store;
    let url = "https://example.com/hook";
    store
        .add_webhook(&world.workspace_id, url, &[])
        .await
        .unwrap();
    let listed = world.get("/v1/webhooks").await.assert_ok().json();
    assert_eq!(listed["webhooks"][0]["paused_until_us"], Value::Null);
    store
        .enqueue_event(&world.workspace_id, "balance.low", "{}")
        .await
        .unwrap();
    let quota = ClaimQuota {
        standing: Standing::Unproven,
        total: 1,
        per_endpoint: 1,
        per_workspace: 1,
    };
    let lease = Duration::from_secs(60);
    let claimed = store.claim_deliveries(quota, lease).await.unwrap();
    let until_us = now_us() + 60_000_000;
    let failure = DeliveryFailure {
        status: None,
        error: "took too long",
        again_at_us: Some(until_us),
        pause_until_us: Some(until_us),
    };
    store.delivery_failed(&claimed[0], failure).await.unwrap();
    let listed = world.get("/v1/webhooks").await.assert_ok().json();
    assert_eq!(listed["webhooks"][0]["paused_until_us"], until_us);
    assert_eq!(listed["webhooks"][0]["failures"], 1);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let world = World::with(&[("webhooks.allow_private_addresses", "true")]).await;
    let (inside, mut received) = receiver().await;
    let router = Router::new().route(
        "/",
        post(|| async move { axum::response::Redirect::temporary(&inside) }),
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let store = &world.app.store;
    store
        .add_webhook(&world.workspace_id, &url, &[])
        .await
        .unwrap();
    store
        .enqueue_event(&world.workspace_id, "balance.low", "{}")
        .await
        .unwrap();
    let _background = Background::start(&world.app);
    for _ in 0..1_000 {
        let delivery = &store.deliveries(&world.workspace_id, 1).await.unwrap()[0];
        if delivery.last_status == Some(307) {
            assert!(received.try_recv().is_err());
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the delivery was never tried");
}
