//! Faults among several servers.

use nyala_core::purchase::device::Op;
use rand::Rng;

use super::super::devices::Devices;
use super::super::server::SimulatedServer;
use super::super::store::MachineRow;
use super::super::world::{Happening, MACHINES, World};
use super::member::Member;
use super::{ClusterHappens, PRESSES, TROUBLE_MS};

/// From `cluster::node`: a server tries again while a node of its name is alive.
const JOIN_AGAIN_MS: i64 = 100;
/// By then a device that lost its server is connected again, and so is a watcher.
const LINK_WITHIN_MS: i64 = 4_000;
const WATCH_WITHIN_MS: i64 = 2_000;
const NOBODY_THERE_MS: i64 = 500;
/// How long after a pause or a freeze actions may still be late.
pub(super) const AFTERWARDS_MS: i64 = 2_000;
/// Interval of the last checks after all is over, and their maximum duration.
const LAST_EVERY_MS: i64 = 3_000;
const LAST_WITHIN_MS: i64 = 40 * 60_000;
/// Time after which other servers own the shards of a killed server.
const TAKEN_OVER_MS: i64 = 2_000;

impl<D: Devices> World<D> {
    pub(super) fn plan_several(&mut self) {
        for machine in 0..MACHINES {
            let after_ms = self.up_to(3_000);
            self.among(after_ms, ClusterHappens::Link { machine });
            for _ in 0..self.rng.random_range(0..3) {
                let (trouble_ms, stop_ms, link_ms) = (self.up_to(TROUBLE_MS), self.up_to(TROUBLE_MS), self.up_to(TROUBLE_MS));
                self.after(trouble_ms, Happening::Trouble { machine });
                self.after(stop_ms, Happening::OperatorStops { machine });
                self.among(link_ms, ClusterHappens::Link { machine });
            }
        }
        for watcher in 0..self.several.as_ref().unwrap().watchers.len() {
            let after_ms = self.up_to(30_000);
            self.among(after_ms, ClusterHappens::Watch { watcher });
        }
        for receipt in 1..=PRESSES {
            let after_ms = self.up_to(TROUBLE_MS);
            self.customer_comes(receipt, after_ms);
            if self.chance(0.5) {
                let longest_ms = [100, 600, 3_000, 12_000, 60_000][self.rng.random_range(0..5)];
                let crash_ms = after_ms + self.up_to(longest_ms);
                self.after(crash_ms, Happening::Crash);
            }
        }
        for _ in 0..3 {
            let (refund_ms, crash_ms) = (self.up_to(TROUBLE_MS), self.up_to(TROUBLE_MS));
            self.after(refund_ms, Happening::OperatorRefunds);
            self.after(crash_ms, Happening::Crash);
        }
        self.after(TROUBLE_MS, Happening::Peace);
    }

    /// A fault hits a server, or the connection between servers.
    pub fn something_breaks(&mut self) {
        let server = self.rng.random_range(0..self.servers());
        self.enter(server);
        match self.rng.random_range(0..11) {
            0..=3 => self.pause(),
            4..=6 => self.kill(),
            7 => self.leave(),
            8 => self.freeze(),
            9 => self.cut_notifications(),
            _ => self.lose_messages(),
        }
    }

    /// Records a fault that lasts for `ms`.
    pub(super) fn troubled_for(&mut self, ms: i64) {
        let over_at = self.now.plus_ms(ms);
        let several = self.several.as_mut().unwrap();
        several.troubles += 1;
        several.mended_at = several.mended_at.max(over_at);
    }

    /// SIGSTOP, and SIGCONT.
    fn pause(&mut self) {
        if !self.server.up {
            return;
        }
        let (name, ms) = match self.rng.random_range(0..4) {
            0 => ("paused", self.up_to(300)),
            1 => ("paused", self.up_to(1_200)),
            2 => ("paused for about its life", 1_000 + self.up_to(1_500)),
            _ => ("paused for longer than its life", 1_500 + self.up_to(6_000)),
        };
        self.note(name);
        self.pause_for(ms);
    }

