//! Devices over MQTT (docs/contract.md §6): a test's own device talks to the server, with the crate's client over a socket.

mod again;
mod coins;
mod connections;
mod counted;
mod crowd;
pub mod device_keys;
pub mod driver;
mod keys;
mod login;
mod presence;
mod probe;
mod pulses;
mod sensor;
mod trouble;
mod wash;

use std::collections::VecDeque;
use std::time::Duration;

use actix_web::rt::time::{sleep, timeout};
use futures_util::future::join;
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::{MachineId, OutletId, WalletId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_machines::machines::Location;
use nyala_mqtt::client::{ClientConnection, ClientEvent, Login};
use nyala_mqtt::{Granted, Limits, Qos, Refusal, Will};
use nyala_store::clock::Clock;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::devices::device_keys::mqtt_machine;
use crate::ops::operator::Scope;
use crate::purchase::races::PATIENCE;
use crate::support::arrange::Outlet;
use crate::support::helpers::{Answer, Customer, Setup, TestApp};
use crate::support::shop::{Order, Shop};

pub const NIL: &str = "00000000-0000-0000-0000-000000000000";
/// By then an event that the server checks for every half second has happened, or never will.
const SWEPT: Duration = Duration::from_millis(1_200);

/// A machine of the driver mqtt, and its device's credentials.
#[derive(Debug, Clone)]
pub struct Given {
    pub idmesin: MachineId,
    pub idoutlet: OutletId,
    pub secret: String,
    pub port: u16,
}

impl Given {
    pub fn topic(&self, last: &str) -> String {
        format!("nyala/v1/{}/{}/{last}", self.idoutlet, self.idmesin)
    }

    /// The bytes of a login with these credentials.
    pub fn connect(&self, client_id: &str, will: Option<&str>) -> Vec<u8> {
        let (user, mut out) = (self.idmesin.to_string(), Vec::new());
        let will = will.map(|topic| Will { topic, payload: b"{}", qos: Qos::AtMostOnce, retain: false });
        let login = Login { client_id, user: Some(&user), password: Some(self.secret.as_bytes()), keep_alive: 30, will };
        ClientConnection::new(Limits::default()).connect(&login, &mut out).unwrap();
        out
    }

    pub fn at(&self) -> Location {
        Location { idmesin: self.idmesin, idoutlet: self.idoutlet, driver: DriverKind::Mqtt }
    }
}

impl TestApp {
    /// A machine of the driver mqtt whose device has a key.
    pub async fn given(&self, outlet: Outlet, name: &str) -> Given {
        let idmesin = mqtt_machine(self, outlet, name).await;
        self.db.execute("UPDATE mesin SET online = FALSE WHERE idmesin = $1", &[&idmesin]).await.unwrap();
        self.key_for(MachineId::new(idmesin)).await
    }

    /// One more key for a machine's device.
    pub async fn key_for(&self, idmesin: MachineId) -> Given {
        let key = self.key(Scope::Root).await;
        let answer_data = self.ops(&key, &format!("mesin/{idmesin}/perangkat"), &json!({})).await.ok();
        let (idoutlet, secret) =
            (OutletId::new(answer_data["idoutlet"].as_i64().unwrap()), answer_data["secret"].as_str().unwrap().to_owned());
        Given { idmesin, idoutlet, secret, port: self.device_port.unwrap() }
    }

    /// A shop whose machine waits for a device, with a customer who can pay once.
    pub async fn device_shop(&self, duration_s: i32) -> (Shop, Given, Customer, WalletId) {
        let shop = self.shop(duration_s).await;
        self.db.execute("UPDATE mesin SET driver = 'mqtt', online = FALSE WHERE idmesin = $1", &[&shop.idmesin]).await.unwrap();
        let given = self.key_for(shop.idmesin).await;
        let siti = self.register_customer("81211112222", "Siti", "Rahmawati").await;
        let epay = self.balance_of(&siti, shop, crate::support::shop::PRICE).await;
        (shop, given, siti, epay)
    }

    /// A purchase whose device starts at once.
    pub async fn buy_at(&self, customer: &Customer, order: &Order, device: &mut Device) -> Answer {
        let starts = async {
            let start = device.order().await;
            device.starts(&start).await;
        };
        join(self.buy(customer, order), starts).await.0
    }

    /// The status in `get_layanan` for a customer who scans the machine.
    pub async fn scanned(&self, idmesin: i64, by: &Customer) -> String {
        let qr = nyala_identity::qr::machine::make(&self.state.keyring.get(), MachineId::new(idmesin), 1);
        let body = json!({"qr": qr, "limit": 10, "skip": 0});
        let answer_data = self.post("/scan/v1/transaksi/get_layanan", Some(&by.token), &body).await.ok();
        answer_data["data_mesin"]["status"].as_str().unwrap().to_owned()
    }

    /// Waits until `column` of `mesin` (`online` or `perlu_petugas`) has this value.
    pub async fn until_stored(&self, idmesin: i64, column: &str, is: bool) {
        let sql = format!("SELECT {column} FROM mesin WHERE idmesin = $1");
        let stored = async {
            while self.db.query_one(&sql, &[&idmesin]).await.unwrap().get::<_, bool>(0) != is {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, stored).await.unwrap_or_else(|_| panic!("{column} of {idmesin} does not become {is}"));
    }

    pub async fn stored(&self, idmesin: i64, column: &str) -> bool {
        let sql = format!("SELECT {column} FROM mesin WHERE idmesin = $1");
        self.db.query_one(&sql, &[&idmesin]).await.unwrap().get(0)
    }

    /// Waits until a metric has this value.
    pub async fn until_counted(&self, name: &str, is: f64) {
        let counted = async {
            while self.metric(name).await != is {
                sleep(Duration::from_millis(5)).await;
            }
        };
        if timeout(PATIENCE, counted).await.is_err() {
            panic!("{name} is {} and not {is}", self.metric(name).await);
        }
    }
}

/// A server whose clock is stopped, so that devices are silent for exactly as long as a test needs.
fn standing() -> Setup {
    Setup::new()
}

/// A connection that sends bytes, and the server's answers.
pub struct MqttConnection {
    stream: TcpStream,
    mqtt: ClientConnection,
    events: VecDeque<ClientEvent>,
}

impl MqttConnection {
    pub async fn connect(port: u16) -> Self {
        Self::over(TcpStream::connect(("127.0.0.1", port)).await.expect("a connection"))
    }

    /// A connection from another address of this host.
    pub async fn connect_from(address: [u8; 4], port: u16) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((address, 0).into()).unwrap();
        Self::over(socket.connect(([127, 0, 0, 1], port).into()).await.unwrap())
    }

    /// A connection with a small receive buffer in the kernel.
    async fn connect_small(port: u16) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(2_048).unwrap();
        Self::over(socket.connect(([127, 0, 0, 1], port).into()).await.unwrap())
    }

    fn over(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        Self { stream, mqtt: ClientConnection::new(Limits::default()), events: VecDeque::new() }
    }

    /// Sends these bytes; a server that has closed the connection may not take them.
    pub async fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes).await;
    }

    /// The server's next event; `None`: it has closed the connection.
    pub async fn next(&mut self) -> Option<ClientEvent> {
        timeout(PATIENCE, self.read()).await.expect("the server says something or closes the line")
    }

    async fn read(&mut self) -> Option<ClientEvent> {
        let mut buf = [0; 4_096];
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            let n = match self.stream.read(&mut buf).await {
                Ok(0) | Err(_) => return None,
                Ok(n) => n,
            };
            let (mut bytes, mut out) = (&buf[..n], Vec::new());
            while let Some(event) = self.mqtt.feed(&mut bytes, &mut out).expect("what a server may say") {
                self.events.push_back(event);
            }
            self.send(&out).await;
        }
    }

    /// The server has answered an UNSUBSCRIBE, which the client of the crate never sends.
    async fn forget_unsuback(&mut self) {
        assert_eq!(self.stream_bytes(4).await, b"\xb0\x02\x00\x09");
    }

    /// All bytes until the end of the connection.
    async fn rest(mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let _ = timeout(PATIENCE, self.stream.read_to_end(&mut bytes)).await.expect("the server closes the line");
        bytes
    }

    /// The next `n` bytes.
    async fn stream_bytes(&mut self, n: usize) -> Vec<u8> {
        let mut bytes = vec![0; n];
        let read = timeout(PATIENCE, self.stream.read_exact(&mut bytes)).await.expect("the server says something");
        read.expect("it says as much");
        bytes
    }

    /// Waits until the server has closed the connection.
    pub async fn closed(&mut self) {
        while self.next().await.is_some() {}
    }

    /// Whether nothing arrives, not even a close, while the server checks which connections to close.
    async fn stays(&mut self) -> bool {
        timeout(SWEPT, self.read()).await.is_err()
    }

    /// Logs in after these bytes, and sends all of it in pieces, as a network may split it.
    pub async fn log_in_behind(&mut self, header: Vec<u8>, given: &Given) -> Option<ClientEvent> {
        let (user, mut out) = (given.idmesin.to_string(), header);
        let login =
            Login { client_id: "", user: Some(&user), password: Some(given.secret.as_bytes()), keep_alive: 30, will: None };
        self.mqtt.connect(&login, &mut out).unwrap();
        for piece in out.chunks(9) {
            self.send(piece).await;
        }
        self.next().await
    }

    async fn log_in(&mut self, login: &Login<'_>) -> Option<ClientEvent> {
        let mut out = Vec::new();
        self.mqtt.connect(login, &mut out).unwrap();
        self.send(&out).await;
        self.next().await
    }

    async fn subscribe(&mut self, topics: &[&str]) -> Vec<Granted> {
        let mut out = Vec::new();
        let topics: Vec<(&str, Qos)> = topics.iter().map(|topic| (*topic, Qos::AtMostOnce)).collect();
        self.mqtt.subscribe(&topics, &mut out).unwrap();
        self.send(&out).await;
        match self.next().await {
            Some(ClientEvent::Subscribed(answer)) => answer.granted,
            other => panic!("{other:?} is no SUBACK"),
        }
    }

    async fn publish(&mut self, topic: &str, payload: &[u8], qos: Qos) {
        self.publish_as(topic, payload, qos, false).await;
    }

    async fn publish_as(&mut self, topic: &str, payload: &[u8], qos: Qos, retain: bool) {
        let mut out = Vec::new();
        self.mqtt.publish(topic, payload, qos, retain, &mut out).unwrap();
        self.send(&out).await;
    }

    /// The server has handled everything sent before.
    pub async fn ping(&mut self) {
        let mut out = Vec::new();
        self.mqtt.ping(&mut out).unwrap();
        self.send(&out).await;
        let answer = async {
            let mut others = VecDeque::new();
            loop {
                match self.read().await {
                    Some(ClientEvent::Pong) => break others,
                    Some(other) => others.push_back(other),
                    None => panic!("the line is closed"),
                }
            }
        };
        self.events = timeout(PATIENCE, answer).await.expect("a pong");
    }
}

