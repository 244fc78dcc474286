//! Keys, the audit trail, pronunciations and migrations.

use std::time::Duration;

use crate::common::{Database, funded, key_with_cap};
use sauti_store::{
    Alphabet, AuditAction, AuditQuery, AuthError, ChargeRequest, KeyId, KeyInfo, LedgerError,
    Permission, Pronunciation, Store, StoreError, StoreOptions, Usage, ids,
};

on_both_databases!(
    a_key_is_accepted_until_revoked,
    a_rotated_key_keeps_its_rights,
    keys_rotated_into_one_another_share_their_cap,
    a_key_revoked_elsewhere_is_refused_within_a_second,
    the_use_of_a_key_is_written_down_later,
    the_audit_trail_pages_backwards,
    pronunciations_are_kept_by_word,
    migrations_run_once_from_many_processes,
);

async fn person(store: &Store, email: &str) -> sauti_store::Account {
    store.create_account(email, "hash", "Asha").await.unwrap()
}

async fn a_key_is_accepted_until_revoked(database: Database) {
    let store = database.open().await;
    let account = person(&store, "asha@example.com").await;
    let workspace = store
        .create_workspace(Some(&account.id), "Duka", "TZS")
        .await
        .unwrap();
    let issued = key_with_cap(&store, &workspace, Some(5)).await;
    let text = issued.key.reveal();
    let caller = store.authenticate(text).await.unwrap();
    assert_eq!(
        (caller.workspace_id.as_str(), caller.confirmed),
        (workspace.id.as_str(), false)
    );
    assert!(caller.permissions.contains(Permission::Speech));
    store.confirm_account_by_id(&account.id).await.unwrap();
    assert!(store.authenticate(text).await.unwrap().confirmed);

    let forged = sauti_store::ApiKey::generate(sauti_store::Environment::Live).unwrap();
    assert!(matches!(
        store.authenticate(forged.reveal()).await,
        Err(AuthError::Unknown)
    ));
    assert!(matches!(
        store.authenticate("sauti_live_x").await,
        Err(AuthError::Malformed)
    ));
    store
        .revoke_key(&workspace.id, &issued.info.id)
        .await
        .unwrap();
    assert!(matches!(
        store.authenticate(text).await,
        Err(AuthError::Revoked)
    ));
    assert!(matches!(
        store
            .revoke_key(&"ws_other".parse().unwrap(), &issued.info.id)
            .await,
        Err(StoreError::NotFound(_))
    ));
    let listed = store.list_keys(&workspace.id).await.unwrap();
    assert_eq!((listed.len(), listed[0].spend_cap_micro), (1, Some(5)));
    assert!(text.ends_with(&listed[0].last_four));
}

async fn a_rotated_key_keeps_its_rights(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 0).await;
    let old = key_with_cap(&store, &workspace, Some(5)).await;
    let later = ids::now_us() + 3_600_000_000;
    let new = store
        .rotate_key(&workspace.id, &old.info.id, Some(later), "test")
        .await
        .unwrap();
    assert_eq!(
        (new.info.permissions, new.info.spend_cap_micro),
        (old.info.permissions, Some(5))
    );
    store.authenticate(old.key.reveal()).await.unwrap();
    let newest = store
        .rotate_key(&workspace.id, &new.info.id, None, "test")
        .await
        .unwrap();
    assert!(matches!(
        store.authenticate(new.key.reveal()).await,
        Err(AuthError::Revoked)
    ));
    store
        .rotate_key(&workspace.id, &old.info.id, Some(0), "test")
        .await
        .unwrap();
    assert!(matches!(
        store.authenticate(old.key.reveal()).await,
        Err(AuthError::Expired)
    ));
    store.authenticate(newest.key.reveal()).await.unwrap();
}

async fn keys_rotated_into_one_another_share_their_cap(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 100).await;
    let charge = async |key_id: &KeyId, amount_micro: i64| {
        let request = ChargeRequest {
            workspace_id: workspace.id.clone(),
            key_id: Some(key_id.clone()),
            operation: sauti_store::Operation::Speech,
            amount_micro,
            request_id: "req".to_owned(),
            usage: Usage::default(),
        };
        store.charge(request).await.map(|_| ())
    };
    let first = key_with_cap(&store, &workspace, Some(10)).await.info;
    charge(&first.id, 4).await.unwrap();
    let later = ids::now_us() + 3_600_000_000;
    let rotate = async |key: &KeyInfo| {
        let rotated = store.rotate_key(&workspace.id, &key.id, Some(later), "test");
        rotated.await.unwrap().info
    };
    let second = rotate(&first).await;
    assert_eq!(second.committed_micro, 4);
    charge(&second.id, 3).await.unwrap();
    // While both work, both count.
    charge(&first.id, 1).await.unwrap();
    let third = rotate(&second).await;
    assert_eq!(third.committed_micro, 8);
    for key in [&first, &second, &third] {
        let refused = charge(&key.id, 3).await.unwrap_err();
        let LedgerError::CapExceeded {
            committed_micro, ..
        } = refused
        else {
            panic!("{refused:?}");
        };
        assert_eq!(committed_micro, 8);
    }
    // Two at once, in one write: the second finds what the first took.
    let (one, other) = tokio::join!(charge(&first.id, 2), charge(&third.id, 2));
    assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
    let listed = store.list_keys(&workspace.id).await.unwrap();
    assert!(listed.iter().all(|key| key.committed_micro == 10));
    let unrelated = key_with_cap(&store, &workspace, Some(10)).await.info;
    charge(&unrelated.id, 10).await.unwrap();
    let report = store.check().await.unwrap();
    assert!(report.is_clean(), "{report:?}");
}

