//! What operators may do.

use std::fmt;
use std::str::FromStr;

/// What a key may do; each role from kasir on may do what the one before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Looks after the machines of one outlet: no money, no customers. No step of the ladder, and below it.
    Technician,
    /// Tops up and reads at one outlet, no more.
    Kasir,
    /// Everything at one outlet.
    Supervisor,
    /// Everything at one owner's outlets.
    Owner,
    Root,
}

impl Role {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Technician => "teknisi",
            Self::Kasir => "kasir",
            Self::Supervisor => "supervisor",
            Self::Owner => "owner",
            Self::Root => "root",
        }
    }

    /// Whether this role has the rights of a number ([`Right::rank`](super::right::Right::rank)).
    pub const fn has(self, rank: u8) -> bool {
        match self {
            Self::Technician => rank & TECHNICIAN != 0,
            _ => self as u8 >= rank & !TECHNICIAN,
        }
    }
}

/// In the number of a right: a technician has it, too.
pub const TECHNICIAN: u8 = 0x80;
/// The number of what every role may do.
pub const ANYBODY: u8 = Role::Kasir as u8 | TECHNICIAN;

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Technician, Self::Kasir, Self::Supervisor, Self::Owner, Self::Root]
            .into_iter()
            .find(|r| r.as_str() == text)
            .ok_or_else(|| format!("`{text}` is no role; take teknisi, root, owner, supervisor or kasir"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_ordered() {
        assert!(
            Role::Technician < Role::Kasir
                && Role::Kasir < Role::Supervisor
                && Role::Supervisor < Role::Owner
                && Role::Owner < Role::Root
        );
        assert_eq!("owner".parse(), Ok(Role::Owner));
        assert!("Owner".parse::<Role>().unwrap_err().contains("Owner"));
    }
}
