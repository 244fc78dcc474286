//! A quote and its charge are the same number, whatever is asked.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use sauti_audio::OutputFormat;
use serde_json::{Value, json};

use crate::support::{SPEECH, World};

const QUOTES: &str = "/v1/quotes";
const PIECES: &[&str] = &[
    "habari",
    "yako",
    "Bei ni",
    "KSh 1,500",
    "saa 3:30",
    "5.5%",
    "0712345678",
    "M-Pesa",
    "Sauti",
    "laptop",
    "ku-download",
    "You have 2 messages.",
    "15/8/2026",
    "—",
    "%%%%",
    "aaaaaaaa",
    "WWW",
    "na",
    ",",
    ".",
    "?",
    "!",
    "\n\n",
    "1",
    "½",
    "<b>",
    "&amp;",
    "😀",
    "é",
    "中",
    "(tazama)",
];

/// Texts, SSML, what passes for it and what does not, with any direction and format.
fn requests() -> impl Strategy<Value = Value> {
    let text = prop::collection::vec(select(PIECES), 1..25).prop_map(|pieces| pieces.join(" "));
    let marked = text.clone().prop_map(|text| {
        let text = text.replace(['<', '&'], "");
        format!(
            "<speak><mark name=\"a\"/>{text} <break time=\"300ms\"/><mark name=\"b\"/>\
             <prosody rate=\"80%\" pitch=\"+2st\" volume=\"soft\">{text}</prosody> \
             <emphasis>{text}</emphasis> <sub alias=\"shilingi kumi\">KSh 10</sub></speak>"
        )
    });
    let ssml = prop_oneof![3 => Just(None), 1 => any::<bool>().prop_map(Some)];
    let format = select(&OutputFormat::ALL[..]);
    let language = select(&["sw", "en", "auto"][..]);
    let direction = (5..=20u32, -13..=13i32, -25..=13i32);
    let all = (prop_oneof![text, marked], ssml, direction, format, language);
    all.prop_map(|(text, ssml, (tenths, pitch, volume), format, language)| {
        let mut body = json!({"text": text, "voice_id": "asha", "speed": f64::from(tenths) / 10.0,
            "pitch": pitch, "volume": volume, "output_format": format.name(), "language": language});
        if let Some(ssml) = ssml {
            body["ssml"] = json!(ssml);
        }
        body
    })
}

/// Two workspaces that say the same words in their own way, one of them without money.
async fn worlds() -> (World, World) {
    let many = [("limits.requests_per_minute", "1000000")];
    let (rich, mut poor) = (World::with(&many).await, World::with(&many).await);
    let owner = Some(&poor.account_id);
    let made = poor.app.store.create_workspace(owner, "Maskini", "KES");
    poor.workspace_id = made.await.unwrap().id;
    poor.key = poor.make_key(poor.new_key()).await;
    for world in [&rich, &poor] {
        for (word, said) in [("Sauti", "sauti ya watu wote"), ("M-Pesa", "em pesa")] {
            let address = format!("/v1/lexicon/{word}");
            let request = world
                .request(axum::http::Method::PUT, &address)
                .header("content-type", "application/json")
                .body(json!({"said": said}).to_string().into());
            world.send(request.unwrap()).await.assert_ok();
        }
    }
    (rich, poor)
}

#[test]
fn a_quote_and_its_charge_are_the_same_number() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (rich, poor) = runtime.block_on(worlds());
    let config = Config {
        cases: 128,
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&requests(), |body| {
        runtime.block_on(async {
            let quote = rich.post(QUOTES, &body).await;
            let missed = poor.post(SPEECH, &body).await;
            if !quote.status.is_success() {
                prop_assert_eq!(quote.status, missed.status);
                prop_assert_eq!(&quote.json()["code"], &missed.json()["code"]);
                return Ok(());
            }
            let quote = quote.json();
            // New speech: what would be set aside for it.
            let refused = missed.assert_problem(402, "balance_insufficient");
            prop_assert_eq!(&refused["required"], &quote["cost_micro"]);
            // The same from the cache.
            let lexicon = rich.app.lexicons.of(&rich.app.store, &rich.workspace_id);
            rich.remember_speech_by(&lexicon.await.unwrap(), &body, b"sound");
            let before_micro = rich.balance_micro().await;
            let hit = rich.post(SPEECH, &body).await;
            if hit.status.as_u16() == 402 {
                return Ok(());
            }
            hit.assert_ok();
            prop_assert_eq!(hit.header("sauti-cache"), "hit");
            prop_assert_eq!(hit.header("sauti-units"), quote["units"].to_string());
            prop_assert_eq!(
                hit.header("sauti-cost"),
                quote["cached_cost_micro"].to_string()
            );
            let paid_micro = before_micro - rich.balance_micro().await;
            prop_assert_eq!(
                paid_micro.to_string(),
                quote["cached_cost_micro"].to_string()
            );
            Ok(())
        })
    });
    outcome.unwrap();
}

#[tokio::test]
async fn what_cannot_be_spoken_has_no_price() {
    let world = World::new().await;
    for (text, status, code) in [
        ("—".to_owned(), 422, "text_unspeakable"),
        ("%a ".repeat(1_666), 413, "speech_too_long"),
        ("a".repeat(5_001), 422, "validation_failed"),
        ("<speak><p>".to_owned(), 422, "ssml_invalid"),
    ] {
        let body = json!({"text": text, "voice_id": "asha"});
        for address in [QUOTES, SPEECH] {
            world
                .post(address, &body)
                .await
                .assert_problem(status, code);
        }
    }
    let limits = world.get("/v1/limits").await.assert_ok().json();
    assert_eq!(limits["speech_seconds_max"], 900);
}

#[tokio::test]
async fn one_letter_without_end_costs_what_is_said_of_it() {
    let world = World::new().await;
    let body = json!({"text": "a".repeat(5_000), "voice_id": "asha"});
    let quote = world.post(QUOTES, &body).await.assert_ok().json();
    assert_eq!(quote["units"], "aa.".len());
    assert_eq!(quote["cost_micro"], 10_000, "the smallest charge");
}

#[tokio::test]
async fn spaces_around_a_text_count_nowhere() {
    let world = World::new().await;
    let longest = format!("{}a", "baba ".repeat(1_000).trim_end());
    assert_eq!(longest.len(), 5_000);
    for path in ["/v1/quotes", "/v1/normalise"] {
        let ask = async |text: String| world.post(path, &json!({"text": text})).await;
        ask(format!("\n {longest}\n")).await.assert_ok();
        let refused = ask(format!("{longest}a\n")).await;
        let problem = refused.assert_problem(422, "validation_failed");
        let message = problem["errors"][0]["message"].as_str().unwrap();
        assert!(message.starts_with("text has 5001 characters"), "{message}");
    }
}
