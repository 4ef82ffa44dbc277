//! Several connections of one device: which one counts, and how many are allowed.

use futures_util::future::join_all;
use nyala_core::machine::Input;
use nyala_mqtt::client::ClientEvent;
use nyala_mqtt::{Granted, Qos};
use serde_json::json;

use super::{Device, NIL, standing};
use crate::support::helpers::{Setup, TestApp};
use crate::support::shop::buy;

async fn replaced(app: &TestApp) -> f64 {
    app.metric("nyala_device_closed_total{reason=\"replaced\"}").await
}

#[actix_web::test]
async fn a_client_id_that_comes_again_takes_over() {
    let app = standing().start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let mut before = Device::online(&app, &given).await;
    let mut after = Device::subscribe(&app.clock, &given, "esp").await;
    before.connection.closed().await;
    assert_eq!(replaced(&app).await, 1.0);
    after.boot = 2;
    after.state().await;
    assert_eq!(after.command().await["cmd_id"], NIL, "its first state is answered");
    assert!(app.stored(given.idmesin.get(), "online").await);
    // A device of another machine with the same client id replaces nothing.
    let other = app.given(app.outlet("Mawar").await, "Cuci 1").await;
    let mut third = Device::subscribe(&app.clock, &other, "esp").await;
    after.connection.ping().await;
    third.connection.ping().await;
}

#[actix_web::test]
async fn an_empty_client_id_takes_nothing_over_and_a_fifth_connection_does() {
    let app = standing().start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let mut hears = Device::subscribe(&app.clock, &given, "").await;
    let mut others = Vec::new();
    for _ in 0..3 {
        others.push(Device::log_in(&app.clock, &given, "").await);
    }
    for device in &mut others {
        device.connection.ping().await;
    }
    // The oldest connection without a subscription to commands is closed.
    let mut fifth = Device::log_in(&app.clock, &given, "").await;
    others.remove(0).connection.closed().await;
    for device in others.iter_mut().chain([&mut hears, &mut fifth]) {
        device.connection.ping().await;
    }
    assert_eq!((replaced(&app).await, app.metric("nyala_device_connections").await), (1.0, 4.0));
}

#[actix_web::test]
async fn many_connections_at_the_same_moment_are_four() {
    let app = standing().start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let other = app.given(app.outlet("Mawar").await, "Cuci 1").await;
    // One statement checks them all, so they arrive together.
    let devices = join_all((0..20).map(|_| Device::log_in(&app.clock, &given, ""))).await;
    let same = join_all((0..5).map(|_| Device::log_in(&app.clock, &other, "esp"))).await;
    app.until_counted("nyala_device_connections", 5.0).await;
    assert_eq!(replaced(&app).await, 20.0);
    drop((devices, same));
    app.until_counted("nyala_device_connections", 0.0).await;
}

#[actix_web::test]
async fn two_connections_play_one_device_as_two_terminals_do() {
    let app = standing().start().await;
    let (shop, given, siti, epay) = app.device_shop(600).await;
    let mut ears = Device::subscribe(&app.clock, &given, "mosq-1").await;
    let mouth = async |last: &str, message: &serde_json::Value| {
        let mut mouth = Device::log_in(&app.clock, &given, "").await;
        mouth.send(last, message).await;
        mouth.connection.ping().await;
    };
    mouth("hb", &json!({})).await;
    app.until_stored(given.idmesin.get(), "online", true).await;
    let order = buy(1, shop, epay);
    let play = async {
        loop {
            let cmd = ears.command().await;
            if cmd["op"] == "start" {
                return mouth("ack", &json!({"cmd_id": cmd["cmd_id"], "result": "started"})).await;
            }
            mouth("hb", &json!({})).await;
        }
    };
    let paid = async {
        // The receiving connection has been subscribed for two seconds: it gets the start even without a state report.
        app.advance_s(2);
        app.buy(&siti, &order).await
    };
    futures_util::future::join(paid, play).await.0.expect(200, "Mesin Berhasil dinyalakan");
    assert_eq!(app.states(&order.receipt).await, ["RUNNING"]);
    // The sending connection is gone, the receiving one is not.
    assert_eq!(app.scanned(given.idmesin.get(), &siti).await, "busy");
    drop(ears);
    app.until_counted("nyala_devices_online", 0.0).await;
}

#[actix_web::test]
async fn messages_of_an_older_connection_are_not_accepted() {
    let app = standing().start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let mut old = Device::subscribe(&app.clock, &given, "a").await;
    let mut new = Device::subscribe(&app.clock, &given, "b").await;
    old.state().await;
    old.connection.ping().await;
    assert_eq!(app.metric("nyala_device_words_dropped_total{reason=\"stale\"}").await, 1.0);
    new.state().await;
    assert_eq!(new.command().await["op"], "query");
    // When the newer connection is gone, the older one counts again.
    drop(new.connection);
    app.until_counted("nyala_device_connections", 1.0).await;
    old.seq = 0;
    old.state().await;
    assert_eq!(old.command().await["op"], "query");
}

#[actix_web::test]
async fn a_device_that_unsubscribes_from_commands_is_offline() {
    let app = standing().start().await;
    let (_, given, siti, _) = app.device_shop(600).await;
    let mut device = Device::online(&app, &given).await;
    device.connection.send(&unsubscribe(&given.topic("cmd"))).await;
    app.until_counted("nyala_devices_online", 0.0).await;
    assert_eq!(app.scanned(given.idmesin.get(), &siti).await, "offline");
    device.connection.forget_unsuback().await;
    assert_eq!(device.connection.subscribe(&[&given.topic("cmd")]).await, [Granted::Yes(Qos::AtMostOnce)]);
    device.state().await;
    device.command().await;
    assert_eq!(app.scanned(given.idmesin.get(), &siti).await, "idle");
}

fn unsubscribe(topic: &str) -> Vec<u8> {
    let length = |n: usize| u8::try_from(n).unwrap();
    [&[0xa2, length(topic.len() + 4), 0, 9, 0, length(topic.len())], topic.as_bytes()].concat()
}

/// Devices of all outlets, independent of the thread that accepted them.
#[actix_web::test]
async fn a_connection_goes_to_the_thread_of_its_outlet() {
    let app = Setup::new().with(|c| c.http.workers = 3).start().await;
    let mut devices = Vec::new();
    for n in 0..6 {
        let outlet = app.outlet(&format!("Outlet {n}")).await;
        for _ in 0..3 {
            let given = app.given(outlet, "Cuci").await;
            devices.push(Device::online(&app, &given).await);
        }
    }
    assert_eq!(app.metric("nyala_devices_online").await, 18.0);
    for device in &mut devices {
        device.connection.publish(&device.given.topic("hb"), b"{}", Qos::AtLeastOnce).await;
        assert!(matches!(device.connection.next().await, Some(ClientEvent::Acknowledged(_))));
        // The device receives its machine's query.
        app.state.machines.send(&device.given.at(), Input::QueryDevice).unwrap();
        assert_eq!(device.command().await["op"], "query");
    }
}
