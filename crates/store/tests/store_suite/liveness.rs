//! What a dead process held is given back; what a living one holds is not.

use std::time::Duration;

use crate::common::{Database, ask, assert_clean, charge_of, funded};
use sauti_store::{
    Backend, Begin, LedgerError, ReservationState, Store, StoreOptions, StoredAnswer, Usage,
    WorkspaceId,
};

on_both_databases!(
    a_living_process_keeps_its_reservations,
    a_dead_process_loses_its_reservations_and_claims,
    a_process_wrongly_declared_dead_settles_nothing,
    closing_gives_back_what_is_held,
    many_sweeps_at_once_release_once,
    old_reservations_of_one_process_can_be_released,
);

fn silent() -> StoreOptions {
    StoreOptions {
        heartbeat: false,
        ..StoreOptions::default()
    }
}

/// Declares a process dead as soon as it misses a beat: only for stores that never beat, or beat often.
fn impatient() -> StoreOptions {
    StoreOptions {
        dead_after: Duration::ZERO,
        ..StoreOptions::default()
    }
}

fn answer() -> StoredAnswer {
    StoredAnswer {
        status: 200,
        headers: Vec::new(),
        body: Some(b"late".to_vec()),
    }
}

async fn claim(store: &Store, workspace_id: &WorkspaceId) -> sauti_store::Guard {
    match store.begin(workspace_id, "key", "body").await.unwrap() {
        Begin::New(guard) => guard,
        other => panic!("{other:?}"),
    }
}

async fn a_living_process_keeps_its_reservations(database: Database) {
    let one = database.open().await;
    let workspace = funded(&one, 1_000).await;
    let reservation = one.reserve(ask(&workspace, 400)).await.unwrap();
    let guard = claim(&one, &workspace.id).await;
    let other = database.open().await;
    assert_eq!(
        other.sweep().await.unwrap(),
        sauti_store::SweepReport::default()
    );
    assert_eq!(
        other.begin(&workspace.id, "key", "body").await.unwrap(),
        Begin::InFlight
    );
    one.settle_and_store(&reservation, 300, Usage::default(), &guard, answer())
        .await
        .unwrap();
    assert_eq!(
        other.begin(&workspace.id, "key", "body").await.unwrap(),
        Begin::Replay(answer())
    );
    assert_clean(&other).await;
}

async fn a_dead_process_loses_its_reservations_and_claims(database: Database) {
    let dead = database.open_with(silent()).await;
    let workspace = funded(&dead, 1_000).await;
    dead.reserve(ask(&workspace, 400)).await.unwrap();
    claim(&dead, &workspace.id).await;
    let living = database.open().await;
    let reservation = living.reserve(ask(&workspace, 100)).await.unwrap();

    // The sweep at opening finds the dead one; on PostgreSQL the living one has just begun to beat.
    let next = database
        .open_with(StoreOptions {
            dead_after: silence(),
            ..StoreOptions::default()
        })
        .await;
    if next.backend() == Backend::Postgres {
        wait_until_released(&next, 1).await;
    }
    assert_eq!(next.open_reservations().await.unwrap(), 1);
    claim(&next, &workspace.id).await;
    living
        .settle(&reservation, 100, Usage::default())
        .await
        .unwrap();
    let balance = next.balance(&workspace.id).await.unwrap();
    assert_eq!((balance.available_micro, balance.reserved_micro), (900, 0));
    assert_clean(&next).await;
}

/// Longer than two default beats, so that the living one cannot be taken for dead.
fn silence() -> Duration {
    Duration::from_secs(11)
}

