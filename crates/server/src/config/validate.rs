//! Rules that types cannot hold. Every broken one is reported, each by the name of its key.

use secrecy::ExposeSecret;

use super::{Config, Problem, TlsFiles};

pub(super) fn problems(config: &Config) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut require = |holds: bool, key: &str, message: &str| {
        if !holds {
            problems.push(Problem::new(key, message));
        }
    };
    let server = &config.server;
    require(
        is_origin(&server.public_url),
        "server.public_url",
        "must be http:// or https:// and a host, without a query",
    );
    require(
        (1..=3600).contains(&server.request_timeout_s),
        "server.request_timeout_s",
        "must be 1 to 3600",
    );
    require(
        (0.0..=100.0).contains(&server.request_timeout_per_audio_second),
        "server.request_timeout_per_audio_second",
        "must be 0 to 100",
    );
    require(
        server.shutdown_grace_s <= 3600,
        "server.shutdown_grace_s",
        "must be 0 to 3600",
    );
    require(
        server.shutdown_delay_s <= 600,
        "server.shutdown_delay_s",
        "must be 0 to 600",
    );
    connections(config, &mut require);
    require(
        !config.data.dir.as_os_str().is_empty(),
        "data.dir",
        "must name a folder",
    );

    let url = config.database.url.expose_secret();
    let known = ["sqlite:", "postgres://", "postgresql://"]
        .iter()
        .any(|start| url.starts_with(start));
    require(
        url.is_empty() || known,
        "database.url",
        "must start with sqlite:// or postgres://",
    );

    let valkey = config.valkey.url.as_ref().map(|url| url.expose_secret());
    require(
        valkey.is_none_or(|url| {
            ["redis://", "rediss://", "unix://"]
                .iter()
                .any(|start| url.starts_with(start))
        }),
        "valkey.url",
        "must start with redis://, rediss:// or unix://",
    );
    let tls = &config.valkey.tls;
    pair(tls, "valkey", &mut require);
    require(
        (tls.ca_file.is_none() && tls.cert_file.is_none())
            || valkey.is_some_and(|url| url.starts_with("rediss://")),
        "valkey.ca_file",
        "and valkey.cert_file are for a valkey.url with rediss://",
    );

    nats(config, &mut require);

    let engine = &config.engine;
    require(
        engine.workers <= 1024,
        "engine.workers",
        "must be 0 to 1024",
    );
    require(
        (1..=100_000).contains(&engine.queue_max),
        "engine.queue_max",
        "must be 1 to 100000",
    );
    require(
        engine.tenant_queue_max >= 1,
        "engine.tenant_queue_max",
        "must be at least 1",
    );
    require(
        engine.tenant_queue_max <= engine.queue_max,
        "engine.tenant_queue_max",
        "must not be above engine.queue_max",
    );
    require(
        engine.wait_s_max > 0.0 && engine.wait_s_max.is_finite(),
        "engine.wait_s_max",
        "must be above 0",
    );
    require(
        (0.0..=1_000.0).contains(&engine.wait_per_audio_second),
        "engine.wait_per_audio_second",
        "must be 0 to 1000",
    );

    limits(config, &mut require);
    money(config, &mut require);

    let mail = &config.mail;
    let smtp = mail.smtp_url.as_ref().map(|url| url.expose_secret());
    require(
        smtp.is_none_or(|url| url.starts_with("smtp://") || url.starts_with("smtps://")),
        "mail.smtp_url",
        "must start with smtp:// or smtps://",
    );
    require(
        mail.from.parse::<lettre::message::Mailbox>().is_ok(),
        "mail.from",
        "must be an address such as \"Sauti <sauti@example.com>\"",
    );

    require(
        !mail.show_outbox || smtp.is_none(),
        "mail.show_outbox",
        "works only without mail.smtp_url",
    );

    batches(config, &mut require);
    let retention = &config.retention;
    require(
        (1..=36_500).contains(&retention.audit_days),
        "retention.audit_days",
        "must be 1 to 36500",
    );
    require(
        (1..=36_500).contains(&retention.webhook_days),
        "retention.webhook_days",
        "must be 1 to 36500",
    );

    let environment = config.keys.environment.as_str();
    require(
        matches!(environment, "live" | "test"),
        "keys.environment",
        "must be \"live\" or \"test\"",
    );

    let telemetry = &config.telemetry;
    require(
        tracing_subscriber::EnvFilter::try_new(&telemetry.log_level).is_ok(),
        "telemetry.log_level",
        "must be a level such as \"info\" or filters such as \"info,sauti_server=debug\"",
    );
    require(
        is_origin(&telemetry.otlp_endpoint),
        "telemetry.otlp_endpoint",
        "must be http:// or https:// and a host",
    );
    problems
}

