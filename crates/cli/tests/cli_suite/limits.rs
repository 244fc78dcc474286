//! Rate limits that are changed while the service runs.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::serve::{Service, curl};
use crate::support::{folder, sauti};

fn limits(folder: &Path, args: &[&str]) -> String {
    sauti(folder, &[&["limits"], args, &["--data", "data"]].concat()).ok()
}

/// Waits until the service says that so many requests a minute hold.
fn wait(folder: &Path, service: &Service, wanted: u64) {
    let mut said = String::new();
    for _ in 0..600 {
        said = curl(folder, service, "/v1/limits", &[]);
        let shown: Value = serde_json::from_str(&said).unwrap();
        if shown["requests_per_minute"] == wanted {
            return;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    panic!("{wanted} requests a minute never held: {said}");
}

#[test]
fn a_running_service_follows_a_changed_limit_and_goes_back() {
    let folder = folder();
    let folder = folder.path();
    let service = Service::start(folder);
    let before: Value = serde_json::from_str(&curl(folder, &service, "/v1/limits", &[])).unwrap();
    let before = before["requests_per_minute"].as_u64().unwrap();
    let set = limits(folder, &["set", "requests_per_minute", "54321"]);
    assert!(set.contains("54321"), "{set}");
    wait(folder, &service, 54_321);
    assert_eq!(limits(folder, &["show"]), set);
    limits(folder, &["reset", "requests_per_minute"]);
    wait(folder, &service, before);
    let trail = sauti(folder, &["audit", "export", "--data", "data"]).ok();
    let entries: Vec<Value> = trail
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|entry: &Value| entry["target"] == "requests_per_minute")
        .collect();
    let told: Vec<_> = entries
        .iter()
        .map(|entry| (&entry["actor"], &entry["action"], &entry["detail"]))
        .collect();
    let told = serde_json::to_value(told).unwrap();
    let wanted = serde_json::json!([["cli", "limits.reset", ""], ["cli", "limits.set", "54321"]]);
    assert_eq!(told, wanted);
    service.stop();
}

#[test]
fn a_limit_that_does_not_exist_or_admits_nobody_is_refused() {
    let folder = folder();
    for args in [
        ["set", "requests_per_hour", "5"],
        ["set", "requests_per_minute", "0"],
    ] {
        let said = sauti(folder.path(), &[&["limits"], &args[..]].concat());
        assert_eq!(said.code, 2, "{}{}", said.out, said.err);
        assert!(said.err.contains("invalid value"), "{}", said.err);
    }
}
