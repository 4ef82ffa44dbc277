//! Tests only for an ordinary `HttpServer`: each websocket is in a response, which must end with it.

use std::net::SocketAddr;

use actix_socketio::{CloseReason, Origins};

use crate::http::narrow;
use crate::server::{Server, ServerKind, eventually, limits, start_on};
use crate::ws::{Ws, refused};

fn start(kind: ServerKind) -> Server {
    start_on(kind, limits(), Origins::SameOrigin)
}

/// A client that requests far more than its connection buffers, and does not read.
fn deaf(server: &Server, volatile: bool) -> Ws {
    let mut ws = Ws::open_on(narrow(server.address), "/socket.io/");
    ws.join("40");
    assert!(is_held(server.address, ws.stream.local_addr().unwrap()));
    ws.send_times(&format!(r#"42["flood",60,900,{volatile}]"#), 20);
    ws
}

/// Whether the server still has a descriptor of its connection with this client, by the kernel's table.
fn is_held(server: SocketAddr, client: SocketAddr) -> bool {
    let port = |column: &str| u16::from_str_radix(column.rsplit(':').next().unwrap(), 16).unwrap();
    let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
    table.lines().skip(1).any(|line| {
        let columns: Vec<_> = line.split_whitespace().collect();
        (port(columns[1]), port(columns[2])) == (server.port(), client.port()) && columns[9] != "0"
    })
}

#[test]
fn the_app_sees_upgrade_requests() {
    let server = start(ServerKind::Ordinary);
    let answer = refused(&server, "/socket.io/?EIO=4&transport=polling", "");
    assert_eq!((answer.status, answer.header("x-answered-by")), (400, Some("app")));
}

#[test]
fn a_client_that_stalled_loses_its_connection() {
    let server = start(ServerKind::Ordinary);
    let ws = deaf(&server, false);
    let client = ws.stream.local_addr().unwrap();
    assert_eq!(server.left(), ("/".into(), CloseReason::Stalled));
    eventually("the descriptor is closed", || !is_held(server.address, client));
    eventually("nothing is left", || server.metrics().websockets_open.get() == 0);
}

#[test]
fn a_goodbye_that_is_not_read_has_its_time() {
    let server = start(ServerKind::Ordinary);
    let mut ws = deaf(&server, true);
    ws.send(r#"42["hang-up"]"#);
    assert_eq!(server.left(), ("/".into(), CloseReason::ServerLeft));
    let client = ws.stream.local_addr().unwrap();
    eventually("the descriptor is closed", || !is_held(server.address, client));
}

#[test]
fn a_connection_that_cannot_be_ended_waits_for_its_client() {
    let server = start(ServerKind::Unbraked);
    let mut ws = deaf(&server, false);
    assert_eq!(server.left(), ("/".into(), CloseReason::Stalled));
    eventually("the session is gone", || server.metrics().sessions_open.get() == 0);
    let client = ws.stream.local_addr().unwrap();
    assert!(is_held(server.address, client), "it takes more than the kernel has room for");
    assert_eq!(ws.closed(), None, "what was under way, and no word more");
    eventually("the descriptor is closed", || !is_held(server.address, client));
    eventually("nothing is left", || server.metrics().websockets_open.get() == 0);
}

#[test]
fn a_client_that_sends_but_does_not_read_is_served() {
    let server = start(ServerKind::Ordinary);
    let mut ws = deaf(&server, true);
    eventually("it is behind", || server.metrics().frames_dropped.get() > 0);
    ws.send("41");
    assert_eq!(server.left(), ("/".into(), CloseReason::ClientLeft));
}
