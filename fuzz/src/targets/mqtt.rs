//! MQTT 3.1.1 (`backend/libs/nyala-mqtt`), of both sides. The first byte selects the receiver of the others, the second the size of the pieces in which
//! they arrive, the third how many pieces a login waits for its answer; or the others are sent, and received as they were meant.

use nyala_mqtt::client::{ClientConnection, ClientEvent, Login};
use nyala_mqtt::server::{ServerConnection, ServerEvent};
use nyala_mqtt::{Granted, Limits, Publish, Qos, Violation, Will};

use actix_socketio_fuzz::harness::{kind_and_rest, of_kind};

/// Small, so that they are reached.
const LIMITS: Limits = Limits { connect: 128, packet: 96, early: 160, keep_alive: std::time::Duration::from_secs(30) };

const OF_CLIENT: u8 = 0;
const OF_SERVER: u8 = 1;
const KINDS: u8 = 3;

pub fn run(bytes: &[u8]) {
    let (kind, rest) = kind_and_rest(bytes);
    match kind % KINDS {
        OF_CLIENT => of_a_client(rest),
        OF_SERVER => of_a_server(rest),
        _ => as_it_was_meant(rest),
    }
}

fn cut(bytes: &[u8], piece: u8) -> Vec<&[u8]> {
    bytes.chunks(usize::from(piece).max(1)).collect()
}

/// However it is cut, a stream says the same; one that waits longer for its answer may have said too much.
fn of_a_client(bytes: &[u8]) {
    let [piece, patience, stream @ ..] = bytes else { return };
    let whole = server_receives(&[stream], 0);
    assert_eq!(server_receives(&cut(stream, *piece), 0), whole);
    let (events, violation, _) = server_receives(&cut(stream, *piece), usize::from(*patience));
    if !matches!(violation, Some(Violation::Early(_))) {
        assert_eq!((events, violation), (whole.0, whole.1));
    }
}

/// A login is accepted after `patience` further pieces.
fn server_receives(pieces: &[&[u8]], patience: usize) -> (Vec<ServerEvent>, Option<Violation>, Vec<u8>) {
    let mut connection = ServerConnection::new(LIMITS);
    let (mut events, mut out, mut fed, mut asked) = (Vec::new(), Vec::new(), 0, None);
    for (at, piece) in pieces.iter().copied().chain([&[][..]]).enumerate() {
        let mut bytes = piece;
        fed += bytes.len();
        let is_judged = |asked: Option<usize>| asked.is_some_and(|asked| at >= asked + patience || at == pieces.len());
        loop {
            if is_judged(asked) && asked.take().is_some() {
                assert_eq!(connection.accept(&mut out), Ok(()));
            }
            match connection.feed(&mut bytes, &mut out) {
                Ok(Some(event)) => {
                    match &event {
                        ServerEvent::Connect(connect) => {
                            assert!(events.is_empty() && connect.keep_alive() <= LIMITS.keep_alive);
                            asked = Some(at);
                        }
                        ServerEvent::Publish(publish) => check(publish),
                        ServerEvent::Subscribe(subscribe) => {
                            assert_eq!(connection.grant(subscribe, &[Granted::Yes(Qos::AtMostOnce)], &mut out), Ok(()));
                        }
                        _ => {}
                    }
                    events.push(event);
                }
                Ok(None) if is_judged(asked) => {}
                Ok(None) => break,
                Err(violation) => {
                    assert!(connection.is_over() && connection.held() == 0);
                    return (events, Some(violation), out);
                }
            }
        }
        assert!(bytes.is_empty() && connection.held() <= LIMITS.early);
        assert!(out.len() <= fed, "{} bytes are said for {fed}", out.len());
    }
    (events, None, out)
}

fn check(publish: &Publish) {
    assert!(!publish.topic().is_empty() && !publish.topic().contains(['#', '+', '\0']));
    assert!(publish.topic().len() + publish.payload().len() < LIMITS.packet);
}

fn of_a_server(bytes: &[u8]) {
    let [piece, stream @ ..] = bytes else { return };
    assert_eq!(client_receives(&cut(stream, *piece)), client_receives(&[stream]));
}

