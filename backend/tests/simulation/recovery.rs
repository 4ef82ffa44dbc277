//! Recovery of lost work: purchases past their deadline, messages that no actor received, machines that wait for staff.

use nyala_core::domain::timestamp::Timestamp;
use nyala_core::machine::Input;
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::times::GIVE_UP_MS;
use nyala_machines::recovery::{
    ASK_EVERY_ROUNDS, EVERY, LATE_MS, RESEND_AFTER_MS, RESEND_REMOTE_AFTER_MS, ROUNDS_A_SECOND, SAFETY_NET_EVERY,
    UNDECIDED_EVERY_ROUNDS,
};

use super::devices::Devices;
use super::store::{MachineRow, PurchaseRow, Store};
use super::world::{Happening, MACHINES, World};

impl<D: Devices> World<D> {
    pub fn reap(&mut self, round: u64) {
        let now = self.clock();
        let (every, rounds, after_ms) = match self.server.member {
            None => (EVERY, 1, RESEND_AFTER_MS),
            Some(_) => (SAFETY_NET_EVERY, ROUNDS_A_SECOND, RESEND_REMOTE_AFTER_MS),
        };
        if round.is_multiple_of(rounds) {
            self.look_again_where(|p| overdue(p, now));
        }
        let undecided_too = round.is_multiple_of(rounds * UNDECIDED_EVERY_ROUNDS);
        self.look_again_where(|p| relayed(p, after_ms, undecided_too, now));
        if undecided_too {
            let over = |m: &MachineRow| m.unpaid.is_some_and(|(_, ends_at)| ends_at <= now);
            self.ask_where(over);
        }
        if round.is_multiple_of(rounds * ASK_EVERY_ROUNDS) {
            self.ask_where(|m| m.needs_staff || m.senses);
        }
        // The history may end when nothing can happen any more.
        if self.is_busy() {
            let incarnation = self.server.incarnation;
            self.after(every.as_millis() as i64, Happening::Reap { incarnation, round: round + 1 });
        }
    }

    fn ask_where(&mut self, waits: impl Fn(&MachineRow) -> bool) {
        let waits = |m: &usize| waits(&self.store.machines[*m]) && self.server.owns(*m);
        for machine in (0..MACHINES).filter(waits).collect::<Vec<_>>() {
            self.send_input(machine, Input::QueryDevice);
        }
    }

    fn look_again_where(&mut self, due: impl Fn(&PurchaseRow) -> bool) {
        let due = |p: &PurchaseRow| self.server.owns(p.order.machine) && due(p);
        let machines: Vec<usize> = self.store.open().filter(|(_, p)| due(p)).map(|(_, p)| p.order.machine).collect();
        machines.into_iter().for_each(|machine| self.send_input(machine, Input::Reload));
    }
}

fn overdue(p: &PurchaseRow, now: Timestamp) -> bool {
    match p.state {
        PurchaseState::Running => p.ends_at.is_some_and(|at| at <= now.plus_ms(-LATE_MS)),
        PurchaseState::Held | PurchaseState::Sent => Store::exp(p) <= now.plus_ms(-LATE_MS),
        _ => p.created_at <= now.plus_ms(-LATE_MS - GIVE_UP_MS),
    }
}

/// Whether a purchase needs a resend. `after_ms`: the age of a start or a stop that no server seems to have taken up.
fn relayed(p: &PurchaseRow, after_ms: i64, undecided_too: bool, now: Timestamp) -> bool {
    let before = now.plus_ms(-after_ms);
    match p.state {
        PurchaseState::Held => p.created_at <= before,
        PurchaseState::Running => p.stop_requested_at.is_some_and(|at| at <= before),
        _ => undecided_too && p.created_at <= now.plus_ms(-RESEND_AFTER_MS),
    }
}
