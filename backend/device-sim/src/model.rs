//! Model of a device (docs/contract.md §6): a pure state machine. It decides what the device does with a command, after a power cut and
//! at the end of a run, and what it then sends.
//!
//! Inputs are commands and the uptime; outputs are acts. It has no clock, connection, flash or randomness. So the simulator's devices and
//! those in virtual time are the same, and other implementations can be compared with it.

#[cfg(test)]
mod policy;
mod sensor;
#[cfg(test)]
mod tests;

use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::{AckResult, Command, DeviceEvent, DeviceRun, Pulses};
use uuid::Uuid;

use nyala_machines::device::memory::{DeviceMemory, Mode, PulseRun};
use nyala_machines::device::mqtt::cmd::Cmd;
use nyala_machines::device::mqtt::message::{Ack, BootId, DeviceMessage, Heartbeat, Last, Reset, Run, Stamp, State, Why};

use self::sensor::Sensor;

/// Longest exchange whose answer sets the clock.
const EXCHANGE_MS: i64 = 2_000;
/// Age at which a clock becomes invalid: crystals drift.
const CLOCK_MS: i64 = 60 * 60_000;
/// How often the rest of a run is saved to the flash, which wears.
const SAVE_MS: i64 = 60_000;
/// How often coins are saved to it.
const SAVE_COINS_MS: i64 = 60_000;
/// Interval of heartbeats while there are coins that were not sent yet.
const COIN_BEAT_MS: i64 = 5_000;

/// What a board has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Board {
    /// A coin contact, which sends pulses.
    pub pulse: bool,
    /// A sensor of the running machine.
    pub sense: bool,
    /// An input that counts coins.
    pub coin: bool,
    /// Why it booted, if it knows.
    pub reset: Option<Reset>,
    /// Interval of its heartbeats; `None`: it sends none.
    pub beat_ms: Option<i64>,
}

impl Board {
    fn can(self) -> Vec<String> {
        let abilities = [("pulse", self.pulse), ("sense", self.sense), ("coin", self.coin)];
        abilities.into_iter().filter(|(_, has)| *has).map(|(name, _)| name.to_owned()).collect()
    }
}

/// Act to carry out, in this order: the memory is on flash before the relay moves, and the relay has moved before it is reported. When
/// one act fails, the following ones must not happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Save [`Device::journal`] to flash.
    Save,
    /// Switch the machine on or off.
    Relay(bool),
    /// Send coin pulses; [`Device::pulsed`] follows when they are over.
    Pulse(Pulses),
    /// Send a message if there is a connection. The message is made at the moment when it is sent.
    Send(Outgoing),
}

/// Message to send. A state report or a heartbeat describes the moment when it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outgoing {
    State,
    Heartbeat,
    Ack { cmd_id: Uuid, epoch: i64, result: AckResult },
}

/// Device that has power. All times are its uptime.
#[derive(Debug, Clone)]
pub struct Device {
    board: Board,
    boot_id: i64,
    conn: u64,
    seq: u64,
    memory: DeviceMemory,
    /// When the rest was last saved to flash.
    saved_ms: i64,
    /// Cycle that runs.
    running: Option<Uuid>,
    /// Whether the relay is on: not for a cycle that pulses have started.
    relay: bool,
    /// Commands that are answered when the pulses are over, and the epoch of the last one.
    unanswered: (Vec<Uuid>, i64),
    /// When the device sent its last state report on this connection.
    reported_ms: Option<i64>,
    /// When it sent its last heartbeat on this connection, or subscribed.
    beaten_ms: Option<i64>,
    clock: Option<Clock>,
    sensor: Sensor,
    /// Coins on flash, and those that were sent.
    saved_coins: u32,
    sent_coins: u32,
    /// From when on coins may be saved again.
    coins_due_ms: i64,
}

/// Server's time, as received in the last exchange that was quick enough.
#[derive(Debug, Clone, Copy)]
struct Clock {
    /// Server's time minus the uptime.
    ahead_ms: i64,
    set_ms: i64,
}

impl Device {
    /// Device at power-up. `boot_id` must differ for each boot; `journal` is the content of the flash, empty for a new device. Its
    /// [tick](Self::tick) is then due.
    pub fn boot(board: Board, boot_id: i64, journal: DeviceMemory) -> Self {
        let mut device = Self {
            board,
            boot_id,
            conn: 0,
            seq: 0,
            saved_coins: journal.coins,
            sent_coins: journal.coins,
            coins_due_ms: 0,
            sensor: Sensor::at_boot(),
            memory: journal,
            saved_ms: 0,
            running: None,
            relay: false,
            unanswered: (Vec::new(), 0),
            reported_ms: None,
            beaten_ms: None,
            clock: None,
        };
        device.set_faulty(false);
        device.memory.power_is_back();
        device
    }