fn pair(tls: &TlsFiles, section: &str, require: &mut impl FnMut(bool, &str, &str)) {
    require(
        tls.cert_file.is_some() == tls.key_file.is_some(),
        &format!("{section}.cert_file"),
        &format!("goes together with {section}.key_file"),
    );
}

fn connections(config: &Config, require: &mut impl FnMut(bool, &str, &str)) {
    let server = &config.server;
    require(
        (16..=1_000_000).contains(&server.connections_max),
        "server.connections_max",
        "must be 16 to 1000000",
    );
    require(
        server.connections_per_address_max >= 1,
        "server.connections_per_address_max",
        "must be at least 1",
    );
    require(
        server.connections_reserved <= server.connections_max / 2,
        "server.connections_reserved",
        "must not be above half of server.connections_max",
    );
    for (key, seconds) in [
        ("server.header_timeout_s", server.header_timeout_s),
        ("server.idle_timeout_s", server.idle_timeout_s),
        ("server.body_timeout_s", server.body_timeout_s),
        ("server.write_timeout_s", server.write_timeout_s),
    ] {
        require((1..=3600).contains(&seconds), key, "must be 1 to 3600");
    }
    require(
        (1..=10_000).contains(&server.http2_streams_max),
        "server.http2_streams_max",
        "must be 1 to 10000",
    );
}

fn nats(config: &Config, require: &mut impl FnMut(bool, &str, &str)) {
    let nats = &config.nats;
    let url = nats.url.as_ref().map_or("", |url| url.expose_secret());
    let known = |server: &str| {
        let rest = server
            .strip_prefix("nats://")
            .or_else(|| server.strip_prefix("tls://"));
        rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
    };
    require(
        url.is_empty() || url.split(',').map(str::trim).all(known),
        "nats.url",
        "must be nats:// or tls:// and a host, or several of these with commas between them",
    );
    pair(&nats.tls, "nats", require);
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    require(
        (1..=64).contains(&nats.stream.len()) && nats.stream.chars().all(is_name),
        "nats.stream",
        "must be 1 to 64 letters, digits, - and _",
    );
    require(
        (1..=5).contains(&nats.replicas),
        "nats.replicas",
        "must be 1 to 5",
    );
}

fn limits(config: &Config, require: &mut impl FnMut(bool, &str, &str)) {
    let limits = &config.limits;
    require(
        (1..=100_000).contains(&limits.text_chars_max),
        "limits.text_chars_max",
        "must be 1 to 100000",
    );
    require(
        (1..=86_400).contains(&limits.speech_seconds_max),
        "limits.speech_seconds_max",
        "must be 1 to 86400",
    );
    require(
        (1..=87_600).contains(&config.cache.keep_hours),
        "cache.keep_hours",
        "must be 1 to 87600",
    );
    require(
        (1_000..=10_000_000_000).contains(&limits.upload_bytes_max),
        "limits.upload_bytes_max",
        "must be 1000 to 10000000000",
    );
    require(
        (1..=86_400).contains(&limits.recording_seconds_max),
        "limits.recording_seconds_max",
        "must be 1 to 86400",
    );
    require(
        limits.requests_per_minute >= 1,
        "limits.requests_per_minute",
        "must be at least 1",
    );
    require(
        limits.concurrent_requests >= 1,
        "limits.concurrent_requests",
        "must be at least 1",
    );
    require(
        limits.audio_seconds_per_minute >= 1,
        "limits.audio_seconds_per_minute",
        "must be at least 1",
    );
    require(
        limits.live_sessions_max <= 10_000,
        "limits.live_sessions_max",
        "must be 0 to 10000",
    );
    require(
        limits.live_sessions_per_workspace_max <= 10_000,
        "limits.live_sessions_per_workspace_max",
        "must be 0 to 10000",
    );
    require(
        limits.sign_in_failures_max >= 1,
        "limits.sign_in_failures_max",
        "must be at least 1",
    );
    require(
        (1..=86_400).contains(&limits.sign_in_window_s),
        "limits.sign_in_window_s",
        "must be 1 to 86400",
    );
    require(
        limits.signups_per_hour >= 1,
        "limits.signups_per_hour",
        "must be at least 1",
    );
}

