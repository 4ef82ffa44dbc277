//! Several servers on one database: each with `Machine`s of its own, all with one store, which knows shards, epochs and fences. They
//! are paused, killed, handed over and stand before a frozen database; devices move from one to another, and so do customers.

mod check;
mod faults;
pub mod member;
mod seats;
mod shards;

use std::collections::HashMap;

use nyala::cluster::membership::Seen;
use nyala::domain::timestamp::Timestamp;
use nyala::purchase::step::Purchase;
use rand::Rng;

use self::seats::Seat;
use self::shards::{Shards, WordRow};
use super::devices::Devices;
use super::plain::Plain;
use super::server::Server;
use super::store::SERVICES_S;
use super::world::{Happening, MACHINES, World};

pub use self::check::WORTH;

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
    /// A machine whose device says nothing, long enough for the money to go back.
    silent: Option<usize>,
    /// Everybody buys for the last time.
    pub has_ended: bool,
}

#[derive(Debug)]
pub enum Happens {
    // --- of one process ---
    Beat {
        life: u32,
        number: u32,
    },
    Claim {
        life: u32,
        seen: Seen,
        most: i64,
        began: Timestamp,
    },
    Learn {
        life: u32,
        seen: Seen,
        owned: Vec<(i32, i64)>,
        began: Timestamp,
    },
    HandOver {
        life: u32,
        shard: i32,
    },
    Resume {
        life: u32,
        shards: Vec<i32>,
    },
    Resumed {
        life: u32,
        open: Vec<(usize, Purchase)>,
    },
    Mirror {
        life: u32,
    },
    Mirrored {
        life: u32,
        stored: Vec<(usize, Option<Purchase>)>,
    },
    Take {
        life: u32,
    },
    Taken {
        life: u32,
        words: Vec<WordRow>,
    },
    Speak {
        life: u32,
    },
    Spoken {
        life: u32,
        open: Vec<(usize, Purchase)>,
    },
    PassOn {
        life: u32,
        words: Vec<WordRow>,
    },
    Word {
        life: u32,
        word: WordRow,
    },
    // --- of the world ---
    Boot {
        server: usize,
    },
    /// A device connects, perhaps to another server than before.
    Link {
        machine: usize,
    },
    /// Somebody begins to watch.
    Sit {
        seat: usize,
    },
    /// Those shards have lost their server two seconds ago, in that trouble.
    TakenOver {
        trouble: u32,
        shards: Vec<i32>,
    },
    /// The silent device says something at last.
    Speaks {
        machine: usize,
    },
    /// All has been quiet: does everybody buy once more?
    Last,
}

/// What keeps a happening from its time.
enum Needs {
    Nothing,
    /// The process that it is of runs.
    Process(u32),
    /// A statement that is on its way, or not: its process may be stopped before it.
    Statement(u32),
    /// A statement that is begun now.
    Question(u32),
}

