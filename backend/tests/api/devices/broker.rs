//! Devices behind a broker of Debian's, which lets in whom `nyala device export` names. Where its package is not installed the test says so
//! and tries nothing.

use std::io::Write as _;
use std::time::Duration;

use actix_web::rt::time::timeout;
use futures_util::future::join;
use nyala_loadtest::broker::{Broker, BrokerKind, free_port};
use nyala_mqtt::{Granted, Qos};
use serde_json::json;

use super::{Device, Given, NIL, knock_as};
use crate::cli::program_beside;
use crate::helpers::{Setup, TestApp};
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
