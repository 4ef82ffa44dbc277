//! Devices of docs/contract.md §6 and the network before them: messages are lost, doubled, late and out of order; devices lose
//! power and memory, refuse, fall silent and go offline.

use nyala::domain::timestamp::Timestamp;
use nyala::machine::device::memory::{DeviceMemory, Mode};
use nyala::purchase::device::{Command, DeviceEvent};
use nyala::purchase::step::Op;
use rand::Rng;
use uuid::Uuid;

use super::world::{Happening, World};

/// What a device really did, for judging what the server believes.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    pub cmd_id: Uuid,
    pub started_at: Timestamp,
    /// When it turned itself off, was stopped or lost power.
    pub ends_at: Timestamp,
    /// It lost power, and with it every memory of this run.
    pub forgotten: bool,
}

/// The network between one device and the server.
#[derive(Debug, Clone, Copy)]
struct Network {
    loses: f64,
    doubles: f64,
    delay_ms: i64,
}

const CALM: Network = Network { loses: 0.0, doubles: 0.0, delay_ms: 300 };

pub struct Device {
    memory: DeviceMemory,
    /// How far its clock is ahead of the server's.
    skew_ms: i64,
    network: Network,
    /// Commands kept for it while it is away, as an MQTT broker does.
    away: Option<Vec<Command>>,
    pub runs: Vec<Run>,
    /// Number of its latest trouble.
    pub trouble: u32,
}

impl Device {
    pub fn new(skew_ms: i64) -> Self {
        Self { memory: DeviceMemory::default(), skew_ms, network: CALM, away: None, runs: Vec::new(), trouble: 0 }
    }

    /// The run of a command that really happened.
    pub fn run_of(&self, cmd_id: Uuid) -> Option<&Run> {
        self.runs.iter().rev().find(|r| r.cmd_id == cmd_id)
    }
}

impl World {
    /// The server gives a command.
    pub fn send(&mut self, cmd: Command) {
        for delay_ms in self.deliveries(machine_of(&cmd)) {
            self.after(delay_ms, Happening::Command { cmd: cmd.clone() });
        }
    }

    pub fn device_hears(&mut self, cmd: &Command) {
        let machine = machine_of(cmd);
        if let Some(kept) = &mut self.devices[machine].away {
            // A broker keeps commands for a device that is away; some of them it loses.
            if kept.len() < 20 {
                kept.push(cmd.clone());
            }
            return;
        }
        let device = &mut self.devices[machine];
        let local = self.now.plus_ms(device.skew_ms);
        let Some(handled) = device.memory.handle(cmd, local) else { return };
        self.follow(machine, cmd);
        for event in handled.events {
            self.say(machine, event, handled.after_ms);
        }
        if handled.changed {
            self.device_tells(machine);
        }
    }

    /// Keeps what really runs on record after a command.
    fn follow(&mut self, machine: usize, cmd: &Command) {
        let now = self.now;
        let device = &mut self.devices[machine];
        let running = device.memory.run(now.plus_ms(device.skew_ms)).filter(|r| r.cmd_id == cmd.cmd_id);
        let known = device.runs.iter_mut().rev().find(|r| r.cmd_id == cmd.cmd_id && !r.forgotten);
        match (cmd.op, running, known) {
            (Op::Start, Some(run), None) => {
                assert!(device.runs.iter().all(|r| r.ends_at <= now), "a device runs one command at a time");
                let run = Run { cmd_id: cmd.cmd_id, started_at: now, ends_at: now.plus_ms(run.left_ms), forgotten: false };
                device.runs.push(run);
                let off_ms = now.ms_until(run.ends_at);
                self.after(off_ms, Happening::DeviceTells { machine });
            }
            (Op::Stop, None, Some(run)) => run.ends_at = run.ends_at.min(now),
            _ => {}
        }
    }

