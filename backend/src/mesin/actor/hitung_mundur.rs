//! The countdown: the machine's alarm, its ticker, and what those who watch are told (contract §3).

use actix::{AsyncContext, Handler};

use super::{Ctx, MesinActor};
use crate::domain::waktu::Waktu;
use crate::mesin::alarm::{self, Wakes};
use crate::mesin::messages::{Ring, Watched};
use crate::mesin::tick::Tick;
use crate::mesin::ticker::Run;
use crate::pembelian::keadaan::Keadaan;
use crate::pembelian::step::{self, Event, Pembelian};
use crate::sesi::hub::{self, Siaran};

impl MesinActor {
    /// Sets the alarm for the purchase's next moment, and the ticker for its run.
    pub(super) fn arm(&mut self, ctx: &mut Ctx) {
        let run = self.running().map(|p| Run { started_at: p.ends_at.plus_ms(-p.durasi_s * 1000), ends_at: p.ends_at });
        self.ticker.follow(run);
        if let Some(key) = self.alarm.take() {
            alarm::cancel(key);
        }
        self.alarm = self.wake_at().and_then(|at| alarm::set(at, Wakes::Mesin(ctx.address())));
    }

    fn wake_at(&self) -> Option<Waktu> {
        self.aktif.as_ref().filter(|a| !a.committing).and_then(|a| step::wake_at(&a.p))
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
            let idmesin = self.alamat.idmesin;
            hub::publish(Siaran { idmesin, frame: tick.frame(idmesin), volatile: false }, &self.papan);
        }
    }
}

impl Handler<Ring> for MesinActor {
    type Result = ();

    fn handle(&mut self, _: Ring, ctx: &mut Ctx) {
        self.alarm = None;
        if self.wake_at().is_some_and(|at| at <= self.now()) {
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
