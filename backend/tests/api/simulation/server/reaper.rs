//! What was lost is found: purchases whose deadline is past, messages that nobody took, machines that wait for staff.

use nyala::domain::timestamp::Timestamp;
use nyala::machine::device::Command;
use nyala::purchase::state::PurchaseState;
use nyala::purchase::step::{self, Op, PurchaseEvent};
use nyala::purchase::times::GIVE_UP_MS;
use uuid::Uuid;

use super::super::store::{PurchaseRow, Store};
use super::super::world::{Happening, MACHINES, World};

const REAP_EVERY_MS: i64 = 1_000;
const LATE_MS: i64 = 1_000;
const RELAY_AFTER_MS: i64 = 2_000;
const ASK_EVERY_ROUNDS: u32 = 15;

impl World {
    pub fn reap(&mut self, round: u32) {
        let now = self.now;
        let overdue: Vec<usize> = self.store.open().filter(|(_, p)| overdue(p, now)).map(|(_, p)| p.order.machine).collect();
        overdue.into_iter().for_each(|machine| self.look_again(machine));
        let mut due = Vec::new();
        for row in &mut self.store.outbox {
            if row.available_at <= now.plus_ms(-RELAY_AFTER_MS) {
                row.available_at = now.plus_ms(RELAY_AFTER_MS);
                due.push(row.purchase);
            }
        }
        for purchase in due {
            let machine = self.store.purchase(purchase).order.machine;
            self.look_again(machine);
        }
        if round.is_multiple_of(ASK_EVERY_ROUNDS) {
            for machine in (0..MACHINES).filter(|m| self.store.machines[*m].needs_staff).collect::<Vec<_>>() {
                self.server.actors[machine].last_said = None;
                let idmesin = i64::try_from(machine).unwrap() + 1;
                self.send(Command { idmesin, cmd_id: Uuid::nil(), epoch: 0, op: Op::Query, duration_s: 0, exp: now });
            }
        }
        // When nothing can come any more, the history may end.
        let busy = self.troubled || self.store.open().next().is_some() || self.requests.iter().any(|r| r.told.is_none());
        if busy || self.store.machines.iter().any(|m| m.needs_staff) {
            let life = self.server.life;
            self.after(REAP_EVERY_MS, Happening::Reap { life, round: round + 1 });
        }
    }

    /// `Reload`.
    fn look_again(&mut self, machine: usize) {
        match &self.server.actors[machine].active {
            Some(a) if a.committing => {}
            Some(a) if step::wake_at(&a.p).is_some_and(|at| at <= self.now) => self.feed(machine, PurchaseEvent::Wake, self.now),
            _ => self.reload(machine),
        }
    }
}

fn overdue(p: &PurchaseRow, now: Timestamp) -> bool {
    match p.state {
        PurchaseState::Running => p.ends_at.is_some_and(|at| at <= now.plus_ms(-LATE_MS)),
        PurchaseState::Held | PurchaseState::Sent => Store::exp(p) <= now.plus_ms(-LATE_MS),
        _ => p.created_at <= now.plus_ms(-LATE_MS - GIVE_UP_MS),
    }
}
