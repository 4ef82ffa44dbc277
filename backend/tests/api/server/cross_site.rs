//! Pages of other sites change nothing, and no page but the app's own loads anything (`http.allowed_origins`, CSP).

use nyala_core::domain::address::Block;
use nyala_core::domain::origin::Origin;
use serde_json::{Value, json};

use crate::auth::register::login_body;
use crate::server::listener::raw;
use crate::server::openapi::document;
use crate::support::helpers::{Answer, PASSWORD, Setup, TestApp};

const REFUSED: &str = "permintaan dari halaman situs lain ditolak; buka aplikasi di alamatnya sendiri";
const LOGIN: &str = "/scan/v1/auth/login";
const LISTED: &str = "https://kasir.example";

async fn post(app: &TestApp, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
    app.call("POST", path, None, headers, Some(body.to_string().into_bytes())).await
}

/// Every path of the document that has `method` (in lower case), with an id filled in.
pub fn addresses(document: &Value, method: &str) -> Vec<String> {
    let paths = document["paths"].as_object().unwrap().iter();
    let takes = paths.filter(|(_, item)| item.get(method).is_some());
    takes
        .map(|(path, _)| path.split('/').map(|part| if part.starts_with('{') { "1" } else { part }).collect::<Vec<_>>().join("/"))
        .collect()
}

#[actix_web::test]
async fn a_page_of_another_site_changes_nothing_anywhere() {
    let app = TestApp::spawn().await;
    let (evil, own) = ("https://evil.example", app.base_url.clone());
    let posts = addresses(&document(), "post");
    assert!(posts.len() > 20);
    for path in posts.iter().map(String::as_str).chain(["/nothing", "/login"]) {
        for request_headers in [
            &[("sec-fetch-site", "cross-site")][..],
            &[("origin", evil)],
            &[("origin", "null")],
            &[("origin", evil), ("sec-fetch-site", "same-site")],
            &[("origin", &own), ("sec-fetch-site", "cross-site")],
        ] {
            post(&app, path, request_headers, &json!({})).await.expect(403, REFUSED);
        }
    }
    for method in ["PUT", "DELETE", "PATCH"] {
        app.call(method, LOGIN, None, &[("origin", evil)], None).await.expect(403, REFUSED);
    }
    let reads = raw(&app, "GET", "/healthz", &[("origin", evil), ("sec-fetch-site", "cross-site")]).await;
    assert_eq!(reads.status, 200, "what changes nothing is answered, and the browser shows it to nobody");
}

#[actix_web::test]
async fn the_app_programs_and_listed_pages_are_served() {
    let app = Setup::new().with(|c| c.http.allowed_origins = vec![Origin::parse(LISTED).unwrap()]).start().await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let body = login_body(&siti.telp, PASSWORD);
    for request_headers in [
        &[][..],
        &[("origin", app.base_url.as_str())],
        &[("origin", &app.base_url), ("sec-fetch-site", "same-origin")],
        &[("sec-fetch-site", "none")],
        &[("origin", LISTED), ("sec-fetch-site", "cross-site")],
    ] {
        post(&app, LOGIN, request_headers, &body).await.ok();
    }
    let unlisted = post(&app, LOGIN, &[("origin", "https://kasir.example.evil")], &body).await;
    unlisted.expect(403, REFUSED);
}

#[actix_web::test]
async fn behind_a_trusted_proxy_the_site_is_what_the_proxy_was_asked_where_the_setting_says_so() {
    let behind = async |forwarded_host: bool| {
        let proxies = vec![Block::parse("127.0.0.0/8").unwrap()];
        Setup::new().with(|c| (c.http.trusted_proxies, c.http.forwarded_host) = (proxies, forwarded_host)).start().await
    };
    let (app, careful, alone) = (behind(true).await, behind(false).await, TestApp::spawn().await);
    let request_headers = [("x-forwarded-host", "cuci.example"), ("x-forwarded-proto", "https")];
    for (origin, status) in [("https://cuci.example", 404), ("http://cuci.example", 403), ("https://evil.example", 403)] {
        let headers = [("origin", origin), request_headers[0], request_headers[1]];
        let body = login_body("81234567890", PASSWORD);
        assert_eq!(post(&app, LOGIN, &headers, &body).await.status, status, "{origin}");
        for other in [&careful, &alone] {
            post(other, LOGIN, &headers, &body).await.expect(403, REFUSED);
            assert_eq!(raw(other, "GET", "/socket.io/?EIO=4&transport=polling", &headers).await.status, 403);
        }
        let socket = raw(&app, "GET", "/socket.io/?EIO=4&transport=polling", &headers).await;
        assert_eq!(socket.status, if status == 403 { 403 } else { 200 }, "the sockets know the same site: {origin}");
    }
    assert!(
        raw(&app, "GET", "/healthz", &request_headers).await.header("content-security-policy").contains(" wss://cuci.example;")
    );
    assert!(!raw(&careful, "GET", "/healthz", &request_headers).await.header("content-security-policy").contains("cuci.example"));
}

#[actix_web::test]
async fn a_socket_is_not_opened_for_a_foreign_page_that_hides_its_name() {
    let app = TestApp::spawn().await;
    let open = "/socket.io/?EIO=4&transport=polling";
    assert_eq!(raw(&app, "GET", open, &[("sec-fetch-site", "cross-site")]).await.status, 403);
    assert_eq!(raw(&app, "GET", open, &[("sec-fetch-site", "same-origin")]).await.status, 200);
}

#[actix_web::test]
async fn the_policy_lets_a_page_talk_to_its_own_host_only() {
    let app = TestApp::spawn().await;
    let host = app.address().to_owned();
    for path in ["/healthz", "/nothing", "/scan/v1/auth/login", "/"] {
        let policy = raw(&app, "GET", path, &[]).await.header("content-security-policy").to_owned();
        for part in [
            &format!("; connect-src 'self' ws://{host} wss://{host};"),
            "; base-uri 'none'",
            "; form-action 'self'",
            "; frame-ancestors 'none'",
        ] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
    }
}

#[actix_web::test]
async fn responses_of_calls_are_not_cached() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let bearer = format!("Bearer {}", siti.token);
    for (method, path) in [
        ("GET", "/scan/v1/dashboard/get_dashboard"),
        ("GET", "/scan/v1/transaksi/get_qrcode"),
        ("POST", "/scan/v1/transaksi/list_history"),
        ("GET", "/scan/v1/nothing"),
        ("GET", "/ops/v1/mesin/1"),
        ("GET", "/readyz"),
        ("GET", "/metrics"),
        ("GET", "/assets/gone.js"),
    ] {
        let answer = raw(&app, method, path, &[("authorization", &bearer)]).await;
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
    }
}
