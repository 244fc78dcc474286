//! The document as a page to read: no script, nothing loaded from anywhere.

use askama::Template;
use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};

use sauti_web::problem::Code;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1b1f;background:#fff}\
h1,h2,h3{line-height:1.2}code,pre{font:14px/1.45 ui-monospace,monospace}pre{background:#f4f4f6;padding:.8rem;overflow:auto;border-radius:6px}\
section{border-top:1px solid #ddd;padding:1rem 0}.m{display:inline-block;min-width:4.2em;font-weight:700;color:#0a5c36}\
table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid #e6e6ea}\
nav a{display:block}@media(prefers-color-scheme:dark){body{background:#16161a;color:#e9e9ee}pre{background:#222228}\
section,td,th{border-color:#333}.m{color:#6fd6a4}a{color:#9ec1ff}}";

/// The page's one style as a source of its content security policy: nothing else may style it.
pub fn style_source() -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(STYLE)))
}

#[derive(Template)]
#[template(path = "docs.html")]
struct DocsPage {
    document: Value,
}

pub fn render(json: &str) -> String {
    let document = serde_json::from_str(json).unwrap_or_default();
    DocsPage { document }.render().unwrap_or_default()
}

impl DocsPage {
    /// Method, path and description of each operation.
    fn operations(&self) -> impl Iterator<Item = (String, &str, &Value)> {
        entries(&self.document["paths"]).flat_map(|(path, item)| {
            entries(item)
                .filter(|(_, value)| value["operationId"].is_string())
                .map(move |(method, value)| (method.to_uppercase(), path, value))
        })
    }

    /// Name, type and meaning of each field.
    fn fields<'a>(&'a self, schema: &'a Value) -> Vec<(&'a str, String, &'a str)> {
        let schema = match schema["$ref"].as_str() {
            Some(link) => &self.document["components"]["schemas"][last_part(link)],
            None => schema,
        };
        let required = schema["required"].as_array();
        let fields = entries(&schema["properties"]).map(|(field, about)| {
            let needed = required.is_some_and(|names| names.iter().any(|name| name == field));
            let optional = if needed { "" } else { ", optional" };
            let kind = format!("{}{optional}", kind_of(about));
            (field, kind, text(&about["description"]))
        });
        fields.collect()
    }
}

fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let map = value.as_object().into_iter().flatten();
    map.map(|(key, value)| (key.as_str(), value))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn paragraphs(value: &Value) -> impl Iterator<Item = &str> {
    let parts = text(value).split("\n\n");
    parts.filter(|part| !part.trim().is_empty())
}

fn last_part(link: &str) -> &str {
    link.rsplit('/').next().unwrap_or_default()
}

fn kind_of(about: &Value) -> String {
    if let Some(link) = about["$ref"].as_str() {
        return last_part(link).to_owned();
    }
    match &about["type"] {
        Value::String(kind) if kind == "array" => format!("list of {}", kind_of(&about["items"])),
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => {
            let kinds: Vec<_> = kinds
                .iter()
                .filter_map(Value::as_str)
                .filter(|kind| *kind != "null")
                .collect();
            kinds.join(" or ")
        }
        _ => "object".to_owned(),
    }
}
