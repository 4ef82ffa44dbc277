//! The states of a purchase, as they are stored.

/// Where a purchase stands. Everything up to `Running` holds its machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Keadaan {
    /// Money held, command decided.
    Held,
    /// Command given to the device, no answer for a while.
    Sent,
    /// The command is past its `exp` without a word: the device's first word decides.
    Unsure,
    Running,
    Finished,
    /// Ended by an operator; no money moved.
    Stopped,
    /// The device said no; the money is back.
    Refused,
    /// Known not to run, or given up after 15 minutes; the money is back.
    Expired,
}

impl Keadaan {
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
        [Self::Held, Self::Sent, Self::Unsure, Self::Running, Self::Finished, Self::Stopped, Self::Refused, Self::Expired]
            .into_iter()
            .find(|k| k.as_str() == text)
    }

    /// Whether money is held and nobody knows yet how it ends.
    pub const fn undecided(self) -> bool {
        matches!(self, Self::Held | Self::Sent | Self::Unsure)
    }

    /// Whether the purchase holds its machine.
    pub const fn open(self) -> bool {
        self.undecided() || matches!(self, Self::Running)
    }
}
