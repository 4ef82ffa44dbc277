//! The open purchase: an event goes through `step`, its change is committed, and only then it is believed and told.

use actix::{ActorFutureExt, AsyncContext, Handler, WrapFuture};

use super::{Ctx, MesinActor, outcome};
use crate::domain::waktu::Waktu;
use crate::ledger::pembelian as ledger;
use crate::mesin::messages::{Applied, Hasil, Stop, Tunggu};
use crate::pembelian::batas::MAX_WAITERS;
use crate::pembelian::fault;
use crate::pembelian::keadaan::Keadaan;
use crate::pembelian::step::{self, Change, Event, Pembelian, Send};

/// Events of the device that may wait behind a commit.
const MAX_EVENTS: usize = 32;

impl MesinActor {
    pub(super) fn feed(&mut self, event: Event, ctx: &mut Ctx) {
        let now = self.now();
        let Some(aktif) = &mut self.aktif else { return };
        if aktif.committing {
            if aktif.events.len() < MAX_EVENTS {
                aktif.events.push_back(event);
            }
            return;
        }
        let step = step::step(&aktif.p, &event, now);
        match step.change {
            Some(change) => {
                aktif.committing = true;
                self.commit(change, step.next, step.send, now, ctx);
            }
            None => {
                aktif.p = step.next;
                if let Some(op) = step.send {
                    self.send(op, ctx);
                }
                self.arm(ctx);
            }
        }
    }

    fn commit(&self, change: Change, next: Pembelian, send: Option<Send>, now: Waktu, ctx: &mut Ctx) {
        let (state, id, idmesin, keadaan) = (self.state.clone(), next.id, self.alamat.idmesin, next.keadaan);
        let (before, after) = edges(change);
        self.fault(before);
        let work = async move {
            let client = state.db.get().await?;
            let result = ledger::apply(&client, id, change, now).await;
            fault::point(&state.config.dev.fault_point, after);
            let nota = result?;
            if let Some(nota) = &nota {
                log(nota, idmesin, keadaan);
            }
            Ok(nota.is_some())
        };
        ctx.spawn(work.into_actor(self).map(move |result, _, ctx| ctx.notify(Applied { next, send, result })));
    }

    fn adopt(&mut self, p: Pembelian, ctx: &mut Ctx) {
        let Some(mut aktif) = self.aktif.take() else { return };
        self.learned += 1;
        let before = std::mem::replace(&mut aktif.p, p).keadaan;
        aktif.committing = false;
        // Before the answer: a phone that hears that it has paid may look at the machine at once.
        self.announce(before, &aktif.p);
        if let Some(hasil) = outcome(aktif.p.keadaan) {
            aktif.answer(hasil);
        }
        if aktif.p.keadaan == Keadaan::Expired {
            // The staff flag may be new: the device's next word counts even when it is the old one.
            self.last_said = None;
        }
        if aktif.p.keadaan.open() {
            self.aktif = Some(aktif);
        } else {
            aktif.stop_waiters.into_iter().for_each(|done| _ = done.send(()));
        }
        self.arm(ctx);
        self.next_start(ctx);
    }

    fn drain_events(&mut self, ctx: &mut Ctx) {
        while let Some(aktif) = &mut self.aktif
            && !aktif.committing
            && let Some(event) = aktif.events.pop_front()
        {
            self.feed(event, ctx);
        }
    }

    pub(super) fn is_committing(&self) -> bool {
        self.aktif.as_ref().is_some_and(|a| a.committing)
    }
}

/// What an operator looks for by the receipt number: how it was decided, and by debug all of it.
fn log(nota: &str, idmesin: i64, keadaan: Keadaan) {
    let state = keadaan.as_str();
    match keadaan {
        Keadaan::Held | Keadaan::Sent | Keadaan::Finished => tracing::debug!(nota, idmesin, state, "purchase"),
        Keadaan::Running | Keadaan::Stopped | Keadaan::Refused => tracing::info!(nota, idmesin, state, "purchase"),
        Keadaan::Unsure | Keadaan::Expired => tracing::warn!(nota, idmesin, state, "purchase"),
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

impl Handler<Applied> for MesinActor {
    type Result = ();

    fn handle(&mut self, done: Applied, ctx: &mut Ctx) {
        match done.result {
            Ok(true) => {
                self.state.metrics.purchase_became(done.next.keadaan);
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

impl Handler<Tunggu> for MesinActor {
    type Result = ();

    fn handle(&mut self, msg: Tunggu, ctx: &mut Ctx) {
        match &mut self.aktif {
            Some(a) if a.p.id == msg.idtransaksi && a.p.keadaan.undecided() => {
                a.waiters.retain(|balas| !balas.is_closed());
                if a.waiters.len() < MAX_WAITERS {
                    a.waiters.push(msg.balas);
                } else {
                    let _ = msg.balas.send(Hasil::Sibuk);
                }
            }
            Some(a) if a.p.id == msg.idtransaksi => {
                let _ = msg.balas.send(outcome(a.p.keadaan).unwrap_or(Hasil::BacaLagi));
            }
            _ => {
                let _ = msg.balas.send(Hasil::BacaLagi);
                self.reload(ctx);
            }
        }
    }
}

impl Handler<Stop> for MesinActor {
    type Result = ();

    fn handle(&mut self, msg: Stop, ctx: &mut Ctx) {
        match &mut self.aktif {
            Some(a) if a.p.id == msg.idtransaksi && a.stop_waiters.len() < MAX_WAITERS => {
                a.stop_waiters.retain(|balas| !balas.is_closed());
                a.stop_waiters.push(msg.balas);
                self.feed(Event::StopRequested, ctx);
            }
            // Its dropped answer tells the operator to ask again.
            _ => self.reload(ctx),
        }
    }
}
