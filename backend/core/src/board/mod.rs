//! What staff see of a shop: the state of each machine, what may be done with it, and what needs a person (docs/board.md).

pub mod alert;
pub mod attention;
pub mod timeline;

/// A condition of a machine that is recorded from its beginning to its end. Several may hold at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Condition {
    /// Closed by staff.
    Closed,
    /// Its money was returned although its device sent nothing.
    NeedsStaff,
    /// Its device cannot be reached.
    Offline,
    /// Whether a purchase has started is not known.
    Unsure,
    /// Its device reports a run of no purchase.
    Unpaid,
}

impl Condition {
    pub const ALL: [Self; 5] = [Self::Closed, Self::NeedsStaff, Self::Offline, Self::Unsure, Self::Unpaid];

    /// As it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "ditutup",
            Self::NeedsStaff => "perlu_petugas",
            Self::Offline => "offline",
            Self::Unsure => "belum_pasti",
            Self::Unpaid => "tanpa_bayar",
        }
    }

    pub fn from_stored(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|condition| condition.as_str() == text)
    }
}

/// Facts about a machine, from the database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MachineFacts {
    pub unsure: bool,
    /// A purchase holds it and has not started.
    pub held: bool,
    /// A purchase runs, or its device reports a run.
    pub runs: bool,
    pub needs_staff: bool,
    pub closed: bool,
    pub online: bool,
    /// It is started by coin pulses and runs its own cycle, which the server cannot stop.
    pub by_pulses: bool,
}

/// State of a machine's tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TileState {
    Unsure,
    Held,
    Runs,
    NeedsStaff,
    Closed,
    Offline,
    Ready,
}

/// What staff can do with a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Ask its device.
    Ask,
    Close,
    Open,
    Stop,
    /// A test start.
    Test,
}

impl TileState {
    /// The first that holds.
    pub const fn of(machine: MachineFacts) -> Self {
        match machine {
            MachineFacts { unsure: true, .. } => Self::Unsure,
            MachineFacts { held: true, .. } => Self::Held,
            MachineFacts { runs: true, .. } => Self::Runs,
            MachineFacts { needs_staff: true, .. } => Self::NeedsStaff,
            MachineFacts { closed: true, .. } => Self::Closed,
            MachineFacts { online: false, .. } => Self::Offline,
            MachineFacts { online: true, .. } => Self::Ready,
        }
    }

    /// As messages have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unsure => "belum_pasti",
            Self::Held => "menunggu",
            Self::Runs => "jalan",
            Self::NeedsStaff => "perlu_petugas",
            Self::Closed => "ditutup",
            Self::Offline => "offline",
            Self::Ready => "siap",
        }
    }
}

impl Action {
    /// As messages have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "tanya",
            Self::Close => "tutup",
            Self::Open => "buka",
            Self::Stop => "stop",
            Self::Test => "uji",
        }
    }

    /// What can succeed at a machine now. Rights are checked separately.
    pub fn possible(machine: MachineFacts) -> Vec<Self> {
        let state = TileState::of(machine);
        let mut actions = vec![Self::Ask, if machine.closed { Self::Open } else { Self::Close }];
        if state == TileState::Runs && !machine.by_pulses {
            actions.push(Self::Stop);
        }
        if state == TileState::Ready && !machine.by_pulses || state == TileState::Closed && machine.online {
            actions.push(Self::Test);
        }
        actions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_state_that_holds_is_shown_and_decides_what_can_be_done() {
        let ready = MachineFacts { online: true, ..MachineFacts::default() };
        for (machine, state, actions) in [
            (ready, "siap", &["tanya", "tutup", "uji"][..]),
            (MachineFacts { online: false, ..ready }, "offline", &["tanya", "tutup"]),
            (MachineFacts { closed: true, ..ready }, "ditutup", &["tanya", "buka", "uji"]),
            (MachineFacts { by_pulses: true, ..ready }, "siap", &["tanya", "tutup"]),
            (MachineFacts { by_pulses: true, closed: true, ..ready }, "ditutup", &["tanya", "buka", "uji"]),
            (MachineFacts { closed: true, online: false, ..ready }, "ditutup", &["tanya", "buka"]),
            (MachineFacts { needs_staff: true, closed: true, ..ready }, "perlu_petugas", &["tanya", "buka"]),
            (MachineFacts { runs: true, closed: true, needs_staff: true, ..ready }, "jalan", &["tanya", "buka", "stop"]),
            (MachineFacts { runs: true, by_pulses: true, ..ready }, "jalan", &["tanya", "tutup"]),
            (MachineFacts { held: true, ..ready }, "menunggu", &["tanya", "tutup"]),
            (MachineFacts { unsure: true, held: true, runs: true, ..ready }, "belum_pasti", &["tanya", "tutup"]),
        ] {
            assert_eq!(TileState::of(machine).as_str(), state, "{machine:?}");
            let possible: Vec<_> = Action::possible(machine).into_iter().map(Action::as_str).collect();
            assert_eq!(possible, actions, "{machine:?}");
        }
    }
}
