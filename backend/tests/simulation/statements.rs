//! The server's statements: each takes a while, and its answer may be lost.

use nyala_cluster::fence::Fence;
use nyala_core::domain::id::PurchaseId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::machine::{Input, Unanswered};
use nyala_core::purchase::device::StateReport;
use nyala_core::purchase::edge;
use nyala_core::purchase::step::{Change, Held};
use rand::Rng;
use uuid::Uuid;

use super::devices::Devices;
use super::store::{OrderRow, Recorded};
use super::world::{Happening, World};

/// Interval at which a statement that waits for a row reads it again.
pub const LOCKED_MS: i64 = 1;
/// How much later the effects of a statement are when its answer is lost.
const LOST_MS: i64 = 1_000;
/// Longest time until staff open a machine that the server has closed.
const STAFF_COME_MS: i64 = 10 * 60_000;

/// A write of a process; with several servers, behind a fence.
#[derive(Debug)]
pub struct Write {
    pub incarnation: u32,
    pub machine: usize,
    pub at: Timestamp,
    pub fence: Option<Fence>,
    pub what: Written,
}

#[derive(Debug)]
pub enum Written {
    Change { purchase: PurchaseId, change: Change },
    DeviceMessage { report: StateReport, foreign: bool },
}

impl Write {
    pub const fn reports_a_run(&self) -> bool {
        matches!(self.what, Written::DeviceMessage { report: StateReport { run: Some(_), .. }, .. })
    }
}

impl Written {
    const fn unanswered(&self) -> Input {
        match self {
            Self::Change { .. } => Input::Applied(Err(Unanswered)),
            Self::DeviceMessage { .. } => Input::Recorded(Err(Unanswered)),
        }
    }
}

/// How a statement behind a fence has begun.
pub enum Begun {
    AtOnce {
        stands: bool,
    },
    /// The fence matches, and its row is locked until the commit.
    Held {
        commit_ms: i64,
    },
}

impl<D: Devices> World<D> {
    pub fn statement_ms(&mut self) -> i64 {
        if self.troubled && self.chance(D::PLAN.statement) {
            let slow_ms = self.up_to(4_000);
            self.disturb(slow_ms);
            return slow_ms;
        }
        self.up_to(20)
    }

    pub(super) fn answered<T>(&mut self, result: T) -> Result<T, Unanswered> {
        if self.troubled && self.chance(D::PLAN.statement) {
            self.disturb(LOST_MS);
            self.note("answer of the database lost");
            return Err(Unanswered);
        }
        Ok(result)
    }

    /// Whether the database still carries out a statement of that process.
    pub(super) fn carried_out(&mut self, incarnation: u32) -> bool {
        let alive = self.server.up && incarnation == self.server.incarnation;
        let carried_out = if alive { !(self.troubled && self.chance(D::PLAN.statement / 2.0)) } else { self.chance(0.5) };
        if carried_out && !alive {
            self.note("statement of a dead process");
        }
        if alive && !carried_out {
            self.disturb(LOST_MS);
        }
        carried_out
    }

    fn send_later(&mut self, incarnation: u32, machine: usize, input: Input) {
        let after_ms = self.up_to(3);
        self.after(after_ms, Happening::Input { incarnation, machine, input: Box::new(input) });
    }

    pub fn hold(&mut self, incarnation: u32, machine: usize, order: OrderRow, at: Timestamp) {
        let result = if self.carried_out(incarnation) {
            let cmd_id = Uuid::from_u128(self.rng.random());
            let held = self.store.hold(order, cmd_id, at);
            if matches!(held, Held::Won { .. }) && incarnation == self.server.incarnation {
                self.comes_to(machine, "after_hold");
            }
            self.answered(held)
        } else {
            Err(Unanswered)
        };
        self.send_later(incarnation, machine, Input::Held(result));
    }

