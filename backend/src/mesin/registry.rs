//! Finds a machine's actor, or makes one (design: realtime, who owns what). All machines of an outlet live on one worker thread.

use std::sync::{Arc, RwLock};

use actix::dev::ToEnvelope;
use actix::prelude::SendError;
use actix::{Actor, Addr, ArbiterHandle, Context, Handler, Message};
use dashmap::DashMap;
use dashmap::mapref::entry::{Entry, VacantEntry};
use dashmap::mapref::one::RefMut;

use super::actor::MesinActor;
use super::messages::{Reload, Watched};
use super::papan::Papan;
use crate::app::AppState;
use crate::http::error::AppError;
use crate::pembelian::keadaan::Keadaan;
use crate::pembelian::step::Pembelian;

/// Messages that may wait in one machine's mailbox.
pub const MAILBOX: usize = 256;
/// How often a mailbox that closed between finding and telling is looked up again.
const TRIES: usize = 3;

/// Which machine, and what its actor must know to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alamat {
    pub idmesin: i64,
    pub idoutlet: i64,
    pub driver: String,
}

impl Alamat {
    /// Of a machine known by its id alone; 404 when there is none.
    pub async fn find(state: &AppState, idmesin: i64) -> Result<Self, AppError> {
        if let Some(known) = state.mesin.alamat(idmesin) {
            return Ok(known);
        }
        let client = state.db.get().await?;
        let stmt = client.prepare_cached("SELECT idoutlet, driver FROM mesin WHERE idmesin = $1").await?;
        let row = client.query_opt(&stmt, &[&idmesin]).await?.ok_or(AppError::MesinNotFound)?;
        let alamat = Self { idmesin, idoutlet: row.try_get(0)?, driver: row.try_get(1)? };
        state.mesin.alamat.insert(idmesin, alamat.clone());
        Ok(alamat)
    }
}

struct Kenal {
    addr: Addr<MesinActor>,
    papan: Arc<Papan>,
}

#[derive(Default)]
pub struct Registry {
    actors: DashMap<i64, Kenal>,
    /// Where each machine is, once it had an actor or somebody asked: machines neither move nor vanish.
    alamat: DashMap<i64, Alamat>,
    workers: RwLock<Vec<ArbiterHandle>>,
}

impl Registry {
    /// A worker thread offers itself as a home for actors.
    pub fn add_worker(&self, worker: ArbiterHandle) {
        self.workers.write().unwrap_or_else(std::sync::PoisonError::into_inner).push(worker);
    }

    pub fn workers(&self) -> usize {
        self.workers.read().unwrap_or_else(std::sync::PoisonError::into_inner).len()
    }

    pub fn actors(&self) -> usize {
        self.actors.len()
    }

    /// Where a machine is, when that was asked before.
    pub fn alamat(&self, idmesin: i64) -> Option<Alamat> {
        self.alamat.get(&idmesin).map(|a| a.clone())
    }

    /// Gives `msg` to the machine's actor, making one when there is none.
    pub fn tell<M>(&self, state: &AppState, alamat: &Alamat, msg: M) -> Result<(), AppError>
    where
        M: Message<Result = ()> + Send + 'static,
        MesinActor: Handler<M>,
        Context<MesinActor>: ToEnvelope<MesinActor, M>,
    {
        let mut msg = msg;
        for _ in 0..TRIES {
            // Sent before the entry's lock is let go, so that an actor which is forgotten has all it was told in its mailbox.
            let kenal = self.find_or_start(state, alamat)?;
            match kenal.addr.try_send(msg) {
                Ok(()) => return Ok(()),
                Err(SendError::Full(_)) => return Err(AppError::Unavailable),
                Err(SendError::Closed(back)) => {
                    let addr = kenal.addr.clone();
                    drop(kenal);
                    self.actors.remove_if(&alamat.idmesin, |_, known| known.addr == addr);
                    msg = back;
                }
            }
        }
        Err(AppError::Unavailable)
    }

    /// Brings a machine's actor back with its open purchase; one that is there already is told to look.
    pub fn resume(&self, state: &AppState, alamat: &Alamat, aktif: Pembelian) -> Result<(), AppError> {
        if let Entry::Vacant(vacant) = self.actors.entry(alamat.idmesin) {
            return self.start(state, alamat, vacant, Some(aktif)).map(drop);
        }
        self.tell(state, alamat, Reload)
    }

    /// One more watcher from `thread`; the machine's board tells what it shows. The watcher counts before the entry's lock is let
    /// go, so that passivation cannot come between.
    pub fn watch(&self, state: &AppState, alamat: &Alamat, thread: usize) -> Result<Arc<Papan>, AppError> {
        let kenal = self.find_or_start(state, alamat)?;
        if kenal.papan.join(thread) {
            // Bounded: only the first watcher tells.
            kenal.addr.do_send(Watched);
        }
        Ok(kenal.papan.clone())
    }

    /// Forgets an idle actor, unless somebody watches. Only the actor itself asks, right before it stops.
    pub fn forget(&self, idmesin: i64, addr: &Addr<MesinActor>) -> bool {
        self.actors.remove_if(&idmesin, |_, known| known.addr == *addr && !known.papan.is_watched()).is_some()
    }

    /// Takes a forgotten actor back that was told something in the meantime; `false` when another one has its place.
    pub fn remember(&self, idmesin: i64, addr: Addr<MesinActor>, papan: &Arc<Papan>) -> bool {
        match self.actors.entry(idmesin) {
            Entry::Occupied(_) => false,
            Entry::Vacant(vacant) => {
                vacant.insert(Kenal { addr, papan: papan.clone() });
                true
            }
        }
    }

    fn find_or_start(&self, state: &AppState, alamat: &Alamat) -> Result<RefMut<'_, i64, Kenal>, AppError> {
        match self.actors.entry(alamat.idmesin) {
            Entry::Occupied(known) => Ok(known.into_ref()),
            Entry::Vacant(vacant) => self.start(state, alamat, vacant, None),
        }
    }

    fn start<'a>(
        &self,
        state: &AppState,
        alamat: &Alamat,
        vacant: VacantEntry<'a, i64, Kenal>,
        aktif: Option<Pembelian>,
    ) -> Result<RefMut<'a, i64, Kenal>, AppError> {
        let home = self.home(alamat.idoutlet).ok_or(AppError::Unavailable)?;
        // So that after a restart ten thousand phones find the machines that run without a question to the database.
        self.alamat.entry(alamat.idmesin).or_insert_with(|| alamat.clone());
        let papan = Arc::new(Papan::new(self.workers()));
        papan.set_ends_at(aktif.as_ref().filter(|p| p.keadaan == Keadaan::Running).map(|p| p.ends_at));
        let (state, alamat, board) = (state.clone(), alamat.clone(), papan.clone());
        let addr = MesinActor::start_in_arbiter(&home, move |ctx| {
            ctx.set_mailbox_capacity(MAILBOX);
            MesinActor::new(state, alamat, board, aktif)
        });
        Ok(vacant.insert(Kenal { addr, papan }))
    }

    fn home(&self, idoutlet: i64) -> Option<ArbiterHandle> {
        let workers = self.workers.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let n = i64::try_from(workers.len()).ok().filter(|n| *n > 0)?;
        workers.get(usize::try_from(idoutlet.rem_euclid(n)).ok()?).cloned()
    }
}
