//! Accounts, workspaces, keys and money from the command line.

use std::path::Path;

use crate::support::{folder, sauti, sauti_with_input};
use serde_json::Value;

fn on_data(folder: &Path, args: &[&str]) -> crate::support::Said {
    sauti(folder, &[args, &["--data", "data"]].concat())
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

#[test]
fn bootstrap_makes_a_tenant_whose_books_add_up() {
    let folder = folder();
    let args = [
        "bootstrap",
        "--credit",
        "1000",
        "--permissions",
        "speech,transcription",
    ];
    let made = on_data(folder.path(), &args).json();
    assert!(text(&made["account_id"]).starts_with("acc_"));
    assert!(text(&made["api_key"]).starts_with("sauti_live_"));

    let balance = on_data(
        folder.path(),
        &["workspace", "balance", text(&made["workspace_id"])],
    )
    .json();
    assert_eq!(balance["available_micro"], 1_000_000_000);
    let account = on_data(
        folder.path(),
        &["account", "show", text(&made["account_id"])],
    )
    .json();
    assert!(account["confirmed_us"].is_i64());
    let keys = on_data(
        folder.path(),
        &["key", "list", text(&made["workspace_id"]), "--json"],
    )
    .json();
    assert_eq!(
        keys[0]["permissions"],
        serde_json::json!(["speech", "transcription"])
    );
    assert!(!keys.to_string().contains(text(&made["api_key"])));
    assert!(
        on_data(folder.path(), &["ledger", "check"])
            .ok()
            .contains("the books add up")
    );
}

#[test]
fn a_mistyped_data_folder_is_told_and_not_made() {
    let folder = folder();
    for command in [
        &["backup", "copy.db"][..],
        &["ledger", "check"],
        &["workspace", "list"],
        &["account", "list"],
    ] {
        let said = on_data(folder.path(), command);
        assert_eq!(said.code, 1, "{command:?}");
        assert!(said.err.contains("there is no database"), "{}", said.err);
        assert!(!folder.path().join("data").exists(), "{command:?}");
    }
}

#[test]
fn unknown_permissions_and_amounts_are_refused_before_anything_is_made() {
    let folder = folder();
    for wrong in [
        ["--permissions", "speech,fly"],
        ["--credit", "lots"],
        ["--credit", "-5"],
    ] {
        let said = on_data(folder.path(), &[&["bootstrap"], &wrong[..]].concat());
        assert_eq!(said.code, 2, "{}", said.err);
    }
    assert!(!folder.path().join("data").exists());
}

#[test]
fn an_account_lives_from_its_making_to_its_end() {
    let folder = folder();
    let path = folder.path();
    let create = [
        "account",
        "create",
        "Asha@Example.com",
        "--name",
        "Asha",
        "--password-stdin",
        "--data",
        "data",
    ];
    let made = sauti_with_input(path, &create, b"siri kubwa sana\n").json();
    assert_eq!(made["email"], "asha@example.com");
    assert!(text(&made["workspace_id"]).starts_with("ws_"));
    assert!(made.get("password").is_none());
    assert!(
        sauti_with_input(path, &create, b"siri kubwa sana\n")
            .failure()
            .contains("exists already")
    );
    assert!(
        sauti_with_input(path, &create, b"fupi\n")
            .failure()
            .contains("password")
    );

    on_data(path, &["account", "confirm", "asha@example.com"]).ok();
    assert!(
        on_data(path, &["account", "list"])
            .ok()
            .contains("asha@example.com")
    );
    let password = on_data(path, &["account", "reset-password", "asha@example.com"]).ok();
    assert_eq!(password.trim().len(), 20);
    let kept = sauti_with_input(
        path,
        &["account", "delete", "asha@example.com", "--data", "data"],
        b"n\n",
    );
    assert!(kept.ok().contains("nothing was deleted"));
    on_data(path, &["account", "delete", "asha@example.com", "--yes"]).ok();
    assert!(
        on_data(path, &["account", "show", "asha@example.com"])
            .failure()
            .contains("no account")
    );
}

#[test]
fn the_same_payment_counts_once_and_stands_in_the_statement() {
    let folder = folder();
    let path = folder.path();
    on_data(path, &["account", "create", "a@example.com", "--confirmed"]).ok();
    let made = on_data(
        path,
        &["workspace", "create", "Duka", "--owner", "a@example.com"],
    )
    .json();
    let workspace = text(&made["workspace_id"]);
    let credit = [
        "workspace",
        "credit",
        workspace,
        "12.50",
        "--reference",
        "mpesa-1",
    ];
    assert_eq!(on_data(path, &credit).json()["applied"], true);
    assert_eq!(on_data(path, &credit).json()["applied"], false);
    let other = [
        "workspace",
        "credit",
        workspace,
        "13",
        "--reference",
        "mpesa-1",
    ];
    assert!(on_data(path, &other).failure().contains("another payment"));

    let correct = [
        "workspace",
        "correct",
        workspace,
        "2.50",
        "--reference",
        "mpesa-1",
        "--reason",
        "too much",
    ];
    assert_eq!(on_data(path, &correct).json()["available"], "10.00");
    let trail = on_data(path, &["audit", "export"]).ok();
    for word in [
        "account.created",
        "workspace.credited",
        "workspace.corrected",
    ] {
        assert!(trail.contains(word), "{word}: {trail}");
    }

    let statement = on_data(path, &["workspace", "statement", workspace, "--csv"]).ok();
    let lines: Vec<&str> = statement.lines().collect();
    assert_eq!(lines.len(), 3, "{statement}");
    assert!(
        lines[1].contains(",credit,12500000,12500000,"),
        "{statement}"
    );
    let before = [
        "workspace",
        "statement",
        workspace,
        "--csv",
        "--until",
        "2020-01-01",
    ];
    assert_eq!(on_data(path, &before).ok().lines().count(), 1);
    assert!(
        on_data(path, &["workspace", "list"])
            .ok()
            .contains("KES 10.00")
    );
    assert!(
        on_data(path, &["workspace", "members", workspace])
            .ok()
            .contains("owner")
    );
}

#[test]
fn a_rotated_key_ends_and_a_revoked_one_stays_listed() {
    let folder = folder();
    let path = folder.path();
    let made = on_data(path, &["bootstrap"]).json();
    let workspace = text(&made["workspace_id"]);
    let key = on_data(
        path,
        &["key", "create", workspace, "--name", "one", "--cap", "5"],
    )
    .json();
    let rotated = on_data(path, &["key", "rotate", workspace, text(&key["key_id"])]).json();
    assert_ne!(rotated["api_key"], key["api_key"]);
    assert_eq!(rotated["name"], "one");
    on_data(
        path,
        &["key", "revoke", workspace, text(&rotated["key_id"])],
    )
    .ok();
    let keys = on_data(path, &["key", "list", workspace, "--json"]).json();
    let revoked = keys
        .as_array()
        .unwrap()
        .iter()
        .filter(|key| key["revoked_us"].is_i64())
        .count();
    assert_eq!((keys.as_array().unwrap().len(), revoked), (3, 2), "{keys}");
    assert!(
        on_data(path, &["key", "revoke", workspace, "key_none"])
            .failure()
            .contains("no such key")
    );
}
