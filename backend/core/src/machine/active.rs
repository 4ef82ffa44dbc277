//! The open purchase. Every event goes through `step`, one change at a time, and a change counts once it is committed.

use std::collections::VecDeque;

use super::{CycleNews, Effect, Machine, Outcome, Unanswered, Waiter};
use crate::domain::timestamp::Timestamp;
use crate::purchase::device::Command;
use crate::purchase::state::PurchaseState;
use crate::purchase::step::{self, Op, Purchase, PurchaseEvent};

/// Events of the device that may wait behind a commit.
const MAX_EVENTS: usize = 32;
/// Delay after which a remote cycle is finished here, so that its owner comes first.
const OVER_AFTER_MS: i64 = 150;
/// Time until the stored purchase is read again after the database failed.
pub(super) const LOAD_AFTER_MS: i64 = 500;

/// How far a purchase has come, so that an older reading of it is known as one: of the machine's purchases the later, of one purchase the
/// further state, of one run the end that was moved to a later time more often, and of those the sooner one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seen(i64, i32, u8, std::cmp::Reverse<Timestamp>);

impl Seen {
    /// Whether it is of the purchase `p`, which runs again since.
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

/// The open purchase and who waits for it.
#[derive(Debug)]
pub(super) struct Active<B, S> {
    pub(super) p: Purchase,
    pub(super) buyers: Vec<B>,
    pub(super) operators: Vec<S>,
    /// What holds once the change that is being committed is.
    pending: Option<Pending>,
    /// The result of a commit is unknown: nothing is done until the stored purchase is read.
    doubtful: bool,
    /// What waits behind either, and since when.
    events: VecDeque<(PurchaseEvent, Timestamp)>,
}

#[derive(Debug)]
struct Pending {
    next: Purchase,
    op: Option<Op>,
}

impl<B, S> Active<B, S> {
    pub(super) fn new(p: Purchase) -> Self {
        Self { p, buyers: Vec::new(), operators: Vec::new(), pending: None, doubtful: false, events: VecDeque::new() }
    }

    pub(super) fn is_committing(&self) -> bool {
        self.pending.is_some()
    }

    pub(super) fn wake_at(&self) -> Option<Timestamp> {
        if self.pending.is_some() || self.doubtful { None } else { step::wake_at(&self.p) }
    }

    /// When to finish a remote cycle here, because its owner may be dead.
    pub(super) fn over_at(&self) -> Option<Timestamp> {
        let runs = self.p.state == PurchaseState::Running && self.pending.is_none() && !self.doubtful;
        runs.then(|| self.p.ends_at.plus_ms(OVER_AFTER_MS))
    }
}

/// The outcome that a decided state is, for those who wait.
pub(super) fn outcome(state: PurchaseState) -> Option<Outcome> {
    match state {
        PurchaseState::Running | PurchaseState::Finished | PurchaseState::Stopped => Some(Outcome::Started),
        PurchaseState::Refused | PurchaseState::Expired => Some(Outcome::NotStarted),
        PurchaseState::Held | PurchaseState::Sent | PurchaseState::Unsure => None,
    }
}

impl<B: Waiter, S: Waiter> Active<B, S> {
    /// Whether anybody waits for what becomes of it.
    pub(super) fn is_awaited(&self) -> bool {
        self.buyers.iter().any(|buyer| !buyer.gone()) || self.operators.iter().any(|operator| !operator.gone())
    }
}

impl<B: Waiter, S: Waiter> Machine<B, S> {
    pub(super) fn feed(&mut self, event: PurchaseEvent, now: Timestamp) {
        let Some(active) = &mut self.active else { return };
        let finishes = || event == PurchaseEvent::Wake && active.over_at().is_some_and(|at| at <= now);
        if self.is_remote && !finishes() {
            return;
        }
        if active.pending.is_some() || active.doubtful {
            if active.events.len() < MAX_EVENTS {
                active.events.push_back((event, now));
            }
            return;
        }
        let step = step::step(&active.p, &event, now);
        match step.change {
            Some(change) => {
                active.pending = Some(Pending { next: step.next.clone(), op: step.op });
                self.out.push(Effect::Apply { next: step.next, change, cause: event, at: now });
            }
            None => {
                active.p = step.next;
                self.command(step.op);
            }
        }
    }

    fn command(&mut self, op: Option<Op>) {
        let (Some(op), Some(Active { p, .. })) = (op.filter(|_| !self.is_remote), &self.active) else { return };
        let cmd = Command {
            idmesin: self.idmesin,
            cmd_id: p.cmd_id,
            epoch: p.epoch,
            op,
            duration_s: p.duration_s,
            exp: p.exp(),
            held_here: p.exchange.first_sent.is_some(),
        };
        self.out.push(Effect::Command(cmd));
    }

