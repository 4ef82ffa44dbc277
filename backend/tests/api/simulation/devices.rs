//! What stands behind the machines of a world.

use std::fmt::Debug;

use nyala::domain::timestamp::Timestamp;
use nyala::machine_core::{Input, Start};
use nyala::purchase::device::Command;
use nyala::purchase::step::{Change, Purchase, PurchaseEvent};
use rand::rngs::StdRng;
use uuid::Uuid;

use super::server::Phone;
use super::world::World;

/// What a device really did, for judging what the server believes.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    pub cmd_id: Uuid,
    pub started_at: Timestamp,
    /// When it turned itself off, was stopped or lost power.
    pub ends_at: Timestamp,
    /// Nothing follows from it any more: the device has forgotten it, or it was another one with the same key.
    pub forgotten: bool,
}

/// How dense the trouble of a history is.
pub struct Plan {
    /// Presses of `Bayar`, repeats not counted.
    pub presses: u32,
    /// How often trouble, and a crash of the server, come while something is bought.
    pub trouble: f64,
    pub crash: f64,
    /// How often an answer of the database is lost, or late.
    pub statement: f64,
}

/// The devices, and the way to them.
pub trait Devices: Debug + Sized {
    /// What happens to them and on their way.
    type Happening: Debug;
    const PLAN: Plan;

    fn new(rng: &mut StdRng) -> Self;

    /// Plans the trouble of a history that has not begun.
    fn plan(world: &mut World<Self>);

    fn happen(world: &mut World<Self>, what: Self::Happening);

    /// The server gives a command.
    fn command(world: &mut World<Self>, cmd: Command);

    /// The process is up; `open`: the purchase that it has found there.
    fn boot(world: &mut World<Self>, machine: usize, open: Option<&Purchase>);

    fn crash(world: &mut World<Self>);

    /// The process knows that it made this hold.
    fn held(_: &mut World<Self>, _machine: usize, _cmd_id: Uuid) {}

    /// Something goes wrong with a device or its network, as far as trouble is still made.
    fn trouble(world: &mut World<Self>, machine: usize);

    /// No trouble from now on: what is broken is mended.
    fn peace(world: &mut World<Self>, machine: usize);

    /// Brings a start whose facts stand to the machine, once its device is known to be there.
    fn buy(world: &mut World<Self>, _request: usize, machine: usize, start: Start<Phone>) {
        world.tell(machine, Input::Start(start));
    }

    /// What the devices of a machine really ran, oldest first.
    fn runs(&self, machine: usize) -> &[Run];

    /// The server is about to commit `change`.
    fn judge(_: &mut World<Self>, _machine: usize, _next: &Purchase, _change: Change, _cause: &PurchaseEvent) {}

    /// How much later than it is the end of a run may be taken for, by a word of `said_at`.
    fn late_ms(world: &World<Self>, machine: usize, said_at: Timestamp) -> i64;

    /// After every step.
    fn check_step(_: &mut World<Self>) {}
}
