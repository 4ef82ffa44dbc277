//! Text packet, encoded once for all transports.

use bytes::Bytes;
use bytestring::ByteString;
use serde::Serialize;

use super::packet::{Kind, Packet};
use super::websocket_frame::{encode_frame, opcode};

/// An Engine.IO text packet as a complete websocket frame and as polling text. Frames from a server are not masked (RFC
/// 6455 §5.1), so the same bytes go to every client: encode once, clone for each. Both forms share one allocation.
#[derive(Debug, Clone)]
pub struct Frame {
    text: ByteString,
    ws: Bytes,
}

impl Frame {
    /// Encodes an Engine.IO packet, type digit included (`4hello`).
    pub fn text(packet: &str) -> Self {
        let ws = encode_frame(opcode::TEXT, packet.as_bytes());
        let payload = ws.slice(ws.len() - packet.len()..);
        // The payload is the bytes of a str, so the conversion always succeeds.
        let text = ByteString::try_from(payload).unwrap_or_else(|_| packet.into());
        Self { text, ws }
    }

    /// Encodes a Socket.IO packet without attachments.
    pub(crate) fn packet(packet: &Packet) -> Self {
        Self::text(&packet.encode())
    }

    /// Encodes the event `name` with one argument, for the clients of `namespace` (`/` is the main one).
    ///
    /// # Errors
    /// When `argument` does not serialise to JSON.
    pub fn event<A: Serialize + ?Sized>(namespace: &str, name: &str, argument: &A) -> serde_json::Result<Self> {
        let data = serde_json::to_string(&(name, argument))?;
        Ok(Self::packet(&Packet { kind: Kind::Event, attachments: 0, namespace: namespace.into(), id: None, data: data.into() }))
    }

    /// The packet as part of a polling payload.
    pub fn as_text(&self) -> &ByteString {
        &self.text
    }

    /// The packet as a complete websocket frame.
    pub fn as_websocket(&self) -> &Bytes {
        &self.ws
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_both_forms() {
        let frame = Frame::event("/", "heartbeat/7", &serde_json::json!({"tl": 1})).unwrap();
        let text = r#"42["heartbeat/7",{"tl":1}]"#;
        assert_eq!(&**frame.as_text(), text);
        assert_eq!(frame.as_websocket()[..2], [0x81, text.len() as u8]);
        assert_eq!(&frame.as_websocket()[2..], text.as_bytes());
        let other = Frame::event("/custom", "a", &1).unwrap();
        assert_eq!(&**other.as_text(), r#"42/custom,["a",1]"#);
    }
}
