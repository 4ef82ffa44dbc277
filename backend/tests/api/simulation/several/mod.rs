//! Several servers on one database: each with `Machine`s of its own, all with one store, which knows shards, epochs and fences. They
//! are paused, killed, handed over and stand before a frozen database, by chance and at each edge of a purchase (`edges`); devices move
//! from one to another, and so do customers.

mod check;
mod edges;
mod faults;
mod fences;
mod happens;
pub mod member;
mod news;
mod recovery;
mod relay;
mod seats;
mod shards;

use std::collections::HashMap;

use nyala_core::domain::timestamp::Timestamp;
use rand::Rng;

use self::news::News;
use self::seats::Seat;
use self::shards::Shards;
use super::devices::Devices;
use super::plain::Plain;
use super::server::Server;
use super::store::SERVICES_S;
use super::world::{Happening, MACHINES, World};

pub use self::check::WORTH;
pub use self::edges::{Case, Halt};
pub use self::happens::Happens;

/// How long trouble is made among several.
const TROUBLE_MS: i64 = 3 * 60_000;
const PRESSES: u32 = 14;
/// Of each server's clock: two are at most 100 ms apart.
const SKEW_MS: i64 = 50;
const SEATS: usize = 4;
/// Histories in which a device says nothing, and for how long when all else is well.
const SILENCES: f64 = 0.05;
const SILENT_MS: i64 = 17 * 60_000;

/// An outlet for each machine, so that they are of shards far apart.
fn outlet(machine: usize) -> i64 {
    i64::try_from(machine).unwrap() * 85 + 1
}

/// What is taken away from the servers, to see that it is missed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Without {
    #[default]
    Nothing,
    Fence,
    /// The fence is looked at, but its row is anybody's.
    Share,
}

pub struct Several {
    without: Without,
    pub shards: Shards,
    /// All servers; where the one is in whose name things happen, there is a hole.
    servers: Vec<Server>,
    at: usize,
    lives: u32,
    /// To which server's life each machine's device is connected.
    pub links: Vec<Option<u32>>,
    /// Until when the database answers nobody.
    frozen_until: Timestamp,
    seats: Vec<Seat>,
    /// What each end that was ever committed is the end of.
    ends: HashMap<(usize, Timestamp), i64>,
    /// When purchases were decided.
    decided: HashMap<i64, Timestamp>,
    /// How many troubles have come, and when all are over.
    troubles: u32,
    mended_at: Timestamp,
    peace_at: Timestamp,
    /// The last edge of what was bought at each machine, and which of its owners came to it.
    edges: Vec<Option<(i64, &'static str)>>,
    /// A machine whose device says nothing, long enough for the money to go back.
    silent: Option<usize>,
    /// Everybody buys for the last time.
    pub has_ended: bool,
    news: News,
}

impl World<Plain> {
    /// The history of `seed` with several servers, not begun.
    pub fn several(seed: u64, verbose: bool, without: Without) -> Self {
        let mut world = Self::unplanned(seed, verbose);
        let servers = if world.chance(0.5) { 2 } else { 3 };
        let news = News::new(&mut world.rng, world.now);
        world.among_servers(servers, news, without);
        if world.chance(SILENCES) {
            let machine = world.rng.random_range(0..MACHINES);
            world.silence(machine, TROUBLE_MS + SILENT_MS);
        }
        world.plan_several();
        world
    }

    /// They come up, with clocks that differ.
    fn among_servers(&mut self, servers: usize, news: News, without: Without) {
        self.several = Some(Several {
            without,
            shards: Shards::new(),
            servers: (0..servers).map(|_| Server::new(MACHINES)).collect(),
            at: 0,
            lives: 0,
            links: vec![None; MACHINES],
            frozen_until: self.now,
            seats: (0..SEATS).map(|n| Seat::of(n % MACHINES)).collect(),
            ends: HashMap::new(),
            decided: HashMap::new(),
            troubles: 0,
            mended_at: self.now,
            peace_at: self.now.plus_ms(TROUBLE_MS),
            edges: vec![None; MACHINES],
            silent: None,
            has_ended: false,
            news,
        });
        for server in 0..servers {
            let skew_ms = self.rng.random_range(-SKEW_MS..=SKEW_MS);
            self.enter(server);
            self.server.skew_ms = skew_ms;
            let after_ms = self.up_to(2_000);
            self.among(after_ms, Happens::Boot { server });
        }
    }

    /// The machine's device says nothing for so long.
    fn silence(&mut self, machine: usize, ms: i64) {
        self.devices.silence(machine);
        self.several.as_mut().unwrap().silent = Some(machine);
        self.among(ms, Happens::Speaks { machine });
    }
}

impl<D: Devices> World<D> {
    pub(super) fn among(&mut self, after_ms: i64, what: Happens) {
        self.after(after_ms, Happening::Several(what));
    }

    /// How many services are sold: where there are several servers none that takes half an hour.
    pub fn services(&self) -> usize {
        if self.several.is_some() { SERVICES_S.len() - 1 } else { SERVICES_S.len() }
    }

    /// Whether the machine's device says nothing, whatever else goes wrong.
    pub fn stays_silent(&self, machine: usize) -> bool {
        self.several.as_ref().is_some_and(|several| several.silent == Some(machine))
    }

    /// From now on things happen in the name of that server.
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

    fn of(&self, server: usize) -> &Server {
        match &self.several {
            Some(several) if several.at != server => &several.servers[server],
            _ => &self.server,
        }
    }

    fn of_life(&self, life: u32) -> Option<usize> {
        (0..self.servers()).find(|server| self.of(*server).up && self.of(*server).life == life)
    }

    fn paused_until(&self) -> Timestamp {
        self.server.member.as_ref().map_or(self.now, |member| member.paused_until)
    }
    /// Where a request goes: to any server, and there it stays.
    fn place(&mut self, request: usize) -> usize {
        if let Some((server, _)) = self.requests[request].at {
            return server;
        }
        let server = self.rng.random_range(0..self.servers());
        let life = self.of(server).life;
        self.requests[request].at = Some((server, life));
        server
    }

    /// Whether a request is at the server in whose name things happen.
    pub fn is_here(&self, at: Option<(usize, u32)>) -> bool {
        self.several.is_none() || at.is_some_and(|(server, _)| server == self.at())
    }
}
