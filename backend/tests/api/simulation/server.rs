//! The server around `step`: a machine's actor (`mesin::actor`) with its statements, alarms and reloads, and the reaper. It may
//! die at any moment; then only the store is left.

use std::collections::VecDeque;

use nyala::domain::waktu::Waktu;
use nyala::ledger::pembelian::Held;
use nyala::mesin::device::{Command, DeviceEvent, Run};
use nyala::mesin::messages::Hasil;
use nyala::pembelian::aturan::Tolakan;
use nyala::pembelian::batas::{GIVE_UP_MS, MAX_WAITING_STARTS};
use nyala::pembelian::keadaan::Keadaan;
use nyala::pembelian::step::{self, Change, Event, Pembelian, Send};
use rand::Rng;
use uuid::Uuid;

use super::store::{Order, SERVICES_S, Store};
use super::world::{Answered, Happening, MACHINES, World};

const RELOAD_AFTER_MS: i64 = 500;
const REAP_EVERY_MS: i64 = 1_000;
const LATE_MS: i64 = 1_000;
const RELAY_AFTER_MS: i64 = 2_000;
const ASK_EVERY_ROUNDS: u32 = 15;
const MAX_EVENTS: usize = 32;

pub struct Server {
    pub up: bool,
    /// One more with every start: what an older process began reaches nobody.
    pub life: u32,
    pub up_since: Waktu,
    actors: Vec<Actor>,
}

#[derive(Debug, Clone)]
pub struct Start {
    pub order: Order,
    pub requests: Vec<usize>,
}

#[derive(Default)]
struct Actor {
    aktif: Option<Aktif>,
    hold: Option<Start>,
    antre: VecDeque<Start>,
    loading: bool,
    learned: u64,
    alarm: u32,
    last_said: Option<(bool, Option<Uuid>)>,
}

struct Aktif {
    p: Pembelian,
    waiters: Vec<usize>,
    committing: bool,
    events: VecDeque<(Event, Waktu)>,
}

impl Aktif {
    fn new(p: Pembelian) -> Self {
        Self { p, waiters: Vec::new(), committing: false, events: VecDeque::new() }
    }
}

impl Server {
    pub fn new(machines: usize) -> Self {
        Self { up: false, life: 0, up_since: Waktu::default(), actors: (0..machines).map(|_| Actor::default()).collect() }
    }
}

fn outcome(keadaan: Keadaan) -> Option<Hasil> {
    match keadaan {
        Keadaan::Running | Keadaan::Finished | Keadaan::Stopped => Some(Hasil::Menyala),
        Keadaan::Refused | Keadaan::Expired => Some(Hasil::TidakMenyala),
        _ => None,
    }
}

impl World {
    pub fn boot(&mut self) {
        if self.server.up {
            return;
        }
        let life = self.server.life + 1;
        self.server = Server { up: true, life, up_since: self.now, ..Server::new(MACHINES) };
        for machine in 0..MACHINES {
            if let Some(p) = self.store.load(machine) {
                self.server.actors[machine].aktif = Some(Aktif::new(p));
                self.arm(machine);
            }
            // As a broker keeps the last word of a device for whoever asks.
            self.device_tells(machine);
        }
        self.after(0, Happening::Reap { life, round: 0 });
    }

    pub fn crash(&mut self) {
        if !self.server.up || !self.troubled {
            return;
        }
        self.server = Server { life: self.server.life, ..Server::new(MACHINES) };
        self.heard.clear();
        self.note("crash");
        self.connections_break();
        let down_ms = match self.rng.random_range(0..10) {
            0 => self.up_to(25 * 60_000),
            1 | 2 => self.up_to(60_000),
            _ => self.up_to(3_000),
        };
        self.after(down_ms, Happening::Boot);
    }

    // --- statements: each takes a while, and its answer may be lost ---

    fn statement_ms(&mut self) -> i64 {
        if self.troubled && self.chance(0.02) { self.up_to(4_000) } else { self.up_to(20) }
    }

    fn answered<T>(&mut self, result: T) -> Answered<T> {
        if self.troubled && self.chance(0.02) {
            self.note("answer of the database lost");
            return Err(());
        }
        Ok(result)
    }

    /// Whether the database still carries out a statement of that process.
    fn carried_out(&mut self, life: u32) -> bool {
        let alive = self.server.up && life == self.server.life;
        let carried_out = if alive { !(self.troubled && self.chance(0.01)) } else { self.chance(0.5) };
        if carried_out && !alive {
            self.note("statement of a dead process");
        }
        carried_out
    }

