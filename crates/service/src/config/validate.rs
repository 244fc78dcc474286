//! Rules that types cannot hold. Every broken one is reported, each by the name of its key.

use secrecy::ExposeSecret;
use toml::{Table, Value};

use super::{BadSetting, Config, DEFAULT_TOML, TlsFiles};

/// Numbers outside of the bounds that stand behind their defaults: `# 1 to 3600`, `# at least 1`.
pub(super) fn out_of_bounds(settings: &Table) -> Vec<BadSetting> {
    let mut section = "";
    let mut problems = Vec::new();
    for line in DEFAULT_TOML.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
        } else if let Some((setting, bounds)) = line.split_once("  # ")
            && let Some((key, _)) = setting.split_once(" = ")
            && !within(&settings[section][key], bounds)
        {
            let message = format!("must be {bounds}");
            problems.push(BadSetting::new(format!("{section}.{key}"), message));
        }
    }
    problems
}

fn within(value: &Value, bounds: &str) -> bool {
    let value = value
        .as_float()
        .or(value.as_integer().map(|whole| whole as f64));
    // What is no number refuses every value, the default first.
    let number = |text: &str| text.parse().unwrap_or(f64::NAN);
    value.is_some_and(|value| match bounds.split_once(" to ") {
        Some((low, high)) => (number(low)..=number(high)).contains(&value),
        None => value >= number(bounds.trim_start_matches("at least ")),
    })
}

pub(super) fn problems(config: &Config) -> Vec<BadSetting> {
    let mut problems = Vec::new();
    let mut require = |holds: bool, key: &str, message: &str| {
        if !holds {
            problems.push(BadSetting::new(key, message));
        }
    };
    let server = &config.server;
    require(
        is_origin(&server.public_url),
        "server.public_url",
        "must be http:// or https:// and a host, without a query",
    );
    require(
        server.connections_reserved <= server.connections_max / 2,
        "server.connections_reserved",
        "must not be above half of server.connections_max",
    );
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
        engine.tenant_queue_max <= engine.queue_max,
        "engine.tenant_queue_max",
        "must not be above engine.queue_max",
    );
    require(
        engine.wait_s_max > 0.0 && engine.wait_s_max.is_finite(),
        "engine.wait_s_max",
        "must be above 0",
    );

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
    let environment = config.keys.environment.as_str();
    require(
        matches!(environment, "live" | "test"),
        "keys.environment",
        "must be \"live\" or \"test\"",
    );

    let telemetry = &config.telemetry;
    require(
        crate::telemetry::log_filter(&telemetry.log_level).is_ok(),
        "telemetry.log_level",
        "must be a level such as \"info\" or filters such as \"info,sauti=debug\"",
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
}

fn batches(config: &Config, require: &mut impl FnMut(bool, &str, &str)) {
    let batches = &config.batches;
    require(
        batches.workspace_bytes_max >= batches.upload_bytes_max,
        "batches.workspace_bytes_max",
        "must not be below batches.upload_bytes_max",
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
