//! More connections than the server has slots for: each one is cheap, and devices still get in.

use futures_util::future::join_all;
use nyala_core::domain::address::Block;
use nyala_mqtt::client::ClientEvent;
use nyala_mqtt::{Qos, Refusal};
use serde_json::json;

use super::{Device, Given, MqttConnection, Proxied, knock, proxy_header, standing};

/// All share one address, as the machines of an outlet do.
#[actix_web::test]
async fn a_full_pool_of_one_address_lets_a_device_in_once_the_oldest_is_stale() {
    let app = standing().with(|c| c.mqtt.max_connections = 300).start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let idle = join_all((0..300).map(|_| MqttConnection::connect(given.port))).await;
    app.until_counted("nyala_device_connections", 300.0).await;
    MqttConnection::connect(given.port).await.closed().await;
    app.advance_s(1);
    assert_eq!(knock(&given).await, None);
    assert_eq!(app.metric("nyala_device_logins_refused_total{reason=\"crowded\"}").await, 2.0);
    drop(idle);
    app.until_counted("nyala_device_connections", 0.0).await;
}

/// After an outage a client opens connections and sends nothing, while the devices of other addresses reconnect.
#[actix_web::test]
async fn a_flood_from_one_address_keeps_no_device_of_another_one_out() {
    let app = standing().with(|c| c.mqtt.max_connections = 300).start().await;
    let outlet = app.outlet("Melati").await;
    let (given, other) = (app.given(outlet, "Cuci 1").await, app.given(outlet, "Cuci 2").await);
    let mut waits = MqttConnection::connect_from([127, 0, 0, 2], given.port).await;
    let _flood = join_all((0..299).map(|_| MqttConnection::connect(given.port))).await;
    app.until_counted("nyala_device_connections", 300.0).await;
    // The server's clock is stopped: no login times out.
    let mut comes = MqttConnection::connect_from([127, 0, 0, 3], other.port).await;
    assert_eq!(comes.log_in_behind(vec![], &other).await, Some(ClientEvent::Accepted), "the newest of the flood makes room");
    for _ in 0..50 {
        let _ = MqttConnection::connect(given.port).await;
    }
    assert_eq!(
        waits.log_in_behind(vec![], &given).await,
        Some(ClientEvent::Accepted),
        "it keeps its place however many come later"
    );
}

/// Behind a TCP balancer every device has the balancer's address; the PROXY header names the device's own.
#[actix_web::test]
async fn devices_behind_a_balancer_count_by_the_address_in_the_proxy_header() {
    let proxies = vec![Block::parse("127.0.0.1").unwrap()];
    let app = standing().with(|c| c.mqtt.max_connections = 300).with(|c| c.mqtt.trusted_proxies = proxies.clone()).start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let mut flood = join_all((0..300).map(|_| MqttConnection::connect(given.port))).await;
    for (n, connection) in flood.iter_mut().enumerate() {
        let attacker = if n % 2 == 0 { Proxied::V4([203, 0, 113, 9]) } else { Proxied::V6(0x2001_0db8_0001_0002 + n as u64) };
        connection.send(&proxy_header(attacker)).await;
    }
    app.until_counted("nyala_device_connections", 300.0).await;
    let mut comes = MqttConnection::connect(given.port).await;
    let header = proxy_header(Proxied::V4([198, 51, 100, 7]));
    assert_eq!(comes.log_in_behind(header, &given).await, Some(ClientEvent::Accepted));
    // A health check of the balancer itself names no device.
    let mut check = MqttConnection::connect(given.port).await;
    assert_eq!(check.log_in_behind(proxy_header(Proxied::Local), &given).await, Some(ClientEvent::Accepted));
}

#[actix_web::test]
async fn wrong_secrets_behind_a_balancer_hold_back_the_address_that_sent_them_alone() {
    let proxies = vec![Block::parse("127.0.0.1").unwrap()];
    let app = standing().with(|c| c.mqtt.trusted_proxies = proxies.clone()).start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let wrong = Given { secret: "0".repeat(32), ..given.clone() };
    let answer = async |given: &Given, from: u8| {
        let header = proxy_header(Proxied::V4([198, 51, 100, from]));
        MqttConnection::connect(given.port).await.log_in_behind(header, given).await
    };
    for _ in 0..10 {
        assert_eq!(answer(&wrong, 1).await, Some(ClientEvent::Refused(Refusal::Login)));
    }
    assert_eq!(answer(&given, 1).await, Some(ClientEvent::Refused(Refusal::NotAuthorized)), "that address is held back");
    assert_eq!(answer(&given, 2).await, Some(ClientEvent::Accepted));
}

