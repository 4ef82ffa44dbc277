//! Registry of this server's machines: finds a machine's actor, or makes one
//! (docs/decisions/0017-an-outlet-ticks-together-on-one-thread.md). All machines of an outlet run on one worker thread.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use actix::dev::channel::channel;
use actix::prelude::SendError;
use actix::{Addr, ArbiterHandle, Context};
use dashmap::DashMap;
use dashmap::mapref::entry::{Entry, VacantEntry};
use dashmap::mapref::one::RefMut;
use nyala_cluster::Ownership;
use nyala_cluster::notifications::{Notification, Notifier};
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::machine::{Input, Outcome, RequestId};
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::step::Purchase;
use nyala_ledger::facts;
use nyala_store::db::Store;
use nyala_store::db::pool::Db;
use tokio::sync::{broadcast, oneshot};

use super::actor::{ActorMessage, MachineActor};
use super::device::Drivers;
use super::error::MachineError;
use super::listeners::Listeners;
use super::metrics::MachineMetrics;
use super::status::MachineStatus;

/// Messages that may wait in one machine's mailbox.
pub const MAILBOX: usize = 256;
/// Attempts to send to an actor, because its mailbox may close between lookup and send.
const MAX_ATTEMPTS: usize = 3;

/// Location of a machine: its id, its outlet and its driver. This suffices to make its actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    pub idmesin: MachineId,
    pub idoutlet: OutletId,
    pub driver: DriverKind,
}

struct Resident {
    addr: Addr<MachineActor>,
    status: Arc<MachineStatus>,
}

/// Dependencies of the machines.
pub struct MachineParts {
    pub store: Store,
    /// Which machines this server owns.
    pub ownership: Ownership,
    /// Change notifications for other servers.
    pub notifier: Notifier,
    /// Outlets at whose machines something was committed here. A listener that falls behind misses some.
    pub changes: broadcast::Sender<OutletId>,
    /// Separate connection for `recovery`: it stays usable while all others wait behind a lock.
    pub recovery: Db,
    pub drivers: Drivers,
    pub listeners: Arc<dyn Listeners>,
    pub metrics: MachineMetrics,
    /// How long an actor stays in memory without anything to do.
    pub idle: Duration,
    pub ticks_per_second: i64,
    /// Crash point at which the process is killed (`fault`); empty: none.
    pub fault_point: String,
}

/// All machines of this server. Cheap to clone.
#[derive(Clone)]
pub struct Machines(Arc<MachineRegistry>);

struct MachineRegistry {
    parts: MachineParts,
    actors: DashMap<MachineId, Resident>,
    /// Location of each machine that has had an actor or was looked up: machines neither move nor disappear.
    location: DashMap<MachineId, Location>,
    workers: RwLock<Vec<ArbiterHandle>>,
    open: AtomicBool,
    next_request: AtomicU64,
}

impl Machines {
    /// Empty registry, closed for purchases.
    pub fn new(parts: MachineParts) -> Self {
        let (actors, location, workers, open, next_request) = Default::default();
        Self(Arc::new(MachineRegistry { parts, actors, location, workers, open, next_request }))
    }

    pub(super) fn parts(&self) -> &MachineParts {
        &self.0.parts
    }

    pub fn ownership(&self) -> &Ownership {
        &self.0.parts.ownership
    }

    /// Machines that have an actor here and are owned by another server.
    pub fn remote(&self) -> Vec<MachineId> {
        let remote = |at: &Location| !self.ownership().owns(at.idoutlet);
        let here = self.0.actors.iter().filter_map(|resident| self.location(*resident.key()));
        here.filter(remote).map(|at| at.idmesin).collect()
    }

    /// Closes the connections of all devices that are connected here, so that they connect to another server.
    pub fn disconnect_devices(&self) {
        self.0.parts.drivers.disconnect_all();
    }

    /// Whether the machine's actor is here.
    pub fn is_present(&self, idmesin: MachineId) -> bool {
        self.0.actors.contains_key(&idmesin)
    }

    /// Notifies this server's boards and other servers that something about the machine's purchase was committed.
    pub fn changed(&self, location: &Location) {
        // Having no listener is not an error.
        let _ = self.0.parts.changes.send(location.idoutlet);
        self.0.parts.notifier.notify(Notification::Machine { id: location.idmesin, outlet: location.idoutlet });
    }

