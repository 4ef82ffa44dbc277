//! The countdown: the machine's alarm, its ticker, and what those who watch are told (contract §3).

use actix::{AsyncContext, Handler};

use super::{Ctx, MachineActor};
use crate::domain::timestamp::Timestamp;
use crate::live::hub::{self, Broadcast};
use crate::machine::alarm::{self, Wakes};
use crate::machine::messages::{Ring, Watched};
use crate::machine::tick::Tick;
use crate::machine::ticker::Run;
use crate::purchase::state::PurchaseState;
use crate::purchase::step::{self, Purchase, PurchaseEvent};

impl MachineActor {
    /// Sets the alarm for the purchase's next moment, and the ticker for its run.
    pub(super) fn arm(&mut self, ctx: &mut Ctx) {
        let run = self.running().map(|p| Run { started_at: p.ends_at.plus_ms(-p.duration_s * 1000), ends_at: p.ends_at });
        self.ticker.follow(run);
        if let Some(key) = self.alarm.take() {
            alarm::cancel(key);
        }
        self.alarm = self.wake_at().and_then(|at| alarm::set(at, Wakes::Machine(ctx.address())));
    }

    fn wake_at(&self) -> Option<Timestamp> {
        self.active.as_ref().filter(|a| !a.committing).and_then(|a| step::wake_at(&a.p))
    }

    pub(super) fn running(&self) -> Option<&Purchase> {
        self.active.as_ref().map(|a| &a.p).filter(|p| p.state == PurchaseState::Running)
    }

    /// Puts what has just been committed on the board, and tells who watches when it is a new state (contract §3). The board first:
    /// whoever joins now reads it.
    pub(super) fn announce(&self, before: PurchaseState, p: &Purchase) {
        self.board.set_ends_at((p.state == PurchaseState::Running).then_some(p.ends_at));
        if p.state == before {
            return;
        }
        let now = self.now();
        let tick = match p.state {
            PurchaseState::Running => Tick::running(p.ends_at, now),
            PurchaseState::Finished | PurchaseState::Stopped => Tick::over(p.ends_at, now),
            PurchaseState::Refused | PurchaseState::Expired => Tick::given_back(now),
            PurchaseState::Held | PurchaseState::Sent | PurchaseState::Unsure => return,
        };
        if tick.tl > 0 || p.state != PurchaseState::Running {
            let idmesin = self.location.idmesin;
            hub::publish(Broadcast { idmesin, frame: tick.frame(idmesin), volatile: false }, &self.board);
        }
    }
}

impl Handler<Ring> for MachineActor {
    type Result = ();

    fn handle(&mut self, _: Ring, ctx: &mut Ctx) {
        self.alarm = None;
        if self.wake_at().is_some_and(|at| at <= self.now()) {
            // Arms again itself.
            self.feed(PurchaseEvent::Wake, ctx);
        } else {
            self.arm(ctx);
        }
    }
}

impl Handler<Watched> for MachineActor {
    type Result = ();

    fn handle(&mut self, _: Watched, ctx: &mut Ctx) {
        self.arm(ctx);
    }
}
