//! More than the server has room for: each costs little, and devices come through.

use std::time::Duration;

use actix_web::rt::time::timeout;
use futures_util::future::join_all;
use nyala_mqtt::Qos;
use nyala_mqtt::client::Event;
use serde_json::json;

use super::{Device, Given, Line, knock, standing};
use crate::races::PATIENCE;

#[actix_web::test]
async fn three_hundred_that_say_nothing_keep_no_device_out() {
    let app = standing().start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let idle = join_all((0..300).map(|_| Line::connect(given.port))).await;
    app.until_counted("nyala_device_connections", 300.0).await;
    let comes = knock(&given);
    futures_util::pin_mut!(comes);
    assert!(timeout(Duration::from_millis(200), &mut comes).await.is_err(), "those before it have a second");
    // Whose second is over makes room, the oldest first, until it is the device's turn.
    app.advance_s(1);
    assert_eq!(timeout(PATIENCE, comes).await.unwrap(), None);
    let crowded = app.metric("nyala_device_logins_refused_total{reason=\"crowded\"}").await;
    assert_eq!(crowded, 45.0);
    drop(idle);
    app.until_counted("nyala_device_connections", 0.0).await;
}

#[actix_web::test]
async fn more_connections_than_there_may_be_are_closed() {
    let app = standing().with(|c| c.mqtt.max_connections = 5).start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let mut first = Device::online(&app, &given).await;
    let mut idle = join_all((0..4).map(|_| Line::connect(given.port))).await;
    app.until_counted("nyala_device_connections", 5.0).await;
    Line::connect(given.port).await.closed().await;
    first.line.ping().await;
    drop(idle.pop());
    app.until_counted("nyala_device_connections", 4.0).await;
    assert_eq!(knock(&given).await, None);
}

/// Those that wait for their turn to log in cost a descriptor, too.
#[actix_web::test]
async fn who_waits_outside_is_one_of_them() {
    let app = standing().with(|c| c.mqtt.max_connections = 260).start().await;
    let port = app.device_port.unwrap();
    let _idle = join_all((0..260).map(|_| Line::connect(port))).await;
    app.until_counted("nyala_device_connections", 260.0).await;
    Line::connect(port).await.closed().await;
    assert_eq!(app.metric("nyala_device_logins_refused_total{reason=\"crowded\"}").await, 1.0);
}

#[actix_web::test]
async fn who_does_not_read_is_closed_and_nobody_else_notices() {
    let app = standing().device_send_buffer(2_048).start().await;
    let outlet = app.outlet("Melati").await;
    let (given, other) = (app.given(outlet, "Cuci 1").await, app.given(outlet, "Cuci 2").await);
    let mut beside = Device::online(&app, &other).await;
    let mut deaf = Device::log_in_over(&app.clock, &given, "a", Line::connect_small(given.port).await).await;
    assert_eq!(deaf.line.subscribe(&[&given.topic("state")]).await.len(), 1);
    // It hears each of its states again, 400 bytes, and takes none of them from the kernel.
    let mut said = 0;
    while app.metric("nyala_device_closed_total{reason=\"slow\"}").await == 0.0 {
        for _ in 0..20 {
            deaf.say("state", &json!({"online": true, "fw": "x".repeat(350)})).await;
            said += 1;
        }
        beside.line.publish(&other.topic("hb"), b"{}", Qos::AtLeastOnce).await;
        assert!(matches!(beside.line.next().await, Some(Event::Acknowledged(_))));
        assert!(said < 2_000, "it is closed long before");
    }
    app.until_counted("nyala_device_connections", 1.0).await;
}

/// The database takes its time, and those who do not wait for it leave nothing for it to do.
#[actix_web::test]
async fn who_goes_before_the_answer_is_not_asked_for() {
    let app = standing().with(|c| c.database.lock_ms = 20_000).start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let (away, _) = nyala::db::lock::connect(app.state.store.db.config()).await.unwrap();
    away.batch_execute("BEGIN; LOCK TABLE device_key IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let mut first = Line::connect(given.port).await;
    first.send(&given.connect("first", None)).await;
    app.lock_waiter().await;
    let wrong = Given { secret: "0".repeat(32), ..given.clone() };
    for _ in 0..10 {
        let mut lines = join_all((0..50).map(|_| Line::connect(given.port))).await;
        for line in &mut lines {
            line.send(&wrong.connect("", None)).await;
        }
        app.until_counted("nyala_device_connections", 51.0).await;
        drop(lines);
        app.until_counted("nyala_device_connections", 1.0).await;
    }
    away.batch_execute("COMMIT").await.unwrap();
    assert_eq!(knock(&given).await, None);
    assert_eq!(app.metric("nyala_device_logins_refused_total{reason=\"wrong\"}").await, 0.0);
}
