//! One Socket.IO session: its stage, and the meaning of its next message.

use std::io::{self, Write};

use mio::net::TcpStream;
use serde::Deserialize;

use super::clock::Us;
use super::frame;
use super::heartbeat::Snapshot;

/// Stage of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Waits until it may connect.
    Queued,
    Connecting,
    /// The websocket's request is sent.
    Upgrading,
    /// The transport is open and the namespace is being joined.
    Joining,
    /// Waits for the answers of its subscriptions.
    Subscribing,
    Live,
    /// Was lost and waits for its next attempt.
    Pausing,
    /// Makes no further attempt.
    GivenUp,
}

impl Stage {
    /// Whether the session has a connection that is not live yet.
    pub const fn is_connecting(self) -> bool {
        matches!(self, Self::Connecting | Self::Upgrading | Self::Joining | Self::Subscribing)
    }
}

/// Greatest number of unsent bytes when the server does not read: subscribes for 32 topics are 2 KiB.
const MAX_UNSENT_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct ClientSession {
    pub stream: Option<TcpStream>,
    pub stage: Stage,
    /// Beginning of an incomplete frame.
    pub tail: Vec<u8>,
    unsent: Vec<u8>,
    /// When the connection was opened; while pausing, when the next attempt is allowed.
    pub since: Us,
    /// When its subscribes were sent.
    pub asked: Us,
    /// When the last message of the server arrived.
    pub received_at: Us,
    pub tries: u8,
    /// Number of answers that have not arrived yet.
    pub waiting: u16,
    /// Machine that is being unsubscribed, until the server has answered: ticks of it may still arrive. 0: none.
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
            received_at: 0,
            tries: 0,
            waiting: 0,
            leaving: 0,
        }
    }

    /// Closes the connection.
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
    /// Errors of the socket, and a server that does not read.
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
    /// The transport is open. Interval of the server's pings and their greatest delay, in milliseconds.
    Open {
        ping_interval_ms: i64,
        ping_timeout_ms: i64,
    },
    Ping,
    Joined,
    Refused(String),
    Answer {
        id: usize,
        snapshot: Snapshot,
    },
    /// The server ends the session.
    Bye,
    /// A message that the load test ignores.
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

/// Parses a text frame that is no tick.
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
    let (snapshot,) = serde_json::from_str::<(Snapshot,)>(list).ok()?;
    Some(ServerMessage::Answer { id: id.parse().ok()?, snapshot })
}

/// Appends the frame that joins with `token`.
pub fn join(out: &mut Vec<u8>, token: &str) {
    frame::text(out, &format!("40{}", serde_json::json!({ "token": token })));
}

/// Appends the frame that subscribes to a machine; its answer will carry `id`.
pub fn subscribe(out: &mut Vec<u8>, id: usize, idmesin: i64) {
    frame::text(out, &format!(r#"42{id}["subscribe","heartbeat/{idmesin}"]"#));
}

/// Appends the frame that unsubscribes from a machine.
pub fn unsubscribe(out: &mut Vec<u8>, id: usize, idmesin: i64) {
    frame::text(out, &format!(r#"42{id}["unsubscribe","heartbeat/{idmesin}"]"#));
}

/// Request for a websocket of a new session, or of the one that `session` names (`&sid=…`). The key need not be secret: it only proves that
/// the server speaks the protocol.
pub fn upgrade_request(host: &str, session: &str) -> String {
    format!(
        "GET /socket.io/?EIO=4&transport=websocket{session} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: bnlhbGEtbG9hZHRlc3Qtaw==\r\n\r\n"
    )
}

/// Parses the head of an HTTP answer: its length and status; `None` when it is not complete yet.
///
/// # Errors
/// When the bytes are no HTTP answer.
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
    fn each_message_of_the_server_is_parsed() {
        let open = br#"0{"sid":"a","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":65536}"#;
        assert_eq!(message(open), ServerMessage::Open { ping_interval_ms: 25_000, ping_timeout_ms: 20_000 });
        assert_eq!(message(b"2"), ServerMessage::Ping);
        assert_eq!(message(br#"40{"sid":"b"}"#), ServerMessage::Joined);
        assert_eq!(message(br#"44{"message":"unauthorized"}"#), ServerMessage::Refused("unauthorized".to_owned()));
        let snapshot = Snapshot { status: 200, tl: Some(5), ends_at: Some(9), server_time: Some(4) };
        assert_eq!(
            message(br#"4311[{"status":200,"tl":5,"ends_at":9,"server_time":4}]"#),
            ServerMessage::Answer { id: 11, snapshot }
        );
        let snapshot = Snapshot { status: 404, tl: None, ends_at: None, server_time: None };
        assert_eq!(message(br#"430[{"status":404,"message":"x"}]"#), ServerMessage::Answer { id: 0, snapshot });
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
