//! What a customer says went wrong with a purchase (docs/money.md): who may complain when.

use crate::domain::timestamp::Timestamp;

/// A purchase that ended longer ago cannot be complained about.
const WITHIN_MS: i64 = 24 * 60 * 60 * 1000;
/// A customer's complaints within [`WINDOW_MS`].
const MAX_COMPLAINTS: usize = 3;
/// Complaints count for this long.
pub const WINDOW_MS: i64 = 24 * 60 * 60 * 1000;
/// The longest note of a complaint, in characters.
pub const MAX_NOTE_CHARS: usize = 200;

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    DidNotRun,
    Stopped,
    Result,
    Other,
}

impl Reason {
    pub const ALL: [Self; 4] = [Self::DidNotRun, Self::Stopped, Self::Result, Self::Other];

    /// As it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DidNotRun => "tidak_jalan",
            Self::Stopped => "berhenti",
            Self::Result => "hasil",
            Self::Other => "lain",
        }
    }
}

/// What became of a complaint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Open,
    /// Money went back for it, or its purchase was deleted.
    Accepted,
    Rejected,
}

impl Status {
    pub const ALL: [Self; 3] = [Self::Open, Self::Accepted, Self::Rejected];

    /// As it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "terbuka",
            Self::Accepted => "diterima",
            Self::Rejected => "ditolak",
        }
    }
}

/// A purchase that has started, as its customer complains about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    pub finished_at: Option<Timestamp>,
    /// It was deleted, or refunded in whole.
    pub came_back: bool,
    /// There is a complaint about it, answered or not.
    pub known: bool,
    /// The customer's complaints within [`WINDOW_MS`], the newest first.
    pub recent: Vec<Timestamp>,
}

/// Reason for refusing a complaint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    TooLate,
    CameBack,
    Known,
    /// Until the next one is allowed.
    TooMany {
        wait_ms: i64,
    },
}

/// Decides on a complaint.
///
/// # Errors
/// The first reason against it.
pub fn decide(facts: &Facts, now: Timestamp) -> Result<(), Refusal> {
    if facts.finished_at.is_some_and(|at| at.ms_until(now) > WITHIN_MS) {
        return Err(Refusal::TooLate);
    }
    if facts.came_back {
        return Err(Refusal::CameBack);
    }
    if facts.known {
        return Err(Refusal::Known);
    }
    match facts.recent.get(MAX_COMPLAINTS - 1) {
        Some(at) => Err(Refusal::TooMany { wait_ms: now.ms_until(at.plus_ms(WINDOW_MS)) }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_795_000_000_000);

    fn ago(s: i64) -> Timestamp {
        NOW.plus_ms(-s * 1_000)
    }

    #[test]
    fn a_started_purchase_can_be_complained_about_once_until_a_day_after_its_end() {
        let running = Facts { finished_at: None, came_back: false, known: false, recent: Vec::new() };
        let ended = |s| Facts { finished_at: Some(ago(s)), ..running.clone() };
        let complained = |n: i64| Facts { recent: (1..=n).map(|h| ago(h * 3_600)).collect(), ..running.clone() };
        for (facts, expected) in [
            (running.clone(), Ok(())),
            (ended(86_400), Ok(())),
            (ended(86_401), Err(Refusal::TooLate)),
            (Facts { came_back: true, ..ended(86_401) }, Err(Refusal::TooLate)),
            (Facts { came_back: true, known: true, ..running.clone() }, Err(Refusal::CameBack)),
            (Facts { known: true, ..complained(3) }, Err(Refusal::Known)),
            (complained(2), Ok(())),
            (complained(3), Err(Refusal::TooMany { wait_ms: 21 * 3_600_000 })),
        ] {
            assert_eq!(decide(&facts, NOW), expected, "{facts:?}");
        }
    }
}
