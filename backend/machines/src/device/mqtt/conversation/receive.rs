//! Messages from the device: which of them are accepted, and what they mean for the open purchase.

use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::{AckResult, Command, DeviceEvent, DeviceRun, Op, Sensor, is_pulse_test};
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::step::Purchase;
use uuid::Uuid;

use super::stamps::{DelayFilter, MessagePosition};
use super::{ConnectionId, Conversation, DropReason, EXCHANGE_MS, Effect, Grounds, Trouble, nil_query};
use crate::device::mqtt::cmd::Cmd;
use crate::device::mqtt::message::{Ack, BootId, DeviceMessage, Heartbeat, Stamp, State};

/// How far a device's clock may be behind the server's: it sets its clock to the time in a command that was under way for as long as this.
const CLOCK_MS: i64 = 2_000;
/// A run that ends this much before its time counts as ended early.
const EARLY_MS: i64 = 60_000;

/// Longest time from a device's state report to the command that answers it, for the device to set its clock by that command (docs/contract.md §6).
const MAX_EXCHANGE_MS: i64 = 2_000;
/// Minimum difference for reporting an earlier end of a run to the actor again.
const MIN_CORRECTION_MS: i64 = 100;

impl Conversation {
    /// Processes a message that arrived on the connection `from`, which need not have subscribed to the device's commands (topic `cmd`).
    pub fn on_message(&mut self, from: ConnectionId, message: &DeviceMessage, now: Timestamp) -> Vec<Effect> {
        match message {
            DeviceMessage::Ack(ack) => self.on_ack(from, ack, now),
            DeviceMessage::Gone(stamp) => self.on_will(stamp),
            DeviceMessage::State(state) => match self.accept(from, &state.stamp, now) {
                true => self.on_state(from, state, now),
                false => self.out.push(Effect::Dropped(DropReason::Stale)),
            },
            DeviceMessage::Heartbeat(heartbeat) => match self.accept(from, &heartbeat.stamp, now) {
                true => self.on_heartbeat(heartbeat, now),
                false => self.out.push(Effect::Dropped(DropReason::Stale)),
            },
        }
        self.done()
    }

    /// Processes an ack. It is never stale: the outcome of a command stays true.
    fn on_ack(&mut self, from: ConnectionId, ack: &Ack, now: Timestamp) {
        self.message_accepted(now);
        self.packet_arrived(from, now);
        if self.order.is_current(&ack.stamp) {
            self.boot_message_at = Some(now);
            self.acked_start |= ack.result == AckResult::Started;
            if let Some(up_ms) = ack.stamp.up_ms {
                self.record_uptime(up_ms, now);
            }
        }
        let result = ack.outcome();
        if let Some(open) = self.open.as_mut().filter(|open| open.is(ack.cmd_id)) {
            open.apply_result(result);
        }
        // An ack does not say when the run began. If the run is already known here, this ack answers a start that was sent again: the actor has
        // missed the state report, so it is notified of the run instead of the ack.
        if ack.result == AckResult::Started && self.run.is_some_and(|(run, _)| run.cmd_id == ack.cmd_id) {
            return self.notify_run(now);
        }
        self.out.push(Effect::Notify(DeviceEvent::Ack { cmd_id: ack.cmd_id, result }, Grounds::Ack));
    }

    fn on_will(&mut self, stamp: &Stamp) {
        if self.message_at.is_some() && self.order.is_last(stamp) {
            self.set_present(false);
        } else {
            self.out.push(Effect::Dropped(DropReason::Will));
        }
    }

    /// Whether to accept a message: its sender has no newer connection, and it is newer than any before.
    fn accept(&mut self, from: ConnectionId, stamp: &Stamp, now: Timestamp) -> bool {
        if self.connections.contains(&from) && self.connection() != Some(from) {
            return false;
        }
        match self.order.take(stamp, now) {
            MessagePosition::Stale => return false,
            MessagePosition::Newest => {}
            MessagePosition::Boot { clone } => {
                if clone {
                    self.out.push(Effect::Trouble(Trouble::Clone));
                }
                // If another device replaces this one, the new one does not know what the old one ran.
                if self.run.is_some() || self.acked_start {
                    self.before_boot = self.boot_message_at;
                }
                self.boot = stamp.boot_id.as_ref().map(BootId::key);
                (self.delay, self.run, self.acked_start, self.clock_at) = (DelayFilter::default(), None, false, None);
                self.watched = None;
            }
        }
        self.boot_message_at = Some(now);
        self.message_accepted(now);
        self.packet_arrived(from, now);
        if let Some(up_ms) = stamp.up_ms {
            self.record_uptime(up_ms, now);
        }
        true
    }

