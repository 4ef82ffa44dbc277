//! The devices: their power, their flash, their crystal, and what they really ran.

use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::{AckResult, DeviceRun, Op};
use nyala_device_sim::model::{Act, Board, Device, Outgoing};
use nyala_machines::device::memory::DeviceMemory;
use nyala_machines::device::mqtt::cmd::Cmd;
use nyala_machines::device::mqtt::conversation::ConnectionId;
use nyala_machines::device::mqtt::message::DeviceMessage;
use rand::Rng;
use rand::rngs::StdRng;
use uuid::Uuid;

use super::super::devices::{Run, stop_of};
use super::super::store::COIN_MACHINE;
use super::super::world::{T0, World};
use super::core::Transcript;
use super::flash::Flash;
use super::washer::Sending;
use super::{Mqtt, MqttHappens};

/// A board that closes a relay.
const RELAY: Board = Board { pulse: false, sense: false, coin: false, reset: None, beat_ms: Some(30_000) };
/// The board of a coin machine.
const COIN: Board = Board { pulse: true, sense: true, coin: true, ..RELAY };
/// Probability that a coin machine's board loses power at a save.
const CUT_AT_SAVE: f64 = 0.02;
/// Rounding of a crystal's time.
const SAME_END_MS: i64 = 50;
/// A start that arrives this long before its `exp` is in time by any clock that §6 allows.
const IN_TIME_MS: i64 = 2_500;
/// Time after the removal of a second device with the same key, in which its effects may still reach the machine.
const DOUBTFUL_MS: i64 = 60_000;

/// A machine, its device, and at times a second device with the same key.
#[derive(Debug)]
pub struct SimulatedMachine {
    pub bodies: Vec<Body>,
    /// What the devices ran, oldest first.
    pub runs: Vec<Run>,
    /// Until then the checks ignore what is run here: two devices have the key, or had it until recently.
    pub doubtful_until: Timestamp,
    /// The device has lost its memory at least once, or a second device had a part of it.
    pub has_forgotten: bool,
}

#[derive(Debug)]
pub struct Body {
    /// Present while the device has power.
    pub model: Option<Device>,
    journal: DeviceMemory,
    pub boot: i64,
    booted_at: Timestamp,
    /// Error of the crystal, in parts per million.
    drift: i64,
    /// The device does not continue a run after a power cut.
    gives_up_runs: bool,
    /// The device receives on one connection and sends on another.
    pub speaks_apart: bool,
    pub connection: Option<ConnectionId>,
    /// Number of failed attempts to connect.
    pub tries: u32,
    /// Until then nothing that the device sends arrives.
    pub shut_off_until: Timestamp,
    /// The pulses that its board sends.
    pub sending: Option<Sending>,
    /// An old board for relays, which ignores pulse commands.
    pub is_old: bool,
    pub flash: Flash,
    next_tick: Option<i64>,
    transcript: Option<Transcript>,
}

impl Body {
    fn new(rng: &mut StdRng) -> Self {
        Self {
            model: None,
            journal: DeviceMemory::default(),
            boot: 0,
            booted_at: T0,
            drift: rng.random_range(-50..=50),
            gives_up_runs: rng.random_bool(0.3),
            speaks_apart: rng.random_bool(0.15),
            connection: None,
            tries: 0,
            shut_off_until: T0,
            sending: None,
            is_old: false,
            flash: Flash::default(),
            next_tick: None,
            transcript: None,
        }
    }

    pub fn up_ms(&self, now: Timestamp) -> i64 {
        let true_ms = self.booted_at.ms_until(now);
        true_ms + true_ms * self.drift / 1_000_000
    }

    /// Real time until the device's own clock shows `up_ms`.
    fn ms_until(&self, up_ms: i64, now: Timestamp) -> i64 {
        (self.true_ms(up_ms) - self.booted_at.ms_until(now)).max(0) + 1
    }

    /// Real duration of what the device's own clock measures as `ms`.
    pub fn true_ms(&self, ms: i64) -> i64 {
        ms - ms * self.drift / 1_000_000
    }

    pub fn runs(&self, now: Timestamp) -> Option<DeviceRun> {
        self.model.as_ref()?.run(self.up_ms(now))
    }

