use axum::body::Body;
use axum::http::{Method, Request};
use sauti_server::openapi;
use sauti_web::problem::Code;
use serde_json::Value;

use crate::support::{World, repository};

/// After a change of the API: `SAUTI_WRITE_OPENAPI=1 cargo test -p sauti-server --test http_api document`.
#[test]
fn the_committed_document_is_the_one_of_this_code() {
    let path = repository().join("docs/openapi.json");
    let made = openapi::document().to_pretty_json().unwrap() + "\n";
    if std::env::var_os("SAUTI_WRITE_OPENAPI").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert!(
        committed == made,
        "docs/openapi.json is not what the code says; see the comment above this test"
    );
}

#[tokio::test]
async fn the_document_is_served_as_openapi_3_1() {
    let world = World::new().await;
    let document = world.get("/openapi.json").await.assert_ok().json();
    assert!(
        document["openapi"].as_str().unwrap().starts_with("3.1"),
        "{}",
        document["openapi"]
    );
    assert!(document["paths"]["/v1/audio/speech"]["post"]["responses"]["401"].is_object());
    assert!(
        document["paths"]["/healthz"]["get"]["responses"]
            .get("401")
            .is_none()
    );
}

#[test]
fn every_answer_says_what_its_lists_hold() {
    let document = serde_json::to_value(openapi::document()).unwrap();
    let (mut untyped, bare) = (Vec::new(), serde_json::json!({"type": "object"}));
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        for (field, property) in schema["properties"].as_object().into_iter().flatten() {
            if *property == bare || property["items"] == bare {
                untyped.push(format!("{name}.{field}"));
            }
        }
    }
    assert!(untyped.is_empty(), "{untyped:?}");
    let role = &document["components"]["schemas"]["Role"]["enum"];
    assert_eq!(*role, serde_json::json!(["member", "admin", "owner"]));
}

#[tokio::test]
async fn every_operation_that_needs_a_key_refuses_without_one() {
    let world = World::new().await;
    let document = world.get("/openapi.json").await.json();
    let mut checked = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            if operation["security"].as_array().is_some_and(|needs| {
                needs
                    .iter()
                    .any(|need| need == &Value::Object(Default::default()))
            }) {
                continue;
            }
            let method: Method = method.to_uppercase().parse().unwrap();
            let address = path.replace(['{', '}'], "");
            let request = Request::builder()
                .method(method.clone())
                .uri(&address)
                .body(Body::empty())
                .unwrap();
            let answer = world.send(request).await;
            assert_eq!(answer.status.as_u16(), 401, "{method} {path}");
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked}");
}

#[tokio::test]
async fn the_page_explains_every_code_and_loads_nothing() {
    let world = World::new().await;
    let page = world.get("/docs").await;
    assert_eq!(
        page.assert_ok().header("content-type"),
        "text/html; charset=utf-8"
    );
    let html = String::from_utf8(page.body.to_vec()).unwrap();
    for code in Code::ALL {
        assert!(
            html.contains(&format!("id=\"{}\"", code.as_str())),
            "{}",
            code.as_str()
        );
    }
    for loader in ["<script", "src=", "<link", "url(", "http://", "https://"] {
        assert!(!html.contains(loader), "{loader}");
    }
}
