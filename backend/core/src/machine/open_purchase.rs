//! The open purchase. Every event goes through `step`, one change at a time, and a change counts once it is committed.

use super::{CycleChange, Effect, Machine, Outcome, RELOAD_AFTER_MS, RequestId, Unanswered};
use crate::domain::timestamp::Timestamp;
use crate::purchase::device::{Command, Op};
use crate::purchase::state::PurchaseState;
use crate::purchase::step::{self, Purchase, PurchaseEvent};

/// Delay after which a remote cycle is finished here, so that its owner comes first.
const OVER_AFTER_MS: i64 = 150;

/// Progress of a machine's purchases, by which an older reading is recognized. A later purchase is greater; then a cycle whose end was moved to
/// a later time more often; then a further state; then a sooner end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PurchaseProgress(i64, i32, u8, std::cmp::Reverse<Timestamp>);

impl PurchaseProgress {
    /// Whether it belongs to the purchase `p`, which runs again since then.
    fn runs_again(&self, p: &Purchase) -> bool {
        self.0 == p.epoch && self.1 < p.moved
    }

    pub(super) fn of(p: &Purchase) -> Self {
        let rank = match p.state {
            PurchaseState::Held => 0,
            PurchaseState::Sent => 1,
            PurchaseState::Unsure => 2,
            PurchaseState::Running => 3,
            PurchaseState::Finished | PurchaseState::Stopped | PurchaseState::Refused | PurchaseState::Expired => 4,
        };
        Self(p.epoch, p.moved, rank, std::cmp::Reverse(p.ends_at))
    }
}

/// The open purchase, and the requests that wait for it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OpenPurchase {
    pub(super) p: Purchase,
    pub(super) buyers: Vec<RequestId>,
    pub(super) operators: Vec<RequestId>,
    /// The change that is being committed.
    pending: Option<Pending>,
    /// The result of a commit is unknown: nothing is done until the stored purchase is read.
    unconfirmed: bool,
}

/// `next` holds once the change is committed; then `op` is sent.
#[derive(Debug, Clone, PartialEq)]
struct Pending {
    next: Purchase,
    op: Option<Op>,
}

impl OpenPurchase {
    pub(super) fn new(p: Purchase) -> Self {
        Self { p, buyers: Vec::new(), operators: Vec::new(), pending: None, unconfirmed: false }
    }

    pub(super) fn is_committing(&self) -> bool {
        self.pending.is_some()
    }

    /// Whether a commit is under way, or its result is unknown.
    pub(super) fn is_unsettled(&self) -> bool {
        self.pending.is_some() || self.unconfirmed
    }

    /// Whether a request waits for what becomes of it.
    pub(super) fn is_awaited(&self) -> bool {
        !self.buyers.is_empty() || !self.operators.is_empty()
    }

    pub(super) fn wake_at(&self) -> Option<Timestamp> {
        if self.is_unsettled() { None } else { step::wake_at(&self.p) }
    }

    /// When to finish a remote cycle here, because its owner may be dead.
    pub(super) fn over_at(&self) -> Option<Timestamp> {
        let runs = self.p.state == PurchaseState::Running && !self.is_unsettled();
        runs.then(|| self.p.ends_at.plus_ms(OVER_AFTER_MS))
    }
}

/// Outcome for the requests that wait, once the state is decided.
pub(super) fn outcome(state: PurchaseState) -> Option<Outcome> {
    match state {
        PurchaseState::Running | PurchaseState::Finished | PurchaseState::Stopped => Some(Outcome::Started),
        PurchaseState::Refused | PurchaseState::Expired => Some(Outcome::NotStarted),
        PurchaseState::Held | PurchaseState::Sent | PurchaseState::Unsure => None,
    }
}

impl Machine {
    pub(super) fn apply_event(&mut self, event: PurchaseEvent, now: Timestamp) {
        let Some(open) = self.open.as_mut().filter(|open| !open.is_unsettled()) else { return };
        let finishes = || event == PurchaseEvent::Wake && open.over_at().is_some_and(|at| at <= now);
        if self.is_remote && !finishes() {
            return;
        }
        let step = step::step(&open.p, &event, now);
        match step.change {
            Some(change) => {
                open.pending = Some(Pending { next: step.next.clone(), op: step.op });
                self.out.push(Effect::Apply { next: step.next, change, cause: event, at: now });
            }
            None => {
                open.p = step.next;
                self.command(step.op);
            }
        }
    }

    fn command(&mut self, op: Option<Op>) {
        let (Some(op), Some(OpenPurchase { p, .. })) = (op.filter(|_| !self.is_remote), &self.open) else { return };
        let cmd = Command { held_here: p.exchange.first_sent.is_some(), ..p.command(self.idmesin, op) };
        self.out.push(Effect::Command(cmd));
    }

