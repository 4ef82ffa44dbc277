//! Sessions that have not joined: each caller has few, and other callers are not affected.

use std::time::Duration;

use actix_socketio::{CloseReason, Limits, Origins};

use super::start_with;
use crate::http::{self, Answer, Polling};
use crate::server::{Server, eventually, limits};
use crate::ws::{Ws, refused};

const POLLING: &str = "/socket.io/?EIO=4&transport=polling";
const WEBSOCKET: &str = "/socket.io/?EIO=4&transport=websocket";

fn limited(limits: Limits) -> Server {
    start_with(limits, Origins::SameOrigin)
}

/// A handshake over polling, by the caller that `header` names.
fn poll_as(server: &Server, header: &str) -> Answer {
    http::get_with(server.address, POLLING, header)
}

fn ws_as(server: &Server, header: &str) -> Ws {
    Ws::open_as(http::connect(server.address), "/socket.io/", &format!("{header}\r\n"))
}

#[test]
fn an_address_has_few_unjoined_sessions_over_either_transport_and_gets_retry_after() {
    let server = limited(Limits { unjoined_per_address: 3, connect_timeout: Duration::from_secs(7), ..limits() });
    let (polling, mut joining) = (Polling::open(&server, "/socket.io/"), Ws::open(&server, "/socket.io/"));
    let leaving = Ws::open(&server, "/socket.io/");
    for answer in [http::get(server.address, POLLING), refused(&server, WEBSOCKET, "")] {
        assert_eq!(answer.status, 429);
        assert_eq!(answer.body, r#"{"code":9,"message":"Too many sessions that have not joined"}"#);
        assert_eq!(answer.header("retry-after"), Some("7"));
    }
    let metrics = server.metrics();
    assert_eq!((metrics.sessions_unjoined.get(), metrics.sessions_joined.get()), (3, 0));
    assert_eq!((metrics.unjoined_refused.get(), metrics.sessions_refused.get()), (2, 0));
    // A session that joins, and one that ends, release their places.
    joining.join("40");
    let _third = Ws::open(&server, "/socket.io/");
    drop(leaving);
    eventually("it is gone", || metrics.sessions_unjoined.get() == 2);
    assert_eq!(http::get(server.address, POLLING).status, 200);
    assert_eq!(http::get(server.address, POLLING).status, 429);
    // The existing sessions continue.
    let mut upgraded = Ws::upgrade(&server, &polling);
    upgraded.send("2probe");
    assert_eq!(upgraded.text(), "3probe");
    joining.send(r#"42["message",1]"#);
    assert_eq!(joining.text(), r#"42["message-back",1]"#);
}

#[test]
fn others_have_places_of_their_own() {
    let server = limited(Limits { unjoined_per_address: 2, unjoined_per_known: 1, max_sessions: 1, ..limits() });
    for _ in 0..2 {
        assert_eq!(poll_as(&server, "X-Address: 2001:db8::1").status, 200, "not one of max_sessions");
    }
    assert_eq!(poll_as(&server, "X-Address: 2001:db8::2").status, 429, "its /64");
    assert_eq!(refused(&server, WEBSOCKET, "X-Address: 2001:db8::3\r\n").status, 429);
    assert_eq!(poll_as(&server, "X-Address: 2001:db8:0:1::1").status, 200);
    // Known clients, from any address.
    let known = "X-Address: 2001:db8::1\r\nX-Known: 7";
    let _known = ws_as(&server, known);
    assert_eq!(poll_as(&server, known).status, 429, "neither it nor its address has another");
    assert_eq!(poll_as(&server, "X-Address: 2001:db8::1\r\nX-Known: 8").status, 200);
    assert_eq!(poll_as(&server, "X-Address: 192.0.2.1\r\nX-Known: 7").status, 200, "those of its address are there too");
}

#[test]
fn the_caller_with_most_sessions_is_displaced() {
    let server = limited(Limits { unjoined_per_address: 3, unjoined_per_known: 3, max_unjoined: 4, ..limits() });
    let one = "X-Address: 192.0.2.1";
    let mut stranger = ws_as(&server, "X-Address: 192.0.2.9");
    let (mut oldest, polling, mut joined) = (ws_as(&server, one), poll_as(&server, one), ws_as(&server, one));
    joined.join("40");
    let mut last = ws_as(&server, one);
    assert_eq!(poll_as(&server, "X-Known: 1").status, 200, "the known have a pool of their own");
    assert_eq!(poll_as(&server, "X-Address: 192.0.2.2").status, 200);
    assert_eq!(oldest.closed(), None, "without a word: it is no client to wait for");
    let _third = ws_as(&server, "X-Address: 192.0.2.3");
    let sid = http::handshake(&polling.body)["sid"].as_str().unwrap().to_owned();
    eventually("the next oldest is gone", || http::get(server.address, &format!("{POLLING}&sid={sid}")).status == 400);
    assert_eq!(server.metrics().unjoined_displaced.get(), 2);
    // Joined sessions, and those of callers with few, continue.
    joined.send(r#"42["message",1]"#);
    assert_eq!(joined.text(), r#"42["message-back",1]"#);
    for ws in [&mut stranger, &mut last] {
        ws.join("40");
    }
}

#[test]
fn one_that_parts_makes_room_at_once() {
    let server = limited(Limits { unjoined_per_address: 2, max_unjoined: 2, ..limits() });
    let one = "X-Address: 192.0.2.1";
    let (parting, _other) = (poll_as(&server, one), poll_as(&server, one));
    let target = format!("{POLLING}&sid={}", http::handshake(&parting.body)["sid"].as_str().unwrap());
    let left = http::PendingAnswer::send(server.address, &format!("POST {target} HTTP/1.1"), b"1").answer();
    assert_eq!((left.status, poll_as(&server, "X-Address: 192.0.2.2").status), (200, 200));
    let answer = http::get(server.address, &target);
    assert_eq!(answer.body, r#"{"code":1,"message":"Session ID unknown"}"#, "its last payload does not wait");
}

#[test]
fn max_sessions_is_for_those_that_join() {
    let server = limited(Limits { max_sessions: 1, ..limits() });
    let (mut first, mut second) = (Ws::open(&server, "/socket.io/"), Ws::open(&server, "/socket.io/"));
    first.join("40");
    assert_eq!(http::get(server.address, POLLING).status, 503);
    second.send("40");
    assert_eq!(second.closed(), Some(1000), "a real client comes back");
    assert_eq!(server.left(), ("/".into(), CloseReason::ServerLeft), "the host hears of it");
    assert_eq!(server.metrics().sessions_refused.get(), 2);
    drop(first);
    eventually("there is room again", || server.metrics().sessions_joined.get() == 0);
    Ws::joined(&server);
}

#[test]
fn a_session_that_leaves_its_last_namespace_counts_as_not_joined() {
    let connect_timeout = Duration::from_secs(2);
    let server = limited(Limits { unjoined_per_address: 1, connect_timeout, ..limits() });
    let (mut ws, mut other) = (Ws::joined(&server), Ws::joined(&server));
    ws.join("40/custom,");
    ws.send("41/custom,");
    ws.send(r#"42["message",1]"#);
    assert_eq!(ws.text(), r#"42["message-back",1]"#);
    assert_eq!(server.metrics().sessions_joined.get(), 2, "it has one left");
    ws.send("41");
    ws.send(r#"42["message",1]"#); // it may have crossed a packet of the server
    eventually("it counts as new", || server.metrics().sessions_unjoined.get() == 1);
    assert_eq!(http::get(server.address, POLLING).status, 429);
    other.send("41");
    assert_eq!(other.closed(), Some(1000), "there is one place");
    ws.join("40");
    assert_eq!(server.metrics().sessions_joined.get(), 1);
    ws.send(r#"42["disconnect-me"]"#);
    assert_eq!(ws.text(), "41");
    assert_eq!(ws.closed(), Some(1000), "in its time");
    eventually("all is counted out", || {
        let metrics = server.metrics();
        (metrics.sessions_open.get(), metrics.sessions_unjoined.get(), metrics.sessions_joined.get()) == (0, 0, 0)
    });
}
