//! A device (docs/contract.md §6), decided: what it does with a command, with a power cut and when its run is over, and what it says then.
//! No clock, no line, no flash and no chance in here: commands and the uptime come in, acts go out. So the devices of the simulator and
//! those in virtual time are one, and what is built of other parts can be held against it.

#[cfg(test)]
mod tests;

use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::{Command, DeviceEvent, DeviceRun};
use nyala_core::purchase::step::AckResult;
use uuid::Uuid;

use super::word::{Ack, Beat, BootId, Cmd, Last, Run, Stamp, State, Word};
use crate::device::memory::{DeviceMemory, Mode};

/// An answer that took this long tells no time.
const EXCHANGE_MS: i64 = 2_000;
/// A clock that was told longer ago is none: crystals go wrong.
const CLOCK_MS: i64 = 60 * 60_000;
/// How often a run's rest goes to the flash, which wears.
const SAVE_MS: i64 = 60_000;

/// What is to be done, in this order: what is remembered is on flash before the relay moves, and that has moved before anybody hears of
/// it. When one of them fails, those after it must not happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Put [`Device::journal`] on flash.
    Save,
    /// Let the machine run, or not.
    Relay(bool),
    /// Say it, if there is a line; its [word](Device::word) is made when it is said.
    Say(Saying),
}

/// What is to be said. A state is as things are when it is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saying {
    State,
    Ack { cmd_id: Uuid, epoch: i64, result: AckResult },
}

/// A device that has power. All times are its uptime.
#[derive(Debug, Clone)]
pub struct Device {
    boot_id: i64,
    conn: u64,
    seq: u64,
    memory: DeviceMemory,
    /// When that was last put on flash.
    saved_ms: i64,
    /// What the relay is on for.
    running: Option<Uuid>,
    /// When it said its last state on this connection.
    asked_ms: Option<i64>,
    clock: Option<Clock>,
}

/// The server's time, as it was told in the last exchange that was quick enough.
#[derive(Debug, Clone, Copy)]
struct Clock {
    /// How much more it is than the uptime.
    ahead_ms: i64,
    told_ms: i64,
}

impl Device {
    /// Power is there. `boot_id` must be another one for each boot; `journal` is what was on flash, nothing if it is new. Then its
    /// [tick](Self::tick) is due.
    pub fn boot(boot_id: i64, journal: DeviceMemory) -> Self {
        let mut device =
            Self { boot_id, conn: 0, seq: 0, memory: journal, saved_ms: 0, running: None, asked_ms: None, clock: None };
        device.set_faulty(false);
        device
    }

    /// What belongs on flash: its memory as it was when that was last asked for, so that a run goes on with the rest that it had then.
    pub fn journal(&self) -> DeviceMemory {
        let mut journal = self.memory.clone();
        journal.count_from(Timestamp::from_ms(self.saved_ms));
        journal
    }

    /// A faulty machine refuses every start.
    pub fn set_faulty(&mut self, faulty: bool) {
        self.memory.mode = if faulty { Mode::Refuse } else { Mode::Ok };
    }

    /// Its clock is none until it is told the time again.
    pub fn forget_time(&mut self) {
        self.clock = None;
    }

    /// What it runs, and for how long still.
    pub fn run(&self, up_ms: i64) -> Option<DeviceRun> {
        self.memory.run(Timestamp::from_ms(up_ms))
    }

    // --- its line ---

    /// It has a new line, and is about to log in with the will of that.
    pub fn connect(&mut self) {
        (self.conn, self.seq, self.asked_ms) = (self.conn + 1, 0, None);
    }

    /// The last will of the present connection.
    pub fn will(&self) -> Word {
        Word::Gone(Stamp { boot_id: Some(BootId::Number(self.boot_id)), conn: Some(self.conn), seq: None, up_ms: None })
    }

    /// The word for what is to be said now. A state is the first that is said on a connection, after its subscription was granted.
    pub fn word(&mut self, saying: Saying, up_ms: i64) -> Word {
        let stamp = self.stamp(up_ms);
        match saying {
            Saying::State => {
                self.asked_ms = Some(up_ms);
                let now = Timestamp::from_ms(up_ms);
                let run = self.run(up_ms).map(|run| Run { cmd_id: run.cmd_id, left_s: (run.left_ms + 999) / 1000 });
                let last = self.memory.last(now).map(|(cmd_id, result)| Last { cmd_id, result });
                Word::State(State { stamp, epoch: Some(self.memory.epoch()), last, run, fw: None, hw: None })
            }
            Saying::Ack { cmd_id, epoch, result } => {
                Word::Ack(Ack { stamp: Stamp { conn: None, ..stamp }, cmd_id, epoch: Some(epoch), result })
            }
        }
    }