    pub(super) fn applied(&mut self, result: Result<bool, Unanswered>, now: Timestamp) {
        let Some(Pending { next, op }) = self.open.as_mut().and_then(|open| open.pending.take()) else { return };
        match result {
            Ok(true) => {
                self.commit(next, now);
                self.command(op);
                self.take_deferred(now);
            }
            Ok(false) => {
                self.invalidate();
                self.load();
            }
            Err(Unanswered) => {
                self.invalidate();
                self.load_at = Some(now.plus_ms(RELOAD_AFTER_MS));
            }
        }
    }

    fn commit(&mut self, p: Purchase, now: Timestamp) {
        let Some(mut open) = self.open.take() else { return };
        self.ended = Some(PurchaseProgress::of(&p)).filter(|_| !p.state.open());
        self.learned += 1;
        let before = std::mem::replace(&mut open.p, p);
        let before = (before.state, before.ends_at);
        // The status comes before the answer: a phone that has just paid may look at the machine at once.
        self.announce(before, &open.p, now);
        if let Some(outcome) = outcome(open.p.state) {
            self.answer(std::mem::take(&mut open.buyers), outcome);
        }
        if !open.p.state.open() {
            self.forget_reports_of(&open.p, now);
        }
        if open.p.state.open() {
            self.open = Some(open);
        } else {
            self.answer(open.operators, Outcome::Ended);
        }
        self.next_start(now);
    }

    fn invalidate(&mut self) {
        self.learned += 1;
        if let Some(open) = &mut self.open {
            open.unconfirmed = true;
        }
    }

    /// Replaces the known purchase by the stored one, and notifies all who wait for a decision.
    pub(super) fn adopt_stored(&mut self, stored: Option<Purchase>, now: Timestamp) {
        let Some(mut known) = self.open.take() else {
            let again = stored.as_ref().filter(|p| self.ended.is_some_and(|over| over.runs_again(p))).cloned();
            self.open = stored.map(OpenPurchase::new);
            return match again {
                Some(p) => self.announce((PurchaseState::Finished, p.ends_at), &p, now),
                None => self.show(),
            };
        };
        let before = (known.p.state, known.p.ends_at);
        match stored {
            Some(p) if p.id == known.p.id => {
                known.p = p.reread(&known.p);
                let was_lost = std::mem::take(&mut known.unconfirmed) && known.p.state == PurchaseState::Running;
                self.announce(before, &known.p, now);
                if let Some(outcome) = outcome(known.p.state) {
                    self.answer(std::mem::take(&mut known.buyers), outcome);
                }
                self.open = Some(known);
                if was_lost && !self.is_remote {
                    // The report from which the lost change was made does not come again by itself.
                    self.query_device(now);
                }
            }
            other => {
                // It has ended; its waiters learn the outcome from the facts. For watchers the countdown is over now, even when the owner's clock is
                // a little ahead.
                if now.plus_ms(OVER_AFTER_MS) < known.p.ends_at {
                    known.p.ends_at = now;
                }
                known.p.state = if before.0 == PurchaseState::Running { PurchaseState::Finished } else { PurchaseState::Expired };
                self.ended = Some(PurchaseProgress::of(&known.p));
                self.forget_reports_of(&known.p, now);
                self.announce(before, &known.p, now);
                self.answer(known.buyers, Outcome::ReadAgain);
                self.answer(known.operators, Outcome::Ended);
                self.open = other.map(OpenPurchase::new);
                self.show();
            }
        }
    }

    /// Writes the known cycle to the machine's status.
    fn show(&mut self) {
        self.out.push(Effect::Show { cycle: self.running().map(Purchase::cycle), change: None });
    }

    /// Writes the new cycle to the machine's status, and notifies watchers of a new state (docs/contract.md §3).
    fn announce(&mut self, before: (PurchaseState, Timestamp), p: &Purchase, now: Timestamp) {
        let cycle = (p.state == PurchaseState::Running).then(|| p.cycle());
        let change = match p.state {
            same if (same, p.ends_at) == before => None,
            PurchaseState::Running => (p.ends_at > now).then(|| CycleChange::Runs(p.cycle())),
            PurchaseState::Finished | PurchaseState::Stopped => Some(CycleChange::Over { ends_at: p.ends_at }),
            PurchaseState::Refused | PurchaseState::Expired => Some(CycleChange::Voided),
            PurchaseState::Held | PurchaseState::Sent | PurchaseState::Unsure => None,
        };
        self.out.push(Effect::Show { cycle, change });
    }
}
