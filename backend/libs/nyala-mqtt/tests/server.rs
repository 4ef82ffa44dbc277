//! Server's side, with bytes written from the text of MQTT 3.1.1.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::time::Duration;

use nyala_mqtt::server::{Connect, ServerConnection, ServerEvent};
use nyala_mqtt::{Granted, Kind, Limits, Qos, Refusal, Unsent, Violation, Will};

/// §3.1: the client id `a`, keep-alive 20 s.
const CONNECT: &[u8] = b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x14\x00\x01a";
/// §3.1: user, password and a retained will of QoS 1; no keep-alive.
const CONNECT_WITH_ALL: &[u8] = b"\x10\x1e\x00\x04MQTT\x04\xee\x00\x00\x00\x01a\x00\x03w/t\x00\x02no\x00\x02me\x00\x02pw";
const ACCEPTED: &[u8] = &[0x20, 2, 0, 0];
/// §3.3: `hi` to `a/b`, QoS 0.
const PUBLISH_0: &[u8] = b"\x30\x07\x00\x03a/bhi";
/// §3.3: the same with QoS 1 and packet id 10.
const PUBLISH_1: &[u8] = b"\x32\x09\x00\x03a/b\x00\x0ahi";
/// §3.8: `a/b` with QoS 1, `c/d` with QoS 2, packet id 10.
const SUBSCRIBE: &[u8] = b"\x82\x0e\x00\x0a\x00\x03a/b\x01\x00\x03c/d\x02";
/// §3.10: `a/b`, packet id 11.
const UNSUBSCRIBE: &[u8] = b"\xa2\x07\x00\x0b\x00\x03a/b";
const PUBACK: &[u8] = &[0x40, 2, 0, 7];
const PINGREQ: &[u8] = &[0xc0, 0];
const DISCONNECT: &[u8] = &[0xe0, 0];

/// Result of feeding some bytes.
#[derive(Debug, Default, PartialEq)]
struct Received {
    events: Vec<ServerEvent>,
    violation: Option<Violation>,
    out: Vec<u8>,
}

/// Feeds the pieces one after the other to a new connection, accepts each login at once and grants all topics.
fn receive<'a>(limits: Limits, pieces: impl IntoIterator<Item = &'a [u8]>) -> Received {
    let mut connection = ServerConnection::new(limits);
    let mut received = Received::default();
    for mut bytes in pieces {
        loop {
            match connection.feed(&mut bytes, &mut received.out) {
                Ok(Some(event)) => {
                    match &event {
                        ServerEvent::Connect(_) => connection.accept(&mut received.out).unwrap(),
                        ServerEvent::Subscribe(subscribe) => {
                            let granted: Vec<_> = subscribe.topics().map(|(_, qos)| Granted::Yes(qos)).collect();
                            connection.grant(subscribe, &granted, &mut received.out).unwrap();
                        }
                        _ => {}
                    }
                    received.events.push(event);
                }
                Ok(None) => break,
                Err(violation) => {
                    received.violation = Some(violation);
                    break;
                }
            }
        }
        assert!(bytes.is_empty(), "all is taken");
    }
    received
}

fn all(parts: &[&[u8]]) -> Received {
    receive(Limits::default(), [&*parts.concat()])
}

/// The error of these bytes on a connection whose login was accepted.
fn wrong(bytes: &[u8]) -> Option<Violation> {
    let received = all(&[CONNECT, bytes]);
    assert_eq!(received.events.len(), 1, "nothing but the login comes of it");
    assert_eq!(received.out, ACCEPTED, "nothing is answered");
    received.violation
}

/// The error of these first bytes, and the answer.
fn wrong_first(bytes: &[u8]) -> (Option<Violation>, Vec<u8>) {
    let received = all(&[bytes]);
    assert_eq!(received.events, []);
    (received.violation, received.out)
}

fn login(bytes: &[u8]) -> Connect {
    match all(&[bytes]).events.remove(0) {
        ServerEvent::Connect(connect) => connect,
        other => panic!("{other:?}"),
    }
}

/// A packet with its remaining length.
fn packet(first: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![first];
    let mut length = body.len();
    loop {
        let more = length > 127;
        out.push((length & 127) as u8 | if more { 128 } else { 0 });
        length >>= 7;
        if !more {
            break;
        }
    }
    out.extend_from_slice(body);
    out
}