    /// Records that a message was accepted. It ends a probe, unless the device has no clock: then only a state report does, because that is
    /// answered with the time.
    fn message_accepted(&mut self, now: Timestamp) {
        self.message_at = Some(now);
        if self.has_clock(now) {
            self.asked_at = None;
        }
    }

    /// Records when a message with this uptime arrived. If it was under way for less time than all before, the boot, and with it the end of the run,
    /// is earlier than was reported: the actor is notified again.
    fn record_uptime(&mut self, up_ms: i64, now: Timestamp) {
        if self.delay.has_wrapped(up_ms) {
            self.run = None;
        }
        self.delay.record(up_ms, now);
        if self.ends_at(now).is_some_and(|ends_at| ends_at > now && ends_at.ms_until(self.notified_end) > MIN_CORRECTION_MS) {
            self.notify_run(now);
        }
    }

    /// End of the present run on the server's clock, by the device's uptime and the shortest delay.
    fn ends_at(&self, now: Timestamp) -> Option<Timestamp> {
        let (run, up_ms) = self.run?;
        let sent_at = up_ms.and_then(|up_ms| self.delay.sent_at(up_ms)).map_or(now, |at| at.min(now));
        Some(sent_at.plus_ms(run.left_ms()))
    }

    fn on_state(&mut self, from: ConnectionId, state: &State, now: Timestamp) {
        let sent_at = state.stamp.up_ms.and_then(|up_ms| self.delay.sent_at(up_ms));
        self.remember_epoch(state.epoch);
        self.decide(state, sent_at, self.subscribed_at.filter(|_| self.connection() == Some(from)));
        self.run = state.run.map(|run| (run, state.stamp.up_ms));
        let sensor = self.sensor(state);
        self.sensor_changed |= sensor != self.sensor;
        self.sensor = sensor;
        self.acked_start = false;
        match state.run {
            Some(_) => self.notify_run(now),
            None => self.runs_nothing(sent_at, now),
        }
        (self.echo, self.asked_at) = (state.stamp.up_ms, None);
        // The device sent this state report soon after the one that was answered with the time: the answer came early enough for it to set its clock.
        if self.echo.zip(self.answered).is_some_and(|(up_ms, answered)| (0..MAX_EXCHANGE_MS).contains(&(up_ms - answered))) {
            self.clock_at = Some(now);
        }
        let first = self.answered_at.is_none();
        if self.answered_at.is_none_or(|at| at.ms_until(now) >= EXCHANGE_MS) {
            (self.answered_at, self.answered) = (Some(now), self.echo);
            // The state report left the outcome unknown; the answer to a query decides it.
            let unsure = self.open.as_ref().filter(|open| open.is_unsure(now)).map(|open| open.query());
            self.write(unsure.map_or_else(|| nil_query(now), |query| Cmd::new(&query, now, None)), now);
        }
        if first && self.open.as_ref().is_some_and(|open| !open.answered) {
            self.start_if_due(now);
        }
    }

    /// When the sensor's level differs from the last state report's, a report was lost. The device is asked for another one, because a heartbeat does not
    /// say what runs.
    fn on_heartbeat(&mut self, heartbeat: &Heartbeat, now: Timestamp) {
        // A board that cannot save sends heartbeats only: its report that the machine runs is held back.
        self.watched.iter_mut().for_each(|watched| watched.ran |= heartbeat.sense == Some(true));
        if heartbeat.sense.is_some() && heartbeat.sense != self.sensor.runs && !self.is_state_awaited(now) {
            self.ask(now);
        } else {
            self.ask_for_the_time(now);
        }
    }

    fn remember_epoch(&mut self, epoch: Option<i64>) {
        if let Some((before, now)) = self.epoch.zip(epoch).filter(|(before, now)| now < before) {
            self.out.push(Effect::Trouble(Trouble::MemoryLost { before, now }));
            if let Some(open) = &mut self.open {
                open.forgotten = true;
            }
        }
        let of_a_command = self.open.as_ref().map_or(0, |open| open.cmd.epoch);
        if let Some(epoch) = epoch.filter(|epoch| *epoch > of_a_command && self.epoch != Some(*epoch)) {
            self.out.push(Effect::Epoch(epoch));
        }
        self.epoch = epoch.or(self.epoch);
    }

