//! Client's side: against a server in memory, and against servers that violate the protocol.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use nyala_mqtt::client::{ClientConnection, ClientEvent, Login, Subscribed};
use nyala_mqtt::server::{ServerConnection, ServerEvent};
use nyala_mqtt::{Granted, Kind, Limits, Publish, Qos, Refusal, Unsent, Violation, Will};

/// A client and a server with a connection between them.
struct ClientPair {
    client: ClientConnection,
    server: ServerConnection,
    /// Bytes on their way to the server and to the client.
    up: Vec<u8>,
    down: Vec<u8>,
}

impl ClientPair {
    /// A connection whose client has sent its login.
    fn new(login: &Login<'_>) -> Self {
        let mut client = ClientConnection::new(Limits::default());
        let mut up = Vec::new();
        client.connect(login, &mut up).unwrap();
        Self { client, server: ServerConnection::new(Limits::default()), up, down: Vec::new() }
    }

    /// A connection whose client is logged in.
    fn open() -> Self {
        let mut pair = Self::new(&Login { client_id: "a", ..Login::default() });
        assert!(matches!(pair.server_receives(), Some(ServerEvent::Connect(_))));
        pair.server.accept(&mut pair.down).unwrap();
        assert_eq!(pair.client_receives(), Some(ClientEvent::Accepted));
        pair
    }

    /// The one event from the bytes on their way to the server.
    fn server_receives(&mut self) -> Option<ServerEvent> {
        let up = std::mem::take(&mut self.up);
        let mut bytes = &*up;
        let event = self.server.feed(&mut bytes, &mut self.down).unwrap();
        assert_eq!(self.server.feed(&mut bytes, &mut self.down), Ok(None));
        event
    }

    /// The one event from the bytes on their way to the client.
    fn client_receives(&mut self) -> Option<ClientEvent> {
        let down = std::mem::take(&mut self.down);
        let mut bytes = &*down;
        let event = self.client.feed(&mut bytes, &mut self.up).unwrap();
        assert_eq!(self.client.feed(&mut bytes, &mut self.up), Ok(None));
        event
    }
}

fn parts_of(publish: &Publish) -> (&str, &[u8], Qos, bool) {
    (publish.topic(), publish.payload(), publish.qos(), publish.retain())
}

#[test]
fn a_login_arrives_whole() {
    let will = Will { topic: "w/t", payload: b"\0\xff", qos: Qos::AtLeastOnce, retain: true };
    for login in [
        Login::default(),
        Login { client_id: "é", user: Some("me"), password: Some(b"\0p"), keep_alive: 7, will: Some(will) },
        Login {
            user: Some(""),
            will: Some(Will { qos: Qos::AtMostOnce, retain: false, payload: b"", ..will }),
            ..Login::default()
        },
    ] {
        let mut pair = ClientPair::new(&login);
        let Some(ServerEvent::Connect(connect)) = pair.server_receives() else { panic!("no login") };
        assert_eq!((connect.client_id(), connect.user(), connect.password()), (login.client_id, login.user, login.password));
        assert_eq!(connect.will(), login.will);
        let seconds = if login.keep_alive == 0 { 30 } else { login.keep_alive.into() };
        assert_eq!(connect.keep_alive().as_secs(), seconds);
        assert!(!format!("{login:?}").contains("0p"), "the password is not shown");
    }
}

#[test]
fn a_refusal_arrives() {
    for why in [Refusal::Version, Refusal::ClientId, Refusal::Unavailable, Refusal::Login, Refusal::NotAuthorized] {
        let mut pair = ClientPair::new(&Login::default());
        pair.server_receives();
        pair.server.refuse(why, &mut pair.down).unwrap();
        assert_eq!(pair.client_receives(), Some(ClientEvent::Refused(why)));
        assert!(pair.client.is_over());
    }
}