fn malformed(kind: Kind, what: &'static str) -> Option<Violation> {
    Some(Violation::Malformed { kind, what })
}

#[test]
fn a_login_without_a_will() {
    let connect = login(CONNECT);
    assert_eq!((connect.client_id(), connect.user(), connect.password(), connect.will()), ("a", None, None, None));
    assert_eq!(connect.keep_alive(), Duration::from_secs(20));
    assert_eq!(connect.silence(), Duration::from_secs(30));
}

#[test]
fn a_login_with_all() {
    let connect = login(CONNECT_WITH_ALL);
    assert_eq!((connect.user(), connect.password()), (Some("me"), Some(&b"pw"[..])));
    let will = Will { topic: "w/t", payload: b"no", qos: Qos::AtLeastOnce, retain: true };
    assert_eq!(connect.will(), Some(will));
    assert_eq!(connect.keep_alive(), Duration::from_secs(30), "who asks for none has the longest");
    assert!(!format!("{connect:?}").contains("pw"), "the password is not shown");
}

#[test]
fn a_keep_alive_is_capped() {
    let mut bytes = CONNECT.to_vec();
    bytes[10..12].copy_from_slice(&[0xff, 0xff]);
    assert_eq!(login(&bytes).silence(), Duration::from_secs(45));
}

#[test]
fn a_client_without_an_id_may_log_in() {
    assert_eq!(login(b"\x10\x0c\x00\x04MQTT\x04\x02\x00\x14\x00\x00").client_id(), "");
}

#[test]
fn messages_are_reported_and_acknowledged() {
    let received = all(&[CONNECT, PUBLISH_0, PUBLISH_1]);
    assert_eq!(received.violation, None);
    let [_, ServerEvent::Publish(first), ServerEvent::Publish(second)] = &received.events[..] else { panic!("{received:?}") };
    assert_eq!((first.topic(), first.payload(), first.qos(), first.retain()), ("a/b", &b"hi"[..], Qos::AtMostOnce, false));
    assert_eq!((second.topic(), second.payload(), second.qos()), ("a/b", &b"hi"[..], Qos::AtLeastOnce));
    assert_eq!(received.out, [ACCEPTED, &[0x40, 2, 0, 10]].concat());
    // Retained, sent again, and empty.
    let received = all(&[CONNECT, b"\x3b\x05\x00\x01a\x00\x0b"]);
    let [_, ServerEvent::Publish(publish)] = &received.events[..] else { panic!("{received:?}") };
    assert_eq!((publish.payload(), publish.retain()), (&b""[..], true));
}

#[test]
fn topics_are_granted_one_by_one() {
    let mut connection = ServerConnection::new(Limits::default());
    let mut out = Vec::new();
    let mut bytes = &[CONNECT, SUBSCRIBE].concat()[..];
    connection.feed(&mut bytes, &mut out).unwrap();
    connection.accept(&mut out).unwrap();
    let Ok(Some(ServerEvent::Subscribe(subscribe))) = connection.feed(&mut bytes, &mut out) else { panic!("no SUBSCRIBE") };
    let topics: Vec<_> = subscribe.topics().collect();
    assert_eq!(topics, [("a/b", Qos::AtLeastOnce), ("c/d", Qos::AtLeastOnce)], "nobody is granted more than QoS 1");
    for (granted, codes) in [
        (&[Granted::Yes(Qos::AtLeastOnce), Granted::No][..], [1, 0x80]),
        (&[Granted::Yes(Qos::AtMostOnce)], [0, 0x80]),
        (&[Granted::Yes(Qos::AtMostOnce); 3], [0, 0]),
    ] {
        out.clear();
        connection.grant(&subscribe, granted, &mut out).unwrap();
        assert_eq!(out, [&[0x90, 4, 0, 10], &codes[..]].concat());
    }
}

#[test]
fn the_small_packets() {
    let received = all(&[CONNECT, UNSUBSCRIBE, PUBACK, PINGREQ, DISCONNECT]);
    assert_eq!(received.violation, None);
    let [_, ServerEvent::Unsubscribe(unsubscribe), ServerEvent::Acknowledged(7), ServerEvent::Ping, ServerEvent::Disconnect] =
        &received.events[..]
    else {
        panic!("{received:?}")
    };
    assert_eq!(unsubscribe.topics().collect::<Vec<_>>(), ["a/b"]);
    assert_eq!(received.out, [ACCEPTED, &[0xb0, 2, 0, 11], &[0xd0, 0]].concat());
}

