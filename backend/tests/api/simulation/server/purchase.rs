//! The open purchase: what happens to it goes through `step`, one change at a time, and what is in doubt is read again.

use nyala::domain::timestamp::Timestamp;
use nyala::machine::device::{Command, DeviceEvent, DeviceRun};
use nyala::machine::messages::Outcome;
use nyala::purchase::step::{self, Op, Purchase, PurchaseEvent};
use uuid::Uuid;

use super::super::world::{Answered, Happening, World};
use super::{Active, outcome};

const RELOAD_AFTER_MS: i64 = 500;
const MAX_EVENTS: usize = 32;

impl World {
    /// `said_at`: when the device said it, for judging how exact the server could be.
    pub(super) fn feed(&mut self, machine: usize, event: PurchaseEvent, said_at: Timestamp) {
        let now = self.now;
        let Some(active) = &mut self.server.actors[machine].active else { return };
        if active.committing {
            if active.events.len() < MAX_EVENTS {
                active.events.push_back((event, said_at));
            }
            return;
        }
        let step = step::step(&active.p, &event, now);
        match step.change {
            Some(change) => {
                active.committing = true;
                self.check_change(machine, &step.next, change, &event, said_at);
                let (life, after_ms) = (self.server.life, self.statement_ms());
                let next = Box::new(step.next);
                self.after(after_ms, Happening::Commit { life, machine, change, next, send: step.send, at: now });
            }
            None => {
                active.p = step.next;
                self.send_op(machine, step.send);
                self.arm(machine);
            }
        }
    }

    fn send_op(&mut self, machine: usize, op: Option<Op>) {
        let (Some(op), Some(active)) = (op, &self.server.actors[machine].active) else { return };
        let p = &active.p;
        let idmesin = i64::try_from(machine).unwrap() + 1;
        let cmd = Command { idmesin, cmd_id: p.cmd_id, epoch: p.epoch, op, duration_s: p.duration_s, exp: p.exp() };
        self.send(cmd);
    }

    pub(super) fn arm(&mut self, machine: usize) {
        let actor = &mut self.server.actors[machine];
        actor.alarm += 1;
        let number = actor.alarm;
        let Some(at) = actor.active.as_ref().filter(|a| !a.committing).and_then(|a| step::wake_at(&a.p)) else { return };
        let (life, after_ms) = (self.server.life, self.now.ms_until(at));
        self.after(after_ms, Happening::Alarm { life, machine, number });
    }

    pub fn alarm(&mut self, machine: usize, number: u32) {
        if self.server.actors[machine].alarm == number {
            self.feed(machine, PurchaseEvent::Wake, self.now);
        }
    }

    pub fn applied(&mut self, machine: usize, next: Purchase, send: Option<Op>, result: Answered<bool>) {
        match result {
            Ok(true) => {
                self.adopt(machine, next);
                self.send_op(machine, send);
                self.drain_events(machine);
            }
            Ok(false) => {
                self.doubt(machine);
                self.reload(machine);
            }
            Err(()) => {
                self.doubt(machine);
                self.reload_later(machine);
            }
        }
    }

    fn doubt(&mut self, machine: usize) {
        let actor = &mut self.server.actors[machine];
        actor.learned += 1;
        if let Some(active) = &mut actor.active {
            active.committing = false;
            active.events.clear();
        }
    }

    fn adopt(&mut self, machine: usize, p: Purchase) {
        self.server.actors[machine].learned += 1;
        let Some(active) = &mut self.server.actors[machine].active else { return };
        let (decided, open) = (outcome(p.state), p.state.open());
        active.p = p;
        active.committing = false;
        let waiters = if decided.is_some() { std::mem::take(&mut active.waiters) } else { Vec::new() };
        if !open {
            self.server.actors[machine].active = None;
        }
        if let Some(outcome) = decided {
            self.answer_all(waiters, outcome);
        }
        self.arm(machine);
        self.next_start(machine);
    }

    fn drain_events(&mut self, machine: usize) {
        while let Some(active) = &mut self.server.actors[machine].active
            && !active.committing
            && let Some((event, said_at)) = active.events.pop_front()
        {
            self.feed(machine, event, said_at);
        }
    }

    pub fn reload(&mut self, machine: usize) {
        let actor = &mut self.server.actors[machine];
        if actor.loading || actor.hold.is_some() || actor.active.as_ref().is_some_and(|a| a.committing) {
            return;
        }
        actor.loading = true;
        let learned = actor.learned;
        let (life, after_ms) = (self.server.life, self.statement_ms());
        self.after(after_ms, Happening::Load { life, machine, learned });
    }

    fn reload_later(&mut self, machine: usize) {
        let life = self.server.life;
        self.after(RELOAD_AFTER_MS, Happening::Reload { life, machine });
    }

    pub fn loaded(&mut self, machine: usize, learned: u64, result: Answered<Option<Purchase>>) {
        let actor = &mut self.server.actors[machine];
        actor.loading = false;
        if actor.active.as_ref().is_some_and(|a| a.committing) {
            return;
        }
        if actor.learned != learned {
            self.reload(machine);
            return self.next_start(machine);
        }
        let Ok(stored) = result else { return self.reload_later(machine) };
        let waiters = match (stored, actor.active.take()) {
            (Some(p), Some(mut known)) if p.id == known.p.id => {
                known.p = p.reread(&known.p);
                known.events.clear();
                let decided = outcome(known.p.state);
                let waiters = if decided.is_some() { std::mem::take(&mut known.waiters) } else { Vec::new() };
                actor.active = Some(known);
                (waiters, decided.unwrap_or(Outcome::ReadAgain))
            }
            (stored, known) => {
                actor.active = stored.map(Active::new);
                (known.map(|a| a.waiters).unwrap_or_default(), Outcome::ReadAgain)
            }
        };
        self.answer_all(waiters.0, waiters.1);
        self.arm(machine);
        self.next_start(machine);
    }

    // --- the device ---

    pub fn server_hears(&mut self, machine: usize, event: DeviceEvent, said_at: Timestamp) {
        if !self.server.up {
            return;
        }
        if let DeviceEvent::Ack { cmd_id, .. } | DeviceEvent::State { run: Some(DeviceRun { cmd_id, .. }), .. } = event {
            self.heard.insert(cmd_id, self.now);
        }
        match event {
            DeviceEvent::Ack { cmd_id, result } => self.feed(machine, PurchaseEvent::Ack { cmd_id, result }, said_at),
            DeviceEvent::State { online, run } => {
                self.record_state(machine, online, run.map(|r| r.cmd_id));
                if let Some(run) = run {
                    self.feed(machine, PurchaseEvent::Runs { cmd_id: run.cmd_id, left_ms: run.left_ms }, said_at);
                }
            }
        }
    }

    fn record_state(&mut self, machine: usize, online: bool, run: Option<Uuid>) {
        let actor = &mut self.server.actors[machine];
        if actor.last_said == Some((online, run)) {
            return;
        }
        actor.last_said = Some((online, run));
        let ours = actor.active.as_ref().is_some_and(|a| run.is_none_or(|cmd| cmd == a.p.cmd_id));
        let foreign = run.filter(|_| !ours);
        self.store.record(machine, online, run.is_some(), foreign, self.now);
    }
}
