//! What a device does with a command (docs/contract.md §6), and nothing else: no clock of its own, no journal, no waiting. So the
//! same device stands behind the server and inside the simulation in virtual time.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::domain::timestamp::Timestamp;
use crate::purchase::device::{Command, DeviceEvent, DeviceRun};
use crate::purchase::step::{AckResult, Op};

/// Commands a device remembers, so that a repeated one is answered and not run again.
const KNOWN: usize = 16;
/// `late`: how long after the start every answer about it waits.
pub(super) const LATE_MS: i64 = 9_000;

/// What is wrong with a device (docs/contract.md §5).
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
struct Known {
    cmd_id: Uuid,
    result: KnownResult,
    started_ms: i64,
    ends_ms: i64,
}

impl Known {
    fn runs(&self, now: Timestamp) -> bool {
        self.result == KnownResult::Started && self.ends_ms > now.ms()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum KnownResult {
    Started,
    Refused,
    Expired,
}

/// One device's own memory.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct DeviceMemory {
    pub mode: Mode,
    epoch: i64,
    known: VecDeque<Known>,
}

/// What came of a command.
#[derive(Debug, PartialEq, Eq)]
pub struct Handled {
    /// Whether there is something new to remember.
    pub changed: bool,
    /// How long the device keeps its answer to itself, in milliseconds.
    pub after_ms: i64,
    pub events: Vec<DeviceEvent>,
}

impl DeviceMemory {
    /// Does what `cmd` asks at `now` by the device's own clock; `None`: not a word.
    pub fn handle(&mut self, cmd: &Command, now: Timestamp) -> Option<Handled> {
        if matches!(self.mode, Mode::Silent | Mode::Offline) {
            return None;
        }
        let (changed, mut events) = match cmd.op {
            Op::Start => (self.start(cmd, now), Vec::new()),
            Op::Query => (false, vec![self.state(now)]),
            Op::Stop => (self.stop(cmd.cmd_id, now), vec![self.state(now)]),
        };
        events.extend(self.answer(cmd, now));
        let late = self.find(cmd.cmd_id).filter(|_| self.mode == Mode::Late);
        let after_ms = late.map_or(0, |known| (known.started_ms + LATE_MS - now.ms()).max(0));
        Some(Handled { changed, after_ms, events })
    }

    /// What it runs by its own word.
    pub fn run(&self, now: Timestamp) -> Option<DeviceRun> {
        self.running(now).map(|k| DeviceRun { cmd_id: k.cmd_id, left_ms: k.ends_ms - now.ms() })
    }

    /// What it says of itself, asked or not.
    pub fn state(&self, now: Timestamp) -> DeviceEvent {
        DeviceEvent::State { online: self.mode != Mode::Offline, run: self.run(now) }
    }

    fn find(&self, cmd_id: Uuid) -> Option<&Known> {
        self.known.iter().find(|k| k.cmd_id == cmd_id)
    }

    fn running(&self, now: Timestamp) -> Option<&Known> {
        self.known.iter().find(|k| k.runs(now))
    }

    /// Starts unless something forbids it; whether the command was new.
    fn start(&mut self, cmd: &Command, now: Timestamp) -> bool {
        if self.find(cmd.cmd_id).is_some() {
            return false;
        }
        let result = if now > cmd.exp {
            KnownResult::Expired
        } else if self.mode == Mode::Refuse || cmd.epoch < self.epoch || self.running(now).is_some() {
            KnownResult::Refused
        } else {
            KnownResult::Started
        };
        self.epoch = self.epoch.max(cmd.epoch);
        self.remember(Known { cmd_id: cmd.cmd_id, result, started_ms: now.ms(), ends_ms: now.ms() + cmd.duration_s * 1000 }, now);
        true
    }

    /// The oldest command that does not run makes room.
    fn remember(&mut self, known: Known, now: Timestamp) {
        if self.known.len() >= KNOWN
            && let Some(oldest) = self.known.iter().position(|k| !k.runs(now))
        {
            self.known.remove(oldest);
        }
        self.known.push_back(known);
    }

    /// Ends the run of `cmd_id`; whether anything changed.
    fn stop(&mut self, cmd_id: Uuid, now: Timestamp) -> bool {
        match self.known.iter_mut().find(|k| k.cmd_id == cmd_id && k.runs(now)) {
            Some(known) => {
                known.ends_ms = now.ms();
                true
            }
            None => false,
        }
    }

    /// The ack of a command it knows, or `expired` for one it never heard and will never run.
    fn answer(&self, cmd: &Command, now: Timestamp) -> Option<DeviceEvent> {
        let result = match self.find(cmd.cmd_id) {
            Some(k) => match k.result {
                KnownResult::Started if k.runs(now) => AckResult::Started,
                KnownResult::Started => AckResult::Done,
                KnownResult::Refused => AckResult::Refused,
                KnownResult::Expired => AckResult::Expired,
            },
            None if now > cmd.exp => AckResult::Expired,
            None => return None,
        };
        Some(DeviceEvent::Ack { cmd_id: cmd.cmd_id, result })
    }
}
