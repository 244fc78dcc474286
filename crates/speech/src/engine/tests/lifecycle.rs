//! Loading, failing, recovering and shutting down.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::puppet::{SMALL, Seen, Stage, Step, outcome};
use crate::SpeechError;
use crate::engine::Readiness;
use crate::engine::pool_state::PoolConfig;

#[tokio::test]
async fn a_job_gives_its_events_in_order_and_then_ends() {
    let mut stage = Stage::ready(SMALL).await;
    let orders = stage.direct("greeting");
    let handle = stage.speak("a", "greeting").unwrap();
    for step in [Step::Emit, Step::Emit, Step::Finish] {
        orders.send(step).unwrap();
    }
    assert!(matches!(outcome(handle).await, (2, Ok(()))));
    assert_eq!(stage.saw_started().await, "greeting");
    stage.until(|stage| stage.pool.stats().done == 1).await;
    let speech = stage.pool.stats().speech;
    assert_eq!((speech.audio_seconds, speech.running), (0.01, 0));
}

#[tokio::test]
async fn nothing_is_taken_before_every_worker_is_warm() {
    let (finish_loading, loading) = channel::<()>();
    let loading = Mutex::new(loading);
    let two = PoolConfig {
        workers: 2,
        ..SMALL
    };
    let mut stage = Stage::with_loading(two, move || {
        let _ = loading.lock().recv();
        Ok(())
    });
    assert_eq!(stage.pool.readiness(), Readiness::Loading);
    let refused = stage.speak("a", "early").unwrap_err();
    assert!(
        matches!(refused, SpeechError::WarmingUp { .. }),
        "{refused:?}"
    );

    finish_loading.send(()).unwrap();
    assert_eq!(stage.saw().await, Seen::Loaded);
    assert_eq!(
        stage.pool.readiness(),
        Readiness::Loading,
        "one worker is still loading"
    );
    finish_loading.send(()).unwrap();
    assert_eq!(stage.saw().await, Seen::Loaded);
    stage
        .until(|stage| stage.pool.readiness() == Readiness::Ready)
        .await;
    assert!(stage.pool.stats().model_load_ms > 0);
    assert!(outcome(stage.speak("a", "now").unwrap()).await.1.is_ok());
}

#[tokio::test]
async fn models_that_do_not_load_are_named_in_the_readiness() {
    let stage = Stage::with_loading(SMALL, || {
        Err(SpeechError::Model("voices.bin is damaged".to_owned()))
    });
    let failed = Readiness::Failed("voices.bin is damaged".to_owned());
    stage.until(|stage| stage.pool.readiness() == failed).await;
    let refused = stage.speak("a", "early").unwrap_err();
    assert!(matches!(refused, SpeechError::Model(_)), "{refused:?}");
}

#[tokio::test]
async fn a_panic_costs_one_job_and_the_model_is_loaded_again() {
    let mut stage = Stage::ready(SMALL).await;
    let orders = stage.direct("cursed");
    let cursed = stage.speak("a", "cursed").unwrap();
    let next = stage.speak("a", "next").unwrap();
    assert_eq!(stage.saw_started().await, "cursed");
    orders.send(Step::Panic).unwrap();
    assert!(matches!(
        outcome(cursed).await,
        (0, Err(SpeechError::Internal))
    ));
    assert_eq!(stage.saw().await, Seen::Unloaded);
    assert_eq!(stage.saw().await, Seen::Loaded);
    assert!(outcome(next).await.1.is_ok());
    let stats = stage.pool.stats();
    assert_eq!((stats.panics, stats.speech.failed), (1, 1));
    assert_eq!(stage.pool.readiness(), Readiness::Ready);
}

#[tokio::test]
async fn a_panic_while_loading_is_a_failure_and_not_the_end_of_the_worker() {
    let loads = AtomicUsize::new(0);
    let mut stage = Stage::with_loading(SMALL, move || {
        assert!(loads.fetch_add(1, Ordering::Relaxed) > 0, "told to");
        Ok(())
    });
    stage
        .until(|stage| matches!(stage.pool.readiness(), Readiness::Failed(_)))
        .await;
    assert_eq!(stage.saw().await, Seen::Loaded);
    stage
        .until(|stage| stage.pool.readiness() == Readiness::Ready)
        .await;
}

#[tokio::test]
async fn a_models_own_error_reaches_the_caller() {
    let mut stage = Stage::ready(SMALL).await;
    let orders = stage.direct("odd");
    let handle = stage.speak("a", "odd").unwrap();
    orders
        .send(Step::Fail(SpeechError::Unspeakable("no words".to_owned())))
        .unwrap();
    assert!(matches!(
        outcome(handle).await,
        (0, Err(SpeechError::Unspeakable(_)))
    ));
    assert_eq!(stage.saw_started().await, "odd");
}

