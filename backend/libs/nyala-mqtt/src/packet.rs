//! Types that the packets of both sides share.

use std::sync::Arc;

use mqtt_protocol_core::mqtt::packet::{self, v3_1_1};
use mqtt_protocol_core::mqtt::result_code::ConnectReturnCode;

use crate::frame::Frame;
use crate::kind::Kind;
use crate::violation::Violation;

/// Delivery guarantee of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Qos {
    /// 0: at most once.
    AtMostOnce,
    /// 1: at least once, and acknowledged.
    AtLeastOnce,
}

impl Qos {
    /// Converts 0 and 1; None for 2, which is not supported.
    pub(crate) fn from_core(qos: packet::Qos) -> Option<Self> {
        match qos {
            packet::Qos::AtMostOnce => Some(Self::AtMostOnce),
            packet::Qos::AtLeastOnce => Some(Self::AtLeastOnce),
            packet::Qos::ExactlyOnce => None,
        }
    }

    pub(crate) fn to_core(self) -> packet::Qos {
        match self {
            Self::AtMostOnce => packet::Qos::AtMostOnce,
            Self::AtLeastOnce => packet::Qos::AtLeastOnce,
        }
    }
}

/// The answer to one topic of a SUBSCRIBE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Granted {
    /// Messages of this topic are sent with at most this QoS.
    Yes(Qos),
    /// No messages of this topic are sent (0x80).
    No,
}

/// Why a CONNECT is refused (MQTT 3.1.1 §3.2.2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// 1: the protocol version is not supported.
    #[error("the protocol's version is not spoken")]
    Version,
    /// 2: the client id is not allowed.
    #[error("the client id is not allowed")]
    ClientId,
    /// 3: the service is not available.
    #[error("the service is not available")]
    Unavailable,
    /// 4: wrong user or password.
    #[error("wrong user or password")]
    Login,
    /// 5: this client may not connect.
    #[error("not authorized")]
    NotAuthorized,
}

impl Refusal {
    /// The return code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Version => 1,
            Self::ClientId => 2,
            Self::Unavailable => 3,
            Self::Login => 4,
            Self::NotAuthorized => 5,
        }
    }

    /// None: accepted.
    pub(crate) fn from_core(code: ConnectReturnCode) -> Option<Self> {
        match code {
            ConnectReturnCode::Accepted => None,
            ConnectReturnCode::UnacceptableProtocolVersion => Some(Self::Version),
            ConnectReturnCode::IdentifierRejected => Some(Self::ClientId),
            ConnectReturnCode::ServerUnavailable => Some(Self::Unavailable),
            ConnectReturnCode::BadUserNameOrPassword => Some(Self::Login),
            ConnectReturnCode::NotAuthorized => Some(Self::NotAuthorized),
        }
    }
}

/// Message that the server publishes when a client's connection ends without a DISCONNECT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Will<'a> {
    /// Its topic.
    pub topic: &'a str,
    /// Its message.
    pub payload: &'a [u8],
    /// Its QoS.
    pub qos: Qos,
    /// Whether the server keeps it for later subscribers.
    pub retain: bool,
}

/// A message. If its QoS needs an acknowledgement, that was written when the message was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publish {
    packet: v3_1_1::Publish,
    qos: Qos,
}

impl Publish {
    pub(crate) fn parse(frame: &Frame<'_>) -> Result<Self, Violation> {
        let body: Arc<[u8]> = frame.body().into();
        let (packet, _) = v3_1_1::Publish::parse(frame.flags, body)
            .map_err(|_| malformed(frame.kind, "topic or packet id cut short, or no UTF-8"))?;
        check_topic(frame.kind, packet.topic_name())?;
        let qos = Qos::from_core(packet.qos()).ok_or(Violation::ExactlyOnce(frame.kind))?;
        Ok(Self { packet, qos })
    }

    /// Its topic: never empty, without wildcards and U+0000. The caller checks whether the sender may use it.
    pub fn topic(&self) -> &str {
        self.packet.topic_name()
    }

    /// Its message.
    pub fn payload(&self) -> &[u8] {
        self.packet.payload().as_slice()
    }

    /// Its QoS.
    pub fn qos(&self) -> Qos {
        self.qos
    }

    /// From a client: keep the message for later subscribers. From a server: it was kept, and may be old.
    pub fn retain(&self) -> bool {
        self.packet.retain()
    }

    /// Its packet id (QoS 1 only), not checked.
    pub(crate) fn id(&self) -> Option<u16> {
        self.packet.packet_id()
    }
}

/// The packet id of a PUBACK.
pub(crate) fn acknowledged(frame: &Frame<'_>) -> Result<u16, Violation> {
    let (packet, _) = v3_1_1::Puback::parse(frame.body()).map_err(|_| malformed(frame.kind, "packet id 0"))?;
    Ok(packet.packet_id())
}

pub(crate) fn malformed(kind: Kind, what: &'static str) -> Violation {
    Violation::Malformed { kind, what }
}

/// Packet ids are never 0 (§2.3.1).
pub(crate) fn check_id(kind: Kind, id: u16) -> Result<(), Violation> {
    if id == 0 { Err(malformed(kind, "packet id 0")) } else { Ok(()) }
}

/// No string may have U+0000 (§1.5.3). The parser has already checked for UTF-8.
pub(crate) fn check_text(kind: Kind, text: &str) -> Result<(), Violation> {
    if text.contains('\0') { Err(malformed(kind, "U+0000 in a string")) } else { Ok(()) }
}

/// Checks a topic to publish to (§4.7).
pub(crate) fn check_topic(kind: Kind, topic: &str) -> Result<(), Violation> {
    check_text(kind, topic)?;
    if topic.is_empty() {
        return Err(malformed(kind, "empty topic"));
    }
    if topic.contains(['+', '#']) { Err(malformed(kind, "wildcard in a topic")) } else { Ok(()) }
}

/// Checks topics to subscribe to. Wildcards are allowed here; the caller may refuse them.
pub(crate) fn check_filters<'a>(kind: Kind, filters: impl IntoIterator<Item = &'a str>) -> Result<(), Violation> {
    for filter in filters {
        check_text(kind, filter)?;
        if filter.is_empty() {
            return Err(malformed(kind, "empty topic"));
        }
    }
    Ok(())
}
