//! Bytes of a hostile client through the whole codec, as a session does it: `cargo +nightly fuzz run codec`.
#![no_main]

use actix_socketio::codec::{Assembler, Decoder, Incoming, Message, Packet, parse_packet, split};
use bytes::BytesMut;
use bytestring::ByteString;
use libfuzzer_sys::fuzz_target;

/// Largest message; what the codec holds is checked against it.
const MAX: usize = 4096;
const HEADER: usize = 14;

fuzz_target!(|data: &[u8]| {
    websocket(data);
    if let Ok(body) = ByteString::try_from(data) {
        polling(&body);
        written_again(&body);
    }
});

/// The first byte says how large the pieces are that the rest arrives in.
fn websocket(data: &[u8]) {
    let Some((piece, bytes)) = data.split_first() else { return };
    let (mut decoder, mut assembler, mut buffer) = (Decoder::new(MAX), Assembler::new(10, MAX), BytesMut::new());
    for chunk in bytes.chunks(usize::from(*piece).max(1)) {
        buffer.extend_from_slice(chunk);
        loop {
            match decoder.decode(&mut buffer) {
                Ok(Some(Message::Text(text))) => packet(&mut assembler, parse_packet(&text, false).ok()),
                Ok(Some(Message::Binary(bytes))) => packet(&mut assembler, Some(Incoming::Binary(bytes))),
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        assert!(buffer.len() <= MAX + HEADER);
    }
}

fn polling(body: &ByteString) {
    let mut assembler = Assembler::new(10, MAX);
    for text in split(body) {
        packet(&mut assembler, parse_packet(&text, true).ok());
    }
}

fn packet(assembler: &mut Assembler, packet: Option<Incoming>) {
    let whole = match packet {
        Some(Incoming::Text(text)) => assembler.text(&text),
        Some(Incoming::Binary(bytes)) => assembler.binary(bytes),
        _ => return,
    };
    if let Ok(Some(whole)) = whole {
        assert_eq!(whole.attachments.len(), whole.packet.attachments);
        assert!(whole.attachments.iter().map(|bytes| bytes.len()).sum::<usize>() <= MAX);
    }
}

fn written_again(text: &ByteString) {
    if let Ok(packet) = Packet::parse(text) {
        assert_eq!(Packet::parse(&packet.encode()[1..].into()), Ok(packet));
    }
}
