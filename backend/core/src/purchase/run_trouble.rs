//! The trouble that a customer sees at a paid machine that, by its sensor, does not run.

use super::state::PurchaseState;
use crate::domain::timestamp::Timestamp;

/// How long the customer may take to press Start on the machine.
const PRESS_START_MS: i64 = 120_000;
/// While the machine stands, the page looks this often whether it runs by now.
const LOOK_MS: i64 = 15_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunTrouble {
    /// Paid, but the machine is not running: its door is open, or the customer has not pressed Start.
    NotYet,
    /// The purchase is over, and the machine did not run.
    Never,
}

impl RunTrouble {
    /// As messages have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotYet => "belum_jalan",
            Self::Never => "tidak_jalan",
        }
    }
}

/// A purchase at a machine that is started by coin pulses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PulsedRun {
    pub state: PurchaseState,
    pub started_at: Timestamp,
    /// Whether a sensor has seen the machine run in it; `None`: no sensor has said anything.
    pub has_run: Option<bool>,
    /// It is over, and the machine has not run.
    pub never_ran: bool,
}

impl PulsedRun {
    pub fn trouble(self, now: Timestamp) -> Option<RunTrouble> {
        if self.never_ran {
            return Some(RunTrouble::Never);
        }
        let waits = self.state == PurchaseState::Running && self.has_run == Some(false);
        (waits && now >= self.press_start_until()).then_some(RunTrouble::NotYet)
    }

    /// When a page that shows it should look again; `None`: nothing changes but by a tick.
    pub fn look_again_at(self, now: Timestamp) -> Option<Timestamp> {
        let at = self.press_start_until();
        let may_change = match self.has_run {
            Some(has_run) => !has_run,
            None => now < at,
        };
        (self.state == PurchaseState::Running && may_change).then(|| at.max(now.plus_ms(LOOK_MS)))
    }

    const fn press_start_until(self) -> Timestamp {
        self.started_at.plus_ms(PRESS_START_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_customer_is_told_after_two_minutes_without_a_running_machine() {
        const STARTED: Timestamp = Timestamp::from_ms(1_795_000_000_000);
        use PurchaseState::{Finished, Running, Sent};
        for (state, has_run, never_ran, after_s, told, again_s) in [
            (Running, None, false, 1, None, Some(120)),
            (Running, None, false, 120, None, None),
            (Running, Some(false), false, 119, None, Some(134)),
            (Running, Some(false), false, 120, Some("belum_jalan"), Some(135)),
            (Running, Some(true), false, 120, None, None),
            (Sent, Some(false), false, 120, None, None),
            (Finished, Some(false), false, 3_600, None, None),
            (Finished, Some(false), true, 3_600, Some("tidak_jalan"), None),
        ] {
            let (run, now) = (PulsedRun { state, started_at: STARTED, has_run, never_ran }, STARTED.plus_ms(after_s * 1_000));
            assert_eq!(run.trouble(now).map(RunTrouble::as_str), told, "{run:?} after {after_s} s");
            assert_eq!(run.look_again_at(now).map(|at| STARTED.ms_until(at) / 1_000), again_s, "{run:?} after {after_s} s");
        }
    }
}