    pub fn metrics(&self) -> &MachineMetrics {
        &self.0.parts.metrics
    }

    /// Whether purchases may begin: not while the server starts and its open purchases are not resumed yet, and not while it stops.
    pub fn are_open(&self) -> bool {
        self.0.open.load(Ordering::Acquire)
    }

    pub fn set_open(&self, open: bool) {
        self.0.open.store(open, Ordering::Release);
    }

    /// Looks a machine up by its id alone.
    ///
    /// # Errors
    /// `NotFound` when no such machine exists.
    pub async fn find(&self, idmesin: MachineId) -> Result<Location, MachineError> {
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

    /// Registers a worker thread on which actors can run.
    pub fn add_worker(&self, worker: ArbiterHandle) {
        self.0.workers.write().unwrap_or_else(std::sync::PoisonError::into_inner).push(worker);
    }

    pub fn workers(&self) -> usize {
        self.0.workers.read().unwrap_or_else(std::sync::PoisonError::into_inner).len()
    }

    pub fn actors(&self) -> usize {
        self.0.actors.len()
    }

    /// Location of a machine, if it was looked up before.
    pub fn location(&self, idmesin: MachineId) -> Option<Location> {
        self.0.location.get(&idmesin).map(|a| *a)
    }

    /// Location of a machine whose status is valid: this server owns it, or its purchase was read when its actor was made.
    pub fn shown(&self, idmesin: MachineId) -> Option<Location> {
        self.location(idmesin).filter(|at| self.ownership().owns(at.idoutlet) || self.is_present(idmesin))
    }

    /// Does the same for a machine that was not looked up yet or is remote.
    ///
    /// # Errors
    /// `NotFound` when no such machine exists.
    pub async fn show(&self, idmesin: MachineId) -> Result<Location, MachineError> {
        let location = self.find(idmesin).await?;
        if self.shown(idmesin).is_none()
            && let Some(open) = facts::open_at(&self.0.parts.store.get().await?, idmesin).await?
        {
            self.resume(&location, open)?;
        }
        Ok(location)
    }

    /// Sends an input to the machine's actor and makes the actor when it is missing.
    pub fn send(&self, location: &Location, input: Input) -> Result<(), MachineError> {
        self.send_message(location, ActorMessage::Input(input))
    }

    /// Sends an input for a caller who awaits its outcome, like `send`. When no outcome comes, nothing was decided: read the database.
    pub fn ask(
        &self,
        location: &Location,
        input: impl FnOnce(RequestId) -> Input,
    ) -> Result<oneshot::Receiver<Outcome>, MachineError> {
        let id = RequestId(self.0.next_request.fetch_add(1, Ordering::Relaxed));
        let (reply, outcome) = oneshot::channel();
        self.send_message(location, ActorMessage::Request { id, input: input(id), reply })?;
        Ok(outcome)
    }

    fn send_message(&self, location: &Location, mut message: ActorMessage) -> Result<(), MachineError> {
        for _ in 0..MAX_ATTEMPTS {
            // The send happens under the entry's lock: an actor that is forgotten then has all its inputs in its mailbox.
            let resident = self.find_or_start(location)?;
            match resident.addr.try_send(message) {
                Ok(()) => return Ok(()),
                Err(SendError::Full(_)) => return Err(MachineError::Busy),
                Err(SendError::Closed(back)) => {
                    let addr = resident.addr.clone();
                    drop(resident);
                    self.0.actors.remove_if(&location.idmesin, |_, known| known.addr == addr);
                    message = back;
                }
            }
        }
        Err(MachineError::Busy)
    }

    /// Sends an input to the machine's actor only if it exists. Returns whether it did.
    pub fn send_if_present(&self, idmesin: MachineId, input: Input) -> Result<bool, MachineError> {
        // The send happens under the entry's lock, as in `send`.
        let Some(resident) = self.0.actors.get(&idmesin) else { return Ok(false) };
        match resident.addr.try_send(ActorMessage::Input(input)) {
            Ok(()) => Ok(true),
            Err(SendError::Full(_)) => Err(MachineError::Busy),
            Err(SendError::Closed(_)) => Ok(false),
        }
    }

    /// Records that the machine's device sent a message at `at`; kept as long as its actor.
    pub fn record_device_message(&self, idmesin: MachineId, at: Timestamp) {
        if let Some(resident) = self.0.actors.get(&idmesin) {
            resident.status.record_device_message(at);
        }
    }

    /// When the machine's device last sent a message, if its actor existed then.
    pub fn last_device_message_at(&self, idmesin: MachineId) -> Option<Timestamp> {
        self.0.actors.get(&idmesin).and_then(|resident| resident.status.last_device_message_at())
    }

    /// Makes a machine's actor with its open purchase. An actor that already exists loads its purchase again.
    pub fn resume(&self, location: &Location, active: Purchase) -> Result<(), MachineError> {
        if let Entry::Vacant(vacant) = self.0.actors.entry(location.idmesin) {
            return self.start(location, vacant, Some(active)).map(drop);
        }
        self.send(location, Input::Reload)
    }

    /// Adds a watcher on `thread` and returns the machine's status. The watcher is counted under the entry's lock, so that the actor is
    /// not forgotten in between.
    pub fn watch(&self, location: &Location, thread: usize) -> Result<Arc<MachineStatus>, MachineError> {
        let resident = self.find_or_start(location)?;
        if resident.status.join(thread) {
            // The mailbox limit does not apply to this message. The status allows only one of them at a time.
            resident.addr.do_send(ActorMessage::FirstWatcher);
        }
        Ok(resident.status.clone())
    }

    /// Removes an idle actor unless it is watched. Only the actor itself calls this, right before it stops.
    pub fn forget(&self, idmesin: MachineId, addr: &Addr<MachineActor>) -> bool {
        self.0.actors.remove_if(&idmesin, |_, known| known.addr == *addr && !known.status.is_watched()).is_some()
    }

    /// Takes a forgotten actor back that has received an input since; `false` when another actor has replaced it.
    pub fn remember(&self, idmesin: MachineId, addr: Addr<MachineActor>, status: &Arc<MachineStatus>) -> bool {
        match self.0.actors.entry(idmesin) {
            Entry::Occupied(_) => false,
            Entry::Vacant(vacant) => {
                vacant.insert(Resident { addr, status: status.clone() });
                true
            }
        }
    }

    fn find_or_start(&self, location: &Location) -> Result<RefMut<'_, MachineId, Resident>, MachineError> {
        match self.0.actors.entry(location.idmesin) {
            Entry::Occupied(known) => Ok(known.into_ref()),
            Entry::Vacant(vacant) => self.start(location, vacant, None),
        }
    }

