//! Buying: starts wait for their turn at a machine, one hold at a time.

use nyala::domain::timestamp::Timestamp;
use nyala::ledger::purchase::Held;
use nyala::machine::messages::Outcome;
use nyala::purchase::rules::Refusal;
use nyala::purchase::step::{self, PurchaseEvent};
use nyala::purchase::times::MAX_WAITING_STARTS;

use super::super::store::SERVICES_S;
use super::super::world::{Answered, Happening, World};
use super::{Active, Start, outcome};

impl World {
    pub fn start(&mut self, machine: usize, start: Start) {
        let actor = &mut self.server.actors[machine];
        if let Some(first) = actor.hold.iter_mut().chain(&mut actor.queue).find(|s| s.order == start.order) {
            first.requests.extend(start.requests);
            return;
        }
        if actor.queue.len() >= MAX_WAITING_STARTS {
            return self.answer_all(start.requests, Outcome::Refused(Refusal::MachineBusy));
        }
        actor.queue.push_back(start);
        self.next_start(machine);
    }

    pub(super) fn next_start(&mut self, machine: usize) {
        let actor = &mut self.server.actors[machine];
        if actor.hold.is_some() || actor.loading || actor.active.as_ref().is_some_and(|a| a.committing) {
            return;
        }
        if actor.active.is_some() {
            for start in std::mem::take(&mut actor.queue) {
                self.answer_all(start.requests, Outcome::Refused(Refusal::MachineBusy));
            }
            return;
        }
        let requests = &self.requests;
        // Whoever was told something already has nothing bought in their name any more.
        let awaited =
            std::iter::from_fn(|| actor.queue.pop_front()).find(|s| s.requests.iter().any(|r| requests[*r].told.is_none()));
        if let Some(start) = awaited {
            let order = start.order;
            actor.hold = Some(start);
            let (life, at, after_ms) = (self.server.life, self.now, self.statement_ms());
            self.after(after_ms, Happening::Hold { life, machine, order, at });
        }
    }

    pub fn held(&mut self, machine: usize, at: Timestamp, result: Answered<Held>) {
        let Some(start) = self.server.actors[machine].hold.take() else { return };
        match result {
            Ok(Held::Won { idtransaksi, cmd_id, epoch }) => {
                let duration_s = i64::from(SERVICES_S[start.order.service]);
                let mut active = Active::new(step::first(idtransaksi, cmd_id, epoch, duration_s, at, self.now));
                active.waiters = start.requests;
                self.server.actors[machine].learned += 1;
                self.server.actors[machine].active = Some(active);
                self.feed(machine, PurchaseEvent::Wake, self.now);
            }
            Ok(Held::Lost(why)) => {
                self.answer_all(start.requests, Outcome::Refused(why));
                if why == Refusal::MachineBusy {
                    self.reload(machine);
                }
            }
            Ok(Held::Changed) => self.answer_all(start.requests, Outcome::ReadAgain),
            Err(()) => {
                self.answer_all(start.requests, Outcome::Busy);
                self.reload(machine);
            }
        }
        self.next_start(machine);
    }

    pub(super) fn answer_all(&mut self, requests: Vec<usize>, outcome: Outcome) {
        requests.into_iter().for_each(|request| self.answer(request, outcome));
    }

    pub fn wait_for(&mut self, machine: usize, purchase: i64, request: usize) {
        let active = self.server.actors[machine].active.as_mut().filter(|a| a.p.id == purchase);
        match active.map(|a| (outcome(a.p.state), a)) {
            Some((None, a)) => a.waiters.push(request),
            Some((Some(outcome), _)) => self.answer(request, outcome),
            None => {
                self.answer(request, Outcome::ReadAgain);
                self.reload(machine);
            }
        }
    }

    pub fn stop(&mut self, machine: usize, purchase: i64) {
        if self.server.actors[machine].active.as_ref().is_some_and(|a| a.p.id == purchase) {
            self.feed(machine, PurchaseEvent::StopRequested, self.now);
        } else {
            self.reload(machine);
        }
    }
}
