//! Socket.IO 5 packets: `<type>[<attachments>-][<namespace>,][<ack id>][JSON]` (Socket.IO protocol, "Packet encoding").

use bytestring::ByteString;
use serde::de::IgnoredAny;

/// The seven packet types, by their number on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Joins a namespace, or confirms that it was joined.
    Connect = 0,
    /// Leaves a namespace.
    Disconnect = 1,
    /// An event with its arguments.
    Event = 2,
    /// The answer to an event that had an id.
    Ack = 3,
    /// A namespace was refused.
    ConnectError = 4,
    /// An event followed by binary attachments.
    BinaryEvent = 5,
    /// An answer followed by binary attachments.
    BinaryAck = 6,
}

impl Kind {
    fn from_digit(digit: u8) -> Option<Self> {
        Some(match digit {
            b'0' => Self::Connect,
            b'1' => Self::Disconnect,
            b'2' => Self::Event,
            b'3' => Self::Ack,
            b'4' => Self::ConnectError,
            b'5' => Self::BinaryEvent,
            b'6' => Self::BinaryAck,
            _ => return None,
        })
    }

    /// Whether attachments may follow.
    pub fn is_binary(self) -> bool {
        matches!(self, Self::BinaryEvent | Self::BinaryAck)
    }
}

/// One Socket.IO packet. Slices of the text it was parsed from, so a parse copies nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// The packet's type.
    pub kind: Kind,
    /// How many binary attachments follow; 0 unless the kind is binary.
    pub attachments: usize,
    /// The namespace, `/` for the main one.
    pub namespace: ByteString,
    /// The acknowledgement's id.
    pub id: Option<u64>,
    /// The payload as JSON text: an object for a connect, an array for events and acks, empty without a payload.
    pub data: ByteString,
}

/// Reason why a text is not a packet. The session that sent it is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PacketError {
    /// The first character is not `0` to `6`.
    #[error("unknown packet type: expected a digit from 0 to 6")]
    UnknownType,
    /// A binary packet without `<number>-`, or with a number of more than four digits.
    #[error("bad number of attachments: expected 1 to 4 digits and a dash")]
    Attachments,
    /// An ack id that does not fit, or a missing one.
    #[error("bad acknowledgement id: expected 1 to 15 digits")]
    Id,
    /// JSON that does not parse or has the wrong shape for its packet.
    #[error("bad payload: expected an object for a connect, an array for events and acks, nothing for a disconnect")]
    Payload,
}

/// 15 digits always fit the integers of a JavaScript client.
const MAX_ID_DIGITS: usize = 15;
const MAX_ATTACHMENT_DIGITS: usize = 4;

impl Packet {
    /// Reads the text of an Engine.IO message (without its leading `4`).
    ///
    /// # Errors
    /// When the text breaks the format, or its payload is not the JSON that its type requires.
    pub fn parse(text: &ByteString) -> Result<Self, PacketError> {
        let bytes = text.as_bytes();
        let kind = bytes.first().copied().and_then(Kind::from_digit).ok_or(PacketError::UnknownType)?;
        let mut at = 1;
        let mut attachments = 0;
        if kind.is_binary() {
            let digits = digits_at(bytes, at);
            if digits == 0 || digits > MAX_ATTACHMENT_DIGITS || bytes.get(at + digits) != Some(&b'-') {
                return Err(PacketError::Attachments);
            }
            attachments = text[at..at + digits].parse().map_err(|_| PacketError::Attachments)?;
            at += digits + 1;
        }
        let mut namespace = ByteString::from_static("/");
        if bytes.get(at) == Some(&b'/') {
            let end = bytes[at..].iter().position(|b| *b == b',').map_or(bytes.len(), |n| at + n);
            // The reference parser allows a query after the namespace (`/admin?x=1`); it is not part of the name.
            let name_end = bytes[at..end].iter().position(|b| *b == b'?').map_or(end, |n| at + n);
            namespace = text.slice_ref(&text[at..name_end]);
            at = (end + 1).min(bytes.len());
        }
        let digits = digits_at(bytes, at);
        if digits > MAX_ID_DIGITS {
            return Err(PacketError::Id);
        }
        let id = match digits {
            0 => None,
            n => Some(text[at..at + n].parse().map_err(|_| PacketError::Id)?),
        };
        let data = text.slice_ref(&text[at + digits..]);
        check_payload(kind, id, &data)?;
        Ok(Self { kind, attachments, namespace, id, data })
    }

    /// The text of the Engine.IO message that carries this packet, with its leading `4`.
    pub fn encode(&self) -> String {
        let mut out = String::with_capacity(self.data.len() + self.namespace.len() + 24);
        out.push('4');
        out.push(char::from(b'0' + self.kind as u8));
        if self.kind.is_binary() {
            out.push_str(&self.attachments.to_string());
            out.push('-');
        }
        if &*self.namespace != "/" {
            out.push_str(&self.namespace);
            out.push(',');
        }
        if let Some(id) = self.id {
            out.push_str(&id.to_string());
        }
        out.push_str(&self.data);
        out
    }
}

