//! Open connections, and which of them are closed when slots run short. While three quarters of the slots are taken, the address with
//! the most idle connections loses the oldest of them. An address has no fixed share, because a carrier has thousands of phones behind
//! one. A trusted proxy is never chosen: it may serve all clients.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::task::AtomicWaker;
use nyala_core::domain::address::{Address, Block};
use prometheus_client::metrics::counter::Counter;

use crate::http::metrics::HttpMetrics;

/// The open connections of the whole process. Cheap to clone.
#[derive(Clone)]
pub struct Connections(Arc<RegistryState>);

struct RegistryState {
    /// Maximum number of open connections, websockets included.
    limit: usize,
    trusted: Vec<Block>,
    websockets: Box<dyn Fn() -> usize + Send + Sync>,
    metrics: HttpMetrics,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: u64,
    /// By age.
    slots: BTreeMap<u64, Arc<Slot>>,
}

/// State that a connection and the registry share.
#[derive(Debug)]
struct Slot {
    /// `None` for a trusted proxy.
    address: Option<Address>,
    /// No request is being processed, and every response was sent.
    idle: AtomicBool,
    /// The connection must close as soon as it is idle.
    ends: AtomicBool,
    reader: AtomicWaker,
}

/// A connection's slot; released when this is dropped.
pub struct Place {
    connections: Connections,
    id: u64,
    slot: Arc<Slot>,
}

impl Connections {
    /// `websockets` counts the connections that became sockets, which are no longer in this registry.
    pub fn new(
        limit: usize,
        trusted: Vec<Block>,
        metrics: HttpMetrics,
        websockets: impl Fn() -> usize + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(RegistryState { limit, trusted, websockets: Box::new(websockets), metrics, open: Mutex::default() }))
    }

    /// Takes a slot for a connection that was accepted from `peer`; `None` when none is left.
    pub fn enter(&self, peer: Option<IpAddr>) -> Option<Place> {
        let peer = peer.map(|ip| ip.to_canonical());
        let address = peer.filter(|ip| !self.0.trusted.iter().any(|block| block.contains(*ip))).map(Address::from);
        let slot =
            Arc::new(Slot { address, idle: AtomicBool::new(true), ends: AtomicBool::new(false), reader: AtomicWaker::new() });
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        let id = open.next;
        // The new connection is not a candidate: its first request is still to come.
        self.make_room(&open, 1);
        if open.slots.len() + (self.0.websockets)() >= self.0.limit {
            return None;
        }
        open.next += 1;
        open.slots.insert(id, slot.clone());
        Some(Place { connections: self.clone(), id, slot })
    }

    /// Closes an idle connection when more than three quarters of the slots are taken, `more` included.
    fn make_room(&self, open: &Open, more: usize) {
        if (open.slots.len() + (self.0.websockets)() + more) * 4 <= self.0.limit * 3 {
            return;
        }
        let idle = || {
            let slots = open.slots.values().filter(|slot| slot.idle.load(Ordering::SeqCst) && !slot.ends.load(Ordering::SeqCst));
            slots.filter_map(|slot| Some((slot.address?, slot)))
        };
        let mut held: HashMap<Address, usize> = HashMap::new();
        idle().for_each(|(address, _)| *held.entry(address).or_default() += 1);
        let Some(largest) = held.values().max().copied() else { return };
        // Among addresses with equally many, the one with the oldest connection.
        if let Some((_, slot)) = idle().find(|(address, _)| held.get(address) == Some(&largest)) {
            slot.ends.store(true, Ordering::SeqCst);
            slot.reader.wake();
            self.0.metrics.idle_closed.inc();
        }
    }
}

impl Place {
    /// Marks the connection busy: a request is being processed.
    pub fn busy(&self) {
        self.slot.idle.store(false, Ordering::SeqCst);
    }

    /// Marks the connection idle: its response was sent.
    pub fn idle(&self) {
        if !self.slot.idle.swap(true, Ordering::SeqCst) {
            let open = self.connections.0.open.lock().unwrap_or_else(PoisonError::into_inner);
            self.connections.make_room(&open, 0);
        }
    }

    /// Whether the connection must close now. Wakes `cx` when it must close later.
    pub fn ends(&self, cx: &std::task::Context<'_>) -> bool {
        self.slot.reader.register(cx.waker());
        self.slot.ends.load(Ordering::SeqCst) && self.slot.idle.load(Ordering::SeqCst)
    }

    /// Counts connections closed because their clients did not read their responses.
    pub fn slow_closed(&self) -> &Counter {
        &self.connections.0.metrics.slow_closed
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.0.open.lock().unwrap_or_else(PoisonError::into_inner).slots.remove(&self.id);
    }
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.slot.fmt(f)
    }
}
