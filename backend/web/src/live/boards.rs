//! Watched boards: one task for each outlet that a page watches reads it again when something changed, and sends what is new. What a board shows, and
//! to whom, is its [`Content`]: that of staff, or that of customers.

use std::future::Future;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use actix_socketio::{Ack, Broadcast, Socket};
use dashmap::DashMap;
use nyala_cluster::notifications::{Notification, Notifier, Received};
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::Store;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;
use serde::Serialize;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::sync::{Mutex, Notify};

use super::watcher::acknowledge;
use crate::board::read::Board;
use crate::http::error::AppError;

/// The longest delay of a change for which no notification comes.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Each pause is this many times as long as the read before it: a board takes at most a hundredth of a core.
const PAUSE_FACTOR: u32 = 100;
/// Changes within this time are read together.
const TOGETHER: Duration = Duration::from_millis(50);
/// How often a page gets a message without changes, so that it knows that its socket works.
const ALIVE_EVERY: Duration = Duration::from_secs(15);
/// Boards that one socket watches.
pub const MAX_BOARDS: usize = 32;
pub const TOO_MANY: &str = "paling banyak 32 papan sekaligus";
const UNKNOWN: AppError = AppError::NotFound("outlet tidak ditemukan");

/// What the boards of outlets show, and how changes are sent to their sockets.
pub trait Content: Send + Sync + 'static {
    type Outlet: Serialize + PartialEq + Send + Sync;
    type Tile: Serialize + PartialEq + Send + Sync;
    type Entry: Serialize + PartialEq + Send + Sync;
    /// Who watches; each has a room.
    type View: Copy + 'static;

    /// What an outlet's board shows now; `None`: there is no such outlet for those who watch.
    fn read(
        &self,
        client: &DbClient,
        idoutlet: OutletId,
        now: Timestamp,
    ) -> impl Future<Output = Result<Option<BoardOf<Self>>, DbError>>;

    fn id(tile: &Self::Tile) -> MachineId;

    /// The sockets that watch an outlet's board in the same way.
    fn room(idoutlet: OutletId, view: Self::View) -> String;

    /// Acknowledges a subscription.
    fn acknowledge(ack: Ack, all: &Snapshot<'_, Self>, view: Self::View);

    /// Sends a change to all rooms of an outlet.
    ///
    /// # Errors
    /// When it cannot be written, which should never happen.
    fn emit(sockets: &Broadcast, idoutlet: OutletId, change: &ChangeOf<'_, Self>) -> serde_json::Result<()>;
}

/// What a board of such a content shows.
pub type BoardOf<C> = Board<<C as Content>::Outlet, <C as Content>::Tile, <C as Content>::Entry>;
/// What changed of it.
pub type ChangeOf<'a, C> = Change<'a, <C as Content>::Outlet, &'a <C as Content>::Tile, &'a <C as Content>::Entry>;

/// All that a board shows, with the number of its last change.
pub struct Snapshot<'a, C: Content + ?Sized> {
    pub versi: i64,
    pub server_time: i64,
    pub board: &'a BoardOf<C>,
}

/// The boards that are watched here. Cheap to clone.
pub struct Boards<C: Content>(Arc<BoardRegistry<C>>);

impl<C: Content> Clone for Boards<C> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

struct BoardRegistry<C: Content> {
    store: Store,
    content: C,
    boards: DashMap<OutletId, Arc<WatchedBoard<C>>>,
    /// Set once the sockets are there.
    sockets: OnceLock<Broadcast>,
}

struct WatchedBoard<C: Content> {
    watchers: Arc<AtomicUsize>,
    wake: Notify,
    /// The number of the last change. It outlives the watchers, so that no number is given twice.
    version: AtomicI64,
    shown: Mutex<Shown<C>>,
}

impl<C: Content> Default for WatchedBoard<C> {
    fn default() -> Self {
        Self { watchers: Arc::default(), wake: Notify::default(), version: AtomicI64::default(), shown: Mutex::default() }
    }
}

struct Shown<C: Content> {
    /// What was sent last.
    now: Option<BoardOf<C>>,
    /// Whether a task follows the board.
    followed: bool,
}

impl<C: Content> Default for Shown<C> {
    fn default() -> Self {
        Self { now: None, followed: false }
    }
}

/// A page that watches a board; dropping it ends that.
pub struct BoardWatch {
    watchers: Arc<AtomicUsize>,
    pub idoutlet: OutletId,
}