/// What the documents promise for other replicas and the command line.
async fn a_key_revoked_elsewhere_is_refused_within_a_second(database: Database) {
    assert!(StoreOptions::default().key_cache_ttl <= Duration::from_secs(1));
    let (here, elsewhere) = (database.open().await, database.open().await);
    let workspace = funded(&here, 100).await;
    let issued = key_with_cap(&here, &workspace, None).await;
    let text = issued.key.reveal();
    here.authenticate(text).await.unwrap();
    let revoked = elsewhere.revoke_key(&workspace.id, &issued.info.id);
    revoked.await.unwrap();
    let refused = async {
        while here.authenticate(text).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let bound = Duration::from_secs(30);
    tokio::time::timeout(bound, refused).await.unwrap();
}

async fn the_use_of_a_key_is_written_down_later(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 0).await;
    let issued = key_with_cap(&store, &workspace, None).await;
    store.authenticate(issued.key.reveal()).await.unwrap();
    assert_eq!(
        store
            .key(&workspace.id, &issued.info.id)
            .await
            .unwrap()
            .last_used_us,
        None
    );
    store.flush_key_use().await.unwrap();
    assert!(
        store
            .key(&workspace.id, &issued.info.id)
            .await
            .unwrap()
            .last_used_us
            .is_some()
    );
}

async fn the_audit_trail_pages_backwards(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 0).await;
    for at in 0..5 {
        store
            .audit(
                Some(&workspace.id),
                "acc_x",
                AuditAction::KeyRevoked,
                "key_y",
                &at.to_string(),
            )
            .await
            .unwrap();
    }
    store
        .audit(None, "cli", AuditAction::AccountCreated, "acc_z", "\0")
        .await
        .unwrap();
    let mut query = AuditQuery {
        workspace_id: Some(workspace.id.clone()),
        limit: 2,
        ..AuditQuery::default()
    };
    let mut details = String::new();
    loop {
        let page = store.audit_list(&query).await.unwrap();
        let Some(last) = page.last() else { break };
        query.before = Some(last.id.clone());
        details.extend(page.iter().map(|entry| entry.detail.as_str()));
    }
    assert_eq!(details, "43210");
    assert_eq!(
        store
            .audit_list(&AuditQuery {
                limit: 100,
                ..AuditQuery::default()
            })
            .await
            .unwrap()
            .len(),
        6
    );
}

async fn pronunciations_are_kept_by_word(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 0).await;
    let mut entry = Pronunciation {
        word: "GePG".into(),
        spoken: "gepji".into(),
        alphabet: Alphabet::Respelling,
    };
    store
        .set_pronunciation(&workspace.id, &entry)
        .await
        .unwrap();
    entry.spoken = "ɡɛpˈi".into();
    entry.alphabet = Alphabet::Ipa;
    store
        .set_pronunciation(&workspace.id, &entry)
        .await
        .unwrap();
    entry.word = "gepg".into();
    assert_eq!(
        store.pronunciations(&workspace.id).await.unwrap(),
        [entry.clone()]
    );
    assert!(
        store
            .set_pronunciation(&"ws_none".parse().unwrap(), &entry)
            .await
            .is_err()
    );
    let long = Pronunciation {
        spoken: "a".repeat(301),
        ..entry
    };
    let refused = store.set_pronunciation(&workspace.id, &long).await;
    assert!(
        matches!(refused, Err(StoreError::Invalid { field: "said", .. })),
        "{refused:?}"
    );
    store
        .remove_pronunciation(&workspace.id, "GEPG")
        .await
        .unwrap();
    assert!(
        store
            .remove_pronunciation(&workspace.id, "gepg")
            .await
            .is_err()
    );
}

async fn migrations_run_once_from_many_processes(database: Database) {
    let openings: Vec<_> = (0..4)
        .map(|_| {
            let url = database.url.clone();
            tokio::spawn(async move {
                Store::open_with(
                    &url,
                    StoreOptions {
                        connections_max: 2,
                        ..StoreOptions::default()
                    },
                )
                .await
            })
        })
        .collect();
    for opening in openings {
        opening.await.unwrap().unwrap().ping().await.unwrap();
    }
}