    /// Content for the flash: the device's memory when the last [`Act::Save`] was decided. After a power cut, a run continues with the
    /// rest that it had then, and coins that have fallen since are lost.
    pub fn journal(&self) -> DeviceMemory {
        let mut journal = self.memory.clone();
        journal.coins = self.saved_coins;
        journal.count_from(Timestamp::from_ms(self.saved_ms));
        journal
    }

    /// Coins that it has counted, also those that are not on flash.
    pub const fn coins(&self) -> u32 {
        self.memory.coins
    }

    /// Sets whether the machine is faulty; a faulty one refuses every start.
    pub fn set_faulty(&mut self, faulty: bool) {
        self.memory.mode = if faulty { Mode::Refuse } else { Mode::Ok };
    }

    /// Invalidates the clock until the device receives the time again.
    pub fn forget_time(&mut self) {
        self.clock = None;
    }

    /// The running cycle, and how long it still runs.
    pub fn run(&self, up_ms: i64) -> Option<DeviceRun> {
        self.memory.run(Timestamp::from_ms(up_ms))
    }

    // --- the connection ---

    /// Begins a new connection; the login with its will follows.
    pub fn connect(&mut self) {
        (self.conn, self.seq) = (self.conn + 1, 0);
        (self.reported_ms, self.beaten_ms) = (None, None);
    }

    /// The subscription was granted. A state report follows as the first message.
    pub fn subscribed(&mut self, up_ms: i64) {
        self.beaten_ms = Some(up_ms);
    }

    /// The last will of the present connection.
    pub fn will(&self) -> DeviceMessage {
        DeviceMessage::Gone(Stamp { boot_id: Some(BootId::Number(self.boot_id)), conn: Some(self.conn), seq: None, up_ms: None })
    }

    /// Message to send now.
    pub fn message(&mut self, outgoing: Outgoing, up_ms: i64) -> DeviceMessage {
        let stamp = self.stamp(up_ms);
        let sense = self.board.sense.then_some(self.sensor.is_high());
        let coins = self.board.coin.then_some(self.saved_coins.into());
        if !matches!(outgoing, Outgoing::Ack { .. }) {
            self.sent_coins = self.saved_coins;
        }
        match outgoing {
            Outgoing::State => {
                self.reported_ms = Some(up_ms);
                let now = Timestamp::from_ms(up_ms);
                let run = self.run(up_ms).map(|DeviceRun { cmd_id, left_ms, .. }| Run {
                    cmd_id,
                    left_s: (left_ms + 999) / 1000,
                    added_s: self.memory.pulse_run(cmd_id).map_or(0, |(run, _)| run.added_s),
                });
                let last = self.memory.last(now).map(|(cmd_id, result)| Last { cmd_id, result, why: self.why(cmd_id) });
                let (epoch, can, reset) = (Some(self.memory.epoch()), self.board.can(), self.board.reset);
                DeviceMessage::State(State { stamp, epoch, last, run, fw: None, hw: None, can, sense, coins, reset })
            }
            Outgoing::Heartbeat => DeviceMessage::Heartbeat(Heartbeat { stamp, rssi: None, sense, coins }),
            Outgoing::Ack { cmd_id, epoch, result } => DeviceMessage::Ack(Ack {
                stamp: Stamp { conn: None, ..stamp },
                cmd_id,
                epoch: Some(epoch),
                result,
                why: self.why(cmd_id),
            }),
        }
    }

    fn why(&self, cmd_id: Uuid) -> Option<Why> {
        self.memory.was_cut(cmd_id).then_some(Why::Cut)
    }

    fn stamp(&mut self, up_ms: i64) -> Stamp {
        self.seq += 1;
        Stamp { boot_id: Some(BootId::Number(self.boot_id)), conn: Some(self.conn), seq: Some(self.seq), up_ms: Some(up_ms) }
    }

    // --- what it does ---