#[tokio::test]
async fn a_model_that_ends_without_finishing_is_a_failure() {
    let stage = Stage::ready(SMALL).await;
    let orders = stage.direct("half");
    let handle = stage.speak("a", "half").unwrap();
    orders.send(Step::Emit).unwrap();
    orders.send(Step::Vanish).unwrap();
    assert!(matches!(
        outcome(handle).await,
        (1, Err(SpeechError::Internal))
    ));
}

#[tokio::test]
async fn the_deadline_is_answered_while_the_job_waits() {
    let mut stage = Stage::ready(SMALL).await;
    let _gate = stage.direct("gate");
    let _running = stage.speak("a", "gate").unwrap();
    assert_eq!(stage.saw_started().await, "gate");
    let soon = Instant::now() + Duration::from_millis(250);
    let handle = stage.speak_by("a", "late", soon).unwrap();
    assert!(matches!(
        outcome(handle).await,
        (0, Err(SpeechError::DeadlineExceeded))
    ));
    assert_eq!(stage.pool.stats().queued, 0);
}

#[tokio::test]
async fn the_deadline_is_answered_while_the_model_works_and_stops_it() {
    let mut stage = Stage::ready(SMALL).await;
    let orders = stage.direct("slow");
    let soon = Instant::now() + Duration::from_millis(500);
    let handle = stage.speak_by("a", "slow", soon).unwrap();
    assert_eq!(stage.saw_started().await, "slow");
    assert!(matches!(
        outcome(handle).await,
        (0, Err(SpeechError::DeadlineExceeded))
    ));
    orders.send(Step::Emit).unwrap();
    assert_eq!(stage.saw().await, Seen::Stopped("slow".to_owned()));
}

#[tokio::test]
async fn a_deadline_in_the_past_is_refused_at_the_door() {
    let stage = Stage::ready(SMALL).await;
    let refused = stage.speak_by("a", "late", Instant::now()).unwrap_err();
    assert!(
        matches!(refused, SpeechError::DeadlineExceeded),
        "{refused:?}"
    );
}

#[tokio::test]
async fn draining_finishes_what_was_let_in_and_refuses_what_comes() {
    let mut stage = Stage::ready(SMALL).await;
    let orders = stage.direct("running");
    let running = stage.speak("a", "running").unwrap();
    let waiting = stage.speak("a", "waiting").unwrap();
    assert_eq!(stage.saw_started().await, "running");
    let deadline = Instant::now() + Duration::from_secs(60);
    let (finished, ..) = tokio::join!(stage.pool.drain(deadline), async {
        stage
            .until(|stage| stage.pool.readiness() == Readiness::Draining)
            .await;
        let refused = stage.speak("b", "too late").unwrap_err();
        assert!(matches!(refused, SpeechError::ShuttingDown), "{refused:?}");
        orders.send(Step::Finish).unwrap();
    });
    assert!(finished);
    assert!(outcome(running).await.1.is_ok());
    assert!(outcome(waiting).await.1.is_ok());
    assert_eq!(stage.saw_started().await, "waiting");
    assert_eq!(stage.saw().await, Seen::Unloaded, "the worker is gone");
}

#[tokio::test]
async fn draining_cuts_off_at_its_deadline() {
    let mut stage = Stage::ready(SMALL).await;
    let orders = stage.direct("running");
    let running = stage.speak("a", "running").unwrap();
    let waiting = stage.speak("a", "waiting").unwrap();
    assert_eq!(stage.saw_started().await, "running");
    assert!(!stage.pool.drain(Instant::now()).await);
    assert!(matches!(
        outcome(waiting).await,
        (0, Err(SpeechError::ShuttingDown))
    ));
    orders.send(Step::Emit).unwrap();
    assert_eq!(stage.saw().await, Seen::Stopped("running".to_owned()));
    assert!(matches!(
        outcome(running).await,
        (0, Err(SpeechError::ShuttingDown))
    ));
}

#[tokio::test]
async fn an_idle_engine_drains_at_once() {
    let stage = Stage::ready(SMALL).await;
    assert!(
        stage
            .pool
            .drain(Instant::now() + Duration::from_secs(60))
            .await
    );
}

#[tokio::test]
async fn dropping_the_pool_stops_its_workers() {
    let Stage { pool, mut seen, .. } = Stage::ready(SMALL).await;
    drop(pool);
    assert_eq!(seen.recv().await, Some(Seen::Unloaded));
}
