//! Open purchase of a machine, as far as its commands describe it.

use uuid::Uuid;

use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::{Command, DeviceEvent};
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::step::{AckResult, Op, Purchase};

/// Greatest delay of a device's clock: the longest time exchange by which a device sets it.
const CLOCK_MS: i64 = 2_000;
/// A run that ends this much too soon did not end in the normal way.
pub(super) const EARLY_MS: i64 = 60_000;

/// Last command of the purchase, and what this conversation knows of its outcome. A decided purchase stays here until the next one: its
/// epoch is the fence.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) cmd: Command,
    /// Whether the start may have been written to a connection. Only the process that received the first start can know that it was not.
    pub(super) written: bool,
    /// The device has reported the outcome of the start.
    pub(super) answered: bool,
    /// The purchase runs, or has run.
    pub(super) ran: bool,
    /// The device may have forgotten the purchase.
    pub(super) forgotten: bool,
    /// End of the run, as last reported.
    pub(super) ends_at: Option<Timestamp>,
    /// When an operator requested a stop.
    pub(super) stop_at: Option<Timestamp>,
}

impl Open {
    /// Purchase that is first known from a command. `begins`: this command sends its start for the first time.
    pub(super) fn begin(cmd: &Command, begins: bool) -> Self {
        let cmd = cmd.clone();
        Self { cmd, written: !begins, answered: false, ran: false, forgotten: false, ends_at: None, stop_at: None }
    }

    /// Purchase read from the store: another process may already have written any of its commands.
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

    /// Whether the start may be sent: it is requested and not yet expired.
    pub(super) fn is_to_start(&self, now: Timestamp) -> bool {
        self.cmd.op == Op::Start && now < self.cmd.exp
    }

    /// Whether the start has expired and its outcome is unknown.
    pub(super) fn is_unsure(&self, now: Timestamp) -> bool {
        !self.answered && now >= self.cmd.exp
    }

    /// Query for the outcome of the purchase. Its epoch serves as the fence.
    pub(super) fn query(&self) -> Command {
        Command { op: Op::Query, ..self.cmd.clone() }
    }

    /// Whether the start was never written and has expired: the purchase did not run.
    pub(super) fn is_void(&self, now: Timestamp) -> bool {
        !self.written && now >= self.cmd.exp
    }

    /// Whether the purchase has not run and never will. `epoch` is the highest that the device knew at `said_at`. Any command of the
    /// purchase would have shown it a higher one, and by then it refuses the start as expired.
    pub(super) fn never_ran(&self, epoch: i64, said_at: Timestamp) -> bool {
        !self.ran && !self.forgotten && epoch < self.cmd.epoch && said_at >= self.cmd.exp.plus_ms(CLOCK_MS)
    }

    pub(super) fn ack(&self, result: AckResult) -> DeviceEvent {
        DeviceEvent::Ack { cmd_id: self.cmd.cmd_id, result }
    }

    /// Applies an outcome that the device has reported.
    pub(super) fn hear(&mut self, result: AckResult) {
        (self.written, self.answered) = (true, true);
        self.ran |= matches!(result, AckResult::Started | AckResult::Done);
        // When no operator requested a stop, a later state report without a run decides whether it ended too early.
        if result == AckResult::Done && self.stop_at.take().is_some() {
            self.ends_at = None;
        }
    }
}
