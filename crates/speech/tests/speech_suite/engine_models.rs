//! The engine with the real models: what one voice says, the recogniser understands.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sauti_audio::Samples;
use sauti_speech::{
    Engine, EngineConfig, Job, Priority, Readiness, SpeakEvent, SpeakRequest, SpeechError,
    TranscribeEvent, TranscribeRequest, Transcript,
};
use sauti_text::{Lexicon, Script};

const MEMORY_AT_REST_MAX_BYTES: u64 = 700_000_000;

fn start() -> Engine {
    let models_dir = std::env::var_os("SAUTI_MODELS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models"),
        PathBuf::from,
    );
    Engine::start(EngineConfig {
        models_dir,
        ..EngineConfig::default()
    })
    .expect("the catalogue is readable")
}

async fn ready(engine: &Engine) {
    loop {
        match engine.readiness() {
            Readiness::Ready => return,
            Readiness::Loading => tokio::time::sleep(Duration::from_millis(20)).await,
            other => panic!("{other:?}"),
        }
    }
}

fn job(tenant: &str) -> Job {
    Job {
        tenant: tenant.to_owned(),
        deadline: Instant::now() + Duration::from_secs(300),
        priority: Priority::Interactive,
    }
}

fn say(voice_id: &str, text: &str) -> SpeakRequest {
    SpeakRequest {
        voice_id: voice_id.to_owned(),
        script: Script::from_text(text, &Lexicon::builtin()).expect("speakable"),
        direction: sauti_speech::Direction::default(),
    }
}

async fn speak(engine: &Engine, request: SpeakRequest) -> Vec<f32> {
    let mut handle = engine
        .speak(job("speaker"), request, None)
        .expect("there is room");
    let mut spoken = Vec::new();
    while let Some(event) = handle.next().await {
        match event.expect("it speaks") {
            SpeakEvent::Audio { samples, .. } => spoken.extend(samples),
            SpeakEvent::Done { seconds } => {
                assert!((seconds - spoken.len() as f64 / 24_000.0).abs() < 0.01);
            }
        }
    }
    spoken
}

fn recording(spoken: &[f32]) -> Samples {
    sauti_audio::resample(spoken, 24_000, 16_000)
        .iter()
        .map(|sample| (sample * 32_767.0) as i16)
        .collect::<Vec<_>>()
        .into()
}

async fn transcribe(engine: &Engine, samples: Samples) -> Transcript {
    let request = TranscribeRequest {
        samples,
        ..TranscribeRequest::default()
    };
    let mut handle = engine
        .transcribe(job("listener"), request, None)
        .expect("there is room");
    while let Some(event) = handle.next().await {
        if let TranscribeEvent::Done(transcript) = event.expect("it listens") {
            return transcript;
        }
    }
    panic!("no transcript came");
}

/// What is resident now.
#[cfg(target_os = "linux")]
fn memory_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let resident = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .expect("a line for it");
    let kilobytes: u64 = resident
        .split_whitespace()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .expect("a number");
    kilobytes * 1024
}

// One test, so that the models are loaded once.
#[tokio::test(flavor = "multi_thread")]
async fn both_models_work_through_the_queue_and_rest_in_bounded_memory() {
    let engine = start();
    assert!(
        engine.voices().len() >= 4,
        "known before the weights are loaded"
    );
    let early = engine.speak(job("early"), say("asha", "Habari."), None);
    assert!(
        matches!(early, Err(SpeechError::WarmingUp { .. })),
        "{early:?}"
    );
    ready(&engine).await;
    #[cfg(target_os = "linux")]
    {
        let used = memory_bytes();
        assert!(used < MEMORY_AT_REST_MAX_BYTES, "{used} bytes at rest");
    }

    let unknown = engine.speak(job("a"), say("nobody", "Habari."), None);
    assert!(
        matches!(unknown, Err(SpeechError::UnknownVoice(_))),
        "{unknown:?}"
    );

    let request = say("asha", "Habari za asubuhi, karibu sana nyumbani kwetu.");
    let (once, again) = tokio::join!(speak(&engine, request.clone()), speak(&engine, request));
    assert_eq!(
        once, again,
        "workers share one model and agree to the last sample"
    );
    let transcript = transcribe(&engine, recording(&once)).await;
    let words = transcript.text.to_lowercase();
    assert!(
        words.contains("asubuhi") && words.contains("karibu"),
        "{words}"
    );

    let greeting = "Habari za leo? Karibu Nairobi.";
    let spoken = speak(&engine, say("asha", greeting)).await;
    let transcript = transcribe(&engine, recording(&spoken)).await;
    assert_eq!(transcript.text, greeting, "with its question mark");

    let silence: Samples = vec![0; 16_000 * 5].into();
    let transcript = transcribe(&engine, silence).await;
    assert!(
        transcript.no_speech && transcript.text.is_empty(),
        "{transcript:?}"
    );

    assert!(engine.drain(Instant::now() + Duration::from_secs(60)).await);
    let stats = engine.stats();
    assert_eq!(
        (stats.speech.done, stats.transcription.done, stats.panics),
        (3, 3, 0)
    );
    assert!(stats.speech.audio_seconds > 2.0 && stats.transcription.audio_seconds > 5.0);
}