    /// Processes a command that was not retained: a retained one may be of any age.
    pub fn on_command(&mut self, cmd: &Cmd, up_ms: i64) -> Vec<Act> {
        let mut acts = self.pass_time(up_ms);
        self.take_time(cmd, up_ms);
        self.memory.refuses_pulses = !self.board.pulse || self.sensor.may_run();
        let &Cmd { cmd_id, epoch, op, durasi_s, pulses, exp, .. } = cmd;
        // Without a clock, every start counts as expired.
        let exp = self.ahead_ms(up_ms).map_or(i64::MIN, |ahead_ms| exp * 1000 - ahead_ms);
        let exp = Timestamp::from_ms(exp);
        let command =
            Command { idmesin: MachineId::new(0), cmd_id, epoch, op, duration_s: durasi_s, pulses, exp, held_here: false };
        let was_pulsing = self.memory.is_pulsing();
        let Some(handled) = self.memory.handle(&command, Timestamp::from_ms(up_ms)) else { return acts };
        if was_pulsing {
            let (waiting, last) = &mut self.unanswered;
            if !cmd_id.is_nil() {
                *last = epoch;
                waiting.extend((!waiting.contains(&cmd_id)).then_some(cmd_id));
            }
            return acts;
        }
        if let Some(pulses) = handled.pulses {
            self.unanswered = (vec![cmd_id], epoch);
            acts.extend([self.save(up_ms), Act::Pulse(pulses)]);
            return acts;
        }
        if handled.changed {
            acts.push(self.save(up_ms));
        }
        acts.extend(self.switch(up_ms));
        if handled.changed || handled.events.iter().any(|event| matches!(event, DeviceEvent::State { .. })) {
            acts.push(Act::Send(Outgoing::State));
        }
        acts.extend(handled.events.into_iter().filter_map(|event| match event {
            DeviceEvent::Ack { cmd_id, result } => Some(Act::Send(Outgoing::Ack { cmd_id, epoch, result })),
            DeviceEvent::State { .. } => None,
        }));
        acts
    }

    /// The pulses are over: their run begins.
    pub fn pulsed(&mut self, up_ms: i64) -> Vec<Act> {
        let now = Timestamp::from_ms(up_ms);
        if !self.memory.is_pulsing() {
            return Vec::new();
        }
        self.watch(up_ms);
        self.memory.pulsed(now);
        let relay = self.switch(up_ms);
        // The machine may have begun in the pulses.
        self.watch(up_ms);
        let mut acts = vec![self.save(up_ms)];
        acts.extend(relay);
        acts.push(Act::Send(Outgoing::State));
        let (waiting, epoch) = std::mem::take(&mut self.unanswered);
        // The oldest that is remembered first.
        let waiting = self.memory.answered().filter(|cmd_id| waiting.contains(cmd_id));
        let answers = waiting.filter_map(|cmd_id| Some((cmd_id, self.memory.result_of(cmd_id, now)?)));
        acts.extend(answers.map(|(cmd_id, result)| Act::Send(Outgoing::Ack { cmd_id, epoch, result })));
        acts
    }

    /// The raw level of the board's sensor.
    pub fn sense(&mut self, high: bool, up_ms: i64) -> Vec<Act> {
        let acts = self.tick(up_ms);
        if self.board.sense {
            self.sensor.set_raw(high, up_ms);
        }
        acts
    }

    /// A coin has fallen.
    pub fn coin(&mut self, up_ms: i64) -> Vec<Act> {
        if self.board.coin {
            self.memory.coins = self.memory.coins.saturating_add(1);
        }
        self.tick(up_ms)
    }

    /// When [`Device::tick`] is due.
    pub fn tick_at(&self) -> Option<i64> {
        let ends_ms = self.run(self.saved_ms).map(|run| self.saved_ms + run.left_ms);
        let of_run = match (self.running, ends_ms) {
            (Some(_), Some(ends_ms)) => Some(ends_ms.min(self.saved_ms + SAVE_MS)),
            (None, None) => None,
            _ => Some(self.saved_ms),
        };
        let (over, later) =
            self.pulse_run().map_or((None, None), |(_, run)| (self.sensor.over_at(run), self.sensor.later_at(run)));
        let beat = self.heartbeat_at(self.sent_coins == self.saved_coins);
        [of_run, self.sensor.stable_at(), over, later, self.coins_at(), beat].into_iter().flatten().min()
    }