/// The client that a balancer names in its PROXY header.
#[derive(Debug, Clone, Copy)]
pub enum Proxied {
    V4([u8; 4]),
    /// The upper half of the address.
    V6(u64),
    /// A connection of the balancer itself.
    Local,
}

/// A PROXY protocol version 2 header (haproxy.org, proxy-protocol.txt, 2.2).
pub fn proxy_header(of: Proxied) -> Vec<u8> {
    let mut header = b"\r\n\r\n\0\r\nQUIT\n".to_vec();
    match of {
        Proxied::V4(from) => {
            header.extend([0x21, 0x11, 0, 12]);
            header.extend(from);
            header.extend([127, 0, 0, 1, 0x9c, 0x40, 0x22, 0xb3]);
        }
        Proxied::V6(upper) => {
            header.extend([0x21, 0x21, 0, 36]);
            header.extend(upper.to_be_bytes());
            header.extend([0; 7]);
            header.push(9);
            header.extend([0; 15]);
            header.extend([1, 0x9c, 0x40, 0x22, 0xb3]);
        }
        Proxied::Local => header.extend([0x20, 0, 0, 0]),
    }
    header
}

/// Logs in with the credentials; `None`: the server accepted them.
pub async fn knock(given: &Given) -> Option<Refusal> {
    knock_as(given, &given.idmesin.to_string(), &given.secret).await
}

