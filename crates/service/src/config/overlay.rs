//! Lays the operator's file, the variables and the command line over the defaults. The defaults
//! decide which keys exist and of what type each is.

use toml::{Table, Value};

use super::{BadSetting, Config, ConfigError, DEFAULT_TOML, Sources, near_miss};

const SECRETS: [(&str, &str); 5] = [
    ("database", "url"),
    ("valkey", "url"),
    ("nats", "url"),
    ("mail", "smtp_url"),
    ("payments", "webhook_secret"),
];

/// Everything that fits, laid over the defaults, and what does not fit.
pub(super) fn merge(sources: &Sources) -> Result<(Table, Vec<BadSetting>), ConfigError> {
    let (mut table, mut problems) = (defaults(), Vec::new());
    if let Some(path) = &sources.file {
        let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Unreadable {
            path: path.clone(),
            source,
        })?;
        let file: Table = text
            .parse()
            .map_err(|error: toml::de::Error| ConfigError::Syntax {
                path: path.clone(),
                message: error.to_string(),
            })?;
        lay_file(&mut table, file, &mut problems);
    }
    for (name, value) in &sources.variables {
        let Some(path) = name.strip_prefix("SAUTI_").map(str::to_lowercase) else {
            continue;
        };
        match path.split_once("__") {
            Some((section, key)) => {
                lay_text(&mut table, name, section, key, value, &mut problems);
            }
            None => problems.extend(half_parted(&table, name, &path)),
        }
    }
    for (name, value) in &sources.overrides {
        let (section, key) = name.split_once('.').unwrap_or((name, ""));
        lay_text(&mut table, name, section, key, value, &mut problems);
    }
    reset_unreadable(&mut table, &mut problems);
    Ok((table, problems))
}

/// Variables with a single underscore (SAUTI_CONFIG, SAUTI_MODELS, what Kubernetes adds) are not settings, unless one more would
/// make them one.
fn half_parted(table: &Table, name: &str, path: &str) -> Option<BadSetting> {
    let parted = path.match_indices('_');
    let mut parted = parted.map(|(at, _)| (&path[..at], &path[at + 1..]));
    let setting = |section: &str, key: &str| table.get(section)?.get(key);
    let (section, key) = parted.find(|(section, key)| setting(section, key).is_some())?;
    let meant = format!("SAUTI_{section}__{key}").to_uppercase();
    Some(BadSetting::new(name, format!("is written {meant}")))
}

fn defaults() -> Table {
    DEFAULT_TOML
        .parse()
        .expect("the embedded defaults are TOML")
}

/// Back to their defaults go the keys whose values cannot be read. The error of the reader does not name them, so
/// each value is tried alone.
fn reset_unreadable(table: &mut Table, problems: &mut Vec<BadSetting>) {
    if table.clone().try_into::<Config>().is_ok() {
        return;
    }
    let defaults = defaults();
    for (section, values) in table {
        for (key, value) in values.as_table_mut().into_iter().flatten() {
            let mut alone = defaults.clone();
            alone[section][key] = value.clone();
            if let Err(error) = alone.try_into::<Config>() {
                problems.push(BadSetting::new(format!("{section}.{key}"), error.message()));
                *value = defaults[section][key].clone();
            }
        }
    }
}

fn lay_file(table: &mut Table, file: Table, problems: &mut Vec<BadSetting>) {
    for (section, values) in file {
        if !table.contains_key(&section) {
            problems.push(unknown("section", &section, &section, table));
            continue;
        }
        let Value::Table(values) = values else {
            problems.push(BadSetting::new(
                &section,
                format!("is a section: write [{section}] above its keys"),
            ));
            continue;
        };
        let Some(Value::Table(known)) = table.get_mut(&section) else {
            continue;
        };
        for (key, value) in values {
            let name = format!("{section}.{key}");
            match known.get(&key) {
                None => problems.push(unknown("key", &name, &key, known)),
                Some(default) => match fit(default, value) {
                    Ok(value) => drop(known.insert(key, value)),
                    Err(message) => problems.push(BadSetting::new(name, message)),
                },
            }
        }
    }
}

fn lay_text(
    table: &mut Table,
    name: &str,
    section: &str,
    key: &str,
    text: &str,
    problems: &mut Vec<BadSetting>,
) {
    let Some(Value::Table(known)) = table.get_mut(section) else {
        problems.push(unknown("section", name, section, table));
        return;
    };
    let Some(default) = known.get(key) else {
        problems.push(unknown("key", name, key, known));
        return;
    };
    match parse_like(default, text) {
        Ok(value) => drop(known.insert(key.to_owned(), value)),
        Err(message) => problems.push(BadSetting::new(name, message)),
    }
}

fn unknown(what: &str, name: &str, part: &str, known: &Table) -> BadSetting {
    let message = match near_miss(part, known.keys().map(String::as_str)) {
        Some(meant) => format!("there is no such {what}; did you mean {meant:?}?"),
        None => {
            let names: Vec<&str> = known.keys().map(String::as_str).collect();
            format!("there is no such {what}; there are {}", names.join(", "))
        }
    };
    BadSetting::new(name, message)
}

/// A value from a file, if it has the type of the default.
fn fit(default: &Value, value: Value) -> Result<Value, String> {
    match (default, value) {
        (Value::Float(_), Value::Integer(whole)) => Ok(Value::Float(whole as f64)),
        (Value::Array(_), Value::Array(items)) if !items.iter().all(Value::is_str) => {
            Err("must be a list of texts".to_owned())
        }
        (default, value) if default.same_type(&value) => Ok(value),
        (default, value) => Err(format!(
            "must be {}, not {}",
            type_name(default),
            type_name(&value)
        )),
    }
}

/// A value from a variable or the command line, read as the type of the default.
fn parse_like(default: &Value, text: &str) -> Result<Value, String> {
    let refuse = || format!("must be {}, not {text:?}", type_name(default));
    let trimmed = text.trim();
    Ok(match default {
        Value::Integer(_) => {
            Value::Integer(trimmed.replace('_', "").parse().map_err(|_| refuse())?)
        }
        Value::Float(_) => Value::Float(trimmed.parse().map_err(|_| refuse())?),
        Value::Boolean(_) => Value::Boolean(match trimmed {
            "true" | "1" | "yes" | "on" => true,
            "false" | "0" | "no" | "off" => false,
            _ => return Err(refuse()),
        }),
        Value::Array(_) => Value::Array(
            trimmed
                .split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty())
                .map(|item| Value::String(item.to_owned()))
                .collect(),
        ),
        _ => Value::String(text.to_owned()),
    })
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a text",
        Value::Integer(_) => "a whole number",
        Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "a list",
        Value::Table(_) => "a table",
    }
}

pub(super) fn hide_secrets(table: &mut Table) {
    for (section, key) in SECRETS {
        if let Some(Value::String(secret)) = table.get_mut(section).and_then(|s| s.get_mut(key))
            && !secret.is_empty()
            && !secret.starts_with("sqlite:")
        {
            *secret = "(hidden)".to_owned();
        }
    }
}
