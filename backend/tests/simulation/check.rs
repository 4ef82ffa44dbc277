//! Invariants that must hold in every history, whatever failed in it.

use std::collections::HashMap;

use nyala_core::domain::id::PurchaseId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::AckResult;
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::step::{Change, Purchase, PurchaseEvent};
use nyala_core::purchase::times::GIVE_UP_MS;
use uuid::Uuid;

use super::customer::CustomerAnswer;
use super::devices::{Devices, Run};
use super::store::{Kind, PRICE, PurchaseRow};
use super::world::{CUSTOMERS, MACHINES, World};

/// Extra time that recovery may take, in addition to the times of the rules.
const SLACK_MS: i64 = 60_000;
/// Largest allowed difference between the shown countdown and the device's own, without the transit time of the message.
const COUNTDOWN_MS: i64 = 1_000;

/// Minimum time of querying a device and waiting for its answer before a purchase is given up.
const PATIENCE_MS: i64 = 3_000;

/// Events that each run of the histories must have met at least once.
pub const WORTH: [&str; 23] = [
    "crash",
    "answer of the database lost",
    "statement of a dead process",
    "marked as sent",
    "marked as unsure",
    "started",
    "started, time left reported",
    "started, time left never reported",
    "already over",
    "sooner over than thought",
    "finished",
    "stopped",
    "refused",
    "expired",
    "given up",
    "unpaid run found",
    "power lost in the pulses",
    "closed by the server",
    "machine runs by coins",
    "end seen by its sensor",
    "end moved by its sensor",
    "never ran",
    "did not run three times",
];

/// The name under which the histories count a decision.
pub fn name(change: Change, event: &PurchaseEvent) -> &'static str {
    match (change, event) {
        (Change::MarkSent, _) => "marked as sent",
        (Change::MarkUnsure, _) => "marked as unsure",
        (Change::Run { .. }, PurchaseEvent::Ack { .. }) => "started",
        (Change::Run { .. }, PurchaseEvent::Runs(_)) => "started, time left reported",
        (Change::Run { .. }, _) => "started, time left never reported",
        (Change::RunAndFinish { .. }, _) => "already over",
        (Change::Sooner { .. }, _) => "sooner over than thought",
        (Change::Later { .. }, _) => "later over than thought",
        (Change::Finish, _) => "finished",
        (Change::Stop { .. }, _) => "stopped",
        (Change::Refuse, _) => "refused",
        (Change::Cut, _) => "power lost in the pulses",
        (Change::Expire, _) => "expired",
        (Change::GiveUp, _) => "given up",
    }
}

impl<D: Devices> World<D> {
    /// Checks after every step that no purchase waits longer than the rules allow.
    pub fn check_step(&mut self) {
        if !self.server.up {
            return;
        }
        let (now, up) = (self.now, self.mended_at());
        for (id, p) in self.store.open() {
            let (by, what) = match p.state {
                PurchaseState::Running => (p.ends_at.unwrap(), "to end"),
                _ => (p.created_at.plus_ms(GIVE_UP_MS), "to be decided"),
            };
            assert!(now <= by.max(up).plus_ms(SLACK_MS), "purchase {id} ought {what} by now: {p:?}");
        }
    }

