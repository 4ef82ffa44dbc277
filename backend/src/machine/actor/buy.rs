//! Buying: one start at a time commits its hold; the rest wait their turn or hear that the machine is in use.

use actix::{ActorFutureExt, AsyncContext, Handler, WrapFuture};

use super::{Active, Ctx, MachineActor};
use crate::ledger::purchase::{self as ledger, Held};
use crate::machine::messages::{HoldDone, Outcome, Start};
use crate::purchase::rules::Refusal;
use crate::purchase::step::{self, PurchaseEvent};
use crate::purchase::times::{MAX_WAITERS, MAX_WAITING_STARTS};

impl MachineActor {
    fn begin_hold(&mut self, start: Start, ctx: &mut Ctx) {
        let (state, now) = (self.state.clone(), self.now());
        let (order, machine, service) = (start.order.clone(), start.machine.clone(), start.service.clone());
        self.hold = Some(start);
        self.fault("before_hold");
        let work = async move {
            let client = state.db.get().await?;
            ledger::hold(&client, &order, &machine, &service, now).await
        };
        ctx.spawn(work.into_actor(self).map(move |result, _, ctx| ctx.notify(HoldDone { result, now })));
    }

    /// Lets the next waiting start try, or tells everybody that the machine is in use.
    pub(super) fn next_start(&mut self, ctx: &mut Ctx) {
        if self.hold.is_some() || self.loading || self.active.as_ref().is_some_and(|a| a.committing) {
            return;
        }
        if self.active.is_some() {
            for start in self.queue.drain(..) {
                start.answer(Outcome::Refused(Refusal::MachineBusy));
            }
            return;
        }
        while let Some(start) = self.queue.pop_front() {
            if start.is_awaited() {
                return self.begin_hold(start, ctx);
            }
        }
    }
}

impl Handler<Start> for MachineActor {
    type Result = ();

    fn handle(&mut self, start: Start, ctx: &mut Ctx) {
        // A receipt sent many times at once is one purchase: its repeats wait with the first.
        if let Some(first) = self.hold.iter_mut().chain(&mut self.queue).find(|s| s.order == start.order) {
            first.waiter.retain(|waiter| !waiter.is_closed());
            if first.waiter.len() < MAX_WAITERS {
                first.waiter.extend(start.waiter);
            } else {
                start.answer(Outcome::Busy);
            }
            return;
        }
        if self.queue.len() >= MAX_WAITING_STARTS {
            return start.answer(Outcome::Refused(Refusal::MachineBusy));
        }
        self.queue.push_back(start);
        self.next_start(ctx);
    }
}

impl Handler<HoldDone> for MachineActor {
    type Result = ();

    fn handle(&mut self, done: HoldDone, ctx: &mut Ctx) {
        let Some(start) = self.hold.take() else { return };
        match done.result {
            Ok(Held::Won { idtransaksi, cmd_id, epoch }) => {
                self.fault("after_hold");
                let duration_s = i64::from(start.service.duration_s);
                let mut active = Active::new(step::first(idtransaksi, cmd_id, epoch, duration_s, done.now, self.now()));
                active.waiters = start.waiter;
                self.learned += 1;
                self.active = Some(active);
                self.feed(PurchaseEvent::Wake, ctx);
            }
            Ok(Held::Lost(refusal)) => {
                start.answer(Outcome::Refused(refusal));
                if refusal == Refusal::MachineBusy {
                    // Somebody holds it that this actor does not know of.
                    self.reload(ctx);
                }
            }
            Ok(Held::Changed) => start.answer(Outcome::ReadAgain),
            Err(e) => {
                // The commit may have happened although its answer was lost; the stored state knows.
                tracing::warn!(error = %e, "a hold was not confirmed");
                start.answer(Outcome::Busy);
                self.reload(ctx);
            }
        }
        self.next_start(ctx);
    }
}