#[test]
fn nothing_comes_after_a_disconnect() {
    let received = all(&[CONNECT, DISCONNECT, PUBLISH_1, b"\xff\xff"]);
    assert_eq!((received.events.len(), received.violation, received.out), (2, None, ACCEPTED.to_vec()));
}

#[test]
fn every_cut_gives_the_same() {
    let parts = [CONNECT_WITH_ALL, SUBSCRIBE, PUBLISH_0, PUBLISH_1, PUBACK, PINGREQ, UNSUBSCRIBE, DISCONNECT];
    let good = parts.concat();
    let bad = [CONNECT, PUBLISH_1, &packet(0x30, &[0; 600]), PINGREQ].concat();
    for bytes in [good, bad] {
        let whole = receive(Limits::default(), [&*bytes]);
        assert!(whole.events.len() > 1);
        for at in 0..=bytes.len() {
            let (first, second) = bytes.split_at(at);
            assert_eq!(receive(Limits::default(), [first, second]), whole, "cut at {at}");
        }
        for size in 1..5 {
            assert_eq!(receive(Limits::default(), bytes.chunks(size)), whole, "pieces of {size}");
        }
    }
}

#[test]
fn what_comes_early_waits_for_the_login() {
    let mut connection = ServerConnection::new(Limits::default());
    let mut out = Vec::new();
    let mut bytes = &[CONNECT, PINGREQ, &PUBLISH_1[..3]].concat()[..];
    assert!(matches!(connection.feed(&mut bytes, &mut out), Ok(Some(ServerEvent::Connect(_)))));
    assert_eq!(connection.feed(&mut bytes, &mut out), Ok(None));
    assert!(bytes.is_empty());
    assert_eq!(connection.held(), 5);
    assert_eq!(connection.publish("a", b"", Qos::AtMostOnce, &mut out), Err(Unsent::Closed), "CONNACK comes first (§3.2)");
    assert_eq!(connection.feed(&mut &PUBLISH_1[3..6], &mut out), Ok(None));
    assert!(out.is_empty());
    connection.accept(&mut out).unwrap();
    assert_eq!(connection.accept(&mut out), Err(Unsent::Closed), "a login is answered once");
    let mut bytes = &PUBLISH_1[6..];
    assert_eq!(connection.feed(&mut bytes, &mut out), Ok(Some(ServerEvent::Ping)));
    assert!(matches!(connection.feed(&mut bytes, &mut out), Ok(Some(ServerEvent::Publish(_)))));
    assert_eq!(connection.feed(&mut bytes, &mut out), Ok(None));
    assert_eq!(connection.held(), 0);
    assert_eq!(out, [ACCEPTED, &[0xd0, 0], &[0x40, 2, 0, 10]].concat());
}

#[test]
fn too_much_before_the_login_ends_it() {
    let mut connection = ServerConnection::new(Limits { early: 4, ..Limits::default() });
    let mut out = Vec::new();
    connection.feed(&mut &*CONNECT, &mut out).unwrap();
    assert_eq!(connection.feed(&mut &[PINGREQ, PINGREQ].concat()[..], &mut out), Ok(None));
    assert_eq!(connection.feed(&mut &PINGREQ[..1], &mut out), Err(Violation::Early(4)));
    assert_eq!((connection.is_over(), connection.held()), (true, 0));
    assert_eq!(connection.accept(&mut out), Err(Unsent::Closed));
}

#[test]
fn a_refused_login_is_over() {
    for (why, code) in [
        (Refusal::Version, 1),
        (Refusal::ClientId, 2),
        (Refusal::Unavailable, 3),
        (Refusal::Login, 4),
        (Refusal::NotAuthorized, 5),
    ] {
        let mut connection = ServerConnection::new(Limits::default());
        let mut out = Vec::new();
        let mut bytes = &[CONNECT, PUBLISH_1].concat()[..];
        connection.feed(&mut bytes, &mut out).unwrap();
        connection.refuse(why, &mut out).unwrap();
        assert_eq!(out, [0x20, 2, 0, code]);
        assert!(connection.is_over());
        assert_eq!(connection.feed(&mut bytes, &mut out), Ok(None));
        assert!(bytes.is_empty());
    }
}

