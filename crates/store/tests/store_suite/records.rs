//! Accounts, sessions, workspaces and members.

use std::time::Duration;

use crate::common::{Database, key_with_cap};
use sauti_store::{
    Account, Alphabet, AttemptLimit, AuthError, BuildState, IssuedSession, NewVocabulary,
    Pronunciation, Role, Store, StoreError, TokenPurpose, Workspace,
};
use secrecy::ExposeSecret;

on_both_databases!(
    an_account_is_confirmed_by_its_token_once,
    a_reset_changes_the_password_and_ends_sessions,
    addresses_are_unique_whatever_their_case,
    attempts_at_the_same_moment_are_all_counted,
    attempts_come_back_with_a_new_window,
    sessions_end_when_revoked,
    members_come_by_invitation,
    an_old_invitation_gives_nothing_back,
    nobody_comes_back_by_an_invitation_of_their_own,
    a_workspace_keeps_an_owner,
    deleting_an_account_closes_its_own_workspace,
    vocabularies_are_versioned_private_and_go_with_their_workspace,
);

async fn person(store: &Store, email: &str) -> Account {
    store.create_account(email, "hash", "Asha").await.unwrap()
}

async fn asha_and_juma(store: &Store) -> (Account, Account) {
    let asha = person(store, "asha@example.com").await;
    (asha, person(store, "juma@example.com").await)
}

async fn workspace_of(store: &Store, owner: &Account, name: &str) -> Workspace {
    let made = store.create_workspace(Some(&owner.id), name, "tzs").await;
    made.unwrap()
}

async fn session_of(store: &Store, account: &Account, seconds: u64) -> IssuedSession {
    let lifetime = Duration::from_secs(seconds);
    let made = store.create_session(&account.id, lifetime, "a device\0");
    made.await.unwrap()
}

async fn is_open(store: &Store, session: &IssuedSession) -> bool {
    let found = store.session_by_token(session.token.expose_secret()).await;
    found.unwrap().is_some()
}

#[track_caller]
fn assert_token_refused<T: std::fmt::Debug>(answer: Result<T, StoreError>) {
    assert!(
        matches!(answer, Err(StoreError::TokenRefused)),
        "{answer:?}"
    );
}

async fn an_account_is_confirmed_by_its_token_once(database: Database) {
    let store = database.open().await;
    let account = person(&store, "asha@example.com").await;
    assert!(!account.is_confirmed());
    let old = store
        .issue_token(&account.id, TokenPurpose::Confirm)
        .await
        .unwrap();
    let token = store
        .issue_token(&account.id, TokenPurpose::Confirm)
        .await
        .unwrap();
    assert_token_refused(store.confirm_account(&old, 0).await);
    assert_token_refused(store.reset_password(&token, "x", 0).await);
    assert_eq!(store.confirm_account(&token, 0).await.unwrap(), account.id);
    assert_token_refused(store.confirm_account(&token, 0).await);
    assert!(store.account(&account.id).await.unwrap().is_confirmed());
    assert!(matches!(
        store
            .issue_token(&"acc_none".parse().unwrap(), TokenPurpose::Reset)
            .await,
        Err(StoreError::NotFound(_))
    ));
}

async fn a_reset_changes_the_password_and_ends_sessions(database: Database) {
    let store = database.open().await;
    let account = person(&store, "asha@example.com").await;
    let session = session_of(&store, &account, 60).await;
    let token = store
        .issue_token(&account.id, TokenPurpose::Reset)
        .await
        .unwrap();
    store.reset_password(&token, "new hash", 0).await.unwrap();
    assert!(!is_open(&store, &session).await);
    assert_eq!(
        store.account(&account.id).await.unwrap().password_hash,
        "new hash"
    );
    let token = store.issue_token(&account.id, TokenPurpose::Reset).await;
    let changed = store.set_password(&account.id, "changed", None).await;
    changed.unwrap();
    assert_token_refused(store.reset_password(&token.unwrap(), "late", 0).await);
}

