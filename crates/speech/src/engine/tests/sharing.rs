//! Who gets in, whose turn it is, and who has to come back later.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::puppet::{SMALL, Seen, Stage, Step, outcome};
use crate::SpeechError;
use crate::engine::pool_state::PoolConfig;

#[tokio::test]
async fn tenants_take_turns_however_much_one_of_them_asks_for() {
    let mut stage = Stage::ready(SMALL).await;
    let gate = stage.direct("gate");
    let first = stage.speak("greedy", "gate").unwrap();
    assert_eq!(stage.saw_started().await, "gate");
    let mut handles = vec![first];
    for name in ["greedy 1", "greedy 2", "greedy 3"] {
        handles.push(stage.speak("greedy", name).unwrap());
    }
    handles.push(stage.speak("modest", "modest 1").unwrap());
    gate.send(Step::Finish).unwrap();
    let mut order = Vec::new();
    for _ in 0..4 {
        order.push(stage.saw_started().await);
    }
    assert_eq!(order, ["greedy 1", "modest 1", "greedy 2", "greedy 3"]);
    for handle in handles {
        assert!(outcome(handle).await.1.is_ok());
    }
}

#[tokio::test]
async fn a_full_queue_says_when_to_come_back_and_lets_the_next_in_when_one_leaves() {
    let mut stage = Stage::ready(SMALL).await;
    let _gate = stage.direct("gate");
    let _running = stage.speak("a", "gate").unwrap();
    assert_eq!(stage.saw_started().await, "gate");
    let mut waiting: Vec<_> = (0..4)
        .map(|n| stage.speak(&format!("tenant {n}"), "waits").unwrap())
        .collect();
    let refused = stage.speak("late", "late").unwrap_err();
    let SpeechError::Overloaded { retry_after } = refused else {
        panic!("{refused:?}");
    };
    assert!(retry_after >= Duration::from_secs(1));
    assert_eq!(stage.pool.stats().speech.refused, 1);

    waiting.pop();
    assert_eq!(stage.pool.stats().queued, 3, "its place is free at once");
    assert!(stage.speak("late", "late").is_ok());
}

#[tokio::test]
async fn one_tenant_cannot_fill_the_queue() {
    let mut stage = Stage::ready(SMALL).await;
    let _gate = stage.direct("gate");
    let _running = stage.speak("greedy", "gate").unwrap();
    assert_eq!(stage.saw_started().await, "gate");
    let _waiting: Vec<_> = (0..3)
        .map(|_| stage.speak("greedy", "waits").unwrap())
        .collect();
    let refused = stage.speak("greedy", "waits").unwrap_err();
    assert!(
        matches!(refused, SpeechError::Overloaded { .. }),
        "{refused:?}"
    );
    assert!(stage.speak("modest", "waits").is_ok());
}

#[tokio::test]
async fn a_long_backlog_asks_for_more_patience_than_a_short_one() {
    let mut stage = Stage::ready(SMALL).await;
    let _gate = stage.direct("gate");
    let _running = stage.speak("a", "gate").unwrap();
    assert_eq!(stage.saw_started().await, "gate");
    let patience = |seconds: usize| {
        let _waiting: Vec<_> = (0..4)
            .map(|n| stage.transcribe(&n.to_string(), "waits", seconds).unwrap())
            .collect();
        match stage.speak("late", "late").unwrap_err() {
            SpeechError::Overloaded { retry_after } => retry_after,
            other => panic!("{other:?}"),
        }
    };
    assert!(patience(500) > patience(50));
}

#[tokio::test]
async fn an_expired_job_gives_its_place_to_a_live_one() {
    let mut stage = Stage::ready(SMALL).await;
    let _gate = stage.direct("gate");
    let _running = stage.speak("a", "gate").unwrap();
    assert_eq!(stage.saw_started().await, "gate");
    let soon = Instant::now() + Duration::from_millis(250);
    let late: Vec<_> = (0..4)
        .map(|n| stage.speak_by(&n.to_string(), "late", soon).unwrap())
        .collect();
    while Instant::now() < soon {
        tokio::task::yield_now().await;
    }
    assert!(stage.speak("b", "waits").is_ok());
    for handle in late {
        assert!(matches!(
            outcome(handle).await,
            (0, Err(SpeechError::DeadlineExceeded))
        ));
    }
    assert_eq!(stage.pool.stats().speech.expired, 4);
}

