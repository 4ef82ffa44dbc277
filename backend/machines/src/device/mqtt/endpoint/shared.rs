//! State that the threads of the endpoint share.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use nyala_core::domain::address::{Address, Block};
use nyala_core::domain::id::{DeviceKeyId, MachineId, OutletId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::rate_limit::{SlidingWindow, WindowLimits};
use nyala_store::config::MqttSettings;
use nyala_store::db::Store;
use tokio::sync::mpsc;

use super::connection::DeviceConnection;
use crate::device::CommandDropped;
use crate::device::mqtt::conversation::ConnectionId;
use crate::device::mqtt::devices::Request;
use crate::device::mqtt::logins::DeviceKey;
use crate::device::mqtt::metrics::DeviceMetrics;
use crate::device::mqtt::reports::Reports;
use crate::device::mqtt::tls::DeviceTls;

/// Orders that may wait for one thread.
pub const MAX_COMMANDS: usize = 8_192;
/// Wrong secrets for a machine from one address within `WRONG_WITHIN_MS`, after which its logins from there are refused for `HELD_MS`.
const MAX_WRONG: usize = 10;
const WRONG_WITHIN_MS: i64 = 10 * 60_000;
const HELD_MS: i64 = 60_000;
const MAX_REMEMBERED: usize = 65_536;
/// Revoked keys that are remembered, for logins that were checked before and get their session after.
const MAX_REVOKED: usize = 16_384;

/// Command to a thread.
#[derive(Debug)]
pub enum ThreadCommand {
    /// A connection was accepted.
    Accepted(std::net::TcpStream),
    /// Results of logins that were checked together.
    Judged(Vec<(SlotKey, Verdict)>),
    /// A connection whose device this thread owns.
    Adopt(Box<DeviceConnection>, DeviceKey),
    Request(Request),
    /// Keys that were revoked.
    Revoked(Arc<[DeviceKeyId]>),
    /// All connections must be closed.
    DisconnectAll,
}

/// Key of a thread's connection until it is closed; afterwards it is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotKey {
    pub at: usize,
    pub id: ConnectionId,
}

#[derive(Debug, Clone, Copy)]
pub enum Verdict {
    Yes(DeviceKey),
    Wrong,
    Unavailable,
}

pub struct Shared {
    pub store: Store,
    pub reports: Arc<Reports>,
    /// Whether logins are processed.
    open: AtomicBool,
    pub tls: Option<DeviceTls>,
    /// Balancers whose connections begin with a PROXY header.
    pub trusted_proxies: Vec<Block>,
    wrong: Mutex<Wrong>,
    revoked: Mutex<VecDeque<DeviceKeyId>>,
    ids: AtomicU64,
    connections: Arc<AtomicUsize>,
    max_connections: usize,
    threads: RwLock<Vec<mpsc::Sender<ThreadCommand>>>,
}

#[derive(Debug)]
struct Wrong {
    recent: SlidingWindow<(MachineId, Address), ()>,
    held: SlidingWindow<(MachineId, Address), ()>,
}

/// Permit for one of the connections that the server may have.
#[derive(Debug)]
pub struct ConnectionPermit {
    connections: Arc<AtomicUsize>,
    metrics: DeviceMetrics,
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.connections.fetch_sub(1, Ordering::Relaxed);
        self.metrics.connections.dec();
    }
}

impl Shared {
    pub fn new(store: Store, reports: Arc<Reports>, tls: Option<DeviceTls>, settings: &MqttSettings) -> Self {
        let recent = |window_ms| SlidingWindow::new(WindowLimits { window_ms, max_events: MAX_REMEMBERED });
        Self {
            store,
            reports,
            open: AtomicBool::default(),
            tls,
            trusted_proxies: settings.trusted_proxies.clone(),
            wrong: Mutex::new(Wrong { recent: recent(WRONG_WITHIN_MS), held: recent(HELD_MS) }),
            revoked: Mutex::default(),
            ids: AtomicU64::new(1),
            connections: Arc::default(),
            max_connections: settings.max_connections,
            threads: RwLock::default(),
        }
    }

    /// Registers a thread, which receives its orders by `orders`.
    pub fn add_thread(&self, orders: mpsc::Sender<ThreadCommand>) {
        self.threads.write().unwrap_or_else(PoisonError::into_inner).push(orders);
    }

    pub fn threads(&self) -> Vec<mpsc::Sender<ThreadCommand>> {
        self.threads.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Thread that owns the devices of an outlet.
    fn home(&self, idoutlet: OutletId) -> Option<mpsc::Sender<ThreadCommand>> {
        let threads = self.threads.read().unwrap_or_else(PoisonError::into_inner);
        let at = usize::try_from(idoutlet.get().unsigned_abs()).unwrap_or(0).checked_rem(threads.len())?;
        threads.get(at).cloned()
    }

    /// Whether that thread owns the devices of the outlet.
    pub fn is_home(&self, idoutlet: OutletId, thread: &mpsc::Sender<ThreadCommand>) -> bool {
        self.home(idoutlet).is_some_and(|home| home.same_channel(thread))
    }

    /// Sends an order to the thread of an outlet's devices. Never blocks.
    ///
    /// # Errors
    /// When it is known not to arrive.
    pub fn order(&self, idoutlet: OutletId, order: ThreadCommand) -> Result<(), CommandDropped> {
        self.home(idoutlet).and_then(|home| home.try_send(order).ok()).ok_or(CommandDropped)
    }

    /// Whether logins are processed: the server accepts messages, and closes the connections of revoked keys.
    pub fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    pub fn open(&self) {
        self.open.store(true, Ordering::Release);
    }

    /// Returns a new id for each connection, higher than all before.
    pub fn next_id(&self) -> ConnectionId {
        ConnectionId(self.ids.fetch_add(1, Ordering::Relaxed))
    }

    /// Takes a permit for one more connection.
    pub fn place(&self) -> Option<ConnectionPermit> {
        let room = |n: usize| (n < self.max_connections).then_some(n + 1);
        self.connections.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room).ok()?;
        self.reports.metrics.connections.inc();
        Some(ConnectionPermit { connections: self.connections.clone(), metrics: self.reports.metrics.clone() })
    }

    /// Whether a login of that machine from that address is checked.
    pub fn may_log_in(&self, idmesin: MachineId, from: Address, now: Timestamp) -> bool {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner).held.count(&(idmesin, from), now) == 0
    }

    /// Records a wrong secret.
    pub fn was_wrong(&self, idmesin: MachineId, from: Address, now: Timestamp) {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        wrong.recent.add((idmesin, from), (), now);
        if wrong.recent.count(&(idmesin, from), now) >= MAX_WRONG {
            wrong.held.add((idmesin, from), (), now);
        }
    }

    /// Closes all connections; a thread whose queue is full keeps its own.
    pub fn disconnect_all(&self) {
        for thread in self.threads() {
            let _ = thread.try_send(ThreadCommand::DisconnectAll);
        }
    }

    /// Records that these keys were revoked.
    pub fn revoke(&self, keys: &[DeviceKeyId]) {
        let mut revoked = self.revoked.lock().unwrap_or_else(PoisonError::into_inner);
        revoked.extend(keys);
        let too_many = revoked.len().saturating_sub(MAX_REVOKED);
        revoked.drain(..too_many);
    }

    pub fn is_revoked(&self, key: DeviceKeyId) -> bool {
        self.revoked.lock().unwrap_or_else(PoisonError::into_inner).contains(&key)
    }
}