    /// The device drops its connection; returns the one it had.
    pub fn parted(&mut self, now: Timestamp) -> Option<ConnectionId> {
        let connection = self.connection.take()?;
        self.record_input("unlink", now);
        Some(connection)
    }

    pub const fn is_recorded(&self) -> bool {
        self.transcript.is_some()
    }

    /// Records an input of the device in the transcript.
    pub fn record_input(&mut self, what: &str, now: Timestamp) {
        let up_ms = self.up_ms(now);
        if self.model.is_some()
            && let Some(transcript) = &mut self.transcript
        {
            transcript.record_input(match what.split_once(' ') {
                Some((verb, rest)) => format!("{verb} {up_ms} {rest}"),
                None => format!("{what} {up_ms}"),
            });
        }
    }

    /// Records a message of the device in the transcript.
    pub fn record_output(&mut self, message: &DeviceMessage) {
        if let Some(transcript) = &mut self.transcript {
            transcript.record_output(message);
        }
    }

    /// The run on its flash.
    pub fn saved_run(&self) -> Option<DeviceRun> {
        self.journal.run(Timestamp::from_ms(0))
    }

    /// Coins on its flash.
    pub const fn saved_coins(&self) -> u32 {
        self.journal.coins
    }

    /// The highest epoch that the device knows.
    pub fn epoch(&self) -> i64 {
        self.model.as_ref().map_or(self.journal.epoch(), |model| model.journal().epoch())
    }
}

impl SimulatedMachine {
    pub fn new(machine: usize, rng: &mut StdRng) -> Self {
        let mut body = Body::new(rng);
        // A report of its sensor that another message overtakes would be lost.
        body.speaks_apart &= machine != COIN_MACHINE;
        Self { bodies: vec![body], runs: Vec::new(), doubtful_until: T0, has_forgotten: false }
    }

    /// Only devices that continue a run after a power cut are recorded, because the core in C continues its runs.
    pub fn take_down(&mut self) {
        let body = &mut self.bodies[0];
        body.transcript = (!body.gives_up_runs).then(Transcript::default);
    }

    pub fn transcript(self) -> Option<Transcript> {
        self.bodies.into_iter().next()?.transcript
    }

    /// The checks ignore the present runs from now on.
    fn invalidate_runs(&mut self) {
        self.runs.iter_mut().for_each(|run| run.forgotten = true);
    }

    fn cut(&mut self, cmd_id: Uuid, now: Timestamp) {
        if let Some(run) = self.runs.iter_mut().rev().find(|run| run.cmd_id == cmd_id) {
            (run.ends_at, run.cut) = (run.ends_at.min(now), true);
        }
    }
}

impl World<Mqtt> {
    pub(super) fn body(&mut self, machine: usize, body: usize) -> Option<&mut Body> {
        self.devices.machines[machine].bodies.get_mut(body)
    }

    /// The device gets power.
    pub(super) fn power(&mut self, machine: usize, body: usize) {
        let now = self.now;
        let boot = self.rng.random_range(1..1 << 32);
        let Some(of) = self.body(machine, body).filter(|of| of.model.is_none()) else { return };
        if of.gives_up_runs
            && let Some(run) = of.journal.run(Timestamp::from_ms(0))
        {
            let at = Timestamp::from_ms(0);
            of.journal.handle(&stop_of(run.cmd_id, at), at);
        }
        (of.boot, of.booted_at, of.next_tick, of.tries) = (boot, now, None, 0);
        let (board, has) = if machine == COIN_MACHINE && !of.is_old { (COIN, " pulse sense coin") } else { (RELAY, "") };
        of.model = Some(Device::boot(board, boot, of.journal.clone()));
        of.record_input(&format!("boot {boot} 0{has}"), now);
        if let Some(rest) = of.runs(now) {
            let off_ms = of.true_ms(rest.left_ms);
            self.note("power is back in a run");
            let run = self.devices.machines[machine].runs.iter_mut().rev().find(|run| run.cmd_id == rest.cmd_id);
            let run = run.expect("it goes on with what it ran");
            run.ends_at = now.plus_ms(off_ms);
        }
        self.tick(machine, body, boot);
        if (machine, body) == (COIN_MACHINE, 0) {
            self.washer_is_seen();
        }
        let after_ms = self.up_to(2_000);
        self.later(after_ms, MqttHappens::Connect { machine, body });
    }

