//! Buying: one start at a time commits its hold; the rest wait their turn or hear that the machine is in use.

use actix::{ActorFutureExt, AsyncContext, Handler, WrapFuture};

use super::{Aktif, Ctx, MesinActor};
use crate::ledger::pembelian::{self as ledger, Held};
use crate::mesin::messages::{Hasil, HoldDone, Start};
use crate::pembelian::aturan::Tolakan;
use crate::pembelian::batas::{MAX_WAITERS, MAX_WAITING_STARTS};
use crate::pembelian::step::{self, Event};

impl MesinActor {
    fn begin_hold(&mut self, start: Start, ctx: &mut Ctx) {
        let (state, now) = (self.state.clone(), self.now());
        let (pesanan, mesin, layanan) = (start.pesanan.clone(), start.mesin.clone(), start.layanan.clone());
        self.hold = Some(start);
        self.fault("before_hold");
        let work = async move {
            let client = state.db.get().await?;
            ledger::hold(&client, &pesanan, &mesin, &layanan, now).await
        };
        ctx.spawn(work.into_actor(self).map(move |result, _, ctx| ctx.notify(HoldDone { result, now })));
    }

    /// Lets the next waiting start try, or tells everybody that the machine is in use.
    pub(super) fn next_start(&mut self, ctx: &mut Ctx) {
        if self.hold.is_some() || self.loading || self.aktif.as_ref().is_some_and(|a| a.committing) {
            return;
        }
        if self.aktif.is_some() {
            for start in self.antre.drain(..) {
                start.answer(Hasil::Ditolak(Tolakan::MesinBusy));
            }
            return;
        }
        while let Some(start) = self.antre.pop_front() {
            if start.is_awaited() {
                return self.begin_hold(start, ctx);
            }
        }
    }
}

impl Handler<Start> for MesinActor {
    type Result = ();

    fn handle(&mut self, start: Start, ctx: &mut Ctx) {
        // A receipt sent many times at once is one purchase: its repeats wait with the first.
        if let Some(first) = self.hold.iter_mut().chain(&mut self.antre).find(|s| s.pesanan == start.pesanan) {
            first.balas.retain(|balas| !balas.is_closed());
            if first.balas.len() < MAX_WAITERS {
                first.balas.extend(start.balas);
            } else {
                start.answer(Hasil::Sibuk);
            }
            return;
        }
        if self.antre.len() >= MAX_WAITING_STARTS {
            return start.answer(Hasil::Ditolak(Tolakan::MesinBusy));
        }
        self.antre.push_back(start);
        self.next_start(ctx);
    }
}

impl Handler<HoldDone> for MesinActor {
    type Result = ();

    fn handle(&mut self, done: HoldDone, ctx: &mut Ctx) {
        let Some(start) = self.hold.take() else { return };
        match done.result {
            Ok(Held::Won { idtransaksi, cmd_id, epoch }) => {
                self.fault("after_hold");
                let durasi_s = i64::from(start.layanan.durasi_s);
                let mut aktif = Aktif::new(step::first(idtransaksi, cmd_id, epoch, durasi_s, done.now, self.now()));
                aktif.waiters = start.balas;
                self.learned += 1;
                self.aktif = Some(aktif);
                self.feed(Event::Wake, ctx);
            }
            Ok(Held::Lost(tolakan)) => {
                start.answer(Hasil::Ditolak(tolakan));
                if tolakan == Tolakan::MesinBusy {
                    // Somebody holds it that this actor does not know of.
                    self.reload(ctx);
                }
            }
            Ok(Held::Changed) => start.answer(Hasil::BacaLagi),
            Err(e) => {
                // The commit may have happened although its answer was lost; the stored state knows.
                tracing::warn!(error = %e, "a hold was not confirmed");
                start.answer(Hasil::Sibuk);
                self.reload(ctx);
            }
        }
        self.next_start(ctx);
    }
}
