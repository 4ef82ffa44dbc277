//! State reports of a machine's device, and what is stored of them.

use uuid::Uuid;

use super::{Effect, Machine, Unanswered, Waiter};
use crate::domain::timestamp::Timestamp;
use crate::purchase::device::{Command, DeviceEvent, ReportedRun};
use crate::purchase::step::{Op, PurchaseEvent};
use crate::purchase::times::{MAX_WAITERS, PROMPT_MS};

/// A device's last state report: whether it is online, and what it runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeviceWord {
    online: bool,
    run: Option<ReportedRun>,
}

impl DeviceWord {
    /// Whether it says the same; the end of a run is not the same to the millisecond.
    fn is(&self, other: &Self) -> bool {
        let same_run = match (self.run, other.run) {
            (None, None) => true,
            (Some(a), Some(b)) => (a.cmd_id, a.boot) == (b.cmd_id, b.boot) && a.ends_at.ms_until(b.ends_at).abs() <= PROMPT_MS,
            _ => false,
        };
        self.online == other.online && same_run
    }
}

/// A run that is no open purchase's, and the operators who wait for its end.
#[derive(Debug)]
pub(super) struct UnpaidStop<S> {
    cmd_id: Uuid,
    operators: Vec<S>,
}

impl<S: Waiter> UnpaidStop<S> {
    pub(super) fn is_awaited(&self) -> bool {
        self.operators.iter().any(|operator| !operator.gone())
    }
}

impl<B: Waiter, S: Waiter> Machine<B, S> {
    pub(super) fn said(&mut self, event: DeviceEvent, now: Timestamp) {
        match event {
            DeviceEvent::Ack { cmd_id, result } => {
                self.measure_answer(cmd_id, now);
                self.feed(PurchaseEvent::Ack { cmd_id, result }, now);
            }
            DeviceEvent::State { online, run } => {
                self.record_state(DeviceWord { online, run: run.map(|run| ReportedRun::of(run, now)) }, now);
                if online
                    && run.is_none()
                    && let Some(stop) = self.unpaid_stop.take()
                {
                    self.out.push(Effect::Ended(stop.operators));
                }
                if let Some(run) = run {
                    self.feed(PurchaseEvent::Runs(run), now);
                }
            }
        }
    }

    /// Handles the device's first answer to a command of this process.
    fn measure_answer(&mut self, cmd_id: Uuid, now: Timestamp) {
        let asked = self.active.as_ref().filter(|a| a.p.cmd_id == cmd_id && a.p.state.undecided());
        if let Some(first_sent) = asked.and_then(|a| a.p.exchange.first_sent) {
            self.out.push(Effect::Answered { after_ms: first_sent.ms_until(now).max(0) });
        }
    }

    /// Keeps `online` and the staff flag as the device says, and has unpaid runs on record.
    fn record_state(&mut self, said: DeviceWord, now: Timestamp) {
        if self.last_said.is_some_and(|last| last.is(&said)) {
            return;
        }
        self.last_said = Some(said);
        if self.recording.is_none() {
            self.record(said, now);
        }
    }

    fn record(&mut self, said: DeviceWord, now: Timestamp) {
        let DeviceWord { online, run } = said;
        self.recording = Some(said);
        let foreign = run.is_some_and(|run| self.active.as_ref().is_none_or(|a| run.cmd_id != a.p.cmd_id));
        self.out.push(Effect::Record { online, run, foreign, at: now });
    }

    pub(super) fn recorded(&mut self, result: Result<bool, Unanswered>, now: Timestamp) {
        let stored = self.recording.take();
        let is_newer = |said: &DeviceWord| !stored.is_some_and(|stored| stored.is(said));
        match result {
            Ok(false) => {}
            Ok(true) => self.read_newest(),
            // The device's next report counts although it is unchanged.
            Err(Unanswered) => {
                self.last_said = self.last_said.filter(is_newer);
                if stored.is_some_and(|stored| stored.run.is_some()) {
                    // It may have made a finished purchase run again.
                    self.read_newest();
                }
            }
        }
        if let Some(newer) = self.last_said.filter(is_newer) {
            self.record(newer, now);
        }
    }

    /// Whether the device has said that this run ends later than now.
    pub(super) fn reports_run_after(&self, cmd_id: Uuid, now: Timestamp) -> bool {
        let run = self.last_said.and_then(|said| said.run);
        run.is_some_and(|run| run.cmd_id == cmd_id && now.ms_until(run.ends_at) > PROMPT_MS)
    }

    /// Whether the device says that something runs which is no open purchase's; that may not be stored yet.
    pub(super) fn reports_unpaid_run(&self) -> bool {
        self.active.is_none() && self.last_said.is_some_and(|said| said.run.is_some())
    }

    /// Sends `stop` at every call. The stop is stored, so recovery repeats it until the cycle ends.
    pub(super) fn stop_unpaid(&mut self, cmd_id: Uuid, operator: S, now: Timestamp) {
        let before = self.unpaid_stop.take().filter(|stop| stop.cmd_id == cmd_id);
        let mut operators = before.map(|stop| stop.operators).unwrap_or_default();
        operators.push(operator);
        operators.retain(|operator| !operator.gone());
        operators.truncate(MAX_WAITERS);
        self.unpaid_stop = Some(UnpaidStop { cmd_id, operators });
        self.last_said = None;
        self.out.push(Effect::Command(Command { cmd_id, op: Op::Stop, ..Command::about_nothing(self.idmesin, now) }));
    }

    pub(super) fn ask_device(&mut self, now: Timestamp) {
        self.last_said = None;
        self.out.push(Effect::Command(Command::about_nothing(self.idmesin, now)));
    }
}
