//! Writing of packets.

use mqtt_protocol_core::mqtt::packet::{GenericPacketTrait, v3_1_1};
use mqtt_protocol_core::mqtt::result_code::MqttError;

use crate::kind::Kind;
use crate::packet::{self, Publish, Qos, malformed};
use crate::violation::Violation;

/// Reason why a packet was not written. No bytes were appended, and the connection stays usable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unsent {
    /// The connection is not open: before the login or after the end.
    #[error("this connection is not open for it")]
    Closed,
    /// More than [`Limits`](crate::Limits) allow.
    #[error("a packet of {size} bytes: at most {max} are allowed")]
    TooLarge {
        /// Its size, or the size of its strings if these alone are too large.
        size: usize,
        /// The largest one.
        max: usize,
    },
    /// The content breaks the standard: a topic that is empty or has wildcards or U+0000, or no topics at all.
    #[error("nothing that a packet may hold")]
    Invalid,
}

impl From<MqttError> for Unsent {
    fn from(_: MqttError) -> Self {
        Self::Invalid
    }
}

/// Packet ids of sent packets: 1 to 65,535, then again from 1. Missing acknowledgements are not tracked, because this crate never
/// resends.
#[derive(Debug, Default)]
pub(crate) struct Ids(u16);

impl Ids {
    pub fn next(&mut self) -> u16 {
        self.0 = self.0.checked_add(1).unwrap_or(1);
        self.0
    }
}

/// A PUBLISH, with a packet id for QoS 1.
pub(crate) struct Message<'a> {
    pub topic: &'a str,
    pub payload: &'a [u8],
    pub qos: Qos,
    pub retain: bool,
}

impl Message<'_> {
    /// Appends the packet and returns its packet id.
    pub fn put(&self, ids: &mut Ids, max: usize, out: &mut Vec<u8>) -> Result<Option<u16>, Unsent> {
        check_size(self.topic.len() + self.payload.len(), max)?;
        check_topic(self.topic)?;
        let id = match self.qos {
            Qos::AtMostOnce => None,
            Qos::AtLeastOnce => Some(ids.next()),
        };
        let packet = v3_1_1::Publish::builder()
            .topic_name(self.topic)?
            .qos(self.qos.to_core())
            .retain(self.retain)
            .packet_id(id)
            .payload(self.payload)
            .build()?;
        put(&packet, max, out)?;
        Ok(id)
    }
}

/// Appends a packet, if it is not too large.
pub(crate) fn put(packet: &impl GenericPacketTrait, max: usize, out: &mut Vec<u8>) -> Result<(), Unsent> {
    check_size(packet.size(), max)?;
    append(packet, out);
    Ok(())
}

/// Appends a packet.
pub(crate) fn append(packet: &impl GenericPacketTrait, out: &mut Vec<u8>) {
    for part in packet.to_buffers() {
        out.extend_from_slice(&part);
    }
}

/// Acknowledges a PUBLISH of QoS 1.
pub(crate) fn acknowledge(publish: &Publish, out: &mut Vec<u8>) -> Result<(), Violation> {
    if let Some(id) = publish.id() {
        let answer = v3_1_1::Puback::builder().packet_id(id).build();
        append(&answer.map_err(|_| malformed(Kind::Publish, "packet id 0"))?, out);
    }
    Ok(())
}

/// Refuses a packet that is too large, before its content is copied.
pub(crate) fn check_size(size: usize, max: usize) -> Result<(), Unsent> {
    if size > max { Err(Unsent::TooLarge { size, max }) } else { Ok(()) }
}

/// Checks a string of any packet.
pub(crate) fn check_text(text: &str) -> Result<(), Unsent> {
    packet::check_text(Kind::Publish, text).map_err(|_| Unsent::Invalid)
}

/// Checks a topic to publish to.
pub(crate) fn check_topic(topic: &str) -> Result<(), Unsent> {
    packet::check_topic(Kind::Publish, topic).map_err(|_| Unsent::Invalid)
}
