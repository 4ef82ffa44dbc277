//! Presence of devices: visible at once to a customer who scans, and recorded soon after.

use serde_json::json;

use super::{Device, knock, standing};
use crate::support::helpers::TestApp;

impl TestApp {
    /// Waits until all pending presence is recorded: a later change of another device is recorded after it.
    async fn recorded(&self) {
        let other = self.given(self.outlet("Mawar").await, "Cuci 9").await;
        drop(Device::online(self, &other).await);
    }
}

#[actix_web::test]
async fn a_closed_line_is_offline_at_once_and_on_record_after_five_seconds() {
    let app = standing().start().await;
    let (_, given, siti, _) = app.device_shop(600).await;
    let device = Device::online(&app, &given).await;
    app.advance_s(60);
    drop(device);
    app.until_counted("nyala_devices_online", 0.0).await;
    assert_eq!(app.scanned(given.idmesin.get(), &siti).await, "offline");
    app.advance_s(4);
    app.recorded().await;
    assert!(app.stored(given.idmesin.get(), "online").await, "it may be back");
    app.advance_s(1);
    app.until_stored(given.idmesin.get(), "online", false).await;
}

#[actix_web::test]
async fn a_link_back_within_five_seconds_writes_nothing() {
    let app = standing().start().await;
    let (_, given, siti, _) = app.device_shop(600).await;
    let mut device = Device::online(&app, &given).await;
    app.advance_s(60);
    let xmin = "SELECT xmin::TEXT::BIGINT FROM mesin WHERE idmesin = $1";
    let before = app.insert(xmin, &[&given.idmesin]).await;
    for _ in 0..3 {
        app.advance_s(3);
        device.connection = Device::log_in(&app.clock, &given, "esp").await.connection;
        app.until_counted("nyala_devices_online", 0.0).await;
        app.advance_s(4);
        app.recorded().await;
        app.until_counted("nyala_devices_online", 0.0).await;
        device = device.again(&app.clock).await;
        app.until_counted("nyala_devices_online", 1.0).await;
        device.state().await;
        device.command().await;
    }
    app.recorded().await;
    assert_eq!(app.insert(xmin, &[&given.idmesin]).await, before, "its row is as it was");
    assert_eq!(app.scanned(given.idmesin.get(), &siti).await, "idle");
}

#[actix_web::test]
async fn one_that_is_back_while_its_absence_is_written_is_there_on_record() {
    let app = standing().start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let mut device = Device::online(&app, &given).await;
    // Reads pass, and the statement that records presence does not.
    let (blocker, _) = nyala_store::db::lock::connect(app.state.store.db.config()).await.unwrap();
    blocker.batch_execute("BEGIN; LOCK TABLE mesin IN SHARE MODE").await.unwrap();
    device.connection = Device::log_in(&app.clock, &given, "esp").await.connection;
    app.until_counted("nyala_devices_online", 0.0).await;
    app.advance_s(6);
    app.lock_waiter().await;
    device = device.again(&app.clock).await;
    app.until_counted("nyala_devices_online", 1.0).await;
    blocker.batch_execute("COMMIT").await.unwrap();
    app.until_stored(given.idmesin.get(), "online", false).await;
    app.until_stored(given.idmesin.get(), "online", true).await;
    device.connection.ping().await;
}

#[actix_web::test]
async fn forty_five_seconds_of_silence_are_the_end() {
    let app = standing().start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let mut device = Device::online(&app, &given).await;
    app.advance_s(44);
    device.connection.ping().await;
    app.advance_s(44);
    assert!(device.connection.stays().await, "any packet is a sign of life");
    app.advance_s(1);
    device.connection.closed().await;
    app.until_counted("nyala_devices_online", 0.0).await;
    assert_eq!(app.metric("nyala_device_closed_total{reason=\"silent\"}").await, 1.0);
    app.advance_s(5);
    app.until_stored(given.idmesin.get(), "online", false).await;
}

#[actix_web::test]
async fn a_foreign_will_changes_nothing_and_a_farewell_does() {
    let app = standing().start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let mut device = Device::online(&app, &given).await;
    device.send("state", &json!({"online": false, "boot_id": 9, "conn": 1})).await;
    device.connection.ping().await;
    assert_eq!(app.metric("nyala_device_words_dropped_total{reason=\"will\"}").await, 1.0);
    device.send("state", &json!({"online": false, "boot_id": 1, "conn": 1})).await;
    app.until_counted("nyala_devices_online", 0.0).await;
    // The connection is still open, so a packet on it shows that the device is present.
    device.connection.ping().await;
    app.until_counted("nyala_devices_online", 1.0).await;
}

#[actix_web::test]
async fn what_is_stored_counts_for_fifteen_seconds_after_a_start() {
    let app = standing().start().await;
    let (_, given, siti, _) = app.device_shop(600).await;
    app.db.execute("UPDATE mesin SET online = TRUE WHERE idmesin = $1", &[&given.idmesin]).await.unwrap();
    let here = app.given(app.outlet("Mawar").await, "Cuci 1").await;
    let device = Device::online(&app, &here).await;
    assert_eq!(app.scanned(given.idmesin.get(), &siti).await, "idle", "it is on its way back");
    app.advance_s(14);
    assert_eq!(app.scanned(given.idmesin.get(), &siti).await, "idle");
    app.advance_s(1);
    assert_eq!(app.scanned(given.idmesin.get(), &siti).await, "offline");
    app.until_stored(given.idmesin.get(), "online", false).await;
    assert!(app.stored(here.idmesin.get(), "online").await, "who is back stays");
    drop(device);
}

#[actix_web::test]
async fn a_locked_row_delays_no_other() {
    let app = standing().start().await;
    let outlet = app.outlet("Melati").await;
    let (held, other) = (app.given(outlet, "Cuci 1").await, app.given(outlet, "Cuci 2").await);
    // Both keys were used before, so that a login needs no row.
    assert_eq!((knock(&held).await, knock(&other).await), (None, None));
    let blocker = app.locked("mesin", held.idmesin).await;
    let first = Device::subscribe(&app.clock, &held, "esp").await;
    let second = Device::subscribe(&app.clock, &other, "esp").await;
    app.until_stored(other.idmesin.get(), "online", true).await;
    assert!(!app.stored(held.idmesin.get(), "online").await);
    blocker.batch_execute("COMMIT").await.unwrap();
    app.until_stored(held.idmesin.get(), "online", true).await;
    drop((first, second));
}