async fn addresses_are_unique_whatever_their_case(database: Database) {
    let store = database.open().await;
    let account = person(&store, "Asha@Example.com").await;
    let again = store.create_account("asha@example.COM", "hash", "").await;
    assert!(matches!(again, Err(StoreError::Exists("account"))));
    assert_eq!(
        store
            .account_by_email(" ASHA@example.com")
            .await
            .unwrap()
            .unwrap()
            .id,
        account.id
    );
    assert!(store.account_by_email("nonsense").await.unwrap().is_none());
    assert_eq!(store.list_accounts(None, 10).await.unwrap().len(), 1);
}

async fn attempts_at_the_same_moment_are_all_counted(database: Database) {
    let store = database.open().await;
    let limit = AttemptLimit {
        tried_max: 10,
        window: Duration::from_secs(3600),
    };
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..80 {
        let store = store.clone();
        all.spawn(async move { store.take_attempt("asha@example.com", limit).await.unwrap() });
    }
    let passed = all
        .join_all()
        .await
        .iter()
        .filter(|wait| wait.is_none())
        .count();
    assert_eq!(passed, 10);
    let another = store.take_attempt("juma@example.com", limit).await;
    assert_eq!(another.unwrap(), None);
    store.forget_attempts("asha@example.com").await.unwrap();
    for _ in 0..20 {
        let taken = store.take_attempt("asha@example.com", limit).await;
        assert_eq!(taken.unwrap(), None);
        store.give_back_attempt("asha@example.com").await.unwrap();
    }
}

async fn attempts_come_back_with_a_new_window(database: Database) {
    let store = database.open().await;
    let limit = |seconds| AttemptLimit {
        tried_max: 1,
        window: Duration::from_secs(seconds),
    };
    store.take_attempt("a", limit(0)).await.unwrap();
    assert_eq!(store.take_attempt("a", limit(60)).await.unwrap(), None);
    let wait_s = store.take_attempt("a", limit(60)).await.unwrap();
    assert!(wait_s.is_some_and(|wait_s| (50..=60).contains(&wait_s)));
}

async fn sessions_end_when_revoked(database: Database) {
    let store = database.open().await;
    let account = person(&store, "asha@example.com").await;
    let one = session_of(&store, &account, 60).await;
    let two = session_of(&store, &account, 60).await;
    let gone = session_of(&store, &account, 0).await;
    assert!(!is_open(&store, &gone).await);
    assert!(store.session_by_token("nonsense").await.unwrap().is_none());
    let (session, owner) = store
        .session_by_token(one.token.expose_secret())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (session, owner.id),
        (one.session.clone(), account.id.clone())
    );
    assert_eq!(store.list_sessions(&account.id).await.unwrap().len(), 2);
    assert!(
        store
            .revoke_session(&"acc_other".parse().unwrap(), &one.session.id)
            .await
            .is_err()
    );
    store
        .revoke_session(&account.id, &one.session.id)
        .await
        .unwrap();
    assert!(!is_open(&store, &one).await);
    store
        .set_password(&account.id, "other", Some(&two.session.id))
        .await
        .unwrap();
    assert!(is_open(&store, &two).await);
    store
        .revoke_session_by_token(two.token.expose_secret())
        .await
        .unwrap();
    assert!(!is_open(&store, &two).await);
}

async fn members_come_by_invitation(database: Database) {
    let store = database.open().await;
    let (asha, juma) = asha_and_juma(&store).await;
    let workspace = workspace_of(&store, &asha, "Duka").await;
    assert_eq!(workspace.currency, "TZS");
    let invite = store
        .invite(&workspace.id, "Juma@example.com", Role::Admin, &asha.id)
        .await
        .unwrap();
    assert_eq!(store.invites(&workspace.id).await.unwrap().len(), 1);
    let token = invite.token.expose_secret();
    assert_token_refused(store.accept_invite(token, &asha.id).await);
    assert_eq!(
        store.accept_invite(token, &juma.id).await.unwrap(),
        (workspace.id.clone(), Role::Admin)
    );
    assert_token_refused(store.accept_invite(token, &juma.id).await);
    assert_eq!(
        store.role_of(&workspace.id, &juma.id).await.unwrap(),
        Some(Role::Admin)
    );
    assert_eq!(store.members(&workspace.id).await.unwrap().len(), 2);
    assert_eq!(
        store.workspaces_of(&juma.id).await.unwrap()[0].1,
        Role::Admin
    );
    let other = store
        .invite(&workspace.id, "x@example.com", Role::Member, &asha.id)
        .await
        .unwrap();
    store
        .cancel_invite(&workspace.id, &other.invite.id)
        .await
        .unwrap();
    assert!(store.invites(&workspace.id).await.unwrap().is_empty());
}

