//! RFC 6455 as far as a server of this protocol needs it, and Engine.IO's packets on it.

use std::net::Shutdown;

use actix_socketio::host::codec::opcode;
use actix_socketio::{CloseReason, Limits, Origins};

use super::{start, start_with};
use crate::http::connect;
use crate::server::{SeenEvents, Server, eventually, limits};
use crate::wire::{frame, text_frame};
use crate::ws::{WsFrame, Ws};

fn closed_for(server: &Server) -> CloseReason {
    match server.seen() {
        SeenEvents::EchoClosed(reason) => reason,
        other => panic!("expected a closed session, got {other:?}"),
    }
}

#[test]
fn text_and_binary_travel_as_they_are() {
    let server = start();
    let mut ws = Ws::open(&server, "/engine.io/");
    for text in ["4hello", "4", "4\u{1f9fa}\u{1e}"] {
        ws.send(text);
        assert_eq!(ws.text(), text);
    }
    for length in [0, 1, 125, 126, 65_535, 65_536, 300_000] {
        let bytes: Vec<u8> = (0..length).map(|n| n as u8).collect();
        ws.send_binary(&bytes);
        assert_eq!(ws.binary(), bytes);
    }
}

#[test]
fn frames_that_come_with_the_handshake_are_not_lost() {
    let server = start();
    let early = [text_frame("4a"), text_frame("4b")].concat();
    let mut ws = Ws::handshake(connect(server.address), "/engine.io/?EIO=4&transport=websocket", &early);
    assert!(ws.text().starts_with('0'));
    assert_eq!([ws.text(), ws.text()], ["4a", "4b"]);
}

#[test]
fn fragments_make_one_message() {
    let server = start();
    let mut ws = Ws::open(&server, "/engine.io/");
    ws.send_raw(&frame(opcode::TEXT, b"4he"));
    ws.send_raw(&frame(opcode::CONTINUATION, b""));
    ws.send_raw(&frame(0x80 | opcode::PING, b"are you there?"));
    ws.send_raw(&frame(0x80 | opcode::CONTINUATION, b"llo"));
    let pong = WsFrame { opcode: opcode::PONG, payload: b"are you there?".to_vec() };
    assert_eq!(ws.next(), Some(pong), "between the fragments");
    assert_eq!(ws.text(), "4hello");
}

#[test]
fn bytes_may_come_one_at_a_time() {
    let server = start();
    let mut ws = Ws::open(&server, "/engine.io/");
    for byte in text_frame(&format!("4{}", "x".repeat(200))) {
        ws.send_raw(&[byte]);
    }
    assert_eq!(ws.text().len(), 201);
}

#[test]
fn broken_frames_close_with_their_code() {
    let server = start_with(Limits { max_payload: 1000, ..limits() }, Origins::SameOrigin);
    let oversize = frame(0x80 | opcode::BINARY, &[0; 1001]);
    let joined = [frame(opcode::TEXT, &[b'4'; 600]), frame(0x80, &[b'x'; 600])].concat();
    for (bytes, code, what) in [
        (b"\x81\x0242".to_vec(), 1002, "not masked"),
        (frame(0xc1, b"4a"), 1002, "reserved bit"),
        (frame(0x83, b"4a"), 1002, "unknown opcode"),
        (frame(0x80, b"4a"), 1002, "continuation of nothing"),
        (frame(opcode::PING, b""), 1002, "fragmented ping"),
        (frame(0x81, &[b'4', 0xff]), 1007, "not UTF-8"),
        (oversize, 1009, "too large"),
        (joined, 1009, "too large together"),
        (b"\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff".to_vec(), 1009, "header of a huge frame"),
    ] {
        let mut ws = Ws::open(&server, "/engine.io/");
        ws.send_raw(&bytes);
        assert_eq!(ws.closed(), Some(code), "{what}");
        assert_eq!(closed_for(&server), CloseReason::Violation, "{what}");
    }
    assert_eq!(server.echo.violations.get(), 9);
}

#[test]
fn broken_packets_close_the_session() {
    let server = start();
    for text in ["", "abc", "0", "7", "2", "2probe", "5", "bAQID"] {
        let mut ws = Ws::open(&server, "/engine.io/");
        ws.send(text);
        assert_eq!(ws.closed(), Some(1002), "{text:?}");
        assert_eq!(closed_for(&server), CloseReason::Violation);
    }
}

#[test]
fn a_close_packet_and_a_close_frame_end_the_session() {
    let server = start();
    let mut ws = Ws::open(&server, "/engine.io/");
    ws.send("4last");
    ws.send("1");
    assert_eq!(ws.text(), "4last", "what was sent before still comes");
    assert_eq!(ws.closed(), Some(1000));
    assert_eq!(closed_for(&server), CloseReason::ClientLeft);
    let mut ws = Ws::open(&server, "/engine.io/");
    ws.send_raw(&frame(0x80 | opcode::CLOSE, &1001u16.to_be_bytes()));
    assert_eq!(ws.closed(), Some(1000));
    assert_eq!(closed_for(&server), CloseReason::ClientLeft);
}

#[test]
fn a_client_that_hangs_up_ends_the_session() {
    let server = start();
    let ws = Ws::open(&server, "/engine.io/");
    drop(ws);
    assert_eq!(closed_for(&server), CloseReason::TransportGone);
    let ws = Ws::open(&server, "/engine.io/");
    ws.stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(closed_for(&server), CloseReason::TransportGone);
    eventually("nothing is left", || server.echo.sessions_open.get() == 0 && server.echo.websockets_open.get() == 0);
}

#[test]
fn what_is_sent_in_one_turn_goes_in_one_write() {
    let server = start();
    let mut ws = Ws::joined(&server);
    eventually("handshake, connect and auth are counted", || server.metrics().frames_sent.get() == 3);
    let writes = server.metrics().writes.get();
    ws.send(r#"42["flood",8,50,true]"#);
    for n in 0..8 {
        assert!(ws.text().starts_with(&format!(r#"42["tick",[{n},"#)));
    }
    eventually("eight frames are counted", || server.metrics().frames_sent.get() == 11);
    assert_eq!(server.metrics().writes.get(), writes + 1);
}
