//! Devices over MQTT. The server's side is the real conversation; the other side is the model of a device (`nyala_device_sim::model`). The
//! connections between them are delayed, stalled and cut.

mod coins;
mod connection;
pub mod core;
mod device;
mod fault;
mod figures;
mod flash;
mod probe;
mod talk;
mod washer;
pub mod wild;

use std::collections::BTreeMap;

use nyala_core::domain::id::PurchaseId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::machine::Start;
use nyala_core::purchase::device::{Command, DeviceEvent};
use nyala_core::purchase::step::{Change, Purchase};
use nyala_machines::device::mqtt::cmd::Cmd;
use nyala_machines::device::mqtt::conversation::ConnectionId;
use nyala_machines::device::mqtt::message::DeviceMessage;
use rand::Rng;
use rand::rngs::StdRng;
use uuid::Uuid;

use self::connection::SimulatedConnection;
use self::core::Transcript;
use self::device::SimulatedMachine;
pub use self::figures::{Figures, WORTH};
use self::talk::Talk;
use self::washer::{Washer, WasherHappens};
use super::devices::{Devices, Plan, Run};
use super::store::{COIN_MACHINE, MachineWrite};
use super::world::{Happening, MACHINES, TROUBLE_MS, World};

/// Faults of a machine in a history, in addition to those that are scheduled around a purchase.
const FAULTS: usize = 6;
/// Customers who scan the QR sticker and buy nothing.
const SCANS: usize = 5;
const SAMPLE_MS: i64 = 5_000;
/// Share of the histories with long silences.
const SILENCES: f64 = 0.1;

/// All devices, and the server's side of each.
#[derive(Debug)]
pub struct Mqtt {
    machines: Vec<SimulatedMachine>,
    /// The server process's state for each device.
    talks: Vec<Talk>,
    /// The connections that the device or the server still considers open, by number.
    connections: BTreeMap<ConnectionId, SimulatedConnection>,
    /// The highest number of a connection so far.
    last_line: u64,
    /// Devices vanish for longer than a customer waits: the money is refunded, and staff must come.
    silences: bool,
    /// Number of samples since nothing can happen any more.
    at_rest: u32,
    washer: Washer,
    pub figures: Figures,
}

#[derive(Debug)]
pub enum MqttHappens {
    // --- connections ---
    /// A device tries to connect.
    Connect {
        machine: usize,
        body: usize,
    },
    /// The subscription arrives at the server.
    Subscribed {
        connection: ConnectionId,
    },
    /// The device receives the grant of its subscription.
    Granted {
        connection: ConnectionId,
    },
    /// The device notices that its connection is gone.
    Lost {
        connection: ConnectionId,
    },
    /// The server notices that the connection is gone.
    Closed {
        connection: ConnectionId,
    },
    /// The device pings, to check that its connection still works.
    Ping {
        connection: ConnectionId,
    },
    ToServer {
        machine: usize,
        connection: ConnectionId,
        message: DeviceMessage,
        sent_at: Timestamp,
    },
    ToDevice {
        machine: usize,
        connection: ConnectionId,
        cmd: Cmd,
    },
    // --- the device ---
    Power {
        machine: usize,
        body: usize,
    },
    /// The device's own clock wakes it. Valid for that boot only.
    Tick {
        machine: usize,
        body: usize,
        boot: i64,
    },
    /// The device is unreachable for very long.
    Silent {
        machine: usize,
    },
    /// The second device with the same key is removed.
    CloneLeaves {
        machine: usize,
    },
    /// A faulty machine is repaired.
    Repaired {
        machine: usize,
    },
    // --- the coin machine ---
    /// Its board has sent all pulses. Valid for that boot only.
    Pulsed {
        body: usize,
        boot: i64,
    },
    /// Somebody pulls its plug. Valid for that boot only.
    PlugPulled {
        boot: i64,
    },
    Washer {
        cycle: u32,
        what: WasherHappens,
    },
    FlashIsMended,
    /// Its board that knows no pulses is replaced.
    NewBoard,
    /// The record has what its board can do.
    Able {
        pulse: bool,
    },
    // --- the server ---
    Silence {
        incarnation: u32,
        machine: usize,
    },
    /// A device's message reaches the machine's actor.
    Reported {
        incarnation: u32,
        machine: usize,
        event: DeviceEvent,
    },
    /// A command reaches the conversation.
    Send {
        incarnation: u32,
        cmd: Command,
    },
    Presence {
        incarnation: u32,
        machine: usize,
    },
    /// Devices that have not returned since the process began are recorded as offline.
    RecordRest {
        incarnation: u32,
    },
    HeldBack {
        machine: usize,
        closes: bool,
    },
    Scan {
        machine: usize,
    },
    ProbeOver {
        incarnation: u32,
        request: usize,
        machine: usize,
    },
    // --- checks ---
    Sample,
    /// Check of the countdown some time after a quick message: by now the shown countdown of that run is right.
    Countdown {
        incarnation: u32,
        machine: usize,
        cmd_id: Uuid,
    },
}

