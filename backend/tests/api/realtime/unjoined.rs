//! Sockets that have not logged in: no client can take all of the slots (docs/contract.md §7).

use nyala_core::domain::address::Block;
use serde_json::{Value, json};

use super::phone::Phone;
use super::setup;
use super::upgrade::{SOCKET, asked};
use crate::auth::register::login_body;
use crate::server::listener::{Raw, raw};
use crate::support::helpers::{PASSWORD, Setup, TestApp};

fn behind_proxy() -> Setup {
    setup().with(|c| c.http.trusted_proxies = vec![Block::parse("127.0.0.1").unwrap()])
}

/// A handshake over polling, of a client with these headers.
async fn poll(app: &TestApp, headers: &[(&str, &str)]) -> Raw {
    raw(app, "GET", "/socket.io/?EIO=4&transport=polling", headers).await
}

async fn poll_from(app: &TestApp, ip: &str) -> u16 {
    poll(app, &[("x-forwarded-for", ip)]).await.status.as_u16()
}

/// A client that opens very many handshakes over one connection must not block any customer.
#[actix_web::test]
async fn an_address_opens_256_and_nobody_else_notices() {
    let app = behind_proxy().with(|c| c.realtime.max_sessions = 2).start().await;
    let siti = app.customer(1).await;
    for _ in 0..256 {
        assert_eq!(poll_from(&app, "198.51.100.7").await, 200);
    }
    for ip in ["198.51.100.7", "198.51.100.7:4711", "::ffff:198.51.100.7"] {
        let refused = poll(&app, &[("x-forwarded-for", ip)]).await;
        assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (429, "10"), "{ip}");
        let body: Value = serde_json::from_str(&refused.body).unwrap();
        let message = "terlalu banyak percobaan, coba lagi dalam 10 detik";
        assert_eq!(body, json!({"status": 429, "message": message, "data": null, "code": 9}));
    }
    let (status, head) = asked(&app, SOCKET, "X-Forwarded-For: 198.51.100.7\r\n").await;
    assert_eq!(status, 429);
    for header in ["retry-after: 10", "x-request-id: ", "content-security-policy: ", "x-content-type-options: nosniff"] {
        assert!(head.contains(&format!("\r\n{header}")), "{header} of {head}");
    }
    assert_eq!(app.metric("nyala_socket_sessions_unjoined").await, 256.0);
    assert_eq!(app.metric("nyala_socket_unjoined_refused_total").await, 4.0);
    // Customers at other addresses, over both transports; `max_sessions` counts only joined sockets.
    assert_eq!(poll_from(&app, "198.51.100.8").await, 200);
    for _ in 0..2 {
        let mut phone = Phone::join(&app, &siti.token).await;
        assert_eq!(phone.subscribe(4_711).await["status"], 404);
        app.until_metric("nyala_sessions", 1.0).await;
        drop(phone);
        app.until_metric("nyala_sessions", 0.0).await;
    }
    assert_eq!(app.metric("nyala_socket_sessions_refused_total").await, 0.0);
}

#[actix_web::test]
async fn one_network_of_a_provider_s_customer_is_one_address_and_the_setting_counts() {
    let app = behind_proxy().with(|c| c.realtime.unjoined_per_address = 2).start().await;
    for ip in ["2001:db8::1", "[2001:db8::2]:443"] {
        assert_eq!(poll_from(&app, ip).await, 200, "{ip}");
    }
    assert_eq!(poll_from(&app, "2001:db8::3").await, 429);
    assert_eq!(poll_from(&app, "2001:db8:0:1::1").await, 200);
}

/// Otherwise a client that sends the header could use any number of addresses.
#[actix_web::test]
async fn only_a_trusted_proxy_names_the_address() {
    let app = setup().with(|c| c.realtime.unjoined_per_address = 2).start().await;
    for ip in ["198.51.100.1", "198.51.100.2"] {
        assert_eq!(poll_from(&app, ip).await, 200, "{ip}");
    }
    assert_eq!(poll_from(&app, "198.51.100.3").await, 429);
    assert_eq!(asked(&app, SOCKET, "X-Forwarded-For: 198.51.100.4\r\n").await.0, 429);
}

#[actix_web::test]
async fn a_known_phone_has_places_of_its_own() {
    let app = setup().with(|c| c.realtime.unjoined_per_address = 1).start().await;
    let siti = app.customer(1).await;
    let cookie = app.post("/scan/v1/auth/login", None, &login_body(&siti.telp, PASSWORD)).await.cookie();
    assert_eq!(poll(&app, &[]).await.status, 200);
    for strange in ["", "nyala_phone=x", &format!("{cookie}AA")] {
        assert_eq!(poll(&app, &[("cookie", strange)]).await.status, 429, "{strange}");
        assert_eq!(asked(&app, SOCKET, &format!("Cookie: {strange}\r\n")).await.0, 429, "{strange}");
    }
    for _ in 0..8 {
        assert_eq!(poll(&app, &[("cookie", &cookie)]).await.status, 200);
        assert_eq!(asked(&app, SOCKET, &format!("Cookie: a=b; {cookie}\r\n")).await.0, 101);
    }
}

/// The time runs from the handshake, whatever a client does other than log in.
#[actix_web::test]
async fn a_client_that_does_not_log_in_has_ten_seconds() {
    let app = setup().start().await;
    let mut phone = Phone::dial(app.address()).await;
    let began = std::time::Instant::now();
    assert!(phone.connect(Some(&json!({"token": "x"}))).await.is_err());
    assert_eq!(phone.closed().await, []);
    // Well before any other timeout: an unanswered heartbeat closes the connection only after 25 s.
    assert!((9..15).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    app.until_metric("nyala_socket_sessions_open", 0.0).await;
}
