//! Finds a machine's actor, or makes one (docs/decisions/0017-an-outlet-ticks-together-on-one-thread.md). All machines of an
//! outlet live on one worker thread.

use std::sync::{Arc, RwLock};

use actix::dev::channel::channel;
use actix::prelude::SendError;
use actix::{Addr, ArbiterHandle, Context};
use dashmap::DashMap;
use dashmap::mapref::entry::{Entry, VacantEntry};
use dashmap::mapref::one::RefMut;

use super::actor::{Input, MachineActor, Tell};
use super::board::Board;
use super::error::MachineError;
use crate::app::AppState;
use crate::domain::driver_kind::DriverKind;
use crate::domain::timestamp::Timestamp;
use crate::purchase::state::PurchaseState;
use crate::purchase::step::Purchase;

/// Messages that may wait in one machine's mailbox.
pub const MAILBOX: usize = 256;
/// How often a mailbox that closed between finding and telling is looked up again.
const TRIES: usize = 3;

/// A machine's address: which it is, where it stands, and what drives it. Enough to make its actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    pub idmesin: i64,
    pub idoutlet: i64,
    pub driver: DriverKind,
}

impl Location {
    /// Of a machine known by its id alone; 404 when there is none.
    pub async fn find(state: &AppState, idmesin: i64) -> Result<Self, MachineError> {
        if let Some(known) = state.machine.location(idmesin) {
            return Ok(known);
        }
        let client = state.db.get().await?;
        let stmt = client.prepare_cached("SELECT idoutlet, driver FROM mesin WHERE idmesin = $1").await?;
        let row = client.query_opt(&stmt, &[&idmesin]).await?.ok_or(MachineError::NotFound)?;
        let location = Self { idmesin, idoutlet: row.try_get(0)?, driver: row.try_get(1)? };
        state.machine.location.insert(idmesin, location);
        Ok(location)
    }
}

struct Resident {
    addr: Addr<MachineActor>,
    board: Arc<Board>,
}

#[derive(Default)]
pub struct Registry {
    actors: DashMap<i64, Resident>,
    /// Where each machine is, once it had an actor or somebody asked: machines neither move nor vanish.
    location: DashMap<i64, Location>,
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
    pub fn location(&self, idmesin: i64) -> Option<Location> {
        self.location.get(&idmesin).map(|a| *a)
    }

    /// Tells the machine's actor, making one when there is none.
    pub fn tell(&self, state: &AppState, location: &Location, input: Input) -> Result<(), MachineError> {
        let mut tell = Tell::Input(input);
        for _ in 0..TRIES {
            // Sent before the entry's lock is let go, so that an actor which is forgotten has all it was told in its mailbox.
            let resident = self.find_or_start(state, location)?;
            match resident.addr.try_send(tell) {
                Ok(()) => return Ok(()),
                Err(SendError::Full(_)) => return Err(MachineError::Busy),
                Err(SendError::Closed(back)) => {
                    let addr = resident.addr.clone();
                    drop(resident);
                    self.actors.remove_if(&location.idmesin, |_, known| known.addr == addr);
                    tell = back;
                }
            }
        }
        Err(MachineError::Busy)
    }

    /// Tells the machine's actor when there is one, and makes none; whether there was one.
    pub fn tell_if_present(&self, idmesin: i64, input: Input) -> Result<bool, MachineError> {
        // Sent before the entry's lock is let go, as `tell` does.
        let Some(resident) = self.actors.get(&idmesin) else { return Ok(false) };
        match resident.addr.try_send(Tell::Input(input)) {
            Ok(()) => Ok(true),
            Err(SendError::Full(_)) => Err(MachineError::Busy),
            Err(SendError::Closed(_)) => Ok(false),
        }
    }

    /// The machine's device said something at `at`; kept as long as its actor.
    pub fn device_heard(&self, idmesin: i64, at: Timestamp) {
        if let Some(resident) = self.actors.get(&idmesin) {
            resident.board.device_heard(at);
        }
    }

    /// When the machine's device was last heard, if its actor has been there since.
    pub fn device_heard_at(&self, idmesin: i64) -> Option<Timestamp> {
        self.actors.get(&idmesin).and_then(|resident| resident.board.device_heard_at())
    }

    /// Brings a machine's actor back with its open purchase; one that is there already is told to look.
    pub fn resume(&self, state: &AppState, location: &Location, active: Purchase) -> Result<(), MachineError> {
        if let Entry::Vacant(vacant) = self.actors.entry(location.idmesin) {
            return self.start(state, location, vacant, Some(active)).map(drop);
        }
        self.tell(state, location, Input::LookAgain)
    }

    /// One more watcher from `thread`; the machine's board tells what it shows. The watcher counts before the entry's lock is let
    /// go, so that passivation cannot come between.
    pub fn watch(&self, state: &AppState, location: &Location, thread: usize) -> Result<Arc<Board>, MachineError> {
        let resident = self.find_or_start(state, location)?;
        if resident.board.join(thread) {
            // Bounded: the board lets one such word be on its way.
            resident.addr.do_send(Tell::Watched);
        }
        Ok(resident.board.clone())
    }

    /// Forgets an idle actor, unless somebody watches. Only the actor itself asks, right before it stops.
    pub fn forget(&self, idmesin: i64, addr: &Addr<MachineActor>) -> bool {
        self.actors.remove_if(&idmesin, |_, known| known.addr == *addr && !known.board.is_watched()).is_some()
    }

    /// Takes a forgotten actor back that was told something in the meantime; `false` when another one has its place.
    pub fn remember(&self, idmesin: i64, addr: Addr<MachineActor>, board: &Arc<Board>) -> bool {
        match self.actors.entry(idmesin) {
            Entry::Occupied(_) => false,
            Entry::Vacant(vacant) => {
                vacant.insert(Resident { addr, board: board.clone() });
                true
            }
        }
    }

    fn find_or_start(&self, state: &AppState, location: &Location) -> Result<RefMut<'_, i64, Resident>, MachineError> {
        match self.actors.entry(location.idmesin) {
            Entry::Occupied(known) => Ok(known.into_ref()),
            Entry::Vacant(vacant) => self.start(state, location, vacant, None),
        }
    }

    fn start<'a>(
        &self,
        state: &AppState,
        location: &Location,
        vacant: VacantEntry<'a, i64, Resident>,
        active: Option<Purchase>,
    ) -> Result<RefMut<'a, i64, Resident>, MachineError> {
        let home = self.home(location.idoutlet).ok_or(MachineError::Busy)?;
        // So that after a restart ten thousand phones find the machines that run without a question to the database.
        self.location.entry(location.idmesin).or_insert(*location);
        let board = Arc::new(Board::new(self.workers()));
        board.set_ends_at(active.as_ref().filter(|p| p.state == PurchaseState::Running).map(|p| p.ends_at));
        let (state, location, shown) = (state.clone(), *location, board.clone());
        // The mailbox is there before its actor: what many tell at once waits until the thread has made it.
        let (sender, mailbox) = channel(MAILBOX);
        home.spawn_fn(move || {
            let actor = MachineActor::new(state, location, shown, active);
            actix_web::rt::spawn(Context::with_receiver(mailbox).into_future(actor));
        });
        let addr = Addr::new(sender);
        Ok(vacant.insert(Resident { addr, board }))
    }

    fn home(&self, idoutlet: i64) -> Option<ArbiterHandle> {
        let workers = self.workers.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let n = i64::try_from(workers.len()).ok().filter(|n| *n > 0)?;
        workers.get(usize::try_from(idoutlet.rem_euclid(n)).ok()?).cloned()
    }
}
