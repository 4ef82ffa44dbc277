//! One Socket.IO session: where it stands, and what its next message means.

use std::io::{self, Write};

use mio::net::TcpStream;
use serde::Deserialize;

use super::clock::Us;
use super::frame;
use super::heartbeat::Snapshot;

/// How far a session has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Waits for its turn to connect.
    Queued,
    Connecting,
    /// The websocket's request is sent.
    Upgrading,
    /// The transport is open and the namespace is being joined.
    Joining,
    /// Waits for the answers of its subscriptions.
    Subscribing,
    Live,
    /// Was lost and tries again later.
    Resting,
    /// Does not try any more.
    GivenUp,
}

impl Stage {
    /// Whether there is a connection that is not of use yet.
    pub const fn is_on_its_way(self) -> bool {
        matches!(self, Self::Connecting | Self::Upgrading | Self::Joining | Self::Subscribing)
    }
}

/// Bytes that may wait for a server that does not read: a subscribe for each of 32 topics is 2 KiB.
const MAX_UNSENT_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct ClientSession {
    pub stream: Option<TcpStream>,
    pub stage: Stage,
    /// Of a frame that is not whole yet.
    pub tail: Vec<u8>,
    unsent: Vec<u8>,
    /// When the connection was begun; while resting, when it may be again.
    pub since: Us,
    /// When its subscriptions were asked for.
    pub asked: Us,
    /// When the server was last heard.
    pub heard: Us,
    pub tries: u8,
    /// Answers that are still to come.
    pub waiting: u16,
    /// The machine that it watches no more, until the server has answered that: ticks of it may still be on their way. 0: none.
    pub leaving: i64,
}

impl ClientSession {
    pub fn new() -> Self {
        Self {
            stream: None,
            stage: Stage::Queued,
            tail: Vec::new(),
            unsent: Vec::new(),
            since: 0,
            asked: 0,
            heard: 0,
            tries: 0,
            waiting: 0,
            leaving: 0,
        }
    }

    /// Lets the connection go.
    pub fn hang_up(&mut self) {
        self.stream = None;
        self.tail = Vec::new();
        self.unsent = Vec::new();
        self.waiting = 0;
        self.leaving = 0;
    }

    /// Sends `bytes`, now or when the socket takes them.
    ///
    /// # Errors
    /// Those of the socket, and a server that reads nothing.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.unsent.len() + bytes.len() > MAX_UNSENT_BYTES {
            return Err(io::Error::other("the server reads nothing"));
        }
        self.unsent.extend_from_slice(bytes);
        self.flush()
    }

    /// Sends what waits.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn flush(&mut self) -> io::Result<()> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        while !self.unsent.is_empty() {
            match stream.write(&self.unsent) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => drop(self.unsent.drain(..n)),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.unsent = Vec::new();
        Ok(())
    }
}

