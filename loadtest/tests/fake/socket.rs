//! Websockets of the fake server: a thread for each session reads the client's messages and answers.

use std::io::{Write, copy, sink};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use super::{Faults, State, World, now_ms, one_in};

const OPEN: &str = r#"0{"sid":"s","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":65536}"#;

/// Serves a session until it ends.
pub fn serve(world: &World, mut stream: TcpStream, mut read: Vec<u8>) {
    let session = {
        let room = &mut world.state().room;
        room.websockets += 1;
        room.websockets
    };
    let faulty = session.checked_sub(world.faults.well_sockets).filter(|n| *n > 0);
    if faulty.is_some_and(|n| !let_in(&world.faults, n, &mut stream)) {
        return;
    }
    let head = b"HTTP/1.1 101 X\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n";
    let (Ok(()), Ok(mine)) = (stream.write_all(&[head, &frame(OPEN)[..]].concat()), stream.try_clone()) else { return };
    world.state().room.enter(session, Box::new(mine));
    while answer_all(world, session, &mut read).is_some() && super::http::more(&mut stream, &mut read).is_some() {}
    world.state().room.leave(session);
}

/// Whether websocket `n`, of those to which faults apply, is answered.
fn let_in(faults: &Faults, n: u64, stream: &mut TcpStream) -> bool {
    if one_in(faults.refuse_one_socket_in, n) {
        let _ = stream.write_all(b"HTTP/1.1 503 X\r\ncontent-length: 0\r\n\r\n");
        return false;
    }
    if one_in(faults.forget_one_socket_in, n) {
        // Waits until the client gives up.
        let _ = copy(stream, &mut sink());
        return false;
    }
    std::thread::sleep(Duration::from_millis(faults.socket_ms));
    true
}

/// Takes the complete messages that were read; `None` when the session is over.
fn answer_all(world: &World, session: u64, read: &mut Vec<u8>) -> Option<()> {
    while let Some((text, used)) = unmasked(read) {
        read.drain(..used);
        on_message(&mut world.state(), &world.faults, session, &text, now_ms())?;
        world.changed.notify_one();
    }
    Some(())
}

/// Answers a session's message at `now`; `None` when the session is over.
pub fn on_message(state: &mut State, faults: &Faults, session: u64, text: &str, now: i64) -> Option<()> {
    let State { shop, room, .. } = state;
    if text.starts_with("40") {
        let refused = faults.refuse_tokens;
        return room.send(session, if refused { r#"44{"message":"unauthorized"}"# } else { r#"40{"sid":"t"}"# });
    }
    let Some((id, list)) = text.strip_prefix("42").and_then(|t| t.find('[').map(|at| t.split_at(at))) else {
        return Some(());
    };
    let (name, topic): (String, String) = serde_json::from_str(list).ok()?;
    let idmesin = topic.strip_prefix("heartbeat/")?.parse().ok()?;
    if name == "unsubscribe" {
        room.unwatch(session, idmesin);
        return room.send(session, &format!(r#"43{id}[{{"status":200}}]"#));
    }
    let Some(machine) = shop.machines.get(&idmesin) else { return room.send(session, &format!(r#"43{id}[{{"status":404}}]"#)) };
    room.watch(session, idmesin, machine, faults.starts_late_ms, now);
    let ends_at = machine.runs(now).map(|run| run.ends_at);
    let snapshot = json!({ "status": 200, "tl": ends_at.map(|end| end - now), "ends_at": ends_at, "server_time": now });
    room.send(session, &format!("43{id}[{snapshot}]"))
}

pub fn frame(text: &str) -> Vec<u8> {
    let mut out = vec![0x81];
    match u8::try_from(text.len()) {
        Ok(n) if n < 126 => out.push(n),
        _ => {
            out.push(126);
            out.extend_from_slice(&u16::try_from(text.len()).expect("short texts").to_be_bytes());
        }
    }
    out.extend_from_slice(text.as_bytes());
    out
}

/// First complete text of the client, and its length; a client's frames are masked.
fn unmasked(read: &[u8]) -> Option<(String, usize)> {
    let (length, head) = match *read.get(1)? & 0x7f {
        126 => (usize::from(u16::from_be_bytes([*read.get(2)?, *read.get(3)?])), 4),
        n => (usize::from(n), 2),
    };
    let mask = read.get(head..head + 4)?;
    let payload = read.get(head + 4..head + 4 + length)?;
    let text = payload.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key).collect();
    Some((String::from_utf8(text).ok()?, head + 4 + length))
}