async fn an_old_invitation_gives_nothing_back(database: Database) {
    let store = database.open().await;
    let (asha, juma) = asha_and_juma(&store).await;
    let workspace = workspace_of(&store, &asha, "Duka").await;
    let invite = async |role| {
        let issued = store.invite(&workspace.id, "juma@example.com", role, &asha.id);
        issued.await.unwrap().token
    };
    let accept = async |token: &secrecy::SecretString| {
        store.accept_invite(token.expose_secret(), &juma.id).await
    };
    let role = async || store.role_of(&workspace.id, &juma.id).await.unwrap();

    let first = invite(Role::Owner).await;
    let second = invite(Role::Admin).await;
    assert_eq!(store.invites(&workspace.id).await.unwrap().len(), 1);
    assert_token_refused(accept(&first).await);
    accept(&second).await.unwrap();

    let third = invite(Role::Owner).await;
    let demoted = store.set_role(&workspace.id, &juma.id, Role::Member).await;
    demoted.unwrap();
    for old in [&first, &second, &third] {
        assert_token_refused(accept(old).await);
    }
    assert_eq!(role().await, Some(Role::Member));

    let fourth = invite(Role::Admin).await;
    let removed = store.remove_member(&workspace.id, &juma.id).await;
    removed.unwrap();
    assert_token_refused(accept(&fourth).await);
    assert_eq!(role().await, None);

    let elsewhere = workspace_of(&store, &asha, "Soko").await;
    let other = store
        .invite(&elsewhere.id, "juma@example.com", Role::Member, &asha.id)
        .await
        .unwrap();
    let fifth = invite(Role::Member).await;
    accept(&fifth).await.unwrap();
    accept(&other.token).await.unwrap();
}

async fn nobody_comes_back_by_an_invitation_of_their_own(database: Database) {
    let store = database.open().await;
    let (asha, juma) = asha_and_juma(&store).await;
    let workspace = workspace_of(&store, &asha, "Duka").await;
    let invited = async |email: &str, role, by: &Account| {
        let issued = store.invite(&workspace.id, email, role, &by.id).await;
        issued.unwrap();
    };
    let open = async || {
        let open = store.invites(&workspace.id).await.unwrap();
        let emails = open.into_iter().map(|invite| invite.email);
        emails.collect::<Vec<_>>()
    };
    let added = store.add_member(&workspace.id, &juma.id, Role::Owner).await;
    added.unwrap();
    invited("a@example.com", Role::Owner, &juma).await;
    invited("b@example.com", Role::Admin, &juma).await;
    invited("c@example.com", Role::Member, &asha).await;
    let lowered = store.set_role(&workspace.id, &juma.id, Role::Admin).await;
    lowered.unwrap();
    assert_eq!(open().await, ["b@example.com", "c@example.com"]);
    let removed = store.remove_member(&workspace.id, &juma.id).await;
    removed.unwrap();
    assert_eq!(open().await, ["c@example.com"]);
}

async fn a_workspace_keeps_an_owner(database: Database) {
    let store = database.open().await;
    let (asha, juma) = asha_and_juma(&store).await;
    let workspace = workspace_of(&store, &asha, "Duka").await;
    assert!(matches!(
        store.remove_member(&workspace.id, &asha.id).await,
        Err(StoreError::Refused(_))
    ));
    store
        .add_member(&workspace.id, &juma.id, Role::Owner)
        .await
        .unwrap();
    let (one, other) = tokio::join!(
        store.remove_member(&workspace.id, &asha.id),
        store.set_role(&workspace.id, &juma.id, Role::Member)
    );
    assert!(
        one.is_ok() != other.is_ok(),
        "both owners left: {one:?} {other:?}"
    );
    let owners = store.members(&workspace.id).await.unwrap();
    assert_eq!(
        owners
            .iter()
            .filter(|member| member.role == Role::Owner)
            .count(),
        1
    );
}

