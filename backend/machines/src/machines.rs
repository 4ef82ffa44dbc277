//! The machines of this server: finds a machine's actor, or makes one (docs/decisions/0017-an-outlet-ticks-together-on-one-thread.md). All machines of an
//! outlet live on one worker thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use actix::dev::channel::channel;
use actix::prelude::SendError;
use actix::{Addr, ArbiterHandle, Context};
use dashmap::DashMap;
use dashmap::mapref::entry::{Entry, VacantEntry};
use dashmap::mapref::one::RefMut;
use nyala_cluster::Ownership;
use nyala_cluster::news::{Hint, News};
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::step::Purchase;
use nyala_ledger::facts;
use nyala_store::db::Store;
use nyala_store::db::pool::Db;

use super::actor::{MachineActor, MachineInput, Tell};
use super::board::Board;
use super::device::Drivers;
use super::error::MachineError;
use super::listeners::Listeners;
use super::metrics::MachineMetrics;

/// Messages that may wait in one machine's mailbox.
pub const MAILBOX: usize = 256;
/// How often a mailbox that closed between finding and telling is looked up again.
const TRIES: usize = 3;

/// A machine's location: which it is, where it stands, and what drives it. Enough to make its actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    pub idmesin: i64,
    pub idoutlet: i64,
    pub driver: DriverKind,
}

struct Resident {
    addr: Addr<MachineActor>,
    board: Arc<Board>,
}

/// What machines stand on.
pub struct MachineParts {
    pub store: Store,
    /// Which machines are decided here.
    pub ownership: Ownership,
    /// What other servers are told of them.
    pub news: News,
    /// The connection of `recovery` alone: it goes on while all others wait behind a lock.
    pub recovery: Db,
    pub drivers: Drivers,
    pub listeners: Arc<dyn Listeners>,
    pub metrics: MachineMetrics,
    /// After how long without anything to do an actor leaves.
    pub idle: Duration,
    pub ticks_per_second: i64,
    /// The edge of a purchase at which the process is to be killed (`fault`); empty: none.
    pub fault_point: String,
}

/// All machines of this server. Cheap to clone.
#[derive(Clone)]
pub struct Machines(Arc<Inner>);

struct Inner {
    parts: MachineParts,
    actors: DashMap<i64, Resident>,
    /// Where each machine is, once it had an actor or somebody asked: machines neither move nor vanish.
    location: DashMap<i64, Location>,
    workers: RwLock<Vec<ArbiterHandle>>,
    open: AtomicBool,
}

impl Machines {
    /// Nobody's home yet, and closed.
    pub fn new(parts: MachineParts) -> Self {
        let (actors, location, workers, open) = Default::default();
        Self(Arc::new(Inner { parts, actors, location, workers, open }))
    }

    pub(super) fn parts(&self) -> &MachineParts {
        &self.0.parts
    }

    pub fn ownership(&self) -> &Ownership {
        &self.0.parts.ownership
    }

    /// Those whose actors are here and which another server decides about.
    pub fn foreign(&self) -> Vec<i64> {
        let foreign = |at: &Location| !self.ownership().owns(at.idoutlet);
        let here = self.0.actors.iter().filter_map(|resident| self.location(*resident.key()));
        here.filter(foreign).map(|at| at.idmesin).collect()
    }

    /// Closes the lines of all devices that are connected here: they find another server.
    pub fn send_devices_away(&self) {
        self.0.parts.drivers.send_away();
    }

    /// Whether the machine's actor is here.
    pub fn is_present(&self, idmesin: i64) -> bool {
        self.0.actors.contains_key(&idmesin)
    }

    /// Something of the machine's purchase is committed: other servers may want to know.
    pub fn changed(&self, location: &Location) {
        self.0.parts.news.tell(Hint::Machine { id: location.idmesin, outlet: location.idoutlet });
    }

    pub fn metrics(&self) -> &MachineMetrics {
        &self.0.parts.metrics
    }