    /// The word that only says that it is there.
    pub fn beat(&mut self, rssi: Option<i64>, up_ms: i64) -> Word {
        Word::Beat(Beat { stamp: self.stamp(up_ms), rssi })
    }

    fn stamp(&mut self, up_ms: i64) -> Stamp {
        self.seq += 1;
        Stamp { boot_id: Some(BootId::Number(self.boot_id)), conn: Some(self.conn), seq: Some(self.seq), up_ms: Some(up_ms) }
    }

    // --- what it does ---

    /// A command arrives that was not retained: nobody knows when that was said.
    pub fn hear(&mut self, cmd: &Cmd, up_ms: i64) -> Vec<Act> {
        let mut acts = self.tick(up_ms);
        self.take_time(cmd, up_ms);
        let &Cmd { cmd_id, epoch, op, durasi_s, exp, .. } = cmd;
        // Without a clock it is always too late.
        let exp = self.ahead_ms(up_ms).map_or(i64::MIN, |ahead_ms| exp * 1000 - ahead_ms);
        let command =
            Command { idmesin: 0, cmd_id, epoch, op, duration_s: durasi_s, exp: Timestamp::from_ms(exp), held_here: false };
        let Some(handled) = self.memory.handle(&command, Timestamp::from_ms(up_ms)) else { return acts };
        if handled.changed {
            acts.push(self.save(up_ms));
        }
        acts.extend(self.switch(up_ms));
        if handled.changed || handled.events.iter().any(|said| matches!(said, DeviceEvent::State { .. })) {
            acts.push(Act::Say(Saying::State));
        }
        acts.extend(handled.events.into_iter().filter_map(|said| match said {
            DeviceEvent::Ack { cmd_id, result } => Some(Act::Say(Saying::Ack { cmd_id, epoch, result })),
            DeviceEvent::State { .. } => None,
        }));
        acts
    }

    /// When [`Device::tick`] is due.
    pub fn tick_at(&self) -> Option<i64> {
        let ends_ms = self.run(self.saved_ms).map(|run| self.saved_ms + run.left_ms);
        match (self.running, ends_ms) {
            (Some(_), Some(ends_ms)) => Some(ends_ms.min(self.saved_ms + SAVE_MS)),
            (None, None) => None,
            _ => Some(self.saved_ms),
        }
    }

    /// Looks at what time alone does: a run that goes on after a power cut, its rest for the flash, its end.
    pub fn tick(&mut self, up_ms: i64) -> Vec<Act> {
        let Some(cmd_id) = self.running else { return self.switch(up_ms).into_iter().collect() };
        if self.run(up_ms).is_some() {
            return if up_ms - self.saved_ms >= SAVE_MS { vec![self.save(up_ms)] } else { Vec::new() };
        }
        let mut acts = vec![self.save(up_ms)];
        acts.extend(self.switch(up_ms));
        let ack = Saying::Ack { cmd_id, epoch: self.memory.epoch(), result: AckResult::Done };
        acts.extend([Act::Say(Saying::State), Act::Say(ack)]);
        acts
    }

    fn save(&mut self, up_ms: i64) -> Act {
        self.saved_ms = up_ms;
        Act::Save
    }

    /// The relay follows the memory.
    fn switch(&mut self, up_ms: i64) -> Option<Act> {
        let run = self.run(up_ms).map(|run| run.cmd_id);
        let before = std::mem::replace(&mut self.running, run);
        (before.is_some() != run.is_some()).then_some(Act::Relay(run.is_some()))
    }

    /// A command that answers the last state tells the time: what it was at the server then is no later than now, and the whole way
    /// there and back lies between. The newest exchange counts.
    fn take_time(&mut self, cmd: &Cmd, up_ms: i64) {
        let asked_ms = self.asked_ms.filter(|asked_ms| cmd.echo == Some(*asked_ms) && up_ms - asked_ms < EXCHANGE_MS);
        if let Some(asked_ms) = asked_ms {
            self.clock = Some(Clock { ahead_ms: cmd.now_ms - asked_ms, told_ms: up_ms });
        }
    }

    fn ahead_ms(&self, up_ms: i64) -> Option<i64> {
        self.clock.filter(|clock| up_ms - clock.told_ms < CLOCK_MS).map(|clock| clock.ahead_ms)
    }
}
