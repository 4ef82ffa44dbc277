//! Engine.IO protocol, "Upgrade".

use std::time::Duration;

use actix_socketio::{Limits, Origins};

use super::{start, start_with};
use crate::http::Polling;
use crate::server::{eventually, limits};
use crate::wire::text_frame;
use crate::ws::Ws;

#[test]
fn a_session_moves_to_a_websocket_without_losing_packets() {
    let server = start();
    // Sessions and websockets are on either of the server's two threads; this covers both cases.
    for _ in 0..8 {
        let session = Polling::open(&server, "/engine.io/");
        let mut ws = Ws::upgrade(&server, &session);
        ws.send("2probe");
        assert_eq!(ws.text(), "3probe");
        assert_eq!(session.get().body, "6", "the client pauses polling");
        assert_eq!(session.post("4one\u{1e}4two").status, 200);
        ws.send("5");
        ws.send("4three");
        assert_eq!([ws.text(), ws.text(), ws.text()], ["4one", "4two", "4three"]);
    }
}

#[test]
fn many_frames_at_once_are_no_stall_wherever_the_session_is() {
    let server = start();
    for _ in 0..8 {
        let session = Polling::joined(&server);
        let mut ws = Ws::upgrade(&server, &session);
        ws.send("2probe");
        assert_eq!(ws.text(), "3probe");
        ws.send("5");
        // Each answer has nearly as many packets as may wait for a client that does not read; the buffers hold all of them.
        ws.send_times(r#"42["flood",60,0,false]"#, 20);
        for n in 0..1200 {
            assert!(ws.text().starts_with(&format!(r#"42["tick",[{},"#, n % 60)));
        }
    }
    assert_eq!(server.metrics().stalled.get(), 0);
}

#[test]
fn an_open_get_is_answered_by_a_noop() {
    let server = start();
    let session = Polling::open(&server, "/engine.io/");
    let get = session.begin_get();
    let mut ws = Ws::upgrade(&server, &session);
    ws.send("2probe");
    assert_eq!(ws.text(), "3probe");
    assert_eq!(get.answer().body, "6");
    ws.send("5");
    ws.send("4a");
    assert_eq!(ws.text(), "4a");
}

#[test]
fn packets_that_wait_go_before_the_noop() {
    let server = start();
    let session = Polling::open(&server, "/engine.io/");
    let mut ws = Ws::upgrade(&server, &session);
    ws.send("2probe");
    assert_eq!(ws.text(), "3probe");
    assert_eq!(session.post("4a").status, 200);
    assert_eq!(session.get().body, "4a");
    assert_eq!(session.get().body, "6");
}

#[test]
fn after_the_upgrade_polling_is_over_and_the_session_is_not() {
    let server = start();
    let session = Polling::open(&server, "/engine.io/");
    let mut ws = Ws::upgrade(&server, &session);
    ws.send("2probe");
    assert_eq!(ws.text(), "3probe");
    ws.send("5");
    ws.send("4a");
    assert_eq!(ws.text(), "4a");
    assert_eq!(session.get().status, 400);
    assert_eq!(session.post("4b").status, 400);
    let mut second = Ws::upgrade(&server, &session);
    assert_eq!(second.closed(), Some(1008), "101, then closed");
    ws.send("4c");
    assert_eq!(ws.text(), "4c");
}

#[test]
fn a_second_probe_is_closed_and_the_first_goes_on() {
    let server = start();
    let session = Polling::open(&server, "/engine.io/");
    let mut first = Ws::upgrade(&server, &session);
    first.send("2probe");
    assert_eq!(first.text(), "3probe");
    let mut second = Ws::upgrade(&server, &session);
    assert_eq!(second.closed(), Some(1008));
    first.send("5");
    first.send("4a");
    assert_eq!(first.text(), "4a");
}

#[test]
fn a_broken_probe_leaves_the_session_on_polling() {
    let server = start();
    let session = Polling::open(&server, "/engine.io/");
    for bytes in [text_frame("5"), text_frame("4a"), text_frame("2"), b"\x81\x01a".to_vec()] {
        let mut ws = Ws::upgrade(&server, &session);
        ws.send_raw(&bytes);
        assert!(ws.closed().is_some(), "{bytes:?}");
    }
    let ws = Ws::upgrade(&server, &session);
    drop(ws);
    assert_eq!(session.post("4still here").status, 200);
    assert_eq!(session.get().body, "4still here");
}

#[test]
fn a_probe_that_takes_too_long_is_closed() {
    let server = start_with(Limits { upgrade_timeout: Duration::from_millis(40), ..limits() }, Origins::SameOrigin);
    let session = Polling::open(&server, "/engine.io/");
    let mut ws = Ws::upgrade(&server, &session);
    ws.send("2probe");
    assert_eq!(ws.text(), "3probe");
    assert_eq!(ws.closed(), Some(1000));
    assert_eq!(session.post("4still here").status, 200);
    assert_eq!(session.get().body, "4still here");
    // The next attempt may succeed.
    let mut ws = Ws::upgrade(&server, &session);
    ws.send("2probe");
    assert_eq!(ws.text(), "3probe");
    ws.send("5");
    ws.send("4a");
    assert_eq!(ws.text(), "4a");
}

#[test]
fn every_probe_has_its_own_time() {
    let server = start_with(Limits { upgrade_timeout: Duration::from_millis(300), ..limits() }, Origins::SameOrigin);
    let session = Polling::open(&server, "/engine.io/");
    let mut cut = Ws::upgrade(&server, &session);
    cut.send("4a"); // not a probe: the websocket is closed at once, long before its time-out
    assert_eq!(cut.closed(), Some(1002));
    std::thread::sleep(Duration::from_millis(60)); // so that the two time-outs differ
    let mut ws = Ws::upgrade(&server, &session);
    assert_eq!(ws.closed(), Some(1000), "the alarm of the first one was no longer there for it");
}

#[test]
fn an_upgraded_session_that_joins_nothing_is_closed() {
    let (upgrade_timeout, connect_timeout) = (Duration::from_millis(40), Duration::from_millis(120));
    let server = start_with(Limits { upgrade_timeout, connect_timeout, ..limits() }, Origins::SameOrigin);
    let session = Polling::open(&server, "/socket.io/");
    let mut ws = Ws::upgrade(&server, &session);
    ws.send("2probe");
    assert_eq!(ws.text(), "3probe");
    ws.send("5");
    assert_eq!(ws.closed(), Some(1000), "the end of the upgrade's time is not the end of the other's");
}

#[test]
fn frames_that_come_with_the_handshake_are_not_lost() {
    let server = start();
    let session = Polling::open(&server, "/engine.io/");
    let early = [text_frame("2probe"), text_frame("5"), text_frame("4early")].concat();
    let stream = crate::http::connect(server.address);
    let mut ws = Ws::handshake(stream, &session.upgrade_target(), &early);
    assert_eq!([ws.text(), ws.text()], ["3probe", "4early"]);
}

#[test]
fn a_refused_probe_is_let_go_though_its_client_stays() {
    let server = start();
    let session = Polling::open(&server, "/engine.io/");
    let mut refused = Vec::new();
    for _ in 0..5 {
        let mut ws = Ws::upgrade(&server, &session);
        ws.send("4a");
        assert_eq!(ws.closed_alone(), Some(1002));
        refused.push(ws);
    }
    eventually("no socket is left", || server.echo.websockets_open.get() == 0);
    assert_eq!(server.echo.sessions_open.get(), 1);
}

#[test]
fn a_session_that_ends_takes_its_probe_along() {
    let server = start();
    let session = Polling::open(&server, "/engine.io/");
    let mut ws = Ws::upgrade(&server, &session);
    ws.send("2probe");
    assert_eq!(ws.text(), "3probe");
    assert_eq!(session.post("1").status, 200);
    assert_eq!(ws.closed(), Some(1000));
    eventually("nothing is left", || server.echo.sessions_open.get() == 0 && server.echo.websockets_open.get() == 0);
}