async fn knock_as(given: &Given, user: &str, secret: &str) -> Option<Refusal> {
    let mut connection = MqttConnection::connect(given.port).await;
    let login = Login { client_id: "", user: Some(user), password: Some(secret.as_bytes()), keep_alive: 30, will: None };
    match connection.log_in(&login).await {
        Some(ClientEvent::Accepted) => None,
        Some(ClientEvent::Refused(why)) => Some(why),
        other => panic!("{other:?} answers no login"),
    }
}

/// A device that sends what a test needs; its clock is the test's.
pub struct Device {
    pub connection: MqttConnection,
    pub given: Given,
    clock: Clock,
    /// Before the server's present time, so that it has been up for a while.
    booted: Timestamp,
    pub boot: i64,
    pub conn: u32,
    pub seq: u32,
    /// The highest epoch that the device has seen.
    pub epoch: i64,
    pub run: Value,
    pub last: Value,
    /// The device publishes retained and at QoS 1, as some devices do that were made for a broker.
    pub retains: bool,
    /// What the board says that it can; null: nothing, as older ones do.
    pub can: Value,
    /// What its sensor says; null: it has none.
    pub sense: Value,
    /// Coins that it has counted; null: it counts none.
    pub coins: Value,
    /// Why it says that it booted; null: it does not say.
    pub reset: Value,
}

