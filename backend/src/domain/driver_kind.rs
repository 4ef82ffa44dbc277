//! What drives a machine: parsed once from the body that makes it, or from what is stored.

use serde::{Deserialize, Serialize};
use tokio_postgres::types::{FromSql, Type, accepts};
use utoipa::ToSchema;

/// What drives a machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Driver)]
pub enum DriverKind {
    /// Simulated; not in production, where nobody would get any washing done.
    #[default]
    Sim,
    /// A device that connects to the server over MQTT.
    Mqtt,
}

impl DriverKind {
    pub const ALL: [Self; 2] = [Self::Sim, Self::Mqtt];

    /// As it is stored, and said in bodies.
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

type SqlError = Box<dyn std::error::Error + Sync + Send>;

impl<'a> FromSql<'a> for DriverKind {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, SqlError> {
        let text = <&str>::from_sql(ty, raw)?;
        Self::from_stored(text).ok_or_else(|| format!("unknown driver {text}").into())
    }
    accepts!(TEXT);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_reads_back_and_nothing_else_does() {
        for kind in DriverKind::ALL {
            let stored = kind.as_str().as_bytes();
            assert_eq!(DriverKind::from_sql(&Type::TEXT, stored).unwrap(), kind);
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
        for unknown in ["", "SIM", "http"] {
            let error = DriverKind::from_sql(&Type::TEXT, unknown.as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), format!("unknown driver {unknown}"));
        }
    }
}
