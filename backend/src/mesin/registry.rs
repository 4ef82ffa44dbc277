//! Finds a machine's actor, or makes one (design: realtime, who owns what). All machines of an outlet live on one worker thread.

use std::sync::RwLock;

use actix::{Actor, Addr, ArbiterHandle, Context, Handler, Message};
use actix::dev::ToEnvelope;
use actix::prelude::SendError;
use dashmap::DashMap;
use dashmap::mapref::entry::Entry;

use super::actor::MesinActor;
use crate::app::AppState;
use crate::http::error::AppError;
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
        let client = state.db.get().await?;
        let stmt = client.prepare_cached("SELECT idoutlet, driver FROM mesin WHERE idmesin = $1").await?;
        let row = client.query_opt(&stmt, &[&idmesin]).await?.ok_or(AppError::MesinNotFound)?;
        Ok(Self { idmesin, idoutlet: row.try_get(0)?, driver: row.try_get(1)? })
    }
}

#[derive(Default)]
pub struct Registry {
    actors: DashMap<i64, Addr<MesinActor>>,
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

    /// Gives `msg` to the machine's actor, making one when there is none.
    pub fn tell<M>(&self, state: &AppState, alamat: &Alamat, msg: M) -> Result<(), AppError>
    where
        M: Message<Result = ()> + Send + 'static,
        MesinActor: Handler<M>,
        Context<MesinActor>: ToEnvelope<MesinActor, M>,
    {
        let mut msg = msg;
        for _ in 0..TRIES {
            let addr = self.get_or_start(state, alamat, None)?;
            match addr.try_send(msg) {
                Ok(()) => return Ok(()),
                Err(SendError::Full(_)) => return Err(AppError::Unavailable),
                Err(SendError::Closed(back)) => {
                    // Passivated between the look-up and now.
                    self.actors.remove_if(&alamat.idmesin, |_, known| *known == addr);
                    msg = back;
                }
            }
        }
        Err(AppError::Unavailable)
    }

    /// The actor of a machine; a new one begins with `aktif` as its open purchase.
    pub fn get_or_start(&self, state: &AppState, alamat: &Alamat, aktif: Option<Pembelian>) -> Result<Addr<MesinActor>, AppError> {
        match self.actors.entry(alamat.idmesin) {
            Entry::Occupied(known) => Ok(known.get().clone()),
            Entry::Vacant(vacant) => {
                let home = self.home(alamat.idoutlet).ok_or(AppError::Unavailable)?;
                let (state, alamat) = (state.clone(), alamat.clone());
                let addr = MesinActor::start_in_arbiter(&home, move |ctx| {
                    ctx.set_mailbox_capacity(MAILBOX);
                    MesinActor::new(state, alamat, aktif)
                });
                vacant.insert(addr.clone());
                Ok(addr)
            }
        }
    }

    /// Forgets an idle actor. Only the actor itself calls this, right before it stops.
    pub fn forget(&self, idmesin: i64, addr: &Addr<MesinActor>) {
        self.actors.remove_if(&idmesin, |_, known| known == addr);
    }

    fn home(&self, idoutlet: i64) -> Option<ArbiterHandle> {
        let workers = self.workers.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let n = i64::try_from(workers.len()).ok().filter(|n| *n > 0)?;
        workers.get(usize::try_from(idoutlet.rem_euclid(n)).ok()?).cloned()
    }
}