    /// Applies the `last` and `epoch` of a state report to the open purchase. `since`: when the device subscribed to its commands on the connection of
    /// this report.
    fn decide(&mut self, state: &State, sent_at: Option<Timestamp>, since: Option<Timestamp>) {
        let last = state.last.filter(|last| last.result != AckResult::Started);
        let Some(open) = &mut self.open else {
            // This conversation knows of no purchase. The actor knows whether the one that `last` names is open.
            self.out.extend(
                last.map(|last| Effect::Notify(DeviceEvent::Ack { cmd_id: last.cmd_id, result: last.outcome() }, Grounds::Last)),
            );
            return;
        };
        if let Some(last) = last.filter(|last| open.is(last.cmd_id)) {
            open.apply_result(last.outcome());
            self.out.push(Effect::Notify(open.ack(last.outcome()), Grounds::Last));
        } else if state.last.is_some_and(|last| open.is(last.cmd_id)) {
            // `last` says that the purchase started. The `run` of this report tells the actor so, with the time left; without one, the device is queried.
            open.ran = true;
        } else if let Some(((epoch, sent_at), since)) = state.epoch.zip(sent_at).zip(since)
            // Only if a message came before the start expired can a delay be measured. Otherwise this state report may be older than the start. On a slow
            // line it may be older, too, but not than its connection.
            && self.delay.is_known_since(open.cmd.exp)
            && open.never_ran(epoch, sent_at.min(since))
        {
            open.answered = true;
            self.out.push(Effect::Notify(open.ack(AckResult::Expired), Grounds::Epoch));
        }
    }

    /// Notifies the actor of the run and the time that is left.
    fn notify_run(&mut self, now: Timestamp) {
        let Some(((run, _), ends_at)) = self.run.zip(self.ends_at(now)) else { return };
        if let Some(open) = self.open.as_mut().filter(|open| open.is(run.cmd_id)) {
            open.apply_result(AckResult::Started);
            open.ends_at = Some(ends_at);
        }
        self.notified_end = ends_at;
        let left_ms = now.ms_until(ends_at).max(0);
        let (boot, before_boot) = (self.boot, self.before_boot);
        self.notify(Some(DeviceRun { cmd_id: run.cmd_id, left_ms, added_s: run.added_s, boot, before_boot }));
    }

    fn runs_nothing(&mut self, sent_at: Option<Timestamp>, now: Timestamp) {
        let sent_at = sent_at.unwrap_or(now);
        if let Some(open) = &mut self.open {
            if open.stop_at.is_some_and(|stop| stop <= sent_at) {
                open.apply_result(AckResult::Done);
                self.out.push(Effect::Notify(open.ack(AckResult::Done), Grounds::Run));
            } else if let Some(ends_at) = open.ends_at.take() {
                let left_ms = sent_at.ms_until(ends_at);
                // A machine that was started by pulses ends when its own cycle does.
                if left_ms > EARLY_MS && open.cmd.pulses.is_none() {
                    self.out.push(Effect::Trouble(Trouble::EndedEarly { cmd_id: open.cmd.cmd_id, left_ms }));
                    // The machine is not reported as free yet, because that would clear its staff flag at once. The next state report does; while the
                    // machine waits for staff, the device is asked for one.
                    return;
                }
            }
        }
        // As long as the device has reported a lower epoch than the last purchase's, that purchase's start may still reach it, and the machine
        // may not stay free.
        if !self.is_below_last_epoch() && (self.wanted || self.sensor_changed || self.notified_run.is_some()) {
            self.notify(None);
        }
    }

    fn notify(&mut self, run: Option<DeviceRun>) {
        (self.notified_run, self.wanted, self.sensor_changed) = (run.map(|run| run.cmd_id), false, false);
        self.out.push(Effect::Notify(DeviceEvent::State { online: true, run, sensor: self.sensor }, Grounds::Run));
    }

    /// What the board's sensor says. That the machine never ran is known only of a run whose last report and end came on one connection, in which
    /// no message has said that the machine runs: the board reports each change.
    fn sensor(&mut self, state: &State) -> Sensor {
        let Some(runs) = state.sense else {
            self.watched = None;
            return Sensor::default();
        };
        let connection = self.connection();
        if let Some(run) = state.run {
            let before = self.watched.filter(|watched| watched.cmd_id == run.cmd_id);
            let ran = run.added_s > 0 || before.is_some_and(|watched| watched.ran);
            self.watched = Some(WatchedRun { cmd_id: run.cmd_id, connection, ran });
        }
        self.watched.iter_mut().for_each(|watched| watched.ran |= runs);
        let is_over = |watched: &WatchedRun| {
            let last = state.last.filter(|last| last.result == AckResult::Done && state.run.is_none());
            last.is_some_and(|last| last.cmd_id == watched.cmd_id)
        };
        let stood_still = |watched: &WatchedRun| is_over(watched) && !watched.ran && watched.connection == connection;
        let never_ran = self.watched.filter(stood_still);
        Sensor { runs: Some(runs), never_ran: never_ran.map(|watched| watched.cmd_id) }
    }

