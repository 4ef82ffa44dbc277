//! The machine: queue, cache and alarm clock of its purchase (design: money 1 and 7). It never awaits in its mailbox: it
//! starts a transaction, remembers that, and takes the result as a message. It announces nothing that is not committed.

mod baca_ulang;
mod beli;
mod hitung_mundur;
mod perangkat;
mod transaksi;

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, ActorContext, AsyncContext, Context, Handler};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::messages::{Balas, Hasil, Leave, Start};
use super::papan::Papan;
use super::registry::Alamat;
use super::ticker::Ticker;
use super::wheel::Key;
use crate::app::AppState;
use crate::domain::waktu::Waktu;
use crate::pembelian::fault;
use crate::pembelian::keadaan::Keadaan;
use crate::pembelian::step::{Event, Pembelian};

pub struct MesinActor {
    state: AppState,
    alamat: Alamat,
    aktif: Option<Aktif>,
    /// The purchase whose hold is being committed.
    hold: Option<Start>,
    antre: VecDeque<Start>,
    papan: Arc<Papan>,
    alarm: Option<Key>,
    ticker: Rc<Ticker>,
    loading: bool,
    /// Counts what was learned of the purchase, so that a slower reading of the database cannot put an older state back.
    learned: u64,
    /// What the device last said of itself: whether it is online, and what it runs.
    last_said: Option<Ucapan>,
    /// The word that is being stored: one at a time, so that an older one never lands on a newer one.
    recording: Option<Ucapan>,
}

type Ucapan = (bool, Option<Uuid>);

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
            ticker: Ticker::new(state.clone(), &alamat, papan.clone()),
            state,
            alamat,
            papan,
            aktif: aktif.map(Aktif::new),
            hold: None,
            antre: VecDeque::new(),
            alarm: None,
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

impl Actor for MesinActor {
    type Context = Ctx;

    fn stopped(&mut self, _: &mut Ctx) {
        self.state.metrics.realtime.actors.dec();
    }

    fn started(&mut self, ctx: &mut Ctx) {
        self.state.metrics.realtime.actors.inc();
        self.state.metrics.realtime.actors_started.inc();
        Self::watch_idle(ctx, Duration::from_secs(self.state.config.mesin.idle_s.max(1)));
        self.arm(ctx);
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
