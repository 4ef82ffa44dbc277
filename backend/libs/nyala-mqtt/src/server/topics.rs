//! Reading of SUBSCRIBE and UNSUBSCRIBE (MQTT 3.1.1 §3.8, §3.10).

use mqtt_protocol_core::mqtt::packet::{self, v3_1_1};

use crate::frame::Frame;
use crate::packet::{Qos, check_filters, check_id, malformed};
use crate::violation::Violation;

/// Topics that a client subscribes to. Answer with [`ServerConnection::grant`](super::ServerConnection::grant).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscribe(v3_1_1::Subscribe);

impl Subscribe {
    pub(crate) fn parse(frame: &Frame<'_>) -> Result<Self, Violation> {
        let kind = frame.kind;
        let (packet, _) = v3_1_1::Subscribe::parse(frame.body()).map_err(|_| malformed(kind, "cut short, or a QoS above 2"))?;
        check_id(kind, packet.packet_id())?;
        check_filters(kind, packet.entries().iter().map(packet::SubEntry::topic_filter))?;
        // The parser also accepts the options of MQTT 5.
        if packet.entries().iter().any(|entry| entry.sub_opts().to_buffer()[0] > packet::Qos::ExactlyOnce as u8) {
            return Err(Violation::ReservedBits(kind));
        }
        Ok(Self(packet))
    }

    /// Each topic as it was sent (it may have wildcards) and its maximum QoS. At least one topic.
    pub fn topics(&self) -> impl ExactSizeIterator<Item = (&str, Qos)> {
        self.0.entries().iter().map(|entry| (entry.topic_filter(), max_qos(entry.sub_opts().qos())))
    }

    pub(crate) fn id(&self) -> u16 {
        self.0.packet_id()
    }
}

/// The QoS to grant: a request for QoS 2 gets 1.
fn max_qos(qos: packet::Qos) -> Qos {
    Qos::from_core(qos).unwrap_or(Qos::AtLeastOnce)
}

/// Topics that a client unsubscribes from. The answer was written when the packet was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsubscribe(v3_1_1::Unsubscribe);

impl Unsubscribe {
    pub(crate) fn parse(frame: &Frame<'_>) -> Result<Self, Violation> {
        let kind = frame.kind;
        let (packet, _) = v3_1_1::Unsubscribe::parse(frame.body()).map_err(|_| malformed(kind, "cut short"))?;
        check_filters(kind, packet.entries().iter().map(packet::MqttString::as_str))?;
        Ok(Self(packet))
    }

    /// Each topic as it was sent. At least one topic.
    pub fn topics(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.entries().iter().map(packet::MqttString::as_str)
    }

    pub(crate) fn id(&self) -> u16 {
        self.0.packet_id()
    }
}