    /// Checks a change that the server is about to commit against what the device really did. `sent_at`: when the device sent the message
    /// behind it.
    pub fn check_change(&mut self, machine: usize, next: &Purchase, change: Change, event: &PurchaseEvent, sent_at: Timestamp) {
        self.note(name(change, event));
        match change {
            Change::Run { ends_at, .. } | Change::Sooner { ends_at, .. } => {
                // A guess comes from no message, and an ack of a finished cycle carries no start time.
                let guess = matches!(event, PurchaseEvent::Wake | PurchaseEvent::Ack { result: AckResult::Done, .. });
                let has_moved = self.run_of(machine, next.cmd_id).is_some_and(|run| run.moved_at.is_some());
                // No ack says what the sensor has added.
                if !has_moved || !matches!(event, PurchaseEvent::Ack { .. }) {
                    self.check_countdown(machine, next, ends_at, (!guess).then_some(sent_at));
                }
            }
            Change::RunAndFinish { .. } => {
                assert!(self.run_of(machine, next.cmd_id).is_some(), "nobody pays for a run that never began");
            }
            Change::Later { ends_at, added_s } => {
                let (left_ms, most_ms) = (self.clock().ms_until(ends_at), (next.duration_s + added_s) * 1_000);
                assert!(left_ms <= most_ms, "a run that has more than all of it before it: {left_ms} of {most_ms} ms");
                let run = self.run_of(machine, next.cmd_id).expect("nobody pays for a run that never began");
                // After a crash the stored boot may be that of an earlier run: it looks as if the power had been away.
                let stored = self.store.machines[machine].boot;
                let looks_like_a_boot = matches!(event, PurchaseEvent::Runs(reported) if reported.boot != stored);
                let is_known = run.cut || run.forgotten || run.moved_at.is_some() || looks_like_a_boot;
                assert!(is_known, "only a power cut and the sensor make an end later");
                if run.forgotten || run.has_moved_since(D::sent_at(sent_at)) {
                    return;
                }
                let early_ms = ends_at.ms_until(run.ends_at);
                let exact_ms = COUNTDOWN_MS + self.clock_error_ms();
                assert!(early_ms <= exact_ms, "the machine would be sold {early_ms} ms before it is free");
            }
            Change::GiveUp => {
                let (asked_ms, age_ms) = (self.server.up_since.ms_until(self.now), next.created_at.ms_until(self.clock()));
                assert!(age_ms >= GIVE_UP_MS && asked_ms >= PATIENCE_MS, "given up after asking for {asked_ms} ms");
                let silent_ms = self.server.received.get(&next.cmd_id).map_or(i64::MAX, |at| at.ms_until(self.clock()));
                assert!(silent_ms >= PATIENCE_MS, "given up though the device spoke {silent_ms} ms ago");
            }
            _ => {}
        }
    }

    fn check_countdown(&self, machine: usize, p: &Purchase, ends_at: Timestamp, sent_at: Option<Timestamp>) {
        let run = self.run_of(machine, p.cmd_id).expect("nobody pays for a run that never began");
        if run.forgotten || run.cut || run.has_moved_since(sent_at.and_then(D::sent_at)) {
            return;
        }
        let late_ms = run.ends_at.ms_until(ends_at);
        let exact_ms = COUNTDOWN_MS + self.clock_error_ms();
        assert!(late_ms >= -exact_ms, "the machine would be sold {late_ms} ms before it is free");
        if let Some(sent_at) = sent_at {
            let latency_ms = D::late_ms(self, machine, sent_at);
            assert!(late_ms <= exact_ms + latency_ms, "the countdown is {late_ms} ms late, its word {latency_ms} ms old");
        }
    }

    /// The run that the device really made for a command.
    pub fn run_of(&self, machine: usize, cmd_id: Uuid) -> Option<&Run> {
        self.devices.runs(machine).iter().rev().find(|r| r.cmd_id == cmd_id)
    }

    /// Checks after the history has come to rest.
    pub fn check_end(&mut self) {
        (0..self.store.unpaid_runs.len()).for_each(|_| self.note("unpaid run found"));
        assert!(self.server.up, "the server is up in the end");
        assert_eq!(self.store.open().count(), 0, "no machine is held for ever");
        assert!(
            self.store.machines.iter().all(|m| m.online && !m.needs_staff && !m.closed && m.unpaid.is_none()),
            "every machine is for sale: {:?}",
            self.store.machines
        );
        let stopped = self.store.purchases.iter().filter(|p| p.stop_requested_at.is_some());
        stopped.for_each(|p| assert!(p.ends_at.is_some(), "a stop of what never ran: {p:?}"));
        for machine in 0..MACHINES {
            for run in self.devices.runs(machine) {
                let paid = self.store.purchases.iter().find(|p| p.cmd_id == run.cmd_id && p.order.machine == machine);
                self.check_run_is_paid(paid.expect("a device runs only what was bought"), run.forgotten);
            }
        }
        for machine in 0..MACHINES {
            self.forget_gone(machine);
            let waiting = &self.server.actors[machine].waiting;
            assert!(waiting.is_empty(), "requests that never got an answer: {waiting:?}");
        }
        self.check_money();
        self.check_customers();
        self.check_several();
        D::check_end(self);
    }