impl Drop for BoardWatch {
    fn drop(&mut self) {
        self.watchers.fetch_sub(1, Ordering::AcqRel);
    }
}

/// What changed; a bare one says that the socket works.
#[derive(Debug, PartialEq, Serialize)]
pub struct Change<'a, O, T, P> {
    pub versi: i64,
    pub server_time: i64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mesin: Vec<T>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hilang: Vec<MachineId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perhatian: Option<Vec<P>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outlet: Option<&'a O>,
}

impl<O, T, P> Default for Change<'_, O, T, P> {
    fn default() -> Self {
        Self { versi: 0, server_time: 0, mesin: Vec::new(), hilang: Vec::new(), perhatian: None, outlet: None }
    }
}

impl<'a, O, T, P> Change<'a, O, &'a T, &'a P> {
    /// The same change with other tiles and entries.
    pub fn with<U, Q>(&self, tile: impl Fn(&'a T) -> U, entry: impl Fn(&'a P) -> Option<Q>) -> Change<'a, O, U, Q> {
        Change {
            versi: self.versi,
            server_time: self.server_time,
            mesin: self.mesin.iter().map(|one| tile(one)).collect(),
            hilang: self.hilang.clone(),
            perhatian: self.perhatian.as_ref().map(|all| all.iter().filter_map(|one| entry(one)).collect()),
            outlet: self.outlet,
        }
    }
}

impl<O, T, P> Change<'_, O, T, P> {
    fn is_bare(&self) -> bool {
        self.mesin.is_empty() && self.hilang.is_empty() && self.perhatian.is_none() && self.outlet.is_none()
    }
}

impl<C: Content> Boards<C> {
    pub fn new(store: Store, content: C) -> Self {
        Self(Arc::new(BoardRegistry { store, content, boards: DashMap::new(), sockets: OnceLock::new() }))
    }

    /// Changes are sent to these sockets from now on, by the rooms that they are in.
    pub fn send_to(&self, sockets: Broadcast) {
        let _ = self.0.sockets.set(sockets);
    }

    /// The number of this server's last change of an outlet's board.
    pub fn version(&self, idoutlet: OutletId) -> i64 {
        self.0.boards.get(&idoutlet).map_or(0, |board| board.version.load(Ordering::Acquire))
    }

