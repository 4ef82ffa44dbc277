//! A customer's phone: Engine.IO 4 and Socket.IO 5 over a websocket, written byte by byte, so that it detects frames which the real
//! clients would tolerate.

use nyala_core::domain::id::MachineId;
use std::collections::VecDeque;
use std::fmt::Display;
use std::time::Duration;

use actix_web::rt::net::TcpStream;
use actix_web::rt::time::timeout;
use bytes::{Buf, BytesMut};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::wire::{text_frame, upgrade_request};
use crate::support::helpers::TestApp;

/// How long a phone waits for an expected event.
pub const PATIENCE: Duration = Duration::from_secs(30);
const TARGET: &str = "/socket.io/?EIO=4&transport=websocket";

const TEXT: u8 = 1;
const CLOSE: u8 = 8;

/// A countdown event as it arrived; tests compare `tl` and `ends_at - server_time`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tick {
    pub idmesin: MachineId,
    pub tl: i64,
    pub ends_at: Option<i64>,
    pub server_time: i64,
}

pub struct Phone {
    pub stream: TcpStream,
    unread: BytesMut,
    last_ack: u64,
    /// Ticks that arrived while the phone waited for an answer.
    ticks: VecDeque<Tick>,
    /// False: the phone does not answer the server's heartbeats.
    pub answers_heartbeats: bool,
}

/// Takes the next whole frame of a server off `bytes`: its opcode and its payload.
pub fn take_frame(bytes: &mut BytesMut) -> Option<(u8, Vec<u8>)> {
    let [first, second, ..] = **bytes else { return None };
    assert_eq!(first & 0xf0, 0x80, "a server sends whole frames without reserved bits");
    let (length, header) = match second {
        n if n < 126 => (usize::from(n), 2),
        126 => (usize::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().unwrap())), 4),
        127 => (u64::from_be_bytes(bytes.get(2..10)?.try_into().unwrap()) as usize, 10),
        _ => panic!("a server does not mask"),
    };
    if bytes.len() < header + length {
        return None;
    }
    bytes.advance(header);
    Some((first & 0x0f, bytes.split_to(length).to_vec()))
}

/// The tick in a packet; `None` for any other packet.
pub fn tick_of(packet: &str) -> Option<Tick> {
    let (name, fields): (String, Value) = serde_json::from_str(packet.strip_prefix("42")?).expect("an event");
    let idmesin = name.strip_prefix("heartbeat/").expect("the only event there is").parse().unwrap();
    assert_eq!(fields.as_object().unwrap().len(), 3, "{packet}");
    let number = |key: &str| fields[key].as_i64().unwrap_or_else(|| panic!("{key} of {packet}"));
    let ends_at = (!fields["ends_at"].is_null()).then(|| number("ends_at"));
    Some(Tick { idmesin, tl: number("tl"), ends_at, server_time: number("server_time") })
}

/// An expected event must come within `PATIENCE`.
pub async fn soon<F: Future>(what: &str, future: F) -> F::Output {
    timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("{what} never came"))
}

impl Phone {
    /// A session on a websocket that has joined nothing yet; `address` is `host:port`.
    pub async fn dial(address: &str) -> Self {
        Self::dial_on(TcpStream::connect(address).await.expect("a connection"), address).await
    }

    pub async fn dial_on(stream: TcpStream, address: &str) -> Self {
        let mut phone = Self::open_on(stream, address, TARGET).await;
        let packet = phone.packet().await;
        let handshake: Value = serde_json::from_str(packet.strip_prefix('0').expect("a handshake")).unwrap();
        assert_eq!(handshake["maxPayload"], 65_536);
        phone
    }

    /// A websocket at `target`; nothing is read from it yet.
    pub async fn open(address: &str, target: &str) -> Self {
        Self::open_on(TcpStream::connect(address).await.expect("a connection"), address, target).await
    }

    async fn open_on(mut stream: TcpStream, address: &str, target: &str) -> Self {
        stream.write_all(upgrade_request(address, target, "").as_bytes()).await.unwrap();
        let mut unread = BytesMut::new();
        let end = loop {
            assert!(soon("the handshake", stream.read_buf(&mut unread)).await.unwrap() > 0, "the server hung up");
            if let Some(at) = unread.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
        };
        let answer = String::from_utf8(unread.split_to(end).to_vec()).unwrap().to_ascii_lowercase();
        assert!(answer.starts_with("http/1.1 101 ") && answer.contains("x-request-id: "), "{answer}");
        Self { stream, unread, last_ack: 0, ticks: VecDeque::new(), answers_heartbeats: true }
    }

    /// Joins with this `auth`: the socket's id, or the `connect_error`.
    pub async fn connect(&mut self, auth: Option<&Value>) -> Result<String, Value> {
        self.send(&format!("40{}", auth.map_or_else(String::new, Value::to_string))).await;
        let answer = self.packet().await;
        match (answer.strip_prefix("40"), answer.strip_prefix("44")) {
            (Some(joined), _) => {
                let joined: Value = serde_json::from_str(joined).unwrap();
                Ok(joined["sid"].as_str().expect("the socket's id").to_owned())
            }
            (_, Some(refused)) => Err(serde_json::from_str(refused).unwrap()),
            _ => panic!("{answer} does not answer a connect"),
        }
    }

