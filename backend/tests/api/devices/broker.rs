//! Devices behind a broker of Debian's, which lets in whom `nyala device export` names. Where its package is not installed the test says so
//! and tries nothing. And behind one of a test's own, which does what no broker should.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read as _, Write as _};
use std::time::Duration;

use actix_web::rt::time::timeout;
use futures_util::future::join;
use nyala_loadtest::broker::{Broker, BrokerKind, free_port};
use nyala_mqtt::server::{Connection, Event};
use nyala_mqtt::{Granted, Limits, Qos};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{Device, Given, NIL, knock_as, standing};
use crate::cli::program_beside;
use crate::helpers::{Setup, TestApp};
use crate::races::PATIENCE;
use crate::shop::buy;

const AGAIN: Duration = Duration::from_millis(300);
/// The server comes back to its broker with pauses that grow.
const TRIES: usize = 100;

/// Says its state until the server, which has to find its broker first, answers with the time; then it has it.
async fn found(device: &mut Device) {
    for _ in 0..TRIES {
        device.state().await;
        if let Ok(told) = timeout(AGAIN, device.command()).await {
            assert_eq!((&told["cmd_id"], &told["op"]), (&json!(NIL), &json!("query")));
            return device.state().await;
        }
    }
    panic!("the server does not come to its broker");
}

async fn keys_file(app: &TestApp, given: &Given) -> std::path::PathBuf {
    let file = app.state.config.data.dir.join("keys.csv");
    let Given { idmesin, idoutlet, secret, port } = given;
    let text = format!("user,secret,host,port,idoutlet,idmesin,ca\n{idmesin},{secret},127.0.0.1,{port},{idoutlet},{idmesin},\n");
    std::fs::write(&file, text).unwrap();
    file
}