    /// The device loses power. `forgets`: its flash is lost, too.
    pub(super) fn power_goes(&mut self, machine: usize, body: usize, forgets: bool) {
        let now = self.now;
        let of = &self.devices.machines[machine].bodies[body];
        // A run whose end was not saved goes on, too.
        if let Some(run) = of.runs(now).or_else(|| of.saved_run()) {
            self.devices.machines[machine].cut(run.cmd_id, now);
        }
        self.cut_pulses(machine, body);
        let of = &self.devices.machines[machine].bodies[body];
        if of.flash.is_behind() {
            let cut = of.journal.clone().pulsed(now);
            cut.into_iter().for_each(|cmd_id| self.never_began(cmd_id));
            // The time left was not saved for longer than the minute that the server allows for, so the server cannot know the end of the run.
            let runs = &mut self.devices.machines[machine].runs;
            runs.last_mut().filter(|run| run.cut).into_iter().for_each(|run| run.moved_at = Some(now));
        }
        if (machine, body) == (COIN_MACHINE, 0) {
            self.check_lost_coins();
        }
        let of = &mut self.devices.machines[machine].bodies[body];
        of.flash.power_goes();
        let had_power = of.model.take().is_some();
        of.next_tick = None;
        if let Some(transcript) = &mut of.transcript {
            if had_power {
                transcript.record_input("off".to_owned());
            }
            if forgets {
                transcript.record_input("blank".to_owned());
            }
        }
        if forgets {
            of.journal = DeviceMemory::default();
            self.devices.machines[machine].has_forgotten = true;
            self.devices.machines[machine].invalidate_runs();
        }
    }

    /// Lets the device do what is due by its own clock, and schedules the next time.
    pub(super) fn tick(&mut self, machine: usize, body: usize, boot: i64) {
        let now = self.now;
        let Some(of) = self.body(machine, body).filter(|of| of.boot == boot) else { return };
        let up_ms = of.up_ms(now);
        if of.next_tick.is_some_and(|at| at > up_ms) {
            return;
        }
        of.next_tick = None;
        let Some(model) = &mut of.model else { return };
        let due = model.tick_at().is_some_and(|at| at <= up_ms);
        let acts = if due { model.tick(up_ms) } else { Vec::new() };
        if due && up_ms > 0 {
            of.record_input("tick", now);
        }
        self.act(machine, body, &acts);
    }

    fn arm_device(&mut self, machine: usize, body: usize) {
        let now = self.now;
        let Some(of) = self.body(machine, body) else { return };
        let Some(at) = of.model.as_ref().and_then(Device::tick_at).filter(|at| of.next_tick.is_none_or(|next| *at < next)) else {
            return;
        };
        of.next_tick = Some(at);
        let (boot, after_ms) = (of.boot, of.ms_until(at, now));
        self.later(after_ms, MqttHappens::Tick { machine, body, boot });
    }

    /// A device receives a command.
    pub(super) fn device_receives(&mut self, machine: usize, body: usize, cmd: &Cmd) {
        let now = self.now;
        let Some(of) = self.body(machine, body).filter(|of| !of.is_old || cmd.pulses.is_none()) else { return };
        let up_ms = of.up_ms(now);
        let before = of.runs(now);
        let kept = of.flash.is_broken().then(|| of.model.clone());
        let Some(model) = of.model.as_mut().filter(|_| !of.flash.is_behind()) else { return };
        let known = model.journal().result_of(cmd.cmd_id, Timestamp::default()).is_some();
        let acts = model.on_command(cmd, up_ms);
        if let Some(kept) = kept.filter(|_| acts.contains(&Act::Save)) {
            of.model = kept;
            return self.note("command not saved");
        }
        of.record_input(&format!("cmd {}", String::from_utf8(cmd.json()).unwrap()), now);
        let after = of.runs(now);
        if cmd.op == Op::Start && !known && now.ms() < cmd.exp * 1000 - IN_TIME_MS {
            let expired = |act: &Act| matches!(act, Act::Send(Outgoing::Ack { result: AckResult::Expired, .. }));
            if acts.iter().any(expired) {
                self.devices.figures.clockless += 1;
            }
        }
        match (before, after) {
            (None, Some(run)) => self.begins(machine, body, run),
            (Some(run), None) if machine != COIN_MACHINE => self.devices.machines[machine].cut(run.cmd_id, now),
            _ => {}
        }
        self.act(machine, body, &acts);
        let has_power = self.body(machine, body).is_some_and(|of| of.model.is_some());
        let pulses = acts.iter().find_map(|act| if let Act::Pulse(pulses) = act { Some(*pulses) } else { None });
        if let Some(pulses) = pulses.filter(|_| has_power) {
            self.sends_pulses(machine, body, cmd.cmd_id, pulses);
        }
    }

