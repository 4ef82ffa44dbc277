//! A device server that a test controls: it accepts devices with the right secret, reports what they do, and sends the test's commands.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use nyala_mqtt::server::{Connection, Event};
use nyala_mqtt::{Granted, Limits, Qos, Refusal};
use serde_json::Value;

use crate::purchase::races::PATIENCE;

pub const SECRET: &str = "rahasia";

/// What a device did. Connections are numbered from 0.
#[derive(Debug, PartialEq)]
pub enum Heard {
    LogIn { line: usize, user: String, client: String, will: Value },
    Subscribed { line: usize, topic: String },
    DeviceMessage { line: usize, topic: String, word: Value, retain: bool },
    Closed { line: usize },
}

struct Line {
    stream: TcpStream,
    mqtt: Connection,
    topic: String,
}

pub struct Server {
    pub address: SocketAddr,
    heard: Receiver<Heard>,
    lines: Arc<Mutex<Vec<Arc<Mutex<Line>>>>>,
}

impl Server {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (told, heard) = channel();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let known = lines.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                stream.set_nodelay(true).unwrap();
                let (read, mqtt) = (stream.try_clone().unwrap(), Connection::new(Limits::default()));
                let line = Arc::new(Mutex::new(Line { stream, mqtt, topic: String::new() }));
                let mut known = known.lock().unwrap();
                let (number, told) = (known.len(), told.clone());
                known.push(line.clone());
                thread::spawn(move || {
                    serve(read, number, &line, &told);
                    // A test that has ended has dropped the receiver.
                    let _ = told.send(Heard::Closed { line: number });
                });
            }
        });
        Self { address, heard, lines }
    }

    pub fn next(&self) -> Heard {
        self.heard.recv_timeout(PATIENCE).expect("a device does something")
    }

    /// Sends a command to the device on a connection.
    pub fn say(&self, line: usize, cmd: &Value) {
        let line = self.lines.lock().unwrap()[line].clone();
        let mut line = line.lock().unwrap();
        let (mut out, topic) = (Vec::new(), line.topic.clone());
        line.mqtt.publish(&topic, cmd.to_string().as_bytes(), Qos::AtLeastOnce, &mut out).unwrap();
        line.stream.write_all(&out).unwrap();
    }

    /// Sends the same as a retained message.
    pub fn say_kept(&self, line: usize, cmd: &Value) {
        let line = self.lines.lock().unwrap()[line].clone();
        let mut line = line.lock().unwrap();
        let (topic, payload) = (line.topic.clone(), cmd.to_string());
        let length = 2 + topic.len() + payload.len();
        let mut packet = vec![0x31, u8::try_from(length % 128).unwrap() | 0x80, u8::try_from(length / 128).unwrap()];
        packet.extend(u16::try_from(topic.len()).unwrap().to_be_bytes());
        packet.extend(topic.as_bytes().iter().chain(payload.as_bytes()));
        line.stream.write_all(&packet).unwrap();
    }

    /// Closes the sending side of a connection, which ends it for the device.
    pub fn end(&self, line: usize) {
        let line = self.lines.lock().unwrap()[line].clone();
        line.lock().unwrap().stream.shutdown(std::net::Shutdown::Write).unwrap();
    }

    /// Closes all connections.
    pub fn close(&self) {
        for line in self.lines.lock().unwrap().iter() {
            let _ = line.lock().unwrap().stream.shutdown(std::net::Shutdown::Both);
        }
    }
}

fn serve(mut read: TcpStream, number: usize, line: &Mutex<Line>, told: &Sender<Heard>) {
    let mut buffer = [0; 4096];
    while let Some(n) = read.read(&mut buffer).ok().filter(|n| *n > 0) {
        let mut bytes = &buffer[..n];
        let mut line = line.lock().unwrap();
        loop {
            let mut out = Vec::new();
            let event = line.mqtt.feed(&mut bytes, &mut out).unwrap();
            let heard = event.as_ref().and_then(|event| answer(number, &mut line, event, &mut out));
            // Reported before it is answered, so that the device's reaction is reported later.
            if heard.is_some_and(|heard| told.send(heard).is_err()) || line.stream.write_all(&out).is_err() {
                return;
            }
            if event.is_none() {
                break;
            }
        }
    }
}

fn answer(number: usize, line: &mut Line, event: &Event, out: &mut Vec<u8>) -> Option<Heard> {
    match event {
        Event::Connect(connect) if connect.password() == Some(SECRET.as_bytes()) => {
            line.mqtt.accept(out).unwrap();
            let will = connect.will().unwrap();
            assert_eq!((connect.keep_alive().as_secs(), will.retain), (30, true));
            Some(Heard::LogIn {
                line: number,
                user: connect.user().unwrap().to_owned(),
                client: connect.client_id().to_owned(),
                will: serde_json::from_slice(will.payload).unwrap(),
            })
        }
        Event::Connect(_) => {
            line.mqtt.refuse(Refusal::Login, out).unwrap();
            None
        }
        Event::Subscribe(subscribe) => {
            line.mqtt.grant(subscribe, &[Granted::Yes(Qos::AtMostOnce)], out).unwrap();
            let (topic, _) = subscribe.topics().next().unwrap();
            line.topic = topic.to_owned();
            Some(Heard::Subscribed { line: number, topic: topic.to_owned() })
        }
        Event::Publish(publish) => Some(Heard::DeviceMessage {
            line: number,
            topic: publish.topic().to_owned(),
            word: serde_json::from_slice(publish.payload()).unwrap(),
            retain: publish.retain(),
        }),
        _ => None,
    }
}