#[test]
fn other_versions_are_refused_with_a_reason() {
    // MQTT 5 with its properties, MQTT 3.1, and versions that do not exist.
    let five = b"\x10\x0e\x00\x04MQTT\x05\x02\x00\x14\x00\x00\x01a";
    assert_eq!(wrong_first(five), (Some(Violation::Version(5)), vec![0x20, 3, 0, 0x84, 0]));
    let three = b"\x10\x0f\x00\x06MQIsdp\x03\x02\x00\x14\x00\x01a";
    assert_eq!(wrong_first(three), (Some(Violation::Version(3)), vec![0x20, 2, 0, 1]));
    for level in [0, 3, 6, 0x84] {
        let mut bytes = CONNECT.to_vec();
        bytes[8] = level;
        assert_eq!(wrong_first(&bytes), (Some(Violation::Version(level)), vec![0x20, 2, 0, 1]));
    }
}

#[test]
fn other_protocols_are_not_answered() {
    for body in [&b"\x00\x04MQTX\x04\x02\x00\x14\x00\x01a"[..], b"\x00\x04mqtt\x04\x02\x00\x14\x00\x01a", b"\x00\x04MQTT", b""] {
        assert_eq!(wrong_first(&packet(0x10, body)), (Some(Violation::Protocol), vec![]));
    }
    assert_eq!(wrong_first(b"GET / HTTP/1.1\r\n").0, Some(Violation::TooSoon(Kind::Puback)));
    // A TLS ClientHello.
    assert_eq!(wrong_first(b"\x16\x03\x01").0, Some(Violation::ReservedBits(Kind::Connect)));
}

#[test]
fn a_lasting_session_is_refused() {
    let mut bytes = CONNECT.to_vec();
    bytes[9] = 0;
    assert_eq!(wrong_first(&bytes), (Some(Violation::LastingSession), vec![0x20, 2, 0, 2]));
}

#[test]
fn broken_logins_are_named() {
    let kind = Kind::Connect;
    let flags = |flags, rest: &[u8]| wrong_first(&packet(0x10, &[&b"\x00\x04MQTT\x04"[..], &[flags, 0, 20], rest].concat())).0;
    assert_eq!(flags(0x03, b"\x00\x01a"), Some(Violation::ReservedBits(kind)));
    assert_eq!(flags(0x22, b"\x00\x01a"), malformed(kind, "flags of a will without a will"));
    assert_eq!(flags(0x0a, b"\x00\x01a"), malformed(kind, "flags of a will without a will"));
    assert_eq!(flags(0x16, b"\x00\x01a\x00\x01w\x00\x00"), Some(Violation::ExactlyOnce(kind)));
    assert_eq!(flags(0x1e, b"\x00\x01a\x00\x01w\x00\x00"), malformed(kind, "QoS 3"));
    assert_eq!(flags(0x06, b"\x00\x01a\x00\x00\x00\x00"), malformed(kind, "empty topic"));
    assert_eq!(flags(0x06, b"\x00\x01a\x00\x01#\x00\x00"), malformed(kind, "wildcard in a topic"));
    assert_eq!(flags(0x06, b"\x00\x01a\x00\x05w"), malformed(kind, "cut short, or will"));
    assert_eq!(flags(0x42, b"\x00\x01a\x00\x01p"), malformed(kind, "password without a user"));
    assert_eq!(flags(0x82, b"\x00\x01a\x00\x05u"), malformed(kind, "user or password"));
    assert_eq!(flags(0x82, b"\x00\x01a\x00\x01\0"), malformed(kind, "U+0000 in a string"));
    assert_eq!(flags(0x02, b"\x00\x02a"), malformed(kind, "client id"));
    assert_eq!(flags(0x02, b"\x00\x01\xff"), malformed(kind, "client id"), "not UTF-8");
    assert_eq!(flags(0x02, b"\x00\x01ab"), malformed(kind, "bytes behind its end"));
}

#[test]
fn a_login_comes_first_and_once() {
    for (bytes, kind) in [(PUBLISH_0, Kind::Publish), (SUBSCRIBE, Kind::Subscribe), (PINGREQ, Kind::Pingreq)] {
        assert_eq!(wrong_first(bytes), (Some(Violation::TooSoon(kind)), vec![]));
    }
    assert_eq!(wrong(CONNECT), Some(Violation::Again(Kind::Connect)));
}