impl World<Plain> {
    /// The history of `seed` with several servers, not begun.
    pub fn several(seed: u64, verbose: bool, without: Without) -> Self {
        let mut world = Self::unplanned(seed, verbose);
        let servers = if world.chance(0.5) { 2 } else { 3 };
        world.several = Some(Several {
            without,
            shards: Shards::new(),
            servers: (0..servers).map(|_| Server::new(MACHINES)).collect(),
            at: 0,
            lives: 0,
            links: vec![None; MACHINES],
            frozen_until: world.now,
            seats: (0..SEATS).map(|n| Seat::of(n % MACHINES)).collect(),
            ends: HashMap::new(),
            decided: HashMap::new(),
            troubles: 0,
            mended_at: world.now,
            peace_at: world.now.plus_ms(TROUBLE_MS),
            silent: None,
            has_ended: false,
        });
        for server in 0..servers {
            let skew_ms = world.rng.random_range(-SKEW_MS..=SKEW_MS);
            world.enter(server);
            world.server.skew_ms = skew_ms;
            let after_ms = world.up_to(2_000);
            world.among(after_ms, Happens::Boot { server });
        }
        if world.chance(SILENCES) {
            let machine = world.rng.random_range(0..MACHINES);
            world.devices.silence(machine);
            world.several.as_mut().unwrap().silent = Some(machine);
            world.among(TROUBLE_MS + SILENT_MS, Happens::Speaks { machine });
        }
        world.plan_several();
        world
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

    /// A happening whose time has come, in the name of the server that it is of; none, when it has to wait or that server is dead.
    pub fn in_its_place(&mut self, what: Happening<D::Happening>) -> Option<Happening<D::Happening>> {
        let Some(several) = &self.several else { return Some(what) };
        let frozen_until = several.frozen_until;
        let needs = match &what {
            Happening::Press { request } => {
                let at = self.place(*request);
                self.enter(at);
                self.requests[*request].at = Some((at, self.server.life));
                if self.server.up { Needs::Question(self.server.life) } else { Needs::Nothing }
            }
            Happening::Deadline { request } => match self.requests[*request].at {
                Some((_, life)) => Needs::Process(life),
                None => Needs::Nothing,
            },
            Happening::Decided { life, .. } | Happening::Tell { life, .. } | Happening::Alarm { life, .. } => {
                Needs::Process(*life)
            }
            Happening::Hold { life, .. }
            | Happening::Commit { life, .. }
            | Happening::Load { life, .. }
            | Happening::Record { life, .. } => Needs::Statement(*life),
            Happening::Reap { life, .. } => Needs::Question(*life),
            Happening::OperatorStops { .. } => {
                let at = self.rng.random_range(0..self.servers());
                self.enter(at);
                Needs::Question(self.server.life)
            }
            Happening::Several(what) => what.needs(),
            _ => Needs::Nothing,
        };
        let life = match needs {
            Needs::Nothing => return Some(what),
            Needs::Process(life) | Needs::Statement(life) | Needs::Question(life) => life,
        };
        let place = self.of_life(life);
        place.into_iter().for_each(|server| self.enter(server));
        let mut wait_until = if matches!(needs, Needs::Process(_)) { self.now } else { frozen_until };
        if place.is_some() {
            let sent = matches!(needs, Needs::Statement(_)) && self.paused_until() > self.now && self.chance(0.5);
            if !sent {
                wait_until = wait_until.max(self.paused_until());
            }
        } else if !matches!(needs, Needs::Statement(_)) {
            return None;
        }
        if wait_until > self.now {
            let jitter_ms = if matches!(needs, Needs::Process(_)) { 0 } else { self.up_to(20) };
            let after_ms = self.now.ms_until(wait_until) + jitter_ms;
            self.after(after_ms, what);
            return None;
        }
        Some(what)
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

    pub fn happen_among(&mut self, what: Happens) {
        match what {
            Happens::Beat { number, .. } => self.beats(number),
            Happens::Claim { life, seen, most, began } if life == self.server.life => self.claims(seen, most, began),
            Happens::Learn { seen, owned, began, .. } => self.learns(seen, &owned, began),
            Happens::HandOver { life, shard } if life == self.server.life => self.hands_over(shard),
            Happens::Resume { life, shards } if life == self.server.life => self.resumes(shards),
            Happens::Resumed { open, .. } => self.resumed(open),
            Happens::Mirror { .. } => self.mirrors(),
            Happens::Mirrored { stored, .. } => self.mirrored(stored),
            Happens::Take { .. } => self.takes(),
            Happens::Taken { words, .. } => self.taken(words),
            Happens::Speak { .. } => self.speaks(),
            Happens::Spoken { open, .. } => self.spoken(open),
            Happens::PassOn { life, words } => self.passed_on(life, words),
            Happens::Word { word, .. } => self.word_is_here(word),
            Happens::Boot { server } => self.boot_among(server),
            Happens::Link { machine } => self.link(machine),
            Happens::Sit { seat } => self.sit(seat),
            Happens::TakenOver { trouble, shards } => self.check_taken_over(trouble, &shards),
            Happens::Speaks { machine } => {
                self.several.as_mut().unwrap().silent = None;
                D::peace(self, machine);
            }
            Happens::Last => self.everybody_buys(),
            Happens::Claim { .. } | Happens::HandOver { .. } | Happens::Resume { .. } => {}
        }
    }
}

impl Happens {
    fn needs(&self) -> Needs {
        match self {
            Self::Beat { life, .. } | Self::Mirror { life } | Self::Take { life } | Self::Speak { life } => {
                Needs::Question(*life)
            }
            Self::Claim { life, .. } | Self::HandOver { life, .. } | Self::Resume { life, .. } | Self::PassOn { life, .. } => {
                Needs::Statement(*life)
            }
            Self::Learn { life, .. }
            | Self::Resumed { life, .. }
            | Self::Mirrored { life, .. }
            | Self::Taken { life, .. }
            | Self::Spoken { life, .. }
            | Self::Word { life, .. } => Needs::Process(*life),
            Self::Boot { .. }
            | Self::Link { .. }
            | Self::Sit { .. }
            | Self::TakenOver { .. }
            | Self::Speaks { .. }
            | Self::Last => Needs::Nothing,
        }
    }
}
