//! The whole way through the real models.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Method;
use futures_util::StreamExt;
use http_body_util::BodyExt;
use sauti_speech::Readiness;
use serde_json::json;
use tower::ServiceExt;

use crate::support::{CREDIT_MICRO, SPEECH, TRANSCRIPTIONS, World, multipart, silent_wav};

pub const SENTENCE: &str = "Karibu sana. Leo ni siku njema ya kusema Kiswahili.";

pub async fn ready_world() -> World {
    ready_world_with(&[]).await
}

pub async fn ready_world_with(settings: &[(&str, &str)]) -> World {
    let world = World::with_models(settings).await;
    for _ in 0..1_200 {
        match world.app.engine.readiness() {
            Readiness::Ready => return world,
            Readiness::Loading => tokio::time::sleep(Duration::from_millis(100)).await,
            other => panic!("the engine does not start: {other:?}"),
        }
    }
    panic!("the engine does not become ready");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_spoken_is_heard_again_and_both_are_paid_for() {
    let world = ready_world().await;
    let body = json!({"text": SENTENCE, "voice_id": "asha"});
    let spoken = world.post(SPEECH, &body).await;
    spoken.assert_ok();
    assert_eq!(spoken.header("content-type"), "audio/wav");
    assert_eq!(
        spoken.header("content-length"),
        spoken.body.len().to_string()
    );
    assert_eq!(spoken.header("sauti-cache"), "miss");
    assert_eq!(&spoken.body[..4], b"RIFF");
    let riff_size = u32::from_le_bytes(spoken.body[4..8].try_into().unwrap());
    assert_eq!(riff_size as usize, spoken.body.len() - 8);
    let again = world.post(SPEECH, &body).await;
    assert_eq!(again.assert_ok().header("sauti-cache"), "hit");
    assert_eq!(again.body, spoken.body);

    let heard = world
        .transcribe(&[("file", Some(("a.wav", "audio/wav")), &spoken.body)])
        .await;
    let heard_body = heard.assert_ok().json();
    assert_eq!(
        heard_body.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["text"]
    );
    let errors = sauti_text::compare::word_errors(SENTENCE, heard_body["text"].as_str().unwrap());
    assert!(errors.rate() < 0.3, "{heard_body}");

    let costs =
        [&spoken, &again, &heard].map(|answer| answer.header("sauti-cost").parse::<i64>().unwrap());
    assert_eq!(
        world.balance_micro().await,
        CREDIT_MICRO - costs.iter().sum::<i64>()
    );
    world.assert_ledger_is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_carry_the_sound_and_settle_their_price() {
    let world = ready_world().await;
    let body = json!({"text": SENTENCE, "voice_id": "juma", "stream": "audio"});
    let streamed = world.post(SPEECH, &body).await;
    assert_eq!(&streamed.assert_ok().body[..4], b"RIFF");
    assert_eq!(streamed.header("content-length"), "");
    let events = world
        .post(
            SPEECH,
            &json!({"text": SENTENCE, "voice_id": "juma", "stream": "sse", "timestamps": true}),
        )
        .await;
    let text = String::from_utf8(events.assert_ok().body.to_vec()).unwrap();
    assert!(
        text.starts_with("event: speech.audio.delta\ndata: {"),
        "{}",
        &text[..80]
    );
    assert!(text.contains("event: speech.audio.done\n") && text.contains("\"words\":"));
    let cost: i64 = streamed.header("sauti-cost").parse().unwrap();
    assert_eq!(world.balance_micro().await, CREDIT_MICRO - 2 * cost);

    let spoken = world
        .post(SPEECH, &json!({"text": SENTENCE, "voice_id": "juma"}))
        .await;
    let recording = (
        "file",
        Some(("a.wav", "audio/wav")),
        spoken.assert_ok().body.as_ref(),
    );
    let events = world
        .transcribe(&[recording, ("stream", None, b"true")])
        .await;
    let text = String::from_utf8(events.assert_ok().body.to_vec()).unwrap();
    assert!(
        text.contains("event: transcript.text.delta\n")
            && text.contains("event: transcript.text.done\n")
    );
    world.assert_ledger_is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn marks_come_back_with_their_times_and_cost_nothing() {
    let world = ready_world().await;
    let text = "<speak><mark name=\"a\"/>Bei ni <mark name=\"b\"/>KSh <mark name=\"c\"/>1,500.\
        <mark name=\"d\"/><break time=\"2s\"/><mark name=\"e\"/>Asante <emphasis>sana</emphasis>.\
        <mark name=\"f\"/></speak>";
    let body = json!({"text": text, "voice_id": "juma", "pitch": 2, "timestamps": true});
    let spoken = world.post(SPEECH, &body).await;
    let answer = spoken.assert_ok().json();
    let time = |at: usize| answer["marks"][at]["time"].as_f64().unwrap();
    let names: Vec<_> = (0..6)
        .map(|at| answer["marks"][at]["name"].as_str())
        .collect();
    assert_eq!(names, ["a", "b", "c", "d", "e", "f"].map(Some));
    assert!(
        (1..6).all(|at| time(at - 1) <= time(at)),
        "{}",
        answer["marks"]
    );
    assert_eq!(answer["words"][2]["start"], answer["marks"][1]["time"]);
    assert!(time(4) - time(3) >= 2.0, "{}", answer["marks"]);
    assert_eq!(answer["seconds"], answer["marks"][5]["time"]);

    let stream =
        json!({"text": text, "voice_id": "juma", "pitch": 2, "timestamps": true, "stream": "sse"});
    let events = world.post(SPEECH, &stream).await;
    let events = String::from_utf8(events.assert_ok().body.to_vec()).unwrap();
    let told: Vec<serde_json::Value> = events
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    let marks: Vec<_> = told
        .iter()
        .filter_map(|event| event["marks"].as_array())
        .flatten()
        .collect();
    assert_eq!(
        marks,
        answer["marks"]
            .as_array()
            .unwrap()
            .iter()
            .collect::<Vec<_>>()
    );

    let plain = "Bei ni KSh 1,500. Asante sana.";
    let quote = world
        .post("/v1/quotes", &json!({"text": plain}))
        .await
        .assert_ok()
        .json();
    assert_eq!(spoken.header("sauti-cost"), quote["cost_micro"].to_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_cut_costs_what_was_taken_of_it() {
    let world = ready_world().await;
    let text = format!("{SENTENCE} ").repeat(12);
    for stream in ["audio", "sse"] {
        let mut paid_micro = Vec::new();
        let mut whole_micro = 0;
        for pieces in [0, 1, 6] {
            let before_micro = world.balance_micro().await;
            let body = json!({"text": text, "voice_id": "asha", "stream": stream});
            let request = world
                .request(axum::http::Method::POST, SPEECH)
                .header("content-type", "application/json")
                .body(axum::body::Body::from(body.to_string()));
            let answer = world
                .router
                .clone()
                .oneshot(request.unwrap())
                .await
                .unwrap();
            assert!(answer.status().is_success());
            whole_micro = answer.headers()["sauti-cost"]
                .to_str()
                .unwrap()
                .parse()
                .unwrap();
            let mut sound = answer.into_body().into_data_stream();
            for _ in 0..pieces {
                sound.next().await.unwrap().unwrap();
            }
            drop(sound);
            world.until_nothing_is_held().await;
            paid_micro.push(before_micro - world.balance_micro().await);
        }
        assert_eq!(paid_micro[0], 0, "{stream}: nothing taken, nothing paid");
        assert!(paid_micro[1] > 0, "{stream}: {paid_micro:?}");
        assert!(paid_micro[1] < paid_micro[2], "{stream}: {paid_micro:?}");
        assert!(paid_micro[2] < whole_micro, "{stream}: {paid_micro:?}");
    }
    world.assert_ledger_is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_who_leaves_a_transcript_stream_pays_for_the_segments_it_took() {
    let world = ready_world().await;
    let body = json!({"text": SENTENCE, "voice_id": "juma", "output_format": "raw_pcm_16000"});
    let spoken = world.post(SPEECH, &body).await;
    let pause = vec![0; 2 * 2 * 16_000];
    let sound = [spoken.assert_ok().body.as_ref(), &pause]
        .concat()
        .repeat(4);
    let before_micro = world.balance_micro().await;
    let recording = (
        "file",
        Some(("a", "audio/pcm;rate=16000")),
        sound.as_slice(),
    );
    let open = async || {
        let (content_type, form) = multipart(&[recording, ("stream", None, b"true")]);
        let request = world
            .request(Method::POST, TRANSCRIPTIONS)
            .header("content-type", content_type);
        let request = request.body(Body::from(form)).unwrap();
        let router = sauti_server::http::router(world.app.clone(), Arc::default());
        router.oneshot(request).await.unwrap().into_body()
    };

    drop(open().await);
    world.until_nothing_is_held().await;
    assert_eq!(
        world.balance_micro().await,
        before_micro,
        "nothing was taken"
    );

    let mut body = open().await;
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    drop(body);
    let first = String::from_utf8(first.to_vec()).unwrap();
    let event = first.split("data: ").nth(1).unwrap();
    let event: serde_json::Value = serde_json::from_str(event).unwrap();
    let done_ms = (event["done_seconds"].as_f64().unwrap() * 1_000.0).round() as i64;
    world.until_nothing_is_held().await;
    let paid_micro = before_micro - world.balance_micro().await;
    assert_eq!(paid_micro, done_ms * 25, "a second costs 25,000: {event}");
    assert!(done_ms < sound.len() as i64 / 32, "there was more to come");
    world.assert_ledger_is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expected_answer_is_a_plain_value_and_other_speech_is_told_from_silence() {
    let world = ready_world().await;
    let listen = async |said: &str, field: &str, value: &str| {
        let body = json!({"text": said, "voice_id": "asha", "output_format": "wav_16000"});
        let spoken = world.post(SPEECH, &body).await;
        let recording = (
            "file",
            Some(("a.wav", "audio/wav")),
            &*spoken.assert_ok().body,
        );
        let form = [recording, (field, None, value.as_bytes())];
        world.transcribe(&form).await.assert_ok().json()
    };
    assert_eq!(listen("Ndiyo.", "expect", "yes_no").await["answer"], true);
    assert_eq!(listen("Sitaki.", "expect", "yes_no").await["answer"], false);
    let digits = listen("Sifuri, saba, moja, mbili.", "expect", "digits").await;
    assert_eq!(digits["answer"], "0712");
    let amount = listen("Shilingi elfu mbili na mia tano.", "expect", "amount").await;
    assert_eq!(amount["answer"], 2_500);
    assert_eq!(amount["currency"], "shilingi");
    assert_eq!(
        listen("Salio.", "choices[]", "Salio").await["answer"],
        "Salio"
    );

    let other = listen(SENTENCE, "expect", "digits").await;
    assert_eq!(other["text"], "");
    assert_eq!(other["answer"], serde_json::Value::Null);
    assert_eq!(other["not_understood"], true);
    let silence = silent_wav(2.0);
    let recording = ("file", Some(("a.wav", "audio/wav")), silence.as_slice());
    let form = [
        recording,
        ("expect", None, b"digits".as_slice()),
        ("response_format", None, b"verbose_json"),
    ];
    let silence = world.transcribe(&form).await.assert_ok().json();
    assert_eq!(silence["not_understood"], false);
    assert_eq!(silence["no_speech"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn speech_is_checked_by_ear_when_asked_new_or_from_the_cache() {
    let world = ready_world().await;
    for (format, cache) in [
        ("wav_24000", "miss"),
        ("ulaw_8000", "miss"),
        ("wav_24000", "hit"),
    ] {
        let body = json!({"text": SENTENCE, "voice_id": "zuri", "output_format": format, "self_check": true});
        let answer = world.post(SPEECH, &body).await;
        assert_eq!(answer.assert_ok().header("sauti-cache"), cache);
        let answer = answer.json();
        let check = &answer["self_check"];
        assert!(check["cer_percent"].as_f64().unwrap() < 15.0, "{check}");
        assert!(
            check["heard"].as_str().unwrap().contains("aribu"),
            "{check}"
        );
        assert_eq!(answer["output_format"], format);
    }
    let plain = json!({"text": SENTENCE, "voice_id": "zuri", "verbose": true});
    let plain = world.post(SPEECH, &plain).await.assert_ok().json();
    assert!(plain.get("self_check").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_has_no_words() {
    let world = ready_world().await;
    let silence = crate::support::silent_wav(3.0);
    let recording = ("file", Some(("a.wav", "audio/wav")), silence.as_slice());
    assert_eq!(
        world.transcribe(&[recording]).await.assert_ok().json(),
        json!({"text": ""})
    );
    let verbose = world
        .transcribe(&[recording, ("response_format", None, b"verbose_json")])
        .await
        .assert_ok()
        .json();
    assert_eq!(verbose["no_speech"], true);
    let vtt = world
        .transcribe(&[recording, ("response_format", None, b"vtt")])
        .await;
    assert_eq!(vtt.assert_ok().body, &b"WEBVTT\n\n"[..]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_voice_can_be_heard_for_free() {
    let world = ready_world().await;
    let preview = world.get("/v1/voices/asha/preview").await;
    assert_eq!(preview.assert_ok().header("content-type"), "audio/wav");
    assert_eq!(world.balance_micro().await, CREDIT_MICRO);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_would_wait_too_long_is_refused_before_money_or_a_recording_is_touched() {
    let world = ready_world().await;
    let known = json!({"text": SENTENCE, "voice_id": "asha"});
    let keyed = [("idempotency-key", "kesho")];
    world.post_with(SPEECH, &known, &keyed).await.assert_ok();
    let before_micro = world.balance_micro().await;
    // Hours of work of others, for every worker. Of each workspace only the next job goes before ours.
    let engine = &world.app.engine;
    let book = |n: u32| {
        engine
            .book_speech(&format!("workspace {n}"), 10_000_000)
            .ok()
    };
    let ahead: Vec<_> = (0..).map_while(book).collect();

    let new = json!({"text": "Habari mpya kabisa.", "voice_id": "asha"});
    let streamed = json!({"text": "Habari mpya kabisa.", "voice_id": "asha", "stream": "audio"});
    for body in [&new, &streamed] {
        let refused = world.post(SPEECH, body).await;
        refused.assert_problem(503, "overloaded");
        assert!(refused.header("retry-after").parse::<u64>().unwrap() >= 1);
    }
    let file = [("file", Some(("a.wav", "audio/wav")), &b"no recording"[..])];
    let refused = world.transcribe(&file).await;
    refused.assert_problem(503, "overloaded");
    let keyed_file = world.transcribe_with(&file, &[("idempotency-key", "leo")]);
    keyed_file.await.assert_problem(503, "overloaded");
    // An upload that nobody would look at is not waited for.
    let never = futures_util::stream::pending::<Result<&[u8], std::io::Error>>();
    let upload = world
        .request(axum::http::Method::POST, "/v1/audio/transcriptions")
        .header("content-type", "multipart/form-data; boundary=b")
        .header("content-length", "100000")
        .body(axum::body::Body::from_stream(never));
    let refused = world.send(upload.unwrap()).await;
    refused.assert_problem(503, "overloaded");

    // What needs no model is answered all the same.
    let again = world.post_with(SPEECH, &known, &keyed).await;
    assert_eq!(again.assert_ok().header("idempotency-replayed"), "true");
    assert_eq!(world.balance_micro().await, before_micro);
    let cached = world.post(SPEECH, &known).await;
    assert_eq!(cached.assert_ok().header("sauti-cache"), "hit");

    drop(ahead);
    world.post(SPEECH, &new).await.assert_ok();
    world.until_nothing_is_held().await;
    world.assert_ledger_is_sound().await;
    let refusals = engine.stats().transcription.refusals;
    assert_eq!((refusals.wait, refusals.queue, refusals.tenant), (3, 0, 0));
}

/// The sentence by asha on the left, and after it by juma on the right.
pub async fn call_of_two(world: &World) -> Vec<u8> {
    let mut sides = Vec::new();
    for voice in ["asha", "juma"] {
        let body = json!({"text": SENTENCE, "voice_id": voice, "output_format": "raw_pcm_8000"});
        sides.push(world.post(SPEECH, &body).await.assert_ok().body.to_vec());
    }
    let quiet = |side: &Vec<u8>| vec![0; side.len()];
    let left = [sides[0].clone(), quiet(&sides[1])].concat();
    let right = [quiet(&sides[0]), sides[1].clone()].concat();
    let frames = left.chunks(2).zip(right.chunks(2));
    frames.flat_map(|(l, r)| [l, r].concat()).collect()
}

fn stereo_wav(pcm: &[u8]) -> Vec<u8> {
    let bytes = pcm.len() as u32;
    let mut wav = b"RIFF".to_vec();
    wav.extend((36 + bytes).to_le_bytes());
    wav.extend(b"WAVEfmt \x10\0\0\0\x01\0\x02\0");
    wav.extend(8_000u32.to_le_bytes());
    wav.extend(32_000u32.to_le_bytes());
    wav.extend(b"\x04\0\x10\0data");
    wav.extend(bytes.to_le_bytes());
    wav.extend(pcm);
    wav
}

#[tokio::test(flavor = "multi_thread")]
async fn the_two_sides_of_a_call_are_heard_separately_at_the_quoted_price() {
    let world = ready_world().await;
    let pcm = call_of_two(&world).await;
    let (wav, seconds) = (stereo_wav(&pcm), pcm.len() as f64 / 32_000.0);
    let recording = ("file", Some(("a.wav", "audio/wav")), wav.as_slice());
    let separate = ("channels", None, "separate".as_bytes());
    let quote = json!({"audio_seconds": seconds, "channels": "separate"});
    let quote = world.post("/v1/quotes", &quote).await.assert_ok().json();
    let verbose = ("response_format", None, "verbose_json".as_bytes());
    let words = (
        "timestamp_granularities",
        None,
        r#"["word", "segment"]"#.as_bytes(),
    );
    let heard = world
        .transcribe(&[recording, separate, verbose, words])
        .await;
    let cost_micro = heard
        .assert_ok()
        .header("sauti-cost")
        .parse::<i64>()
        .unwrap();
    assert_eq!(quote["cost_micro"], cost_micro);
    assert_eq!(
        heard.header("sauti-units"),
        (2 * seconds.ceil() as i64).to_string()
    );
    let heard = heard.json();
    let twice = format!("{SENTENCE} {SENTENCE}");
    let errors = sauti_text::compare::word_errors(&twice, heard["text"].as_str().unwrap());
    assert!(errors.rate() < 0.3, "{heard}");
    for part in ["segments", "words"] {
        let channels: Vec<i64> = heard[part]
            .as_array()
            .unwrap()
            .iter()
            .map(|part| part["channel"].as_i64().unwrap())
            .collect();
        assert!(channels.is_sorted() && channels.contains(&1) && channels.contains(&2));
    }

    let names = ("channel_names", None, r#"["Wakala", "Mteja"]"#.as_bytes());
    let vtt = ("response_format", None, "vtt".as_bytes());
    let heard = world.transcribe(&[recording, separate, names, vtt]).await;
    let heard = String::from_utf8(heard.assert_ok().body.to_vec()).unwrap();
    assert!(
        heard.contains("<v Wakala>") && heard.contains("<v Mteja>"),
        "{heard}"
    );

    let mono = silent_wav(1.0);
    let mono = ("file", Some(("a.wav", "audio/wav")), mono.as_slice());
    let refused = world.transcribe(&[mono, separate]).await;
    refused.assert_problem(422, "validation_failed");
    assert_eq!(refused.json()["errors"][0]["field"], "channels");
    world.assert_ledger_is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn people_on_one_channel_are_told_apart_in_openais_shape() {
    let world = ready_world().await;
    let mut pcm = vec![0; 16_000];
    for voice in ["asha", "juma", "asha", "juma"] {
        let body = json!({"text": SENTENCE, "voice_id": voice, "output_format": "raw_pcm_16000"});
        pcm.extend(world.post(SPEECH, &body).await.assert_ok().body.to_vec());
        pcm.extend(vec![0; 24_000]);
    }
    let recording = (
        "file",
        Some(("a.pcm", "audio/pcm;rate=16000")),
        pcm.as_slice(),
    );
    let diarized = ("response_format", None, "diarized_json".as_bytes());
    let heard = world.transcribe(&[recording, diarized]).await;
    let cost_micro = heard.assert_ok().header("sauti-cost").to_owned();
    let heard = heard.json();
    let segments = heard["segments"].as_array().unwrap();
    let mut speakers: Vec<&str> = Vec::new();
    for segment in segments {
        assert_eq!(segment["type"], "transcript.text.segment");
        assert!(
            segment["start"].as_f64() < segment["end"].as_f64(),
            "{segment}"
        );
        speakers.push(segment["speaker"].as_str().unwrap());
    }
    speakers.dedup();
    assert_eq!(speakers, ["A", "B", "A", "B"], "{heard}");
    let four_times = [SENTENCE; 4].join(" ");
    let errors = sauti_text::compare::word_errors(&four_times, heard["text"].as_str().unwrap());
    assert!(errors.rate() < 0.3, "{heard}");

    let stream = ("stream", None, "true".as_bytes());
    let events = world.transcribe(&[recording, diarized, stream]).await;
    assert_eq!(events.assert_ok().header("sauti-cost"), cost_micro);
    let events = String::from_utf8(events.body.to_vec()).unwrap();
    let told = events.matches("event: transcript.text.segment\n").count();
    assert_eq!(told, segments.len(), "{events}");
    assert!(events.contains("event: transcript.text.done\n"));

    let (diarize, srt) = (
        ("diarize", None, "true".as_bytes()),
        ("response_format", None, "srt".as_bytes()),
    );
    let heard = world.transcribe(&[recording, diarize, srt]).await;
    let heard = String::from_utf8(heard.assert_ok().body.to_vec()).unwrap();
    assert!(
        heard.contains("Speaker A: ") && heard.contains("Speaker B: "),
        "{heard}"
    );
    world.assert_ledger_is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn second_guesses_come_best_first_with_their_values() {
    let world = ready_world().await;
    let spoken = world
        .post(SPEECH, &json!({"text": "Ndiyo.", "voice_id": "asha"}))
        .await;
    let recording = (
        "file",
        Some(("a.wav", "audio/wav")),
        spoken.assert_ok().body.as_ref(),
    );
    let asked = async |name: &str, value: &[u8]| {
        let count = ("alternatives", None, &b"3"[..]);
        world
            .transcribe(&[recording, count, (name, None, value)])
            .await
    };
    let heard = asked("expect", b"yes_no").await.assert_ok().json();
    let all = heard["alternatives"].as_array().unwrap();
    assert_eq!(all[0]["answer"], true, "{heard}");
    assert_eq!(all[0]["text"], heard["text"]);
    assert!(all.iter().skip(1).all(|other| other["answer"] != true));

    let heard = asked("response_format", b"verbose_json").await;
    let heard = heard.assert_ok().json();
    let whole = heard["alternatives"].as_array().unwrap();
    assert_eq!(whole[0]["text"], heard["text"]);
    assert!(whole.len() > 1 && whole.len() <= 3, "{heard}");
    assert_eq!(
        heard["segments"][0]["alternatives"][0]["text"],
        heard["text"]
    );
    let refused = asked("response_format", b"srt").await;
    assert_eq!(refused.status, 422);
}