#[test]
fn packets_of_servers_and_of_qos_2_end_it() {
    for (first, kind) in [(0x20, Kind::Connack), (0x90, Kind::Suback), (0xb0, Kind::Unsuback), (0xd0, Kind::Pingresp)] {
        assert_eq!(wrong(&[first, 0]), Some(Violation::Direction(kind)));
    }
    for (first, kind) in [(0x34, Kind::Publish), (0x50, Kind::Pubrec), (0x62, Kind::Pubrel), (0x70, Kind::Pubcomp)] {
        assert_eq!(wrong(&[first, 2, 0, 1]), Some(Violation::ExactlyOnce(kind)));
    }
    assert_eq!(wrong(&[0x00, 0]), Some(Violation::UnknownType(0)));
    assert_eq!(wrong(&[0xf0, 0]), Some(Violation::UnknownType(15)));
}

#[test]
fn reserved_bits_end_it() {
    assert_eq!(wrong_first(b"\x11").0, Some(Violation::ReservedBits(Kind::Connect)));
    for (first, kind) in [
        (0x41, Kind::Puback),
        (0x80, Kind::Subscribe),
        (0x83, Kind::Subscribe),
        (0xa0, Kind::Unsubscribe),
        (0xc8, Kind::Pingreq),
        (0xe1, Kind::Disconnect),
    ] {
        assert_eq!(wrong(&[first]), Some(Violation::ReservedBits(kind)), "the first byte tells");
    }
    // The options of MQTT 5: no local, retain as published, retain handling.
    for options in [0x04, 0x08, 0x10] {
        assert_eq!(wrong(&[0x82, 6, 0, 1, 0, 1, b'a', options]), Some(Violation::ReservedBits(Kind::Subscribe)));
    }
}

#[test]
fn broken_packets_are_named() {
    assert_eq!(wrong(&[0x36]), malformed(Kind::Publish, "QoS 3"));
    assert_eq!(wrong(&[0x38]), malformed(Kind::Publish, "sent again at QoS 0"));
    assert_eq!(wrong(b"\x30\x02\x00\x00"), malformed(Kind::Publish, "empty topic"));
    assert_eq!(wrong(b"\x30\x05\x00\x03a/+"), malformed(Kind::Publish, "wildcard in a topic"));
    assert_eq!(wrong(b"\x30\x03\x00\x01\0"), malformed(Kind::Publish, "U+0000 in a string"));
    assert_eq!(wrong(b"\x30\x03\x00\x01\xff"), malformed(Kind::Publish, "topic or packet id cut short, or no UTF-8"));
    assert_eq!(wrong(b"\x32\x04\x00\x01a\x00"), malformed(Kind::Publish, "topic or packet id cut short, or no UTF-8"));
    assert_eq!(wrong(b"\x32\x05\x00\x01a\x00\x00"), malformed(Kind::Publish, "packet id 0"));
    assert_eq!(wrong(&[0x40, 2, 0, 0]), malformed(Kind::Puback, "packet id 0"));
    assert_eq!(wrong(b"\x82\x06\x00\x00\x00\x01a\x00"), malformed(Kind::Subscribe, "packet id 0"));
    assert_eq!(wrong(b"\x82\x05\x00\x01\x00\x00\x00"), malformed(Kind::Subscribe, "empty topic"));
    for body in [&b"\x82\x00"[..], b"\x82\x02\x00\x01", b"\x82\x05\x00\x01\x00\x01a", b"\x82\x06\x00\x01\x00\x01a\x03"] {
        assert_eq!(wrong(body), malformed(Kind::Subscribe, "cut short, or a QoS above 2"));
    }
    assert_eq!(wrong(b"\xa2\x05\x00\x00\x00\x01a"), malformed(Kind::Unsubscribe, "packet id 0"));
    assert_eq!(wrong(b"\xa2\x02\x00\x01"), malformed(Kind::Unsubscribe, "cut short"));
    for (bytes, kind) in [(&b"\x40\x03"[..], Kind::Puback), (b"\xc0\x01", Kind::Pingreq), (b"\xe0\x02", Kind::Disconnect)] {
        assert_eq!(wrong(bytes), Some(Violation::Size(kind)));
    }
}