    pub(super) fn pause_for(&mut self, ms: i64) {
        // Events that wait for the end of a pause keep their order: no pause ends sooner than planned.
        let until = self.now.plus_ms(ms).max(self.paused_until());
        self.me().paused_until = until;
        self.disturb(ms + AFTERWARDS_MS);
        self.troubled_for(ms);
    }

    pub(super) fn kill(&mut self) {
        if !self.server.up {
            return;
        }
        self.note("killed");
        let (now, node, at) = (self.now, self.me().node, self.at());
        let several = self.several.as_ref().unwrap();
        let was_calm = several.mended_at.plus_ms(AFTERWARDS_MS) < now;
        let shards = several.shards.owned(node);
        let mut others = (0..self.servers()).filter(|server| *server != at).filter_map(|server| self.of(server).member.as_ref());
        let ready = others.any(|member| several.shards.may_claim(member.node, now));
        self.troubled_for(0);
        if was_calm && ready {
            let trouble = self.several.as_ref().unwrap().troubles;
            self.among(TAKEN_OVER_MS, ClusterHappens::TakenOver { trouble, shards });
        }
        self.goes_down();
        let down_ms = if self.chance(0.7) { self.up_to(3_000) } else { self.up_to(20_000) };
        self.among(down_ms, ClusterHappens::Boot { server: at });
    }

    /// SIGTERM: the server transfers its shards, and exits when it owns none.
    pub(super) fn leave(&mut self) {
        let (now, frozen_until) = (self.now, self.several.as_ref().unwrap().frozen_until);
        if !self.server.up || self.paused_until() > now || frozen_until > now {
            return;
        }
        self.note("asked to leave");
        self.me().leaving = true;
        let node = self.me().node;
        self.several.as_mut().unwrap().shards.leave(node);
        self.troubled_for(AFTERWARDS_MS);
    }

    pub(super) fn has_left(&mut self) {
        let (now, node, server) = (self.now, self.me().node, self.at());
        self.several.as_mut().unwrap().shards.gone(node, now);
        self.note("has left");
        self.troubled_for(0);
        self.goes_down();
        let down_ms = self.up_to(5_000);
        self.among(down_ms, ClusterHappens::Boot { server });
    }

    /// The database answers no server.
    fn freeze(&mut self) {
        let longest_ms = if self.chance(0.5) { 1_000 } else { 6_000 };
        let ms = self.up_to(longest_ms);
        self.note("database frozen");
        let until = self.now.plus_ms(ms);
        let several = self.several.as_mut().unwrap();
        several.frozen_until = several.frozen_until.max(until);
        for server in 0..self.servers() {
            self.enter(server);
            self.disturb(ms + AFTERWARDS_MS);
        }
        self.troubled_for(ms);
    }

    fn lose_messages(&mut self) {
        let messages = std::mem::take(&mut self.several.as_mut().unwrap().shards.messages);
        let kept: Vec<_> = messages.into_iter().filter(|_| self.chance(0.5)).collect();
        self.note("messages of the table lost");
        self.several.as_mut().unwrap().shards.messages = kept;
    }

    /// The process ends; its clients connect to another one.
    fn goes_down(&mut self) {
        self.connections_break();
        let incarnation = self.server.incarnation;
        self.server = SimulatedServer { skew_ms: self.server.skew_ms, ..SimulatedServer::new(MACHINES) };
        for machine in 0..MACHINES {
            let link = &mut self.several.as_mut().unwrap().links[machine];
            if *link == Some(incarnation) {
                *link = None;
                let after_ms = self.up_to(LINK_WITHIN_MS);
                self.among(after_ms, ClusterHappens::Link { machine });
            }
        }
        for watcher in self.disconnect_watchers(incarnation) {
            let after_ms = self.up_to(WATCH_WITHIN_MS);
            self.among(after_ms, ClusterHappens::Watch { watcher });
        }
    }

