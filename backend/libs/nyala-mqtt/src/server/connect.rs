//! Reading of a CONNECT (MQTT 3.1.1 §3.1).

use std::time::Duration;

use mqtt_protocol_core::mqtt::packet::v3_1_1;
use mqtt_protocol_core::mqtt::result_code::MqttError;

use crate::frame::Frame;
use crate::kind::Kind;
use crate::packet::{Qos, Will, check_text, check_topic, malformed};
use crate::violation::Violation;

/// Index of the flags, after `MQTT`, its length and the version.
const FLAGS_AT: usize = 7;

/// The only supported version.
const LEVEL: u8 = 4;

const RESERVED: u8 = 0b0000_0001;
const WILL: u8 = 0b0000_0100;
const WILL_QOS: u8 = 0b0001_1000;
const WILL_RETAIN: u8 = 0b0010_0000;

/// Login of a client. Its `Debug` does not show the password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connect {
    packet: v3_1_1::Connect,
    keep_alive: Duration,
}

impl Connect {
    /// Reads a CONNECT, and caps its keep-alive.
    pub(crate) fn parse(frame: &Frame<'_>, cap: Duration) -> Result<Self, Violation> {
        let kind = Kind::Connect;
        check_version(frame.body())?;
        if let Some(flags) = frame.body().get(FLAGS_AT) {
            check_flags(*flags)?;
        }
        let (packet, end) = v3_1_1::Connect::parse(frame.body()).map_err(|error| malformed(kind, part(error)))?;
        if end != frame.body().len() {
            return Err(malformed(kind, "bytes behind its end"));
        }
        check_text(kind, packet.client_id())?;
        check_text(kind, packet.user_name().unwrap_or_default())?;
        if let Some(topic) = packet.will_topic() {
            check_topic(kind, topic)?;
        }
        if !packet.clean_session() {
            return Err(Violation::LastingSession);
        }
        let asked = Duration::from_secs(packet.keep_alive().into());
        let keep_alive = if asked.is_zero() { cap } else { asked.min(cap) };
        Ok(Self { packet, keep_alive })
    }

    /// The client id. It may be empty, and then counts as unique.
    pub fn client_id(&self) -> &str {
        self.packet.client_id()
    }

    /// The user's name.
    pub fn user(&self) -> Option<&str> {
        self.packet.user_name()
    }

    /// The password. Only a login with a user has one.
    pub fn password(&self) -> Option<&[u8]> {
        self.packet.password()
    }

    /// Message to publish when the connection ends without a DISCONNECT.
    pub fn will(&self) -> Option<Will<'_>> {
        Some(Will {
            topic: self.packet.will_topic()?,
            payload: self.packet.will_payload()?,
            qos: Qos::from_core(self.packet.will_qos())?,
            retain: self.packet.will_retain(),
        })
    }

    /// The client's keep-alive, or [`Limits::keep_alive`](crate::Limits::keep_alive) if that is less or the client asked for none.
    pub fn keep_alive(&self) -> Duration {
        self.keep_alive
    }

    /// Silence after which the connection is dead: one and a half times the keep-alive (MQTT-3.1.2-24).
    pub fn silence(&self) -> Duration {
        self.keep_alive * 3 / 2
    }
}

/// Checks the protocol and then its version, before all other fields: clients of other versions send other fields.
fn check_version(body: &[u8]) -> Result<(), Violation> {
    match body {
        [0, 4, b'M', b'Q', b'T', b'T', LEVEL, ..] => Ok(()),
        [0, 4, b'M', b'Q', b'T', b'T', level, ..] | [0, 6, b'M', b'Q', b'I', b's', b'd', b'p', level, ..] => {
            Err(Violation::Version(*level))
        }
        _ => Err(Violation::Protocol),
    }
}

/// Checks what the parser does not check (§3.1.2.3 to §3.1.2.7).
fn check_flags(flags: u8) -> Result<(), Violation> {
    let kind = Kind::Connect;
    if flags & RESERVED != 0 {
        return Err(Violation::ReservedBits(kind));
    }
    match (flags & WILL != 0, (flags & WILL_QOS) >> 3) {
        (false, _) if flags & (WILL_QOS | WILL_RETAIN) != 0 => Err(malformed(kind, "flags of a will without a will")),
        (true, 2) => Err(Violation::ExactlyOnce(kind)),
        (true, 3) => Err(malformed(kind, "QoS 3")),
        _ => Ok(()),
    }
}

/// The part of the CONNECT that the parser's error is about.
fn part(error: MqttError) -> &'static str {
    match error {
        MqttError::ClientIdentifierNotValid => "client id",
        MqttError::BadUserNameOrPassword => "user or password",
        MqttError::ProtocolError => "password without a user",
        _ => "cut short, or will",
    }
}
