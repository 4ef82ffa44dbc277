//! Devices of docs/contract.md §6 and the network before them. Messages are lost, duplicated, delayed and reordered; devices lose power
//! and memory, refuse, fall silent and go offline.

mod washer;

use nyala_core::coins::CoinReport;
use nyala_core::domain::id::PurchaseId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::{AckResult, Command, DeviceEvent, Op};
use nyala_core::purchase::step::Purchase;
use nyala_machines::device::memory::{DeviceMemory, Mode};
use rand::Rng;
use rand::rngs::StdRng;
use uuid::Uuid;

use super::coins::CountedCoins;
use super::devices::{Devices, Plan, Run, stop_of};
use super::store::COIN_MACHINE;
use super::world::{Happening, MACHINES, TROUBLE_MS};
use washer::{Washer, WasherHappens};

type PlainWorld = super::world::World<Plain>;

/// The network between one device and the server.
#[derive(Debug, Clone, Copy)]
struct Network {
    loses: f64,
    doubles: f64,
    delay_ms: i64,
}

/// Probability that the power is lost in pulses.
const CUT_IN_PULSES: f64 = 0.1;

const CALM: Network = Network { loses: 0.0, doubles: 0.0, delay_ms: 300 };

#[derive(Debug)]
pub struct PlainDevice {
    memory: DeviceMemory,
    /// How far the device's clock is ahead of the server's.
    skew_ms: i64,
    network: Network,
    /// Commands that the network delivers late, when the device is back.
    away: Option<Vec<Command>>,
    pub runs: Vec<Run>,
    /// Commands that the device answered and then lost from its memory. One that is delivered late may still run.
    forgot: Vec<Uuid>,
    /// Number of the latest fault.
    pub trouble: u32,
    /// The device sends nothing more from its next start on.
    falls_silent: Option<FallsSilent>,
    washer: Washer,
}

/// When a device falls silent after a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FallsSilent {
    Before,
    /// After its ack of the start, and before it reports the remaining time.
    AfterItsAnswer,
}

impl PlainDevice {
    pub fn new(skew_ms: i64) -> Self {
        Self {
            memory: DeviceMemory::default(),
            skew_ms,
            network: CALM,
            away: None,
            runs: Vec::new(),
            forgot: Vec::new(),
            trouble: 0,
            falls_silent: None,
            washer: Washer::default(),
        }
    }
}

/// All devices, and the coins that are counted.
#[derive(Debug)]
pub struct Plain(Vec<PlainDevice>, CountedCoins);

#[derive(Debug)]
pub enum PlainHappens {
    /// A command reaches its device.
    Command {
        cmd: Command,
    },
    /// A device's message reaches the server.
    Sent {
        machine: usize,
        event: DeviceEvent,
        sent_at: Timestamp,
    },
    /// The fault of that number is over.
    Mend {
        machine: usize,
        number: u32,
    },
    /// The server notices that a device is offline since the fault of that number.
    LastWill {
        machine: usize,
        number: u32,
    },
    /// A device sends its state report without a query.
    Tells {
        machine: usize,
    },
    Washer {
        what: WasherHappens,
    },
    /// A server stores a coin report.
    CoinsWritten {
        report: CoinReport,
    },
}

impl Devices for Plain {
    type Happening = PlainHappens;
    const PLAN: Plan = Plan { presses: 30, statement: 0.02 };

    fn new(rng: &mut StdRng) -> Self {
        let devices = (0..MACHINES).map(|_| PlainDevice::new(rng.random_range(-1_500..=1_500)));
        Self(devices.collect(), CountedCoins::default())
    }

    fn plan(world: &mut PlainWorld) {
        for machine in 0..MACHINES {
            for _ in 0..world.rng.random_range(0..6) {
                let at = world.up_to(TROUBLE_MS);
                world.after(at, Happening::Trouble { machine });
            }
            for _ in 0..world.rng.random_range(0..3) {
                let at = world.up_to(TROUBLE_MS);
                world.after(at, Happening::OperatorStops { machine });
            }
        }
        world.plan_washer(TROUBLE_MS);
    }