/// A message of the server that is no tick.
#[derive(Debug, PartialEq)]
pub enum ServerMessage {
    /// The transport is open; pings come this often, in milliseconds, and may be late by so much.
    Open {
        ping_interval_ms: i64,
        ping_timeout_ms: i64,
    },
    Ping,
    Joined,
    Refused(String),
    Answer {
        id: usize,
        told: Snapshot,
    },
    /// The server ends the session.
    Bye,
    /// Nothing that matters here.
    Noop,
    Unreadable,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Open {
    ping_interval: i64,
    ping_timeout: i64,
}

#[derive(Deserialize)]
struct Refusal {
    message: String,
}

/// What a text frame says, when it is no tick.
pub fn message(payload: &[u8]) -> ServerMessage {
    let Ok(text) = std::str::from_utf8(payload) else { return ServerMessage::Unreadable };
    match text.as_bytes() {
        b"2" => ServerMessage::Ping,
        b"1" | b"41" => ServerMessage::Bye,
        b"6" => ServerMessage::Noop,
        [b'0', ..] => serde_json::from_str::<Open>(&text[1..]).map_or(ServerMessage::Unreadable, |open| ServerMessage::Open {
            ping_interval_ms: open.ping_interval,
            ping_timeout_ms: open.ping_timeout,
        }),
        [b'4', b'0', ..] => ServerMessage::Joined,
        [b'4', b'4', ..] => {
            serde_json::from_str::<Refusal>(&text[2..]).map_or(ServerMessage::Unreadable, |r| ServerMessage::Refused(r.message))
        }
        [b'4', b'3', ..] => answer(&text[2..]).unwrap_or(ServerMessage::Unreadable),
        [b'4', b'2', ..] => ServerMessage::Noop,
        _ => ServerMessage::Unreadable,
    }
}

fn answer(text: &str) -> Option<ServerMessage> {
    let (id, list) = text.split_at(text.find('[')?);
    let (told,) = serde_json::from_str::<(Snapshot,)>(list).ok()?;
    Some(ServerMessage::Answer { id: id.parse().ok()?, told })
}

/// Appends the frame that joins with `token`.
pub fn join(out: &mut Vec<u8>, token: &str) {
    frame::text(out, &format!("40{}", serde_json::json!({ "token": token })));
}

/// Appends the frame that subscribes to a machine; its answer will carry `id`.
pub fn subscribe(out: &mut Vec<u8>, id: usize, idmesin: i64) {
    frame::text(out, &format!(r#"42{id}["subscribe","heartbeat/{idmesin}"]"#));
}

/// The same for one that is watched no more.
pub fn unsubscribe(out: &mut Vec<u8>, id: usize, idmesin: i64) {
    frame::text(out, &format!(r#"42{id}["unsubscribe","heartbeat/{idmesin}"]"#));
}

/// The request for a websocket of a new session, or of the one that `session` names (`&sid=…`). The key need not be secret: it only shows that the server speaks the protocol.
pub fn upgrade_request(host: &str, session: &str) -> String {
    format!(
        "GET /socket.io/?EIO=4&transport=websocket{session} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: bnlhbGEtbG9hZHRlc3Qtaw==\r\n\r\n"
    )
}

/// The length of the head of an HTTP answer, and its status; `None` when it is not whole yet.
///
/// # Errors
/// When it is no HTTP answer.
pub fn upgrade_answer(bytes: &[u8]) -> Result<Option<(usize, u16)>, &'static str> {
    const MAX_HEAD_BYTES: usize = 16 * 1024;
    let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") else {
        return if bytes.len() > MAX_HEAD_BYTES { Err("no HTTP answer") } else { Ok(None) };
    };
    let status = bytes.get(9..12).and_then(|s| std::str::from_utf8(s).ok()).and_then(|s| s.parse().ok());
    let status = status.filter(|_| bytes.starts_with(b"HTTP/1.")).ok_or("no HTTP answer")?;
    Ok(Some((end + 4, status)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_messages_are_told_apart() {
        let open = br#"0{"sid":"a","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":65536}"#;
        assert_eq!(message(open), ServerMessage::Open { ping_interval_ms: 25_000, ping_timeout_ms: 20_000 });
        assert_eq!(message(b"2"), ServerMessage::Ping);
        assert_eq!(message(br#"40{"sid":"b"}"#), ServerMessage::Joined);
        assert_eq!(message(br#"44{"message":"unauthorized"}"#), ServerMessage::Refused("unauthorized".to_owned()));
        let told = Snapshot { status: 200, tl: Some(5), ends_at: Some(9), server_time: Some(4) };
        assert_eq!(
            message(br#"4311[{"status":200,"tl":5,"ends_at":9,"server_time":4}]"#),
            ServerMessage::Answer { id: 11, told }
        );
        let told = Snapshot { status: 404, tl: None, ends_at: None, server_time: None };
        assert_eq!(message(br#"430[{"status":404,"message":"x"}]"#), ServerMessage::Answer { id: 0, told });
        for odd in [&b"43[]"[..], b"0", b"9", b"\xff", b"44"] {
            assert_eq!(message(odd), ServerMessage::Unreadable, "{odd:?}");
        }
    }

    #[test]
    fn an_answer_to_the_upgrade_is_whole_or_waits() {
        let answer = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x81\x01";
        assert_eq!(upgrade_answer(&answer[..30]), Ok(None));
        assert_eq!(upgrade_answer(answer), Ok(Some((answer.len() - 2, 101))));
        assert!(upgrade_answer(b"SSH-2.0-OpenSSH\r\n\r\n").is_err());
    }
}
