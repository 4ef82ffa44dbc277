//! State reports of a machine's device, and how they are stored.

use uuid::Uuid;

use super::{Effect, Input, Machine, Outcome, RequestId, Unanswered};
use crate::domain::timestamp::Timestamp;
use crate::purchase::device::{Command, DeviceEvent, Op, ReportedRun, StateReport};
use crate::purchase::state::PurchaseState;
use crate::purchase::step::{Purchase, PurchaseEvent};
use crate::purchase::times::{MAX_WAITERS, PROMPT_MS};

/// Whether two state reports are equal; the ends of their cycles may differ by network delays.
fn are_same(one: &StateReport, other: &StateReport) -> bool {
    let same_run = match (one.run, other.run) {
        (None, None) => true,
        (Some(a), Some(b)) => {
            (a.cmd_id, a.boot, a.added_s) == (b.cmd_id, b.boot, b.added_s) && a.ends_at.ms_until(b.ends_at).abs() <= PROMPT_MS
        }
        _ => false,
    };
    (one.online, one.sensor) == (other.online, other.sensor) && same_run
}

/// Stop of a cycle that is no open purchase's, and the operators who wait for its end.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct UnpaidStop {
    cmd_id: Uuid,
    pub(super) operators: Vec<RequestId>,
}

impl Machine {
    pub(super) fn on_device_event(&mut self, event: DeviceEvent, now: Timestamp) {
        match event {
            DeviceEvent::Ack { cmd_id, result } => {
                self.measure_answer(cmd_id, now);
                self.apply_event(PurchaseEvent::Ack { cmd_id, result }, now);
            }
            DeviceEvent::State { online, run, sensor } => {
                self.record_state(StateReport { online, run: run.map(|run| ReportedRun::of(run, now)), sensor }, now);
                if online
                    && run.is_none()
                    && let Some(stop) = self.unpaid_stop.take()
                {
                    self.answer(stop.operators, Outcome::Ended);
                }
                if let Some(run) = run {
                    self.apply_event(PurchaseEvent::Runs(run), now);
                }
            }
        }
    }

    /// Handles the device's first answer to a command of this process.
    fn measure_answer(&mut self, cmd_id: Uuid, now: Timestamp) {
        let asked = self.open.as_ref().filter(|a| a.p.cmd_id == cmd_id && a.p.state.undecided());
        if let Some(first_sent) = asked.and_then(|a| a.p.exchange.first_sent) {
            self.out.push(Effect::Answered { after_ms: first_sent.ms_until(now).max(0) });
        }
    }

    /// Stores a state report that differs from the last one.
    fn record_state(&mut self, report: StateReport, now: Timestamp) {
        if self.last_report.is_some_and(|last| are_same(&last, &report)) {
            return;
        }
        self.last_report = Some(report);
        if self.recording.is_none() {
            self.record(report, now);
        }
    }

    fn record(&mut self, report: StateReport, now: Timestamp) {
        self.recording = Some(report);
        let unpaid = report.run.is_some_and(|run| self.open.as_ref().is_none_or(|a| run.cmd_id != a.p.cmd_id));
        self.out.push(Effect::Record { report, unpaid, at: now });
    }

    pub(super) fn recorded(&mut self, result: Result<bool, Unanswered>, now: Timestamp) {
        let stored = self.recording.take();
        let is_newer = |report: &StateReport| !stored.is_some_and(|stored| are_same(&stored, report));
        match result {
            Ok(false) => {}
            Ok(true) => self.reload(),
            // The device's next report counts although it is unchanged.
            Err(Unanswered) => {
                self.last_report = self.last_report.filter(is_newer);
                if stored.is_some_and(|stored| stored.run.is_some()) {
                    // It may have made a finished purchase run again.
                    self.reload();
                }
            }
        }
        if let Some(newer) = self.last_report.filter(is_newer) {
            self.record(newer, now);
        }
    }

    /// A purchase has ended, and no longer explains the cycle that its device has reported. The staff flag may be new, too: the device's next message
    /// counts even when it is unchanged.
    pub(super) fn forget_reports_of(&mut self, p: &Purchase, now: Timestamp) {
        let reported = self.reports_run_after(p.cmd_id, now) | self.drop_reports_of(p.cmd_id, now);
        self.last_report = None;
        if reported && p.state == PurchaseState::Finished && !self.is_remote {
            self.query_device(now);
        }
    }

    /// Whether the last state report has this cycle, and it ends later than now.
    fn reports_run_after(&self, cmd_id: Uuid, now: Timestamp) -> bool {
        let run = self.last_report.and_then(|report| report.run);
        run.is_some_and(|run| run.cmd_id == cmd_id && now.ms_until(run.ends_at) > PROMPT_MS)
    }

    /// Drops the deferred state reports of this cycle after the commit that finished it, because they may be older than the commit. Returns
    /// whether one of them reports an end in the future.
    fn drop_reports_of(&mut self, cmd_id: Uuid, now: Timestamp) -> bool {
        let mut runs_on = false;
        self.deferred.retain(|(input, received_at)| match input {
            Input::Device(DeviceEvent::State { run: Some(run), .. }) if run.cmd_id == cmd_id => {
                runs_on |= run.left_ms - received_at.ms_until(now) > PROMPT_MS;
                false
            }
            _ => true,
        });
        runs_on
    }

    /// Whether the last state report has a cycle of no open purchase. That may not be stored yet.
    pub(super) fn reports_unpaid_run(&self) -> bool {
        self.open.is_none() && self.last_report.is_some_and(|report| report.run.is_some())
    }

    /// Sends `stop` at every call. The stop is stored, so recovery repeats it until the cycle ends.
    pub(super) fn stop_unpaid(&mut self, cmd_id: Uuid, operator: Option<RequestId>, now: Timestamp) {
        let mut operators = match self.unpaid_stop.take() {
            Some(stop) if stop.cmd_id == cmd_id => stop.operators,
            other => {
                self.answer(other.into_iter().flat_map(|stop| stop.operators), Outcome::ReadAgain);
                Vec::new()
            }
        };
        if operators.len() < MAX_WAITERS {
            operators.extend(operator);
        } else {
            self.answer(operator, Outcome::ReadAgain);
        }
        self.unpaid_stop = Some(UnpaidStop { cmd_id, operators });
        self.last_report = None;
        self.out.push(Effect::Command(Command { cmd_id, op: Op::Stop, ..Command::about_nothing(self.idmesin, now) }));
    }

    pub(super) fn query_device(&mut self, now: Timestamp) {
        self.last_report = None;
        self.out.push(Effect::Command(Command::about_nothing(self.idmesin, now)));
    }
}