    fn plan_press(world: &mut PlainWorld, machine: usize, after_ms: i64) {
        if world.chance(0.4) {
            let trouble_ms = after_ms - 2_000 + world.up_to(4_000);
            world.after(trouble_ms, Happening::Trouble { machine });
        }
        if world.chance(0.2) {
            let longest_ms = [500, 3_000, 20_000][world.rng.random_range(0..3)];
            let crash_ms = after_ms + world.up_to(longest_ms);
            world.after(crash_ms, Happening::Crash);
        }
    }

    fn happen(world: &mut PlainWorld, what: PlainHappens) {
        match what {
            PlainHappens::Command { cmd } => world.device_receives(&cmd),
            PlainHappens::Sent { machine, event, sent_at } => {
                if machine != COIN_MACHINE || world.is_news(&event, sent_at) {
                    world.server_receives(machine, event, sent_at);
                }
            }
            PlainHappens::Washer { what } => world.washer(what),
            PlainHappens::CoinsWritten { report } => world.writes_coins(report),
            PlainHappens::Mend { machine, number } => world.mend(machine, number),
            PlainHappens::LastWill { machine, number } => world.last_will(machine, number),
            PlainHappens::Tells { machine } => world.device_tells(machine),
        }
    }

    fn reports_a_run(what: &PlainHappens) -> bool {
        matches!(what, PlainHappens::Sent { event: DeviceEvent::State { run: Some(_), .. }, .. })
    }

    fn command(world: &mut PlainWorld, cmd: Command) {
        for delay_ms in world.deliveries(machine_of(&cmd)) {
            world.after(delay_ms, Happening::Device(PlainHappens::Command { cmd: cmd.clone() }));
        }
    }

    fn boot(world: &mut PlainWorld, machine: usize, _: Option<&Purchase>) {
        // A new process learns the device's state at once.
        world.device_tells(machine);
    }

    fn crash(_: &mut PlainWorld) {}

    fn never_ran(world: &mut PlainWorld, purchase: PurchaseId) {
        world.check_stood_still(purchase);
    }

    fn check_end(world: &PlainWorld) {
        let washer = &world.devices.0[COIN_MACHINE].washer;
        if !washer.has_lost {
            world.devices.1.check_all(i64::from(washer.fallen));
        }
    }

    fn trouble(world: &mut PlainWorld, machine: usize) {
        let device = &mut world.devices.0[machine];
        device.trouble += 1;
        let number = device.trouble;
        let lasts_ms = world.break_something(machine);
        world.after(lasts_ms, Happening::Device(PlainHappens::Mend { machine, number }));
    }

    fn peace(world: &mut PlainWorld, machine: usize) {
        let number = world.devices.0[machine].trouble;
        world.mend(machine, number);
    }

    fn runs(&self, machine: usize) -> &[Run] {
        &self.0[machine].runs
    }

    /// The transit time of the message.
    fn late_ms(world: &PlainWorld, _: usize, sent_at: Timestamp) -> i64 {
        sent_at.ms_until(world.now)
    }
}

impl Plain {
    /// The device sends nothing from the beginning of the history on.
    pub fn silence(&mut self, machine: usize) {
        self.ail(machine, Mode::Silent, None);
    }

    /// A device is faulty from the beginning of the history, until the fault is mended.
    pub fn ail(&mut self, machine: usize, mode: Mode, falls_silent: Option<FallsSilent>) {
        (self.0[machine].memory.mode, self.0[machine].falls_silent) = (mode, falls_silent);
    }
}