    pub(super) fn boot_among(&mut self, server: usize) {
        self.enter(server);
        if self.server.up {
            return;
        }
        let now = self.now;
        let several = self.several.as_mut().unwrap();
        let joined = if several.frozen_until > now { None } else { several.shards.join(server, now) };
        let Some(node) = joined else { return self.among(JOIN_AGAIN_MS, ClusterHappens::Boot { server }) };
        several.incarnations += 1;
        several.mended_at = several.mended_at.max(now);
        let incarnation = several.incarnations;
        let member = Some(Member::new(node, now));
        self.server = SimulatedServer {
            up: true,
            incarnation,
            up_since: now,
            skew_ms: self.server.skew_ms,
            member,
            ..SimulatedServer::new(MACHINES)
        };
        self.member_begins();
    }

    /// Enters any server that accepts connections.
    pub(super) fn find_server(&mut self) -> bool {
        let now = self.now;
        let there = |server: &usize| self.of(*server).member.as_ref().is_some_and(|member| member.paused_until <= now);
        let there: Vec<usize> = (0..self.servers()).filter(there).collect();
        if there.is_empty() {
            return false;
        }
        let server = there[self.rng.random_range(0..there.len())];
        self.enter(server);
        true
    }

    pub(super) fn nobody_there(&mut self, again: ClusterHappens) {
        if self.is_busy() {
            self.among(NOBODY_THERE_MS, again);
        }
    }

    /// A device connects and sends its state report.
    pub(super) fn link(&mut self, machine: usize) {
        if !self.find_server() {
            return self.nobody_there(ClusterHappens::Link { machine });
        }
        let incarnation = self.server.incarnation;
        self.several.as_mut().unwrap().links[machine] = Some(incarnation);
        let now = self.now;
        self.halt.iter_mut().for_each(|halt| halt.links(machine, now));
        D::boot(self, machine, None);
    }

    /// Whether a command from this server reaches the device's connection.
    pub fn reaches(&mut self, machine: usize, op: Op) -> bool {
        if self.several.is_none() {
            return true;
        }
        assert!(self.server.owns(machine), "a machine that another server decides commands: {op:?}");
        self.note_commanded(machine, op);
        self.several.as_ref().unwrap().links[machine] == Some(self.server.incarnation)
    }

    /// No fault begins from now on; a pause that has begun comes to its end.
    pub fn peace_among(&mut self) {
        let now = self.now;
        let Some(several) = &mut self.several else { return };
        several.mended_at = several.mended_at.max(now);
        self.restore_notifications();
        self.among(LAST_EVERY_MS, ClusterHappens::Last);
    }

    /// When everything has been at rest twice in a row, or the time for that is over, each customer buys once more. The first time alone
    /// says nothing of a report that is on its way between two servers.
    pub(super) fn everybody_buys(&mut self) {
        let is_free =
            |machine: &MachineRow| machine.online && !machine.needs_staff && !machine.senses && machine.unpaid.is_none();
        let machines = self.store.machines.iter().all(is_free);
        let up = (0..self.servers()).all(|server| self.of(server).up);
        let rests =
            up && machines && self.store.open().next().is_none() && self.requests.iter().all(|request| request.answer.is_some());
        let (shared, reported) = (self.all_is_shared(), self.is_a_run_report_in_flight());
        let several = self.several.as_mut().unwrap();
        let rests = rests && several.silent.is_none() && shared && !reported;
        let rested = std::mem::replace(&mut several.rests, rests);
        if !(rests && rested) && several.peace_at.ms_until(self.now) < LAST_WITHIN_MS {
            return self.among(LAST_EVERY_MS, ClusterHappens::Last);
        }
        several.has_ended = true;
        for machine in 0..MACHINES {
            let after_ms = self.up_to(2_000);
            self.customer_tries(machine, after_ms);
        }
    }
}
