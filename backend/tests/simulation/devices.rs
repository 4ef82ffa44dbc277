//! The devices behind the machines of a world.

use std::fmt::Debug;

use nyala_core::domain::id::{MachineId, PurchaseId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::machine::{Input, Start};
use nyala_core::purchase::device::{Command, Op};
use nyala_core::purchase::step::{Change, Purchase};
use rand::rngs::StdRng;
use uuid::Uuid;

use super::world::World;

/// What a device really ran, to check what the server assumes.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    pub cmd_id: Uuid,
    /// When the device turned itself off, was stopped or lost power.
    pub ends_at: Timestamp,
    /// The run was stopped, or the device lost power: it ends at another time than was sold.
    pub cut: bool,
    /// The checks ignore this run: the device lost its memory of it, or two devices had the same key.
    pub forgotten: bool,
    /// When its machine's sensor last moved the end.
    pub moved_at: Option<Timestamp>,
}

impl Run {
    /// Whether the sensor has moved the end since a message was sent; `None`: since ever.
    pub fn has_moved_since(&self, sent_at: Option<Timestamp>) -> bool {
        self.moved_at.is_some_and(|at| sent_at.is_none_or(|sent_at| sent_at <= at))
    }
}

/// Command that ends a run on a device that does not continue it after a loss of power. `at`: now, by the device's clock.
pub fn stop_of(cmd_id: Uuid, at: Timestamp) -> Command {
    Command { cmd_id, op: Op::Stop, ..Command::about_nothing(MachineId::new(0), at) }
}

/// Density of the faults in a history.
pub struct Plan {
    /// Presses of `Bayar`, without repeats.
    pub presses: u32,
    /// Probability that an answer of the database is lost or late.
    pub statement: f64,
}

/// The devices and the network to them.
pub trait Devices: Debug + Sized {
    /// Events of the devices and of their network.
    type Happening: Debug;
    const PLAN: Plan;

    fn new(rng: &mut StdRng) -> Self;

    /// Schedules the faults of a history before it begins.
    fn plan(world: &mut World<Self>);

    /// Schedules the faults around a purchase that begins at that machine in `after_ms`.
    fn plan_press(world: &mut World<Self>, machine: usize, after_ms: i64);

    fn happen(world: &mut World<Self>, what: Self::Happening);

    /// The server sends a command.
    fn command(world: &mut World<Self>, cmd: Command);

    /// The process is up. `open`: the open purchase that it has loaded for the machine.
    fn boot(world: &mut World<Self>, machine: usize, open: Option<&Purchase>);

    fn crash(world: &mut World<Self>);

    /// A fault of a device or its network, while faults are still injected.
    fn trouble(world: &mut World<Self>, machine: usize);

    /// Ends the faults and repairs what they broke.
    fn peace(world: &mut World<Self>, machine: usize);

    /// Passes a start whose facts are still valid to the machine, after its device is known to be present.
    fn buy(world: &mut World<Self>, _request: usize, machine: usize, start: Start) {
        world.send_input(machine, Input::Start(start));
    }

    /// What the devices of a machine really ran, oldest first.
    fn runs(&self, machine: usize) -> &[Run];

    /// Whether the event is a device's state report of a run that is still in transit.
    fn reports_a_run(_: &Self::Happening) -> bool {
        false
    }

    /// A change was committed.
    fn committed(_: &mut World<Self>, _purchase: PurchaseId, _change: Change) {}

    /// A machine that was blocked for staff is released.
    fn freed(_: &mut World<Self>, _machine: usize) {}

    /// The server has stored that a machine has not run in a purchase.
    fn never_ran(_: &mut World<Self>, _purchase: PurchaseId) {}

    /// Checks after the history has come to rest.
    fn check_end(_: &World<Self>) {}

    /// When the message was sent from which a change was made; `None`: not known.
    fn sent_at(received_from: Timestamp) -> Option<Timestamp> {
        Some(received_from)
    }

    /// How far after the true end of the run the shown end may be, when it comes from a message sent at `sent_at`.
    fn late_ms(world: &World<Self>, machine: usize, sent_at: Timestamp) -> i64;
}