    /// What an outlet's board shows now; `None` when there is no such outlet.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn read_now(&self, idoutlet: OutletId) -> Result<Option<BoardOf<C>>, DbError> {
        let client = self.0.store.get().await?;
        self.0.content.read(&client, idoutlet, self.0.store.now()).await
    }

    /// From now on `socket` gets the changes of an outlet's board; acknowledges with all of it. Called on the socket's thread.
    pub async fn watch(&self, (idoutlet, view): (OutletId, C::View), socket: &Socket, ack: Option<Ack>) -> Option<BoardWatch> {
        // An outlet that is not there leaves nothing.
        if !self.0.boards.contains_key(&idoutlet) && matches!(self.read_now(idoutlet).await, Ok(None)) {
            acknowledge(ack, UNKNOWN.status().as_u16(), &UNKNOWN.to_string());
            return None;
        }
        let board = self.0.boards.entry(idoutlet).or_default().clone();
        board.watchers.fetch_add(1, Ordering::AcqRel);
        let watch = BoardWatch { watchers: board.watchers.clone(), idoutlet };
        let mut shown = board.shown.lock().await;
        if shown.now.is_none() {
            match self.read_now(idoutlet).await.map_err(AppError::from).and_then(|now| now.ok_or(UNKNOWN)) {
                Ok(now) => shown.now = Some(now),
                Err(e) => {
                    acknowledge(ack, e.status().as_u16(), &e.to_string());
                    return None;
                }
            }
        }
        // Under the lock: each later change reaches the room, and each earlier one is in the snapshot.
        if socket.join(C::room(idoutlet, view)).is_err() {
            acknowledge(ack, 429, TOO_MANY);
            return None;
        }
        if let (Some(ack), Some(now)) = (ack, &shown.now) {
            let versi = board.version.load(Ordering::Acquire);
            C::acknowledge(ack, &Snapshot { versi, server_time: self.0.store.now().ms(), board: now }, view);
        }
        if !std::mem::replace(&mut shown.followed, true) {
            // On this worker thread, which stays when the socket ends.
            actix_web::rt::spawn(self.clone().follow(idoutlet, board.clone()));
        }
        drop(shown);
        Some(watch)
    }

    /// Something at an outlet was committed: its board is read at once if it is watched.
    pub fn changed(&self, idoutlet: OutletId) {
        if let Some(board) = self.0.boards.get(&idoutlet) {
            board.wake.notify_one();
        }
    }

    /// Wakes boards for commits of this server's machines and of other servers, until the server stops.
    pub async fn wake_loop(self, mut changes: broadcast::Receiver<OutletId>, notifier: Notifier) {
        let mut notifications = notifier.listen();
        loop {
            tokio::select! {
                change = changes.recv() => match change {
                    Ok(idoutlet) => self.changed(idoutlet),
                    // Each board looks by itself within a second.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                },
                received = notifications.next() => {
                    if let Received::Notification { notification: Notification::Machine { outlet, .. }, .. } = received {
                        self.changed(outlet);
                    }
                }
            }
        }
    }

    /// Sends the changes of a board while it is watched.
    async fn follow(self, idoutlet: OutletId, board: Arc<WatchedBoard<C>>) {
        let mut alive_at = Instant::now();
        let mut pause = LOOK_EVERY;
        loop {
            if tokio::time::timeout(pause, board.wake.notified()).await.is_ok() {
                tokio::time::sleep(TOGETHER).await;
            }
            let mut shown = board.shown.lock().await;
            if board.watchers.load(Ordering::Acquire) == 0 {
                *shown = Shown::default();
                return;
            }
            let began = Instant::now();
            match self.read_now(idoutlet).await {
                // It is being prepared again: what was sent last stays.
                Ok(None) => {}
                Ok(Some(now)) => {
                    if self.send(idoutlet, &board, shown.now.as_ref(), &now) {
                        alive_at = Instant::now();
                    }
                    shown.now = Some(now);
                }
                Err(e) => tracing::warn!(error = %e, idoutlet = idoutlet.get(), "a board was not read; it will be tried again"),
            }
            drop(shown);
            pause = LOOK_EVERY.max(began.elapsed() * PAUSE_FACTOR);
            if alive_at.elapsed() >= ALIVE_EVERY {
                alive_at = Instant::now();
                let alive = ChangeOf::<C> {
                    versi: board.version.load(Ordering::Acquire),
                    server_time: self.0.store.now().ms(),
                    ..ChangeOf::<C>::default()
                };
                self.emit(idoutlet, &alive);
            }
        }
    }

    /// Sends what is new. Returns whether there was anything.
    fn send(&self, idoutlet: OutletId, board: &WatchedBoard<C>, before: Option<&BoardOf<C>>, now: &BoardOf<C>) -> bool {
        let Some(mut change) = before.map_or_else(|| Some(ChangeOf::<C>::default()), |before| difference::<C>(before, now))
        else {
            return false;
        };
        change.versi = board.version.fetch_add(1, Ordering::AcqRel) + 1;
        change.server_time = self.0.store.now().ms();
        self.emit(idoutlet, &change);
        true
    }

    fn emit(&self, idoutlet: OutletId, change: &ChangeOf<'_, C>) {
        let Some(sockets) = self.0.sockets.get() else { return };
        if let Err(error) = C::emit(sockets, idoutlet, change) {
            tracing::error!(error = &error as &dyn std::error::Error, "a change of a board was not sent");
        }
    }
}

/// What of `now` a page that has `before` does not know; `None`: nothing.
fn difference<'a, C: Content>(before: &BoardOf<C>, now: &'a BoardOf<C>) -> Option<ChangeOf<'a, C>> {
    // In another order, a page needs all of them.
    let stays = |boards: &[C::Tile], others: &[C::Tile]| -> Vec<MachineId> {
        boards.iter().map(C::id).filter(|id| others.iter().any(|other| C::id(other) == *id)).collect()
    };
    let same_order = stays(&before.tiles, &now.tiles) == stays(&now.tiles, &before.tiles);
    let known = |tile: &&C::Tile| same_order && before.tiles.iter().any(|old| old == *tile);
    let is_there = |id: &MachineId| now.tiles.iter().any(|tile| C::id(tile) == *id);
    let change = ChangeOf::<C> {
        mesin: now.tiles.iter().filter(|tile| !known(tile)).collect(),
        hilang: before.tiles.iter().map(C::id).filter(|id| !is_there(id)).collect(),
        perhatian: (before.entries != now.entries).then(|| now.entries.iter().collect()),
        outlet: (before.outlet != now.outlet).then_some(&now.outlet),
        ..ChangeOf::<C>::default()
    };
    (!change.is_bare()).then_some(change)
}