    /// The device says something of its own accord.
    pub fn device_tells(&mut self, machine: usize) {
        let device = &self.devices[machine];
        if device.away.is_none() && device.memory.mode != Mode::Silent {
            let state = device.memory.state(self.now.plus_ms(device.skew_ms));
            self.say(machine, state, 0);
        }
    }

    fn say(&mut self, machine: usize, event: DeviceEvent, after_ms: i64) {
        for delay_ms in self.deliveries(machine) {
            self.after(after_ms + delay_ms, Happening::Said { machine, event: event.clone(), said_at: self.now });
        }
    }

    /// How late each copy of a message arrives; none when it is lost.
    fn deliveries(&mut self, machine: usize) -> Vec<i64> {
        let network = self.devices[machine].network;
        if self.chance(network.loses) {
            return Vec::new();
        }
        let copies = if self.chance(network.doubles) { 2 } else { 1 };
        (0..copies).map(|_| self.up_to(network.delay_ms)).collect()
    }

    pub fn trouble(&mut self, machine: usize) {
        if !self.troubled {
            return;
        }
        self.devices[machine].trouble += 1;
        let number = self.devices[machine].trouble;
        let lasts_ms = match self.rng.random_range(0..8) {
            0..=2 => {
                let delay_ms = [300, 3_000, 20_000, 120_000][self.rng.random_range(0..4)];
                let (loses, doubles) = (self.rng.random_range(0.0..0.9), self.rng.random_range(0.0..0.5));
                self.devices[machine].network = Network { loses, doubles, delay_ms };
                1_000 + self.up_to(10 * 60_000)
            }
            3 => {
                self.go_away(machine);
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
        };
        self.after(lasts_ms, Happening::Mend { machine, number });
    }

    fn turn(&mut self, machine: usize, mode: Mode) -> i64 {
        self.devices[machine].memory.mode = mode;
        1_000 + self.up_to(3 * 60_000)
    }

    fn go_away(&mut self, machine: usize) {
        self.devices[machine].away.get_or_insert_default();
        let (number, after_ms) = (self.devices[machine].trouble, self.up_to(90_000));
        self.after(after_ms, Happening::LastWill { machine, number });
    }

    pub fn last_will(&mut self, machine: usize, number: u32) {
        let device = &self.devices[machine];
        if device.away.is_some() && device.trouble == number {
            self.server_hears(machine, DeviceEvent::State { online: false, run: None }, self.now);
        }
    }

    /// What ran stops; without its memory the device knows no command and no epoch.
    fn lose_power(&mut self, machine: usize, forgets: bool) {
        let now = self.now;
        let device = &mut self.devices[machine];
        if let Some(run) = device.runs.iter_mut().find(|r| r.ends_at > now) {
            run.ends_at = now;
            let local = now.plus_ms(device.skew_ms);
            let stop =
                Command { idmesin: 0, cmd_id: run.cmd_id, epoch: 0, op: Op::Stop, duration_s: 0, exp: local, held_here: false };
            let mode = std::mem::take(&mut device.memory.mode);
            device.memory.handle(&stop, local);
            device.memory.mode = mode;
        }
        if forgets {
            let mode = device.memory.mode;
            device.memory = DeviceMemory::default();
            device.memory.mode = mode;
            device.runs.iter_mut().for_each(|r| r.forgotten = true);
        }
        self.go_away(machine);
    }

    /// The trouble of that number ends, unless a newer one has begun.
    pub fn mend(&mut self, machine: usize, number: u32) {
        let device = &mut self.devices[machine];
        if device.trouble != number {
            return;
        }
        device.network = CALM;
        device.memory.mode = Mode::Ok;
        let kept = device.away.take().unwrap_or_default();
        self.device_tells(machine);
        for cmd in kept {
            if self.chance(0.7) {
                self.after(1, Happening::Command { cmd });
            }
        }
    }
}

/// The command's machine: ids count from one.
fn machine_of(cmd: &Command) -> usize {
    usize::try_from(cmd.idmesin).unwrap() - 1
}
