//! The open purchase: an event goes through `step`, its change is committed, and only then it is believed and told.

use actix::{ActorFutureExt, AsyncContext, Handler, WrapFuture};

use super::{Ctx, MachineActor, outcome};
use crate::domain::timestamp::Timestamp;
use crate::ledger::purchase as ledger;
use crate::machine::messages::{Applied, Await, Outcome, Stop};
use crate::purchase::fault;
use crate::purchase::state::PurchaseState;
use crate::purchase::step::{self, Change, Op, Purchase, PurchaseEvent};
use crate::purchase::times::MAX_WAITERS;

/// Events of the device that may wait behind a commit.
const MAX_EVENTS: usize = 32;

impl MachineActor {
    pub(super) fn feed(&mut self, event: PurchaseEvent, ctx: &mut Ctx) {
        let now = self.now();
        let Some(active) = &mut self.active else { return };
        if active.committing {
            if active.events.len() < MAX_EVENTS {
                active.events.push_back(event);
            }
            return;
        }
        let step = step::step(&active.p, &event, now);
        match step.change {
            Some(change) => {
                active.committing = true;
                self.commit(change, step.next, step.send, now, ctx);
            }
            None => {
                active.p = step.next;
                if let Some(op) = step.send {
                    self.send(op, ctx);
                }
                self.arm(ctx);
            }
        }
    }

    fn commit(&self, change: Change, next: Purchase, send: Option<Op>, now: Timestamp, ctx: &mut Ctx) {
        let (server, id, idmesin, state) = (self.state.clone(), next.id, self.location.idmesin, next.state);
        let (before, after) = edges(change);
        self.fault(before);
        let work = async move {
            let client = server.db.get().await?;
            let result = ledger::apply(&client, id, change, now).await;
            fault::point(&server.config.dev.fault_point, after);
            let receipt = result?;
            if let Some(receipt) = &receipt {
                log(receipt, idmesin, state);
            }
            Ok(receipt.is_some())
        };
        ctx.spawn(work.into_actor(self).map(move |result, _, ctx| ctx.notify(Applied { next, send, result })));
    }

    fn adopt(&mut self, p: Purchase, ctx: &mut Ctx) {
        let Some(mut active) = self.active.take() else { return };
        self.learned += 1;
        let before = std::mem::replace(&mut active.p, p).state;
        active.committing = false;
        // Before the answer: a phone that hears that it has paid may look at the machine at once.
        self.announce(before, &active.p);
        if let Some(outcome) = outcome(active.p.state) {
            active.answer(outcome);
        }
        if active.p.state == PurchaseState::Expired {
            // The staff flag may be new: the device's next word counts even when it is the old one.
            self.last_said = None;
        }
        if active.p.state.open() {
            self.active = Some(active);
        } else {
            active.stop_waiters.into_iter().for_each(|done| _ = done.send(()));
        }
        self.arm(ctx);
        self.next_start(ctx);
    }

    fn drain_events(&mut self, ctx: &mut Ctx) {
        while let Some(active) = &mut self.active
            && !active.committing
            && let Some(event) = active.events.pop_front()
        {
            self.feed(event, ctx);
        }
    }

    pub(super) fn is_committing(&self) -> bool {
        self.active.as_ref().is_some_and(|a| a.committing)
    }
}

/// What an operator looks for by the receipt number: how it was decided, and by debug all of it.
fn log(nota: &str, idmesin: i64, became: PurchaseState) {
    let state = became.as_str();
    match became {
        PurchaseState::Held | PurchaseState::Sent | PurchaseState::Finished => tracing::debug!(nota, idmesin, state, "purchase"),
        PurchaseState::Running | PurchaseState::Stopped | PurchaseState::Refused => {
            tracing::info!(nota, idmesin, state, "purchase");
        }
        PurchaseState::Unsure | PurchaseState::Expired => tracing::warn!(nota, idmesin, state, "purchase"),
    }
}

/// The fault points around a change.
const fn edges(change: Change) -> (&'static str, &'static str) {
    match change {
        Change::MarkSent => ("before_sent", "after_sent"),
        Change::MarkUnsure => ("before_unsure", "after_unsure"),
        Change::Run { .. } | Change::RunAndFinish { .. } => ("before_post", "after_post"),
        Change::Finish | Change::Sooner { .. } => ("before_finish", "after_finish"),
        Change::Stop { .. } => ("before_stop", "after_stop"),
        Change::Refuse | Change::Expire | Change::GiveUp => ("before_void", "after_void"),
    }
}

impl Handler<Applied> for MachineActor {
    type Result = ();

    fn handle(&mut self, done: Applied, ctx: &mut Ctx) {
        match done.result {
            Ok(true) => {
                self.state.metrics.purchase_became(done.next.state);
                self.adopt(done.next, ctx);
                if let Some(op) = done.send {
                    self.send(op, ctx);
                }
                self.drain_events(ctx);
            }
            Ok(false) => {
                self.doubt();
                self.reload(ctx);
            }
            Err(e) => {
                tracing::warn!(error = %e, "a change of a purchase was not confirmed");
                self.doubt();
                Self::reload_later(ctx);
            }
        }
    }
}

impl Handler<Await> for MachineActor {
    type Result = ();

    fn handle(&mut self, msg: Await, ctx: &mut Ctx) {
        match &mut self.active {
            Some(a) if a.p.id == msg.idtransaksi && a.p.state.undecided() => {
                a.waiters.retain(|waiter| !waiter.is_closed());
                if a.waiters.len() < MAX_WAITERS {
                    a.waiters.push(msg.waiter);
                } else {
                    let _ = msg.waiter.send(Outcome::Busy);
                }
            }
            Some(a) if a.p.id == msg.idtransaksi => {
                let _ = msg.waiter.send(outcome(a.p.state).unwrap_or(Outcome::ReadAgain));
            }
            _ => {
                let _ = msg.waiter.send(Outcome::ReadAgain);
                self.reload(ctx);
            }
        }
    }
}

impl Handler<Stop> for MachineActor {
    type Result = ();

    fn handle(&mut self, msg: Stop, ctx: &mut Ctx) {
        match &mut self.active {
            Some(a) if a.p.id == msg.idtransaksi && a.stop_waiters.len() < MAX_WAITERS => {
                a.stop_waiters.retain(|waiter| !waiter.is_closed());
                a.stop_waiters.push(msg.waiter);
                self.feed(PurchaseEvent::StopRequested, ctx);
            }
            // Its dropped answer tells the operator to ask again.
            _ => self.reload(ctx),
        }
    }
}