    pub fn load(&mut self, incarnation: u32, machine: usize) {
        let stored = self.store.load(machine);
        let result = self.answered(stored);
        self.send_later(incarnation, machine, Input::Loaded(result));
    }

    /// A change, or a device's message, is sent to the database.
    pub(super) fn write(&mut self, machine: usize, at: Timestamp, what: Written) {
        let (incarnation, fence, after_ms) = (self.server.incarnation, self.fence(machine), self.statement_ms());
        let fence = fence.filter(|_| !matches!(what, Written::Change { change: Change::Finish, .. }));
        let edge = match what {
            Written::Change { change, .. } => Some(edge::around(change).0),
            Written::DeviceMessage { .. } => None,
        };
        let write = Happening::Write(Write { incarnation, machine, at, fence, what });
        match edge {
            Some(edge) => self.sends(machine, edge, after_ms, write),
            None => self.after(after_ms, write),
        }
    }

    /// The statement arrives: its fence is checked. It commits after a short time, or at once when it has no fence.
    pub fn writes(&mut self, write: Write) {
        let Write { incarnation, machine, fence, .. } = write;
        if self.waits_before(fence) {
            return self.after(LOCKED_MS, Happening::Write(write));
        }
        if !self.carried_out(incarnation) {
            return self.send_later(incarnation, machine, write.what.unanswered());
        }
        match self.looks_at(fence) {
            Begun::AtOnce { stands } => self.commits(write, stands),
            Begun::Held { commit_ms } => self.after(commit_ms, Happening::Commit(write)),
        }
    }

    pub fn commits(&mut self, Write { incarnation, machine, at, fence, what }: Write, stands: bool) {
        if stands {
            self.stood(fence);
        }
        let input = match what {
            Written::Change { purchase, change } => {
                let was_closed = self.store.machines[machine].closed;
                let done = stands && self.store.apply(purchase, change, at);
                if done {
                    self.has_committed(machine, purchase, change, fence);
                    self.staff_come_if_closed(machine, was_closed);
                    D::committed(self, purchase, change);
                    if incarnation == self.server.incarnation {
                        self.comes_to(machine, edge::around(change).1);
                    }
                } else {
                    self.invalidate(incarnation);
                }
                Input::Applied(self.answered(done))
            }
            Written::DeviceMessage { report, foreign } => {
                let (kept, was_closed) = (self.store.machines[machine].needs_staff, self.store.machines[machine].closed);
                let done = if stands { self.store.record(machine, report, foreign, at) } else { Recorded::default() };
                if stands {
                    self.has_recorded(machine, fence);
                } else {
                    self.note("fence did not match for a message");
                    self.store.audit_unpaid(report.run.filter(|_| foreign).map(|run| run.cmd_id));
                }
                let is_open = self.store.open().any(|(_, p)| p.order.machine == machine);
                let is_kept = is_open || self.store.machines[machine].unpaid.is_some();
                assert!(!(stands && foreign && report.run.is_some()) || is_kept, "a machine is for sale that is said to run");
                if done.again {
                    self.note("runs again");
                    self.has_come_back(machine);
                }
                if let Some(purchase) = done.never_ran {
                    self.note("never ran");
                    D::never_ran(self, purchase);
                    if self.store.machines[machine].closed && !was_closed {
                        self.note("did not run three times");
                    }
                    self.staff_come_if_closed(machine, was_closed);
                }
                if kept && !self.store.machines[machine].needs_staff {
                    D::freed(self, machine);
                }
                Input::Recorded(self.answered(done.again))
            }
        };
        self.send_later(incarnation, machine, input);
    }

    /// Staff open a machine that the server has just closed, after a while.
    pub(super) fn staff_come_if_closed(&mut self, machine: usize, was_closed: bool) {
        if self.store.machines[machine].closed && !was_closed {
            self.note("closed by the server");
            let after_ms = if self.troubled { self.up_to(STAFF_COME_MS) } else { 0 };
            self.after(after_ms, Happening::StaffOpens { machine });
        }
    }
}