impl Devices for Mqtt {
    type Happening = MqttHappens;
    // The fault density of the measurements on which the design is based.
    const PLAN: Plan = Plan { presses: 24, statement: 0.002 };

    fn new(rng: &mut StdRng) -> Self {
        Self {
            machines: (0..MACHINES).map(|machine| SimulatedMachine::new(machine, rng)).collect(),
            talks: (0..MACHINES).map(|_| Talk::default()).collect(),
            connections: BTreeMap::new(),
            last_line: 0,
            silences: rng.random_bool(SILENCES),
            at_rest: 0,
            washer: Washer::default(),
            figures: Figures::default(),
        }
    }

    fn plan(world: &mut World<Self>) {
        for machine in 0..MACHINES {
            world.later(0, MqttHappens::Power { machine, body: 0 });
            for _ in 0..FAULTS {
                let at = world.up_to(TROUBLE_MS);
                world.after(at, Happening::Trouble { machine });
            }
            for _ in 0..SCANS {
                let at = world.up_to(TROUBLE_MS);
                world.later(at, MqttHappens::Scan { machine });
            }
            let at = world.up_to(TROUBLE_MS);
            world.after(at, Happening::OperatorStops { machine });
        }
        world.plan_washer();
        world.later(SAMPLE_MS, MqttHappens::Sample);
    }

    fn plan_press(world: &mut World<Self>, machine: usize, after_ms: i64) {
        if world.devices.silences && world.chance(0.2) {
            let later_ms = world.up_to(2_000);
            world.later(after_ms + later_ms, MqttHappens::Silent { machine });
        }
        if world.chance(0.25) {
            let later_ms = world.up_to(15_000);
            world.after(after_ms + later_ms, Happening::Trouble { machine });
        }
    }

