//! What stands behind the machines of a world.

use std::fmt::Debug;

use nyala_core::domain::timestamp::Timestamp;
use nyala_core::machine::{Input, Start};
use nyala_core::purchase::device::Command;
use nyala_core::purchase::step::{Change, Purchase};
use rand::rngs::StdRng;
use uuid::Uuid;

use super::server::Phone;
use super::world::World;

/// What a device really did, for judging what the server believes.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    pub cmd_id: Uuid,
    /// When it turned itself off, was stopped or lost power.
    pub ends_at: Timestamp,
    /// It was stopped, or lost power: it ends at another time than it was sold for.
    pub cut: bool,
    /// Nothing follows from it any more: the device has forgotten it, or there were two with one key.
    pub forgotten: bool,
}

/// How dense the trouble of a history is.
pub struct Plan {
    /// Presses of `Bayar`, repeats not counted.
    pub presses: u32,
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

    /// Plans the trouble that comes while something is bought at that machine, in `after_ms`.
    fn plan_press(world: &mut World<Self>, machine: usize, after_ms: i64);

    fn happen(world: &mut World<Self>, what: Self::Happening);

    /// The server gives a command.
    fn command(world: &mut World<Self>, cmd: Command);

    /// The process is up; `open`: the purchase that it has found there.
    fn boot(world: &mut World<Self>, machine: usize, open: Option<&Purchase>);

    fn crash(world: &mut World<Self>);

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

    /// Whether it is a device's word of a run, on its way.
    fn tells_a_run(_: &Self::Happening) -> bool {
        false
    }

    /// A change was committed.
    fn committed(_: &mut World<Self>, _purchase: i64, _change: Change) {}

    /// A machine is not kept for staff any more.
    fn freed(_: &mut World<Self>, _machine: usize) {}

    /// How much later than it is the end of a run may be taken for, by a word of `said_at`.
    fn late_ms(world: &World<Self>, machine: usize, said_at: Timestamp) -> i64;
}