#[test]
fn topics_messages_and_pings_go_both_ways() {
    let mut pair = ClientPair::open();
    let id = pair.client.subscribe(&[("a/cmd", Qos::AtLeastOnce), ("b/cmd", Qos::AtMostOnce)], &mut pair.up).unwrap();
    let Some(ServerEvent::Subscribe(subscribe)) = pair.server_receives() else { panic!("no SUBSCRIBE") };
    let topics: Vec<_> = subscribe.topics().collect();
    assert_eq!(topics, [("a/cmd", Qos::AtLeastOnce), ("b/cmd", Qos::AtMostOnce)]);
    let granted = vec![Granted::Yes(Qos::AtLeastOnce), Granted::No];
    pair.server.grant(&subscribe, &granted, &mut pair.down).unwrap();
    assert_eq!(pair.client_receives(), Some(ClientEvent::Subscribed(Subscribed { id, granted })));

    for (qos, retain) in [(Qos::AtMostOnce, false), (Qos::AtMostOnce, true), (Qos::AtLeastOnce, false), (Qos::AtLeastOnce, true)]
    {
        let id = pair.client.publish("a/state", b"{}", qos, retain, &mut pair.up).unwrap();
        let Some(ServerEvent::Publish(publish)) = pair.server_receives() else { panic!("no message") };
        assert_eq!(parts_of(&publish), ("a/state", &b"{}"[..], qos, retain));
        assert_eq!(pair.client_receives(), id.map(ClientEvent::Acknowledged));
    }
    for qos in [Qos::AtMostOnce, Qos::AtLeastOnce] {
        let id = pair.server.publish("a/cmd", b"[]", qos, &mut pair.down).unwrap();
        let Some(ClientEvent::Publish(publish)) = pair.client_receives() else { panic!("no message") };
        assert_eq!(parts_of(&publish), ("a/cmd", &b"[]"[..], qos, false));
        assert_eq!(pair.server_receives(), id.map(ServerEvent::Acknowledged));
    }

    pair.client.ping(&mut pair.up).unwrap();
    assert_eq!(pair.server_receives(), Some(ServerEvent::Ping));
    assert_eq!(pair.client_receives(), Some(ClientEvent::Pong));

    pair.client.disconnect(&mut pair.up).unwrap();
    assert_eq!(pair.server_receives(), Some(ServerEvent::Disconnect));
    assert!(pair.client.is_over() && pair.server.is_over());
}

#[test]
fn nothing_is_sent_before_the_login_and_after_the_end() {
    let mut client = ClientConnection::new(Limits::default());
    let mut out = Vec::new();
    let mut is_closed = |client: &mut ClientConnection| {
        assert_eq!(client.subscribe(&[("a", Qos::AtMostOnce)], &mut out), Err(Unsent::Closed));
        assert_eq!(client.publish("a", b"", Qos::AtMostOnce, false, &mut out), Err(Unsent::Closed));
        assert_eq!(client.ping(&mut out), Err(Unsent::Closed));
        assert_eq!(client.disconnect(&mut out), Err(Unsent::Closed));
        assert!(out.is_empty());
    };
    is_closed(&mut client);
    let mut up = Vec::new();
    client.connect(&Login::default(), &mut up).unwrap();
    is_closed(&mut client);
    assert_eq!(client.connect(&Login::default(), &mut up), Err(Unsent::Closed));
    client.feed(&mut &[0x20, 2, 0, 0][..], &mut up).unwrap();
    client.disconnect(&mut up).unwrap();
    is_closed(&mut client);
}

#[test]
fn what_no_packet_may_hold_is_not_sent() {
    let mut out = Vec::new();
    let will = |topic| Some(Will { topic, payload: b"", qos: Qos::AtMostOnce, retain: false });
    for login in [
        Login { client_id: "\0", ..Login::default() },
        Login { user: Some("\0"), ..Login::default() },
        Login { password: Some(b"alone"), ..Login::default() },
        Login { will: will(""), ..Login::default() },
        Login { will: will("a/#"), ..Login::default() },
    ] {
        assert_eq!(ClientConnection::new(Limits::default()).connect(&login, &mut out), Err(Unsent::Invalid), "{login:?}");
    }
    let long = "x".repeat(70_000);
    let login = Login { client_id: &long, ..Login::default() };
    let refused = ClientConnection::new(Limits::default()).connect(&login, &mut out);
    assert_eq!(refused, Err(Unsent::TooLarge { size: 70_000, max: 1024 }));

    let mut pair = ClientPair::open();
    assert_eq!(pair.client.subscribe(&[], &mut out), Err(Unsent::Invalid));
    assert_eq!(pair.client.subscribe(&[("", Qos::AtMostOnce)], &mut out), Err(Unsent::Invalid));
    assert_eq!(pair.client.subscribe(&[("a\0", Qos::AtMostOnce)], &mut out), Err(Unsent::Invalid));
    let topics = [("x", Qos::AtMostOnce); 127];
    assert_eq!(pair.client.subscribe(&topics, &mut out), Err(Unsent::TooLarge { size: 513, max: 512 }));
    assert!(out.is_empty());
}

