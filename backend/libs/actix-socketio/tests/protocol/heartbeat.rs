//! Engine.IO protocol, "Heartbeat".

use std::time::{Duration, Instant};

use actix_socketio::{CloseReason, Limits, Origins};

use super::start_with;
use crate::http::Polling;
use crate::server::{SeenEvents, Server, limits};
use crate::ws::Ws;

const INTERVAL: Duration = Duration::from_millis(60);

/// A server with frequent heartbeats; `timeout`: the time limit of an answer.
fn beating(timeout: Duration) -> Server {
    start_with(Limits { ping_interval: INTERVAL, ping_timeout: timeout, ..limits() }, Origins::SameOrigin)
}

fn assert_missed(server: &Server) {
    assert!(matches!(server.seen(), SeenEvents::EchoClosed(CloseReason::HeartbeatMissed)));
    assert_eq!(server.echo.heartbeats_missed.get(), 1);
}

#[test]
fn pings_go_on_as_long_as_they_are_answered() {
    let server = beating(Duration::from_secs(20));
    let start = Instant::now();
    let (session, mut ws) = (Polling::open(&server, "/engine.io/"), Ws::open(&server, "/engine.io/"));
    for _ in 0..3 {
        assert_eq!(session.get().body, "2");
        assert_eq!(session.post("3").status, 200);
        assert_eq!(ws.text(), "2");
        ws.send("3");
    }
    assert!(start.elapsed() >= 3 * INTERVAL, "never early");
}

#[test]
fn no_second_ping_before_the_first_is_answered() {
    let server = beating(Duration::from_secs(20));
    let mut ws = Ws::open(&server, "/engine.io/");
    assert_eq!(ws.text(), "2");
    std::thread::sleep(3 * INTERVAL); // a wrong ping would come in this time
    ws.send("4next");
    assert_eq!(ws.text(), "4next");
}

#[test]
fn an_unanswered_ping_closes_a_websocket() {
    let server = beating(Duration::from_millis(50));
    let mut ws = Ws::open(&server, "/engine.io/");
    assert_eq!(ws.text(), "2");
    assert_eq!(ws.closed(), None, "a client that is gone is told nothing");
    assert_missed(&server);
}

#[test]
fn an_unanswered_ping_closes_a_polling_session() {
    let server = beating(Duration::from_millis(50));
    let session = Polling::open(&server, "/engine.io/");
    assert_eq!(session.get().body, "2");
    assert_missed(&server);
    assert_eq!(session.get().status, 400);
}

#[test]
fn a_client_that_never_polls_is_closed() {
    let server = beating(Duration::from_millis(50));
    let session = Polling::open(&server, "/engine.io/");
    assert_missed(&server);
    assert_eq!(session.get().status, 400);
}

#[test]
fn other_packets_do_not_answer_a_ping() {
    let server = beating(Duration::from_millis(50));
    let mut ws = Ws::open(&server, "/engine.io/");
    ws.send("4a");
    assert_eq!(ws.text(), "4a");
    assert_eq!(ws.text(), "2");
    ws.send("4b");
    assert_eq!(ws.text(), "4b");
    assert_eq!(ws.closed(), None);
    assert_missed(&server);
}
