//! Watched boards: one task for each outlet that a page watches reads it again when something changed, and sends what is new.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use actix_socketio::{Ack, Broadcast, Socket};
use dashmap::DashMap;
use nyala_cluster::notifications::{Notification, Notifier, Received};
use nyala_core::board::attention::Patience;
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_store::db::Store;
use nyala_store::db::error::DbError;
use serde::Serialize;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::sync::{Mutex, Notify};

use super::watcher::acknowledge;
use crate::board::entry::Perhatian;
use crate::board::read::{self, BoardNow, OutletPapan};
use crate::board::tablet::{TabletEntry, TabletTile};
use crate::board::tile::Tile;
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

/// The boards that are watched here. Cheap to clone.
#[derive(Clone)]
pub struct Boards(Arc<BoardRegistry>);

struct BoardRegistry {
    store: Store,
    patience: Patience,
    boards: DashMap<OutletId, Arc<Board>>,
    /// Set once the sockets are there.
    sockets: OnceLock<Broadcast>,
}

#[derive(Default)]
struct Board {
    watchers: AtomicUsize,
    wake: Notify,
    /// The number of the last change. It outlives the watchers, so that no number is given twice.
    version: AtomicI64,
    shown: Mutex<Shown>,
}

#[derive(Default)]
struct Shown {
    /// What was sent last.
    now: Option<BoardNow>,
    /// Whether a task follows the board.
    followed: bool,
}

/// A page that watches a board; dropping it ends that.
pub struct BoardWatch {
    board: Arc<Board>,
    pub idoutlet: OutletId,
}

impl Drop for BoardWatch {
    fn drop(&mut self) {
        self.board.watchers.fetch_sub(1, Ordering::AcqRel);
    }
}

#[derive(Serialize)]
struct Snapshot<'a, T, P> {
    status: u16,
    versi: i64,
    server_time: i64,
    outlet: &'a OutletPapan,
    mesin: Vec<T>,
    perhatian: Vec<P>,
}

/// Who watches a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// People with a session.
    Staff,
    /// A tablet without one: no receipts, no money, nothing to press.
    Tablet,
}

/// What changed; a bare one says that the socket works.
#[derive(Debug, PartialEq, Serialize)]
struct Change<'a, T, P> {
    versi: i64,
    server_time: i64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mesin: Vec<T>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hilang: Vec<MachineId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    perhatian: Option<Vec<P>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outlet: Option<&'a OutletPapan>,
}

type StaffChange<'a> = Change<'a, &'a Tile, &'a Perhatian>;

impl<T, P> Default for Change<'_, T, P> {
    fn default() -> Self {
        Self { versi: 0, server_time: 0, mesin: Vec::new(), hilang: Vec::new(), perhatian: None, outlet: None }
    }
}

impl<'a> StaffChange<'a> {
    /// The same for a tablet.
    fn for_tablet(&self) -> Change<'a, TabletTile<'a>, TabletEntry<'a>> {
        Change {
            versi: self.versi,
            server_time: self.server_time,
            mesin: self.mesin.iter().map(|tile| TabletTile::of(tile)).collect(),
            hilang: self.hilang.clone(),
            perhatian: self.perhatian.as_ref().map(|entries| entries.iter().map(|entry| TabletEntry::of(entry)).collect()),
            outlet: self.outlet,
        }
    }
}

/// The topic of an outlet's board.
pub fn topic(idoutlet: OutletId) -> String {
    format!("papan/{idoutlet}")
}

/// The sockets that watch an outlet's board in the same way.
pub fn room(idoutlet: OutletId, view: View) -> String {
    match view {
        View::Staff => topic(idoutlet),
        View::Tablet => format!("tablet/{idoutlet}"),
    }
}

impl Boards {
    pub fn new(store: Store, patience: Patience) -> Self {
        Self(Arc::new(BoardRegistry { store, patience, boards: DashMap::new(), sockets: OnceLock::new() }))
    }

    /// Changes are sent to these sockets from now on, by the rooms that they are in.
    pub fn send_to(&self, sockets: Broadcast) {
        let _ = self.0.sockets.set(sockets);
    }

