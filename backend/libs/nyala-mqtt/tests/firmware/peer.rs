//! Peer of the device: a server of this crate, or a client of this crate that reaches the device through mosquitto.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nyala_mqtt::client::{ClientConnection, ClientEvent, Login};
use nyala_mqtt::server::{ServerConnection, ServerEvent};
use nyala_mqtt::{Granted, Limits, Publish, Qos};
use serde_json::{Value, json};

use crate::host::{IDMESIN, IDOUTLET, PATIENCE, SECRET};

pub const NIL: &str = "00000000-0000-0000-0000-000000000000";
const ROUND_MS: u64 = 10_000;
/// What a `pulse` asks for; other commands ignore it.
pub const PULSES: usize = 3;
const PULSE_MS: u64 = 2;

enum Side {
    Server(ServerConnection),
    Client(ClientConnection),
}

/// One connection to a device, or to mosquitto.
pub struct Peer {
    line: TcpStream,
    side: Side,
    messages: VecDeque<(String, Value)>,
    /// `up_ms` of the last state report.
    echo: Option<u64>,
    will: Option<Value>,
}

fn topic(leaf: &str) -> String {
    format!("nyala/v1/{IDOUTLET}/{IDMESIN}/{leaf}")
}

fn now_ms() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

impl Peer {
    /// Accepts the connection of a device.
    pub fn accept(listener: &TcpListener) -> Self {
        let begun = Instant::now();
        listener.set_nonblocking(true).unwrap();
        let line = loop {
            match listener.accept() {
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    assert!(begun.elapsed() < PATIENCE, "no device connects");
                    std::thread::sleep(Duration::from_millis(2));
                }
                line => break line.unwrap().0,
            }
        };
        line.set_nonblocking(false).unwrap();
        line.set_read_timeout(Some(PATIENCE)).unwrap();
        line.set_nodelay(true).unwrap();
        let side = Side::Server(ServerConnection::new(Limits::default()));
        Self { line, side, messages: VecDeque::new(), echo: None, will: None }
    }

    /// Connects to mosquitto.
    pub fn connect(port: u16) -> Self {
        let line = TcpStream::connect(("127.0.0.1", port)).unwrap();
        line.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut client = ClientConnection::new(Limits::default());
        let mut out = Vec::new();
        client.connect(&Login { client_id: "server", keep_alive: 600, ..Login::default() }, &mut out).unwrap();
        let mut peer = Self { line, side: Side::Client(client), messages: VecDeque::new(), echo: None, will: None };
        peer.send(&out);
        let mut out = Vec::new();
        let Side::Client(client) = &mut peer.side else { unreachable!() };
        let mut answer = [0; 4];
        peer.line.read_exact(&mut answer).unwrap();
        assert_eq!(client.feed(&mut &answer[..], &mut out).unwrap(), Some(ClientEvent::Accepted));
        client.subscribe(&[("nyala/v1/+/+/state", Qos::AtMostOnce), ("nyala/v1/+/+/ack", Qos::AtMostOnce)], &mut out).unwrap();
        peer.send(&out);
        peer
    }

    /// The last will of a device that logged in here.
    pub fn will(&self) -> &Value {
        self.will.as_ref().unwrap()
    }

    /// Sends a command with the current time, in answer to the last state report.
    pub fn says(&mut self, op: &str, cmd_id: &str, epoch: u32, duration_s: u32) {
        let now_ms = now_ms();
        let cmd = json!({
            "cmd_id": cmd_id, "epoch": epoch, "op": op, "durasi_s": duration_s, "exp": (now_ms + ROUND_MS) / 1000, "now_ms": now_ms,
            "echo": self.echo, "n": PULSES, "width_ms": PULSE_MS, "gap_ms": PULSE_MS,
        });
        let mut out = Vec::new();
        let (topic, payload) = (topic("cmd"), cmd.to_string());
        match &mut self.side {
            Side::Server(side) => side.publish(&topic, payload.as_bytes(), Qos::AtLeastOnce, &mut out).unwrap(),
            Side::Client(side) => side.publish(&topic, payload.as_bytes(), Qos::AtLeastOnce, false, &mut out).unwrap(),
        };
        self.send(&out);
    }

    /// The next message of that kind; earlier ones of other kinds are dropped.
    pub fn receives(&mut self, leaf: &str) -> Value {
        loop {
            let (of, message) = self.next().expect("the line is closed");
            if of == leaf {
                return message;
            }
        }
    }

    /// The result in the ack of that command.
    pub fn result(&mut self, cmd_id: &str) -> String {
        self.ack(cmd_id)["result"].as_str().unwrap().to_owned()
    }

    pub fn ack(&mut self, cmd_id: &str) -> Value {
        std::iter::from_fn(|| Some(self.receives("ack"))).find(|ack| ack["cmd_id"] == cmd_id).unwrap()
    }

    /// Waits for the first state report, answers it, and waits for the next one. Returns the first.
    pub fn meets(&mut self) -> Value {
        let first = self.receives("state");
        self.says("query", NIL, 0, 0);
        self.receives("state");
        first
    }

    /// All messages until the device closes the connection.
    pub fn rest(&mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.next()).map(|(_, message)| message).collect()
    }

    fn send(&mut self, bytes: &[u8]) {
        // A killed device receives nothing; the tests check that case, so the error is ignored.
        let _ = self.line.write_all(bytes);
    }

    fn next(&mut self) -> Option<(String, Value)> {
        let mut bytes = [0; 512];
        while self.messages.is_empty() {
            let n = match self.line.read(&mut bytes) {
                Ok(0) => return None,
                Err(e) if e.kind() == ErrorKind::ConnectionReset => return None,
                // A process that was paused (SIGSTOP, or a frozen container) continues with this error where a timeout is set.
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                n => n.expect("the device is silent"),
            };
            self.take(&bytes[..n]);
        }
        self.messages.pop_front()
    }

    fn take(&mut self, mut bytes: &[u8]) {
        let mut out = Vec::new();
        loop {
            let publish = match &mut self.side {
                Side::Server(side) => match side.feed(&mut bytes, &mut out).unwrap() {
                    None => break,
                    Some(event) => served(side, event, &mut self.will, &mut out),
                },
                Side::Client(side) => match side.feed(&mut bytes, &mut out).unwrap() {
                    None => break,
                    Some(ClientEvent::Publish(publish)) => Some(publish),
                    Some(_) => None,
                },
            };
            if let Some(publish) = publish {
                self.on_publish(&publish);
            }
        }
        self.send(&out);
    }

    fn on_publish(&mut self, publish: &Publish) {
        let leaf = ["ack", "state", "hb"].into_iter().find(|leaf| publish.topic() == topic(leaf)).unwrap();
        let message: Value = serde_json::from_slice(publish.payload()).unwrap();
        if let Some(up_ms) = message["up_ms"].as_u64().filter(|_| leaf == "state") {
            self.echo = Some(up_ms);
        }
        self.messages.push_back((leaf.to_owned(), message));
    }
}

/// Answers an event from a device as the server.
fn served(side: &mut ServerConnection, event: ServerEvent, will: &mut Option<Value>, out: &mut Vec<u8>) -> Option<Publish> {
    match event {
        ServerEvent::Connect(login) => {
            assert_eq!((login.user(), login.password()), (Some(IDMESIN.to_string().as_str()), Some(SECRET.as_bytes())));
            assert_eq!(login.keep_alive(), Duration::from_secs(30));
            let gone = login.will().unwrap();
            assert_eq!(gone.topic, topic("state"));
            *will = Some(serde_json::from_slice(gone.payload).unwrap());
            side.accept(out).unwrap();
        }
        ServerEvent::Subscribe(subscribe) => {
            assert_eq!(subscribe.topics().map(|(topic, _)| topic.to_owned()).collect::<Vec<_>>(), [topic("cmd")]);
            side.grant(&subscribe, &[Granted::Yes(Qos::AtMostOnce)], out).unwrap();
        }
        ServerEvent::Publish(publish) => return Some(publish),
        ServerEvent::Acknowledged(_) | ServerEvent::Ping => {}
        other => panic!("{other:?}"),
    }
    None
}
