//! Purchases at a machine whose device is played by the test.

use std::time::Duration;

use actix_web::rt::time::sleep;
use futures_util::future::join;
use nyala_mqtt::{Granted, Qos};
use serde_json::{Value, json};

use super::{Device, Given, standing};
use crate::ops::operator::Scope;
use crate::support::helpers::{Customer, Setup, TestApp};
use crate::support::shop::{Order, PRICE, buy};

const REFUSED: &str = "mesin gagal dinyalakan, saldo dikembalikan";
const SILENT: &str = "mesin belum menjawab, saldo otomatis kembali bila mesin tidak menyala";

fn running() -> Setup {
    Setup::new().running_clock()
}

/// From the scan to the end of the run.
async fn washes(retains: bool) {
    let app = standing().start().await;
    let (shop, given, siti, epay) = app.device_shop(600).await;
    assert_eq!(app.scanned(given.idmesin.get(), &siti).await, "offline");
    let mut device = Device::subscribe(&app.clock, &given, "esp").await;
    device.retains = retains;
    device.learn_the_time().await;
    app.until_stored(given.idmesin.get(), "online", true).await;
    assert_eq!(app.scanned(given.idmesin.get(), &siti).await, "idle");
    let order = buy(1, shop, epay);
    let starts = async {
        let start = device.order().await;
        assert_eq!((&start["op"], &start["durasi_s"], &start["epoch"]), (&json!("start"), &json!(600), &json!(1)));
        let exp = start["exp"].as_i64().unwrap();
        assert!((0..=10).contains(&(exp - app.now().ms() / 1000)), "{start}");
        assert_eq!((start["now_ms"].as_i64(), start["echo"].as_i64()), (Some(app.now().ms()), Some(60_001)));
        device.starts(&start).await;
    };
    let (paid, ()) = join(app.buy(&siti, &order), starts).await;
    paid.expect(200, "Mesin Berhasil dinyalakan");
    assert_eq!((app.states(&order.receipt).await, app.balance(epay).await), (vec!["RUNNING".to_owned()], 0));
    assert_eq!(app.scanned(given.idmesin.get(), &siti).await, "busy");
    device.waits(600).await;
    device.ends("done").await;
    app.until(&order.receipt, "FINISHED").await;
    assert_eq!(app.scanned(given.idmesin.get(), &siti).await, "idle");
    app.assert_no_violation().await;
    // A client that subscribes later receives no earlier state.
    let mut later = Device::log_in(&app.clock, &given, "later").await;
    assert_eq!(later.connection.subscribe(&[&given.topic("state")]).await, [Granted::Yes(Qos::AtMostOnce)]);
    later.connection.ping().await;
    assert!(later.connection.events.is_empty(), "{:?}", later.connection.events);
}

#[actix_web::test]
async fn a_wash_goes_from_the_scan_to_its_end() {
    washes(false).await;
}

#[actix_web::test]
async fn a_wash_of_a_device_that_publishes_retained_and_at_qos_1_is_no_other() {
    washes(true).await;
}

#[actix_web::test]
async fn a_device_that_refuses_costs_nothing() {
    let app = standing().start().await;
    let (shop, given, siti, epay) = app.device_shop(600).await;
    let mut device = Device::online(&app, &given).await;
    for (n, result) in [(1, "refused"), (2, "expired")] {
        let order = buy(n, shop, epay);
        let refuses = async {
            let start = device.order().await;
            device.ack(&start, result).await;
        };
        let (paid, ()) = join(app.buy(&siti, &order), refuses).await;
        paid.expect(409, REFUSED);
        assert_eq!(app.balance(epay).await, PRICE, "{result}");
    }
    assert_eq!(app.scanned(given.idmesin.get(), &siti).await, "idle");
    app.assert_no_violation().await;
}

/// Buys on a running clock from a device that is silent for as long as a customer waits. Returns the start that the device received.
async fn unsure(app: &TestApp, given: &Given, siti: &Customer, order: &Order) -> (Device, Value) {
    let mut device = Device::online(app, given).await;
    let hears = async { device.order().await };
    let (paid, start) = join(app.buy(siti, order), hears).await;
    paid.expect(504, SILENT);
    assert_eq!(start["op"], "start");
    (device, start)
}