/// Feeds these bytes of a server to a client whose login was accepted.
fn wrong(bytes: &[u8]) -> Result<Option<ClientEvent>, Violation> {
    let mut pair = ClientPair::open();
    let received = pair.client.feed(&mut &*bytes, &mut pair.up);
    assert_eq!((pair.client.is_over(), pair.client.held()), (true, 0));
    assert!(pair.up.is_empty(), "nothing is answered");
    received
}

#[test]
fn servers_that_do_wrong_are_left() {
    let mut pair = ClientPair::new(&Login::default());
    let early = pair.client.feed(&mut &[0xd0, 0][..], &mut pair.up);
    assert_eq!(early, Err(Violation::TooSoon(Kind::Pingresp)));
    let mut pair = ClientPair::new(&Login::default());
    let unknown = pair.client.feed(&mut &[0x20, 2, 0, 6][..], &mut pair.up);
    assert_eq!(unknown, Err(Violation::Malformed { kind: Kind::Connack, what: "unknown return code" }));

    assert_eq!(wrong(&[0x20, 2, 0, 0]), Err(Violation::Again(Kind::Connack)));
    for (first, kind) in [
        (0x10, Kind::Connect),
        (0x82, Kind::Subscribe),
        (0xa2, Kind::Unsubscribe),
        (0xb0, Kind::Unsuback),
        (0xc0, Kind::Pingreq),
        (0xe0, Kind::Disconnect),
    ] {
        assert_eq!(wrong(&[first]), Err(Violation::Direction(kind)));
    }
    for (first, kind) in [(0x34, Kind::Publish), (0x50, Kind::Pubrec), (0x62, Kind::Pubrel), (0x70, Kind::Pubcomp)] {
        assert_eq!(wrong(&[first]), Err(Violation::ExactlyOnce(kind)));
    }
    assert_eq!(wrong(&[0x91]), Err(Violation::ReservedBits(Kind::Suback)));
    assert_eq!(wrong(&[0x90, 3, 0, 1, 2]), Err(Violation::ExactlyOnce(Kind::Suback)));
    let what = "cut short, or an unknown answer";
    assert_eq!(wrong(&[0x90, 3, 0, 1, 3]), Err(Violation::Malformed { kind: Kind::Suback, what }));
    assert_eq!(wrong(&[0x90, 2, 0, 1]), Err(Violation::Malformed { kind: Kind::Suback, what }));
    assert_eq!(wrong(&[0x90, 3, 0, 0, 0]), Err(Violation::Malformed { kind: Kind::Suback, what: "packet id 0" }));
    assert_eq!(
        wrong(&[0x30, 0xff, 0xff, 0xff, 0x7f]),
        Err(Violation::TooLarge { kind: Kind::Publish, size: 268_435_460, max: 512 })
    );
}

#[test]
fn every_cut_gives_the_same() {
    let bytes = b"\x20\x02\x00\x00\x90\x04\x00\x01\x01\x80\x32\x09\x00\x03a/b\x00\x0ahi\x40\x02\x00\x07\xd0\x00";
    let hear = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let (mut pair, mut events) = (ClientPair::new(&Login::default()), Vec::new());
        for mut piece in pieces {
            while let Some(event) = pair.client.feed(&mut piece, &mut pair.up).unwrap() {
                events.push(event);
            }
        }
        (events, pair.up)
    };
    let whole = hear(&mut [&bytes[..]].into_iter());
    assert_eq!(whole.0.len(), 5);
    for at in 0..=bytes.len() {
        assert_eq!(hear(&mut [&bytes[..at], &bytes[at..]].into_iter()), whole, "cut at {at}");
    }
    assert_eq!(hear(&mut bytes.chunks(1)), whole);
}