    /// Whether the device has reported an epoch below that of the last purchase.
    pub(super) fn is_below_last_epoch(&self) -> bool {
        self.open.as_ref().is_some_and(|open| self.epoch.is_some_and(|epoch| epoch < open.cmd.epoch))
    }
}

/// A run of a board with a sensor.
#[derive(Debug, Clone, Copy)]
pub(super) struct WatchedRun {
    cmd_id: Uuid,
    /// Where its last report came from.
    connection: Option<ConnectionId>,
    /// The machine has run in it.
    ran: bool,
}

/// Last command of the purchase, and what this conversation knows of its outcome. A decided purchase stays here until the next one: a
/// device that reports a lower epoch may still receive its start.
#[derive(Debug)]
pub(super) struct OpenPurchaseState {
    pub(super) cmd: Command,
    /// Whether the start may have been written to a connection. Only the process that received the first start can know that it was not.
    pub(super) written: bool,
    /// This conversation has written it.
    pub(super) sent: bool,
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

impl OpenPurchaseState {
    /// Purchase that is first known from a command. `begins`: this command sends its start for the first time.
    pub(super) fn begin(cmd: &Command, begins: bool) -> Self {
        let cmd = cmd.clone();
        Self { cmd, written: !begins, sent: false, answered: false, ran: false, forgotten: false, ends_at: None, stop_at: None }
    }

    /// Purchase read from the store: another process may already have written any of its commands.
    pub(super) fn stored(idmesin: MachineId, p: &Purchase) -> Self {
        let runs = p.state == PurchaseState::Running;
        let cmd = p.command(idmesin, Op::Query);
        Self { answered: runs, ran: runs, ends_at: runs.then_some(p.ends_at), ..Self::begin(&cmd, false) }
    }

    pub(super) fn is(&self, cmd_id: Uuid) -> bool {
        self.cmd.cmd_id == cmd_id
    }

    /// Whether the start may be sent: it is requested and not yet expired, and no test of pulses that was sent before.
    pub(super) fn is_to_start(&self, now: Timestamp) -> bool {
        let again = self.sent && is_pulse_test(self.cmd.pulses, self.cmd.duration_s);
        self.cmd.op == Op::Start && now < self.cmd.exp && !again
    }

    /// Whether the start has expired and its outcome is unknown.
    pub(super) fn is_unsure(&self, now: Timestamp) -> bool {
        !self.answered && now >= self.cmd.exp
    }

    /// Query for the outcome of the purchase. Its epoch makes the device refuse every older start.
    pub(super) fn query(&self) -> Command {
        Command { op: Op::Query, ..self.cmd.clone() }
    }

    /// Whether the start was never written and has expired: the purchase did not run.
    pub(super) fn is_void(&self, now: Timestamp) -> bool {
        !self.written && now >= self.cmd.exp
    }

    /// Whether the purchase has not run and never will. `epoch` is the highest that the device knew at `sent_at`. Any command of the
    /// purchase would have raised it, and at `sent_at` the device already refuses the start as expired.
    pub(super) fn never_ran(&self, epoch: i64, sent_at: Timestamp) -> bool {
        !self.ran && !self.forgotten && epoch < self.cmd.epoch && sent_at >= self.cmd.exp.plus_ms(CLOCK_MS)
    }

    pub(super) fn ack(&self, result: AckResult) -> DeviceEvent {
        DeviceEvent::Ack { cmd_id: self.cmd.cmd_id, result }
    }

    /// Applies an outcome that the device has reported.
    pub(super) fn apply_result(&mut self, result: AckResult) {
        (self.written, self.answered) = (true, true);
        self.ran |= matches!(result, AckResult::Started | AckResult::Done);
        // After a requested stop the end no longer matters. Otherwise it is kept: a later state report without a run shows by it whether the run
        // ended too early.
        if result == AckResult::Done && self.stop_at.take().is_some() {
            self.ends_at = None;
        }
    }
}