    pub(super) fn applied(&mut self, result: Result<bool, Unanswered>, now: Timestamp) {
        let Some(Pending { next, op }) = self.active.as_mut().and_then(|a| a.pending.take()) else { return };
        match result {
            Ok(true) => {
                self.adopt(next, now);
                self.command(op);
                self.drain(now);
            }
            Ok(false) => {
                self.doubt();
                self.load();
            }
            Err(Unanswered) => {
                self.doubt();
                self.load_at = Some(now.plus_ms(LOAD_AFTER_MS));
            }
        }
    }

    fn adopt(&mut self, p: Purchase, now: Timestamp) {
        let Some(mut active) = self.active.take() else { return };
        self.over = Some(Seen::of(&p)).filter(|_| !p.state.open());
        self.learned += 1;
        let before = std::mem::replace(&mut active.p, p);
        let before = (before.state, before.ends_at);
        // The status comes before the answer: a phone that has just paid may look at the machine at once.
        self.announce(before, &active.p, now);
        if let Some(outcome) = outcome(active.p.state) {
            self.answer(std::mem::take(&mut active.buyers), outcome);
        }
        if !active.p.state.open() {
            let runs_on = active.p.state == PurchaseState::Finished && self.reports_run_after(active.p.cmd_id, now);
            // The staff flag may be new, and the purchase no longer explains the cycle: the device's next message counts even when it is unchanged.
            self.last_said = None;
            if runs_on {
                self.ask_device(now);
            }
        }
        if active.p.state.open() {
            self.active = Some(active);
        } else {
            self.ended(active.operators);
        }
        self.next_start(now);
    }

    fn doubt(&mut self) {
        self.learned += 1;
        if let Some(active) = &mut self.active {
            active.doubtful = true;
            active.events.clear();
        }
    }

    fn drain(&mut self, now: Timestamp) {
        while let Some(active) = &mut self.active
            && active.pending.is_none()
            && !active.doubtful
            && let Some((event, heard_at)) = active.events.pop_front()
        {
            self.feed(event.heard_before(heard_at.ms_until(now)), now);
        }
    }

    /// Replaces the known purchase by the stored one, and notifies all who wait for a decision.
    pub(super) fn take_over(&mut self, stored: Option<Purchase>, now: Timestamp) {
        let Some(mut known) = self.active.take() else {
            let again = stored.as_ref().filter(|p| self.over.is_some_and(|over| over.runs_again(p))).cloned();
            self.active = stored.map(Active::new);
            return match again {
                Some(p) => self.announce((PurchaseState::Finished, p.ends_at), &p, now),
                None => self.show(),
            };
        };
        let before = (known.p.state, known.p.ends_at);
        match stored {
            Some(p) if p.id == known.p.id => {
                known.p = p.reread(&known.p);
                known.doubtful = false;
                self.announce(before, &known.p, now);
                if let Some(outcome) = outcome(known.p.state) {
                    self.answer(std::mem::take(&mut known.buyers), outcome);
                }
                self.active = Some(known);
                self.drain(now);
            }
            other => {
                // It has ended; its waiters learn the outcome from the facts. For watchers the countdown is over now, even when the owner's clock is
                // a little ahead.
                if now.plus_ms(OVER_AFTER_MS) < known.p.ends_at {
                    known.p.ends_at = now;
                }
                known.p.state = if before.0 == PurchaseState::Running { PurchaseState::Finished } else { PurchaseState::Expired };
                self.over = Some(Seen::of(&known.p));
                self.announce(before, &known.p, now);
                self.answer(known.buyers, Outcome::ReadAgain);
                self.ended(known.operators);
                self.active = other.map(Active::new);
                self.show();
            }
        }
    }

    /// Writes the known cycle to the machine's status.
    fn show(&mut self) {
        self.out.push(Effect::Show { cycle: self.running().map(Purchase::cycle), news: None });
    }

    /// Writes the new cycle to the machine's status, and notifies watchers of a new state (docs/contract.md §3).
    fn announce(&mut self, before: (PurchaseState, Timestamp), p: &Purchase, now: Timestamp) {
        let cycle = (p.state == PurchaseState::Running).then(|| p.cycle());
        let news = match p.state {
            same if (same, p.ends_at) == before => None,
            PurchaseState::Running => (p.ends_at > now).then(|| CycleNews::Runs(p.cycle())),
            PurchaseState::Finished | PurchaseState::Stopped => Some(CycleNews::Over { ends_at: p.ends_at }),
            PurchaseState::Refused | PurchaseState::Expired => Some(CycleNews::GivenBack),
            PurchaseState::Held | PurchaseState::Sent | PurchaseState::Unsure => None,
        };
        self.out.push(Effect::Show { cycle, news });
    }

    fn ended(&mut self, operators: Vec<S>) {
        if !operators.is_empty() {
            self.out.push(Effect::Ended(operators));
        }
    }
}