impl Device {
    /// A connection that has logged in and received nothing else.
    pub async fn log_in(clock: &Clock, given: &Given, client_id: &str) -> Self {
        Self::log_in_over(clock, given, client_id, MqttConnection::connect(given.port).await).await
    }

    async fn log_in_over(clock: &Clock, given: &Given, client_id: &str, mut connection: MqttConnection) -> Self {
        let user = given.idmesin.to_string();
        let will = json!({"online": false, "boot_id": 1, "conn": 1}).to_string();
        let topic = given.topic("state");
        let will = Will { topic: &topic, payload: will.as_bytes(), qos: Qos::AtLeastOnce, retain: true };
        let password = Some(given.secret.as_bytes());
        let login = Login { client_id, user: Some(&user), password, keep_alive: 30, will: Some(will) };
        assert_eq!(connection.log_in(&login).await, Some(ClientEvent::Accepted));
        let booted = clock.now().plus_ms(-60_000);
        let (run, last) = (Value::Null, Value::Null);
        let (given, clock) = (given.clone(), clock.clone());
        Self {
            connection,
            given,
            clock,
            booted,
            boot: 1,
            conn: 1,
            seq: 0,
            epoch: 0,
            run,
            last,
            retains: false,
            can: Value::Null,
            sense: Value::Null,
            coins: Value::Null,
            reset: Value::Null,
        }
    }

    /// A connection that is subscribed to its commands.
    pub async fn subscribe(clock: &Clock, given: &Given, client_id: &str) -> Self {
        let mut device = Self::log_in(clock, given, client_id).await;
        assert_eq!(device.connection.subscribe(&[&given.topic("cmd")]).await, [Granted::Yes(Qos::AtMostOnce)]);
        device
    }

    /// A device that has sent its first state and has received the time.
    pub async fn online(app: &TestApp, given: &Given) -> Self {
        let mut device = Self::subscribe(&app.clock, given, "esp").await;
        device.learn_the_time().await;
        app.until_stored(given.idmesin.get(), "online", true).await;
        device
    }

    /// The first two states of a connection: the second one confirms that the answer to the first came in time.
    pub async fn learn_the_time(&mut self) {
        self.state().await;
        let answer_data = self.command().await;
        assert_eq!((&answer_data["cmd_id"], &answer_data["op"]), (&json!(NIL), &json!("query")));
        self.clock.advance_ms(1);
        self.state().await;
        self.connection.ping().await;
    }

    /// The same device on a new connection.
    pub async fn again(mut self, clock: &Clock) -> Self {
        let fresh = Self::subscribe(clock, &self.given, "esp").await;
        self.connection = fresh.connection;
        self.conn += 1;
        self.seq = 0;
        self
    }

    fn up_ms(&self) -> i64 {
        self.booted.ms_until(self.clock.now())
    }

