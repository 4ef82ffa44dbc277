//! Engine.IO 4 packets and polling payloads (Engine.IO protocol, "Packet encoding").

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use bytestring::ByteString;

/// Separator between the packets of a polling body.
pub const SEPARATOR: char = '\u{1e}';

/// Packet from a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incoming {
    /// `1`: the client closes the session.
    Close,
    /// `2`, with its payload: only the probe of an upgrade carries one.
    Ping(ByteString),
    /// `3`: the answer to a heartbeat.
    Pong,
    /// `4`: a text message.
    Text(ByteString),
    /// `b` and base64, or a binary websocket message.
    Binary(Bytes),
    /// `5`: the upgrade is complete.
    Upgrade,
    /// `6`: nothing.
    Noop,
}

/// Reason why a text is not an Engine.IO packet. The session that sent it is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    /// The first character is not a packet type that a client may send.
    #[error("unknown packet type: expected 1 to 6 or b")]
    UnknownType,
    /// The base64 of a binary packet does not decode.
    #[error("bad base64 in a binary packet")]
    Base64,
}

/// Reads one text packet. `base64`: whether the `b` form is allowed (only in polling; on a websocket, binary messages need no
/// encoding).
///
/// # Errors
/// When the type is unknown or the base64 is bad.
pub fn parse_packet(text: &ByteString, base64: bool) -> Result<Incoming, PayloadError> {
    let rest = || text.slice_ref(&text[1..]);
    match text.as_bytes().first() {
        Some(b'1') => Ok(Incoming::Close),
        Some(b'2') => Ok(Incoming::Ping(rest())),
        Some(b'3') => Ok(Incoming::Pong),
        Some(b'4') => Ok(Incoming::Text(rest())),
        Some(b'5') => Ok(Incoming::Upgrade),
        Some(b'6') => Ok(Incoming::Noop),
        Some(b'b') if base64 => {
            let bytes = STANDARD.decode(&text.as_bytes()[1..]).map_err(|_| PayloadError::Base64)?;
            Ok(Incoming::Binary(bytes.into()))
        }
        _ => Err(PayloadError::UnknownType),
    }
}

/// The packets of a polling body, in order.
pub fn split(body: &ByteString) -> impl Iterator<Item = ByteString> + '_ {
    body.split(SEPARATOR).map(|part| body.slice_ref(part))
}

/// Appends a binary packet to a polling answer.
pub fn push_binary(out: &mut String, bytes: &[u8]) {
    out.push('b');
    STANDARD.encode_string(bytes, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_payload_reads_back() {
        let body = ByteString::from_static("4hello\u{1e}2\u{1e}4world\u{1e}bAQIDBA==");
        let packets: Vec<_> = split(&body).map(|p| parse_packet(&p, true)).collect();
        assert_eq!(
            packets,
            [
                Ok(Incoming::Text("hello".into())),
                Ok(Incoming::Ping("".into())),
                Ok(Incoming::Text("world".into())),
                Ok(Incoming::Binary(Bytes::from_static(&[1, 2, 3, 4]))),
            ]
        );
    }

    #[test]
    fn binary_is_written_as_documented() {
        let mut out = String::new();
        push_binary(&mut out, &[1, 2, 3, 4]);
        assert_eq!(out, "bAQIDBA==");
    }

    #[test]
    fn what_a_client_may_not_send_is_an_error() {
        for text in ["", "abc", "0", "7", "\u{e9}"] {
            assert_eq!(parse_packet(&text.into(), true), Err(PayloadError::UnknownType), "{text}");
        }
        assert_eq!(parse_packet(&"b!".into(), true), Err(PayloadError::Base64));
        assert_eq!(parse_packet(&"bAQID".into(), false), Err(PayloadError::UnknownType));
    }
}
