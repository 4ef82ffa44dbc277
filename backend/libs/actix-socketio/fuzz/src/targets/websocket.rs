//! Target: websocket frames of a client (RFC 6455 §5). The first byte is the size of the pieces in which the others arrive. 0 means
//! that they are the payload of a correctly sent message.

use actix_socketio::host::codec::{Decoder, Message, WebsocketError, encode_frame, opcode};
use bytes::BytesMut;
use bytestring::ByteString;

use crate::harness::{kind_and_rest, of_kind};

/// Maximum size of a message; held bytes are checked against it.
const MAX: usize = 4096;
/// Maximum size of a frame's header.
const HEADER: usize = 14;
const MASKED: u8 = 0x80;
const FIN: u8 = 0x80;

pub fn run(bytes: &[u8]) {
    match kind_and_rest(bytes) {
        (0, payload) => sent_as_it_should_be(payload),
        (piece, stream) => {
            // The result must not depend on how the stream is split.
            assert_eq!(decoded(stream, usize::from(piece)), decoded(stream, stream.len()));
        }
    }
}

/// All messages, and the error that ended the stream.
fn decoded(stream: &[u8], piece: usize) -> (Vec<Message>, Option<WebsocketError>) {
    let (mut decoder, mut buffer, mut messages) = (Decoder::new(MAX), BytesMut::new(), Vec::new());
    for chunk in stream.chunks(piece.max(1)) {
        buffer.extend_from_slice(chunk);
        loop {
            match decoder.decode(&mut buffer) {
                Ok(Some(message)) => {
                    assert!(size(&message) <= MAX);
                    messages.push(message);
                }
                Ok(None) => break,
                Err(error) => return (messages, Some(error)),
            }
        }
        // The held bytes are less than one frame of maximum size.
        assert!(buffer.len() < MAX + HEADER);
    }
    (messages, None)
}

fn size(message: &Message) -> usize {
    match message {
        Message::Text(text) => text.len(),
        Message::Binary(bytes) => bytes.len(),
        Message::Ping(bytes) => {
            assert!(bytes.len() <= 125);
            bytes.len()
        }
        Message::Pong | Message::Close => 0,
    }
}

/// Checks that a message in fragments, with a ping between them, is read correctly.
fn sent_as_it_should_be(payload: &[u8]) {
    let payload = &payload[..payload.len().min(MAX)];
    let (op, whole) = match ByteString::try_from(payload) {
        Ok(text) => (opcode::TEXT, Message::Text(text)),
        Err(_) => (opcode::BINARY, Message::Binary(payload.to_vec().into())),
    };
    let (first, second) = payload.split_at(payload.len() / 3);
    let stream = [frame(op, false, first), frame(opcode::PING, true, b"?"), frame(opcode::CONTINUATION, true, second)].concat();
    let ping = Message::Ping(b"?".to_vec().into());
    assert_eq!(decoded(&stream, 7), (vec![ping, whole.clone()], None));
    assert_eq!(decoded(&frame(op, true, payload), usize::MAX), (vec![whole], None));
}

/// A client's frame: masked.
fn frame(op: u8, is_last: bool, payload: &[u8]) -> Vec<u8> {
    const MASK: [u8; 4] = [0xa5, 0x00, 0x5a, 0xff];
    let plain = encode_frame(op, payload);
    let (head, _) = plain.split_at(plain.len() - payload.len());
    let mut out = head.to_vec();
    out[0] = op | if is_last { FIN } else { 0 };
    out[1] |= MASKED;
    out.extend(MASK);
    out.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, key)| byte ^ key));
    out
}

pub fn seeds() -> Vec<Vec<u8>> {
    let subscribe = br#"420["subscribe","heartbeat/7"]"#;
    let long = vec![b'x'; 300];
    let streams = [
        frame(opcode::TEXT, true, subscribe),
        [frame(opcode::TEXT, false, b"4"), frame(opcode::PING, true, b"a"), frame(opcode::CONTINUATION, true, b"2[]")].concat(),
        [frame(opcode::BINARY, true, &long), frame(opcode::PONG, true, b""), frame(opcode::CLOSE, true, &[3, 232])].concat(),
        vec![0x81, 0xff, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0],
    ];
    let cut = streams.iter().zip([255, 1, 3, 5]).map(|(stream, piece)| of_kind(piece, stream));
    cut.chain([of_kind(0, subscribe), of_kind(0, &[0xff; 200])]).collect()
}