fn client_receives(pieces: &[&[u8]]) -> (Vec<ClientEvent>, Option<Violation>, Vec<u8>) {
    let mut connection = ClientConnection::new(LIMITS);
    let (mut events, mut out) = (Vec::new(), Vec::new());
    assert_eq!(connection.connect(&Login::default(), &mut out), Ok(()));
    let (asked, mut fed) = (out.len(), 0);
    for piece in pieces {
        let mut bytes = *piece;
        fed += bytes.len();
        loop {
            match connection.feed(&mut bytes, &mut out) {
                Ok(Some(event)) => {
                    assert_eq!(events.is_empty(), matches!(event, ClientEvent::Accepted | ClientEvent::Refused(_)));
                    events.push(event);
                }
                Ok(None) => break,
                Err(violation) => {
                    assert!(connection.is_over() && connection.held() == 0);
                    return (events, Some(violation), out);
                }
            }
        }
        assert!(bytes.is_empty() && connection.held() <= LIMITS.packet);
        assert!(out.len() - asked <= fed, "{} bytes are said for {fed}", out.len() - asked);
    }
    (events, None, out)
}

/// What one side of the crate writes, the other one reads: the same, or it was never written.
fn as_it_was_meant(bytes: &[u8]) {
    let [flags, bytes @ ..] = bytes else { return };
    let (text, payload) = bytes.split_at(bytes.len() / 2);
    let Ok(text) = std::str::from_utf8(text) else { return };
    let qos = if flags & 1 == 0 { Qos::AtMostOnce } else { Qos::AtLeastOnce };
    let will = Will { topic: text, payload, qos, retain: flags & 2 != 0 };
    let login = Login {
        client_id: text,
        user: (flags & 4 != 0).then_some(text),
        password: (flags & 8 != 0).then_some(payload),
        keep_alive: u16::from(*flags),
        will: (flags & 16 != 0).then_some(will),
    };
    let (mut client, mut server) = (ClientConnection::new(LIMITS), ServerConnection::new(LIMITS));
    let (mut up, mut down) = (Vec::new(), Vec::new());
    if client.connect(&login, &mut up).is_err() {
        assert!(up.is_empty(), "half a login");
        return;
    }
    let received = server.feed(&mut &*up, &mut down);
    let Ok(Some(ServerEvent::Connect(connect))) = received else { unreachable!("{received:?} of {login:?}") };
    let password = login.password.filter(|_| login.user.is_some());
    assert_eq!((connect.client_id(), connect.user(), connect.password()), (login.client_id, login.user, password));
    assert_eq!(connect.will(), login.will);
    assert_eq!(server.accept(&mut down), Ok(()));
    assert_eq!(client.feed(&mut &*down, &mut up), Ok(Some(ClientEvent::Accepted)));

    up.clear();
    down.clear();
    if client.publish(text, payload, qos, flags & 2 != 0, &mut up).is_ok() {
        let received = server.feed(&mut &*up, &mut down);
        let Ok(Some(ServerEvent::Publish(publish))) = received else { unreachable!("{received:?}") };
        assert_eq!((publish.topic(), publish.payload(), publish.qos()), (text, payload, qos));
    }
    if let Ok(id) = server.publish(text, payload, qos, &mut down) {
        let mut received = Vec::new();
        let mut bytes = &*down;
        while let Ok(Some(event)) = client.feed(&mut bytes, &mut up) {
            received.push(event);
        }
        let Some(ClientEvent::Publish(publish)) = received.pop() else { unreachable!("{received:?}") };
        assert_eq!((publish.topic(), publish.payload(), id.is_some()), (text, payload, qos == Qos::AtLeastOnce));
    }
    assert!(!client.is_over() && !server.is_over());
}

pub fn seeds() -> Vec<Vec<u8>> {
    let (connect, publish) = (b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x14\x00\x01a", b"\x32\x09\x00\x03a/b\x00\x0ahi");
    let all = b"\x10\x1e\x00\x04MQTT\x04\xee\x00\x00\x00\x01a\x00\x03w/t\x00\x02no\x00\x02me\x00\x02pw";
    let rest = b"\x82\x0e\x00\x0a\x00\x03a/b\x01\x00\x03c/d\x02\xa2\x07\x00\x0b\x00\x03a/b\x40\x02\x00\x07\xc0\x00\xe0\x00";
    let answers = b"\x20\x02\x00\x00\x90\x03\x00\x01\x01\x30\x07\x00\x03a/bhi\xd0\x00\x40\x02\x00\x07";
    let of_client = |piece, patience, packets: &[&[u8]]| [&[OF_CLIENT, piece, patience], &*packets.concat()].concat();
    vec![
        of_client(1, 2, &[connect, publish]),
        of_client(7, 0, &[connect, publish, rest]),
        of_client(40, 1, &[all, rest]),
        [&[OF_SERVER, 3], &answers[..]].concat(),
        of_kind(2, b"\x1d nyala/v1/1/7/state{\"online\":true}"),
        of_kind(2, b"\x03topic payload"),
    ]
}
