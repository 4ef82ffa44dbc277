//! A device server that a test controls: it accepts devices with the right secret, reports what they do, and sends the test's commands.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use nyala_mqtt::server::{ServerConnection, ServerEvent};
use nyala_mqtt::{Granted, Limits, Qos, Refusal};
use serde_json::Value;

use super::PATIENCE;

pub const SECRET: &str = "rahasia";

/// What a device did. Connections are numbered from 0.
#[derive(Debug, PartialEq)]
pub enum Received {
    LogIn { connection: usize, user: String, client: String, will: Value },
    Subscribed { connection: usize, topic: String },
    DeviceMessage { connection: usize, topic: String, message: Value, retain: bool },
    Closed { connection: usize },
}

struct Connected {
    stream: TcpStream,
    mqtt: ServerConnection,
    topic: String,
}

pub struct Server {
    pub address: SocketAddr,
    received: Receiver<Received>,
    connections: Arc<Mutex<Vec<Arc<Mutex<Connected>>>>>,
}

impl Server {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (events, received) = channel();
        let connections = Arc::new(Mutex::new(Vec::new()));
        let all = connections.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                stream.set_nodelay(true).unwrap();
                let (read, mqtt) = (stream.try_clone().unwrap(), ServerConnection::new(Limits::default()));
                let connection = Arc::new(Mutex::new(Connected { stream, mqtt, topic: String::new() }));
                let mut all = all.lock().unwrap();
                let (number, events) = (all.len(), events.clone());
                all.push(connection.clone());
                thread::spawn(move || {
                    serve(read, number, &connection, &events);
                    // A test that has ended has dropped the receiver.
                    let _ = events.send(Received::Closed { connection: number });
                });
            }
        });
        Self { address, received, connections }
    }

    pub fn next(&self) -> Received {
        self.received.recv_timeout(PATIENCE).expect("a device does something")
    }

    /// Sends a command to the device on a connection.
    pub fn send(&self, connection: usize, cmd: &Value) {
        let connection = self.connections.lock().unwrap()[connection].clone();
        let mut connection = connection.lock().unwrap();
        let (mut out, topic) = (Vec::new(), connection.topic.clone());
        connection.mqtt.publish(&topic, cmd.to_string().as_bytes(), Qos::AtLeastOnce, &mut out).unwrap();
        connection.stream.write_all(&out).unwrap();
    }

    /// Sends the same as a retained message.
    pub fn send_retained(&self, connection: usize, cmd: &Value) {
        let connection = self.connections.lock().unwrap()[connection].clone();
        let mut connection = connection.lock().unwrap();
        let (topic, payload) = (connection.topic.clone(), cmd.to_string());
        let length = 2 + topic.len() + payload.len();
        let mut packet = vec![0x31, u8::try_from(length % 128).unwrap() | 0x80, u8::try_from(length / 128).unwrap()];
        packet.extend(u16::try_from(topic.len()).unwrap().to_be_bytes());
        packet.extend(topic.as_bytes().iter().chain(payload.as_bytes()));
        connection.stream.write_all(&packet).unwrap();
    }

    /// Closes the sending side of a connection, which ends it for the device.
    pub fn end(&self, connection: usize) {
        let connection = self.connections.lock().unwrap()[connection].clone();
        connection.lock().unwrap().stream.shutdown(std::net::Shutdown::Write).unwrap();
    }

    /// Closes all connections.
    pub fn close(&self) {
        for connection in self.connections.lock().unwrap().iter() {
            let _ = connection.lock().unwrap().stream.shutdown(std::net::Shutdown::Both);
        }
    }
}

fn serve(mut read: TcpStream, number: usize, connection: &Mutex<Connected>, events: &Sender<Received>) {
    let mut buffer = [0; 4096];
    while let Some(n) = read.read(&mut buffer).ok().filter(|n| *n > 0) {
        let mut bytes = &buffer[..n];
        let mut connection = connection.lock().unwrap();
        loop {
            let mut out = Vec::new();
            let event = connection.mqtt.feed(&mut bytes, &mut out).unwrap();
            let received = event.as_ref().and_then(|event| answer(number, &mut connection, event, &mut out));
            // Reported before it is answered, so that the device's reaction is reported later.
            if received.is_some_and(|received| events.send(received).is_err()) || connection.stream.write_all(&out).is_err() {
                return;
            }
            if event.is_none() {
                break;
            }
        }
    }
}

fn answer(number: usize, connection: &mut Connected, event: &ServerEvent, out: &mut Vec<u8>) -> Option<Received> {
    match event {
        ServerEvent::Connect(connect) if connect.password() == Some(SECRET.as_bytes()) => {
            connection.mqtt.accept(out).unwrap();
            let will = connect.will().unwrap();
            assert_eq!((connect.keep_alive().as_secs(), will.retain), (30, true));
            Some(Received::LogIn {
                connection: number,
                user: connect.user().unwrap().to_owned(),
                client: connect.client_id().to_owned(),
                will: serde_json::from_slice(will.payload).unwrap(),
            })
        }
        ServerEvent::Connect(_) => {
            connection.mqtt.refuse(Refusal::Login, out).unwrap();
            None
        }
        ServerEvent::Subscribe(subscribe) => {
            connection.mqtt.grant(subscribe, &[Granted::Yes(Qos::AtMostOnce)], out).unwrap();
            let (topic, _) = subscribe.topics().next().unwrap();
            connection.topic = topic.to_owned();
            Some(Received::Subscribed { connection: number, topic: topic.to_owned() })
        }
        ServerEvent::Publish(publish) => Some(Received::DeviceMessage {
            connection: number,
            topic: publish.topic().to_owned(),
            message: serde_json::from_slice(publish.payload()).unwrap(),
            retain: publish.retain(),
        }),
        _ => None,
    }
}