    /// The fields of every message, with the stamp of the next one.
    pub fn message(&mut self) -> Value {
        self.seq += 1;
        json!({"boot_id": self.boot, "conn": self.conn, "seq": self.seq, "up_ms": self.up_ms()})
    }

    pub async fn send(&mut self, last: &str, message: &Value) {
        let qos = if self.retains { Qos::AtLeastOnce } else { Qos::AtMostOnce };
        self.connection.publish_as(&self.given.topic(last), message.to_string().as_bytes(), qos, self.retains).await;
    }

    pub async fn state(&mut self) {
        let mut message = self.message();
        message["online"] = json!(true);
        message["epoch"] = json!(self.epoch);
        message["run"] = self.run.clone();
        message["last"] = self.last.clone();
        message["fw"] = json!("uji");
        for (field, value) in [("can", &self.can), ("sense", &self.sense), ("coins", &self.coins), ("reset", &self.reset)] {
            if !value.is_null() {
                message[field] = value.clone();
            }
        }
        self.send("state", &message).await;
    }

    /// Lets `s` seconds pass, with a heartbeat every 20 s. A device is offline after 45 s of silence, and a heartbeat may count from when the server
    /// last read the clock, one step before.
    pub async fn waits(&mut self, s: i64) {
        const BEAT_S: i64 = 20;
        let mut left_s = s;
        while left_s > BEAT_S {
            left_s -= BEAT_S;
            self.clock.advance_ms(BEAT_S * 1_000);
            self.heartbeat().await;
            self.connection.ping().await;
        }
        self.clock.advance_ms(left_s * 1_000);
    }

    pub async fn heartbeat(&mut self) {
        let mut message = self.message();
        for (field, value) in [("sense", &self.sense), ("coins", &self.coins)] {
            if !value.is_null() {
                message[field] = value.clone();
            }
        }
        self.send("hb", &message).await;
    }

    pub async fn ack(&mut self, cmd: &Value, result: &str) {
        let mut message = self.message();
        message["cmd_id"] = cmd["cmd_id"].clone();
        message["epoch"] = cmd["epoch"].clone();
        message["result"] = json!(result);
        self.send("ack", &message).await;
    }

    /// The next command.
    pub async fn command(&mut self) -> Value {
        loop {
            match self.connection.next().await {
                Some(ClientEvent::Publish(publish)) => {
                    assert_eq!(publish.topic(), self.given.topic("cmd"));
                    assert!(!publish.retain(), "a command is never kept");
                    return serde_json::from_slice(publish.payload()).expect("JSON");
                }
                Some(ClientEvent::Acknowledged(_)) if self.retains => {}
                other => panic!("{other:?} is no command"),
            }
        }
    }

    /// The next command that is about a purchase. Queries without one are answered with a state.
    pub async fn order(&mut self) -> Value {
        loop {
            let cmd = self.command().await;
            if cmd["cmd_id"] != NIL {
                self.epoch = self.epoch.max(cmd["epoch"].as_i64().unwrap());
                return cmd;
            }
            self.state().await;
        }
    }

    /// The next stop. Commands before it are answered with a state.
    pub async fn stop_command(&mut self) -> Value {
        loop {
            let cmd = self.command().await;
            if cmd["op"] == "stop" {
                return cmd;
            }
            self.state().await;
        }
    }

    /// Starts the run of a command, and reports it.
    pub async fn starts(&mut self, cmd: &Value) {
        assert!(cmd["op"] == "start" || cmd["op"] == "pulse" && !self.can.is_null(), "{cmd}");
        self.run = json!({"cmd_id": cmd["cmd_id"], "sisa_s": cmd["durasi_s"]});
        self.last = json!({"cmd_id": cmd["cmd_id"], "result": "started"});
        self.ack(cmd, "started").await;
        self.state().await;
    }

    /// The power was lost in its pulses.
    pub async fn was_cut(&mut self, cmd: &Value) {
        self.last = json!({"cmd_id": cmd["cmd_id"], "result": "refused", "why": "cut"});
        self.state().await;
    }

    /// The run ends.
    pub async fn ends(&mut self, result: &str) {
        self.last = json!({"cmd_id": self.run["cmd_id"], "result": result});
        self.run = Value::Null;
        self.state().await;
    }
}