impl PlainWorld {
    fn device_receives(&mut self, cmd: &Command) {
        let machine = machine_of(cmd);
        if let Some(kept) = &mut self.devices.0[machine].away {
            // The network keeps some commands for a device that is offline, and loses the others.
            if kept.len() < 20 {
                kept.push(cmd.clone());
            }
            return;
        }
        let device = &mut self.devices.0[machine];
        let local = self.now.plus_ms(device.skew_ms);
        let Some(mut handled) = device.memory.handle(cmd, local) else { return };
        if handled.pulses.is_some() {
            if self.troubled && self.chance(CUT_IN_PULSES) {
                return self.cut_in_pulses(machine, cmd);
            }
            let memory = &mut self.devices.0[machine].memory;
            memory.pulsed(local);
            let result = memory.result_of(cmd.cmd_id, local);
            self.washer_has_credit(cmd.cmd_id);
            handled.events.extend(result.map(|result| DeviceEvent::Ack { cmd_id: cmd.cmd_id, result }));
        }
        let device = &mut self.devices.0[machine];
        let falls_silent = device.falls_silent.take_if(|_| cmd.op == Op::Start);
        if falls_silent.is_some() {
            device.memory.mode = Mode::Silent;
        }
        self.follow(machine, cmd);
        if falls_silent == Some(FallsSilent::Before) {
            return;
        }
        for event in handled.events {
            self.send(machine, event, handled.after_ms);
        }
        if handled.changed {
            self.device_tells(machine);
        }
    }

    /// The power is lost in the pulses. The device says so when it is back.
    fn cut_in_pulses(&mut self, machine: usize, cmd: &Command) {
        self.note("power lost in the pulses");
        self.devices.0[machine].memory.power_is_back();
        let after_ms = 1_000 + self.up_to(5_000);
        for delay_ms in self.deliveries(machine) {
            let event = DeviceEvent::Ack { cmd_id: cmd.cmd_id, result: AckResult::Cut };
            let sent = PlainHappens::Sent { machine, event, sent_at: self.now.plus_ms(after_ms) };
            self.after(after_ms + delay_ms, Happening::Device(sent));
        }
    }

    /// Records what really runs after a command.
    fn follow(&mut self, machine: usize, cmd: &Command) {
        let now = self.now;
        let device = &mut self.devices.0[machine];
        let running = device.memory.run(now.plus_ms(device.skew_ms)).filter(|r| r.cmd_id == cmd.cmd_id);
        let forgotten = device.forgot.contains(&cmd.cmd_id);
        let known = device.runs.iter_mut().rev().find(|r| r.cmd_id == cmd.cmd_id && (!r.forgotten || r.ends_at > now));
        match (cmd.op, running, known) {
            (Op::Start, Some(run), None) => {
                assert!(device.runs.iter().all(|r| r.ends_at <= now), "a device runs one command at a time");
                let ends_at = now.plus_ms(run.left_ms);
                let run = Run { cmd_id: cmd.cmd_id, ends_at, cut: false, forgotten, moved_at: None };
                device.runs.push(run);
                let off_ms = now.ms_until(run.ends_at);
                self.after(off_ms, Happening::Device(PlainHappens::Tells { machine }));
            }
            (Op::Stop, None, Some(run)) if run.ends_at > now => {
                (run.ends_at, run.cut) = (now, true);
            }
            _ => {}
        }
    }

    /// The device sends its state report without a query.
    fn device_tells(&mut self, machine: usize) {
        let device = &self.devices.0[machine];
        if device.away.is_none() && device.memory.mode != Mode::Silent {
            let state = device.memory.state(self.now.plus_ms(device.skew_ms));
            self.send(machine, state, 0);
            if machine == COIN_MACHINE {
                self.says_coins();
            }
        }
    }

    fn send(&mut self, machine: usize, event: DeviceEvent, after_ms: i64) {
        let event = if machine == COIN_MACHINE { self.with_sensor(event) } else { event };
        for delay_ms in self.deliveries(machine) {
            self.after(
                after_ms + delay_ms,
                Happening::Device(PlainHappens::Sent { machine, event: event.clone(), sent_at: self.now }),
            );
        }
    }