async fn deleting_an_account_closes_its_own_workspace(database: Database) {
    let store = database.open().await;
    let (asha, juma) = asha_and_juma(&store).await;
    let own = workspace_of(&store, &asha, "Own").await;
    let shared = workspace_of(&store, &asha, "Shared").await;
    let key = key_with_cap(&store, &own, None).await;
    store.authenticate(key.key.reveal()).await.unwrap();
    let said = Pronunciation {
        word: "Asha".to_owned(),
        spoken: "asha".to_owned(),
        alphabet: Alphabet::Respelling,
    };
    store.set_pronunciation(&own.id, &said).await.unwrap();
    let events = ["balance.low".to_owned()];
    let hook = store.add_webhook(&own.id, "https://example.com/x", &events);
    hook.await.unwrap();
    store
        .add_member(&shared.id, &juma.id, Role::Member)
        .await
        .unwrap();
    assert!(matches!(
        store.delete_account(&asha.id, false).await,
        Err(StoreError::Refused(_))
    ));
    store
        .set_role(&shared.id, &juma.id, Role::Owner)
        .await
        .unwrap();
    store.delete_account(&asha.id, false).await.unwrap();
    assert!(matches!(
        store.account(&asha.id).await,
        Err(StoreError::NotFound(_))
    ));
    assert!(matches!(
        store.authenticate(key.key.reveal()).await,
        Err(AuthError::Unknown | AuthError::Revoked)
    ));
    let closed = store.workspace(&own.id).await.unwrap();
    assert!(closed.closed_us.is_some());
    assert_eq!(closed.name, own.id.as_str());
    assert_eq!(store.pronunciations(&own.id).await.unwrap(), []);
    assert_eq!(store.webhooks(&own.id).await.unwrap(), []);
    assert!(
        store
            .workspace(&shared.id)
            .await
            .unwrap()
            .closed_us
            .is_none()
    );
    person(&store, "asha@example.com").await;
}

async fn vocabularies_are_versioned_private_and_go_with_their_workspace(database: Database) {
    let store = database.open().await;
    let (asha, juma) = asha_and_juma(&store).await;
    let own = workspace_of(&store, &asha, "Own").await;
    let other = workspace_of(&store, &juma, "Other").await;
    let new = |name: &str, source: &str| NewVocabulary {
        name: name.to_owned(),
        source: source.to_owned(),
        words: 1,
        bytes: source.len() as i64,
        names_max: 2,
    };
    let add =
        async |name: &str, source: &str| store.add_vocabulary(&own.id, &new(name, source)).await;
    let first = add("majina", "moja").await.unwrap();
    assert_eq!((first.version, first.state), (1, BuildState::Building));
    assert_eq!(
        store.ready_vocabulary(&own.id, "majina").await.unwrap(),
        None
    );
    let unbuilt = store.unbuilt_vocabulary().await.unwrap().unwrap();
    let ready = BuildState::Ready;
    store
        .finish_vocabulary(&unbuilt, ready, 300_000)
        .await
        .unwrap();

    // The one in use stays so until the next one is ready.
    assert_eq!(add("majina", "mbili").await.unwrap().version, 2);
    let used = store.ready_vocabulary(&own.id, "majina").await.unwrap();
    assert_eq!(used.unwrap().source, "moja");
    let unbuilt = store.unbuilt_vocabulary().await.unwrap().unwrap();
    store
        .finish_vocabulary(&unbuilt, ready, 100_000)
        .await
        .unwrap();
    let used = store.ready_vocabulary(&own.id, "majina").await.unwrap();
    assert_eq!(used.unwrap().source, "mbili");

    add("bidhaa", "tatu").await.unwrap();
    assert!(matches!(
        add("mengine", "nne").await,
        Err(StoreError::TooManyVocabularies { max: 2 })
    ));
    let listed = store.vocabularies(&own.id).await.unwrap();
    let names: Vec<&str> = listed.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["bidhaa", "majina"]);
    assert_eq!(store.vocabularies(&other.id).await.unwrap(), []);
    assert!(store.vocabulary(&other.id, "majina").await.is_err());
    assert!(store.remove_vocabulary(&other.id, "majina").await.is_err());

    store.remove_vocabulary(&own.id, "bidhaa").await.unwrap();
    store.delete_account(&asha.id, false).await.unwrap();
    assert_eq!(store.vocabularies(&own.id).await.unwrap(), []);
    assert!(add("majina", "tano").await.is_err());
}
