//! Inputs that no server or network would produce: any input, at any time. They compare the core in C with the model in states that no
//! history reaches.

use nyala_core::purchase::device::{Op, Pulses};
use nyala_device_sim::model::{Act, Board, Device, Outgoing};
use nyala_machines::device::memory::DeviceMemory;
use nyala_machines::device::mqtt::cmd::Cmd;
use nyala_machines::device::mqtt::message::{DeviceMessage, Reset};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use uuid::Uuid;

use super::core::Transcript;

const STEPS: u32 = 600;
/// Number of commands that may be repeated: fewer than a device remembers, because the order in which it forgets is not specified.
const MAX_SENT: usize = 12;
/// The server's clock when a device boots.
const SERVER_MS: i64 = 1_800_000_000_000;

#[derive(Default)]
struct Wild {
    model: Option<Device>,
    journal: DeviceMemory,
    boots: i64,
    up_ms: i64,
    subscribed: bool,
    /// Until when the board sends pulses.
    pulsing_until: Option<i64>,
    epoch: i64,
    sent: Vec<Uuid>,
    /// When the device sent its state reports.
    states: Vec<i64>,
    transcript: Transcript,
}

/// Runs a device through the random inputs of that seed.
pub fn incarnation(seed: u64) -> Transcript {
    let (mut rng, mut wild) = (StdRng::seed_from_u64(seed), Wild::default());
    for _ in 0..STEPS {
        wild.step(&mut rng);
    }
    wild.transcript
}

impl Wild {
    fn step(&mut self, rng: &mut StdRng) {
        if self.model.is_none() {
            return self.boot(rng);
        }
        let ms = match rng.random_range(0..100) {
            0..50 => rng.random_range(0..3),
            50..90 => rng.random_range(0..3_000),
            90..98 => rng.random_range(0..130_000),
            _ => rng.random_range(0..4_000_000),
        };
        self.wait(ms);
        match rng.random_range(0..100) {
            0..3 => self.off(),
            3..8 => {
                self.subscribed = false;
                self.record_input("unlink");
            }
            8..10 => {
                let faulty = rng.random_bool(0.3);
                if let Some(model) = &mut self.model {
                    model.set_faulty(faulty);
                }
                self.record_input(if faulty { "fault 1" } else { "fault 0" });
            }
            10..25 => {
                let high = rng.random_bool(0.5);
                self.record_input(if high { "sense 1" } else { "sense 0" });
                let acts = self.model.as_mut().map_or_else(Vec::new, |model| model.sense(high, self.up_ms));
                self.act(&acts);
            }
            25..35 => {
                self.record_input("coin");
                let acts = self.model.as_mut().map_or_else(Vec::new, |model| model.coin(self.up_ms));
                self.act(&acts);
            }
            // The core delays its state report until the pulses are over; the model leaves that to its caller.
            _ if !self.subscribed && self.pulsing_until.is_some() => {}
            _ if !self.subscribed => self.subscribe(),
            35..37 => {
                let cmd = self.cmd(rng);
                self.record_input(&format!("kept {}", String::from_utf8(cmd.json()).unwrap()));
            }
            _ => {
                let cmd = self.cmd(rng);
                self.record_input(&format!("cmd {}", String::from_utf8(cmd.json()).unwrap()));
                let acts = self.model.as_mut().map_or_else(Vec::new, |model| model.on_command(&cmd, self.up_ms));
                self.act(&acts);
            }
        }
    }

