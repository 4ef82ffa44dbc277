//! The machine: queue, cache and alarm clock of its purchase (design: money 1 and 7). It never awaits in its mailbox: it
//! starts a transaction, remembers that, and takes the result as a message. It announces nothing that is not committed.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, ActorContext, ActorFutureExt, AsyncContext, Context, Handler, WrapFuture};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::alarm::{self, Wakes};
use super::device::{Command, DeviceEvent};
use super::messages::{
    Applied, AskDevice, Balas, Hasil, HoldDone, Leave, Loaded, Reload, Ring, Said, Start, Stop, Tunggu, Watched,
};
use super::papan::Papan;
use super::registry::Alamat;
use super::tick::{Irama, Tick};
use super::wheel::Key;
use crate::app::AppState;
use crate::domain::waktu::Waktu;
use crate::http::error::AppError;
use crate::ledger::pembelian::{self as ledger, Held};
use crate::pembelian::aturan::Tolakan;
use crate::pembelian::batas::{MAX_WAITERS, MAX_WAITING_STARTS};
use crate::pembelian::fault;
use crate::pembelian::keadaan::Keadaan;
use crate::pembelian::step::{self, Change, Event, Pembelian, Send};
use crate::pembelian::{fakta, perangkat};
use crate::sesi::hub::{self, Siaran};

/// Events of the device that may wait behind a commit.
const MAX_EVENTS: usize = 32;
/// After the database failed, how long until the stored state is read again.
const RELOAD_AFTER: Duration = Duration::from_millis(500);

pub struct MesinActor {
    state: AppState,
    alamat: Alamat,
    aktif: Option<Aktif>,
    /// The purchase whose hold is being committed.
    hold: Option<Start>,
    antre: VecDeque<Start>,
    papan: Arc<Papan>,
    alarm: Option<Key>,
    /// The next tick of a run that somebody watches.
    next_tick: Option<Waktu>,
    irama: Irama,
    loading: bool,
    /// Counts what was learned of the purchase, so that a slower reading of the database cannot put an older state back.
    learned: u64,
    /// What the device last said of itself: whether it is online, and what it runs.
    last_said: Option<Ucapan>,
    /// The word that is being stored: one at a time, so that an older one never lands on a newer one.
    recording: Option<Ucapan>,
}

type Ucapan = (bool, Option<uuid::Uuid>);

/// The open purchase and who waits for it.
struct Aktif {
    p: Pembelian,
    waiters: Vec<Balas>,
    stop_waiters: Vec<oneshot::Sender<()>>,
    /// A change is being committed; events wait in `events`.
    committing: bool,
    events: VecDeque<Event>,
}

impl Aktif {
    fn new(p: Pembelian) -> Self {
        Self { p, waiters: Vec::new(), stop_waiters: Vec::new(), committing: false, events: VecDeque::new() }
    }

    fn answer(&mut self, hasil: Hasil) {
        for balas in self.waiters.drain(..) {
            let _ = balas.send(hasil);
        }
    }
}

/// The outcome that a decided state is, for those who wait.
fn outcome(keadaan: Keadaan) -> Option<Hasil> {
    match keadaan {
        Keadaan::Running | Keadaan::Finished | Keadaan::Stopped => Some(Hasil::Menyala),
        Keadaan::Refused | Keadaan::Expired => Some(Hasil::TidakMenyala),
        Keadaan::Held | Keadaan::Sent | Keadaan::Unsure => None,
    }
}

type Ctx = Context<MesinActor>;

impl MesinActor {
    pub fn new(state: AppState, alamat: Alamat, papan: Arc<Papan>, aktif: Option<Pembelian>) -> Self {
        Self {
            irama: Irama::of(alamat.idoutlet, state.config.dev.ticks_per_second),
            state,
            alamat,
            papan,
            aktif: aktif.map(Aktif::new),
            hold: None,
            antre: VecDeque::new(),
            alarm: None,
            next_tick: None,
            loading: false,
            learned: 0,
            last_said: None,
            recording: None,
        }
    }

    fn now(&self) -> Waktu {
        self.state.jam.now()
    }

    fn fault(&self, name: &str) {
        fault::point(&self.state.config.dev.fault_point, name);
    }

