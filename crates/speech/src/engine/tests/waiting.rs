//! Who is let in by how long it would wait. The pace is the one guessed at the start, a tenth of a second for each
//! second of a recording, for nothing here runs to its end.

use std::time::Duration;

use super::puppet::{SMALL, Seen, Stage};
use crate::engine::pool_state::PoolConfig;
use crate::engine::queue::Bounds;
use crate::engine::stats::{JobKind, Refusals};
use crate::engine::wait::Patience;
use crate::{Priority, SpeechError};

const HURRIED: PoolConfig = PoolConfig {
    bounds: Bounds {
        jobs_max: 100,
        tenant_jobs_max: 100,
        held_seconds_max: 10_000.0,
    },
    patience: Patience {
        wait_s_max: 3.0,
        wait_per_audio_second: 0.1,
    },
    ..SMALL
};

/// A stage whose one worker is held by a job that is over its time already.
async fn busy(config: PoolConfig) -> (Stage, impl Sized) {
    let mut stage = Stage::ready(config).await;
    let gate = stage.direct("gate");
    let running = stage.speak("gate", "gate").unwrap();
    assert_eq!(stage.saw_started().await, "gate");
    (stage, (gate, running))
}

fn retry_after(refused: SpeechError) -> Duration {
    match refused {
        SpeechError::Overloaded { retry_after } => retry_after,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn whoever_would_wait_too_long_is_told_when_there_will_be_room() {
    let (stage, _gate) = busy(HURRIED).await;
    let _first = stage.transcribe("a", "2 s of work", 20).unwrap();
    let _second = stage.transcribe("a", "6 s of work", 60).unwrap();
    let refused = stage.transcribe("a", "refused", 5).unwrap_err();
    assert_eq!(
        retry_after(refused),
        Duration::from_secs(5),
        "8 s ahead, 3 allowed"
    );
    let refused = stage.speak("a", "refused").unwrap_err();
    assert_eq!(retry_after(refused), Duration::from_secs(5));

    let stats = stage.pool.stats();
    assert!(
        (stats.wait_seconds - 8.0).abs() < 1e-6,
        "{}",
        stats.wait_seconds
    );
    assert!((stats.long_wait_seconds - 8.0).abs() < 1e-6);
    let waits = Refusals {
        wait: 1,
        ..Refusals::default()
    };
    assert_eq!(
        (stats.speech.refusals, stats.transcription.refusals),
        (waits, waits)
    );
    assert_eq!((stats.speech.refused, stats.transcription.refused), (1, 1));
}

#[tokio::test]
async fn a_tenant_that_waits_for_little_gets_in_beside_one_that_filled_its_line() {
    let (stage, _gate) = busy(HURRIED).await;
    let _greedy: Vec<_> = (0..2)
        .map(|_| stage.transcribe("greedy", "2 s of work", 20).unwrap())
        .collect();
    assert!(stage.speak("greedy", "refused").is_err());
    let _modest = stage
        .transcribe("modest", "after one of the others", 20)
        .unwrap();
    assert!(stage.speak("modest", "after both of the others").is_err());
    assert!(stage.speak("third", "after one of each").is_err(), "4 s");
}

#[tokio::test]
async fn a_free_worker_takes_whatever_comes() {
    let stage = Stage::ready(HURRIED).await;
    assert!(stage.transcribe("a", "an hour", 3_600).is_ok());
}

#[tokio::test]
async fn a_long_recording_may_wait_longer_and_does_not_hold_up_the_short_ones() {
    let (stage, _gate) = busy(HURRIED).await;
    let _long = stage.transcribe("a", "10 s of work", 100).unwrap();
    let _longer = stage.transcribe("b", "may wait 23 s", 200).unwrap();
    let refused = stage.transcribe("c", "may wait 13 s, would wait 30", 100);
    assert_eq!(retry_after(refused.unwrap_err()), Duration::from_secs(17));
    assert!(stage.speak("c", "goes first").is_ok());
}

#[tokio::test]
async fn a_booked_place_counts_like_a_job_and_is_free_again_when_given_up() {
    let (stage, _gate) = busy(HURRIED).await;
    let first = stage.pool.book("a", JobKind::Transcription, 20.0).unwrap();
    let second = stage.pool.book("a", JobKind::Transcription, 20.0).unwrap();
    assert!(stage.pool.book("a", JobKind::Speech, 10.0).is_err());
    assert!(stage.speak("a", "refused").is_err());
    assert!(stage.speak("b", "its own turn").is_ok());
    drop(first);
    assert!(stage.pool.book("a", JobKind::Speech, 10.0).is_ok());
    drop(second);
    assert_eq!(stage.pool.stats().wait_seconds, 0.0);
    assert_eq!(stage.pool.stats().queued_audio_seconds, 0.0);
}

#[tokio::test]
async fn a_booked_job_takes_its_place_however_long_the_line_is_by_then() {
    let (stage, _gate) = busy(HURRIED).await;
    let booking = stage.pool.book("a", JobKind::Transcription, 20.0).unwrap();
    let short = stage.pool.book("b", JobKind::Transcription, 1.0).unwrap();
    let _other = stage.transcribe("a", "6 s of work", 60).unwrap();
    assert!(stage.transcribe("a", "refused", 20).is_err());
    let _booked = stage.transcribe_booked("a", "booked", 22, booking).unwrap();
    let longer = stage.transcribe_booked("b", "much longer than booked", 59, short);
    assert!(longer.is_err(), "it has to ask again");
    assert_eq!(stage.pool.stats().transcription.queued, 2);
}

#[tokio::test]
async fn what_was_begun_is_not_refused_for_its_second_part() {
    let (stage, _gate) = busy(HURRIED).await;
    let _other = stage.transcribe("a", "6 s of work", 60).unwrap();
    assert!(
        stage
            .transcribe_as("a", "asks", 5, Priority::Interactive)
            .is_err()
    );
    assert!(
        stage
            .transcribe_as("a", "goes on", 5, Priority::Continued)
            .is_ok()
    );
    assert!(
        stage
            .transcribe_as("a", "a batch", 5, Priority::Background)
            .is_ok()
    );
}

#[tokio::test]
async fn the_pace_is_learnt_from_what_was_done() {
    let mut stage = Stage::ready(HURRIED).await;
    // Puppets read an hour in no time: after that, a minute ahead is no wait to speak of.
    let mut hour = stage.transcribe("a", "an hour", 3_600).unwrap();
    while let Some(event) = hour.next().await {
        event.unwrap();
    }
    stage
        .until(|stage| stage.pool.stats().transcription.done == 1)
        .await;
    while let Ok(seen) = stage.seen.try_recv() {
        assert_eq!(seen, Seen::Started("an hour".to_owned()));
    }
    let _gate = stage.direct("gate");
    let _running = stage.speak("gate", "gate").unwrap();
    assert_eq!(stage.saw_started().await, "gate");
    let waiting: Result<Vec<_>, _> = (0..20)
        .map(|_| stage.transcribe("a", "a minute", 60))
        .collect();
    assert!(waiting.is_ok(), "{waiting:?}");
}

#[tokio::test]
async fn nobody_is_refused_while_a_worker_is_free() {
    let three = PoolConfig {
        workers: 3,
        ..HURRIED
    };
    let stage = Stage::ready(three).await;
    // Six seconds of work each, in no worker's hands yet.
    let _first = stage.pool.book("a", JobKind::Transcription, 60.0).unwrap();
    let _second = stage.pool.book("a", JobKind::Transcription, 60.0).unwrap();
    let _third = stage.pool.book("a", JobKind::Transcription, 60.0).unwrap();
    assert!(stage.pool.book("a", JobKind::Transcription, 60.0).is_err());
}
