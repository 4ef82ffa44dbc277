//! Which logins are accepted, and what a connection may do: all others are refused or closed, and counted.

use nyala_core::domain::id::OutletId;
use std::time::Duration;

use nyala_mqtt::client::{ClientConnection, ClientEvent, Login};
use nyala_mqtt::{Granted, Limits, Qos, Refusal};

use super::{Device, Given, MqttConnection, knock, knock_as, standing};
use crate::support::helpers::{Setup, TestApp};

const CONNACK_VERSION: &[u8] = b"\x20\x02\x00\x01";
const CONNACK_V5: &[u8] = b"\x20\x03\x00\x84\x00";

/// All bytes that the server sends in answer, until it closes the connection.
async fn answer_to(given: &Given, bytes: &[u8]) -> Vec<u8> {
    let mut connection = MqttConnection::connect(given.port).await;
    connection.send(bytes).await;
    connection.rest().await
}

async fn refused(app: &TestApp, reason: &str) -> f64 {
    app.metric(&format!("nyala_device_logins_refused_total{{reason=\"{reason}\"}}")).await
}

async fn closed(app: &TestApp, reason: &str) -> f64 {
    app.metric(&format!("nyala_device_closed_total{{reason=\"{reason}\"}}")).await
}

#[actix_web::test]
async fn only_a_machines_own_secret_lets_in() {
    let app = standing().start().await;
    let outlet = app.outlet("Melati").await;
    let (one, two) = (app.given(outlet, "Cuci 1").await, app.given(outlet, "Cuci 2").await);
    let sim = app.machine(outlet, "Simulasi").await.idmesin;
    let id = one.idmesin.to_string();
    assert_eq!(knock(&one).await, None);
    for (user, secret) in [
        (&*id, "0".repeat(32)),
        (&id, two.secret.clone()),
        (&id, String::new()),
        (&id, one.secret.to_uppercase()),
        (&id, format!("{} ", one.secret)),
        (&sim.to_string(), one.secret.clone()),
        (&format!("0{id}"), one.secret.clone()),
        (&format!("+{id}"), one.secret.clone()),
        (&format!(" {id}"), one.secret.clone()),
        (&format!("{id}.0"), one.secret.clone()),
        (&format!("-{id}"), one.secret.clone()),
        ("99999999999999999999", one.secret.clone()),
        ("", one.secret.clone()),
        ("mesin", one.secret.clone()),
    ] {
        assert_eq!(knock_as(&one, user, &secret).await, Some(Refusal::Login), "{user:?} {secret:?}");
    }
    // A login without a user, and one without a secret.
    assert_eq!(answer_to(&one, b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x1e\x00\x01a").await, b"\x20\x02\x00\x04");
    assert_eq!(answer_to(&one, b"\x10\x10\x00\x04MQTT\x04\x82\x00\x1e\x00\x01a\x00\x011").await, b"\x20\x02\x00\x04");
    assert_eq!(refused(&app, "wrong").await, 16.0);
    assert_eq!(knock(&two).await, None);
}

#[actix_web::test]
async fn ten_wrong_secrets_hold_that_machine_and_no_other_for_a_minute() {
    let app = standing().start().await;
    let outlet = app.outlet("Melati").await;
    let (one, two) = (app.given(outlet, "Cuci 1").await, app.given(outlet, "Cuci 2").await);
    let wrong = async || knock_as(&one, &one.idmesin.to_string(), "wrong").await;
    for n in 0..10 {
        assert_eq!(wrong().await, Some(Refusal::Login), "{n}");
        app.advance_s(50);
    }
    assert_eq!(knock(&one).await, Some(Refusal::NotAuthorized), "nothing is looked at");
    assert_eq!(knock(&two).await, None);
    // From another address the secret is checked.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 2], 0).into()).unwrap();
    let mut elsewhere = MqttConnection::over(socket.connect(([127, 0, 0, 1], one.port).into()).await.unwrap());
    elsewhere.send(&one.connect("x", None)).await;
    assert_eq!(elsewhere.stream_bytes(4).await, b"\x20\x02\x00\x00");
    app.advance_s(10);
    assert_eq!(knock(&one).await, None, "a minute later");
    assert_eq!((refused(&app, "wrong").await, refused(&app, "limited").await), (10.0, 1.0));
}

#[actix_web::test]
async fn an_invalid_mqtt_3_1_1_login_is_refused_or_closed() {
    let app = standing().start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let good = given.connect("a", None);
    let mut lasting = good.clone();
    lasting[9] &= !0b10;
    let long = [b"\x10\xff\x07\x00\x04MQTT\x04\x02\x00\x1e".as_slice(), &vec![0; 1_100]].concat();
    for (bytes, answer) in [
        (&b"\x10\x0e\x00\x04MQTT\x05\x02\x00\x1e\x00\x00\x01a"[..], CONNACK_V5),
        (b"\x10\x0f\x00\x06MQIsdp\x03\x02\x00\x1e\x00\x01a", CONNACK_VERSION),
        (b"\x10\x0d\x00\x04MQTT\x03\x02\x00\x1e\x00\x01a", CONNACK_VERSION),
        (&lasting, b"\x20\x02\x00\x02"),
        (b"GET / HTTP/1.1\r\nHost: nyala\r\n\r\n", b""),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b""),
        (b"\xc0\x00", b""),
        (b"\x82\x08\x00\x01\x00\x03a/b\x00", b""),
        (b"\x10\xff\xff\xff\xff", b""),
        (b"\x10\xff\xff\xff\x7f", b""),
        (b"\x10\x81\x08", b""),
        (&long, b""),
        (b"\x00\x00", b""),
    ] {
        assert_eq!(answer_to(&given, bytes).await, answer, "{}", bytes.escape_ascii());
    }
    assert_eq!(refused(&app, "protocol").await, 13.0);
    assert_eq!(knock(&given).await, None);
}

#[actix_web::test]
async fn half_a_packet_and_silence_are_given_five_seconds() {
    let app = standing().start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let good = given.connect("a", None);
    let mut connections = Vec::new();
    for bytes in [&good[..0], &good[..1], &good[..20]] {
        let mut connection = MqttConnection::connect(given.port).await;
        connection.send(bytes).await;
        connections.push(connection);
    }
    app.until_counted("nyala_device_connections", 3.0).await;
    app.advance_s(4);
    assert!(connections[0].stays().await);
    // Another byte does not extend the time.
    connections[2].send(&good[20..21]).await;
    app.advance_s(1);
    for connection in &mut connections {
        connection.closed().await;
    }
    assert_eq!(refused(&app, "protocol").await, 3.0);
    app.until_counted("nyala_device_connections", 0.0).await;
}

#[actix_web::test]
async fn a_login_in_pieces_and_all_at_once_is_one() {
    let app = standing().start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let mut client = ClientConnection::new(Limits::default());
    let (mut all, user) = (Vec::new(), given.idmesin.to_string());
    let login = Login { client_id: "a", user: Some(&user), password: Some(given.secret.as_bytes()), keep_alive: 30, will: None };
    client.connect(&login, &mut all).unwrap();
    let mut connection = MqttConnection::connect(given.port).await;
    for byte in &all {
        connection.send(&[*byte]).await;
    }
    assert_eq!(connection.stream_bytes(4).await, b"\x20\x02\x00\x00");

    // CONNECT, SUBSCRIBE and a first state in one write: each is handled, in its order.
    let (cmd, state) = (given.topic("cmd"), given.topic("state"));
    client.feed(&mut &b"\x20\x02\x00\x00"[..], &mut Vec::new()).unwrap();
    client.subscribe(&[(&cmd, Qos::AtLeastOnce)], &mut all).unwrap();
    client.publish(&state, br#"{"online":true,"up_ms":77,"boot_id":"b"}"#, Qos::AtLeastOnce, true, &mut all).unwrap();
    let mut connection = MqttConnection::connect(given.port).await;
    connection.send(&all).await;
    assert_eq!(connection.stream_bytes(4).await, b"\x20\x02\x00\x00");
    assert_eq!(connection.stream_bytes(5).await, b"\x90\x03\x00\x01\x01");
    let acknowledged_and_asked = connection.stream_bytes(6 + cmd.len()).await;
    assert!(acknowledged_and_asked.starts_with(b"\x40\x02\x00\x02") || acknowledged_and_asked.starts_with(b"\x30"));
    app.until_stored(given.idmesin.get(), "online", true).await;
}

#[actix_web::test]
async fn more_than_a_kilobyte_before_the_login_is_answered_is_too_much() {
    let app = standing().start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let bytes = [given.connect("a", None), b"\xc0\x00".repeat(600)].concat();
    assert_eq!(answer_to(&given, &bytes).await, b"");
    assert_eq!(refused(&app, "protocol").await, 1.0);
}

#[actix_web::test]
async fn nobody_speaks_for_another_device() {
    let app = standing().start().await;
    let outlet = app.outlet("Melati").await;
    let (one, two) = (app.given(outlet, "Cuci 1").await, app.given(outlet, "Cuci 2").await);
    let far = Given { idoutlet: OutletId::new(one.idoutlet.get() + 1), ..one.clone() };
    let mut other = Device::online(&app, &two).await;
    let foreign = [
        two.topic("state"),
        two.topic("cmd"),
        far.topic("state"),
        one.topic("cmd"),
        one.topic(""),
        one.topic("ack/x"),
        "$SYS/x".into(),
    ];
    for topic in &foreign {
        let mut device = Device::log_in(&app.clock, &one, "a").await;
        device.connection.publish(topic, br#"{"online":true}"#, Qos::AtLeastOnce).await;
        device.connection.closed().await;
    }
    assert_eq!(closed(&app, "protocol").await, 7.0);
    let dropped = "nyala_device_words_dropped_total{reason=\"foreign\"}";
    assert_eq!(app.metric(dropped).await, 7.0);

    let mut device = Device::log_in(&app.clock, &one, "a").await;
    let (cmd, wild, all) = (one.topic("cmd"), one.topic("+"), one.topic("#"));
    let asked =
        [&*cmd, &wild, &all, "#", "nyala/v1/#", "+/+/+/+/cmd", "$SYS/#", &two.topic("cmd"), &one.topic("hb"), &one.topic("ack")];
    let mut granted = vec![Granted::Yes(Qos::AtMostOnce)];
    granted.resize(asked.len(), Granted::No);
    assert_eq!(device.connection.subscribe(&asked).await, granted, "what is its own is its own beside what is not");
    assert_eq!(device.connection.subscribe(&[&one.topic("state")]).await, [Granted::Yes(Qos::AtMostOnce)]);
    // A device may receive its own state.
    device.state().await;
    let received = device.connection.next().await;
    assert!(
        matches!(&received, Some(ClientEvent::Publish(publish)) if publish.topic() == one.topic("state") || publish.topic() == cmd),
        "{received:?}"
    );

    for topic in [two.topic("state"), one.topic("hb"), one.topic("cmd"), "x".to_owned()] {
        assert_eq!(answer_to(&one, &one.connect("b", Some(&topic))).await, b"\x20\x02\x00\x05", "{topic}");
    }
    assert_eq!(refused(&app, "foreign").await, 4.0);
    other.heartbeat().await;
    other.connection.ping().await;
}

#[actix_web::test]
async fn a_device_that_breaks_the_protocol_is_closed() {
    let app = standing().start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let state = given.topic("state");
    let publish = |first: u8, id: &[u8], size: usize| {
        let body = [&[0, u8::try_from(state.len()).unwrap()], state.as_bytes(), id, &vec![b' '; size]].concat();
        let length = body.len();
        [&[first, u8::try_from(length % 128).unwrap() | 128, u8::try_from(length / 128).unwrap()], &*body].concat()
    };
    let mut n = 0.0;
    for bytes in [
        given.connect("a", None),
        publish(0x34, &[0, 1], 0),
        publish(0x36, &[0, 1], 0),
        publish(0x32, &[0, 0], 0),
        publish(0x30, &[], 512),
        b"\x62\x02\x00\x01".to_vec(),
        b"\x20\x02\x00\x00".to_vec(),
        b"\xf0\x00".to_vec(),
        b"\x30\xff\xff\xff\x7f".to_vec(),
        b"\x82\x02\x00\x01".to_vec(),
        b"\x80\x06\x00\x01\x00\x01a\x00".to_vec(),
        b"\x30\x03\x00\x01+".to_vec(),
    ] {
        let mut device = Device::log_in(&app.clock, &given, "a").await;
        device.connection.send(&bytes).await;
        device.connection.closed().await;
        n += 1.0;
        assert_eq!(closed(&app, "protocol").await, n, "{}", bytes.escape_ascii());
    }
    // An invalid message is no violation: a newer firmware may send more than this server knows.
    let mut device = Device::online(&app, &given).await;
    for text in ["", "{}", "[]", r#"{"online":"ya"}"#, "\u{7}", r#"{"online":true,"run":{"cmd_id":"x","sisa_s":-1}}"#] {
        device.connection.publish(&state, text.as_bytes(), Qos::AtLeastOnce).await;
        assert!(matches!(device.connection.next().await, Some(ClientEvent::Acknowledged(_))), "{text}");
    }
    assert_eq!(app.metric("nyala_device_words_dropped_total{reason=\"malformed\"}").await, 6.0);
}

#[actix_web::test]
async fn a_flood_is_closed() {
    let app = standing().start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let mut device = Device::online(&app, &given).await;
    // The packets of one second may be split by the server's check into two parts.
    device.connection.send(&b"\xc0\x00".repeat(1_000)).await;
    device.connection.closed().await;
    assert_eq!(closed(&app, "flood").await, 1.0);
    assert_eq!(knock(&given).await, None, "and it may come again");
}

#[actix_web::test]
async fn an_unavailable_database_is_no_wrong_secret() {
    let app = Setup::new().with(|c| c.database.lock_ms = 500).start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let mut device = Device::online(&app, &given).await;
    let (terminator, _) = nyala_store::db::lock::connect(app.state.store.db.config()).await.unwrap();
    terminator.batch_execute("BEGIN; LOCK TABLE device_key IN ACCESS EXCLUSIVE MODE").await.unwrap();
    assert_eq!(knock(&given).await, Some(Refusal::Unavailable));
    assert_eq!(refused(&app, "unavailable").await, 1.0);
    // A device that is connected already does not notice.
    device.heartbeat().await;
    device.connection.ping().await;
    terminator.batch_execute("COMMIT").await.unwrap();
    let back = async { while knock(&given).await.is_some() {} };
    actix_web::rt::time::timeout(Duration::from_secs(10), back).await.expect("it is let in again");
    assert_eq!(refused(&app, "wrong").await, 0.0);
}
