use serde_json::{Value, json};

use crate::support::{SPEECH, World};

const WAV: &[u8] = b"RIFF\x08\x00\x00\x00WAVEdata";

#[tokio::test]
async fn the_voices_are_listed_with_every_field() {
    let world = World::new().await;
    let answer = world.get("/v1/voices").await;
    let body = answer.assert_ok().json();
    assert_eq!(body["has_more"], false);
    assert!(body["next_cursor"].is_null());
    let voices = body["voices"].as_array().unwrap();
    let ids: Vec<_> = voices
        .iter()
        .map(|voice| voice["voice_id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["asha", "zuri", "juma", "baraka"]);
    for field in [
        "name",
        "language",
        "locale",
        "gender",
        "description",
        "preview_url",
        "model_version",
        "licence",
    ] {
        assert!(voices[0][field].is_string(), "{field}");
    }
    assert_eq!(voices[0]["language"], "sw");
    assert!(voices[0]["sample_rate"].is_u64() && voices[0]["quality"].is_object());
}

#[tokio::test]
async fn one_voice_is_shown_and_an_unknown_one_is_not_found() {
    let world = World::new().await;
    assert_eq!(
        world.get("/v1/voices/juma").await.assert_ok().json()["voice_id"],
        "juma"
    );
    world
        .get("/v1/voices/nobody")
        .await
        .assert_problem(404, "voice_not_found");
    world
        .get("/v1/voices/nobody/preview")
        .await
        .assert_problem(404, "voice_not_found");
}

#[tokio::test]
async fn speech_answers_with_the_sound_itself_and_what_it_cost() {
    let world = World::new().await;
    let body = json!({"text": "Habari yako.", "voice_id": "asha"});
    world.remember_speech(&body, WAV);
    let answer = world.post(SPEECH, &body).await;
    answer.assert_ok();
    assert_eq!(answer.header("content-type"), "audio/wav");
    assert_eq!(answer.header("content-length"), WAV.len().to_string());
    assert_eq!(answer.body, WAV);
    assert_eq!(answer.header("sauti-units"), "12");
    assert_eq!(answer.header("sauti-cost"), "12000");
    assert_eq!(
        answer.header("sauti-balance"),
        world.balance_micro().await.to_string()
    );
    assert_eq!(answer.header("sauti-cache"), "hit");
    assert_eq!(answer.header("sauti-currency"), "KES");
    assert!(answer.header("ratelimit").starts_with("\"requests\";r="));
    assert!(
        answer
            .header("ratelimit-policy")
            .contains("\"requests\";q=600;w=60")
    );
    assert!(answer.header("x-request-id").starts_with("req_"));
}

#[tokio::test]
async fn the_names_of_openai_are_understood() {
    let world = World::new().await;
    let ours = json!({"text": "Asante.", "voice_id": "zuri", "output_format": "mp3_44100"});
    world.remember_speech(&ours, b"ID3sound");
    let theirs = json!({"model": "tts-1", "input": "Asante.", "voice": "zuri", "response_format": "mp3",
        "instructions": "cheerful", "speed": 1.0});
    let answer = world.post(SPEECH, &theirs).await;
    assert_eq!(answer.assert_ok().header("content-type"), "audio/mpeg");
    assert_eq!(answer.body, &b"ID3sound"[..]);
    assert_eq!(answer.header("sauti-voice"), "zuri");
    // Nothing said of the format, and a voice by OpenAI's name.
    for theirs in [
        json!({"input": "Asante.", "voice": "nova"}),
        json!({"input": "Asante.", "voice_id": "coral"}),
        json!({"input": "Asante.", "voice": {"id": "zuri"}}),
    ] {
        let answer = world.post(SPEECH, &theirs).await;
        assert_eq!(answer.assert_ok().header("content-type"), "audio/mpeg");
        assert_eq!(answer.header("sauti-voice"), "zuri");
        assert_eq!(answer.body, &b"ID3sound"[..]);
    }
    let models = world.get("/v1/models").await.assert_ok().json();
    assert_eq!(models["object"], "list");
    assert!(
        models["data"]
            .as_array()
            .unwrap()
            .iter()
            .all(|model| model["object"] == "model")
    );
    for model in models["data"].as_array().unwrap() {
        let id = model["id"].as_str().unwrap();
        let shown = world.get(&format!("/v1/models/{id}")).await;
        assert_eq!(shown.assert_ok().json(), *model);
    }
    let unknown = world.get("/v1/models/whisper-9").await;
    assert_eq!(unknown.json()["code"], "not_found");
}

#[tokio::test]
async fn verbose_speech_is_json_with_the_sound_the_words_and_their_times() {
    let world = World::new().await;
    world.remember_speech(&json!({"text": "Habari", "voice_id": "asha"}), WAV);
    for extra in ["verbose", "timestamps"] {
        let mut body = json!({"text": "Habari", "voice_id": "asha"});
        body[extra] = json!(true);
        let answer = world.post(SPEECH, &body).await.assert_ok().json();
        assert_eq!(answer["audio"], "UklGRggAAABXQVZFZGF0YQ==");
        assert_eq!(answer["normalised_text"], "Habari.");
        assert_eq!(
            answer["words"][0],
            json!({"word": "Habari", "start": 0.0, "end": 0.5})
        );
        assert_eq!(answer["content_type"], "audio/wav");
    }
}

#[tokio::test]
async fn two_spellings_of_the_same_words_share_their_sound() {
    let world = World::new().await;
    world.remember_speech(&json!({"text": "Nina 5.", "voice_id": "asha"}), WAV);
    let answer = world
        .post(
            SPEECH,
            &json!({"text": "  Nina tano.  ", "voice_id": "asha"}),
        )
        .await;
    assert_eq!(answer.assert_ok().header("sauti-cache"), "hit");
    let other_voice = world
        .post(SPEECH, &json!({"text": "Nina tano.", "voice_id": "juma"}))
        .await;
    other_voice.assert_problem(503, "warming_up");
}

#[tokio::test]
async fn a_text_is_read_in_the_language_of_the_request() {
    let world = World::new().await;
    let said = async |body: Value| world.post("/v1/normalise", &body).await.assert_ok().json();
    let mixed = said(json!({"text": "Nina laptop 2."})).await;
    assert_eq!(mixed["text"], "Nina laptop mbili.");
    assert_eq!(mixed["words"][1]["english"], "lˈæptˌɒp");
    assert_eq!(mixed["words"][0].get("english"), None);
    let english = said(json!({"text": "Page 2.", "language": "en"})).await;
    assert_eq!(english["text"], "Page two.");
    let both = said(json!({"text": "Una ujumbe. You have 2 messages.", "language": "auto"})).await;
    assert_eq!(both["text"], "Una ujumbe. You have two messages.");
    // The same written text in another language is another sound.
    let body =
        |language: &str| json!({"text": "Page 2.", "voice_id": "asha", "language": language});
    world.remember_speech(&body("en"), WAV);
    let hit = world.post(SPEECH, &body("en")).await;
    assert_eq!(hit.assert_ok().header("sauti-cache"), "hit");
    world
        .post(SPEECH, &body("sw"))
        .await
        .assert_problem(503, "warming_up");
    for path in [SPEECH, "/v1/quotes", "/v1/normalise"] {
        let refused = world.post(path, &body("fr")).await;
        let refused = refused.assert_problem(422, "validation_failed");
        assert!(refused.to_string().contains("language"), "{refused}");
    }
}

#[tokio::test]
async fn a_quote_is_what_the_request_then_costs() {
    let world = World::new().await;
    let body = json!({"text": "Habari yako rafiki yangu.", "voice_id": "asha"});
    let quote = world.post("/v1/quotes", &body).await.assert_ok().json();
    assert_eq!(quote["operation"], "speech");
    assert_eq!(quote["units"], 25);
    assert_eq!(quote["cost_micro"], 50_000);
    assert_eq!(quote["covered"], true);
    world.remember_speech(&body, WAV);
    let answer = world.post(SPEECH, &body).await;
    assert_eq!(
        answer.header("sauti-cost"),
        quote["cached_cost_micro"].to_string()
    );
    let minute = world
        .post("/v1/quotes", &json!({"audio_seconds": 60}))
        .await
        .assert_ok()
        .json();
    assert_eq!(minute["cost_micro"], 1_500_000);
    for seconds in [0.0, -1.0, 7_200.1, 1e300] {
        let asked = json!({"audio_seconds": seconds});
        let refused = world.post("/v1/quotes", &asked).await;
        let refused = refused.assert_problem(422, "validation_failed");
        assert_eq!(refused["errors"][0]["field"], "audio_seconds", "{refused}");
    }
    world
        .post("/v1/quotes", &json!({}))
        .await
        .assert_problem(422, "validation_failed");
}

#[tokio::test]
async fn speech_from_the_cache_has_the_pitch_and_the_volume_that_were_asked_for() {
    let mut world = World::new().await;
    let body = |pitch, volume| json!({"text": "Habari.", "voice_id": "asha", "pitch": pitch, "volume": volume});
    world.remember_speech(&body(0, 0), WAV);
    world.remember_speech(&body(2, -3), b"RIFFhigh");
    let plain = json!({"text": "Habari.", "voice_id": "asha"});
    assert_eq!(world.post(SPEECH, &plain).await.assert_ok().body, WAV);
    let high = world.post(SPEECH, &body(2, -3)).await;
    assert_eq!(high.assert_ok().body, b"RIFFhigh"[..]);
    // Without money, what is not in the cache is refused at its full price.
    let made = world
        .app
        .store
        .create_workspace(Some(&world.account_id), "Maskini", "KES");
    world.workspace_id = made.await.unwrap().id;
    world.key = world.make_key(world.new_key()).await;
    let quote = world.post("/v1/quotes", &plain).await.assert_ok().json();
    for (pitch, volume) in [(2, 0), (0, -3), (-2, 3), (3, 2)] {
        let refused = world.post(SPEECH, &body(pitch, volume)).await;
        let refused = refused.assert_problem(402, "balance_insufficient");
        assert_eq!(refused["required"], quote["cost_micro"], "{pitch} {volume}");
    }
}

#[tokio::test]
async fn limits_usage_and_balance_can_be_read() {
    let world = World::new().await;
    let limits = world.get("/v1/limits").await.assert_ok().json();
    assert_eq!(
        (&limits["pitch_max"], &limits["volume_min"]),
        (&json!(12.0), &json!(-24.0))
    );
    assert_eq!(limits["text_characters_max"], 5_000);
    assert_eq!(limits["file_bytes_max"], 100_000_000);
    assert!(
        limits["output_formats"]
            .as_array()
            .unwrap()
            .iter()
            .any(|name| name == "ulaw_8000")
    );

    let body = json!({"text": "Moja", "voice_id": "asha"});
    world.remember_speech(&body, WAV);
    world.post(SPEECH, &body).await.assert_ok();
    let usage = world.get("/v1/usage").await.assert_ok().json();
    assert_eq!(usage["days"][0]["operation"], "speech");
    assert_eq!(usage["days"][0]["requests"], 1);
    assert_eq!(usage["days"][0]["cached_requests"], 1);
    let basic = world.get("/v1/usage?from=20200101").await;
    let basic = basic.assert_ok().json();
    assert_eq!(basic["from"], "2020-01-01");
    assert_eq!(basic["days"], usage["days"]);
    let last = world.get("/v1/usage?to=2020-01-31").await;
    assert_eq!(last.assert_ok().json()["from"], "2020-01-01");
    let csv = world.get("/v1/usage?format=csv").await;
    assert!(
        csv.assert_ok()
            .header("content-type")
            .starts_with("text/csv")
    );
    let statement = world.get("/v1/statement").await.assert_ok().json();
    assert_eq!(statement["rows"].as_array().unwrap().len(), 2);
    assert_eq!(statement["has_more"], false);
    let first = world.get("/v1/statement?limit=1").await.assert_ok().json();
    assert_eq!(first["has_more"], true);
    let after = first["next_cursor"].as_str().unwrap();
    let rest = format!("/v1/statement?limit=1&after={after}");
    let rest = world.get(&rest).await.assert_ok().json();
    let rows = [&first["rows"][0], &rest["rows"][0]];
    assert_eq!(
        rows.map(Clone::clone)[..],
        statement["rows"].as_array().unwrap()[..]
    );
    assert_eq!(
        (&rest["has_more"], &rest["next_cursor"]),
        (&json!(false), &Value::Null)
    );
    // As CSV it is whole, beyond the largest page too.
    for thousand in 0..10 {
        let credit = |number| {
            let external_id = format!("{thousand}-{number}");
            let (store, workspace_id) = (&world.app.store, &world.workspace_id);
            async move { store.credit(workspace_id, 1, "test", &external_id).await }
        };
        for done in futures_util::future::join_all((0..1_000).map(credit)).await {
            done.unwrap();
        }
    }
    let csv = world.get("/v1/statement?format=csv&limit=1").await;
    let csv = String::from_utf8(csv.assert_ok().body.to_vec()).unwrap();
    assert_eq!(csv.lines().count(), 1 + 2 + 10_000);
    for wrong in ["limit=0", "limit=10001", "after=yesterday"] {
        world
            .get(&format!("/v1/statement?{wrong}"))
            .await
            .assert_problem(422, "validation_failed");
    }
    world
        .get("/v1/usage?from=yesterday")
        .await
        .assert_problem(422, "validation_failed");
    for path in ["usage", "statement"] {
        let backwards = format!("/v1/{path}?from=2026-02-01&to=2026-01-31");
        let refused = world.get(&backwards).await;
        refused.assert_problem(422, "validation_failed");
    }
    world
        .get("/v1/statement?to=31-12-2026")
        .await
        .assert_problem(422, "validation_failed");

    let balance = world.get("/v1/balance").await.assert_ok().json();
    assert_eq!(balance["available_micro"], world.balance_micro().await);
    assert_eq!(balance["currency"], "KES");
}

#[tokio::test]
async fn normalising_is_free_and_says_what_will_be_said() {
    let world = World::new().await;
    let before = world.balance_micro().await;
    let answer = world
        .post("/v1/normalise", &json!({"text": "Nina 5."}))
        .await
        .assert_ok()
        .json();
    assert!(answer["text"].as_str().unwrap().contains("tano"));
    assert!(
        answer["words"]
            .as_array()
            .unwrap()
            .iter()
            .all(|word| word["phonemes"].is_string())
    );
    assert_eq!(world.balance_micro().await, before);
    world
        .post("/v1/normalise", &json!({"text": ""}))
        .await
        .assert_problem(422, "validation_failed");
}

#[tokio::test]
async fn a_workspace_sets_how_its_own_words_are_said() {
    let world = World::new().await;
    let put = |said: &str| {
        let body = json!({"said": said}).to_string();
        let request = world.request(axum::http::Method::PUT, "/v1/lexicon/Acme");
        request
            .header("content-type", "application/json")
            .body(axum::body::Body::from(body))
            .unwrap()
    };
    world.send(put("/ˈakme/")).await.assert_ok();
    let listed = world.get("/v1/lexicon").await.assert_ok().json();
    assert_eq!(
        listed["words"][0],
        json!({"word": "acme", "said": "/ˈakme/"})
    );
    let said = world
        .post("/v1/normalise", &json!({"text": "Acme"}))
        .await
        .assert_ok()
        .json();
    assert_eq!(said["words"][0]["phonemes"], "ˈakme");
    world
        .send(put("/!!!/"))
        .await
        .assert_problem(422, "validation_failed");

    let delete = || {
        world
            .request(axum::http::Method::DELETE, "/v1/lexicon/acme")
            .body(axum::body::Body::empty())
            .unwrap()
    };
    assert_eq!(world.send(delete()).await.status.as_u16(), 204);
    world.send(delete()).await.assert_problem(404, "not_found");
}

#[tokio::test]
async fn what_is_read_with_its_neighbours_follows_its_own_rules() {
    let world = World::new().await;
    let put = async |word: &str| {
        let request = world
            .request(axum::http::Method::PUT, &format!("/v1/lexicon/{word}"))
            .header("content-type", "application/json")
            .body(axum::body::Body::from(r#"{"said": "tumbili"}"#));
        world.send(request.unwrap()).await
    };
    let spoken = async |text: &str| {
        let said = world.post("/v1/normalise", &json!({"text": text})).await;
        let words = said.assert_ok().json()["words"].as_array().unwrap().clone();
        let phonemes = words.iter().map(|word| word["phonemes"].clone());
        phonemes.collect::<Vec<_>>()
    };
    let together = "Lipa KES 50 kwa 5 kg.";
    let before = spoken(together).await;
    for word in ["KES", "5", "kg"] {
        put(word).await.assert_ok();
    }
    assert_eq!(spoken(together).await, before);
    let alone = spoken("Andika KES, kisha 5.").await;
    assert_eq!((&alone[1], alone.len()), (&alone[3], 4));
    for word in ["!!", "%24", "%E2%80%A6"] {
        let refused = put(word).await.assert_problem(422, "validation_failed");
        let message = &refused["errors"][0]["message"];
        assert_eq!(message, "word must be a word with letters or figures.");
    }
}

#[tokio::test]
async fn a_key_that_may_manage_keys_makes_lists_and_revokes_them() {
    let world = World::new().await;
    let made = world
        .post(
            "/v1/keys",
            &json!({"name": "IVR", "permissions": ["voices"], "expires_in_days": 7}),
        )
        .await;
    assert_eq!(made.status.as_u16(), 201);
    let made = made.json();
    let new = World {
        key: made["api_key"].as_str().unwrap().to_owned(),
        ..world
    };
    new.get("/v1/voices").await.assert_ok();
    new.get("/v1/keys")
        .await
        .assert_problem(403, "permission_missing");

    let admin = new.key_with(sauti_store::Permissions::all()).await;
    let world = World { key: admin, ..new };
    let listed = world.get("/v1/keys").await.assert_ok().json();
    let listed = listed["keys"].as_array().unwrap();
    assert!(
        listed
            .iter()
            .any(|key| key["key_id"] == made["key_id"] && key.get("api_key").is_none())
    );
    let path = format!("/v1/keys/{}", made["key_id"].as_str().unwrap());
    let delete = world
        .request(axum::http::Method::DELETE, &path)
        .body(axum::body::Body::empty())
        .unwrap();
    assert_eq!(world.send(delete).await.status.as_u16(), 204);
    let revoked = World {
        key: made["api_key"].as_str().unwrap().to_owned(),
        ..world
    };
    revoked
        .get("/v1/voices")
        .await
        .assert_problem(401, "key_revoked");
}

#[tokio::test]
async fn a_rotated_key_gives_way_to_one_like_it_and_the_trail_tells() {
    let world = World::new().await;
    let owner = world.key.clone();
    let made = world
        .post(
            "/v1/keys",
            &json!({"name": "IVR", "permissions": ["voices"]}),
        )
        .await
        .json();
    let rotate = format!("/v1/keys/{}/rotate", made["key_id"].as_str().unwrap());
    // A slip would end the old key at once.
    for slip in ["?old_live_hours=24", "?hours=24", "?old_lives_hours=200"] {
        let refused = world.post(&format!("{rotate}{slip}"), &json!({})).await;
        refused.assert_problem(422, "validation_failed");
    }
    for slip in [
        json!({"hours": 24}),
        json!({"old_lives_hours": "24"}),
        json!({"old_lives_hours": -1}),
    ] {
        let refused = world.post(&rotate, &slip).await;
        refused.assert_problem(422, "validation_failed");
    }
    let still_lives = world.post(&rotate, &json!({"old_lives_hours": 24})).await;
    assert_eq!(still_lives.status.as_u16(), 201);
    let old = World {
        key: made["api_key"].as_str().unwrap().to_owned(),
        ..world
    };
    old.get("/v1/voices").await.assert_ok();
    let world = World { key: owner, ..old };
    let new = world.post(&rotate, &json!({})).await;
    assert_eq!(new.status.as_u16(), 201);
    assert_eq!(new.json()["permissions"], json!(["voices"]));
    let trail = world.get("/v1/audit?limit=1").await.assert_ok().json();
    assert_eq!(trail["entries"][0]["action"], "key.rotated");
    assert!(trail["next_cursor"].is_string());
    world
        .get("/v1/audit?limit=0")
        .await
        .assert_problem(422, "validation_failed");

    let weak = world.key_for(sauti_store::Permission::Keys).await;
    let newest = format!("/v1/keys/{}/rotate", new.json()["key_id"].as_str().unwrap());
    let world = World { key: weak, ..world };
    world
        .post(&newest, &json!({}))
        .await
        .assert_problem(403, "permission_missing");
    let world = World {
        key: made["api_key"].as_str().unwrap().to_owned(),
        ..world
    };
    world
        .get("/v1/voices")
        .await
        .assert_problem(401, "key_revoked");
}

#[tokio::test]
async fn nobody_can_give_a_key_more_than_they_have() {
    let world = World::new().await;
    let key = world.key_for(sauti_store::Permission::Keys).await;
    let world = World { key, ..world };
    let asked = json!({"name": "x", "permissions": ["speech"]});
    world
        .post("/v1/keys", &asked)
        .await
        .assert_problem(403, "permission_missing");
}

#[tokio::test]
async fn the_process_lives_before_it_is_ready() {
    let world = World::new().await;
    assert_eq!(
        world.get("/healthz").await.assert_ok().json()["status"],
        "ok"
    );
    let unready = world.get("/readyz").await;
    unready.assert_problem(503, "warming_up");
    assert!(!unready.header("retry-after").is_empty());
    let metrics = world.get("/metrics").await;
    let text = String::from_utf8(metrics.assert_ok().body.to_vec()).unwrap();
    assert!(text.contains("sauti_http_requests_total"), "{text}");
    assert!(text.contains("sauti_queue_depth"));
}
