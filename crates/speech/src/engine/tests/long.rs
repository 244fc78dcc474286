//! Long recordings, which are read in pieces.

use std::time::{Duration, Instant};

use super::puppet::{SMALL, Seen, Stage, Step};
use crate::engine::pool_state::PoolConfig;
use crate::{SpeechError, TranscribeEvent, TranscribeHandle, Transcript};

const THREE: PoolConfig = PoolConfig {
    workers: 3,
    ..SMALL
};

/// Long enough for four pieces.
const SECONDS: usize = 225;

async fn transcript(mut handle: TranscribeHandle) -> Result<Transcript, SpeechError> {
    loop {
        match handle.next().await.expect("an ending comes first")? {
            TranscribeEvent::Segment { .. } => {}
            TranscribeEvent::Done(whole) => {
                assert!(handle.next().await.is_none(), "nothing follows the end");
                return Ok(whole);
            }
        }
    }
}

#[tokio::test]
async fn the_pieces_are_told_as_one_recording_and_counted_as_one_job() {
    let stage = Stage::ready(THREE).await;
    let whole = transcript(stage.transcribe("a", "radio", SECONDS).unwrap())
        .await
        .unwrap();
    assert_eq!(whole.text, "Ndiyo. Ndiyo. Ndiyo. Ndiyo.");
    assert_eq!(whole.seconds, SECONDS as f64);
    assert!(!whole.no_speech);
    let starts: Vec<f64> = whole.segments.iter().map(|segment| segment.start).collect();
    assert_eq!(starts.len(), 4);
    assert!(
        starts.windows(2).all(|pair| pair[1] - pair[0] > 40.0),
        "{starts:?}"
    );

    assert!(
        stage
            .pool
            .drain(Instant::now() + Duration::from_secs(60))
            .await
    );
    let stats = stage.pool.stats().transcription;
    assert_eq!((stats.done, stats.audio_seconds), (1, SECONDS as f64));
}

#[tokio::test]
async fn segments_and_progress_are_told_at_their_place_in_the_whole() {
    let mut stage = Stage::ready(SMALL).await;
    let first = stage.direct("radio");
    let mut handle = stage.transcribe("a", "radio", SECONDS).unwrap();
    assert_eq!(stage.saw_started().await, "radio");
    // Orders for the second piece; the later ones have none and finish at once.
    let second = stage.direct("radio");
    first.send(Step::Finish).unwrap();
    second.send(Step::Emit).unwrap();
    second.send(Step::Finish).unwrap();
    let mut told = Vec::new();
    while let Some(event) = handle.next().await {
        if let TranscribeEvent::Segment {
            segment,
            done_seconds,
        } = event.unwrap()
        {
            told.push((segment.start, done_seconds));
        }
    }
    let [(start, done_seconds)] = told[..] else {
        panic!("{told:?}")
    };
    assert!((50.0..71.0).contains(&(start - 1.0)), "{start}");
    assert_eq!(done_seconds, start + 1.0);
}

#[tokio::test]
async fn an_idle_machine_reads_one_recording_on_all_workers_but_one() {
    let mut stage = Stage::ready(THREE).await;
    let first = stage.direct("radio");
    let handle = stage.transcribe("a", "radio", SECONDS).unwrap();
    assert_eq!(stage.saw_started().await, "radio");
    // While the first piece waits for its orders, the second worker reads the other three.
    for _ in 0..3 {
        assert_eq!(stage.saw_started().await, "radio");
    }
    first.send(Step::Finish).unwrap();
    assert!(transcript(handle).await.is_ok());
}

#[tokio::test]
async fn other_tenants_come_in_between_the_pieces() {
    let mut stage = Stage::ready(SMALL).await;
    let first = stage.direct("radio");
    let radio = stage.transcribe("a", "radio", SECONDS).unwrap();
    assert_eq!(stage.saw_started().await, "radio");
    let other = stage.transcribe("b", "podcast", 70).unwrap();
    let speech = stage.speak("c", "speech").unwrap();
    first.send(Step::Finish).unwrap();
    let mut order = Vec::new();
    for _ in 0..5 {
        order.push(stage.saw_started().await);
    }
    assert_eq!(order, ["speech", "radio", "podcast", "radio", "radio"]);
    assert!(transcript(radio).await.is_ok() && transcript(other).await.is_ok());
    drop(speech);
}

#[tokio::test]
async fn a_caller_that_leaves_stops_the_pieces_that_run_and_those_that_wait() {
    let mut stage = Stage::ready(SMALL).await;
    let orders = stage.direct("radio");
    let handle = stage.transcribe("a", "radio", SECONDS).unwrap();
    assert_eq!(stage.saw_started().await, "radio");
    drop(handle);
    assert_eq!(
        stage.pool.stats().queued,
        0,
        "the other pieces are gone at once"
    );
    orders.send(Step::Emit).unwrap();
    assert_eq!(stage.saw().await, Seen::Stopped("radio".to_owned()));
    assert!(
        stage
            .pool
            .drain(Instant::now() + Duration::from_secs(60))
            .await
    );
    assert_eq!(
        stage.pool.stats().transcription.cancelled,
        1,
        "one job, counted once"
    );
}

#[tokio::test]
async fn a_piece_that_fails_ends_the_whole_job() {
    let mut stage = Stage::ready(SMALL).await;
    let orders = stage.direct("radio");
    let handle = stage.transcribe("a", "radio", SECONDS).unwrap();
    assert_eq!(stage.saw_started().await, "radio");
    orders.send(Step::Panic).unwrap();
    assert!(matches!(
        transcript(handle).await,
        Err(SpeechError::Internal)
    ));
    assert!(
        stage
            .pool
            .drain(Instant::now() + Duration::from_secs(60))
            .await
    );
    let stats = stage.pool.stats().transcription;
    assert_eq!((stats.failed, stats.cancelled, stats.done), (1, 0, 0));
}
