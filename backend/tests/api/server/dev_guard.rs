//! Development-only routes refuse requests that came through a proxy or by a host name (docs/contract.md §5).

use actix_web::rt::net::TcpStream;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::ops::operator::Scope;
use crate::realtime::phone::soon;
use crate::support::helpers::TestApp;

#[actix_web::test]
async fn routes_of_development_refuse_proxies_and_names() {
    let app = TestApp::spawn().await;
    let key = app.key(Scope::Root).await;
    let machine = app.machine(app.outlet("Melati").await, "Mesin 1").await.idmesin;
    let fault = format!("/dev/mesin/{machine}/fault");
    let ask = async |headers: &[(&str, &str)]| {
        let calls = [
            ("GET", "/dev/whatsapp", None),
            ("POST", fault.as_str(), Some(json!({"mode": "ok"}))),
            ("GET", "/docs/", None),
            ("GET", "/docs/swagger-ui.css", None),
            ("POST", "/ops/v1/pelanggan/bulk", Some(json!({"jumlah": 1, "awalan_telp": "8990"}))),
        ];
        let mut statuses = Vec::new();
        for (method, path, body) in calls {
            let mut req = app.http.request(method.parse().unwrap(), format!("{}{path}", app.base_url)).bearer_auth(&key);
            for header in headers {
                req = req.insert_header(*header);
            }
            let sent = match body {
                Some(body) => req.send_json(&body),
                None => req.send(),
            };
            let mut res = sent.await.unwrap();
            let body = res.body().limit(4 << 20).await.unwrap();
            if res.status() == 403 {
                let refusal = json!({"status": 403, "message": REFUSED, "data": null});
                assert_eq!(serde_json::from_slice::<serde_json::Value>(&body).unwrap(), refusal, "{path}");
            }
            statuses.push(res.status().as_u16());
        }
        statuses
    };
    for header in [
        ("x-forwarded-for", "127.0.0.1"),
        ("x-forwarded-host", "localhost"),
        ("x-forwarded-proto", "https"),
        ("x-real-ip", "127.0.0.1"),
        ("forwarded", "for=127.0.0.1"),
        ("via", "1.1 proxy"),
        ("host", "evil.example"),
        ("host", "cuci.example.com:8080"),
        ("host", "localhost.evil.example"),
        ("host", "127.0.0.1.evil.example:8080"),
    ] {
        assert_eq!(ask(&[header]).await, [403; 5], "{header:?}");
    }
    for host in ["localhost", "LOCALHOST:5173", "127.0.0.1:8080", "192.168.1.7:8080", "[::1]:8080"] {
        assert_eq!(ask(&[("host", host)]).await, [200; 5], "{host}");
    }
}

const REFUSED: &str = "hanya untuk pengembangan, buka lewat localhost atau alamat IP tanpa proxy";

#[actix_web::test]
async fn calls_of_customers_come_through_proxies_as_ever() {
    let app = TestApp::spawn().await;
    let through = [("host", "cuci.example.com"), ("via", "1.1 proxy"), ("x-forwarded-for", "198.51.100.7")];
    app.call("GET", "/healthz", None, &through, None).await.expect(200, "OK");
    let login = json!({"country_code": "62", "telp": "81299999999", "password": "Rahasia123"}).to_string().into_bytes();
    assert_eq!(app.call("POST", "/scan/v1/auth/login", None, &through, Some(login)).await.status, 404);
}

/// A plain `proxy_pass http://127.0.0.1:8080;` makes nginx send HTTP/1.0 with the server's address as the host, and adds no header.
#[actix_web::test]
async fn a_proxy_that_adds_no_header_is_known_by_its_old_http() {
    let app = TestApp::spawn().await;
    let key = app.key(Scope::Root).await;
    let ask = async |version: &str, method: &str, path: &str, body: &str| {
        let mut stream = TcpStream::connect(app.address()).await.unwrap();
        let (host, length) = (app.address(), body.len());
        let request = format!(
            "{method} {path} {version}\r\nHost: {host}\r\nConnection: close\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        soon("the answer", stream.read_to_end(&mut answer)).await.unwrap();
        String::from_utf8_lossy(&answer).split(' ').nth(1).unwrap().to_owned()
    };
    let many = json!({"jumlah": 1, "awalan_telp": "8990"}).to_string();
    for (method, path, body) in
        [("GET", "/dev/whatsapp", ""), ("GET", "/docs/", ""), ("POST", "/ops/v1/pelanggan/bulk", many.as_str())]
    {
        assert_eq!(ask("HTTP/1.0", method, path, body).await, "403", "{path}");
        assert_eq!(ask("HTTP/1.1", method, path, body).await, "200", "{path}");
    }
    assert_eq!(ask("HTTP/1.0", "GET", "/healthz", "").await, "200", "what customers use is for every proxy");
}
