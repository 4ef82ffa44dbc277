//! `/dev/whatsapp` (docs/contract.md §5).

use serde_json::json;

use crate::auth::register::TELP;
use crate::support::helpers::{Setup, TestApp};

#[actix_web::test]
async fn messages_are_listed_newest_first_by_any_form_of_the_number() {
    let app = TestApp::spawn().await;
    let first = app.send_code(TELP).await;
    app.advance_s(60);
    let second = app.send_code(TELP).await;
    app.send_code("81234567891").await;
    for form in ["81234567890", "081234567890", "6281234567890", "+6281234567890", "%2B6281234567890"] {
        let sent = app.get(&format!("/dev/whatsapp?telp={form}"), None).await.ok();
        let codes: Vec<_> = sent.as_array().unwrap().iter().map(|m| m["code"].clone()).collect();
        assert_eq!(codes, [json!(second), json!(first)], "{form}");
        assert_eq!(sent[0]["to"], "6281234567890");
        assert_eq!(sent[0]["at"], app.now().rfc3339());
        assert!(sent[0]["text"].as_str().unwrap().contains(&second));
    }
    assert_eq!(app.get("/dev/whatsapp", None).await.ok().as_array().unwrap().len(), 3);
    assert_eq!(app.get("/dev/whatsapp?telp=81111111111", None).await.ok(), json!([]));
    assert_eq!(app.get("/dev/whatsapp?telp=x", None).await.status, 400);
}

#[actix_web::test]
async fn a_browser_gets_a_page() {
    let app = TestApp::spawn().await;
    let code = app.send_code(TELP).await;
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    let url = format!("{}/dev/whatsapp?telp={TELP}", app.base_url);
    let mut res = app.http.get(&url).insert_header(("accept", browser)).send().await.unwrap();
    assert_eq!(res.headers().get("content-type").unwrap(), "text/html; charset=utf-8");
    let page = String::from_utf8(res.body().await.unwrap().to_vec()).unwrap();
    assert!(page.contains(&code) && page.contains("6281234567890"), "{page}");
}

#[actix_web::test]
async fn without_dev_routes_there_is_no_such_path() {
    let app = Setup::new().with(|c| c.dev.routes = false).start().await;
    let res = app.http.get(format!("{}/dev/whatsapp", app.base_url)).send().await.unwrap();
    assert_eq!(res.status(), 404);
}