    /// A device begins to run.
    pub(super) fn begins(&mut self, machine: usize, body: usize, run: DeviceRun) {
        let now = self.now;
        let runs_ms = self.devices.machines[machine].bodies[body].true_ms(run.left_ms);
        let of = &mut self.devices.machines[machine];
        let doubtful = now <= of.doubtful_until;
        let twice = of.runs.iter().any(|ran| ran.cmd_id == run.cmd_id && !ran.forgotten);
        assert!(!twice || doubtful, "it runs twice: {run:?}");
        let ends_at = now.plus_ms(runs_ms);
        of.runs.push(Run { cmd_id: run.cmd_id, ends_at, cut: false, forgotten: doubtful, moved_at: None });
    }

    pub(super) fn act(&mut self, machine: usize, body: usize, acts: &[Act]) {
        let now = self.now;
        for act in acts {
            let Some(of) = self.body(machine, body) else { return };
            match act {
                Act::Save => {
                    let is_recorded = of.transcript.is_some();
                    let may_be_cut = (machine, body) == (COIN_MACHINE, 0) && self.troubled && !is_recorded;
                    let is_cut = may_be_cut && self.chance(CUT_AT_SAVE);
                    let is_written = !is_cut || self.chance(0.5);
                    if is_written && self.body(machine, body).is_some_and(|of| of.flash.write()) {
                        self.save(machine, body);
                    }
                    if is_cut {
                        self.note("power lost at a save");
                        self.devices.washer.gone_at = Some(now);
                        return self.power_cut(machine);
                    }
                }
                Act::Relay(on) => {
                    assert!(!on || machine != COIN_MACHINE, "the relay of a coin machine's board is closed");
                    if let Some(transcript) = &mut of.transcript {
                        transcript.switches(*on);
                    }
                }
                Act::Pulse(pulses) => {
                    if let Some(transcript) = &mut of.transcript {
                        transcript.pulses(*pulses);
                    }
                }
                Act::Send(saying) => {
                    let up_ms = of.up_ms(now);
                    if let Some(model) = &mut of.model {
                        let message = model.message(*saying, up_ms);
                        if let Some(message) = of.sendable(message) {
                            self.device_sends(machine, body, message);
                        }
                    }
                }
            }
        }
        self.arm_device(machine, body);
        self.follow_sensor(machine, body);
    }

    fn save(&mut self, machine: usize, body: usize) {
        let Some(of) = self.body(machine, body) else { return };
        of.journal = of.model.as_ref().map_or_else(DeviceMemory::default, Device::journal);
        if (machine, body) == (COIN_MACHINE, 0) {
            self.devices.washer.coins.saved();
        }
    }

