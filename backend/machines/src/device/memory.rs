//! Reaction of a device to a command (docs/contract.md §6). It has no clock, no journal and no delays, so that the server and the simulation
//! in virtual time use the same code.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::{AckResult, Command, DeviceEvent, DeviceRun, Op, Pulses};

/// Commands that a device remembers, so that a repeated one is answered and not run again.
const MAX_KNOWN: usize = 16;
/// How long every answer about a start is delayed after it, in mode `late`.
pub const LATE_MS: i64 = 9_000;

/// A simulated device's fault (docs/contract.md §5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    #[default]
    Ok,
    Refuse,
    Silent,
    Late,
    Offline,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct KnownCommand {
    cmd_id: Uuid,
    result: KnownResult,
    started_ms: i64,
    ends_ms: i64,
    /// Its start was made by coin pulses: the machine runs its own cycle, and the relay stays open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by_pulses: Option<PulseRun>,
}

/// Run that coin pulses have started, as far as the sensor of its machine is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PulseRun {
    pub duration_ms: i64,
    /// How long the machine stands still until its run counts as over.
    pub sense_ms: i64,
    /// By how many seconds the sensor has moved the end.
    pub added_s: i64,
    /// How long the machine ran, as far as that matters.
    pub ran_ms: i64,
    /// Whether the machine ever ran.
    pub has_run: bool,
}

impl KnownCommand {
    fn runs(&self, now: Timestamp) -> bool {
        self.result == KnownResult::Started && self.ends_ms > now.ms()
    }