async fn washes_behind(kind: BrokerKind) {
    if kind.find().is_none() {
        // Past what the test runner keeps of a test that is fine.
        let _ = writeln!(std::io::stderr(), "SKIPPED: {} is not installed here, so nothing is tried behind it", kind.program());
        return;
    }
    let port = free_port().unwrap();
    let url = format!("mqtt://127.0.0.1:{port}");
    let mut app = Setup::new().with(|config| config.mqtt.broker_url = url).running_clock().start().await;
    assert_eq!(app.device_port, None, "devices connect to the broker");
    app.device_port = Some(port);
    let (shop, given, siti, epay) = app.device_shop(600).await;
    let keys = keys_file(&app, &given).await;
    let dir = app.state.config.data.dir.join("broker");
    let mut broker = Broker::start(kind, port, &dir, &keys, program_beside(&app, &[])).unwrap();

    assert!(knock_as(&given, &given.idmesin.to_string(), "wrong").await.is_some(), "a wrong secret");
    let mut device = Device::log_in(&app.clock, &given, "esp").await;
    let granted = device.line.subscribe(&[&given.topic("cmd")]).await;
    assert_eq!(granted, [Granted::Yes(Qos::AtMostOnce)]);
    found(&mut device).await;
    app.until_stored(given.idmesin, "online", true).await;
    assert_eq!(app.scanned(given.idmesin, &siti).await, "idle");
    let order = buy(1, shop, epay);
    let starts = async {
        let start = device.order().await;
        device.starts(&start).await;
    };
    let (paid, ()) = join(app.buy(&siti, &order), starts).await;
    paid.expect(200, "Mesin Berhasil dinyalakan");
    assert_eq!((app.states(&order.receipt).await, app.balance(epay).await), (vec!["RUNNING".to_owned()], 0));

    // The broker loses its power, and with it whatever it knew.
    broker.kill_and_restart().unwrap();
    let mut device = device.again(&app.clock).await;
    found(&mut device).await;
    assert_eq!(app.scanned(given.idmesin, &siti).await, "busy");
    device.ends("done").await;
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_wash_behind_mosquitto() {
    washes_behind(BrokerKind::Mosquitto).await;
}

#[actix_web::test]
async fn a_wash_behind_nats() {
    washes_behind(BrokerKind::Nats).await;
}

/// A broker that the server has come to, and that says what a test has it say.
struct Own {
    stream: TcpStream,
    mqtt: Connection,
    heard: VecDeque<Event>,
}

impl Own {
    /// The server comes, logs in and asks for what devices say.
    async fn begin(listener: &TcpListener) -> Self {
        let stream = timeout(PATIENCE, listener.accept()).await.expect("the server comes").unwrap().0;
        let mut own = Self { stream, mqtt: Connection::new(Limits::default()), heard: VecDeque::new() };
        let mut topics = 0;
        while topics < 3 {
            let mut out = Vec::new();
            match own.next().await {
                Event::Connect(_) => own.mqtt.accept(&mut out).unwrap(),
                Event::Subscribe(subscribe) => {
                    let granted = vec![Granted::Yes(Qos::AtMostOnce); subscribe.topics().len()];
                    topics += granted.len();
                    own.mqtt.grant(&subscribe, &granted, &mut out).unwrap();
                }
                other => panic!("{other:?} before it has subscribed"),
            }
            own.stream.write_all(&out).await.unwrap();
        }
        own
    }

    async fn next(&mut self) -> Event {
        let read = async {
            let mut buf = [0; 4_096];
            loop {
                if let Some(event) = self.heard.pop_front() {
                    return event;
                }
                let n = self.stream.read(&mut buf).await.unwrap();
                assert!(n > 0, "the server closes its line");
                let (mut bytes, mut out) = (&buf[..n], Vec::new());
                while let Some(event) = self.mqtt.feed(&mut bytes, &mut out).unwrap() {
                    self.heard.push_back(event);
                }
                self.stream.write_all(&out).await.unwrap();
            }
        };
        timeout(PATIENCE, read).await.expect("the server says something")
    }

    /// Brings a device's word, which the server acknowledges as soon as it has it.
    async fn bring(&mut self, topic: &str, word: &Value) {
        let mut out = Vec::new();
        let packet = self.mqtt.publish(topic, word.to_string().as_bytes(), Qos::AtLeastOnce, &mut out).unwrap();
        self.stream.write_all(&out).await.unwrap();
        while !matches!(self.next().await, Event::Acknowledged(of) if Some(of) == packet) {}
    }
}

/// Whether the server has not closed it.
fn is_open(line: TcpStream) -> bool {
    let (mut line, mut buf) = (line.into_std().unwrap(), [0; 512]);
    loop {
        match line.read(&mut buf) {
            Ok(0) => return false,
            Ok(_) => {}
            Err(e) => return e.kind() == ErrorKind::WouldBlock,
        }
    }
}

#[actix_web::test]
async fn who_scans_is_answered_while_the_server_waits_for_its_broker() {
    let mute = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = mute.local_addr().unwrap();
    let mut app = standing().with(|c| c.mqtt.broker_url = format!("mqtt://{at}")).start().await;
    app.device_port = Some(at.port());
    let (_, given, siti, _) = app.device_shop(600).await;
    // Devices had their time to come back.
    app.advance_s(60);
    // The server gives a line up that is not answered; on a slow machine perhaps just then.
    for n in 1..=3_u8 {
        let line = timeout(PATIENCE, mute.accept()).await.expect("the server comes").unwrap().0;
        assert_eq!(app.scanned(given.idmesin, &siti).await, "offline");
        app.until_counted("nyala_device_probes_total{kind=\"away\"}", f64::from(n)).await;
        if is_open(line) {
            return;
        }
    }
    panic!("nobody is answered before the server has given its broker up");
}

#[actix_web::test]
async fn words_are_heard_while_the_database_is_asked_for_machines() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let settings = |c: &mut nyala::config::ServerSettings| {
        c.mqtt.broker_url = format!("mqtt://{at}");
        (c.database.lock_ms, c.database.statement_ms) = (500_000, 600_000);
    };
    let mut app = standing().with(settings).start().await;
    app.device_port = Some(at.port());
    let mut broker = Own::begin(&listener).await;
    // Put up since: the first word of it has the server read which machines there are.
    let (_, given, ..) = app.device_shop(600).await;
    let (away, _) = nyala::db::lock::connect(app.state.store.db.config()).await.unwrap();
    away.batch_execute("BEGIN; LOCK TABLE mesin IN ACCESS EXCLUSIVE MODE").await.unwrap();
    for seq in 1..=20 {
        broker.bring(&given.topic("hb"), &json!({"boot_id": 1, "conn": 1, "seq": seq, "up_ms": 1_000})).await;
    }
    app.lock_waiter().await;
    away.batch_execute("COMMIT").await.unwrap();
    let state = |seq: u32| json!({"online": true, "boot_id": 1, "conn": 1, "seq": seq, "up_ms": 2_000, "epoch": 0, "run": null, "last": null});
    // What was read is taken in a moment later.
    let known = async {
        let mut seq = 20;
        while app.metric("nyala_device_words_total{kind=\"state\"}").await == 0.0 {
            seq += 1;
            broker.bring(&given.topic("state"), &state(seq)).await;
        }
    };
    timeout(PATIENCE, known).await.expect("the machine is known");
}
