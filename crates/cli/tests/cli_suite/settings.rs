//! Settings, texts and help: what needs neither models nor a store.

use crate::support::{command, folder, sauti, sauti_with_input};

#[test]
fn the_printed_defaults_are_a_settings_file_that_passes_the_check() {
    let folder = folder();
    let defaults = sauti(folder.path(), &["config", "default"]).ok();
    std::fs::write(folder.path().join("sauti.toml"), defaults).unwrap();
    sauti(
        folder.path(),
        &["config", "check", "--config", "sauti.toml"],
    )
    .ok();
}

#[test]
fn a_mistyped_key_is_named_with_what_was_meant() {
    let folder = folder();
    std::fs::write(
        folder.path().join("s.toml"),
        "[limits]\ntext_char_max = 1\n",
    )
    .unwrap();
    let said = sauti(folder.path(), &["config", "check", "--config", "s.toml"]).failure();
    assert!(
        said.contains("limits.text_char_max") && said.contains("text_chars_max"),
        "{said}"
    );
}

#[test]
fn variables_override_the_file_and_are_named_when_wrong() {
    let folder = folder();
    std::fs::write(
        folder.path().join("s.toml"),
        "[prices]\ncurrency = \"TZS\"\n",
    )
    .unwrap();
    let shown = |value: &str| {
        let mut command = command(folder.path());
        command
            .args(["config", "show", "--config", "s.toml"])
            .env("SAUTI_PRICES__CURRENCY", value);
        crate::support::Said::from(command.output().unwrap())
    };
    assert!(shown("UGX").ok().contains("currency = \"UGX\""));
    assert!(shown("shilling").failure().contains("prices.currency"));
    for listen in ["8080", "localhost:8080"] {
        let said = sauti(folder.path(), &["serve", "--listen", listen]).failure();
        assert!(said.contains("such as \"127.0.0.1:8080\""), "{said}");
    }
}

#[test]
fn a_setting_without_a_value_is_refused() {
    let folder = folder();
    let said = sauti(folder.path(), &["config", "show", "--set", "server.listen"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("'server.listen'") && said.err.contains("needs a value"));
    // An empty value is one.
    let empty = ["config", "show", "--set", "telemetry.otlp_endpoint="];
    sauti(folder.path(), &empty).ok();
}

#[test]
fn secrets_are_not_shown() {
    let folder = folder();
    let secret = "payments.webhook_secret=0123456789abcdef-hush";
    let shown = sauti(folder.path(), &["config", "show", "--set", secret]).ok();
    assert!(
        shown.contains("(hidden)") && !shown.contains("hush"),
        "{shown}"
    );
}

#[test]
fn a_line_in_gives_the_spoken_line_out() {
    let folder = folder();
    let said = sauti(folder.path(), &["normalise", "Nina vitabu 25.", "Habari"]).ok();
    assert_eq!(said.lines().count(), 2);
    assert!(said.contains("ishirini") && !said.contains("25"), "{said}");
    // A wrong byte and an empty line each stay one line.
    let said = sauti_with_input(folder.path(), &["normalise"], b"moja\n\n\xff mbili\r\n").ok();
    assert_eq!(said.lines().count(), 3, "{said:?}");
}

#[test]
fn every_command_teaches_itself() {
    let folder = folder();
    let help = sauti(folder.path(), &["--help"]).ok();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names: Vec<&str> = commands
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .collect();
    assert!(names.len() > 12, "{help}");
    for name in names.into_iter().filter(|name| *name != "help") {
        let help = sauti(folder.path(), &[name, "--help"]).ok();
        assert!(help.contains(&format!("Usage: sauti {name}")), "{help}");
    }
}

#[test]
fn completions_and_the_interface_document_are_printed() {
    let folder = folder();
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            sauti(folder.path(), &["completions", shell])
                .ok()
                .contains("transcribe")
        );
    }
    let document = sauti(folder.path(), &["openapi"]).json();
    assert!(document["paths"]["/v1/audio/speech"]["post"].is_object());
}

#[test]
fn a_reader_that_stops_early_is_no_failure() {
    let folder = folder();
    let mut child = command(folder.path())
        .args(["completions", "bash"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
}
