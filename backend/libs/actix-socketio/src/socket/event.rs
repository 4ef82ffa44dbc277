//! Events, arguments and `auth` that a client sends to a socket.

use bytes::Bytes;
use bytestring::ByteString;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ack::Ack;
use crate::codec::{Assembled, Kind, Packet};
use crate::engine::Violation;

/// Event names that the clients use internally; the reference parser refuses them on the wire.
const RESERVED: [&str; 6] = ["connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener"];

/// An event of a client.
#[derive(Debug)]
pub struct Event {
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub args: Args,
    /// How to answer it, when the client asked for an answer.
    pub ack: Option<Ack>,
}

/// The arguments of an event or of an answer: `Args::default().with("a")?.with(&7)?.with_binary(bytes)`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Args {
    json: ByteString,
    attachments: Vec<Bytes>,
}

impl Args {
    /// Adds an argument.
    ///
    /// # Errors
    /// When `argument` does not serialise to JSON.
    pub fn with<A: Serialize + ?Sized>(self, argument: &A) -> serde_json::Result<Self> {
        let json = serde_json::to_string(argument)?;
        Ok(self.with_json(&json))
    }

    /// Adds a binary argument. It is sent as an attachment, and its receiver gets a `Buffer` or an `ArrayBuffer`.
    #[must_use]
    pub fn with_binary(mut self, bytes: impl Into<Bytes>) -> Self {
        let placeholder = format!(r#"{{"_placeholder":true,"num":{}}}"#, self.attachments.len());
        self.attachments.push(bytes.into());
        self.with_json(&placeholder)
    }

    fn with_json(mut self, json: &str) -> Self {
        let comma = if self.json.is_empty() { "" } else { "," };
        self.json = format!("{}{comma}{json}", self.json).into();
        self
    }

    /// The packet of the event `name` with these arguments, without the attachments.
    pub(super) fn packet_of_event(&self, namespace: ByteString, name: &str) -> serde_json::Result<Packet> {
        let comma = if self.json.is_empty() { "" } else { "," };
        let data = format!("[{}{comma}{}]", serde_json::to_string(name)?, self.json).into();
        let attachments = self.attachments.len();
        let kind = if attachments == 0 { Kind::Event } else { Kind::BinaryEvent };
        Ok(Packet { kind, attachments, namespace, id: None, data })
    }

    /// Splits the payload of a packet, already known to be JSON, into the event's name and its arguments.
    pub(super) fn of_event(event: Assembled) -> Result<(String, Self), Violation> {
        let data = event.packet.data;
        let inner = inside(&data);
        let mut names = serde_json::Deserializer::from_str(inner).into_iter::<String>();
        let Some(Ok(name)) = names.next() else {
            return Err(Violation::new("an event must begin with its name, a string"));
        };
        if RESERVED.contains(&name.as_str()) {
            return Err(Violation::new(format_args!("event name {name:?} is reserved")));
        }
        let rest = inner.get(names.byte_offset()..).unwrap_or_default().trim_start();
        let json = data.slice_ref(rest.strip_prefix(',').unwrap_or(rest));
        Ok((name, Self { json, attachments: event.attachments }))
    }

    pub(super) fn of_ack(ack: Assembled) -> Self {
        let json = ack.packet.data.slice_ref(inside(&ack.packet.data));
        Self { json, attachments: ack.attachments }
    }

    /// The arguments as JSON texts with commas between them, without brackets.
    pub fn json(&self) -> &ByteString {
        &self.json
    }

    /// The binary attachments; `{"_placeholder":true,"num":N}` in the JSON refers to the N-th. The client chose N: it may be out of
    /// range.
    pub fn attachments(&self) -> &[Bytes] {
        &self.attachments
    }

    /// Reads the arguments as a tuple: `let (topic,): (String,) = args.read()?`.
    ///
    /// # Errors
    /// When number or types differ.
    pub fn read<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(&format!("[{}]", self.json))
    }
}

/// The text between the brackets of a JSON array.
fn inside(array: &str) -> &str {
    array.trim_end().strip_prefix('[').and_then(|s| s.strip_suffix(']')).unwrap_or_default()
}

/// Data that a client sends when it asks to join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectAuth(ByteString);

impl ConnectAuth {
    pub(super) fn new(json: &ByteString) -> Self {
        // Copied: the packet is a slice of a larger read.
        Self(if json.is_empty() { ByteString::from_static("{}") } else { ByteString::from(&**json) })
    }

    /// The JSON text of an object; `{}` when the client sent nothing.
    pub fn json(&self) -> &ByteString {
        &self.0
    }

    /// Reads it as `T`.
    ///
    /// # Errors
    /// When the types differ.
    pub fn read<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Packet;

    fn event(text: &str) -> Result<(String, Args), Violation> {
        let packet = Packet::parse(&text.into()).unwrap();
        Args::of_event(Assembled { packet, attachments: vec![] })
    }

    #[test]
    fn name_and_arguments_come_apart() {
        let (name, args) = event(r#"2["a,b\"]", 1 , {"x":[2]} ]"#).unwrap();
        assert_eq!(name, "a,b\"]");
        assert_eq!(args.json().trim(), r#"1 , {"x":[2]}"#);
        let (one, _): (u32, serde_json::Value) = args.read().unwrap();
        assert_eq!(one, 1);
        assert_eq!(event(r#"2["a"]"#).unwrap().1.read::<()>().ok(), None, "() is null, not []");
        assert_eq!(event(r#"2["a"]"#).unwrap().1.read::<Vec<u8>>().unwrap(), Vec::<u8>::new());
    }

    #[test]
    fn an_event_needs_a_name_that_is_free() {
        for text in ["2[]", "2[1]", "2[null,1]", r#"2["connect"]"#, r#"2["disconnecting",1]"#] {
            assert!(event(text).is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn taking_an_event_apart_loses_nothing(
            name in ".{0,8}", args in proptest::collection::vec("[0-9]{1,3}|\"\\PC{0,5}\"|\\[[0-9]?\\]", 0..4), blank in "[ \n]{0,2}",
        ) {
            let mut items = vec![serde_json::to_string(&name).unwrap()];
            items.extend(args);
            let text = format!("2[{blank}{}{blank}]", items.join(&format!("{blank},{blank}")));
            // Random quotes and brackets are not always JSON, and then not a packet.
            if let Ok(packet) = Packet::parse(&text.as_str().into()) {
                let all: Vec<serde_json::Value> = serde_json::from_str(&packet.data).unwrap();
                match Args::of_event(Assembled { packet, attachments: vec![] }) {
                    Ok((got, rest)) => {
                        proptest::prop_assert_eq!(got, name);
                        proptest::prop_assert_eq!(rest.read::<Vec<serde_json::Value>>().unwrap(), &all[1..]);
                    }
                    Err(_) => proptest::prop_assert!(RESERVED.contains(&name.as_str())),
                }
            }
        }
    }
}