    fn happen(world: &mut World<Self>, what: MqttHappens) {
        match what {
            MqttHappens::Connect { machine, body } => world.connect(machine, body),
            MqttHappens::Subscribed { connection } => world.subscribed(connection),
            MqttHappens::Granted { connection } => world.granted(connection),
            MqttHappens::Lost { connection } => world.lost(connection),
            MqttHappens::Closed { connection } => world.closed(connection),
            MqttHappens::Ping { connection } => world.ping(connection),
            MqttHappens::ToServer { machine, connection, message, sent_at } => {
                world.message_arrives(machine, connection, &message, sent_at)
            }
            MqttHappens::ToDevice { machine, connection, cmd } => world.command_arrives(machine, connection, &cmd),
            MqttHappens::Power { machine, body } => world.power(machine, body),
            MqttHappens::Tick { machine, body, boot } => world.tick(machine, body, boot),
            MqttHappens::Silent { machine } => world.falls_silent(machine),
            MqttHappens::CloneLeaves { machine } => world.clone_leaves(machine),
            MqttHappens::Repaired { machine } => world.repaired(machine),
            MqttHappens::Pulsed { body, boot } => world.pulsed(body, boot),
            MqttHappens::PlugPulled { boot } if world.troubled && world.devices.machines[COIN_MACHINE].bodies[0].boot == boot => {
                world.power_cut(COIN_MACHINE)
            }
            MqttHappens::Washer { cycle, what } => world.washer(cycle, what),
            MqttHappens::FlashIsMended => world.flash_is_mended(),
            MqttHappens::NewBoard => world.replace_board(false),
            MqttHappens::Able { pulse } => world.store.set(COIN_MACHINE, MachineWrite::Pulses(pulse)),
            MqttHappens::Silence { incarnation, machine } if incarnation == world.server.incarnation => world.silence(machine),
            MqttHappens::Reported { incarnation, machine, event } if incarnation == world.server.incarnation => {
                let now = world.now;
                world.server_receives(machine, event, now);
            }
            MqttHappens::Send { incarnation, cmd } if incarnation == world.server.incarnation => world.send_command(&cmd),
            MqttHappens::Presence { incarnation, machine } if incarnation == world.server.incarnation => {
                world.record_presence(machine)
            }
            MqttHappens::RecordRest { incarnation } if incarnation == world.server.incarnation => world.record_rest(),
            MqttHappens::HeldBack { machine, closes } => world.held_back(machine, closes),
            MqttHappens::Scan { machine } => world.scan(machine),
            MqttHappens::ProbeOver { incarnation, request, machine } if incarnation == world.server.incarnation => {
                world.probe_over(machine, request)
            }
            MqttHappens::Sample => world.sample(),
            MqttHappens::Countdown { incarnation, machine, cmd_id } if incarnation == world.server.incarnation => {
                world.check_shown(machine, cmd_id)
            }
            _ => {}
        }
    }

    fn command(world: &mut World<Self>, cmd: Command) {
        world.give(cmd);
    }

    fn boot(world: &mut World<Self>, machine: usize, open: Option<&Purchase>) {
        world.talk_begins(machine, open);
    }

    fn crash(world: &mut World<Self>) {
        world.server_dies();
    }

    fn trouble(world: &mut World<Self>, machine: usize) {
        world.fault(machine);
    }

    fn peace(world: &mut World<Self>, machine: usize) {
        world.heal(machine);
    }

    fn buy(world: &mut World<Self>, request: usize, machine: usize, start: Start) {
        world.probe(request, machine, start);
    }

    fn committed(world: &mut World<Self>, purchase: PurchaseId, change: Change) {
        world.count_decision(purchase, change);
    }

    /// The network delays messages by any time.
    fn sent_at(_: Timestamp) -> Option<Timestamp> {
        None
    }

    fn never_ran(world: &mut World<Self>, purchase: PurchaseId) {
        world.check_never_ran(purchase);
    }

    fn check_end(world: &World<Self>) {
        world.check_pulses();
        world.check_coins();
    }

    fn freed(world: &mut World<Self>, machine: usize) {
        world.check_freed(machine);
    }

    fn runs(&self, machine: usize) -> &[Run] {
        &self.machines[machine].runs
    }

    /// Not limited by the transit time of any message: `check_shown` requires the right countdown soon after each quick message.
    fn late_ms(_: &World<Self>, _: usize, _: Timestamp) -> i64 {
        i64::MAX / 2
    }
}

impl World<Mqtt> {
    /// The history of `seed`, not begun, with a transcript of the devices' inputs and actions.
    pub fn taken_down(seed: u64) -> Self {
        let mut world = Self::new(seed, false);
        world.devices.machines.iter_mut().for_each(SimulatedMachine::take_down);
        world
    }

    pub fn transcripts(self) -> Vec<Transcript> {
        self.devices.machines.into_iter().filter_map(SimulatedMachine::transcript).collect()
    }

    fn later(&mut self, ms: i64, what: MqttHappens) {
        self.after(ms, Happening::Device(what));
    }
}
