//! What ends a connection.

use crate::packet::Kind;

/// What was wrong with what the other side sent. The connection is over: nothing more is read of it.
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
    /// A packet that has always the same size had another one.
    #[error("{0} of a wrong size")]
    Size(Kind),
    /// What a packet holds breaks its format.
    #[error("malformed {kind}: {what}")]
    Malformed {
        /// The packet.
        kind: Kind,
        /// Which part of it, or which rule.
        what: &'static str,
    },
    /// Anything before the CONNECT of a client or the CONNACK of a server.
    #[error("{0} before the login")]
    TooSoon(Kind),
    /// A second CONNECT or CONNACK.
    #[error("a second {0}")]
    Again(Kind),
    /// A packet that only the other side sends, or that answers what was never asked.
    #[error("{0} is nothing that this side may send")]
    Direction(Kind),
    /// A CONNECT of another protocol than MQTT.
    #[error("CONNECT of another protocol than MQTT")]
    Protocol,
    /// A CONNECT of another version (3: MQTT 3.1, 5: MQTT 5).
    #[error("protocol level {0}: only 4 (MQTT 3.1.1) is served")]
    Version(u8),
    /// A CONNECT that asks for a session that outlives it.
    #[error("CONNECT without a clean session")]
    LastingSession,
    /// QoS 2, or a packet of its exchange.
    #[error("{0} of QoS 2")]
    ExactlyOnce(Kind),
    /// More bytes than [`Limits::early`](crate::Limits::early) before the answer to a CONNECT.
    #[error("more than {0} bytes before the login was answered")]
    Early(usize),
}
