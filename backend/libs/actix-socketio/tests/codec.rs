//! Properties of the codec: no input makes it panic or hold more than its limits, and encoded packets are read back for any split of
//! the bytes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use actix_socketio::Size;
use actix_socketio::host::codec::{
    Assembler, Decoder, Frame, Incoming, Kind, Message, Packet, SEPARATOR, WebsocketError, encode_frame, opcode, parse_packet,
    push_binary, split,
};
use bytes::{Bytes, BytesMut};
use bytestring::ByteString;
use proptest::collection::vec;
use proptest::prelude::*;

/// Maximum size of a websocket message in these tests.
const MAX: usize = 300;
/// Maximum size of a frame's header.
const HEADER: usize = 14;

/// A masked frame.
fn masked(fin: bool, opcode: u8, mask: [u8; 4], payload: &[u8]) -> Vec<u8> {
    let plain = encode_frame(opcode, payload);
    let mut out = plain[..plain.len() - payload.len()].to_vec();
    out[0] = out[0] & 0x0f | if fin { 0x80 } else { 0 };
    out[1] |= 0x80;
    out.extend(mask);
    out.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key));
    out
}

/// All messages in `bytes`, received in pieces of these sizes.
fn decode(bytes: &[u8], cuts: &[usize]) -> (Vec<Message>, Option<WebsocketError>) {
    let (mut decoder, mut buffer, mut out) = (Decoder::new(MAX), BytesMut::new(), Vec::new());
    let (mut rest, mut cuts) = (bytes, cuts.iter().cycle());
    while !rest.is_empty() {
        let (piece, later) = rest.split_at((*cuts.next().unwrap_or(&usize::MAX)).clamp(1, rest.len()));
        buffer.extend_from_slice(piece);
        rest = later;
        loop {
            match decoder.decode(&mut buffer) {
                Ok(Some(message)) => out.push(message),
                Ok(None) => break,
                Err(error) => return (out, Some(error)),
            }
        }
        assert!(buffer.len() <= MAX + HEADER, "{} bytes are held", buffer.len());
    }
    (out, None)
}

fn opcode_of(text: bool) -> u8 {
    if text { opcode::TEXT } else { opcode::BINARY }
}

/// Frames that are nearly correct.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let frame = (any::<bool>(), prop::sample::select(vec![0u8, 1, 2, 3, 8, 9, 10, 15]), any::<[u8; 4]>(), vec(32..127u8, 0..200));
    vec(frame, 0..8).prop_map(|frames| frames.iter().flat_map(|(fin, op, mask, p)| masked(*fin, *op, *mask, p)).collect())
}

fn kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![Kind::Event, Kind::Ack, Kind::BinaryEvent, Kind::BinaryAck])
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Texts that are nearly packets.
fn packetlike() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), r#"[0-7][0-9]{0,5}-?(/[a-z?=]{0,5},?)?[0-9]{0,17}[\[{]?("[a-z]{0,3}",?|[0-9,]){0,4}[\]}]?"#,]
}

proptest! {
    #[test]
    fn any_bytes_decode_the_same_however_they_are_cut(bytes in vec(any::<u8>(), 0..1000), cuts in vec(1..50usize, 1..8)) {
        prop_assert_eq!(decode(&bytes, &cuts), decode(&bytes, &[1]));
    }

    #[test]
    fn frames_decode_the_same_however_they_are_cut(bytes in frames(), cuts in vec(1..50usize, 1..8)) {
        prop_assert_eq!(decode(&bytes, &cuts), decode(&bytes, &[1]));
    }

    #[test]
    fn a_message_in_fragments_reads_back(
        payload in "\\PC{0,60}", text in any::<bool>(), at in vec(0..60usize, 0..4), mask in any::<[u8; 4]>(),
    ) {
        let mut at: Vec<_> = at.into_iter().map(|n| n.min(payload.len())).chain([payload.len()]).collect();
        at.sort_unstable();
        let (mut wire, mut start) = (Vec::new(), 0);
        for (i, end) in at.iter().enumerate() {
            let opcode = if i == 0 { opcode_of(text) } else { opcode::CONTINUATION };
            wire.extend(masked(i + 1 == at.len(), opcode, mask, &payload.as_bytes()[start..*end]));
            start = *end;
        }
        let whole = if text { Message::Text(payload.as_str().into()) } else { Message::Binary(payload.clone().into()) };
        prop_assert_eq!(decode(&wire, &[7]), (vec![whole], None));
    }

    #[test]
    fn a_packet_that_parses_is_written_and_parses_the_same(text in packetlike()) {
        let text = ByteString::from(text);
        if let Ok(packet) = Packet::parse(&text) {
            let written = packet.encode();
            prop_assert_eq!(&written[..1], "4");
            prop_assert_eq!(Packet::parse(&written[1..].into()), Ok(packet));
        }
    }

    #[test]
    fn a_packet_that_is_written_reads_back(
        kind in kind(), attachments in 0..100usize, namespace in "/[a-z]{0,10}", id in 0..1_000_000_000_000_000u64, data in vec(json(), 0..4),
    ) {
        let packet = Packet {
            kind,
            attachments: if kind.is_binary() { attachments } else { 0 },
            namespace: namespace.into(),
            id: Some(id),
            data: serde_json::to_string(&data).unwrap().into(),
        };
        prop_assert_eq!(Packet::parse(&packet.encode()[1..].into()), Ok(packet));
    }

    #[test]
    fn a_frame_is_its_text_in_both_forms(text in "\\PC{0,300}") {
        let frame = Frame::text(&text);
        prop_assert_eq!(&**frame.as_text(), text.as_str());
        prop_assert_eq!(frame.as_websocket(), &encode_frame(opcode::TEXT, text.as_bytes()));
    }

    #[test]
    fn any_text_packet_is_read_or_refused(text in any::<String>(), base64 in any::<bool>()) {
        let _ = parse_packet(&text.into(), base64);
    }

    #[test]
    fn a_payload_reads_back(packets in vec(prop_oneof!["[^\u{1e}]{0,20}".prop_map(Ok), vec(any::<u8>(), 0..40).prop_map(Err)], 1..6)) {
        let mut body = String::new();
        for (i, packet) in packets.iter().enumerate() {
            if i > 0 {
                body.push(SEPARATOR);
            }
            match packet {
                Ok(text) => body.extend(["4", text]),
                Err(bytes) => push_binary(&mut body, bytes),
            }
        }
        let body = ByteString::from(body);
        let read: Vec<_> = split(&body).map(|packet| parse_packet(&packet, true).unwrap()).collect();
        let expected: Vec<_> = packets.into_iter().map(|packet| match packet {
            Ok(text) => Incoming::Text(text.into()),
            Err(bytes) => Incoming::Binary(bytes.into()),
        }).collect();
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn attachments_stay_within_their_limits(messages in vec(prop_oneof![packetlike().prop_map(Ok), vec(any::<u8>(), 0..9).prop_map(Err)], 0..30)) {
        let mut assembler = Assembler::new(Size { count: 3, bytes: 16 });
        for message in messages {
            let result = match message {
                Ok(text) => assembler.text(&text.into()),
                Err(bytes) => assembler.binary(Bytes::from(bytes)),
            };
            if let Ok(Some(whole)) = result {
                prop_assert_eq!(whole.attachments.len(), whole.packet.attachments);
                prop_assert!(whole.attachments.len() <= 3);
                prop_assert!(whole.attachments.iter().map(Bytes::len).sum::<usize>() <= 16);
            }
        }
    }
}
