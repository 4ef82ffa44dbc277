//! State of a purchase, as it is stored and as the customer's app receives it.

/// State of a purchase. Every state up to `Running` occupies its machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PurchaseState {
    /// Money held, command decided.
    Held,
    /// Command given to the device, no answer for a while.
    Sent,
    /// The command has expired without an answer: the device's first message decides.
    Unsure,
    Running,
    Finished,
    /// Ended by an operator; no money moved.
    Stopped,
    /// The device refused; the money is back.
    Refused,
    /// Known not to run, or given up after 15 minutes; the money is back.
    Expired,
}

impl PurchaseState {
    const ALL: [Self; 8] =
        [Self::Held, Self::Sent, Self::Unsure, Self::Running, Self::Finished, Self::Stopped, Self::Refused, Self::Expired];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Held => "HELD",
            Self::Sent => "SENT",
            Self::Unsure => "UNSURE",
            Self::Running => "RUNNING",
            Self::Finished => "FINISHED",
            Self::Stopped => "STOPPED",
            Self::Refused => "REFUSED",
            Self::Expired => "EXPIRED",
        }
    }

    /// Reads what `as_str` wrote; the schema's CHECK allows nothing else.
    pub fn from_stored(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|k| k.as_str() == text)
    }

    /// Whether money is held and the outcome is still unknown.
    pub const fn undecided(self) -> bool {
        matches!(self, Self::Held | Self::Sent | Self::Unsure)
    }

    /// Whether the purchase holds its machine.
    pub const fn open(self) -> bool {
        self.undecided() || matches!(self, Self::Running)
    }

    /// Those that hold a machine.
    pub fn all_open() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|state| state.open())
    }

    /// `snap_transaksi_detail[].status` (docs/contract.md §2): 1 held, 2 command sent or unsure, 3 running, 4 finished. `None`
    /// for a purchase that never started: its detail is 404.
    pub const fn detail_status(self) -> Option<u8> {
        match self {
            Self::Held => Some(1),
            Self::Sent | Self::Unsure => Some(2),
            Self::Running => Some(3),
            Self::Finished | Self::Stopped => Some(4),
            Self::Refused | Self::Expired => None,
        }
    }
}

/// The states that hold a machine ([`PurchaseState::open`]), as SQL writes them after `IN`.
#[doc(hidden)]
#[macro_export]
macro_rules! __open_states {
    () => {
        "('HELD', 'SENT', 'UNSURE', 'RUNNING')"
    };
}
pub use __open_states as open_states;

/// States whose outcome is unknown ([`PurchaseState::undecided`]), as SQL writes them after `IN`.
#[doc(hidden)]
#[macro_export]
macro_rules! __undecided_states {
    () => {
        "('HELD', 'SENT', 'UNSURE')"
    };
}
pub use __undecided_states as undecided_states;

#[cfg(test)]
mod tests {
    use super::{PurchaseState, open_states, undecided_states};

    #[test]
    fn every_state_reads_back() {
        for state in PurchaseState::ALL {
            assert_eq!(PurchaseState::from_stored(state.as_str()), Some(state));
        }
        assert_eq!(PurchaseState::from_stored("held"), None);
    }

    #[test]
    fn sql_and_functions_agree() {
        let stored = |asked: fn(PurchaseState) -> bool| {
            let asked = PurchaseState::ALL.into_iter().filter(|state| asked(*state));
            format!("({})", asked.map(|state| format!("'{}'", state.as_str())).collect::<Vec<_>>().join(", "))
        };
        assert_eq!(open_states!(), stored(PurchaseState::open));
        assert_eq!(undecided_states!(), stored(PurchaseState::undecided));
    }

    #[test]
    fn an_open_purchase_is_never_reported_as_finished() {
        for state in PurchaseState::ALL {
            assert_eq!(state.open(), state.detail_status().is_some_and(|s| s != 4), "{state:?}");
        }
    }
}