#[actix_web::test]
async fn an_ack_that_comes_late_counts() {
    let app = running().start().await;
    let (shop, given, siti, epay) = app.device_shop(600).await;
    let order = buy(1, shop, epay);
    let (mut device, start) = unsure(&app, &given, &siti, &order).await;
    assert_eq!(app.states(&order.receipt).await, ["SENT"]);
    device.starts(&start).await;
    app.until(&order.receipt, "RUNNING").await;
    app.buy(&siti, &order).await.expect(200, "Mesin Berhasil dinyalakan");
    assert_eq!(app.balance(epay).await, 0);
    app.assert_no_violation().await;
}

/// The ack of a purchase never came; a state on a new connection decides it with this end.
async fn decides(of: &str, end: &str) {
    let app = running().start().await;
    let (shop, given, siti, epay) = app.device_shop(600).await;
    let order = buy(1, shop, epay);
    let (device, start) = unsure(&app, &given, &siti, &order).await;
    app.until(&order.receipt, "UNSURE").await;
    // The device's clock may be two seconds late: until then it could still accept the start.
    while app.now().ms() < start["exp"].as_i64().unwrap() * 1000 + 4_000 {
        sleep(Duration::from_millis(50)).await;
    }
    let mut device = device.again(&app.clock).await;
    match of {
        "run" => device.run = json!({"cmd_id": start["cmd_id"], "sisa_s": 580}),
        "last" => device.last = json!({"cmd_id": start["cmd_id"], "result": "refused"}),
        _ => device.epoch = 0,
    }
    device.state().await;
    app.until(&order.receipt, end).await;
    assert_eq!(app.balance(epay).await, if end == "RUNNING" { 0 } else { PRICE });
    assert_eq!(app.metric(&format!("nyala_device_told_total{{reason=\"{of}\"}}")).await, 1.0);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn what_a_state_runs_decides() {
    decides("run", "RUNNING").await;
}

#[actix_web::test]
async fn what_a_state_says_of_the_last_command_decides() {
    decides("last", "REFUSED").await;
}

#[actix_web::test]
async fn the_epoch_of_a_state_decides() {
    decides("epoch", "EXPIRED").await;
}

#[actix_web::test]
async fn a_device_that_reconnects_receives_the_start_at_once() {
    let app = running().start().await;
    let (shop, given, siti, epay) = app.device_shop(600).await;
    let mut device = Device::online(&app, &given).await;
    let order = buy(1, shop, epay);
    let cut = async {
        let start = device.order().await;
        // The connection breaks before the device has done anything.
        device = device.again(&app.clock).await;
        device.state().await;
        let command = device.order().await;
        assert_eq!(command["cmd_id"], start["cmd_id"]);
        device.starts(&command).await;
    };
    let (paid, ()) = join(app.buy(&siti, &order), cut).await;
    paid.expect(200, "Mesin Berhasil dinyalakan");
    assert_eq!(app.states(&order.receipt).await, ["RUNNING"]);
}

#[actix_web::test]
async fn an_operators_stop_is_done_or_shown_by_a_state() {
    let app = standing().start().await;
    let (shop, given, siti, epay) = app.device_shop(600).await;
    let mut device = Device::online(&app, &given).await;
    let order = buy(1, shop, epay);
    app.buy_at(&siti, &order, &mut device).await.ok();
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    let (call, why) = (format!("mesin/{}/stop", given.idmesin), json!({"alasan": "uji"}));
    let stops = async {
        let stop = device.order().await;
        assert_eq!(stop["op"], "stop");
        // The ack is lost; a state without a run reports the same.
        device.ends("done").await;
    };
    join(app.ops(&key, &call, &why), stops).await.0.ok();
    assert_eq!(app.states(&order.receipt).await, ["STOPPED"]);
    assert_eq!(app.audited().await.iter().filter(|(action, ..)| action == "mesin.berhenti_lebih_awal").count(), 0);
    app.assert_no_violation().await;
}