fn digits_at(bytes: &[u8], at: usize) -> usize {
    bytes.iter().skip(at).take_while(|b| b.is_ascii_digit()).count()
}

fn check_payload(kind: Kind, id: Option<u64>, data: &str) -> Result<(), PacketError> {
    let fits = match kind {
        Kind::Connect => data.is_empty() || is_json(data, '{'),
        Kind::Disconnect => data.is_empty(),
        Kind::ConnectError => is_json(data, '{') || is_json(data, '"'),
        Kind::Event | Kind::BinaryEvent => is_json(data, '['),
        Kind::Ack | Kind::BinaryAck => {
            if id.is_none() {
                return Err(PacketError::Id);
            }
            is_json(data, '[')
        }
    };
    if fits { Ok(()) } else { Err(PacketError::Payload) }
}

fn is_json(data: &str, first: char) -> bool {
    data.starts_with(first) && serde_json::from_str::<IgnoredAny>(data).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(kind: Kind, attachments: usize, namespace: &'static str, id: Option<u64>, data: &'static str) -> Packet {
        Packet { kind, attachments, namespace: ByteString::from_static(namespace), id, data: ByteString::from_static(data) }
    }

    /// The examples of the protocol document, "Packet encoding".
    #[test]
    fn documented_examples_parse_and_encode() {
        let cases = [
            ("0", packet(Kind::Connect, 0, "/", None, "")),
            (r#"0/admin,{"sid":"oSO0"}"#, packet(Kind::Connect, 0, "/admin", None, r#"{"sid":"oSO0"}"#)),
            (r#"4{"message":"Not authorized"}"#, packet(Kind::ConnectError, 0, "/", None, r#"{"message":"Not authorized"}"#)),
            (r#"2["foo"]"#, packet(Kind::Event, 0, "/", None, r#"["foo"]"#)),
            (r#"2/admin,["bar"]"#, packet(Kind::Event, 0, "/admin", None, r#"["bar"]"#)),
            (
                r#"51-["baz",{"_placeholder":true,"num":0}]"#,
                packet(Kind::BinaryEvent, 1, "/", None, r#"["baz",{"_placeholder":true,"num":0}]"#),
            ),
            (r#"52-/admin,["baz",1]"#, packet(Kind::BinaryEvent, 2, "/admin", None, r#"["baz",1]"#)),
            (r#"212["foo"]"#, packet(Kind::Event, 0, "/", Some(12), r#"["foo"]"#)),
            (r#"3/admin,13["bar"]"#, packet(Kind::Ack, 0, "/admin", Some(13), r#"["bar"]"#)),
            (r#"61-15["bar",1]"#, packet(Kind::BinaryAck, 1, "/", Some(15), r#"["bar",1]"#)),
            ("1", packet(Kind::Disconnect, 0, "/", None, "")),
            ("1/admin,", packet(Kind::Disconnect, 0, "/admin", None, "")),
        ];
        for (text, expected) in cases {
            assert_eq!(Packet::parse(&text.into()), Ok(expected.clone()), "{text}");
            assert_eq!(expected.encode(), format!("4{text}"), "{text}");
        }
    }

    #[test]
    fn namespace_may_end_the_text_and_may_carry_a_query() {
        assert_eq!(Packet::parse(&"0/custom".into()), Ok(packet(Kind::Connect, 0, "/custom", None, "")));
        assert_eq!(Packet::parse(&"0/custom?a=1,".into()), Ok(packet(Kind::Connect, 0, "/custom", None, "")));
    }

    #[test]
    fn bad_texts_are_refused_by_name() {
        for (text, error) in [
            ("", PacketError::UnknownType),
            ("abc", PacketError::UnknownType),
            ("7", PacketError::UnknownType),
            ("5[\"a\"]", PacketError::Attachments),
            ("5-[\"a\"]", PacketError::Attachments),
            ("599999-[\"a\"]", PacketError::Attachments),
            ("51[\"a\"]", PacketError::Attachments),
            ("21234567890123456[\"a\"]", PacketError::Id),
            ("3[\"a\"]", PacketError::Id),
            ("2abc[\"a\"]", PacketError::Payload),
            ("2", PacketError::Payload),
            ("2{}", PacketError::Payload),
            ("2[", PacketError::Payload),
            ("2[\"a\"]x", PacketError::Payload),
            ("31{}", PacketError::Payload),
            ("0[]", PacketError::Payload),
            ("1{}", PacketError::Payload),
        ] {
            assert_eq!(Packet::parse(&text.into()), Err(error), "{text}");
        }
    }
}
