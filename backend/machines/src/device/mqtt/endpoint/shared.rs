//! State that the threads of the endpoint share.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use nyala_core::domain::address::{Address, Block};
use nyala_core::domain::recent::Recent;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::config::MqttSettings;
use nyala_store::db::Store;
use rustls::ServerConfig;
use tokio::sync::mpsc;

use super::line::Line;
use crate::device::Lost;
use crate::device::mqtt::conversation::LinkId;
use crate::device::mqtt::devices::Request;
use crate::device::mqtt::logins::DeviceKey;
use crate::device::mqtt::metrics::DeviceMetrics;
use crate::device::mqtt::reports::Reports;

/// Orders that may wait for one thread.
pub const ORDERS: usize = 8_192;
/// Wrong secrets for a machine from one address within `WRONG_WITHIN_MS`, after which its logins from there are refused for `HELD_MS`.
const WRONG: usize = 10;
const WRONG_WITHIN_MS: i64 = 10 * 60_000;
const HELD_MS: i64 = 60_000;
const REMEMBERED: usize = 65_536;
/// Revoked keys that are remembered, for logins that were checked before and get their session after.
const REVOKED: usize = 16_384;

/// Order to a thread.
#[derive(Debug)]
pub enum Order {
    /// A connection was accepted.
    Accepted(std::net::TcpStream),
    /// Results of logins that were checked together.
    Judged(Vec<(LineKey, Verdict)>),
    /// A connection whose device this thread owns.
    DeviceSession(Box<Line>, DeviceKey),
    Request(Request),
    /// Keys that were revoked.
    Revoked(Arc<[i64]>),
    /// All connections must be closed.
    SendAway,
}

/// Key of a thread's connection until it is closed; afterwards it is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineKey {
    pub at: usize,
    pub link: LinkId,
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
    pub tls: Option<Arc<ServerConfig>>,
    /// Balancers whose connections begin with a PROXY header.
    pub trusted_proxies: Vec<Block>,
    wrong: Mutex<Wrong>,
    revoked: Mutex<VecDeque<i64>>,
    links: AtomicU64,
    connections: Arc<AtomicUsize>,
    max_connections: usize,
    threads: RwLock<Vec<mpsc::Sender<Order>>>,
}

#[derive(Debug)]
struct Wrong {
    recent: Recent<(i64, Address), ()>,
    held: Recent<(i64, Address), ()>,
}

/// Permit for one of the connections that the server may have.
#[derive(Debug)]
pub struct Place {
    connections: Arc<AtomicUsize>,
    metrics: DeviceMetrics,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.fetch_sub(1, Ordering::Relaxed);
        self.metrics.connections.dec();
    }
}

impl Shared {
    pub fn new(store: Store, reports: Arc<Reports>, tls: Option<Arc<ServerConfig>>, settings: &MqttSettings) -> Self {
        let recent = |window_ms| Recent::new(window_ms, REMEMBERED);
        Self {
            store,
            reports,
            open: AtomicBool::default(),
            tls,
            trusted_proxies: settings.trusted_proxies.clone(),
            wrong: Mutex::new(Wrong { recent: recent(WRONG_WITHIN_MS), held: recent(HELD_MS) }),
            revoked: Mutex::default(),
            links: AtomicU64::new(1),
            connections: Arc::default(),
            max_connections: settings.max_connections,
            threads: RwLock::default(),
        }
    }

    /// Registers a thread, which receives its orders by `orders`.
    pub fn add_thread(&self, orders: mpsc::Sender<Order>) {
        self.threads.write().unwrap_or_else(PoisonError::into_inner).push(orders);
    }

    pub fn threads(&self) -> Vec<mpsc::Sender<Order>> {
        self.threads.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Thread that owns the devices of an outlet.
    fn home(&self, idoutlet: i64) -> Option<mpsc::Sender<Order>> {
        let threads = self.threads.read().unwrap_or_else(PoisonError::into_inner);
        let at = usize::try_from(idoutlet.unsigned_abs()).unwrap_or(0).checked_rem(threads.len())?;
        threads.get(at).cloned()
    }

    /// Whether that thread owns the devices of the outlet.
    pub fn is_home(&self, idoutlet: i64, thread: &mpsc::Sender<Order>) -> bool {
        self.home(idoutlet).is_some_and(|home| home.same_channel(thread))
    }

    /// Sends an order to the thread of an outlet's devices. Never blocks.
    ///
    /// # Errors
    /// When it is known not to arrive.
    pub fn order(&self, idoutlet: i64, order: Order) -> Result<(), Lost> {
        self.home(idoutlet).and_then(|home| home.try_send(order).ok()).ok_or(Lost)
    }

    /// Whether logins are processed: the server accepts messages, and closes the connections of revoked keys.
    pub fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    pub fn open(&self) {
        self.open.store(true, Ordering::Release);
    }

    /// Returns a new id for each connection, higher than all before.
    pub fn next_link(&self) -> LinkId {
        LinkId(self.links.fetch_add(1, Ordering::Relaxed))
    }

    /// Takes a permit for one more connection.
    pub fn place(&self) -> Option<Place> {
        let room = |n: usize| (n < self.max_connections).then_some(n + 1);
        self.connections.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room).ok()?;
        self.reports.metrics.connections.inc();
        Some(Place { connections: self.connections.clone(), metrics: self.reports.metrics.clone() })
    }

    /// Whether a login of that machine from that address is checked.
    pub fn may_log_in(&self, idmesin: i64, from: Address, now: Timestamp) -> bool {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner).held.count(&(idmesin, from), now) == 0
    }

    /// Records a wrong secret.
    pub fn was_wrong(&self, idmesin: i64, from: Address, now: Timestamp) {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        wrong.recent.add((idmesin, from), (), now);
        if wrong.recent.count(&(idmesin, from), now) >= WRONG {
            wrong.held.add((idmesin, from), (), now);
        }
    }

    /// Closes all connections; a thread whose queue is full keeps its own.
    pub fn send_away(&self) {
        for thread in self.threads() {
            let _ = thread.try_send(Order::SendAway);
        }
    }

    /// Records that these keys were revoked.
    pub fn revoke(&self, keys: &[i64]) {
        let mut revoked = self.revoked.lock().unwrap_or_else(PoisonError::into_inner);
        revoked.extend(keys);
        let too_many = revoked.len().saturating_sub(REVOKED);
        revoked.drain(..too_many);
    }

    pub fn is_revoked(&self, key: i64) -> bool {
        self.revoked.lock().unwrap_or_else(PoisonError::into_inner).contains(&key)
    }
}