    // --- buying ---

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
    fn next_start(&mut self, ctx: &mut Ctx) {
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

    // --- the open purchase ---

    /// The first word of the device on a command that this process sent.
    fn measure_answer(&self, cmd_id: Uuid) {
        let asked =
            self.aktif.as_ref().filter(|a| a.p.cmd_id == cmd_id && a.p.keadaan.undecided()).and_then(|a| a.p.obrolan.first_sent);
        if let Some(first_sent) = asked {
            self.state.metrics.device_answered(Duration::from_millis(first_sent.ms_until(self.now()).max(0).unsigned_abs()));
        }
    }

    fn feed(&mut self, event: Event, ctx: &mut Ctx) {
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
        let (state, id) = (self.state.clone(), next.id);
        let (before, after) = edges(change);
        self.fault(before);
        let work = async move {
            let client = state.db.get().await?;
            let result = ledger::apply(&client, id, change, now).await;
            fault::point(&state.config.dev.fault_point, after);
            result
        };
        ctx.spawn(work.into_actor(self).map(move |result, _, ctx| ctx.notify(Applied { next, send, result })));
    }

    fn send(&mut self, op: Send, ctx: &mut Ctx) {
        let Some(aktif) = &self.aktif else { return };
        let p = &aktif.p;
        let cmd =
            Command { idmesin: self.alamat.idmesin, cmd_id: p.cmd_id, epoch: p.epoch, op, durasi_s: p.durasi_s, exp: p.exp() };
        self.command(&cmd, ctx);
        if op == Send::Start {
            self.fault("after_send");
        }
    }

    fn command(&self, cmd: &Command, ctx: &mut Ctx) {
        let Some(reply) = perangkat::command(&self.state, &self.alamat.driver, cmd) else { return };
        let deliver = move |ctx: &mut Ctx| reply.events.iter().for_each(|e| ctx.notify(Said(e.clone())));
        match u64::try_from(reply.after_ms) {
            Ok(ms) if ms > 0 => {
                ctx.run_later(Duration::from_millis(ms), move |_, ctx| deliver(ctx));
            }
            _ => deliver(ctx),
        }
    }

    /// Sets the alarm for the purchase's next moment or the next tick, whichever comes first.
    fn arm(&mut self, ctx: &mut Ctx) {
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

    fn is_committing(&self) -> bool {
        self.aktif.as_ref().is_some_and(|a| a.committing)
    }

    fn running(&self) -> Option<&Pembelian> {
        self.aktif.as_ref().map(|a| &a.p).filter(|p| p.keadaan == Keadaan::Running)
    }

    fn adopt(&mut self, p: Pembelian, ctx: &mut Ctx) {
        let Some(aktif) = &mut self.aktif else { return };
        self.learned += 1;
        let before = std::mem::replace(&mut aktif.p, p).keadaan;
        aktif.committing = false;
        let p = aktif.p.clone();
        if let Some(hasil) = outcome(p.keadaan) {
            aktif.answer(hasil);
        }
        if p.keadaan == Keadaan::Expired {
            // The staff flag may be new: the device's next word counts even when it is the old one.
            self.last_said = None;
        }
        if !p.keadaan.open() {
            for done in aktif.stop_waiters.drain(..) {
                let _ = done.send(());
            }
            self.aktif = None;
        }
        if before != p.keadaan {
            self.announce(&p);
        } else {
            self.papan.set_ends_at(self.running().map(|p| p.ends_at));
        }
        self.arm(ctx);
        self.next_start(ctx);
    }

    // --- the countdown ---

    /// Tells who watches what has just been committed (contract §3). The board first: whoever joins now reads it.
    fn announce(&self, p: &Pembelian) {
        let now = self.now();
        self.papan.set_ends_at((p.keadaan == Keadaan::Running).then_some(p.ends_at));
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
        if let Some(ends_at) = self.running().map(|p| p.ends_at).filter(|at| now < *at) {
            self.state.metrics.realtime.tick_lateness(due.ms_until(now));
            self.broadcast(Tick::running(ends_at, now), true);
        }
    }

    fn drain_events(&mut self, ctx: &mut Ctx) {
        while let Some(aktif) = &mut self.aktif
            && !aktif.committing
            && let Some(event) = aktif.events.pop_front()
        {
            self.feed(event, ctx);
        }
    }

    fn reload(&mut self, ctx: &mut Ctx) {
        if self.loading || self.hold.is_some() || self.is_committing() {
            return;
        }
        self.loading = true;
        let (state, idmesin, learned) = (self.state.clone(), self.alamat.idmesin, self.learned);
        let work = async move {
            let client = state.db.get().await?;
            fakta::terbuka_di(&client, idmesin).await
        };
        ctx.spawn(work.into_actor(self).map(move |result, _, ctx| ctx.notify(Loaded { learned, result })));
    }

    /// A commit did not say what became of it: nothing is done until the stored state is read.
    fn doubt(&mut self) {
        self.learned += 1;
        if let Some(aktif) = &mut self.aktif {
            aktif.committing = false;
            aktif.events.clear();
        }
    }

    /// What is stored takes the place of what was known; whatever that decides is told.
    fn take_over(&mut self, stored: Option<Pembelian>) {
        let Some(mut known) = self.aktif.take() else {
            self.aktif = stored.map(Aktif::new);
            return;
        };
        let before = known.p.keadaan;
        match stored {
            Some(p) if p.id == known.p.id => {
                known.p = p.reread(&known.p);
                known.events.clear();
                if let Some(hasil) = outcome(known.p.keadaan) {
                    known.answer(hasil);
                }
                if known.p.keadaan != before {
                    self.announce(&known.p);
                }
                self.aktif = Some(known);
            }
            other => {
                // It has ended, and the facts tell its waiters how; for those who watch, the countdown is over.
                known.answer(Hasil::BacaLagi);
                known.stop_waiters.drain(..).for_each(|done| _ = done.send(()));
                known.p.keadaan = if before == Keadaan::Running { Keadaan::Finished } else { Keadaan::Expired };
                self.announce(&known.p);
                self.aktif = other.map(Aktif::new);
            }
        }
    }

    fn reload_later(ctx: &mut Ctx) {
        ctx.run_later(RELOAD_AFTER, |actor, ctx| actor.reload(ctx));
    }

    // --- the device ---

    /// Keeps `online` and the staff flag as the device says, and has unpaid runs on record.
    fn record_state(&mut self, online: bool, run: Option<uuid::Uuid>, ctx: &mut Ctx) {
        if self.last_said == Some((online, run)) {
            return;
        }
        self.last_said = Some((online, run));
        if self.recording.is_none() {
            self.record(online, run, ctx);
        }
    }

    fn record(&mut self, online: bool, run: Option<uuid::Uuid>, ctx: &mut Ctx) {
        self.recording = Some((online, run));
        let ours = self.aktif.as_ref().is_some_and(|a| run.is_none_or(|cmd| cmd == a.p.cmd_id));
        let foreign = run.filter(|_| !ours);
        let (state, idmesin, now) = (self.state.clone(), self.alamat.idmesin, self.now());
        let work = async move {
            let client = state.db.get().await?;
            perangkat::record(&client, idmesin, online, run.is_some(), foreign, now).await
        };
        ctx.spawn(work.into_actor(self).map(|result, actor, ctx| {
            let stored = actor.recording.take();
            if let Err(e) = result {
                tracing::warn!(error = %e, "a device's state was not stored; its next word will be");
                actor.last_said = actor.last_said.filter(|said| Some(*said) != stored);
            }
            if let Some((online, run)) = actor.last_said.filter(|said| Some(*said) != stored) {
                actor.record(online, run, ctx);
            }
        }));
    }

    fn watch_idle(ctx: &mut Ctx, every: Duration) {
        ctx.run_interval(every, |actor, ctx| {
            if actor.is_idle() && actor.state.mesin.forget(actor.alamat.idmesin, &ctx.address()) {
                // What was told before that is in the mailbox, and the mailbox comes first.
                ctx.notify(Leave);
            }
        });
    }

    fn is_idle(&self) -> bool {
        self.aktif.is_none() && self.hold.is_none() && self.antre.is_empty() && !self.loading && self.recording.is_none()
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

impl Actor for MesinActor {
    type Context = Ctx;

    fn stopped(&mut self, _: &mut Ctx) {
        self.state.metrics.realtime.actors.dec();
    }

    fn started(&mut self, ctx: &mut Ctx) {
        self.state.metrics.realtime.actors.inc();
        Self::watch_idle(ctx, Duration::from_secs(self.state.config.mesin.idle_s.max(1)));
        self.arm(ctx);
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

impl Handler<Loaded> for MesinActor {
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
                self.papan.set_ends_at(self.running().map(|p| p.ends_at));
                self.arm(ctx);
                self.next_start(ctx);
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

impl Handler<Said> for MesinActor {
    type Result = ();

    fn handle(&mut self, Said(event): Said, ctx: &mut Ctx) {
        match event {
            DeviceEvent::Ack { cmd_id, result } => {
                self.measure_answer(cmd_id);
                self.feed(Event::Ack { cmd_id, result }, ctx);
            }
            DeviceEvent::State { online, run } => {
                self.record_state(online, run.map(|r| r.cmd_id), ctx);
                if let Some(run) = run {
                    self.feed(Event::Runs { cmd_id: run.cmd_id, sisa_ms: run.sisa_ms }, ctx);
                }
            }
        }
    }
}

impl Handler<Reload> for MesinActor {
    type Result = ();

    fn handle(&mut self, _: Reload, ctx: &mut Ctx) {
        match &self.aktif {
            Some(a) if a.committing => {}
            Some(a) if step::wake_at(&a.p).is_some_and(|at| at <= self.now()) => self.feed(Event::Wake, ctx),
            _ => self.reload(ctx),
        }
    }
}

impl Handler<Leave> for MesinActor {
    type Result = ();

    fn handle(&mut self, _: Leave, ctx: &mut Ctx) {
        let stays = !self.is_idle() && self.state.mesin.remember(self.alamat.idmesin, ctx.address(), &self.papan);
        if !stays {
            ctx.stop();
        }
    }
}

impl Handler<AskDevice> for MesinActor {
    type Result = ();

    fn handle(&mut self, _: AskDevice, ctx: &mut Ctx) {
        // No purchase is meant, so the answer counts only as the device's own state.
        let cmd = Command {
            idmesin: self.alamat.idmesin,
            cmd_id: uuid::Uuid::nil(),
            epoch: 0,
            op: Send::Query,
            durasi_s: 0,
            exp: self.now(),
        };
        self.last_said = None;
        self.command(&cmd, ctx);
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
