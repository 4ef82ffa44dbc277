//! The countdown: the machine's alarm, its ticks, and what those who watch are told (contract §3).

use actix::{AsyncContext, Handler};

use super::{Ctx, MesinActor};
use crate::mesin::alarm::{self, Wakes};
use crate::mesin::messages::{Ring, Watched};
use crate::mesin::tick::{self, Tick};
use crate::pembelian::keadaan::Keadaan;
use crate::pembelian::step::{self, Event, Pembelian};
use crate::sesi::hub::{self, Siaran};

impl MesinActor {
    /// Sets the alarm for the purchase's next moment or the next tick, whichever comes first.
    pub(super) fn arm(&mut self, ctx: &mut Ctx) {
        if let Some(key) = self.alarm.take() {
            alarm::cancel(key);
        }
        let now = self.now();
        self.next_tick = self.running().filter(|_| self.papan.is_watched()).and_then(|p| {
            let started_at = p.ends_at.plus_ms(-p.durasi_s * 1000);
            self.irama.next_after(now, started_at, p.ends_at)
        });
        let wake = self.aktif.as_ref().filter(|a| !a.committing).and_then(|a| step::wake_at(&a.p));
        if let Some(at) = [wake, self.next_tick].into_iter().flatten().min() {
            self.alarm = alarm::set(at, Wakes::Mesin(ctx.address()));
        }
    }

    pub(super) fn running(&self) -> Option<&Pembelian> {
        self.aktif.as_ref().map(|a| &a.p).filter(|p| p.keadaan == Keadaan::Running)
    }

    /// Puts what has just been committed on the board, and tells who watches when it is a new state (contract §3). The board first:
    /// whoever joins now reads it.
    pub(super) fn announce(&self, before: Keadaan, p: &Pembelian) {
        self.papan.set_ends_at((p.keadaan == Keadaan::Running).then_some(p.ends_at));
        if p.keadaan == before {
            return;
        }
        let now = self.now();
        let tick = match p.keadaan {
            Keadaan::Running => Tick::running(p.ends_at, now),
            Keadaan::Finished | Keadaan::Stopped => Tick::over(p.ends_at, now),
            Keadaan::Refused | Keadaan::Expired => Tick::given_back(now),
            Keadaan::Held | Keadaan::Sent | Keadaan::Unsure => return,
        };
        if tick.tl > 0 || p.keadaan != Keadaan::Running {
            self.broadcast(tick, false);
        }
    }

    fn broadcast(&self, tick: Tick, volatile: bool) {
        if self.papan.is_watched() {
            let idmesin = self.alamat.idmesin;
            hub::publish(Siaran { idmesin, frame: tick.frame(idmesin), volatile }, &self.papan);
        }
    }

    fn tick(&mut self) {
        let now = self.now();
        let Some(due) = self.next_tick.filter(|at| *at <= now) else { return };
        self.next_tick = None;
        // A late one may have come too near to the end.
        if let Some(ends_at) = self.running().map(|p| p.ends_at).filter(|at| !tick::is_near_end(now, *at)) {
            self.state.metrics.realtime.tick_lateness(due.ms_until(now));
            self.broadcast(Tick::running(ends_at, now), true);
        }
    }
}

impl Handler<Ring> for MesinActor {
    type Result = ();

    fn handle(&mut self, _: Ring, ctx: &mut Ctx) {
        self.alarm = None;
        self.tick();
        let due = self.aktif.as_ref().filter(|a| !a.committing).and_then(|a| step::wake_at(&a.p));
        if due.is_some_and(|at| at <= self.now()) {
            // Arms again itself.
            self.feed(Event::Wake, ctx);
        } else {
            self.arm(ctx);
        }
    }
}

impl Handler<Watched> for MesinActor {
    type Result = ();

    fn handle(&mut self, _: Watched, ctx: &mut Ctx) {
        self.arm(ctx);
    }
}
