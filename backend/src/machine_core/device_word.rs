//! What a machine's device says, and what is kept on record of it.

use uuid::Uuid;

use super::{Effect, Machine, Unanswered, Waiter};
use crate::domain::timestamp::Timestamp;
use crate::purchase::device::{Command, DeviceEvent};
use crate::purchase::step::PurchaseEvent;

/// Whether a device is online, and what it runs, by its own word.
pub(super) type DeviceWord = (bool, Option<Uuid>);

impl<B: Waiter, S: Waiter> Machine<B, S> {
    pub(super) fn said(&mut self, event: DeviceEvent, now: Timestamp) {
        match event {
            DeviceEvent::Ack { cmd_id, result } => {
                self.measure_answer(cmd_id, now);
                self.feed(PurchaseEvent::Ack { cmd_id, result }, now);
            }
            DeviceEvent::State { online, run } => {
                self.record_state((online, run.map(|r| r.cmd_id)), now);
                if let Some(run) = run {
                    self.feed(PurchaseEvent::Runs { cmd_id: run.cmd_id, left_ms: run.left_ms }, now);
                }
            }
        }
    }

    /// The first word of the device on a command that this process sent.
    fn measure_answer(&mut self, cmd_id: Uuid, now: Timestamp) {
        let asked = self.active.as_ref().filter(|a| a.p.cmd_id == cmd_id && a.p.state.undecided());
        if let Some(first_sent) = asked.and_then(|a| a.p.exchange.first_sent) {
            self.out.push(Effect::Answered { after_ms: first_sent.ms_until(now).max(0) });
        }
    }

    /// Keeps `online` and the staff flag as the device says, and has unpaid runs on record.
    fn record_state(&mut self, said: DeviceWord, now: Timestamp) {
        if self.last_said == Some(said) {
            return;
        }
        self.last_said = Some(said);
        if self.recording.is_none() {
            self.record(said, now);
        }
    }

    fn record(&mut self, said: DeviceWord, now: Timestamp) {
        let (online, run) = said;
        self.recording = Some(said);
        let ours = self.active.as_ref().is_some_and(|a| run.is_none_or(|cmd| cmd == a.p.cmd_id));
        self.out.push(Effect::Record { online, runs: run.is_some(), foreign: run.filter(|_| !ours), at: now });
    }

    pub(super) fn recorded(&mut self, result: Result<(), Unanswered>, now: Timestamp) {
        let stored = self.recording.take();
        if result.is_err() {
            // The device's next word counts although it is the old one.
            self.last_said = self.last_said.filter(|said| Some(*said) != stored);
        }
        if let Some(newer) = self.last_said.filter(|said| Some(*said) != stored) {
            self.record(newer, now);
        }
    }

    pub(super) fn ask_device(&mut self, now: Timestamp) {
        self.last_said = None;
        self.out.push(Effect::Command(Command::about_nothing(self.idmesin, now)));
    }
}
