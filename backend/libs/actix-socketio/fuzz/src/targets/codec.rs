//! Target: Engine.IO and Socket.IO packets, in polling bodies or websocket messages. The first byte selects one of the two.

use actix_socketio::Size;
use actix_socketio::host::codec::{
    Assembler, Frame, Incoming, Packet, SEPARATOR, encode_frame, opcode, parse_packet, push_binary, split,
};
use bytestring::ByteString;

use crate::harness::{kind_and_rest, of_kind};

/// Maximum size of a message; held bytes are checked against it.
const MAX: usize = 4096;
/// Maximum number of attachments of a packet.
const MAX_ATTACHMENTS: usize = 10;

const POLLING: u8 = 0;
const MESSAGE: u8 = 1;

pub fn run(bytes: &[u8]) {
    let (kind, rest) = kind_and_rest(bytes);
    binary_reads_back(rest);
    let Ok(text) = ByteString::try_from(rest) else { return };
    if kind % 2 == POLLING {
        polling(&text);
    } else {
        written_again(&text);
        text_has_two_forms(&text);
    }
}

fn polling(body: &ByteString) {
    let parts: Vec<ByteString> = split(body).collect();
    assert_eq!(parts.join(SEPARATOR.encode_utf8(&mut [0; 4])), **body);
    let mut assembler = Assembler::new(Size { count: MAX_ATTACHMENTS, bytes: MAX });
    for part in parts {
        // The binary form of polling is not valid on a websocket; all other packets are the same on both.
        let packet = parse_packet(&part, true);
        if !part.starts_with('b') {
            assert_eq!(packet, parse_packet(&part, false));
        }
        let whole = match packet {
            Ok(Incoming::Text(text)) => assembler.text(&text),
            Ok(Incoming::Binary(bytes)) => assembler.binary(bytes),
            _ => continue,
        };
        if let Ok(Some(whole)) = whole {
            assert_eq!(whole.attachments.len(), whole.packet.attachments);
            assert!(whole.attachments.len() <= MAX_ATTACHMENTS);
            assert!(whole.attachments.iter().map(|bytes| bytes.len()).sum::<usize>() <= MAX);
        }
    }
}

/// Checks that a parsed packet is the same after it is encoded and parsed again.
fn written_again(text: &ByteString) {
    let Ok(packet) = Packet::parse(text) else { return };
    assert!(packet.kind.is_binary() || packet.attachments == 0);
    let written = packet.encode();
    let Ok(Incoming::Text(inner)) = parse_packet(&written.as_str().into(), false) else {
        unreachable!("a Socket.IO packet travels as an Engine.IO message: {written}")
    };
    let again = Packet::parse(&inner);
    assert_eq!(again.as_ref().map(Packet::encode), Ok(written));
    assert_eq!(again, Ok(packet));
}

/// Checks that a frame has the same text for both transports.
fn text_has_two_forms(text: &ByteString) {
    let frame = Frame::text(text);
    assert_eq!(frame.as_text(), text);
    assert_eq!(*frame.as_websocket(), encode_frame(opcode::TEXT, text.as_bytes()));
}

fn binary_reads_back(bytes: &[u8]) {
    let mut text = String::new();
    push_binary(&mut text, bytes);
    assert_eq!(parse_packet(&text.into(), true), Ok(Incoming::Binary(bytes.to_vec().into())));
}

pub fn seeds() -> Vec<Vec<u8>> {
    let bodies = [
        r#"40{"token":"a"}"#,
        "4hello\u{1e}2probe\u{1e}3\u{1e}5\u{1e}6\u{1e}1\u{1e}bAQIDBA==",
        "452-/admin,7[\"a\",{\"_placeholder\":true,\"num\":0}]\u{1e}bAQ==\u{1e}bAg==",
    ];
    let messages = [
        "0",
        r#"0/admin?x=1,{"sid":"a"}"#,
        "1/admin,",
        r#"20["subscribe","heartbeat/7"]"#,
        r#"3/admin,13["bar"]"#,
        r#"4{"message":"unauthorized"}"#,
        r#"51-["baz",{"_placeholder":true,"num":0}]"#,
        r#"61-999999999999999["bar",1]"#,
    ];
    let bodies = bodies.iter().map(|body| of_kind(POLLING, body.as_bytes()));
    bodies.chain(messages.iter().map(|message| of_kind(MESSAGE, message.as_bytes()))).collect()
}