    /// `None` while its pulses are being sent: until they are over, nothing may be said of it.
    fn result_at(&self, now: Timestamp) -> Option<AckResult> {
        match self.result {
            KnownResult::Pulsing => None,
            KnownResult::Started if self.runs(now) => Some(AckResult::Started),
            KnownResult::Started => Some(AckResult::Done),
            KnownResult::Refused | KnownResult::Cut => Some(AckResult::Refused),
            KnownResult::Expired => Some(AckResult::Expired),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum KnownResult {
    /// Its pulses are being sent. A power cut makes it `Cut`, because it is unknown how many pulses the machine has counted.
    Pulsing,
    Started,
    Refused,
    /// Refused, because the power was lost in its pulses.
    Cut,
    Expired,
}

/// Memory of one device.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct DeviceMemory {
    pub mode: Mode,
    /// It refuses pulses now: its board has no coin contact, or its machine already runs.
    #[serde(skip)]
    pub refuses_pulses: bool,
    epoch: i64,
    known: VecDeque<KnownCommand>,
    /// Coins that its board has counted since it was new.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub coins: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// Result of handling a command.
#[derive(Debug, PartialEq, Eq)]
pub struct Handled {
    /// Whether the memory has changed and must be stored.
    pub changed: bool,
    /// How long the device delays its answer, in milliseconds.
    pub after_ms: i64,
    pub events: Vec<DeviceEvent>,
    /// Pulses to send now; [`DeviceMemory::pulsed`] follows when they are over.
    pub pulses: Option<Pulses>,
}

impl DeviceMemory {
    /// Handles `cmd` at `now` by the device's own clock; `None`: the device does not answer.
    pub fn handle(&mut self, cmd: &Command, now: Timestamp) -> Option<Handled> {
        if matches!(self.mode, Mode::Silent | Mode::Offline) {
            return None;
        }
        if cmd.cmd_id.is_nil() {
            // A nil id only asks for a state report.
            return Some(Handled { changed: false, after_ms: 0, events: vec![self.state(now)], pulses: None });
        }
        // From now on no older purchase can start.
        let raised = cmd.epoch > self.epoch;
        self.epoch = self.epoch.max(cmd.epoch);
        let was_pulsing = self.is_pulsing();
        let changed = match cmd.op {
            Op::Start => self.start(cmd, now),
            Op::Query => self.expire(cmd, now),
            Op::Stop => self.stop(cmd.cmd_id, now) || self.expire(cmd, now),
        };
        let state = (cmd.op != Op::Start).then(|| self.state(now));
        let ack = self.result_of(cmd.cmd_id, now).map(|result| DeviceEvent::Ack { cmd_id: cmd.cmd_id, result });
        let late = self.find(cmd.cmd_id).filter(|_| self.mode == Mode::Late);
        let after_ms = late.map_or(0, |known| (known.started_ms + LATE_MS - now.ms()).max(0));
        let pulses = cmd.pulses.filter(|_| self.is_pulsing() && !was_pulsing);
        Some(Handled { changed: changed || raised, after_ms, events: state.into_iter().chain(ack).collect(), pulses })
    }

    /// Whether pulses are being sent. Until they are over, a device answers no command: an answer would tell the server that the purchase did not run.
    pub fn is_pulsing(&self) -> bool {
        self.known.iter().any(|known| known.result == KnownResult::Pulsing)
    }

    /// The pulses are over, and the machine has its credit: its run begins now. Returns the command, if there was one.
    pub fn pulsed(&mut self, now: Timestamp) -> Option<Uuid> {
        let known = self.known.iter_mut().find(|known| known.result == KnownResult::Pulsing)?;
        known.result = KnownResult::Started;
        known.ends_ms += now.ms() - known.started_ms;
        known.started_ms = now.ms();
        Some(known.cmd_id)
    }

    /// The power is back. Pulses that were cut off are not repeated, because the machine may have counted them. Returns whether that changed the
    /// memory.
    pub fn power_is_back(&mut self) -> bool {
        let cut = self.known.iter_mut().find(|known| known.result == KnownResult::Pulsing);
        cut.map(|known| known.result = KnownResult::Cut).is_some()
    }

    /// Whether a command was refused because the power was lost in its pulses.
    pub fn was_cut(&self, cmd_id: Uuid) -> bool {
        self.find(cmd_id).is_some_and(|known| known.result == KnownResult::Cut)
    }

    /// The running cycle for which the relay is closed.
    pub fn relay_run(&self, now: Timestamp) -> Option<Uuid> {
        self.running(now).filter(|known| known.by_pulses.is_none()).map(|known| known.cmd_id)
    }

    /// The run that pulses have started for a command, and when it ends by its time.
    pub fn pulse_run(&self, cmd_id: Uuid) -> Option<(PulseRun, i64)> {
        let known = self.find(cmd_id)?;
        Some((known.by_pulses?, known.ends_ms))
    }

    /// Stores what the sensor makes of a run.
    pub fn set_pulse_run(&mut self, cmd_id: Uuid, (run, ends_ms): (PulseRun, i64)) {
        if let Some(known) = self.known.iter_mut().find(|known| known.cmd_id == cmd_id) {
            (known.by_pulses, known.ends_ms) = (Some(run), ends_ms);
        }
    }

    /// The highest epoch that the device has received.
    pub fn epoch(&self) -> i64 {
        self.epoch
    }

    /// The last command that it remembers, with its result.
    pub fn last(&self, now: Timestamp) -> Option<(Uuid, AckResult)> {
        self.known.iter().rev().find_map(|known| Some((known.cmd_id, known.result_at(now)?)))
    }

    /// Result of a command; `None`: the device never received it.
    pub fn result_of(&self, cmd_id: Uuid, now: Timestamp) -> Option<AckResult> {
        self.find(cmd_id)?.result_at(now)
    }

    /// Shifts all stored times so that the former `now` becomes 0. A device whose clock counts from its boot keeps its memory through a power
    /// cut this way.
    pub fn count_from(&mut self, now: Timestamp) {
        for known in &mut self.known {
            known.started_ms -= now.ms();
            known.ends_ms -= now.ms();
        }
    }

    /// The cycle that the device runs, by its own clock.
    pub fn run(&self, now: Timestamp) -> Option<DeviceRun> {
        self.running(now).map(|k| DeviceRun::new(k.cmd_id, k.ends_ms - now.ms()))
    }

    /// State report of the device.
    pub fn state(&self, now: Timestamp) -> DeviceEvent {
        DeviceEvent::state(self.mode != Mode::Offline, self.run(now))
    }

    fn find(&self, cmd_id: Uuid) -> Option<&KnownCommand> {
        self.known.iter().find(|k| k.cmd_id == cmd_id)
    }

    fn running(&self, now: Timestamp) -> Option<&KnownCommand> {
        self.known.iter().find(|k| k.runs(now))
    }

    /// Commands whose result the device knows.
    pub fn answered(&self) -> impl Iterator<Item = Uuid> + '_ {
        self.known.iter().map(|known| known.cmd_id)
    }

    /// Starts the command unless a rule forbids it. Returns whether the command was new.
    fn start(&mut self, cmd: &Command, now: Timestamp) -> bool {
        if self.find(cmd.cmd_id).is_some() {
            return false;
        }
        let result = if now > cmd.exp {
            KnownResult::Expired
        } else if self.mode == Mode::Refuse
            || cmd.epoch < self.epoch
            || self.running(now).is_some()
            || self.is_pulsing()
            || cmd.pulses.is_some_and(|pulses| self.refuses_pulses || !pulses.are_valid())
        {
            KnownResult::Refused
        } else if cmd.pulses.is_some() {
            KnownResult::Pulsing
        } else {
            KnownResult::Started
        };
        self.remember(cmd, result, now);
        true
    }

    /// Remembers an unknown command as expired when it may no longer start. The device reports it as expired, and that must stay true
    /// although its start may still arrive. Returns whether the command was unknown and expired.
    fn expire(&mut self, cmd: &Command, now: Timestamp) -> bool {
        let expires = now > cmd.exp && self.find(cmd.cmd_id).is_none();
        if expires {
            self.remember(cmd, KnownResult::Expired, now);
        }
        expires
    }

    /// Remembers a command; the oldest one that does not run makes room for it.
    fn remember(&mut self, cmd: &Command, result: KnownResult, now: Timestamp) {
        if self.known.len() >= MAX_KNOWN
            && let Some(oldest) = self.known.iter().position(|k| !k.runs(now) && k.result != KnownResult::Pulsing)
        {
            self.known.remove(oldest);
        }
        let (started_ms, duration_ms) = (now.ms(), cmd.duration_s * 1000);
        self.known.push_back(KnownCommand {
            cmd_id: cmd.cmd_id,
            result,
            started_ms,
            ends_ms: started_ms + duration_ms,
            by_pulses: cmd.pulses.map(|pulses| PulseRun {
                duration_ms,
                sense_ms: i64::from(pulses.sense_s) * 1000,
                added_s: 0,
                ran_ms: 0,
                has_run: false,
            }),
        });
    }

    /// Ends the run of `cmd_id`, unless the machine runs it by itself. Returns whether anything changed.
    fn stop(&mut self, cmd_id: Uuid, now: Timestamp) -> bool {
        match self.known.iter_mut().find(|k| k.cmd_id == cmd_id && k.runs(now) && k.by_pulses.is_none()) {
            Some(known) => {
                known.ends_ms = now.ms();
                true
            }
            None => false,
        }
    }
}
