//! Buying: starts wait for their turn at a machine, one hold at a time.

use nyala::domain::waktu::Waktu;
use nyala::ledger::pembelian::Held;
use nyala::mesin::messages::Hasil;
use nyala::pembelian::aturan::Tolakan;
use nyala::pembelian::batas::MAX_WAITING_STARTS;
use nyala::pembelian::step::{self, Event};

use super::super::store::SERVICES_S;
use super::super::world::{Answered, Happening, World};
use super::{Aktif, Start, outcome};

impl World {
    pub fn start(&mut self, machine: usize, start: Start) {
        let actor = &mut self.server.actors[machine];
        if let Some(first) = actor.hold.iter_mut().chain(&mut actor.antre).find(|s| s.order == start.order) {
            first.requests.extend(start.requests);
            return;
        }
        if actor.antre.len() >= MAX_WAITING_STARTS {
            return self.answer_all(start.requests, Hasil::Ditolak(Tolakan::MesinBusy));
        }
        actor.antre.push_back(start);
        self.next_start(machine);
    }

    pub(super) fn next_start(&mut self, machine: usize) {
        let actor = &mut self.server.actors[machine];
        if actor.hold.is_some() || actor.loading || actor.aktif.as_ref().is_some_and(|a| a.committing) {
            return;
        }
        if actor.aktif.is_some() {
            for start in std::mem::take(&mut actor.antre) {
                self.answer_all(start.requests, Hasil::Ditolak(Tolakan::MesinBusy));
            }
            return;
        }
        let requests = &self.requests;
        // Whoever was told something already has nothing bought in their name any more.
        let awaited =
            std::iter::from_fn(|| actor.antre.pop_front()).find(|s| s.requests.iter().any(|r| requests[*r].told.is_none()));
        if let Some(start) = awaited {
            let order = start.order;
            actor.hold = Some(start);
            let (life, at, after_ms) = (self.server.life, self.now, self.statement_ms());
            self.after(after_ms, Happening::Hold { life, machine, order, at });
        }
    }

    pub fn held(&mut self, machine: usize, at: Waktu, result: Answered<Held>) {
        let Some(start) = self.server.actors[machine].hold.take() else { return };
        match result {
            Ok(Held::Won { idtransaksi, cmd_id, epoch }) => {
                let durasi_s = i64::from(SERVICES_S[start.order.service]);
                let mut aktif = Aktif::new(step::first(idtransaksi, cmd_id, epoch, durasi_s, at, self.now));
                aktif.waiters = start.requests;
                self.server.actors[machine].learned += 1;
                self.server.actors[machine].aktif = Some(aktif);
                self.feed(machine, Event::Wake, self.now);
            }
            Ok(Held::Lost(why)) => {
                self.answer_all(start.requests, Hasil::Ditolak(why));
                if why == Tolakan::MesinBusy {
                    self.reload(machine);
                }
            }
            Ok(Held::Changed) => self.answer_all(start.requests, Hasil::BacaLagi),
            Err(()) => {
                self.answer_all(start.requests, Hasil::Sibuk);
                self.reload(machine);
            }
        }
        self.next_start(machine);
    }

    pub(super) fn answer_all(&mut self, requests: Vec<usize>, hasil: Hasil) {
        requests.into_iter().for_each(|request| self.answer(request, hasil));
    }

    pub fn wait_for(&mut self, machine: usize, purchase: i64, request: usize) {
        let aktif = self.server.actors[machine].aktif.as_mut().filter(|a| a.p.id == purchase);
        match aktif.map(|a| (outcome(a.p.keadaan), a)) {
            Some((None, a)) => a.waiters.push(request),
            Some((Some(hasil), _)) => self.answer(request, hasil),
            None => {
                self.answer(request, Hasil::BacaLagi);
                self.reload(machine);
            }
        }
    }

    pub fn stop(&mut self, machine: usize, purchase: i64) {
        if self.server.actors[machine].aktif.as_ref().is_some_and(|a| a.p.id == purchase) {
            self.feed(machine, Event::StopRequested, self.now);
        } else {
            self.reload(machine);
        }
    }
}
