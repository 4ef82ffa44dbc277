//! What a device reports about itself, as `device::record` stores it.

use nyala_core::domain::id::PurchaseId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::{ReportedRun, StateReport};
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::times::{PROMPT_MS, SAVED_MS};
use uuid::Uuid;

use super::rows::{purchase_id, purchase_index};
use super::{Asked, COIN_MACHINE, PurchaseRow, SERVICES_S, Store};

/// Purchases in a row in which a machine has not run until it is closed.
const CLOSED_AT: usize = 3;

/// What a report has changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Recorded {
    /// A finished purchase runs again.
    pub again: bool,
    /// The purchase in which the machine is now known not to have run.
    pub never_ran: Option<PurchaseId>,
}

impl Store {
    /// `device::record`. `foreign`: no purchase of this machine has that run open.
    pub fn record(&mut self, machine: usize, report: StateReport, foreign: bool, now: Timestamp) -> Recorded {
        let StateReport { online, run, sensor } = report;
        let named = sensor.never_ran.and_then(|cmd| self.by_command(cmd));
        let never_ran = named.filter(|purchase| self.never_runs(machine, *purchase));
        let unpaid = run.filter(|run| foreign && !self.open().any(|(_, p)| p.order.machine == machine && p.cmd_id == run.cmd_id));
        let senses = if run.is_some_and(|run| run.added_s > 0) { Some(true) } else { sensor.runs };
        if let Some(paid) = run.filter(|_| !foreign) {
            self.senses(machine, paid.cmd_id, senses);
        }
        let again = unpaid.is_some_and(|run| self.runs_again(machine, run, senses, now));
        let m = &mut self.machines[machine];
        m.online = online;
        m.needs_staff &= !online || run.is_some();
        m.boot = run.and_then(|run| run.boot).or(m.boot);
        m.senses = sensor.runs == Some(true);
        if again || online && run.is_none() {
            m.unpaid = None;
        } else if let Some(run) = unpaid {
            m.unpaid = Some((run.cmd_id, run.ends_at));
        }
        let of = self.audit_unpaid(run.filter(|_| foreign).map(|run| run.cmd_id));
        let of = of.or_else(|| run.and_then(|run| self.by_command(run.cmd_id)));
        let done = Recorded { again, never_ran };
        self.journal.push(Asked::Record { machine, report, of, named, foreign, now, done });
        done
    }

    fn by_command(&self, cmd_id: Uuid) -> Option<PurchaseId> {
        self.purchases.iter().position(|p| p.cmd_id == cmd_id).map(purchase_id)
    }

    /// Stores that the machine has not run in that purchase; returns whether that was new. The third one in a row closes the machine.
    fn never_runs(&mut self, machine: usize, purchase: PurchaseId) -> bool {
        let p = &mut self.purchases[purchase_index(purchase)];
        let may = p.order.machine == machine && machine == COIN_MACHINE && !p.never_ran && p.sense != Some(true);
        if !may || !matches!(p.state, PurchaseState::Running | PurchaseState::Finished) {
            return false;
        }
        (p.never_ran, p.sense) = (true, Some(false));
        let (epoch, opened_at) = (p.epoch, self.machines[machine].opened_at);
        let before = self.purchases.iter().rev().filter(|p| p.order.machine == machine && p.epoch < epoch);
        let started = before.filter(|p| p.started_at.is_some_and(|at| opened_at.is_none_or(|opened_at| at > opened_at)));
        let in_a_row = 1 + started.take(CLOSED_AT - 1).filter(|p| p.never_ran).count();
        self.machines[machine].closed |= in_a_row == CLOSED_AT;
        true
    }

    /// What the sensor says of the open purchase that runs. Once the machine was seen running, that stands.
    fn senses(&mut self, machine: usize, cmd_id: Uuid, senses: Option<bool>) {
        let of_run = |p: &&mut PurchaseRow| p.order.machine == machine && p.cmd_id == cmd_id && p.state.open();
        let seen = self.purchases.iter_mut().find(of_run).filter(|p| machine == COIN_MACHINE && p.sense != Some(true));
        seen.into_iter().for_each(|p| p.sense = senses);
    }

    /// Whether the run is of a purchase that was finished by the clock, on a device that had lost power.
    fn runs_again(&mut self, machine: usize, run: ReportedRun, senses: Option<bool>, now: Timestamp) -> bool {
        let m = self.machines[machine];
        let Some(at) = self.purchases.iter().position(|p| p.cmd_id == run.cmd_id && p.order.machine == machine) else {
            return false;
        };
        let p = &self.purchases[at];
        let others = || self.purchases.iter().filter(|other| other.order.machine == machine);
        let newest = !others().any(|other| other.epoch > p.epoch && other.started_at.is_some());
        let free = !others().any(|other| other.state.open());
        let (Some(started_at), Some(ends_at)) = (p.started_at, p.ends_at) else { return false };
        let new_boot = match m.boot {
            Some(before) => run.boot.is_some_and(|now| now != before),
            None => run.before_boot.is_some_and(|last| last.plus_ms(PROMPT_MS) >= started_at),
        };
        if p.state != PurchaseState::Finished || !newest || !free || !new_boot && run.added_s <= p.added_s {
            return false;
        }
        let left_ms = run.before_boot.unwrap_or(started_at).ms_until(ends_at).max(0);
        let whole = now.plus_ms((i64::from(SERVICES_S[p.order.service]) + run.added_s) * 1000);
        let untold_ms = (run.added_s - p.added_s).max(0) * 1000;
        let ends_at = run.ends_at.min(whole).min(now.plus_ms(left_ms + untold_ms + SAVED_MS));
        if ends_at <= now {
            return false;
        }
        let p = &mut self.purchases[at];
        (p.state, p.ends_at, p.finished_at, p.moved) = (PurchaseState::Running, Some(ends_at), None, p.moved + 1);
        p.added_s = run.added_s;
        // SQL's OR: what is true stays true, and what is unknown makes the rest unknown.
        p.sense = match (senses, p.sense) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        };
        true
    }

    /// The part of `record` that has no fence: the audit of an unpaid run. Returns its purchase.
    pub fn audit_unpaid(&mut self, foreign: Option<Uuid>) -> Option<PurchaseId> {
        let foreign = foreign.and_then(|cmd| self.purchases.iter().position(|p| p.cmd_id == cmd)).map(purchase_id);
        if let Some(purchase) = foreign
            && matches!(self.purchase(purchase).state, PurchaseState::Refused | PurchaseState::Expired)
            && !self.unpaid_runs.contains(&purchase)
        {
            self.unpaid_runs.push(purchase);
        }
        foreign
    }
}
