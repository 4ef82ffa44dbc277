//! Websocket client frames (RFC 6455), written byte by byte without the server's own codec. The tests of the whole server also use
//! them.

use std::fmt::Display;

const MASK: [u8; 4] = [0xa1, 0x02, 0xf3, 0x44];
/// A complete text frame.
const WHOLE_TEXT: u8 = 0x81;

/// A masked frame; `first` is its first byte.
pub fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![first];
    match payload.len() {
        n if n < 126 => out.push(0x80 | n as u8),
        n if n < 65_536 => {
            out.push(0x80 | 126);
            out.extend((n as u16).to_be_bytes());
        }
        n => {
            out.push(0x80 | 127);
            out.extend((n as u64).to_be_bytes());
        }
    }
    out.extend(MASK);
    out.extend(payload.iter().enumerate().map(|(i, b)| b ^ MASK[i % 4]));
    out
}

pub fn text_frame(text: &str) -> Vec<u8> {
    frame(WHOLE_TEXT, text.as_bytes())
}

/// The head of an upgrade request, with the sample key of RFC 6455 §1.3; `more` are further header lines.
pub fn upgrade_request(address: impl Display, target: &str, more: &str) -> String {
    format!(
        "GET {target} HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{more}\r\n"
    )
}
