use std::io::Write;

use secrecy::ExposeSecret;

use super::*;

fn wrong(sources: &Sources) -> Vec<BadSetting> {
    match Config::load(sources) {
        Err(ConfigError::Wrong(problems)) => problems,
        other => panic!("expected problems, got {other:?}"),
    }
}

fn file(text: &str) -> (tempfile::NamedTempFile, Sources) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let sources = Sources {
        file: Some(file.path().to_owned()),
        ..Sources::default()
    };
    (file, sources)
}

fn variables(pairs: &[(&str, &str)]) -> Sources {
    let variables = pairs
        .iter()
        .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
        .collect();
    Sources {
        variables,
        ..Sources::default()
    }
}

#[test]
fn the_embedded_defaults_are_valid() {
    let config = Config::load(&Sources::default()).unwrap();
    assert_eq!(config.server.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(config.public_url(), "http://127.0.0.1:8080");
    assert!(
        config
            .database_url()
            .expose_secret()
            .ends_with("data/sauti.db")
    );
    assert!(config.mail.smtp_url.is_none());
}

#[test]
fn a_file_goes_over_the_defaults_and_variables_over_the_file() {
    let (_keep, mut sources) = file("[limits]\ntext_chars_max = 100\nsignups_per_hour = 7\n");
    sources.variables = variables(&[("SAUTI_LIMITS__TEXT_CHARS_MAX", "200")]).variables;
    let config = Config::load(&sources).unwrap();
    assert_eq!(config.limits.text_chars_max, 200);
    assert_eq!(config.limits.signups_per_hour, 7);

    let config = Config::load(&sources.with("limits.text_chars_max", "300")).unwrap();
    assert_eq!(config.limits.text_chars_max, 300);
}

#[test]
fn an_unknown_key_is_an_error_that_guesses_what_was_meant() {
    let (_keep, sources) =
        file("[server]\nlisten_adress = \"x\"\nlissen = \"y\"\n[sever]\na = 1\n");
    let problems = wrong(&sources);
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(
        problems
            .iter()
            .any(|p| p.key == "server.lissen" && p.message.contains("\"listen\""))
    );
    assert!(
        problems
            .iter()
            .any(|p| p.key == "sever" && p.message.contains("\"server\""))
    );

    let problems = wrong(&variables(&[("SAUTI_SERVER__LISTE", "x")]));
    assert_eq!(problems[0].key, "SAUTI_SERVER__LISTE");
}

#[test]
fn variables_without_a_section_are_not_settings() {
    let sources = variables(&[
        ("SAUTI_MODELS", "x"),
        ("SAUTI_PORT_80_TCP", "y"),
        ("HOME", "z"),
    ]);
    assert!(Config::load(&sources).is_ok());
    let halves = variables(&[("SAUTI_DATABASE_URL", "x"), ("SAUTI_DATA_DIR", "y")]);
    let said = wrong(&halves).into_iter().map(|p| (p.key, p.message));
    assert_eq!(
        said.collect::<Vec<_>>(),
        [
            ("SAUTI_DATABASE_URL", "is written SAUTI_DATABASE__URL"),
            ("SAUTI_DATA_DIR", "is written SAUTI_DATA__DIR"),
        ]
        .map(|(key, message)| (key.to_owned(), message.to_owned()))
    );
}

#[test]
fn a_value_of_the_wrong_type_names_its_key() {
    let (_keep, sources) = file("[limits]\ntext_chars_max = \"many\"\n[signup]\nopen = 1\n");
    let keys: Vec<_> = wrong(&sources).into_iter().map(|p| p.key).collect();
    assert_eq!(keys, ["limits.text_chars_max", "signup.open"]);
}

#[test]
fn every_broken_rule_is_reported_at_once() {
    let sources = Sources::default()
        .with("prices.cached_fraction", "1.5")
        .with("prices.currency", "shilling")
        .with("engine.tenant_queue_max", "300")
        .with("payments.webhook_secret", "short")
        .with("server.public_url", "sauti.example.com");
    let keys: Vec<_> = wrong(&sources).into_iter().map(|p| p.key).collect();
    assert_eq!(keys.len(), 5, "{keys:?}");
}

#[test]
fn a_number_stays_within_the_bounds_behind_its_default() {
    let refused = [
        ("server.request_timeout_s", "0", "must be 1 to 3600"),
        ("server.write_timeout_s", "3601", "must be 1 to 3600"),
        ("limits.requests_per_minute", "0", "must be at least 1"),
        ("prices.cached_fraction", "1.01", "must be 0.0 to 1.0"),
        ("prices.cached_fraction", "nan", "must be 0.0 to 1.0"),
        (
            "signup.welcome_credit_micro",
            "-1",
            "must be 0 to 1000000000000",
        ),
    ];
    for (key, value, message) in refused {
        let problems = wrong(&Sources::default().with(key, value));
        assert_eq!(problems, [BadSetting::new(key, message)]);
    }
    let accepted = [
        ("server.request_timeout_s", "3600"),
        ("limits.requests_per_minute", "1"),
        ("prices.cached_fraction", "0"),
    ];
    for (key, value) in accepted {
        Config::load(&Sources::default().with(key, value)).unwrap();
    }
}

#[test]
fn mistakes_of_every_kind_are_named_in_one_go() {
    let text = "[server]\nlisten = \"nonsense\"\ncolour = \"red\"\nrequest_timeout_s = 0\n\
        [limits]\ntext_chars_max = \"many\"\n[engin]\nworkers = 2\n[prices]\ncurrency = \"shilling\"\n";
    let (_keep, sources) = file(text);
    let mut keys: Vec<_> = wrong(&sources).into_iter().map(|p| p.key).collect();
    keys.sort();
    let expected = [
        "engin",
        "limits.text_chars_max",
        "prices.currency",
        "server.colour",
        "server.listen",
        "server.request_timeout_s",
    ];
    assert_eq!(keys, expected);
}

#[test]
fn the_queue_is_named_by_urls_that_stay_secret() {
    let good = ["nats://h:4222", "tls://user:hushhush@one:4222, tls://two"];
    for url in good {
        let sources = Sources::default().with("nats.url", url);
        Config::load(&sources).unwrap();
        assert!(!effective_toml(&sources).unwrap().contains("hushhush"));
    }
    let sources = Sources::default()
        .with("nats.url", "nats://h, redis://h")
        .with("nats.stream", "a.b")
        .with("nats.replicas", "7")
        .with("nats.cert_file", "a.pem");
    let keys: Vec<_> = wrong(&sources).into_iter().map(|p| p.key).collect();
    assert_eq!(
        keys,
        ["nats.url", "nats.cert_file", "nats.stream", "nats.replicas"]
    );
}

#[test]
fn an_address_that_cannot_be_read_is_named() {
    let error = Config::with_overrides(&[("server.listen", "localhost")])
        .unwrap_err()
        .to_string();
    assert!(error.contains("server.listen"), "{error}");
    let error = Config::with_overrides(&[("telemetry.log_format", "xml")])
        .unwrap_err()
        .to_string();
    assert!(error.contains("telemetry.log_format"), "{error}");
}

#[test]
fn secrets_show_neither_in_debug_output_nor_in_the_effective_settings() {
    let sources = Sources::default()
        .with("payments.webhook_secret", "hushhushhushhush")
        .with("database.url", "postgres://u:hushhush@h/d");
    assert!(!format!("{:?}", Config::load(&sources).unwrap()).contains("hushhush"));
    assert!(!effective_toml(&sources).unwrap().contains("hushhush"));
}

#[test]
fn networks_hold_their_addresses_and_no_others() {
    let network: Network = "10.1.0.0/16".parse().unwrap();
    assert!(network.contains("10.1.200.3".parse().unwrap()));
    assert!(!network.contains("10.2.0.1".parse().unwrap()));
    assert!(!network.contains("::1".parse().unwrap()));
    let all: Network = "0.0.0.0/0".parse().unwrap();
    assert!(all.contains("8.8.8.8".parse().unwrap()));
    let one: Network = "::1".parse().unwrap();
    assert!(one.contains("::1".parse().unwrap()) && !one.contains("::2".parse().unwrap()));
    assert!("10.0.0.0/33".parse::<Network>().is_err());
}

#[test]
fn voices_have_the_names_of_other_services_that_the_operator_gives_them() {
    let config = Config::load(&Sources::default()).unwrap();
    assert_eq!(config.voices.voice_id("alloy"), "asha");
    assert_eq!(config.voices.voice_id("asha"), "asha");
    let own = variables(&[("SAUTI_VOICES__OTHER_NAMES", "alloy=juma, Rachel = zuri")]);
    let config = Config::load(&own).unwrap();
    assert_eq!(config.voices.voice_id("alloy"), "juma");
    assert_eq!(config.voices.voice_id("Rachel"), "zuri");
    assert_eq!(config.voices.voice_id("nova"), "nova");
    let error = wrong(&variables(&[("SAUTI_VOICES__OTHER_NAMES", "alloy")]));
    assert_eq!(error[0].key, "voices.other_names");
}