#[tokio::test]
async fn speech_does_not_wait_behind_long_recordings() {
    let two = PoolConfig {
        workers: 2,
        ..SMALL
    };
    let mut stage = Stage::ready(two).await;
    let hour = stage.direct("hour 1");
    let first = stage.transcribe("a", "hour 1", 70).unwrap();
    let _second = stage.transcribe("b", "hour 2", 70).unwrap();
    assert_eq!(stage.saw_started().await, "hour 1");
    // The second worker is free, and stays so for short work.
    let speech = stage.speak("c", "speech").unwrap();
    assert_eq!(stage.saw_started().await, "speech");
    assert!(outcome(speech).await.1.is_ok());
    let note = stage.transcribe("c", "voice note", 5).unwrap();
    assert_eq!(stage.saw_started().await, "voice note");
    drop(note);
    assert_eq!(
        stage.pool.stats().transcription.queued,
        1,
        "the second hour waits"
    );
    hour.send(Step::Finish).unwrap();
    assert_eq!(stage.saw_started().await, "hour 2");
    drop(first);
}

#[tokio::test]
async fn a_caller_that_leaves_the_queue_is_never_served() {
    let mut stage = Stage::ready(SMALL).await;
    let gate = stage.direct("gate");
    let _running = stage.speak("a", "gate").unwrap();
    assert_eq!(stage.saw_started().await, "gate");
    drop(stage.speak("a", "left").unwrap());
    let _stays = stage.speak("a", "stays").unwrap();
    gate.send(Step::Finish).unwrap();
    assert_eq!(stage.saw_started().await, "stays");
    assert_eq!(stage.pool.stats().speech.cancelled, 1);
}

#[tokio::test]
async fn a_caller_that_leaves_a_running_job_stops_it_at_its_next_sound() {
    let mut stage = Stage::ready(SMALL).await;
    let orders = stage.direct("long text");
    let mut handle = stage.speak("a", "long text").unwrap();
    assert_eq!(stage.saw_started().await, "long text");
    orders.send(Step::Emit).unwrap();
    assert!(matches!(handle.next().await, Some(Ok(_))));
    drop(handle);
    orders.send(Step::Emit).unwrap();
    assert_eq!(stage.saw().await, Seen::Stopped("long text".to_owned()));
    stage
        .until(|stage| stage.pool.stats().speech.cancelled == 1)
        .await;
    assert_eq!(stage.pool.stats().running, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever callers do, every job that was let in ends exactly once and no place is lost.
    #[test]
    fn nothing_is_lost_under_random_traffic(
        calls in prop::collection::vec((0..4u8, any::<bool>(), any::<bool>()), 1..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let two = PoolConfig { workers: 2, ..SMALL };
            let stage = Stage::ready(two).await;
            let (mut admitted, mut refused, mut kept) = (0, 0, Vec::new());
            for (tenant, leaves, expires) in calls {
                let wait = if expires { Duration::from_micros(200) } else { Duration::from_secs(60) };
                match stage.speak_by(&tenant.to_string(), "job", Instant::now() + wait) {
                    Ok(handle) => {
                        admitted += 1;
                        if !leaves {
                            kept.push((expires, handle));
                        }
                    }
                    Err(SpeechError::Overloaded { .. }) => refused += 1,
                    // Its time was over before the door: counted as expired all the same.
                    Err(SpeechError::DeadlineExceeded) if expires => admitted += 1,
                    Err(other) => panic!("{other:?}"),
                }
            }
            for (expires, handle) in kept {
                let ended = outcome(handle).await.1;
                let late = matches!(ended, Err(SpeechError::DeadlineExceeded));
                assert!(ended.is_ok() || (expires && late), "{ended:?}");
            }
            assert!(stage.pool.drain(Instant::now() + Duration::from_secs(60)).await);
            let stats = stage.pool.stats();
            let speech = stats.speech;
            assert_eq!(speech.done + speech.cancelled + speech.expired + speech.failed, admitted);
            assert_eq!((speech.refused, speech.failed, stats.queued, stats.running), (refused, 0, 0, 0));
        });
    }
}
