//! Random bytes: no input causes a panic, held bytes stay within the limits, an answer is never longer than the input, and the
//! result does not depend on how the bytes are split.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use nyala_mqtt::client::{ClientConnection, ClientEvent, Login};
use nyala_mqtt::server::{ServerConnection, ServerEvent};
use nyala_mqtt::{Granted, Limits, Qos, Violation};
use proptest::collection::vec;
use proptest::prelude::*;

const LIMITS: Limits = Limits { connect: 64, packet: 48, early: 80, keep_alive: std::time::Duration::from_secs(30) };

const CONNECT: &[u8] = b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x14\x00\x01a";
const CONNACK_YES: &[u8] = b"\x20\x02\x00\x00";

/// Packets that a client may send after its login.
const OF_CLIENTS: [&[u8]; 6] = [
    b"\x30\x07\x00\x03a/bhi",
    b"\x32\x09\x00\x03a/b\x00\x0ahi",
    b"\x82\x0e\x00\x0a\x00\x03a/b\x01\x00\x03c/d\x02",
    b"\xa2\x07\x00\x0b\x00\x03a/b",
    b"\x40\x02\x00\x07",
    b"\xc0\x00",
];
/// Packets that a server may send after its CONNACK.
const OF_SERVERS: [&[u8]; 5] =
    [b"\x30\x07\x00\x03a/bhi", b"\x32\x09\x00\x03a/b\x00\x0ahi", b"\x90\x03\x00\x01\x01", b"\x40\x02\x00\x07", b"\xd0\x00"];
const CONNECT_WITH_ALL: &[u8] = b"\x10\x1e\x00\x04MQTT\x04\xee\x00\x00\x00\x01a\x00\x03w/t\x00\x02no\x00\x02me\x00\x02pw";

/// Packets of one side after its first one, mostly complete.
fn packets(first: &'static [&'static [u8]], good: &'static [&'static [u8]]) -> impl Strategy<Value = Vec<u8>> {
    let one = || prop::sample::select(good).prop_map(<[u8]>::to_vec);
    let first = prop::sample::select(first).prop_map(<[u8]>::to_vec);
    let rest = vec(prop_oneof![24 => one(), 2 => broken(one()), 1 => framed(), 1 => vec(any::<u8>(), 0..40)], 0..20);
    let first = prop_oneof![8 => first.clone(), 2 => broken(first), 1 => framed(), 1 => Just(Vec::new())];
    (first, rest).prop_map(|(first, rest)| [first, rest.concat()].concat())
}

/// A packet with one byte changed.
fn broken(packet: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    (packet, any::<prop::sample::Index>(), any::<u8>()).prop_map(|(mut packet, at, byte)| {
        let at = at.index(packet.len());
        packet[at] = byte;
        packet
    })
}

/// Random bytes after a correct header.
fn framed() -> impl Strategy<Value = Vec<u8>> {
    (1..15u8, prop::sample::select(vec![0u8, 2, 1, 3, 4, 8]), vec(any::<u8>(), 0..60))
        .prop_map(|(kind, flags, body)| [&[kind << 4 | flags, body.len() as u8], &*body].concat())
}

fn cut<'a>(mut bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for size in cuts {
        let (piece, rest) = bytes.split_at((*size).min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces.push(bytes);
    pieces
}

/// Events and output of a server that receives the pieces. A login is accepted after `patience` further pieces.
fn server_receives(pieces: &[&[u8]], patience: usize) -> (Vec<ServerEvent>, Option<Violation>, Vec<u8>) {
    let mut connection = ServerConnection::new(LIMITS);
    let (mut events, mut out, mut fed, mut asked) = (Vec::new(), Vec::new(), 0, None);
    for (at, piece) in pieces.iter().copied().chain([&[][..]]).enumerate() {
        let mut bytes = piece;
        fed += bytes.len();
        loop {
            if asked.is_some_and(|asked| at >= asked + patience || at == pieces.len()) {
                asked = None;
                connection.accept(&mut out).unwrap();
            }
            match connection.feed(&mut bytes, &mut out) {
                Ok(Some(event)) => {
                    match &event {
                        ServerEvent::Connect(connect) => {
                            assert!(connect.keep_alive() <= LIMITS.keep_alive);
                            asked = Some(at);
                        }
                        ServerEvent::Subscribe(subscribe) => {
                            connection.grant(subscribe, &[Granted::Yes(Qos::AtMostOnce)], &mut out).unwrap();
                        }
                        _ => {}
                    }
                    events.push(event);
                }
                Ok(None) if asked.is_some_and(|asked| at >= asked + patience) => {}
                Ok(None) => break,
                Err(violation) => {
                    assert!(connection.is_over());
                    assert_eq!(connection.held(), 0);
                    return (events, Some(violation), out);
                }
            }
        }
        assert!(bytes.is_empty(), "{} bytes are left", bytes.len());
        assert!(connection.held() <= LIMITS.early, "{} bytes are held", connection.held());
        assert!(out.len() <= fed, "{} bytes for {fed}", out.len());
    }
    (events, None, out)
}

fn client_receives(pieces: &[&[u8]]) -> (Vec<ClientEvent>, Option<Violation>, Vec<u8>) {
    let mut connection = ClientConnection::new(LIMITS);
    let (mut events, mut out) = (Vec::new(), Vec::new());
    connection.connect(&Login::default(), &mut out).unwrap();
    for piece in pieces {
        let mut bytes = *piece;
        loop {
            match connection.feed(&mut bytes, &mut out) {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(violation) => {
                    assert_eq!(connection.held(), 0);
                    return (events, Some(violation), out);
                }
            }
        }
        assert!(bytes.is_empty());
        assert!(connection.held() <= LIMITS.packet);
    }
    (events, None, out)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn of_a_client(
        bytes in packets(&[CONNECT, CONNECT_WITH_ALL], &OF_CLIENTS),
        cuts in vec(0..40usize, 0..8),
        patience in 0..3usize,
    ) {
        let whole = server_receives(&[&bytes], 0);
        prop_assert_eq!(&server_receives(&cut(&bytes, &cuts), 0), &whole);
        // A client that waits long for its answer may send too many bytes; the events before that are the same.
        let (events, violation, _) = server_receives(&cut(&bytes, &cuts), patience);
        if !matches!(violation, Some(Violation::Early(_))) {
            prop_assert_eq!((events, violation), (whole.0, whole.1));
        }
    }

    #[test]
    fn of_a_server(bytes in packets(&[CONNACK_YES], &OF_SERVERS), cuts in vec(0..40usize, 0..8)) {
        prop_assert_eq!(client_receives(&cut(&bytes, &cuts)), client_receives(&[&bytes]));
    }
}