    /// A phone that is logged in with `token`.
    pub async fn join(app: &TestApp, token: &str) -> Self {
        Self::join_at(app.address(), token).await
    }

    pub async fn join_at(address: &str, token: &str) -> Self {
        let mut phone = Self::dial(address).await;
        phone.connect(Some(&json!({ "token": token }))).await.expect("a good token");
        phone
    }

    pub async fn send(&mut self, packet: &str) {
        self.send_raw(&text_frame(packet)).await;
    }

    pub async fn send_raw(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.expect("an open connection");
    }

    /// Emits an event without asking for an answer. `args` follows the name and includes its leading comma.
    pub async fn emit(&mut self, name: &str, args: &str) {
        self.send(&format!("42[\"{name}\"{args}]")).await;
    }

    /// Sends a request without waiting; returns the number that the answer will have.
    pub async fn begin(&mut self, name: &str, args: &str) -> u64 {
        self.last_ack += 1;
        self.send(&format!("42{}[\"{name}\"{args}]", self.last_ack)).await;
        self.last_ack
    }

    /// The next answer: its number, and its only argument.
    pub async fn answer(&mut self) -> (u64, Value) {
        loop {
            let packet = self.packet().await;
            if let Some(tick) = tick_of(&packet) {
                self.ticks.push_back(tick);
                continue;
            }
            let ack = packet.strip_prefix("43").unwrap_or_else(|| panic!("{packet} is no answer"));
            let (number, args) = ack.split_at(ack.find('[').expect("arguments"));
            let (argument,): (Value,) = serde_json::from_str(args).expect("one argument");
            return (number.parse().unwrap(), argument);
        }
    }

    pub async fn ask(&mut self, name: &str, args: &str) -> Value {
        let asked = self.begin(name, args).await;
        let (number, answer) = self.answer().await;
        assert_eq!(number, asked);
        answer
    }

    pub async fn subscribe(&mut self, idmesin: impl Display) -> Value {
        self.ask("subscribe", &format!(r#","heartbeat/{idmesin}""#)).await
    }

    /// The remaining time of a machine that runs, by a new request. Earlier ticks are discarded.
    pub async fn ask_anew(&mut self, idmesin: MachineId) -> i64 {
        let ack = self.subscribe(idmesin).await;
        self.ticks.clear();
        ack["tl"].as_i64().unwrap_or_else(|| panic!("{ack}: it runs"))
    }

    /// No tick arrived while the phone waited for answers.
    pub fn assert_quiet(&self) {
        assert_eq!(self.ticks, []);
    }

    /// Watches a machine that runs until `ends_at`, or that is idle.
    pub async fn watch(&mut self, idmesin: MachineId, ends_at: Option<i64>) {
        let ack = self.subscribe(idmesin).await;
        let server_time = ack["server_time"].as_i64().unwrap();
        let tl = ends_at.map(|at| at - server_time);
        assert_eq!(ack, json!({"status": 200, "tl": tl, "ends_at": ends_at, "server_time": server_time}));
    }

    pub async fn unwatch(&mut self, idmesin: MachineId) {
        assert_eq!(self.ask("unsubscribe", &format!(r#","heartbeat/{idmesin}""#)).await["status"], 200);
    }

    /// The next tick.
    pub async fn tick(&mut self) -> Tick {
        if let Some(tick) = self.ticks.pop_front() {
            return tick;
        }
        let packet = self.packet().await;
        tick_of(&packet).unwrap_or_else(|| panic!("{packet} is no tick"))
    }

    /// The next event of any kind.
    pub async fn event(&mut self) -> Value {
        let packet = self.packet().await;
        serde_json::from_str(packet.strip_prefix("42").unwrap_or_else(|| panic!("{packet} is no event"))).unwrap()
    }

    /// The next Engine.IO packet that is no heartbeat.
    pub async fn packet(&mut self) -> String {
        soon("a packet", self.next()).await.expect("an open session")
    }

    /// Reads until the server closes the connection; returns the ticks that came before.
    pub async fn closed(&mut self) -> Vec<Tick> {
        let mut ticks: Vec<Tick> = self.ticks.drain(..).collect();
        while let Some(packet) = soon("the end of the session", self.next()).await {
            ticks.extend(tick_of(&packet));
        }
        ticks
    }

    /// `None` when the connection has ended.
    async fn next(&mut self) -> Option<String> {
        loop {
            while let Some((opcode, payload)) = take_frame(&mut self.unread) {
                if opcode == CLOSE {
                    continue;
                }
                assert_eq!(opcode, TEXT, "only texts are sent here");
                let packet = String::from_utf8(payload).expect("UTF-8");
                if packet != "2" {
                    return Some(packet);
                }
                if self.answers_heartbeats {
                    let _ = self.stream.write_all(&text_frame("3")).await;
                }
            }
            if self.stream.read_buf(&mut self.unread).await.unwrap_or(0) == 0 {
                assert!(self.unread.is_empty(), "the connection ended within a frame");
                return None;
            }
        }
    }
}
