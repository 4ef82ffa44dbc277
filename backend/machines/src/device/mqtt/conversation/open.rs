//! The open purchase, as its commands tell of it.

use uuid::Uuid;

use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::{Command, DeviceEvent};
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::step::{AckResult, Op, Purchase};

/// A device's clock is late by no more than the longest exchange that it sets its clock by.
const CLOCK_MS: i64 = 2_000;
/// A run that is over so much sooner than it should is not how machines end.
pub(super) const EARLY_MS: i64 = 60_000;

/// What the purchase's last command asked, and what is known of it here. When the purchase is decided it stays until the next: its
/// epoch is the fence.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) cmd: Command,
    /// Whether its start may have gone onto a line. That it did not is known only to the process that was told to begin.
    pub(super) written: bool,
    /// The device said what became of the start.
    pub(super) answered: bool,
    /// It does run, or has run.
    pub(super) ran: bool,
    /// The device may have forgotten it.
    pub(super) forgotten: bool,
    /// When its run ends, as it was heard last.
    pub(super) ends_at: Option<Timestamp>,
    /// An operator has it stopped, since then.
    pub(super) stop_at: Option<Timestamp>,
}

impl Open {
    /// One of which a command is the first that is heard; `begins`: this is the first time that anybody sends its start.
    pub(super) fn begin(cmd: &Command, begins: bool) -> Self {
        let cmd = cmd.clone();
        Self { cmd, written: !begins, answered: false, ran: false, forgotten: false, ends_at: None, stop_at: None }
    }

    /// One that was read from the store: another process may have written anything.
    pub(super) fn stored(idmesin: i64, p: &Purchase) -> Self {
        let runs = p.state == PurchaseState::Running;
        let cmd = Command {
            idmesin,
            cmd_id: p.cmd_id,
            epoch: p.epoch,
            op: Op::Query,
            duration_s: p.duration_s,
            exp: p.exp(),
            held_here: false,
        };
        Self { answered: runs, ran: runs, ends_at: runs.then_some(p.ends_at), ..Self::begin(&cmd, false) }
    }

    pub(super) fn is(&self, cmd_id: Uuid) -> bool {
        self.cmd.cmd_id == cmd_id
    }

    /// Whether its start may be said: it is wanted, and there is time.
    pub(super) fn is_to_start(&self, now: Timestamp) -> bool {
        self.cmd.op == Op::Start && now < self.cmd.exp
    }

    /// Whether it is too late to start, and nobody knows whether it did.
    pub(super) fn is_unsure(&self, now: Timestamp) -> bool {
        !self.answered && now >= self.cmd.exp
    }

    /// Asks what became of it, and is its fence.
    pub(super) fn query(&self) -> Command {
        Command { op: Op::Query, ..self.cmd.clone() }
    }

    /// Its start never went onto a line, and never will: it did not run.
    pub(super) fn is_void(&self, now: Timestamp) -> bool {
        !self.written && now >= self.cmd.exp
    }

    /// Whether a device that says, at `said_at`, that it knows no higher epoch than `epoch` has not run it and never will: whatever the
    /// purchase asked of it would have shown it a higher one, and by now it takes its start for a late one.
    pub(super) fn never_ran(&self, epoch: i64, said_at: Timestamp) -> bool {
        !self.ran && !self.forgotten && epoch < self.cmd.epoch && said_at >= self.cmd.exp.plus_ms(CLOCK_MS)
    }

    pub(super) fn ack(&self, result: AckResult) -> DeviceEvent {
        DeviceEvent::Ack { cmd_id: self.cmd.cmd_id, result }
    }

    /// The device said what became of it.
    pub(super) fn hear(&mut self, result: AckResult) {
        (self.written, self.answered) = (true, true);
        self.ran |= matches!(result, AckResult::Started | AckResult::Done);
        // One that nobody has stopped is looked at when a state says that nothing runs.
        if result == AckResult::Done && self.stop_at.take().is_some() {
            self.ends_at = None;
        }
    }
}