    fn cmd(&mut self, rng: &mut StdRng) -> Cmd {
        let server_ms = SERVER_MS + self.up_ms;
        let cmd_id = match rng.random_range(0..20) {
            0 => Uuid::nil(),
            1..9 if !self.sent.is_empty() => self.sent[rng.random_range(0..self.sent.len())],
            _ => Uuid::from_u128(rng.random()),
        };
        if !cmd_id.is_nil() && !self.sent.contains(&cmd_id) {
            if self.sent.len() == MAX_SENT {
                self.sent.remove(0);
            }
            self.sent.push(cmd_id);
        }
        self.epoch += i64::from(rng.random_bool(0.3));
        let echo = match rng.random_range(0..10) {
            0 | 1 => None,
            2 => Some((self.up_ms - rng.random_range(0..2_500)).max(0)),
            3 if !self.states.is_empty() => Some(self.states[rng.random_range(0..self.states.len())]),
            _ => self.states.last().copied(),
        };
        let pulses = rng.random_bool(0.5).then(|| Pulses {
            n: [0, 1, 2, 5, 20, 21][rng.random_range(0..6)],
            width_ms: [1, 50, 150, 300][rng.random_range(0..4)],
            gap_ms: [0, 100, 150][rng.random_range(0..3)],
            sense_s: [0, 1, 5, 60, 60, 3_600, 3_601][rng.random_range(0..7)],
        });
        Cmd {
            cmd_id,
            epoch: if rng.random_bool(0.2) { rng.random_range(0..=self.epoch) } else { self.epoch },
            op: [Op::Start, Op::Start, Op::Start, Op::Query, Op::Stop][rng.random_range(0..5)],
            // Only pulses may be without a duration.
            durasi_s: [1, 5, 59, 60, 61, 119, 120, 121, 600, 4_000, 0]
                [rng.random_range(0..if pulses.is_some() { 11 } else { 10 })],
            pulses,
            exp: server_ms / 1000 + rng.random_range(-3..=12),
            now_ms: server_ms - rng.random_range(0..2_500),
            echo,
        }
    }

    fn boot(&mut self, rng: &mut StdRng) {
        if rng.random_bool(0.1) {
            self.journal = DeviceMemory::default();
            self.transcript.record_input("blank".to_owned());
        }
        self.boots += 1;
        (self.up_ms, self.subscribed, self.pulsing_until) = (0, false, None);
        self.states.clear();
        let reset = [None, Some(Reset::Power), Some(Reset::Watchdog)][rng.random_range(0..3)];
        let [pulse, sense, coin] = [0.9, 0.8, 0.8].map(|chance| rng.random_bool(chance));
        let board = Board { pulse, sense, coin, reset, beat_ms: Some(30_000) };
        self.model = Some(Device::boot(board, self.boots, self.journal.clone()));
        let mut line = format!("boot {} 0", self.boots);
        for (has, word) in [(pulse, " pulse"), (sense, " sense"), (coin, " coin")] {
            line.push_str(if has { word } else { "" });
        }
        line.extend(reset.map(|reset| format!(" reset={}", reset.as_str())));
        self.record_input(&line);
        self.tick();
    }

    fn off(&mut self) {
        self.model = None;
        self.transcript.record_input("off".to_owned());
    }

    /// Connects and subscribes.
    fn subscribe(&mut self) {
        let Some(model) = &mut self.model else { return };
        model.connect();
        model.subscribed(self.up_ms);
        let will = model.will();
        self.record_input("link");
        self.transcript.record_output(&will);
        self.subscribed = true;
        self.record_input("subscribed");
        self.act(&[Act::Send(Outgoing::State)]);
    }

    /// Lets time pass; every tick that becomes due runs in time.
    fn wait(&mut self, ms: i64) {
        let until = self.up_ms + ms;
        if let Some(at) = self.pulsing_until.take_if(|at| *at <= until) {
            self.up_ms = at;
            self.record_input("pulsed");
            let acts = self.model.as_mut().map_or_else(Vec::new, |model| model.pulsed(at));
            self.act(&acts);
        }
        while let Some(at) = self.model.as_ref().and_then(Device::tick_at).filter(|at| *at <= until) {
            self.up_ms = self.up_ms.max(at);
            self.record_input("tick");
            self.tick();
        }
        self.up_ms = until;
    }

    fn tick(&mut self) {
        let acts = self.model.as_mut().map_or_else(Vec::new, |model| model.tick(self.up_ms));
        self.act(&acts);
    }

    fn act(&mut self, acts: &[Act]) {
        let Some(model) = &mut self.model else { return };
        for act in acts {
            match act {
                Act::Save => self.journal = model.journal(),
                Act::Relay(on) => self.transcript.switches(*on),
                Act::Pulse(pulses) => {
                    self.transcript.pulses(*pulses);
                    self.pulsing_until = Some(self.up_ms + pulses.total_ms());
                }
                Act::Send(saying) if self.subscribed => {
                    let message = model.message(*saying, self.up_ms);
                    if matches!(message, DeviceMessage::State(_)) {
                        self.states.push(self.up_ms);
                    }
                    self.transcript.record_output(&message);
                }
                Act::Send(_) => {}
            }
        }
    }

    fn record_input(&mut self, what: &str) {
        let (verb, rest) = what.split_once(' ').unwrap_or((what, ""));
        self.transcript.record_input(format!("{verb} {} {rest}", self.up_ms).trim_end().to_owned());
    }
}
