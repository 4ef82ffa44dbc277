//! Reading the stored purchase again, when a commit's answer was lost or somebody else changed it.

use std::time::Duration;

use actix::{ActorFutureExt, AsyncContext, Handler, WrapFuture};

use super::{Active, Ctx, MachineActor, outcome};
use crate::http::error::AppError;
use crate::machine::messages::{Loaded, Outcome, Reload};
use crate::purchase::facts;
use crate::purchase::state::PurchaseState;
use crate::purchase::step::{self, Purchase, PurchaseEvent};

/// After the database failed, how long until the stored state is read again.
const RELOAD_AFTER: Duration = Duration::from_millis(500);

impl MachineActor {
    pub(super) fn reload(&mut self, ctx: &mut Ctx) {
        if self.loading || self.hold.is_some() || self.is_committing() {
            return;
        }
        self.loading = true;
        let (state, idmesin, learned) = (self.state.clone(), self.location.idmesin, self.learned);
        let work = async move {
            let client = state.db.get().await?;
            facts::open_at(&client, idmesin).await
        };
        ctx.spawn(work.into_actor(self).map(move |result, _, ctx| ctx.notify(Loaded { learned, result })));
    }

    pub(super) fn reload_later(ctx: &mut Ctx) {
        ctx.run_later(RELOAD_AFTER, |actor, ctx| actor.reload(ctx));
    }

    /// A commit did not say what became of it: nothing is done until the stored state is read.
    pub(super) fn doubt(&mut self) {
        self.learned += 1;
        if let Some(active) = &mut self.active {
            active.committing = false;
            active.events.clear();
        }
    }

    /// What is stored takes the place of what was known; whatever that decides is told.
    fn take_over(&mut self, stored: Option<Purchase>) {
        let Some(mut known) = self.active.take() else {
            self.active = stored.map(Active::new);
            return;
        };
        let before = known.p.state;
        match stored {
            Some(p) if p.id == known.p.id => {
                known.p = p.reread(&known.p);
                known.events.clear();
                self.announce(before, &known.p);
                if let Some(outcome) = outcome(known.p.state) {
                    known.answer(outcome);
                }
                self.active = Some(known);
            }
            other => {
                // It has ended, and the facts tell its waiters how; for those who watch, the countdown is over.
                known.p.state = if before == PurchaseState::Running { PurchaseState::Finished } else { PurchaseState::Expired };
                self.announce(before, &known.p);
                known.answer(Outcome::ReadAgain);
                known.stop_waiters.drain(..).for_each(|done| _ = done.send(()));
                self.active = other.map(Active::new);
            }
        }
    }
}

impl Handler<Loaded> for MachineActor {
    type Result = ();

    fn handle(&mut self, loaded: Loaded, ctx: &mut Ctx) {
        self.loading = false;
        if self.is_committing() {
            // What is being committed is newer, and tells itself.
            return;
        }
        if loaded.learned != self.learned {
            // Something newer was learned, or doubted, while it was read.
            self.reload(ctx);
            return self.next_start(ctx);
        }
        match loaded.result {
            Err(AppError::Unavailable) => Self::reload_later(ctx),
            Err(e) => {
                tracing::error!(error = %e, "a machine's purchase cannot be read");
                Self::reload_later(ctx);
            }
            Ok(stored) => {
                self.take_over(stored);
                self.board.set_ends_at(self.running().map(|p| p.ends_at));
                self.arm(ctx);
                self.next_start(ctx);
            }
        }
    }
}

impl Handler<Reload> for MachineActor {
    type Result = ();

    fn handle(&mut self, _: Reload, ctx: &mut Ctx) {
        match &self.active {
            Some(a) if a.committing => {}
            Some(a) if step::wake_at(&a.p).is_some_and(|at| at <= self.now()) => self.feed(PurchaseEvent::Wake, ctx),
            _ => self.reload(ctx),
        }
    }
}