    pub fn hold(&mut self, life: u32, machine: usize, order: Order, at: Waktu) {
        let result = if self.carried_out(life) {
            let cmd_id = Uuid::from_u128(self.rng.random());
            let held = self.store.hold(order, cmd_id, at);
            self.answered(held)
        } else {
            Err(())
        };
        let after_ms = self.up_to(3);
        self.after(after_ms, Happening::Held { life, machine, at, result });
    }

    pub fn commit(&mut self, life: u32, machine: usize, change: Change, next: Pembelian, send: Option<Send>, at: Waktu) {
        let result = if self.carried_out(life) {
            let done = self.store.apply(next.id, change, at);
            self.answered(done)
        } else {
            Err(())
        };
        let after_ms = self.up_to(3);
        self.after(after_ms, Happening::Applied { life, machine, next: Box::new(next), send, result });
    }

    pub fn load(&mut self, machine: usize, learned: u64) {
        let stored = self.store.load(machine).map(Box::new);
        let result = self.answered(stored);
        let (life, after_ms) = (self.server.life, self.up_to(20));
        self.after(after_ms, Happening::Loaded { life, machine, learned, result });
    }

    // --- buying ---

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

    fn next_start(&mut self, machine: usize) {
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

    fn answer_all(&mut self, requests: Vec<usize>, hasil: Hasil) {
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

    // --- the open purchase ---

    /// `said_at`: when the device said it, for judging how exact the server could be.
    fn feed(&mut self, machine: usize, event: Event, said_at: Waktu) {
        let now = self.now;
        let Some(aktif) = &mut self.server.actors[machine].aktif else { return };
        if aktif.committing {
            if aktif.events.len() < MAX_EVENTS {
                aktif.events.push_back((event, said_at));
            }
            return;
        }
        let step = step::step(&aktif.p, &event, now);
        match step.change {
            Some(change) => {
                aktif.committing = true;
                self.check_change(machine, &step.next, change, &event, said_at);
                let (life, after_ms) = (self.server.life, self.statement_ms());
                let next = Box::new(step.next);
                self.after(after_ms, Happening::Commit { life, machine, change, next, send: step.send, at: now });
            }
            None => {
                aktif.p = step.next;
                self.send_op(machine, step.send);
                self.arm(machine);
            }
        }
    }

    fn send_op(&mut self, machine: usize, op: Option<Send>) {
        let (Some(op), Some(aktif)) = (op, &self.server.actors[machine].aktif) else { return };
        let p = &aktif.p;
        let idmesin = i64::try_from(machine).unwrap() + 1;
        let cmd = Command { idmesin, cmd_id: p.cmd_id, epoch: p.epoch, op, durasi_s: p.durasi_s, exp: p.exp() };
        self.send(cmd);
    }

    fn arm(&mut self, machine: usize) {
        let actor = &mut self.server.actors[machine];
        actor.alarm += 1;
        let number = actor.alarm;
        let Some(at) = actor.aktif.as_ref().filter(|a| !a.committing).and_then(|a| step::wake_at(&a.p)) else { return };
        let (life, after_ms) = (self.server.life, self.now.ms_until(at));
        self.after(after_ms, Happening::Alarm { life, machine, number });
    }

    pub fn alarm(&mut self, machine: usize, number: u32) {
        if self.server.actors[machine].alarm == number {
            self.feed(machine, Event::Wake, self.now);
        }
    }

    pub fn applied(&mut self, machine: usize, next: Pembelian, send: Option<Send>, result: Answered<bool>) {
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
        if let Some(aktif) = &mut actor.aktif {
            aktif.committing = false;
            aktif.events.clear();
        }
    }

    fn adopt(&mut self, machine: usize, p: Pembelian) {
        self.server.actors[machine].learned += 1;
        let Some(aktif) = &mut self.server.actors[machine].aktif else { return };
        let (decided, open) = (outcome(p.keadaan), p.keadaan.open());
        aktif.p = p;
        aktif.committing = false;
        let waiters = if decided.is_some() { std::mem::take(&mut aktif.waiters) } else { Vec::new() };
        if !open {
            self.server.actors[machine].aktif = None;
        }
        if let Some(hasil) = decided {
            self.answer_all(waiters, hasil);
        }
        self.arm(machine);
        self.next_start(machine);
    }

    fn drain_events(&mut self, machine: usize) {
        while let Some(aktif) = &mut self.server.actors[machine].aktif
            && !aktif.committing
            && let Some((event, said_at)) = aktif.events.pop_front()
        {
            self.feed(machine, event, said_at);
        }
    }

    pub fn reload(&mut self, machine: usize) {
        let actor = &mut self.server.actors[machine];
        if actor.loading || actor.hold.is_some() || actor.aktif.as_ref().is_some_and(|a| a.committing) {
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

    pub fn loaded(&mut self, machine: usize, learned: u64, result: Answered<Option<Pembelian>>) {
        let actor = &mut self.server.actors[machine];
        actor.loading = false;
        if actor.aktif.as_ref().is_some_and(|a| a.committing) {
            return;
        }
        if actor.learned != learned {
            self.reload(machine);
            return self.next_start(machine);
        }
        let Ok(stored) = result else { return self.reload_later(machine) };
        let waiters = match (stored, actor.aktif.take()) {
            (Some(p), Some(mut known)) if p.id == known.p.id => {
                known.p = p.reread(&known.p);
                known.events.clear();
                let decided = outcome(known.p.keadaan);
                let waiters = if decided.is_some() { std::mem::take(&mut known.waiters) } else { Vec::new() };
                actor.aktif = Some(known);
                (waiters, decided.unwrap_or(Hasil::BacaLagi))
            }
            (stored, known) => {
                actor.aktif = stored.map(Aktif::new);
                (known.map(|a| a.waiters).unwrap_or_default(), Hasil::BacaLagi)
            }
        };
        self.answer_all(waiters.0, waiters.1);
        self.arm(machine);
        self.next_start(machine);
    }

    // --- the device ---

    pub fn server_hears(&mut self, machine: usize, event: DeviceEvent, said_at: Waktu) {
        if !self.server.up {
            return;
        }
        if let DeviceEvent::Ack { cmd_id, .. } | DeviceEvent::State { run: Some(Run { cmd_id, .. }), .. } = event {
            self.heard.insert(cmd_id, self.now);
        }
        match event {
            DeviceEvent::Ack { cmd_id, result } => self.feed(machine, Event::Ack { cmd_id, result }, said_at),
            DeviceEvent::State { online, run } => {
                self.record_state(machine, online, run.map(|r| r.cmd_id));
                if let Some(run) = run {
                    self.feed(machine, Event::Runs { cmd_id: run.cmd_id, sisa_ms: run.sisa_ms }, said_at);
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
        let ours = actor.aktif.as_ref().is_some_and(|a| run.is_none_or(|cmd| cmd == a.p.cmd_id));
        let foreign = run.filter(|_| !ours);
        self.store.record(machine, online, run.is_some(), foreign, self.now);
    }

    // --- what was lost is found ---

    pub fn reap(&mut self, round: u32) {
        let now = self.now;
        let overdue: Vec<usize> = self.store.open().filter(|(_, p)| overdue(p, now)).map(|(_, p)| p.order.machine).collect();
        overdue.into_iter().for_each(|machine| self.look_again(machine));
        let mut due = Vec::new();
        for row in &mut self.store.outbox {
            if row.available_at <= now.plus_ms(-RELAY_AFTER_MS) {
                row.available_at = now.plus_ms(RELAY_AFTER_MS);
                due.push(row.purchase);
            }
        }
        for purchase in due {
            let machine = self.store.purchase(purchase).order.machine;
            self.look_again(machine);
        }
        if round.is_multiple_of(ASK_EVERY_ROUNDS) {
            for machine in (0..MACHINES).filter(|m| self.store.machines[*m].needs_staff).collect::<Vec<_>>() {
                self.server.actors[machine].last_said = None;
                let idmesin = i64::try_from(machine).unwrap() + 1;
                self.send(Command { idmesin, cmd_id: Uuid::nil(), epoch: 0, op: Send::Query, durasi_s: 0, exp: now });
            }
        }
        // When nothing can come any more, the history may end.
        let busy = self.troubled || self.store.open().next().is_some() || self.requests.iter().any(|r| r.told.is_none());
        if busy || self.store.machines.iter().any(|m| m.needs_staff) {
            let life = self.server.life;
            self.after(REAP_EVERY_MS, Happening::Reap { life, round: round + 1 });
        }
    }

    /// `Reload`.
    fn look_again(&mut self, machine: usize) {
        match &self.server.actors[machine].aktif {
            Some(a) if a.committing => {}
            Some(a) if step::wake_at(&a.p).is_some_and(|at| at <= self.now) => self.feed(machine, Event::Wake, self.now),
            _ => self.reload(machine),
        }
    }
}

fn overdue(p: &super::store::Purchase, now: Waktu) -> bool {
    match p.keadaan {
        Keadaan::Running => p.ends_at.is_some_and(|at| at <= now.plus_ms(-LATE_MS)),
        Keadaan::Held | Keadaan::Sent => Store::exp(p) <= now.plus_ms(-LATE_MS),
        _ => p.created_at <= now.plus_ms(-LATE_MS - GIVE_UP_MS),
    }
}
