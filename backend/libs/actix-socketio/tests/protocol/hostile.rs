//! Hostile clients.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use actix_socketio::host::codec::opcode;
use actix_socketio::host::set_user_timeout;
use actix_socketio::{CloseReason, Limits, Origins};

use super::{start, start_with};
use crate::http::{Polling, connect, narrow};
use crate::server::{Server, limits};
use crate::wire::frame;
use crate::ws::Ws;

fn joined(server: &Server) -> Ws {
    let mut ws = Ws::open_on(narrow(server.address), "/socket.io/");
    ws.join("40");
    ws
}

/// The number of a tick of the test's handler.
fn tick(text: &str) -> usize {
    let number = text.strip_prefix(r#"42["tick",["#).unwrap_or_else(|| panic!("a broken frame: {text}"));
    number.split_once(',').unwrap().0.parse().unwrap()
}

#[test]
fn a_client_that_reads_byte_by_byte_gets_only_whole_frames() {
    let server = start();
    let mut ws = joined(&server);
    // More than all buffers hold, so that writes stop in the middle of frames.
    ws.send_times(r#"42["flood",60,900,true]"#, 20);
    ws.send(r#"427["message-with-ack","the end"]"#);
    let (mut ticks, mut last, mut frame) = (0, None, Vec::new());
    let text = loop {
        let mut byte = [0];
        ws.stream.read_exact(&mut byte).unwrap();
        frame.push(byte[0]);
        let Some(text) = whole(&frame) else { continue };
        if !text.contains("tick") {
            break text;
        }
        let n = tick(&text);
        assert_eq!(text.len(), r#"42["tick",[,""]]"#.len() + n.to_string().len() + 900);
        assert!(last.is_none_or(|last| n > last || n < 60), "in order");
        (ticks, last) = (ticks + 1, Some(n));
        frame.clear();
    };
    assert_eq!(text, r#"437["the end"]"#, "what may not be dropped came");
    let dropped = server.metrics().frames_dropped.get();
    assert!(dropped > 0, "nothing was dropped, so nothing was tested");
    assert_eq!(ticks + dropped, 1200);
}

/// The text of an unmasked frame, if it is complete.
fn whole(frame: &[u8]) -> Option<String> {
    let (length, header) = match *frame {
        [0x81, n, ..] if n < 126 => (usize::from(n), 2),
        [0x81, 126, a, b, ..] => (usize::from(u16::from_be_bytes([a, b])), 4),
        [] | [0x81] | [0x81, 126, ..] => return None,
        _ => panic!("no text frame: {:?}", &frame[..frame.len().min(8)]),
    };
    (frame.len() == header + length).then(|| String::from_utf8(frame[header..].to_vec()).unwrap())
}

#[test]
fn a_client_that_does_not_take_what_it_must_is_closed() {
    let server = start();
    let mut ws = joined(&server);
    ws.send_times(r#"42["flood",60,900,false]"#, 20);
    assert_eq!(server.left(), ("/".into(), CloseReason::Stalled));
    assert_eq!(server.metrics().stalled.get(), 1);
}

#[test]
fn a_stalled_client_that_only_loses_volatile_ticks_is_closed_by_its_heartbeat() {
    let (interval, timeout) = (Duration::from_millis(200), Duration::from_millis(200));
    let limits = Limits { ping_interval: interval, ping_timeout: timeout, ..limits() };
    let server = start_with(limits, Origins::SameOrigin);
    let mut ws = joined(&server);
    ws.send_times(r#"42["flood",60,900,true]"#, 20);
    assert_eq!(server.left(), ("/".into(), CloseReason::HeartbeatMissed));
    assert!(server.metrics().frames_dropped.get() > 0);
}

#[test]
fn a_slow_client_gets_all_of_a_large_message() {
    let server = start();
    let mut ws = joined(&server);
    let text = "x".repeat(300_000);
    ws.send(&format!(r#"421["message-with-ack","{text}"]"#));
    ws.send(r#"422["message-with-ack"]"#);
    assert_eq!(ws.text(), format!(r#"431["{text}"]"#));
    assert_eq!(ws.text(), "432[]");
}

#[test]
fn frames_of_64_kib_pass_both_ways() {
    let server = start_with(Limits { max_payload: 64 * 1024, ..limits() }, Origins::SameOrigin);
    let mut ws = Ws::open(&server, "/engine.io/");
    let bytes = vec![7; 64 * 1024];
    for _ in 0..20 {
        ws.send_binary(&bytes);
        assert_eq!(ws.binary(), bytes);
    }
    ws.send_binary(&[7; 64 * 1024 + 1]);
    assert_eq!(ws.closed(), Some(1009));
}

#[test]
fn garbage_ends_the_session_and_not_the_server() {
    let server = start();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..50 {
        let mut garbage = Vec::new();
        for _ in 0..200 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            garbage.extend(seed.to_le_bytes());
        }
        let mut ws = Ws::open(&server, "/engine.io/");
        let _ = ws.stream.write_all(&garbage);
        let mut masked = Ws::open(&server, "/socket.io/");
        let _ = masked.stream.write_all(&frame(0x80 | opcode::BINARY, &garbage));
        assert_eq!(masked.closed(), Some(1002));
        let polling = Polling::open(&server, "/socket.io/");
        assert_eq!(polling.post(&garbage).status, 400);
    }
    Ws::joined(&server);
}

#[test]
fn half_a_request_and_half_an_upgrade_hold_nothing_up() {
    let server = start();
    let mut half = connect(server.address);
    half.write_all(b"GET /socket.io/?EIO=4&transport=webs").unwrap();
    let half_upgraded = Ws::upgrade(&server, &Polling::open(&server, "/socket.io/"));
    Ws::joined(&server);
    drop((half, half_upgraded));
    Ws::joined(&server);
}

#[test]
fn a_socket_has_a_user_timeout() {
    actix_web::rt::System::new().block_on(async {
        let listener = actix_web::rt::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let socket = actix_web::rt::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        set_user_timeout(&socket, Duration::from_secs(40)).unwrap();
        let timeout = socket2::SockRef::from(&socket).tcp_user_timeout().unwrap();
        assert_eq!(timeout, Some(Duration::from_secs(40)));
    });
}