#[actix_web::test]
async fn a_proxy_header_is_for_trusted_proxies_and_they_send_one() {
    let given_to = async |trusted: &str| {
        let proxies = vec![Block::parse(trusted).unwrap()];
        let app = standing().with(|c| c.mqtt.trusted_proxies = proxies.clone()).start().await;
        let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
        (app, given)
    };
    let (app, given) = given_to("192.0.2.1").await;
    let mut stranger = MqttConnection::connect(given.port).await;
    stranger.send(&[proxy_header(Proxied::V4([198, 51, 100, 7])), given.connect("", None)].concat()).await;
    stranger.closed().await;
    assert_eq!(knock(&given).await, None);
    app.until_counted("nyala_device_logins_refused_total{reason=\"protocol\"}", 1.0).await;
    let (app, given) = given_to("127.0.0.0/8").await;
    let endless = [proxy_header(Proxied::Local)[..14].to_vec(), vec![0xff; 5_000]].concat();
    for bytes in [given.connect("", None), b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n".to_vec(), endless] {
        let mut without = MqttConnection::connect(given.port).await;
        without.send(&bytes).await;
        without.closed().await;
    }
    app.until_counted("nyala_device_logins_refused_total{reason=\"protocol\"}", 3.0).await;
}

#[actix_web::test]
async fn more_connections_than_there_may_be_are_closed() {
    let app = standing().with(|c| c.mqtt.max_connections = 5).start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let mut first = Device::online(&app, &given).await;
    let mut idle = join_all((0..4).map(|_| MqttConnection::connect(given.port))).await;
    app.until_counted("nyala_device_connections", 5.0).await;
    MqttConnection::connect(given.port).await.closed().await;
    first.connection.ping().await;
    drop(idle.pop());
    app.until_counted("nyala_device_connections", 4.0).await;
    assert_eq!(knock(&given).await, None);
}

#[actix_web::test]
async fn a_device_that_does_not_read_is_closed_and_no_other_notices() {
    let app = standing().device_send_buffer(2_048).start().await;
    let outlet = app.outlet("Melati").await;
    let (given, other) = (app.given(outlet, "Cuci 1").await, app.given(outlet, "Cuci 2").await);
    let mut beside = Device::online(&app, &other).await;
    let mut deaf = Device::log_in_over(&app.clock, &given, "a", MqttConnection::connect_small(given.port).await).await;
    assert_eq!(deaf.connection.subscribe(&[&given.topic("state")]).await.len(), 1);
    // The device receives each of its states again, 400 bytes, and reads none of them from the kernel.
    let mut reported = 0;
    while app.metric("nyala_device_closed_total{reason=\"slow\"}").await == 0.0 {
        for _ in 0..20 {
            deaf.send("state", &json!({"online": true, "fw": "x".repeat(350)})).await;
            reported += 1;
        }
        beside.connection.publish(&other.topic("hb"), b"{}", Qos::AtLeastOnce).await;
        assert!(matches!(beside.connection.next().await, Some(ClientEvent::Acknowledged(_))));
        assert!(reported < 2_000, "it is closed long before");
    }
    app.until_counted("nyala_device_connections", 1.0).await;
}

/// The database is slow, and a login whose client has left causes no work there.
#[actix_web::test]
async fn a_login_whose_client_left_is_not_checked() {
    let app = standing().with(|c| c.database.lock_ms = 20_000).start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let (terminator, _) = nyala_store::db::lock::connect(app.state.store.db.config()).await.unwrap();
    terminator.batch_execute("BEGIN; LOCK TABLE device_key IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let mut first = MqttConnection::connect(given.port).await;
    first.send(&given.connect("first", None)).await;
    app.lock_waiter().await;
    let wrong = Given { secret: "0".repeat(32), ..given.clone() };
    for _ in 0..10 {
        let mut connections = join_all((0..50).map(|_| MqttConnection::connect(given.port))).await;
        for connection in &mut connections {
            connection.send(&wrong.connect("", None)).await;
        }
        app.until_counted("nyala_device_connections", 51.0).await;
        drop(connections);
        app.until_counted("nyala_device_connections", 1.0).await;
    }
    terminator.batch_execute("COMMIT").await.unwrap();
    assert_eq!(knock(&given).await, None);
    assert_eq!(app.metric("nyala_device_logins_refused_total{reason=\"wrong\"}").await, 0.0);
}
