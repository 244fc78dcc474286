use axum::body::Body;
use axum::http::{Method, Request};
use base64::Engine;
use sauti_store::ids::now_us;
use sauti_store::{NewKey, Permission};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::support::{SPEECH, TRANSCRIPTIONS, World};

fn plain(method: Method, path: &str) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(path)
        .body(Body::empty())
        .unwrap()
}

#[tokio::test]
async fn an_unknown_route_is_not_found_in_the_one_shape() {
    let world = World::new().await;
    for path in [
        "/v2/audio/speech",
        "/v1/audio/speech/more",
        "/v1/%ff%fe",
        "/audio/speech",
    ] {
        let body = world
            .send(plain(Method::GET, path))
            .await
            .assert_problem(404, "not_found");
        assert_eq!(body["instance"], path);
        // Clients are given a base address, and often without its end.
        assert!(body["detail"].as_str().unwrap().contains("/v1"), "{body}");
    }
}

#[tokio::test]
async fn a_wrong_method_is_told_which_ones_are_right() {
    let world = World::new().await;
    let answer = world.send(plain(Method::GET, SPEECH)).await;
    answer.assert_problem(405, "method_not_allowed");
    assert_eq!(answer.header("allow"), "POST");
    let answer = world.send(plain(Method::DELETE, "/v1/voices")).await;
    answer.assert_problem(405, "method_not_allowed");
    assert!(answer.header("allow").contains("GET"));
}

#[tokio::test]
async fn a_key_that_is_missing_or_not_accepted_gets_401_and_a_challenge() {
    let world = World::new().await;
    let with = |value: &str| {
        Request::builder()
            .uri("/v1/voices")
            .header("authorization", value)
            .body(Body::empty())
            .unwrap()
    };
    let answer = world.send(plain(Method::GET, "/v1/voices")).await;
    answer.assert_problem(401, "key_missing");
    assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"sauti\"");
    world
        .send(with("Basic abc"))
        .await
        .assert_problem(401, "key_missing");
    world
        .send(with("Bearer "))
        .await
        .assert_problem(401, "key_missing");
    for bad in [
        "Bearer nonsense",
        "Bearer sauti_test_x_y",
        &format!("Bearer {}x", world.key),
    ] {
        let answer = world.send(with(bad)).await;
        answer.assert_problem(401, "key_malformed");
        assert!(answer.header("www-authenticate").contains("invalid_token"));
    }
    let unknown = sauti_store::ApiKey::generate(sauti_store::Environment::Test).unwrap();
    world
        .send(with(&format!("Bearer {}", unknown.reveal())))
        .await
        .assert_problem(401, "key_unknown");

    let expired = world
        .make_key(NewKey {
            expires_us: Some(now_us() + 1_000),
            ..world.new_key()
        })
        .await;
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    world
        .send(with(&format!("Bearer {expired}")))
        .await
        .assert_problem(401, "key_expired");
    world
        .send(with(&format!("bearer   {}", world.key)))
        .await
        .assert_ok();
}

#[tokio::test]
async fn a_key_in_the_address_is_never_accepted() {
    let world = World::new().await;
    for name in ["key", "api_key", "access_token"] {
        let path = format!("/v1/voices?{name}={}", world.key);
        let body = world
            .send(plain(Method::GET, &path))
            .await
            .assert_problem(401, "key_in_url");
        assert_eq!(
            body["instance"], "/v1/voices",
            "the address must not come back with the key in it"
        );
    }
}

#[tokio::test]
async fn a_key_in_the_address_is_known_in_disguise_and_in_the_path() {
    let world = World::new().await;
    let secret = world.key.split_once('_').unwrap().1;
    for path in [
        format!("/v1/voices?key=s%61uti_{secret}"),
        format!("/v1/voices?key=sauti%5f{secret}"),
        format!("/v1/voices?key=SAUTI_{}", secret.to_uppercase()),
        format!("/v1/keys/sauti_{secret}"),
        format!("/nowhere/sauti_{secret}"),
    ] {
        let answer = world.send(
            world
                .request(Method::GET, &path)
                .body(Body::empty())
                .unwrap(),
        );
        let body = answer.await.assert_problem(401, "key_in_url");
        assert!(
            !body.to_string().to_lowercase().contains("uti_test"),
            "{body}"
        );
    }
}