#[test]
fn what_is_too_large_is_refused_at_its_header() {
    let Limits { connect, packet: max, .. } = Limits::default();
    // The header announces 256 MiB, and no memory is held for them.
    for first in [&[0x10][..], &[CONNECT, &[0x30]].concat()] {
        let mut connection = ServerConnection::new(Limits::default());
        let mut out = Vec::new();
        let bytes = [first, &[0xff, 0xff, 0xff, 0x7f]].concat();
        let mut rest = &*bytes;
        let violation = loop {
            match connection.feed(&mut rest, &mut out) {
                Ok(Some(_)) => connection.accept(&mut out).unwrap(),
                Ok(None) => panic!("not refused"),
                Err(violation) => break violation,
            }
        };
        assert!(matches!(violation, Violation::TooLarge { size: 268_435_460, .. }), "{violation}");
        assert_eq!(connection.held(), 0);
    }
    assert_eq!(wrong(b"\x30\xff\xff\xff\xff"), Some(Violation::RemainingLength(Kind::Publish)));
    // Packets of maximum size, and one byte more: with two bytes of remaining length.
    let login =
        |id: usize| packet(0x10, &[b"\x00\x04MQTT\x04\x02\x00\x14", &(id as u16).to_be_bytes()[..], &vec![b'a'; id]].concat());
    assert_eq!(login(connect - 15).len(), connect);
    assert_eq!(all(&[&login(connect - 15)]).violation, None);
    let too_large = |kind, size, max| Some(Violation::TooLarge { kind, size, max });
    assert_eq!(wrong_first(&login(connect - 14)).0, too_large(Kind::Connect, connect + 1, connect));
    let message = |payload: usize| packet(0x30, &[&b"\x00\x01a"[..], &vec![b'x'; payload]].concat());
    assert_eq!(message(max - 6).len(), max);
    assert_eq!(all(&[CONNECT, &message(max - 6)]).violation, None);
    assert_eq!(wrong(&message(max - 5)), too_large(Kind::Publish, max + 1, max));
}

#[test]
fn an_unfinished_packet_holds_what_has_come_of_it() {
    let mut connection = ServerConnection::new(Limits::default());
    let mut out = Vec::new();
    connection.feed(&mut &*CONNECT, &mut out).unwrap();
    connection.accept(&mut out).unwrap();
    assert_eq!(connection.feed(&mut &b"\x30\xf0\x03\x00\x01a"[..], &mut out), Ok(None));
    assert_eq!(connection.held(), 6);
    assert_eq!(connection.feed(&mut &b"0123"[..], &mut out), Ok(None));
    assert_eq!(connection.held(), 10);
}

#[test]
fn an_idle_connection_is_small() {
    let size = size_of::<ServerConnection>();
    assert!(size <= 96, "{size} bytes");
}

#[test]
fn messages_are_sent() {
    let mut connection = ServerConnection::new(Limits::default());
    let mut out = Vec::new();
    assert_eq!(connection.publish("a/b", b"hi", Qos::AtMostOnce, &mut out), Err(Unsent::Closed));
    connection.feed(&mut &*CONNECT, &mut out).unwrap();
    connection.accept(&mut out).unwrap();
    out.clear();
    assert_eq!(connection.publish("a/b", b"hi", Qos::AtMostOnce, &mut out), Ok(None));
    assert_eq!(connection.publish("a/b", b"hi", Qos::AtLeastOnce, &mut out), Ok(Some(1)));
    assert_eq!(out, [PUBLISH_0, b"\x32\x09\x00\x03a/b\x00\x01hi"].concat());
    out.clear();
    for topic in ["", "a/+", "#", "a\0"] {
        assert_eq!(connection.publish(topic, b"", Qos::AtMostOnce, &mut out), Err(Unsent::Invalid), "{topic}");
    }
    assert_eq!(connection.publish("a", &[0; 506], Qos::AtMostOnce, &mut out), Ok(None));
    assert_eq!(out.len(), 512);
    let too_large = Err(Unsent::TooLarge { size: 513, max: 512 });
    assert_eq!(connection.publish("a", &[0; 507], Qos::AtMostOnce, &mut out), too_large);
    assert_eq!(out.len(), 512, "nothing was appended");
    for id in (2..=u16::MAX).chain([1, 2]) {
        out.clear();
        assert_eq!(connection.publish("a", b"", Qos::AtLeastOnce, &mut out), Ok(Some(id)), "ids are never 0");
    }
}
