//! What a machine is for, parsed once from a request body or from the stored text.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a machine is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = JenisMesin)]
pub enum MachineKind {
    /// It washes.
    #[default]
    Cuci,
    /// It dries.
    Kering,
    Lain,
}

impl MachineKind {
    pub const ALL: [Self; 3] = [Self::Cuci, Self::Kering, Self::Lain];

    /// As it is stored, and said in bodies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cuci => "cuci",
            Self::Kering => "kering",
            Self::Lain => "lain",
        }
    }

    pub fn from_stored(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// Of a machine that was added without saying: one with 'ering' in its name is a dryer ('Pengering 06').
    pub fn of_name(name: &str) -> Self {
        if name.to_lowercase().contains("ering") { Self::Kering } else { Self::Cuci }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_reads_back_and_nothing_else_does() {
        for kind in MachineKind::ALL {
            assert_eq!(MachineKind::from_stored(kind.as_str()), Some(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
        for unknown in ["", "CUCI", "setrika"] {
            assert_eq!(MachineKind::from_stored(unknown), None);
        }
    }

    #[test]
    fn a_name_tells_a_dryer() {
        assert_eq!(MachineKind::of_name("PENGERING 06"), MachineKind::Kering);
        assert_eq!(MachineKind::of_name("Mesin 6"), MachineKind::Cuci);
    }
}