async fn wait_until_released(store: &Store, open: i64) {
    while store.open_reservations().await.unwrap() > open {
        store.sweep().await.unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn a_process_wrongly_declared_dead_settles_nothing(database: Database) {
    let slow = database.open_with(silent()).await;
    let workspace = funded(&slow, 1_000).await;
    let reservation = slow.reserve(ask(&workspace, 400)).await.unwrap();
    let guard = claim(&slow, &workspace.id).await;
    let sweeper = database.open_with(impatient()).await;
    sweeper.sweep().await.unwrap();
    assert_eq!(
        sweeper
            .balance(&workspace.id)
            .await
            .unwrap()
            .available_micro,
        1_000
    );

    let late = slow.settle(&reservation, 400, Usage::default()).await;
    assert!(
        matches!(
            late,
            Err(LedgerError::Finished(ReservationState::Abandoned))
        ),
        "{late:?}"
    );
    let late = slow.release(&reservation).await;
    assert!(
        matches!(
            late,
            Err(LedgerError::Finished(ReservationState::Abandoned))
        ),
        "{late:?}"
    );
    let late = slow
        .charge_and_store(charge_of(&workspace, 10), &guard, answer())
        .await;
    assert!(matches!(late, Err(LedgerError::GuardLost)), "{late:?}");
    // The retry that came in meanwhile is charged once.
    let guard = claim(&sweeper, &workspace.id).await;
    sweeper
        .charge_and_store(charge_of(&workspace, 10), &guard, answer())
        .await
        .unwrap();
    assert_eq!(
        sweeper
            .balance(&workspace.id)
            .await
            .unwrap()
            .available_micro,
        990
    );
    // What it reserves under its dead name is given back by the next sweep.
    slow.reserve(ask(&workspace, 50)).await.unwrap();
    assert_eq!(sweeper.sweep().await.unwrap().reservations_released, 1);
    assert_clean(&sweeper).await;
}

async fn closing_gives_back_what_is_held(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 1_000).await;
    store.reserve(ask(&workspace, 400)).await.unwrap();
    claim(&store, &workspace.id).await;
    store.close().await.unwrap();
    assert!(store.charge(charge_of(&workspace, 1)).await.is_err());
    let next = database.open().await;
    assert_eq!(
        next.balance(&workspace.id).await.unwrap().available_micro,
        1_000
    );
    claim(&next, &workspace.id).await;
    assert_clean(&next).await;
}

async fn many_sweeps_at_once_release_once(database: Database) {
    let dead = database.open_with(silent()).await;
    let workspaces = [funded(&dead, 10_000).await, funded(&dead, 10_000).await];
    for at in 0..60 {
        dead.reserve(ask(&workspaces[at % 2], 10)).await.unwrap();
    }
    let sweepers = [
        database.open_with(silent()).await,
        database.open_with(silent()).await,
    ];
    sqlx::any::install_default_drivers();
    let pool = sqlx::AnyPool::connect(&database.url).await.unwrap();
    sqlx::query("update instances set dead_us = 1 where id = $1")
        .bind(dead.instance_id())
        .execute(&pool)
        .await
        .unwrap();
    let sweeps: Vec<_> = sweepers
        .iter()
        .cycle()
        .take(6)
        .map(|store| {
            let store = store.clone();
            tokio::spawn(async move { store.release_abandoned(None, 0).await.unwrap() })
        })
        .collect();
    for sweep in sweeps {
        sweep.await.unwrap();
    }
    for workspace in &workspaces {
        assert_eq!(
            dead.balance(&workspace.id).await.unwrap().available_micro,
            10_000
        );
    }
    assert_clean(&dead).await;
}

async fn old_reservations_of_one_process_can_be_released(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 1_000).await;
    store.reserve(ask(&workspace, 400)).await.unwrap();
    let me = store.instance_id();
    assert_eq!(store.release_abandoned(Some(&me), 1).await.unwrap(), 0);
    assert_eq!(
        store
            .release_abandoned(Some(&"proc_other".parse().unwrap()), i64::MAX)
            .await
            .unwrap(),
        0
    );
    assert_eq!(
        store.release_abandoned(Some(&me), i64::MAX).await.unwrap(),
        1
    );
    assert_clean(&store).await;
}

/// A process that beats is never declared dead, and one that was goes on under a new name.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: ./test postgres"]
async fn a_process_that_postgres_declared_dead_goes_on_under_a_new_name() {
    let database = Database::postgres().await;
    let beat_every = Duration::from_millis(50);
    let store = database
        .open_with(StoreOptions {
            beat_every,
            ..StoreOptions::default()
        })
        .await;
    let workspace = funded(&store, 1_000).await;
    let old = store.instance_id();
    sqlx::any::install_default_drivers();
    let pool = sqlx::AnyPool::connect(&database.url).await.unwrap();
    sqlx::query("update instances set dead_us = 1 where id = $1")
        .bind(&old)
        .execute(&pool)
        .await
        .unwrap();
    while store.instance_id() == old {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let reservation = store.reserve(ask(&workspace, 400)).await.unwrap();
    store.sweep().await.unwrap();
    store
        .settle(&reservation, 400, Usage::default())
        .await
        .unwrap();
    assert_clean(&store).await;
}