fn batches(config: &Config, require: &mut impl FnMut(bool, &str, &str)) {
    let batches = &config.batches;
    require(
        batches.workers <= 1024,
        "batches.workers",
        "must be 0 to 1024",
    );
    require(
        (1..=100_000).contains(&batches.items_max),
        "batches.items_max",
        "must be 1 to 100000",
    );
    require(
        (1_000..=100_000_000_000).contains(&batches.upload_bytes_max),
        "batches.upload_bytes_max",
        "must be 1000 to 100000000000",
    );
    require(
        batches.workspace_bytes_max >= batches.upload_bytes_max,
        "batches.workspace_bytes_max",
        "must not be below batches.upload_bytes_max",
    );
    require(
        (1..=720).contains(&batches.hours_max),
        "batches.hours_max",
        "must be 1 to 720",
    );
    require(
        (1..=8_760).contains(&batches.keep_hours),
        "batches.keep_hours",
        "must be 1 to 8760",
    );
    let known = |origin: &String| {
        is_origin(origin) && !origin.is_empty() && origin.matches('/').count() == 2
    };
    require(
        batches.url_origins.iter().all(known),
        "batches.url_origins",
        "must be origins such as \"https://media.example.com\", without a path",
    );
}

fn money(config: &Config, require: &mut impl FnMut(bool, &str, &str)) {
    let prices = &config.prices;
    let is_code =
        prices.currency.len() == 3 && prices.currency.bytes().all(|b| b.is_ascii_uppercase());
    require(
        is_code,
        "prices.currency",
        "must be three capital letters such as \"KES\"",
    );
    // The largest request times the largest price must stay far inside 64 bits.
    let fair = 0..=1_000_000_000_000;
    require(
        fair.contains(&prices.per_1000_characters_micro),
        "prices.per_1000_characters_micro",
        "must be 0 to 1000000000000",
    );
    require(
        fair.contains(&prices.per_audio_minute_micro),
        "prices.per_audio_minute_micro",
        "must be 0 to 1000000000000",
    );
    require(
        fair.contains(&prices.smallest_charge_micro),
        "prices.smallest_charge_micro",
        "must be 0 to 1000000000000",
    );
    require(
        (0.0..=1.0).contains(&prices.cached_fraction),
        "prices.cached_fraction",
        "must be 0.0 to 1.0",
    );

    require(
        fair.contains(&config.signup.welcome_credit_micro),
        "signup.welcome_credit_micro",
        "must be 0 to 1000000000000",
    );

    let payments = &config.payments;
    let secret_len = payments
        .webhook_secret
        .as_ref()
        .map(|secret| secret.expose_secret().len());
    require(
        secret_len.is_none_or(|len| len >= 16),
        "payments.webhook_secret",
        "must have at least 16 characters",
    );
    require(
        (1..=86_400).contains(&payments.tolerance_s),
        "payments.tolerance_s",
        "must be 1 to 86400",
    );
}

fn is_origin(url: &str) -> bool {
    let rest = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"));
    url.is_empty()
        || rest.is_some_and(|rest| {
            !rest.is_empty()
                && !rest.starts_with('/')
                && !rest.contains(|c: char| c.is_whitespace() || "?#@\"<>".contains(c))
        })
}
