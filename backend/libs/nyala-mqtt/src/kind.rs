//! The types of packets.

use std::fmt;

/// The type of a packet (MQTT 3.1.1 §2.2.1), shown by its name there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the standard's")]
pub enum Kind {
    Connect,
    Connack,
    Publish,
    Puback,
    Pubrec,
    Pubrel,
    Pubcomp,
    Subscribe,
    Suback,
    Unsubscribe,
    Unsuback,
    Pingreq,
    Pingresp,
    Disconnect,
}

impl Kind {
    /// The kind with this number. None for 0 and 15, which 3.1.1 does not have.
    pub(crate) fn from_type(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Connect,
            2 => Self::Connack,
            3 => Self::Publish,
            4 => Self::Puback,
            5 => Self::Pubrec,
            6 => Self::Pubrel,
            7 => Self::Pubcomp,
            8 => Self::Subscribe,
            9 => Self::Suback,
            10 => Self::Unsubscribe,
            11 => Self::Unsuback,
            12 => Self::Pingreq,
            13 => Self::Pingresp,
            14 => Self::Disconnect,
            _ => return None,
        })
    }

    /// The remaining length of packet kinds whose length is fixed.
    pub(crate) fn fixed_length(self) -> Option<usize> {
        match self {
            Self::Connack | Self::Puback | Self::Unsuback => Some(2),
            Self::Pingreq | Self::Pingresp | Self::Disconnect => Some(0),
            _ => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_uppercase())
    }
}