    /// Processes the passage of time: a run that continues after a power cut, what the sensor makes of a run, its end, what is saved to
    /// flash, and heartbeats.
    pub fn tick(&mut self, up_ms: i64) -> Vec<Act> {
        let mut acts = self.pass_time(up_ms);
        let all_sent = self.sent_coins == self.saved_coins || acts.contains(&Act::Send(Outgoing::State));
        if self.heartbeat_at(all_sent).is_some_and(|at| at <= up_ms) {
            self.beaten_ms = Some(up_ms);
            acts.push(Act::Send(Outgoing::Heartbeat));
        }
        acts
    }

    fn pass_time(&mut self, up_ms: i64) -> Vec<Act> {
        let (level, moved) = self.watch(up_ms);
        if let Some((cmd_id, run)) = self.pulse_run()
            && self.sensor.over_at(run).is_some_and(|at| at <= up_ms)
        {
            self.memory.set_pulse_run(cmd_id, (run.0, up_ms));
        }
        let coins = self.coins_at().is_some_and(|at| at <= up_ms);
        let ran = self.running;
        let relay = self.switch(up_ms);
        let ended = ran.filter(|_| self.running.is_none());
        let save = moved || coins || ended.is_some() || ran.is_some() && up_ms - self.saved_ms >= SAVE_MS;
        let mut acts = Vec::new();
        acts.extend(save.then(|| self.save(up_ms)));
        acts.extend(relay);
        if (level || moved || ended.is_some()) && !self.memory.is_pulsing() {
            acts.push(Act::Send(Outgoing::State));
        }
        let epoch = self.memory.epoch();
        acts.extend(ended.map(|cmd_id| Act::Send(Outgoing::Ack { cmd_id, epoch, result: AckResult::Done })));
        acts
    }

    /// Lets the sensor see the machine. Returns whether the level that counts has changed, and whether the end of the run has.
    fn watch(&mut self, up_ms: i64) -> (bool, bool) {
        let run = self.pulse_run();
        let (level, sensed) = self.sensor.pass_time(run.map(|(_, run)| run), up_ms);
        let Some(((cmd_id, before), after)) = run.zip(sensed) else { return (level, false) };
        self.memory.set_pulse_run(cmd_id, after);
        (level, (before.0.has_run, before.1) != (after.0.has_run, after.1))
    }

    /// The run that pulses have started, and when it ends by its time.
    fn pulse_run(&self) -> Option<(Uuid, (PulseRun, i64))> {
        let cmd_id = self.running?;
        Some((cmd_id, self.memory.pulse_run(cmd_id)?))
    }

    /// When coins are saved, if nothing else is saved before. Nothing is saved while pulses are sent.
    fn coins_at(&self) -> Option<i64> {
        (self.saved_coins != self.memory.coins && !self.memory.is_pulsing()).then_some(self.coins_due_ms)
    }

    /// When a heartbeat is due: soon, unless all coins were sent.
    fn heartbeat_at(&self, all_sent: bool) -> Option<i64> {
        let every_ms = self.board.beat_ms?;
        Some(self.beaten_ms? + if all_sent { every_ms } else { every_ms.min(COIN_BEAT_MS) })
    }

    fn save(&mut self, up_ms: i64) -> Act {
        self.saved_ms = up_ms;
        if self.saved_coins != self.memory.coins {
            (self.saved_coins, self.coins_due_ms) = (self.memory.coins, up_ms + SAVE_COINS_MS);
        }
        Act::Save
    }

    /// Switches the relay as the memory requires.
    fn switch(&mut self, up_ms: i64) -> Option<Act> {
        let now = Timestamp::from_ms(up_ms);
        self.running = self.run(up_ms).map(|run| run.cmd_id);
        let relay = self.memory.relay_run(now).is_some();
        (std::mem::replace(&mut self.relay, relay) != relay).then_some(Act::Relay(relay))
    }

    /// Takes the time from a command that answers the last state report. The server wrote the command between that state report and now.
    /// The clock assumes the earliest moment, so it is ahead by at most the whole exchange. The newest exchange counts.
    fn take_time(&mut self, cmd: &Cmd, up_ms: i64) {
        let reported_ms =
            self.reported_ms.filter(|reported_ms| cmd.echo == Some(*reported_ms) && up_ms - reported_ms < EXCHANGE_MS);
        if let Some(reported_ms) = reported_ms {
            self.clock = Some(Clock { ahead_ms: cmd.now_ms - reported_ms, set_ms: up_ms });
        }
    }

    fn ahead_ms(&self, up_ms: i64) -> Option<i64> {
        self.clock.filter(|clock| up_ms - clock.set_ms < CLOCK_MS).map(|clock| clock.ahead_ms)
    }
}
