//! Protocol errors, which end a connection.

use crate::kind::Kind;

/// Protocol error of the other side. The connection is over, and no further bytes of it are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// A first byte of type 0 or 15.
    #[error("unknown packet type {0}")]
    UnknownType(u8),
    /// Flags of a first byte that must have another value (MQTT 3.1.1 §2.2.2).
    #[error("{0} with reserved bits set")]
    ReservedBits(Kind),
    /// A remaining length of more than four bytes.
    #[error("remaining length of {0} does not end within four bytes")]
    RemainingLength(Kind),
    /// More than [`Limits`](crate::Limits) allow.
    #[error("{kind} of {size} bytes: at most {max} are allowed")]
    TooLarge {
        /// The packet.
        kind: Kind,
        /// Its size, header included.
        size: usize,
        /// The largest one.
        max: usize,
    },
    /// A wrong size of a packet whose size is fixed.
    #[error("{0} of a wrong size")]
    Size(Kind),
    /// The content of a packet breaks its format.
    #[error("malformed {kind}: {what}")]
    Malformed {
        /// The packet.
        kind: Kind,
        /// The part of the packet, or the broken rule.
        what: &'static str,
    },
    /// A packet before the CONNECT of a client or the CONNACK of a server.
    #[error("{0} before the login")]
    TooSoon(Kind),
    /// A second CONNECT or CONNACK.
    #[error("a second {0}")]
    Again(Kind),
    /// A packet that only the other side may send, or an answer without a request.
    #[error("{0} is nothing that this side may send")]
    Direction(Kind),
    /// A CONNECT of a protocol other than MQTT.
    #[error("CONNECT of another protocol than MQTT")]
    Protocol,
    /// A CONNECT of an unsupported version (3: MQTT 3.1, 5: MQTT 5).
    #[error("protocol level {0}: only 4 (MQTT 3.1.1) is served")]
    Version(u8),
    /// A CONNECT that asks for a session that outlives the connection.
    #[error("CONNECT without a clean session")]
    LastingSession,
    /// QoS 2, or a packet of its exchange.
    #[error("{0} of QoS 2")]
    ExactlyOnce(Kind),
    /// More bytes than [`Limits::early`](crate::Limits::early) before the answer to a CONNECT.
    #[error("more than {0} bytes before the login was answered")]
    Early(usize),
}
