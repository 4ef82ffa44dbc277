//! Several servers on one database. Each has its own `Machine`s; all share one store, which knows shards, epochs and fences. Servers are
//! paused, killed and asked to leave, and the database freezes, at random and at each edge of a purchase (`edges`). Devices and customers
//! move from one server to another.

mod check;
mod edges;
mod faults;
mod fences;
mod forward;
mod happens;
pub mod member;
mod notifications;
mod recovery;
mod shards;
mod watchers;

use std::collections::HashMap;

use nyala_core::domain::id::{NodeId, OutletId, PurchaseId};
use nyala_core::domain::timestamp::Timestamp;
use rand::Rng;

use self::notifications::Notifications;
use self::shards::Shards;
use self::watchers::Watcher;
use super::devices::Devices;
use super::plain::Plain;
use super::server::SimulatedServer;
use super::store::SERVICES_S;
use super::world::{Happening, MACHINES, World};

pub use self::check::WORTH;
pub use self::edges::{EdgeCase, Halt};
pub use self::happens::ClusterHappens;

/// How long faults are injected among several servers.
const TROUBLE_MS: i64 = 3 * 60_000;
const PRESSES: u32 = 14;
/// Clock error of each server: two are at most 100 ms apart.
const SKEW_MS: i64 = 50;
const WATCHERS: usize = 4;
/// Share of the histories in which a device is silent, and for how long after all other faults are over.
const SILENCES: f64 = 0.05;
const SILENT_MS: i64 = 17 * 60_000;

/// A separate outlet for each machine, so that their shards are far apart.
fn outlet(machine: usize) -> OutletId {
    OutletId::new(i64::try_from(machine).unwrap() * 85 + 1)
}

/// A mechanism that is taken away from the servers, to show that it is needed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Without {
    #[default]
    Nothing,
    Fence,
    /// The fence is read, but its row is not locked.
    Share,
}

pub struct Several {
    without: Without,
    pub shards: Shards,
    /// All servers. The entry of the current one is a placeholder.
    servers: Vec<SimulatedServer>,
    at: usize,
    incarnations: u32,
    /// The number of the server start to which each machine's device is connected.
    pub links: Vec<Option<u32>>,
    /// Until when the database answers no server.
    frozen_until: Timestamp,
    watchers: Vec<Watcher>,
    /// The purchase of each end that was ever committed, and how often its end had become later.
    ends: HashMap<(usize, Timestamp), (i64, i32)>,
    /// When purchases were decided.
    decided: HashMap<PurchaseId, Timestamp>,
    /// Number of faults so far, and when all are over.
    troubles: u32,
    mended_at: Timestamp,
    peace_at: Timestamp,
    /// The last edge of the purchase at each machine, and the owner that reached it.
    edges: Vec<Option<(NodeId, &'static str)>>,
    /// A machine whose device is silent until the money is refunded.
    silent: Option<usize>,
    /// Everything was at rest when it was last looked.
    rests: bool,
    /// The last purchases of all customers have begun.
    pub has_ended: bool,
    notifications: Notifications,
}

impl World<Plain> {
    /// The history of `seed` with several servers, not begun.
    pub fn several(seed: u64, verbose: bool, without: Without) -> Self {
        let mut world = Self::unplanned(seed, verbose);
        let servers = if world.chance(0.5) { 2 } else { 3 };
        let notifications = Notifications::new(&mut world.rng, world.now);
        world.among_servers(servers, notifications, without);
        if world.chance(SILENCES) {
            let machine = world.rng.random_range(0..MACHINES);
            world.silence(machine, TROUBLE_MS + SILENT_MS);
        }
        world.plan_several();
        world.plan_washer(TROUBLE_MS);
        world
    }

    /// The servers start, with clocks that differ.
    fn among_servers(&mut self, servers: usize, notifications: Notifications, without: Without) {
        self.several = Some(Several {
            without,
            shards: Shards::new(),
            servers: (0..servers).map(|_| SimulatedServer::new(MACHINES)).collect(),
            at: 0,
            incarnations: 0,
            links: vec![None; MACHINES],
            frozen_until: self.now,
            watchers: (0..WATCHERS).map(|n| Watcher::of(n % MACHINES)).collect(),
            ends: HashMap::new(),
            decided: HashMap::new(),
            troubles: 0,
            mended_at: self.now,
            peace_at: self.now.plus_ms(TROUBLE_MS),
            edges: vec![None; MACHINES],
            silent: None,
            rests: false,
            has_ended: false,
            notifications,
        });
        for server in 0..servers {
            let skew_ms = self.rng.random_range(-SKEW_MS..=SKEW_MS);
            self.enter(server);
            self.server.skew_ms = skew_ms;
            let after_ms = self.up_to(2_000);
            self.among(after_ms, ClusterHappens::Boot { server });
        }
    }

    /// The machine's device is silent for `ms`.
    fn silence(&mut self, machine: usize, ms: i64) {
        self.devices.silence(machine);
        self.several.as_mut().unwrap().silent = Some(machine);
        self.among(ms, ClusterHappens::Speaks { machine });
    }
}

impl<D: Devices> World<D> {
    pub(super) fn among(&mut self, after_ms: i64, what: ClusterHappens) {
        self.after(after_ms, Happening::Several(what));
    }

    /// Number of services on sale: with several servers, none that takes half an hour.
    pub fn services(&self) -> usize {
        if self.several.is_some() { SERVICES_S.len() - 1 } else { SERVICES_S.len() }
    }

    /// Whether the machine's device is silent on purpose, independent of other faults.
    pub fn stays_silent(&self, machine: usize) -> bool {
        self.several.as_ref().is_some_and(|several| several.silent == Some(machine))
    }

    /// Makes that server the current one, in whose name events happen.
    fn enter(&mut self, server: usize) {
        let several = self.several.as_mut().unwrap();
        std::mem::swap(&mut self.server, &mut several.servers[several.at]);
        std::mem::swap(&mut self.server, &mut several.servers[server]);
        several.at = server;
    }

    fn at(&self) -> usize {
        self.several.as_ref().map_or(0, |several| several.at)
    }

    fn servers(&self) -> usize {
        self.several.as_ref().map_or(1, |several| several.servers.len())
    }

    fn of(&self, server: usize) -> &SimulatedServer {
        match &self.several {
            Some(several) if several.at != server => &several.servers[server],
            _ => &self.server,
        }
    }

    fn of_incarnation(&self, incarnation: u32) -> Option<usize> {
        (0..self.servers()).find(|server| self.of(*server).up && self.of(*server).incarnation == incarnation)
    }

    fn paused_until(&self) -> Timestamp {
        self.server.member.as_ref().map_or(self.now, |member| member.paused_until)
    }
    /// The server of a request: any server, and the same one from then on.
    fn place(&mut self, request: usize) -> usize {
        if let Some((server, _)) = self.requests[request].at {
            return server;
        }
        let server = self.rng.random_range(0..self.servers());
        let incarnation = self.of(server).incarnation;
        self.requests[request].at = Some((server, incarnation));
        server
    }

    /// Whether a request is at the current server.
    pub fn is_here(&self, at: Option<(usize, u32)>) -> bool {
        self.several.is_none() || at.is_some_and(|(server, _)| server == self.at())
    }
}