    /// Delay of each copy of a message; empty when the message is lost.
    fn deliveries(&mut self, machine: usize) -> Vec<i64> {
        let network = self.devices.0[machine].network;
        if self.chance(network.loses) {
            return Vec::new();
        }
        let copies = if self.chance(network.doubles) { 2 } else { 1 };
        (0..copies).map(|_| self.up_to(network.delay_ms)).collect()
    }

    /// Injects a fault; returns how long it lasts.
    fn break_something(&mut self, machine: usize) -> i64 {
        match self.rng.random_range(0..8) {
            0..=2 => {
                let delay_ms = [300, 3_000, 20_000, 120_000][self.rng.random_range(0..4)];
                let (loses, doubles) = (self.rng.random_range(0.0..0.9), self.rng.random_range(0.0..0.5));
                self.devices.0[machine].network = Network { loses, doubles, delay_ms };
                1_000 + self.up_to(10 * 60_000)
            }
            3 => {
                self.go_offline(machine);
                if self.chance(0.3) { 60 * 60_000 } else { 1_000 + self.up_to(5 * 60_000) }
            }
            4 => {
                let forgets = self.chance(0.3);
                self.lose_power(machine, forgets);
                1_000 + self.up_to(60_000)
            }
            5 => self.turn(machine, Mode::Refuse),
            6 => self.turn(machine, Mode::Silent),
            _ => self.turn(machine, Mode::Late),
        }
    }

    fn turn(&mut self, machine: usize, mode: Mode) -> i64 {
        self.devices.0[machine].memory.mode = mode;
        1_000 + self.up_to(3 * 60_000)
    }

    fn go_offline(&mut self, machine: usize) {
        self.devices.0[machine].away.get_or_insert_default();
        let (number, after_ms) = (self.devices.0[machine].trouble, self.up_to(90_000));
        self.after(after_ms, Happening::Device(PlainHappens::LastWill { machine, number }));
    }

    fn last_will(&mut self, machine: usize, number: u32) {
        let device = &self.devices.0[machine];
        if device.away.is_some() && device.trouble == number {
            self.server_receives(machine, DeviceEvent::state(false, None), self.now);
        }
    }

    /// The run stops. A device without its memory knows no command and no epoch.
    fn lose_power(&mut self, machine: usize, forgets: bool) {
        let now = self.now;
        // A machine with its own cycle keeps its credit, and its device goes on counting.
        let goes_on = machine == COIN_MACHINE && !forgets;
        if machine == COIN_MACHINE {
            self.washer_is_unknown(forgets);
        }
        let device = &mut self.devices.0[machine];
        if let Some(run) = device.runs.iter_mut().find(|r| r.ends_at > now && !goes_on) {
            (run.ends_at, run.cut) = (now, true);
            let local = now.plus_ms(device.skew_ms);
            let mode = std::mem::take(&mut device.memory.mode);
            device.memory.handle(&stop_of(run.cmd_id, local), local);
            device.memory.mode = mode;
        }
        if forgets {
            let mode = device.memory.mode;
            device.forgot.extend(device.memory.answered());
            device.memory = DeviceMemory::default();
            device.memory.mode = mode;
            device.runs.iter_mut().for_each(|r| r.forgotten = true);
        }
        self.go_offline(machine);
    }

    /// The fault of that number ends, unless a newer one has begun.
    fn mend(&mut self, machine: usize, number: u32) {
        let device = &mut self.devices.0[machine];
        if device.trouble != number {
            return;
        }
        device.network = CALM;
        device.memory.mode = Mode::Ok;
        let kept = device.away.take().unwrap_or_default();
        self.device_tells(machine);
        for cmd in kept {
            if self.chance(0.7) {
                self.after(1, Happening::Device(PlainHappens::Command { cmd }));
            }
        }
    }
}

/// The command's machine: ids count from one.
fn machine_of(cmd: &Command) -> usize {
    usize::try_from(cmd.idmesin.get()).unwrap() - 1
}