    /// Whether purchases may begin: not while the server starts, whose open purchases are not back yet, and not while it stops.
    pub fn are_open(&self) -> bool {
        self.0.open.load(Ordering::Acquire)
    }

    pub fn set_open(&self, open: bool) {
        self.0.open.store(open, Ordering::Release);
    }

    /// Where the machine is that is known by its id alone.
    ///
    /// # Errors
    /// `NotFound` when there is none.
    pub async fn find(&self, idmesin: i64) -> Result<Location, MachineError> {
        if let Some(known) = self.location(idmesin) {
            return Ok(known);
        }
        let client = self.0.parts.store.get().await?;
        let stmt = client.prepare_cached("SELECT idoutlet, driver FROM mesin WHERE idmesin = $1").await?;
        let row = client.query_opt(&stmt, &[&idmesin]).await?.ok_or(MachineError::NotFound)?;
        let location = Location { idmesin, idoutlet: row.try_get(0)?, driver: row.try_get(1)? };
        self.0.location.insert(idmesin, location);
        Ok(location)
    }

    /// A worker thread offers itself as a home for actors.
    pub fn add_worker(&self, worker: ArbiterHandle) {
        self.0.workers.write().unwrap_or_else(std::sync::PoisonError::into_inner).push(worker);
    }

    pub fn workers(&self) -> usize {
        self.0.workers.read().unwrap_or_else(std::sync::PoisonError::into_inner).len()
    }

    pub fn actors(&self) -> usize {
        self.0.actors.len()
    }

    /// Where a machine is, when that was asked before.
    pub fn location(&self, idmesin: i64) -> Option<Location> {
        self.0.location.get(&idmesin).map(|a| *a)
    }

    /// Where a machine is whose board can be believed: it is decided here, or its purchase was read when its actor was made.
    pub fn shown(&self, idmesin: i64) -> Option<Location> {
        self.location(idmesin).filter(|at| self.ownership().owns(at.idoutlet) || self.is_present(idmesin))
    }

    /// The same of one that nobody has asked for, or that is decided elsewhere.
    ///
    /// # Errors
    /// `NotFound` when there is none.
    pub async fn show(&self, idmesin: i64) -> Result<Location, MachineError> {
        let location = self.find(idmesin).await?;
        if self.shown(idmesin).is_none()
            && let Some(open) = facts::open_at(&self.0.parts.store.get().await?, idmesin).await?
        {
            self.resume(&location, open)?;
        }
        Ok(location)
    }

    /// Tells the machine's actor, making one when there is none.
    pub fn tell(&self, location: &Location, input: MachineInput) -> Result<(), MachineError> {
        let mut tell = Tell::Input(input);
        for _ in 0..TRIES {
            // Sent before the entry's lock is let go, so that an actor which is forgotten has all it was told in its mailbox.
            let resident = self.find_or_start(location)?;
            match resident.addr.try_send(tell) {
                Ok(()) => return Ok(()),
                Err(SendError::Full(_)) => return Err(MachineError::Busy),
                Err(SendError::Closed(back)) => {
                    let addr = resident.addr.clone();
                    drop(resident);
                    self.0.actors.remove_if(&location.idmesin, |_, known| known.addr == addr);
                    tell = back;
                }
            }
        }
        Err(MachineError::Busy)
    }

    /// Tells the machine's actor when there is one, and makes none; whether there was one.
    pub fn tell_if_present(&self, idmesin: i64, input: MachineInput) -> Result<bool, MachineError> {
        // Sent before the entry's lock is let go, as `tell` does.
        let Some(resident) = self.0.actors.get(&idmesin) else { return Ok(false) };
        match resident.addr.try_send(Tell::Input(input)) {
            Ok(()) => Ok(true),
            Err(SendError::Full(_)) => Err(MachineError::Busy),
            Err(SendError::Closed(_)) => Ok(false),
        }
    }