    /// What the board of an outlet shows now, and the number of this server's last change of it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn read(&self, idoutlet: OutletId) -> Result<(i64, BoardNow), DbError> {
        let version = self.0.boards.get(&idoutlet).map_or(0, |board| board.version.load(Ordering::Acquire));
        Ok((version, self.read_now(idoutlet).await?))
    }

    /// The tile of a machine of an outlet; `None` when it is not there.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn tile(&self, idoutlet: OutletId, idmesin: MachineId) -> Result<Option<Tile>, DbError> {
        Ok(self.read_now(idoutlet).await?.tiles.into_iter().find(|tile| tile.id == idmesin))
    }

    async fn read_now(&self, idoutlet: OutletId) -> Result<BoardNow, DbError> {
        let client = self.0.store.get().await?;
        read::board(&client, idoutlet, self.0.patience, self.0.store.now()).await
    }

    /// From now on `socket` gets the changes of an outlet's board; acknowledges with all of it. Called on the socket's thread.
    pub async fn watch(&self, (idoutlet, view): (OutletId, View), socket: &Socket, ack: Option<Ack>) -> Option<BoardWatch> {
        let board = self.0.boards.entry(idoutlet).or_default().clone();
        board.watchers.fetch_add(1, Ordering::AcqRel);
        let watch = BoardWatch { board: board.clone(), idoutlet };
        let mut shown = board.shown.lock().await;
        if shown.now.is_none() {
            match self.read_now(idoutlet).await {
                Ok(now) => shown.now = Some(now),
                Err(e) => {
                    let e = AppError::from(e);
                    acknowledge(ack, e.status().as_u16(), &e.to_string());
                    return None;
                }
            }
        }
        // Under the lock: each later change reaches the room, and each earlier one is in the snapshot.
        if socket.join(room(idoutlet, view)).is_err() {
            acknowledge(ack, 429, TOO_MANY);
            return None;
        }
        if let (Some(ack), Some(now)) = (ack, &shown.now) {
            let versi = board.version.load(Ordering::Acquire);
            let BoardNow { outlet, tiles, entries } = now;
            let (status, server_time) = (200, self.0.store.now().ms());
            let _ = match view {
                View::Staff => {
                    let (mesin, perhatian) = (tiles.iter().collect(), entries.iter().collect());
                    ack.send(&Snapshot::<&Tile, &Perhatian> { status, versi, server_time, outlet, mesin, perhatian })
                }
                View::Tablet => {
                    let (mesin, perhatian) =
                        (tiles.iter().map(TabletTile::of).collect(), entries.iter().map(TabletEntry::of).collect());
                    ack.send(&Snapshot { status, versi, server_time, outlet, mesin, perhatian })
                }
            };
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
    async fn follow(self, idoutlet: OutletId, board: Arc<Board>) {
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
                Ok(now) => {
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
                let alive = StaffChange {
                    versi: board.version.load(Ordering::Acquire),
                    server_time: self.0.store.now().ms(),
                    ..Change::default()
                };
                self.emit(idoutlet, &alive);
            }
        }
    }

    /// Sends what is new. Returns whether there was anything.
    fn send(&self, idoutlet: OutletId, board: &Board, before: Option<&BoardNow>, now: &BoardNow) -> bool {
        let Some(mut change) = before.map_or_else(|| Some(Change::default()), |before| difference(before, now)) else {
            return false;
        };
        change.versi = board.version.fetch_add(1, Ordering::AcqRel) + 1;
        change.server_time = self.0.store.now().ms();
        self.emit(idoutlet, &change);
        true
    }

    fn emit(&self, idoutlet: OutletId, change: &StaffChange<'_>) {
        let (Some(sockets), topic) = (self.0.sockets.get(), topic(idoutlet)) else { return };
        let tablets = room(idoutlet, View::Tablet);
        let sent = sockets.clone().to(topic.as_str()).emit(&topic, change);
        let sent = sent.and_then(|_| sockets.clone().to(tablets.as_str()).emit(&topic, &change.for_tablet()));
        if let Err(error) = sent {
            tracing::error!(error = &error as &dyn std::error::Error, "a change of a board was not sent");
        }
    }
}

/// What of `now` a page that has `before` does not know; `None`: nothing.
fn difference<'a>(before: &BoardNow, now: &'a BoardNow) -> Option<StaffChange<'a>> {
    // In another order, a page needs all of them.
    let stays = |boards: &[Tile], others: &[Tile]| -> Vec<MachineId> {
        boards.iter().map(|tile| tile.id).filter(|id| others.iter().any(|other| other.id == *id)).collect()
    };
    let same_order = stays(&before.tiles, &now.tiles) == stays(&now.tiles, &before.tiles);
    let known = |tile: &&Tile| same_order && before.tiles.iter().any(|old| old == *tile);
    let is_there = |id: &MachineId| now.tiles.iter().any(|tile| tile.id == *id);
    let change = StaffChange {
        mesin: now.tiles.iter().filter(|tile| !known(tile)).collect(),
        hilang: before.tiles.iter().map(|tile| tile.id).filter(|id| !is_there(id)).collect(),
        perhatian: (before.entries != now.entries).then(|| now.entries.iter().collect()),
        outlet: (before.outlet != now.outlet).then_some(&now.outlet),
        ..Change::default()
    };
    (change != Change::default()).then_some(change)
}