    fn start<'a>(
        &self,
        location: &Location,
        vacant: VacantEntry<'a, MachineId, Resident>,
        active: Option<Purchase>,
    ) -> Result<RefMut<'a, MachineId, Resident>, MachineError> {
        let home = self.home(location.idoutlet).ok_or(MachineError::Busy)?;
        // After a restart, ten thousand phones then find the running machines without a database query.
        self.0.location.entry(location.idmesin).or_insert(*location);
        let status = Arc::new(MachineStatus::new(self.workers()));
        status.set_cycle(active.as_ref().filter(|p| p.state == PurchaseState::Running).map(Purchase::cycle));
        let (machines, location, shown) = (self.clone(), *location, status.clone());
        // The mailbox exists before its actor: inputs wait in it until the thread has made the actor.
        let (sender, mailbox) = channel(MAILBOX);
        home.spawn_fn(move || {
            let actor = MachineActor::new(machines, location, shown, active);
            actix_web::rt::spawn(Context::with_receiver(mailbox).into_future(actor));
        });
        let addr = Addr::new(sender);
        Ok(vacant.insert(Resident { addr, status }))
    }

    fn home(&self, idoutlet: OutletId) -> Option<ArbiterHandle> {
        let workers = self.0.workers.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let n = i64::try_from(workers.len()).ok().filter(|n| *n > 0)?;
        workers.get(usize::try_from(idoutlet.get().rem_euclid(n)).ok()?).cloned()
    }
}
