//! Engine.IO protocol, "Handshake" and "Query parameters".

use std::time::Duration;

use actix_socketio::{Limits, Origins};

use super::{start, start_with};
use crate::http::{self, PendingAnswer};
use crate::server::limits;
use crate::ws::{Ws, refused};

#[test]
fn the_handshake_tells_the_session_and_the_limits() {
    let limits = Limits {
        ping_interval: Duration::from_millis(7000),
        ping_timeout: Duration::from_millis(5000),
        max_payload: 64 * 1024,
        ..limits()
    };
    let server = start_with(limits, Origins::SameOrigin);
    let answer = http::get(server.address, "/engine.io/?EIO=4&transport=polling&t=abc");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=UTF-8"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let mut open = http::handshake(&answer.body);
    let sid = open["sid"].take();
    assert_eq!(sid.as_str().unwrap().len(), 20);
    let rest = serde_json::json!({
        "sid": null, "upgrades": ["websocket"], "pingInterval": 7000, "pingTimeout": 5000, "maxPayload": 65536,
    });
    assert_eq!(open, rest);
    let other = http::get(server.address, "/engine.io/?EIO=4&transport=polling");
    assert_ne!(http::handshake(&other.body)["sid"], sid);
    let _ws = Ws::open(&server, "/engine.io/");
    assert_eq!(server.echo.sessions_open.get(), 3);
}

#[test]
fn a_bad_query_is_refused_on_both_transports() {
    let server = start();
    let unknown_sid = "A".repeat(20);
    for (query, code, message) in [
        ("", 0, "Transport unknown"),
        ("EIO=4", 0, "Transport unknown"),
        ("EIO=4&transport=abc", 0, "Transport unknown"),
        ("transport=TRANSPORT", 5, "Unsupported protocol version"),
        ("EIO=abc&transport=TRANSPORT", 5, "Unsupported protocol version"),
        ("EIO=3&transport=TRANSPORT", 5, "Unsupported protocol version"),
        ("EIO=4&transport=TRANSPORT&sid=short", 1, "Session ID unknown"),
        (&format!("EIO=4&transport=TRANSPORT&sid={unknown_sid}"), 1, "Session ID unknown"),
    ] {
        let json = format!(r#"{{"code":{code},"message":"{message}"}}"#);
        let polling = http::get(server.address, &format!("/engine.io/?{}", query.replace("TRANSPORT", "polling")));
        assert_eq!((polling.status, &polling.body), (400, &json), "{query}");
        assert_eq!(polling.header("content-type"), Some("application/json"));
        let websocket = refused(&server, &format!("/engine.io/?{}", query.replace("TRANSPORT", "websocket")), "");
        assert_eq!((websocket.status, &websocket.body), (400, &json), "{query}");
        assert_eq!(websocket.header("content-type"), Some("application/json"));
    }
    assert_eq!(server.echo.sessions_opened.get(), 0);
}

#[test]
fn a_session_opens_by_get_only() {
    let server = start();
    for method in ["POST", "PUT", "DELETE", "HEAD"] {
        let head = format!("{method} /engine.io/?EIO=4&transport=polling HTTP/1.1");
        let answer = PendingAnswer::send(server.address, &head, b"").answer();
        assert_eq!(answer.status, 400, "{method}");
    }
    let polling = http::Polling::open(&server, "/engine.io/");
    let head = format!("PUT /engine.io/?EIO=4&transport=polling&sid={} HTTP/1.1", polling.sid);
    assert_eq!(PendingAnswer::send(server.address, &head, b"").answer().status, 400);
}

#[test]
fn a_websocket_needs_its_upgrade_and_polling_none() {
    let server = start();
    let answer = http::get(server.address, "/engine.io/?EIO=4&transport=websocket");
    assert_eq!(answer.status, 400, "no upgrade asked for");
    let answer = refused(&server, "/engine.io/?EIO=4&transport=polling", "");
    assert_eq!(answer.status, 400, "an upgrade asked for");
}

#[test]
fn an_upgrade_is_asked_for_by_get() {
    let server = start();
    let head = "POST /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket";
    let answer = PendingAnswer::send(server.address, head, b"").answer();
    assert_eq!((answer.status, answer.body.as_str()), (400, r#"{"code":2,"message":"Bad handshake method"}"#));
}
