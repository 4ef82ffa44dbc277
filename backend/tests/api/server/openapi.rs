//! The OpenAPI document: up to date, complete, and true to the server's responses.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::server::rules;
use crate::support::helpers::TestApp;

/// Routes that the document may omit: the document itself.
const UNDOCUMENTED: [&str; 1] = ["/openapi.json"];

pub fn document() -> Value {
    serde_json::from_str(&nyala::app::openapi::document().unwrap()).unwrap()
}

/// `(method, path, operation)` of every call.
fn calls(document: &Value) -> Vec<(String, String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    paths
        .iter()
        .flat_map(|(path, item)| item.as_object().unwrap().iter().map(move |(m, op)| (m.to_uppercase(), path.clone(), op)))
        .collect()
}

#[test]
fn the_snapshot_is_fresh() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    let now = nyala::app::openapi::document().unwrap();
    if std::env::var_os("UPDATE_OPENAPI").is_some() {
        std::fs::write(&file, &now).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == now, "backend/server/openapi.json is stale: run `UPDATE_OPENAPI=1 cargo test -p nyala --test api openapi`");
}

#[test]
fn every_route_is_in_the_document_and_nothing_else() {
    let document = document();
    let mut described: Vec<(String, String)> = calls(&document).into_iter().map(|(method, path, _)| (method, path)).collect();
    let mut sources = Vec::new();
    for name in ["web", "server"] {
        rules::sources(&rules::checkout(&format!("backend/{name}/src")), &mut sources);
    }
    let mut routes: Vec<(String, String)> =
        sources.iter().flat_map(|file| routes_in(&std::fs::read_to_string(file).unwrap())).collect();
    assert!(routes.len() > 30, "the sources' routes were not found: {routes:?}");
    // The longest first: `/saya` is also the end of `/perangkat/saya`.
    routes.sort_by_key(|(_, leaf)| std::cmp::Reverse(leaf.len()));
    for (method, leaf) in routes.iter().filter(|(_, leaf)| !UNDOCUMENTED.contains(&leaf.as_str())) {
        let at = described.iter().position(|(m, path)| m == method && path.ends_with(leaf.as_str()));
        described.remove(at.unwrap_or_else(|| panic!("{method} …{leaf} is not in the document")));
    }
    assert!(described.is_empty(), "no route for {described:?}");
}

/// `(METHOD, leaf)` of every `.route("<leaf>", [web::]<method>()…)`.
fn routes_in(source: &str) -> Vec<(String, String)> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    code.split(".route(")
        .skip(1)
        .map(|rest| {
            let leaf = rest.split('"').nth(1).unwrap_or_default();
            let after = rest.split_once(leaf).map_or("", |(_, after)| after).trim_start_matches(['"', ',']).trim_start();
            let method = after.trim_start_matches("web::").split('(').next().unwrap_or_default();
            (method.to_uppercase(), leaf.to_owned())
        })
        .collect()
}

#[test]
fn every_call_is_precise() {
    let document = document();
    let mut operations = BTreeSet::new();
    for (method, path, call) in calls(&document) {
        let name = format!("{method} {path}");
        let id = call["operationId"].as_str().unwrap();
        assert!(operations.insert(id.to_owned()), "{name}: operationId {id} is taken");
        assert!(call["summary"].is_string(), "{name} says what it does");
        let responses = call["responses"].as_object().unwrap();
        for (status, response) in responses {
            for (kind, content) in response["content"].as_object().into_iter().flatten() {
                if kind == "application/json" {
                    assert_envelope(&document, &content["schema"], &format!("{name} {status}"));
                }
            }
        }
        if path.starts_with("/scan/") && !path.starts_with("/scan/v1/auth/") {
            assert!(call["security"][0]["pelanggan"].is_array(), "{name} needs a customer's token");
        }
        if path.starts_with("/ops/") && path != "/ops/v1/pasang" {
            let shown = ["operator", "session", "browser"].iter().any(|by| call["security"][0][by].is_array());
            assert!(shown, "{name} needs an operator's key, a session at a till or a paired browser");
        }
        assert_eq!(call["security"].is_array(), responses.contains_key("401") && !path.ends_with("/login"), "{name}: 401");
    }
}

#[track_caller]
fn assert_envelope(document: &Value, schema: &Value, name: &str) {
    let schema = match schema["$ref"].as_str() {
        Some(reference) => {
            document.pointer(reference.trim_start_matches('#')).unwrap_or_else(|| panic!("{name}: {reference} is missing"))
        }
        None => schema,
    };
    let mut required: Vec<&str> = schema["required"].as_array().into_iter().flatten().map(|v| v.as_str().unwrap()).collect();
    required.sort_unstable();
    assert_eq!(required, ["data", "message", "status"], "{name}");
}

#[test]
fn every_reference_leads_somewhere() {
    let document = document();
    let mut references = Vec::new();
    collect(&document, &mut references);
    for reference in references {
        assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
    }
}

fn collect<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(map) => {
            found.extend(map.get("$ref").and_then(Value::as_str));
            map.values().for_each(|v| collect(v, found));
        }
        Value::Array(list) => list.iter().for_each(|v| collect(v, found)),
        _ => {}
    }
}

#[actix_web::test]
async fn every_documented_call_exists_in_the_server() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    for (method, path, _) in calls(&document()) {
        let path = path.replace("{id}", "1").replace("{id_customer_global}", "1");
        let mut res = app
            .http
            .request(method.parse().unwrap(), format!("{}{path}", app.base_url))
            .bearer_auth(&siti.token)
            .send()
            .await
            .unwrap();
        let body = res.body().limit(1 << 20).await.unwrap();
        let body = String::from_utf8_lossy(&body);
        assert!(res.status() != 405 && !body.contains("alamat tidak ditemukan"), "{method} {path}: {} {body}", res.status());
    }
}

#[actix_web::test]
async fn the_document_is_served_with_a_page_to_try_it() {
    let app = TestApp::spawn().await;
    let mut res = app.http.get(format!("{}/openapi.json", app.base_url)).send().await.unwrap();
    assert_eq!(res.status(), 200);
    assert_eq!(res.body().limit(1 << 20).await.unwrap(), nyala::app::openapi::document().unwrap());
    let res = app.http.get(format!("{}/docs", app.base_url)).send().await.unwrap();
    assert_eq!(res.headers().get("location").unwrap(), "/docs/");
    let mut res = app.http.get(format!("{}/docs/", app.base_url)).send().await.unwrap();
    let page = String::from_utf8_lossy(&res.body().limit(1 << 20).await.unwrap()).into_owned();
    assert!(page.contains("swagger-ui"), "{} {page}", res.status());
}
