//! The driver of a machine, parsed once from a request body or from the stored text.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What drives a machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Driver)]
pub enum DriverKind {
    /// Simulated; refused in production, where no machine would run.
    #[default]
    Sim,
    /// A device that connects to the server over MQTT.
    Mqtt,
}

impl DriverKind {
    pub const ALL: [Self; 2] = [Self::Sim, Self::Mqtt];

    /// Name in the database and in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::Mqtt => "mqtt",
        }
    }

    pub fn from_stored(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_reads_back_and_nothing_else_does() {
        for kind in DriverKind::ALL {
            assert_eq!(DriverKind::from_stored(kind.as_str()), Some(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
        for unknown in ["", "SIM", "http"] {
            assert_eq!(DriverKind::from_stored(unknown), None);
        }
    }
}
