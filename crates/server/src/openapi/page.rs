//! The document as a page to read: no script, nothing loaded from anywhere.

use std::fmt::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::problem::Code;

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

pub fn render(document: &utoipa::openapi::OpenApi) -> String {
    let document = serde_json::to_value(document).unwrap_or_default();
    let mut html = String::with_capacity(64 * 1024);
    html.push_str(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Sauti API</title>",
    );
    html.push_str("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><style>");
    html.push_str(STYLE);
    html.push_str("</style></head><body><h1>Sauti API</h1>");
    paragraphs(
        &mut html,
        document["info"]["description"].as_str().unwrap_or_default(),
    );
    html.push_str(
        "<p>The same as a document for programs: <a href=\"/openapi.json\">/openapi.json</a>.</p>\
         <h2>Speak</h2><pre>curl -H \"Authorization: Bearer $SAUTI_KEY\" -H \"Content-Type: application/json\" \\\n\
         \x20 -d '{\"text\":\"Habari za asubuhi.\",\"voice_id\":\"asha\"}' \\\n\
         \x20 -o habari.wav $SAUTI_URL/v1/audio/speech</pre>\
         <h2>Transcribe</h2><pre>curl -H \"Authorization: Bearer $SAUTI_KEY\" -F file=@habari.wav $SAUTI_URL/v1/audio/transcriptions</pre>",
    );
    let operations = operations(&document);
    html.push_str("<h2>Operations</h2><nav>");
    for operation in &operations {
        let id = escape(operation.id);
        write!(
            html,
            "<a href=\"#{id}\"><span class=\"m\">{}</span> <code>{}</code> {}</a>",
            operation.method.to_uppercase(),
            escape(operation.path),
            escape(operation.summary)
        )
        .ok();
    }
    html.push_str("</nav>");
    for operation in &operations {
        section(&mut html, &document, operation);
    }
    refusals(&mut html);
    html.push_str("</body></html>");
    html
}

struct DocumentedOperation<'a> {
    method: &'a str,
    path: &'a str,
    id: &'a str,
    summary: &'a str,
    value: &'a Value,
}

fn operations(document: &Value) -> Vec<DocumentedOperation<'_>> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for (method, value) in item.as_object().into_iter().flatten() {
            let Some(id) = value["operationId"].as_str() else {
                continue;
            };
            let summary = value["summary"].as_str().unwrap_or_default();
            found.push(DocumentedOperation {
                method,
                path,
                id,
                summary,
                value,
            });
        }
    }
    found
}

fn section(html: &mut String, document: &Value, operation: &DocumentedOperation<'_>) {
    write!(html, "<section id=\"{}\"><h3><span class=\"m\">{}</span> <code>{}</code></h3><p><strong>{}</strong></p>",
        escape(operation.id), operation.method.to_uppercase(), escape(operation.path), escape(operation.summary)).ok();
    paragraphs(
        html,
        operation.value["description"].as_str().unwrap_or_default(),
    );
    let parameters = operation.value["parameters"].as_array();
    if let Some(parameters) = parameters.filter(|parameters| !parameters.is_empty()) {
        html.push_str("<table><tr><th>parameter</th><th>in</th><th>meaning</th></tr>");
        for parameter in parameters {
            row(
                html,
                &[
                    parameter["name"].as_str().unwrap_or_default(),
                    parameter["in"].as_str().unwrap_or_default(),
                    parameter["description"].as_str().unwrap_or_default(),
                ],
            );
        }
        html.push_str("</table>");
    }
    for (kind, content) in operation.value["requestBody"]["content"]
        .as_object()
        .into_iter()
        .flatten()
    {
        write!(html, "<p>Body: <code>{}</code></p>", escape(kind)).ok();
        schema(html, document, &content["schema"]);
    }
    for (status, response) in operation.value["responses"]
        .as_object()
        .into_iter()
        .flatten()
    {
        if !status.starts_with('2') {
            continue;
        }
        let kinds: Vec<_> = response["content"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(kind, _)| kind.as_str())
            .collect();
        write!(
            html,
            "<p>{}: {} <code>{}</code></p>",
            escape(status),
            escape(response["description"].as_str().unwrap_or_default()),
            escape(&kinds.join(", "))
        )
        .ok();
        schema(
            html,
            document,
            &response["content"]["application/json"]["schema"],
        );
    }
    html.push_str("</section>");
}

fn schema(html: &mut String, document: &Value, schema: &Value) {
    let name = schema["$ref"]
        .as_str()
        .and_then(|link| link.rsplit('/').next());
    let schema = name.map_or(schema, |name| &document["components"]["schemas"][name]);
    let Some(properties) = schema["properties"].as_object() else {
        return;
    };
    let required = schema["required"].as_array();
    html.push_str("<table><tr><th>field</th><th>type</th><th>meaning</th></tr>");
    for (field, about) in properties {
        let needed = required.is_some_and(|names| names.iter().any(|name| name == field));
        let kind = format!(
            "{}{}",
            kind_of(about),
            if needed { "" } else { ", optional" }
        );
        row(
            html,
            &[
                field,
                &kind,
                about["description"].as_str().unwrap_or_default(),
            ],
        );
    }
    html.push_str("</table>");
}

fn kind_of(about: &Value) -> String {
    if let Some(link) = about["$ref"].as_str() {
        return link.rsplit('/').next().unwrap_or_default().to_owned();
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

fn refusals(html: &mut String) {
    html.push_str("<h2>Refusals</h2><table><tr><th>code</th><th>status</th><th>meaning</th></tr>");
    for code in Code::ALL {
        write!(html, "<tr id=\"{0}\"><td><code>{0}</code></td><td>{1}</td><td>{2}<br><span lang=\"sw\">{3}</span></td></tr>",
            code.as_str(), code.status().as_u16(), escape(code.english()), escape(code.swahili())).ok();
    }
    html.push_str("</table>");
}

fn row(html: &mut String, cells: &[&str]) {
    html.push_str("<tr>");
    for (i, cell) in cells.iter().enumerate() {
        match i {
            0 => write!(html, "<td><code>{}</code></td>", escape(cell)).ok(),
            _ => write!(html, "<td>{}</td>", escape(cell)).ok(),
        };
    }
    html.push_str("</tr>");
}

fn paragraphs(html: &mut String, text: &str) {
    for paragraph in text
        .split("\n\n")
        .filter(|paragraph| !paragraph.trim().is_empty())
    {
        write!(html, "<p>{}</p>", escape(paragraph)).ok();
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
