//! Web pages that may connect.

use actix_socketio::Origins;

use super::start_with;
use crate::http::{Answer, PendingAnswer};
use crate::server::{Server, limits};
use crate::ws::refused;

const APP: &str = "https://app.example";

fn request(server: &Server, method: &str, origin: &str) -> Answer {
    let head = format!("{method} /socket.io/?EIO=4&transport=polling HTTP/1.1\r\nOrigin: {origin}");
    PendingAnswer::send(server.address, &head, b"").answer()
}

/// The status of an upgrade request from a page of this origin.
fn websocket(server: &Server, origin: &str) -> u16 {
    use std::io::{Read as _, Write as _};
    let target = "/socket.io/?EIO=4&transport=websocket";
    let head = crate::wire::upgrade_request(server.address, target, &format!("Origin: {origin}\r\n"));
    let mut stream = crate::http::connect(server.address);
    stream.write_all(head.as_bytes()).unwrap();
    let mut start = [0; 12];
    stream.read_exact(&mut start).unwrap();
    std::str::from_utf8(&start[9..]).unwrap().parse().unwrap()
}

#[test]
fn by_default_only_pages_of_the_same_host() {
    let server = start_with(limits(), Origins::SameOrigin);
    let own = format!("http://{}", server.address);
    assert_eq!((request(&server, "GET", &own).status, websocket(&server, &own)), (200, 101));
    for foreign in [APP, "null", "http://127.0.0.1:1"] {
        let answer = request(&server, "GET", foreign);
        assert_eq!((answer.status, websocket(&server, foreign)), (403, 403), "{foreign}");
        assert_eq!(answer.body, r#"{"code":4,"message":"Forbidden"}"#);
        assert_eq!(answer.header("access-control-allow-origin"), None);
        assert_eq!(request(&server, "OPTIONS", foreign).status, 403);
    }
    let answer = refused(&server, "/socket.io/?EIO=4&transport=websocket", &format!("Origin: {APP}\r\n"));
    assert_eq!(answer.body, r#"{"code":4,"message":"Forbidden"}"#);
    assert_eq!(server.metrics().sessions_opened.get(), 2);
}

#[test]
fn a_list_lets_named_pages_in() {
    let server = start_with(limits(), Origins::List(vec![APP.into()]));
    let answer = request(&server, "GET", APP);
    assert_eq!((answer.status, websocket(&server, APP)), (200, 101));
    assert_eq!(answer.header("access-control-allow-origin"), Some(APP));
    assert_eq!(answer.header("access-control-allow-credentials"), Some("true"));
    assert_eq!(answer.header("vary"), Some("Origin"));
    let preflight = request(&server, "OPTIONS", APP);
    assert_eq!(preflight.status, 204);
    assert_eq!(preflight.header("access-control-allow-origin"), Some(APP));
    assert_eq!(preflight.header("access-control-allow-methods"), Some("GET, POST"));
    assert_eq!(preflight.header("access-control-allow-headers"), Some("content-type"));
    assert_eq!(request(&server, "GET", "https://other.example").status, 403);
}

#[test]
fn any_page_comes_without_credentials() {
    let server = start_with(limits(), Origins::Any);
    let answer = request(&server, "GET", APP);
    assert_eq!((answer.status, websocket(&server, APP)), (200, 101));
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    assert_eq!(answer.header("access-control-allow-credentials"), None);
}
