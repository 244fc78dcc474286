//! A batch outlives the process that works on it: every item answered once, charged once.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::serve::{Service, curl};
use crate::support::{folder, sauti};

const ITEMS: usize = 40;

fn order(folder: &Path, service: &Service) -> String {
    let items: Vec<_> = (0..ITEMS)
        .map(|n| json!({"custom_id": n.to_string(), "text": format!("Namba ya foleni ni {n}. Tafadhali subiri.")}))
        .collect();
    let body = json!({"operation": "speech", "items": items, "defaults": {"voice_id": "asha", "output_format": "wav_8000"}});
    std::fs::write(folder.join("order.json"), body.to_string()).unwrap();
    let more = [
        "-H",
        "Content-Type: application/json",
        "--data-binary",
        "@order.json",
    ];
    let made: Value = serde_json::from_str(&curl(folder, service, "/v1/batches", &more)).unwrap();
    made["batch_id"]
        .as_str()
        .unwrap_or_else(|| panic!("{made}"))
        .to_owned()
}

/// Waits until so many items are done.
fn wait(folder: &Path, service: &Service, batch_id: &str, done: usize) -> Value {
    for _ in 0..1_200 {
        let shown = curl(folder, service, &format!("/v1/batches/{batch_id}"), &[]);
        let batch: Value = serde_json::from_str(&shown).unwrap();
        if batch["counts"]["done"].as_u64().unwrap() as usize >= done {
            return batch;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("the batch does not get on");
}

#[test]
fn a_batch_survives_processes_killed_in_its_midst() {
    let folder = folder();
    let folder = folder.path();
    let mut service = Service::start(folder);
    let batch_id = order(folder, &service);
    for done in [3, 12, 21] {
        wait(folder, &service, &batch_id, done);
        // SIGKILL, with items in hand and money set aside for them.
        drop(service);
        service = Service::start(folder);
    }
    wait(folder, &service, &batch_id, ITEMS);
    let path = format!("/v1/batches/{batch_id}/results");
    let results = (0..600).find_map(|_| {
        let results = curl(folder, &service, &path, &[]);
        if !results.contains("is not over yet") {
            return Some(results);
        }
        std::thread::sleep(Duration::from_millis(100));
        None
    });
    let results = results.expect("the batch is over when all of it is done");
    let lines: Vec<Value> = results
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), ITEMS);
    assert!(
        lines.iter().all(|line| line["status"] == "done"),
        "{results}"
    );

    let workspace = service.value("Workspace");
    let statement = sauti(
        folder,
        &[
            "workspace",
            "statement",
            &workspace,
            "--csv",
            "--data",
            "data",
        ],
    )
    .ok();
    let mut rows = statement.lines();
    let columns: Vec<&str> = rows.next().unwrap().split(',').collect();
    let at = |name: &str| columns.iter().position(|column| *column == name).unwrap();
    let (kind, request_id) = (at("kind"), at("request_id"));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split(',').collect()).collect();
    let charged: Vec<&str> = rows
        .iter()
        .filter(|row| row[kind] == "settle")
        .map(|row| row[request_id])
        .collect();
    assert_eq!(charged.len(), ITEMS, "{statement}");
    assert_eq!(
        charged.iter().collect::<HashSet<_>>().len(),
        ITEMS,
        "charged once each"
    );
    service.stop();
    let checked = sauti(folder, &["ledger", "check", "--data", "data"]).ok();
    assert!(checked.contains("add up"), "{checked}");
}