    /// No machine ran unpaid, unless its device was silent for fifteen minutes or lost its memory.
    fn check_run_is_paid(&self, p: &PurchaseRow, forgotten: bool) {
        let paid = matches!(p.state, PurchaseState::Finished | PurchaseState::Stopped);
        assert!(paid || p.gave_up || forgotten, "ran unpaid: {p:?}");
    }

    fn check_money(&self) {
        let store = &self.store;
        for (customer, wallet) in store.wallets.iter().enumerate() {
            let sum = |kinds: &[Kind]| -> i64 {
                store.ledger.iter().filter(|m| m.customer == customer && kinds.contains(&m.kind)).map(|m| m.amount).sum()
            };
            let pending = sum(&[Kind::Pending]) - sum(&[Kind::Post, Kind::Void]);
            let stored = (wallet.credits, wallet.debits, wallet.pending);
            assert_eq!(stored, (sum(&[Kind::Topup, Kind::Refund]), sum(&[Kind::Post]), pending), "the ledger is the balance");
            assert!(wallet.balance() >= 0 && pending == 0, "nothing is held, nothing is owed: {wallet:?}");
        }
        for (i, p) in store.purchases.iter().enumerate() {
            let id = i64::try_from(i).unwrap() + 1;
            let count = |kind| store.ledger.iter().filter(|m| m.purchase == Some(PurchaseId::new(id)) && m.kind == kind).count();
            let ran = matches!(p.state, PurchaseState::Finished | PurchaseState::Stopped);
            assert_eq!(
                (count(Kind::Pending), count(Kind::Post), count(Kind::Void)),
                (1, usize::from(ran), usize::from(!ran)),
                "{p:?}"
            );
            assert!((0..=PRICE).contains(&p.refunded), "{p:?}");
            let run = self.run_of(p.order.machine, p.cmd_id);
            assert!(!ran || run.is_some(), "nobody pays for a run that never began: {p:?}");
        }
    }

    /// Every answer that customers received was true, and stayed true.
    fn check_customers(&self) {
        let mut receipts: HashMap<(usize, u32), u32> = HashMap::new();
        for p in &self.store.purchases {
            *receipts.entry((p.order.customer, p.order.receipt)).or_default() += 1;
        }
        assert!(receipts.values().all(|n| *n == 1), "one receipt is one purchase");
        for r in &self.requests {
            let bought = self.store.purchases.iter().find(|p| p.order == r.order);
            match r.answer {
                None => panic!("a request was never answered: {r:?}"),
                Some(CustomerAnswer::Runs) => {
                    let kept = bought.is_some_and(|p| matches!(p.state, PurchaseState::Finished | PurchaseState::Stopped));
                    assert!(kept, "told 200: {r:?}, {bought:?}");
                }
                Some(CustomerAnswer::DidNotStart) => {
                    let back = bought.is_some_and(|p| matches!(p.state, PurchaseState::Refused | PurchaseState::Expired));
                    assert!(back, "told that the money is back: {r:?}, {bought:?}");
                }
                Some(CustomerAnswer::Refused(_)) => assert!(bought.is_none(), "told a refusal, yet bought: {r:?}, {bought:?}"),
                Some(CustomerAnswer::Unknown) => {}
            }
            if r.order.customer == CUSTOMERS {
                // A device that lost its memory may still run a command that it refused before. Its earlier refusal may arrive after
                // that.
                let taken = bought.is_some_and(|p| {
                    let mut runs = self.devices.runs(r.order.machine).iter();
                    runs.any(|run| run.cmd_id != p.cmd_id && run.ends_at > p.created_at)
                });
                let fine = r.answer == Some(CustomerAnswer::Runs) || taken && r.answer == Some(CustomerAnswer::DidNotStart);
                assert!(fine, "in the end everybody can buy again: {r:?}");
            }
        }
    }
}
