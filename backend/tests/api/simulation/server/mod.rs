//! The server around `step`: a machine's actor (`machine::actor`) with its statements, alarms and reloads, and the reaper. It may
//! die at any moment; then only the store is left.

mod buying;
mod purchase;
mod reaper;

use std::collections::VecDeque;

use nyala::domain::timestamp::Timestamp;
use nyala::machine::messages::Outcome;
use nyala::purchase::state::PurchaseState;
use nyala::purchase::step::{Change, Op, Purchase, PurchaseEvent};
use rand::Rng;
use uuid::Uuid;

use super::store::OrderRow;
use super::world::{Answered, Happening, MACHINES, World};

pub struct Server {
    pub up: bool,
    /// One more with every start: what an older process began reaches nobody.
    pub life: u32,
    pub up_since: Timestamp,
    actors: Vec<Actor>,
}

#[derive(Debug, Clone)]
pub struct Start {
    pub order: OrderRow,
    pub requests: Vec<usize>,
}

#[derive(Default)]
struct Actor {
    active: Option<Active>,
    hold: Option<Start>,
    queue: VecDeque<Start>,
    loading: bool,
    learned: u64,
    alarm: u32,
    last_said: Option<(bool, Option<Uuid>)>,
}

struct Active {
    p: Purchase,
    waiters: Vec<usize>,
    committing: bool,
    events: VecDeque<(PurchaseEvent, Timestamp)>,
}

impl Active {
    fn new(p: Purchase) -> Self {
        Self { p, waiters: Vec::new(), committing: false, events: VecDeque::new() }
    }
}

impl Server {
    pub fn new(machines: usize) -> Self {
        Self { up: false, life: 0, up_since: Timestamp::default(), actors: (0..machines).map(|_| Actor::default()).collect() }
    }
}

fn outcome(state: PurchaseState) -> Option<Outcome> {
    match state {
        PurchaseState::Running | PurchaseState::Finished | PurchaseState::Stopped => Some(Outcome::Started),
        PurchaseState::Refused | PurchaseState::Expired => Some(Outcome::NotStarted),
        _ => None,
    }
}

impl World {
    pub fn boot(&mut self) {
        if self.server.up {
            return;
        }
        let life = self.server.life + 1;
        self.server = Server { up: true, life, up_since: self.now, ..Server::new(MACHINES) };
        for machine in 0..MACHINES {
            if let Some(p) = self.store.load(machine) {
                self.server.actors[machine].active = Some(Active::new(p));
                self.arm(machine);
            }
            // As a broker keeps the last word of a device for whoever asks.
            self.device_tells(machine);
        }
        self.after(0, Happening::Reap { life, round: 0 });
    }

    pub fn crash(&mut self) {
        if !self.server.up || !self.troubled {
            return;
        }
        self.server = Server { life: self.server.life, ..Server::new(MACHINES) };
        self.heard.clear();
        self.note("crash");
        self.connections_break();
        let down_ms = match self.rng.random_range(0..10) {
            0 => self.up_to(25 * 60_000),
            1 | 2 => self.up_to(60_000),
            _ => self.up_to(3_000),
        };
        self.after(down_ms, Happening::Boot);
    }

    // --- statements: each takes a while, and its answer may be lost ---

    fn statement_ms(&mut self) -> i64 {
        if self.troubled && self.chance(0.02) { self.up_to(4_000) } else { self.up_to(20) }
    }

    fn answered<T>(&mut self, result: T) -> Answered<T> {
        if self.troubled && self.chance(0.02) {
            self.note("answer of the database lost");
            return Err(());
        }
        Ok(result)
    }

    /// Whether the database still carries out a statement of that process.
    fn carried_out(&mut self, life: u32) -> bool {
        let alive = self.server.up && life == self.server.life;
        let carried_out = if alive { !(self.troubled && self.chance(0.01)) } else { self.chance(0.5) };
        if carried_out && !alive {
            self.note("statement of a dead process");
        }
        carried_out
    }

    pub fn hold(&mut self, life: u32, machine: usize, order: OrderRow, at: Timestamp) {
        let result = if self.carried_out(life) {
            let cmd_id = Uuid::from_u128(self.rng.random());
            let held = self.store.hold(order, cmd_id, at);
            self.answered(held)
        } else {
            Err(())
        };
        let after_ms = self.up_to(3);
        self.after(after_ms, Happening::Held { life, machine, at, result });
    }

    pub fn commit(&mut self, life: u32, machine: usize, change: Change, next: Purchase, send: Option<Op>, at: Timestamp) {
        let result = if self.carried_out(life) {
            let done = self.store.apply(next.id, change, at);
            self.answered(done)
        } else {
            Err(())
        };
        let after_ms = self.up_to(3);
        self.after(after_ms, Happening::Applied { life, machine, next: Box::new(next), send, result });
    }

    pub fn load(&mut self, machine: usize, learned: u64) {
        let stored = self.store.load(machine).map(Box::new);
        let result = self.answered(stored);
        let (life, after_ms) = (self.server.life, self.up_to(20));
        self.after(after_ms, Happening::Loaded { life, machine, learned, result });
    }
}
