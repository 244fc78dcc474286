//! What is kept of people and of their deeds: deleted on request, and taken away as a file.

use std::collections::BTreeSet;

use sauti_store::AuditAction;
use serde_json::{Value, json};

use crate::isolation::{ask, sessions};
use crate::support::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_deletes_the_account_is_forgotten_and_the_books_stay() {
    let world = World::new().await;
    let store = &world.app.store;
    let hash = sauti_store::password::hash(&"siri kubwa sana".into()).unwrap();
    let account = store
        .create_account("amina@example.com", &hash, "Amina")
        .await
        .unwrap();
    store.confirm_account_by_id(&account.id).await.unwrap();
    let workspace = store
        .create_workspace(Some(&account.id), "Amina", "KES")
        .await
        .unwrap();
    store
        .credit(&workspace.id, 7_000_000, "test", "third")
        .await
        .unwrap();
    let (_, headers) = sessions(&world, "x", &account.id).await.swap_remove(0);
    let path = "/v1/account/deletion";
    let wrong = ask(
        &world,
        "POST",
        path,
        &json!({"password": "si hiyo kabisa"}),
        &headers,
    )
    .await;
    wrong.assert_problem(401, "credentials_wrong");
    // The money would be lost with the account: that is said first.
    let deletion = json!({"password": "siri kubwa sana"});
    let said = ask(&world, "POST", path, &deletion, &headers).await;
    said.assert_problem(409, "money_left");
    let gone = ask(
        &world,
        "POST",
        path,
        &json!({"password": "siri kubwa sana", "give_up_money": true}),
        &headers,
    )
    .await;
    assert_eq!(gone.status, 204);
    assert!(
        store
            .account_by_email("amina@example.com")
            .await
            .unwrap()
            .is_none()
    );
    ask(&world, "GET", "/v1/account", &Value::Null, &headers)
        .await
        .assert_problem(401, "session_missing");
    assert_eq!(
        store.balance(&workspace.id).await.unwrap().available_micro,
        7_000_000
    );
    world.assert_ledger_is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_trail_can_be_taken_away_as_a_file() {
    let world = World::new().await;
    let store = &world.app.store;
    for number in 0..1_001 {
        let target = format!("=key_{number}");
        store
            .audit(
                Some(&world.workspace_id),
                "cli",
                AuditAction::KeyRotated,
                &target,
                "",
            )
            .await
            .unwrap();
    }
    store
        .audit(
            Some(&"ws_other".parse().unwrap()),
            "cli",
            AuditAction::LimitsSet,
            "x",
            "",
        )
        .await
        .unwrap();
    let answer = world.get("/v1/audit/export").await;
    assert_eq!(
        answer.assert_ok().header("content-type"),
        "application/x-ndjson"
    );
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let targets: BTreeSet<_> = lines
        .iter()
        .map(|line| line["target"].to_string())
        .collect();
    assert!(targets.len() > 1_000 && !text.contains("limits.set"));
    let csv = world
        .get("/v1/audit/export?format=csv&from=2020-01-01")
        .await;
    assert!(
        csv.assert_ok()
            .header("content-disposition")
            .ends_with("\"audit.csv\"")
    );
    let csv = String::from_utf8(csv.body.to_vec()).unwrap();
    assert_eq!(csv.lines().count(), lines.len() + 1);
    assert!(csv.contains("\"'=key_7\""));
    let none = world.get("/v1/audit/export?to=2020-01-01").await;
    assert!(none.assert_ok().body.is_empty());
    world
        .get("/v1/audit/export?format=pdf")
        .await
        .assert_problem(422, "validation_failed");
}
