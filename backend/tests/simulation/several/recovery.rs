//! Machines that a server acquires, and machines of other servers that it shows, as `machine::recovery` reads both.

use nyala_core::domain::shard::Shard;
use nyala_core::machine::Input;
use nyala_core::purchase::step::Purchase;
use nyala_machines::recovery::{MIRROR_EVERY, SAFETY_NET_EVERY};

use super::super::devices::Devices;
use super::super::server::idmesin;
use super::super::world::{MACHINES, World};
use super::happens::{ClusterHappens, Look};
use super::outlet;

impl<D: Devices> World<D> {
    pub(super) fn resumes(&mut self, shards: Vec<Shard>) {
        let incarnation = self.server.incarnation;
        if self.fails() {
            return self
                .among(i64::try_from(SAFETY_NET_EVERY.as_millis()).unwrap(), ClusterHappens::Resume { incarnation, shards });
        }
        let own = |machine: usize| shards.contains(&Shard::of(outlet(machine)));
        let open = (0..MACHINES).filter(|m| own(*m)).filter_map(|m| self.store.load(m).map(|p| (m, p))).collect();
        let after_ms = self.lookup_ms();
        self.among(after_ms, ClusterHappens::Resumed { incarnation, open });
    }

    pub(super) fn resumed(&mut self, open: Vec<(usize, Purchase)>) {
        for (machine, p) in open {
            if self.server.actors[machine].present {
                self.send_input(machine, Input::Reload);
            } else {
                self.note("taken over");
                self.bring_back(machine, p);
            }
        }
    }

    pub(super) fn mirrors(&mut self, look: Look) {
        let incarnation = self.server.incarnation;
        if look == Look::Round {
            self.idle_ones_leave();
            self.again(MIRROR_EVERY.as_millis(), ClusterHappens::Mirror { incarnation, look });
        }
        let meant = |m: &usize| if let Look::At(machine) = look { *m == machine } else { true };
        let foreign = |m: &usize| meant(m) && self.server.actors[*m].present && !self.server.owns(*m);
        let foreign: Vec<usize> = (0..MACHINES).filter(foreign).collect();
        if !foreign.is_empty() && !self.fails() {
            let stored = foreign.into_iter().map(|machine| (machine, self.store.load(machine))).collect();
            let after_ms = if self.troubled && self.chance(0.02) { self.up_to(4_000) } else { self.up_to(20) };
            self.among(after_ms, ClusterHappens::Mirrored { incarnation, stored });
        }
    }

    pub(super) fn mirrored(&mut self, stored: Vec<(usize, Option<Purchase>)>) {
        for (machine, stored) in stored {
            if self.server.actors[machine].present {
                self.send_input(machine, Input::Stored(stored));
            }
        }
    }

    /// At times an actor that has nothing to do leaves memory, unless a customer watches it.
    fn idle_ones_leave(&mut self) {
        for machine in 0..MACHINES {
            self.forget_gone(machine);
            let idle = self.server.actors[machine].present && self.server.actors[machine].machine.is_idle();
            if idle && !self.is_watched(machine) && self.chance(0.1) {
                self.server.actors[machine].leaves(idmesin(machine));
            }
        }
    }
}