#[tokio::test]
async fn two_authorization_headers_are_refused() {
    let world = World::new().await;
    for second in [format!("Bearer {}", world.key), "Basic eDp5".to_owned()] {
        let request = world.request(Method::GET, "/v1/voices");
        let request = request.header("authorization", second);
        let answer = world.send(request.body(Body::empty()).unwrap()).await;
        answer.assert_problem(400, "authorization_repeated");
    }
}

#[tokio::test]
async fn the_page_of_the_document_allows_only_its_own_style() {
    let world = World::new().await;
    let answer = world.get("/docs").await;
    let policy = answer.headers["content-security-policy"].to_str().unwrap();
    assert!(!policy.contains("unsafe"), "{policy}");
    let page = String::from_utf8(answer.body.to_vec()).unwrap();
    let style = page.split_once("<style>").unwrap().1;
    let style = style.split_once("</style>").unwrap().0;
    let hash = base64::prelude::BASE64_STANDARD.encode(Sha256::digest(style));
    assert!(policy.contains(&format!("'sha256-{hash}'")), "{policy}");
    assert!(!page.contains("style=") && !page.contains("<script"));
}

#[tokio::test]
async fn an_unconfirmed_account_and_a_missing_permission_differ_by_code() {
    let world = World::new().await;
    let account = world
        .app
        .store
        .create_account("mpya@example.com", "x", "Mpya")
        .await
        .unwrap();
    let workspace = world
        .app
        .store
        .create_workspace(Some(&account.id), "Mpya", "KES")
        .await
        .unwrap();
    let key = world
        .make_key(NewKey {
            workspace_id: workspace.id,
            ..world.new_key()
        })
        .await;
    let speaker = world.key_for(Permission::Speech).await;
    let world = World { key, ..world };
    world
        .get("/v1/voices")
        .await
        .assert_problem(403, "account_unconfirmed");

    let world = World {
        key: speaker,
        ..world
    };
    let body = world
        .get("/v1/balance")
        .await
        .assert_problem(403, "permission_missing");
    assert!(
        body["detail"].as_str().unwrap().contains("usage"),
        "names what is missing"
    );
    world
        .transcribe(&[])
        .await
        .assert_problem(403, "permission_missing");
    world.get("/v1/voices").await.assert_ok();
}

#[tokio::test]
async fn a_body_that_is_not_json_is_malformed() {
    let world = World::new().await;
    for body in ["", "{", "[1,2]", "\"text\"", "{\"text\":\"a\",}", "\u{0}"] {
        let request = world
            .request(Method::POST, SPEECH)
            .header("content-type", "application/json");
        world
            .send(request.body(Body::from(body)).unwrap())
            .await
            .assert_problem(400, "malformed_json");
    }
    let not_utf8 = world
        .request(Method::POST, SPEECH)
        .header("content-type", "application/json");
    let not_utf8 = not_utf8
        .body(Body::from(&b"{\"text\":\"\xff\xfe\"}"[..]))
        .unwrap();
    world
        .send(not_utf8)
        .await
        .assert_problem(400, "malformed_json");
}

