use axum::body::Body;
use axum::http::Method;

use crate::support::{TRANSCRIPTIONS, World, silent_wav};

const WAV: Option<(&str, &str)> = Some(("rekodi.wav", "audio/wav"));

#[tokio::test]
async fn a_form_without_a_file_names_the_missing_part() {
    let world = World::new().await;
    let answer = world.transcribe(&[("model", None, b"whisper-1")]).await;
    let body = answer.assert_problem(422, "validation_failed");
    assert_eq!(body["errors"][0]["field"], "file");
    assert_eq!(body["errors"][0]["code"], "required");
}

#[tokio::test]
async fn a_recording_under_another_name_is_told_the_right_one() {
    let world = World::new().await;
    let wav = silent_wav(5.0);
    for name in ["fil", "recording"] {
        let answer = world.transcribe(&[(name, WAV, &wav)]).await;
        let body = answer.assert_problem(422, "validation_failed");
        assert_eq!(body["errors"][0]["field"], name);
        assert_eq!(body["errors"][0]["code"], "near_miss");
        assert!(body["detail"].as_str().unwrap().contains("mean file"));
    }
}

#[tokio::test]
async fn the_bytes_decide_what_a_recording_is() {
    let world = World::new().await;
    world
        .transcribe(&[("file", WAV, b"")])
        .await
        .assert_problem(422, "audio_empty");
    world
        .transcribe(&[("file", WAV, b"<html>not a recording</html>")])
        .await
        .assert_problem(415, "container_unknown");
    let cut = &silent_wav(1.0)[..20];
    let answer = world.transcribe(&[("file", WAV, cut)]).await;
    assert_eq!(
        answer.status.as_u16(),
        422,
        "{}",
        String::from_utf8_lossy(&answer.body)
    );
    // A WAV file under a strange name and type is still a WAV file: it gets as far as the engine.
    let wav = silent_wav(0.5);
    let strange = [("file", Some(("x.txt", "text/plain")), wav.as_slice())];
    world
        .transcribe(&strange)
        .await
        .assert_problem(503, "warming_up");
    let declared = [("file", Some(("x", "audio/basic")), wav.as_slice())];
    world
        .transcribe(&declared)
        .await
        .assert_problem(503, "warming_up");
}

#[tokio::test]
async fn raw_telephone_audio_is_taken_where_it_is_declared() {
    let world = World::new().await;
    let raw = vec![0xff_u8; 8_000];
    for kind in ["audio/basic", "audio/PCMU", "audio/PCMA"] {
        let answer = world.transcribe(&[("file", Some(("x", kind)), &raw)]).await;
        answer.assert_problem(503, "warming_up");
    }
    let undeclared = world
        .transcribe(&[("file", Some(("x.ulaw", "application/octet-stream")), &raw)])
        .await;
    let problem = undeclared.assert_problem(415, "container_unknown");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("audio/basic"), "{detail}");
}

#[tokio::test]
async fn raw_audio_with_a_rate_that_cannot_be_is_refused() {
    let world = World::new().await;
    let raw = vec![0_u8; 8_000];
    for kind in [
        "audio/pcm;rate=-5",
        "audio/pcm;rate=0",
        "audio/pcm;rate=4000000",
        "audio/pcm;rate=fast",
        "audio/basic;rate=44100",
        "audio/pcm;rate=16000;channels=2",
    ] {
        let answer = world.transcribe(&[("file", Some(("x", kind)), &raw)]).await;
        answer.assert_problem(422, "audio_undecodable");
    }
}

#[tokio::test]
async fn a_recording_that_is_too_long_or_too_large_is_refused() {
    let settings = [
        ("limits.recording_seconds_max", "2"),
        ("limits.upload_bytes_max", "100000"),
    ];
    let world = World::with(&settings).await;
    let long = silent_wav(3.0);
    world
        .transcribe(&[("file", WAV, &long)])
        .await
        .assert_problem(413, "recording_too_long");
    let large = vec![0; 100_001];
    world
        .transcribe(&[("file", WAV, &large)])
        .await
        .assert_problem(413, "body_too_large");
    let declared = world
        .request(Method::POST, TRANSCRIPTIONS)
        .header("content-type", "multipart/form-data; boundary=x")
        .header("content-length", "5000000")
        .body(Body::empty())
        .unwrap();
    world
        .send(declared)
        .await
        .assert_problem(413, "body_too_large");
}

#[tokio::test]
async fn a_large_upload_goes_through_a_file_and_leaves_none_behind() {
    let world = World::new().await;
    let wav = silent_wav(60.0);
    assert!(wav.len() > 1_500_000);
    world
        .transcribe(&[("file", WAV, &wav)])
        .await
        .assert_problem(503, "warming_up");
    let spool = world.dir.path().join("data/spool");
    assert_eq!(std::fs::read_dir(spool).unwrap().count(), 0);
}

#[tokio::test]
async fn wrong_fields_and_slips_are_named() {
    let world = World::new().await;
    let wav = silent_wav(0.5);
    let answer = world
        .transcribe(&[
            ("file", WAV, &wav),
            ("response_format", None, b"xml"),
            ("keyterm", None, b"M-Pesa"),
        ])
        .await;
    let body = answer.assert_problem(422, "validation_failed");
    let fields: Vec<_> = body["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["field"].clone())
        .collect();
    assert_eq!(fields, ["response_format", "keyterm"]);
}

#[tokio::test]
async fn a_broken_form_is_malformed() {
    let world = World::new().await;
    let send = |kind: &'static str, body: &'static [u8]| {
        let request = world
            .request(Method::POST, TRANSCRIPTIONS)
            .header("content-type", kind);
        world.send(request.body(Body::from(body)).unwrap())
    };
    send("multipart/form-data", b"")
        .await
        .assert_problem(400, "malformed_multipart");
    send("multipart/form-data; boundary=x", b"")
        .await
        .assert_problem(400, "malformed_multipart");
    let cut = b"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nRIFF";
    send("multipart/form-data; boundary=x", cut)
        .await
        .assert_problem(400, "malformed_multipart");
    let nameless = b"--x\r\nContent-Disposition: form-data\r\n\r\nhello\r\n--x--\r\n";
    send("multipart/form-data; boundary=x", nameless)
        .await
        .assert_problem(400, "malformed_multipart");
}