    /// Follows the end of a run that the sensor has moved.
    fn follow_sensor(&mut self, machine: usize, body: usize) {
        let now = self.now;
        let Some(of) = self.body(machine, body).filter(|of| of.model.is_some()) else { return };
        let runs = of.runs(now).map(|run| (run.cmd_id, now.plus_ms(of.true_ms(run.left_ms))));
        let of = &mut self.devices.machines[machine];
        let mut is_later = false;
        // The sensor may add time at the very end.
        let known =
            of.runs.iter_mut().rev().filter(|run| run.ends_at > now || runs.is_some_and(|(cmd_id, _)| cmd_id == run.cmd_id));
        for run in known.filter(|_| (machine, body) == (COIN_MACHINE, 0)) {
            let ends_at = runs.filter(|(cmd_id, _)| *cmd_id == run.cmd_id).map_or(now, |(_, ends_at)| ends_at);
            if ends_at.ms_until(run.ends_at).abs() > SAME_END_MS {
                is_later |= ends_at > run.ends_at;
                (run.ends_at, run.moved_at) = (ends_at, Some(now));
            }
        }
        if is_later {
            self.note("end moved by its sensor");
        }
        self.note_followed(machine, body);
    }

    /// The device sends its state report as the first message of a connection.
    pub(super) fn device_tells(&mut self, machine: usize, body: usize) {
        let now = self.now;
        let Some(of) = self.body(machine, body) else { return };
        let up_ms = of.up_ms(now);
        of.model.iter_mut().for_each(|model| model.subscribed(up_ms));
        of.record_input("subscribed", now);
        // While pulses are sent, it says nothing; its state comes with their end.
        if of.sending.is_none() {
            self.act(machine, body, &[Act::Send(Outgoing::State)]);
        }
    }

    // --- faults of the devices ---

    /// The board of the coin machine is replaced, by one that knows no pulses or by one that does.
    pub(super) fn replace_board(&mut self, is_old: bool) {
        if self.devices.machines[COIN_MACHINE].bodies[0].is_old == is_old {
            return;
        }
        self.note(if is_old { "old board" } else { "new board" });
        self.devices.washer.gone_at = Some(self.now);
        self.drop_line(COIN_MACHINE, 0, false);
        self.power_goes(COIN_MACHINE, 0, true);
        self.devices.machines[COIN_MACHINE].bodies[0].is_old = is_old;
        let after_ms = 1_000 + self.up_to(60_000);
        self.later(after_ms, MqttHappens::Power { machine: COIN_MACHINE, body: 0 });
        if is_old {
            let after_ms = 60_000 + self.up_to(10 * 60_000);
            self.later(after_ms, MqttHappens::NewBoard);
        }
    }

    /// The machine refuses every start for a while.
    pub(super) fn break_machine(&mut self, machine: usize) {
        let now = self.now;
        let of = &mut self.devices.machines[machine].bodies[0];
        if let Some(model) = &mut of.model {
            model.set_faulty(true);
            of.record_input("fault 1", now);
            let after_ms = 1_000 + self.up_to(3 * 60_000);
            self.later(after_ms, MqttHappens::Repaired { machine });
        }
    }

    pub(super) fn repaired(&mut self, machine: usize) {
        let now = self.now;
        let of = &mut self.devices.machines[machine].bodies[0];
        if let Some(model) = &mut of.model {
            model.set_faulty(false);
            of.record_input("fault 0", now);
        }
    }

    /// A second device appears with a copy of the key.
    pub(super) fn clone_comes(&mut self, machine: usize) {
        if self.devices.machines[machine].bodies.len() > 1 {
            return;
        }
        self.note("clone");
        self.devices.washer.coins.counted.of_two |= machine == COIN_MACHINE;
        let body = Body { speaks_apart: false, ..Body::new(&mut self.rng) };
        let of = &mut self.devices.machines[machine];
        of.invalidate_runs();
        (of.doubtful_until, of.has_forgotten) = (Timestamp::from_ms(i64::MAX), true);
        of.bodies.push(body);
        self.later(0, MqttHappens::Power { machine, body: 1 });
        let after_ms = 30_000 + self.up_to(4 * 60_000);
        self.later(after_ms, MqttHappens::CloneLeaves { machine });
    }

    pub(super) fn clone_leaves(&mut self, machine: usize) {
        if self.devices.machines[machine].bodies.len() < 2 {
            return;
        }
        self.drop_line(machine, 1, true);
        self.power_goes(machine, 1, false);
        let now = self.now;
        let of = &mut self.devices.machines[machine];
        of.bodies.truncate(1);
        of.doubtful_until = now.plus_ms(DOUBTFUL_MS);
    }
}