#[tokio::test]
async fn another_content_type_is_refused() {
    let world = World::new().await;
    let body = json!({"text": "Habari", "voice_id": "asha"}).to_string();
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonx",
    ] {
        let request = world
            .request(Method::POST, SPEECH)
            .header("content-type", kind);
        let answer = world
            .send(request.body(Body::from(body.clone())).unwrap())
            .await;
        answer.assert_problem(415, "content_type_unsupported");
    }
    let request = world
        .request(Method::POST, SPEECH)
        .body(Body::from(body))
        .unwrap();
    world
        .send(request)
        .await
        .assert_problem(415, "content_type_unsupported");
    let request = world
        .request(Method::POST, TRANSCRIPTIONS)
        .header("content-type", "application/json");
    let answer = world.send(request.body(Body::from("{}")).unwrap()).await;
    answer.assert_problem(415, "content_type_unsupported");
    for (coding, is_refused) in [("gzip", true), ("identity", false)] {
        let body = json!({"text": "Habari", "voice_id": "asha"}).to_string();
        let request = world
            .request(Method::POST, SPEECH)
            .header("content-type", "application/json")
            .header("content-encoding", coding);
        let answer = world.send(request.body(Body::from(body)).unwrap()).await;
        assert_eq!(answer.status.as_u16() == 415, is_refused, "{coding}");
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_declared_or_not() {
    let world = World::new().await;
    let huge = vec![b' '; 2 * 1024 * 1024];
    let request = world
        .request(Method::POST, SPEECH)
        .header("content-type", "application/json");
    let declared = request
        .header("content-length", huge.len())
        .body(Body::from(huge.clone()))
        .unwrap();
    world
        .send(declared)
        .await
        .assert_problem(413, "body_too_large");
    let chunks = futures_util::stream::iter(
        huge.chunks(65_536)
            .map(|c| Ok::<_, std::io::Error>(c.to_vec()))
            .collect::<Vec<_>>(),
    );
    let request = world
        .request(Method::POST, SPEECH)
        .header("content-type", "application/json");
    world
        .send(request.body(Body::from_stream(chunks)).unwrap())
        .await
        .assert_problem(413, "body_too_large");
}

#[tokio::test]
async fn every_wrong_field_is_named() {
    let world = World::new().await;
    let cases = [
        (
            json!({}),
            vec![("text", "required"), ("voice_id", "required")],
        ),
        (
            json!({"text": "", "voice_id": "asha"}),
            vec![("text", "empty")],
        ),
        (
            json!({"text": "   \n", "voice_id": "asha"}),
            vec![("text", "empty")],
        ),
        (
            json!({"text": null, "voice_id": "asha"}),
            vec![("text", "required")],
        ),
        (
            json!({"text": 5, "voice_id": ["asha"]}),
            vec![("text", "wrong_type"), ("voice_id", "wrong_type")],
        ),
        (
            json!({"text": "a".repeat(5_001), "voice_id": "asha"}),
            vec![("text", "too_long")],
        ),
        (
            json!({"text": "Habari", "voice_id": "Asha"}),
            vec![("voice_id", "unknown_voice")],
        ),
        (
            json!({"text": "Habari", "voice_id": "asha", "speed": 2.1}),
            vec![("speed", "out_of_range")],
        ),
        (
            json!({"text": "Habari", "voice_id": "asha", "speed": "fast"}),
            vec![("speed", "wrong_type")],
        ),
        (
            json!({"text": "Habari", "voice_id": "asha", "pitch": 12.5, "volume": -30}),
            vec![("pitch", "out_of_range"), ("volume", "out_of_range")],
        ),
        (
            json!({"text": "Habari", "voice_id": "asha", "pitch": "high", "volume": "+6dB"}),
            vec![("pitch", "wrong_type"), ("volume", "wrong_type")],
        ),
        (
            json!({"text": "Habari", "voice_id": "asha", "output_format": "wav"}),
            vec![("output_format", "unknown_value")],
        ),
        (
            json!({"text": "Habari", "voice_id": "asha", "response_format": "aac"}),
            vec![("response_format", "unknown_value")],
        ),
        (
            json!({"text": "Habari", "voice_id": "asha", "stream": "sse", "self_check": true}),
            vec![("self_check", "not_together")],
        ),
        (
            json!({"text": "Habari", "voice_id": "asha", "stream": "yes"}),
            vec![("stream", "unknown_value")],
        ),
        (
            json!({"text": "Habari", "voice_id": "asha", "stream": "audio", "timestamps": true}),
            vec![("timestamps", "not_together")],
        ),
        (
            json!({"text": "Habari", "input": "Kwaheri", "voice_id": "asha"}),
            vec![("text", "twice")],
        ),
        (
            json!({"input": "", "voice": "Asha"}),
            vec![("input", "empty"), ("voice", "unknown_voice")],
        ),
        (
            json!({"input": 5, "voice": {}}),
            vec![("input", "wrong_type"), ("voice", "required")],
        ),
        (
            json!({"input": "a".repeat(5_001), "voice": ["asha"]}),
            vec![("input", "too_long"), ("voice", "wrong_type")],
        ),
        (
            json!({"text": "Habari", "voiceId": "asha"}),
            vec![("voice_id", "required"), ("voiceId", "near_miss")],
        ),
        (
            json!({"text": "Habari", "voice_id": "asha", "ouput_format": "wav_8000"}),
            vec![("ouput_format", "near_miss")],
        ),
    ];
    for (body, expected) in cases {
        let answer = world
            .post(SPEECH, &body)
            .await
            .assert_problem(422, "validation_failed");
        let errors = answer["errors"].as_array().unwrap();
        let named: Vec<_> = errors
            .iter()
            .map(|error| {
                (
                    error["field"].as_str().unwrap(),
                    error["code"].as_str().unwrap(),
                )
            })
            .collect();
        assert_eq!(named, expected, "{body}");
        assert_eq!(answer["error"]["param"], expected[0].0);
    }
    assert_eq!(
        world.balance_micro().await,
        crate::support::CREDIT_MICRO,
        "a bad request costs nothing"
    );
}

#[tokio::test]
async fn a_near_miss_comes_with_a_hint_and_strange_fields_are_ignored() {
    let world = World::new().await;
    let answer = world
        .post(
            SPEECH,
            &json!({"text": "Habari", "voice_id": "asha", "sped": 1.5}),
        )
        .await;
    let body = answer.assert_problem(422, "validation_failed");
    assert!(body["detail"].as_str().unwrap().contains("speed"), "{body}");
    let known = json!({"text": "Habari", "voice_id": "asha"});
    world.remember_speech(&known, b"RIFF");
    let strange = json!({"text": "Habari", "voice_id": "asha", "x_trace": 7, "metadata": {"a": 1}});
    world.post(SPEECH, &strange).await.assert_ok();
}

#[tokio::test]
async fn a_text_that_cannot_be_spoken_is_refused_with_the_reason() {
    let world = World::new().await;
    let answer = world
        .post(SPEECH, &json!({"text": "?!...", "voice_id": "asha"}))
        .await;
    answer.assert_problem(422, "text_unspeakable");
    let answer = world
        .post(
            SPEECH,
            &json!({"text": "<speak>Habari", "voice_id": "asha"}),
        )
        .await;
    answer.assert_problem(422, "ssml_invalid");
}

#[tokio::test]
async fn refusals_are_in_swahili_for_those_who_prefer_it() {
    let world = World::new().await;
    let request = Request::builder()
        .uri("/v1/voices")
        .header("accept-language", "sw-TZ, en;q=0.5");
    let answer = world.send(request.body(Body::empty()).unwrap()).await;
    let body = answer.assert_problem(401, "key_missing");
    assert!(
        body["detail"].as_str().unwrap().starts_with("Tuma ufunguo"),
        "{body}"
    );
    assert_eq!(answer.header("content-language"), "sw");
    let answer = world
        .post_with(
            SPEECH,
            &json!({"voice_id": "asha"}),
            &[("accept-language", "sw")],
        )
        .await;
    assert_eq!(
        answer.assert_problem(422, "validation_failed")["detail"],
        "text inahitajika."
    );
    // What is wrong, and where, is told as in English.
    let text = "<speak>\nHabari.\n<dance>Karibu.</dance></speak>";
    let body = json!({"text": text, "voice_id": "asha"});
    let answer = world
        .post_with(SPEECH, &body, &[("accept-language", "sw")])
        .await;
    let problem = answer.assert_problem(422, "ssml_invalid");
    assert_eq!(problem["title"], "SSML haikueleweka");
    let detail = problem["detail"].as_str().unwrap();
    assert!(
        detail.contains("mstari wa 3") && detail.contains("<dance>"),
        "{detail}"
    );
}

#[tokio::test]
async fn too_many_requests_are_told_when_to_come_back() {
    let world = World::with(&[("limits.requests_per_minute", "2")]).await;
    assert_eq!(
        world
            .get("/v1/voices")
            .await
            .assert_ok()
            .header("ratelimit"),
        "\"requests\";r=1;t=30"
    );
    world.get("/v1/voices").await.assert_ok();
    let answer = world.get("/v1/voices").await;
    answer.assert_problem(429, "rate_limited");
    let wait: u64 = answer.header("retry-after").parse().unwrap();
    assert!((1..=30).contains(&wait), "{wait}");
    assert!(
        answer
            .header("ratelimit")
            .starts_with("\"requests\";r=0;t=")
    );
    assert!(
        answer
            .header("ratelimit-policy")
            .contains("\"requests\";q=2;w=60")
    );
}

#[tokio::test]
async fn a_callers_own_request_id_comes_back_and_a_strange_one_does_not() {
    let world = World::new().await;
    let with = |id: &str| {
        Request::builder()
            .uri("/healthz")
            .header("x-request-id", id)
            .body(Body::empty())
            .unwrap()
    };
    assert_eq!(
        world.send(with("order-17")).await.header("x-request-id"),
        "order-17"
    );
    assert!(
        world
            .send(with("<script>"))
            .await
            .header("x-request-id")
            .starts_with("req_")
    );
}

#[tokio::test]
async fn every_answer_carries_the_headers_that_keep_browsers_safe() {
    let world = World::new().await;
    for path in ["/healthz", "/v1/voices", "/nowhere", "/docs"] {
        let answer = world.get(path).await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("x-frame-options"), "DENY");
        assert!(
            answer
                .header("content-security-policy")
                .contains("frame-ancestors 'none'")
        );
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        assert!(!answer.header("cache-control").is_empty());
    }
}