    /// The machine's device said something at `at`; kept as long as its actor.
    pub fn device_heard(&self, idmesin: i64, at: Timestamp) {
        if let Some(resident) = self.0.actors.get(&idmesin) {
            resident.board.device_heard(at);
        }
    }

    /// When the machine's device was last heard, if its actor has been there since.
    pub fn device_heard_at(&self, idmesin: i64) -> Option<Timestamp> {
        self.0.actors.get(&idmesin).and_then(|resident| resident.board.device_heard_at())
    }

    /// Brings a machine's actor back with its open purchase; one that is there already is told to look.
    pub fn resume(&self, location: &Location, active: Purchase) -> Result<(), MachineError> {
        if let Entry::Vacant(vacant) = self.0.actors.entry(location.idmesin) {
            return self.start(location, vacant, Some(active)).map(drop);
        }
        self.tell(location, MachineInput::LookAgain)
    }

    /// One more watcher from `thread`; the machine's board tells what it shows. The watcher counts before the entry's lock is let
    /// go, so that passivation cannot come between.
    pub fn watch(&self, location: &Location, thread: usize) -> Result<Arc<Board>, MachineError> {
        let resident = self.find_or_start(location)?;
        if resident.board.join(thread) {
            // Bounded: the board lets one such word be on its way.
            resident.addr.do_send(Tell::Watched);
        }
        Ok(resident.board.clone())
    }

    /// Forgets an idle actor, unless somebody watches. Only the actor itself asks, right before it stops.
    pub fn forget(&self, idmesin: i64, addr: &Addr<MachineActor>) -> bool {
        self.0.actors.remove_if(&idmesin, |_, known| known.addr == *addr && !known.board.is_watched()).is_some()
    }

    /// Takes a forgotten actor back that was told something in the meantime; `false` when another one has its place.
    pub fn remember(&self, idmesin: i64, addr: Addr<MachineActor>, board: &Arc<Board>) -> bool {
        match self.0.actors.entry(idmesin) {
            Entry::Occupied(_) => false,
            Entry::Vacant(vacant) => {
                vacant.insert(Resident { addr, board: board.clone() });
                true
            }
        }
    }

    fn find_or_start(&self, location: &Location) -> Result<RefMut<'_, i64, Resident>, MachineError> {
        match self.0.actors.entry(location.idmesin) {
            Entry::Occupied(known) => Ok(known.into_ref()),
            Entry::Vacant(vacant) => self.start(location, vacant, None),
        }
    }

    fn start<'a>(
        &self,
        location: &Location,
        vacant: VacantEntry<'a, i64, Resident>,
        active: Option<Purchase>,
    ) -> Result<RefMut<'a, i64, Resident>, MachineError> {
        let home = self.home(location.idoutlet).ok_or(MachineError::Busy)?;
        // So that after a restart ten thousand phones find the machines that run without a question to the database.
        self.0.location.entry(location.idmesin).or_insert(*location);
        let board = Arc::new(Board::new(self.workers()));
        board.set_cycle(active.as_ref().filter(|p| p.state == PurchaseState::Running).map(Purchase::cycle));
        let (machines, location, shown) = (self.clone(), *location, board.clone());
        // The mailbox is there before its actor: what many tell at once waits until the thread has made it.
        let (sender, mailbox) = channel(MAILBOX);
        home.spawn_fn(move || {
            let actor = MachineActor::new(machines, location, shown, active);
            actix_web::rt::spawn(Context::with_receiver(mailbox).into_future(actor));
        });
        let addr = Addr::new(sender);
        Ok(vacant.insert(Resident { addr, board }))
    }

    fn home(&self, idoutlet: i64) -> Option<ArbiterHandle> {
        let workers = self.0.workers.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let n = i64::try_from(workers.len()).ok().filter(|n| *n > 0)?;
        workers.get(usize::try_from(idoutlet.rem_euclid(n)).ok()?).cloned()
    }
}
