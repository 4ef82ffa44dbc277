//! Client model of one session: compares sent and received packets with each other and with the protocol.

use std::collections::{HashMap, HashSet};

use actix_socketio::Size;
use actix_socketio::host::codec::{Assembled, Assembler, Incoming, Kind, Packet, SEPARATOR, parse_packet, split};
use bytestring::ByteString;

/// Limit for the attachments that the client assembles: the server does not send more than it accepted.
const MAX_ATTACHMENTS: usize = 1000;
const MAX_ATTACHMENT_BYTES: usize = 1 << 20;

pub(super) struct Client {
    sid: String,
    max_payload: usize,
    assembler: Assembler,
    /// Namespaces that it asked to join.
    wanted: HashSet<ByteString>,
    /// Namespaces whose join the server confirmed.
    joined: HashSet<ByteString>,
    /// Answers that it may receive, by namespace and id.
    due: HashMap<(ByteString, u64), usize>,
    /// It received the end of the session.
    closed: bool,
    /// Number of received events, answers and attachments.
    pub events: u64,
    pub acks: u64,
    pub attachments: u64,
}

impl Client {
    pub fn new(sid: String, max_payload: usize) -> Self {
        Self {
            sid,
            max_payload,
            assembler: Assembler::new(Size { count: MAX_ATTACHMENTS, bytes: MAX_ATTACHMENT_BYTES }),
            wanted: HashSet::new(),
            joined: HashSet::new(),
            due: HashMap::new(),
            closed: false,
            events: 0,
            acks: 0,
            attachments: 0,
        }
    }

    pub fn sid(&self) -> &str {
        &self.sid
    }

    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Records the possible effects of a POST that is being sent.
    pub fn says(&mut self, body: &[u8]) {
        let Ok(body) = ByteString::try_from(body) else { return };
        for part in split(&body) {
            let Ok(Incoming::Text(text)) = parse_packet(&part, true) else { continue };
            let Ok(packet) = Packet::parse(&text) else { continue };
            match (packet.kind, packet.id) {
                (Kind::Connect, _) => drop(self.wanted.insert(packet.namespace)),
                (Kind::Event | Kind::BinaryEvent, Some(id)) => *self.due.entry((packet.namespace, id)).or_default() += 1,
                _ => {}
            }
        }
    }

    /// Checks the answer to a GET. True: it may be that of a closed session.
    pub fn receives(&mut self, payload: &str) -> bool {
        assert!(!self.closed, "a payload after the end: {payload}");
        let packets: Vec<_> = payload.split(SEPARATOR).collect();
        assert!(payload.len() <= self.max_payload || packets.len() == 1, "{} bytes: {payload}", payload.len());
        for packet in &packets {
            assert!(!self.closed, "a packet after the close packet: {payload}");
            self.packet(packet);
        }
        matches!(packets.last(), Some(&"1" | &"6")) || payload.len() + "\u{1e}1".len() > self.max_payload
    }

    fn packet(&mut self, packet: &str) {
        let whole = match parse_packet(&packet.into(), true) {
            Ok(Incoming::Text(text)) => self.assembler.text(&text),
            Ok(Incoming::Binary(bytes)) => {
                self.attachments += 1;
                self.assembler.binary(bytes)
            }
            Ok(Incoming::Ping(payload)) => return assert!(payload.is_empty(), "{packet}"),
            Ok(Incoming::Close) => {
                assert_eq!(packet, "1");
                self.closed = true;
                return;
            }
            Ok(Incoming::Noop) => return assert_eq!(packet, "6"),
            other => unreachable!("no packet of a server: {packet} ({other:?})"),
        };
        match whole {
            Ok(Some(whole)) => self.whole(whole),
            Ok(None) => {}
            Err(error) => unreachable!("{error}: {packet}"),
        }
    }

    fn whole(&mut self, Assembled { packet, .. }: Assembled) {
        let Packet { kind, namespace, id, data, .. } = packet;
        if matches!(kind, Kind::Connect | Kind::ConnectError) {
            assert!(self.wanted.contains(&namespace), "nobody asked for {namespace}");
        } else {
            assert!(self.joined.contains(&namespace), "{kind:?} before {namespace} is joined");
        }
        match kind {
            Kind::Connect => {
                let opened: serde_json::Value = serde_json::from_str(&data).unwrap_or_default();
                let id = opened["sid"].as_str().unwrap_or_default();
                assert!(id.len() == 20 && id != self.sid, "the id of a socket is its own: {data}");
                self.joined.insert(namespace);
            }
            Kind::Disconnect => drop(self.joined.remove(&namespace)),
            Kind::ConnectError => assert!(data.starts_with(r#"{"message":""#), "{data}"),
            Kind::Event | Kind::BinaryEvent => self.events += 1,
            Kind::Ack | Kind::BinaryAck => {
                self.acks += 1;
                let due = id.and_then(|id| self.due.get_mut(&(namespace, id))).filter(|due| **due > 0);
                assert!(due.map(|due| *due -= 1).is_some(), "nobody waits for this answer: {id:?} {data}");
            }
        }
    }
}

/// Whether the server must refuse a POST because of its first packet, in any state.
pub(super) fn begins_badly(body: &ByteString) -> bool {
    match split(body).next().map(|packet| parse_packet(&packet, true)) {
        Some(Ok(Incoming::Text(text))) => Packet::parse(&text).is_err(),
        Some(Ok(Incoming::Ping(_) | Incoming::Upgrade) | Err(_)) => true,
        _ => false,
    }
}
