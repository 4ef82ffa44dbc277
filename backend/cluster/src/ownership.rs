//! The shards that this server owns, as its last heartbeat read them. What they allow is checked again with each commit (`fence.rs`).

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nyala_core::domain::id::{NodeId, OutletId};
use nyala_core::domain::shard::{SHARDS, Shard};
use tokio::sync::Notify;

use super::fence::Fence;
use super::metrics::ClusterMetrics;

/// Owner of an outlet, as this server knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// A single server runs.
    Alone,
    /// This server, while the fence matches the stored row.
    Here(Fence),
    /// Another server, or none.
    Remote,
}

/// A shard of this server, and the epoch in which the server acquired it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnedShard {
    pub shard: Shard,
    pub epoch: i64,
}

/// Number of shards that a server acquired and lost between two heartbeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ShardChanges {
    pub acquired: usize,
    pub lost: usize,
}

/// The shards that this server owns. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Ownership(Option<Arc<Shards>>);

#[derive(Debug)]
struct Shards {
    /// `node.idnode` of this start of the server; 0 before it has joined.
    node: AtomicI64,
    /// Number of live servers that may claim shards, this one included. Limits are divided by it.
    servers: AtomicUsize,
    /// Servers whose lease had not expired at the last heartbeat.
    alive: Mutex<Vec<NodeId>>,
    /// Epoch of each owned shard; 0 for a shard that is not owned.
    epochs: Vec<AtomicI64>,
    invalidated: Notify,
    metrics: ClusterMetrics,
    /// Acquired shards whose machines are not loaded yet.
    acquired: Mutex<BTreeSet<Shard>>,
    acquired_notify: Notify,
    last_answer: Mutex<LastAnswer>,
    /// A longer failover counts as an outage.
    failover: Duration,
}

/// Database health as seen by the last heartbeat.
#[derive(Debug, Clone, Copy)]
struct LastAnswer {
    answered: Instant,
    /// When a failover was last detected.
    failing_over: Instant,
}

impl Ownership {
    /// Starts with no shards. A database failover longer than `failover` counts as an outage.
    pub fn shared(metrics: ClusterMetrics, failover: Duration) -> Self {
        let epochs = (0..SHARDS).map(|_| AtomicI64::new(0)).collect();
        let (invalidated, acquired, acquired_notify, alive) = Default::default();
        let (now, node, servers) = (Instant::now(), AtomicI64::new(0), AtomicUsize::new(1));
        let last_answer = Mutex::new(LastAnswer { answered: now, failing_over: now });
        Self(Some(Arc::new(Shards {
            node,
            servers,
            alive,
            epochs,
            invalidated,
            metrics,
            acquired,
            acquired_notify,
            last_answer,
            failover,
        })))
    }

    pub fn is_alone(&self) -> bool {
        self.0.is_none()
    }

    pub fn of(&self, idoutlet: OutletId) -> Owner {
        let Some(shards) = &self.0 else { return Owner::Alone };
        let shard = Shard::of(idoutlet);
        match shards.epoch(shard) {
            0 => Owner::Remote,
            epoch => Owner::Here(Fence { shard, node: NodeId::new(shards.node.load(Ordering::Acquire)), epoch }),
        }
    }

    /// `node.idnode` of this start of the server; `None` for a single server, and before it has joined.
    pub fn node(&self) -> Option<NodeId> {
        let node = self.0.as_ref().map(|shards| shards.node.load(Ordering::Acquire));
        node.filter(|node| *node != 0).map(NodeId::new)
    }

    /// This server's part of a limit for all servers together, so that a client gets no more by asking each server.
    pub fn share_of(&self, limit: usize) -> usize {
        limit.div_ceil(self.0.as_ref().map_or(1, |shards| shards.servers.load(Ordering::Relaxed)))
    }

    /// Stores the members that a heartbeat found. `servers`: number of live servers that may claim shards; 0 while all of them are in the
    /// grace period. `alive`: every server whose lease has not expired.
    pub fn update_members(&self, servers: i64, alive: Vec<NodeId>) {
        let Some(shards) = &self.0 else { return };
        if let Ok(servers @ 1..) = usize::try_from(servers) {
            shards.servers.store(servers, Ordering::Relaxed);
        }
        *shards.alive.lock().unwrap_or_else(PoisonError::into_inner) = alive;
    }

    /// Whether that server's lease had not expired at the last heartbeat.
    pub fn is_alive(&self, node: NodeId) -> bool {
        let alive = |shards: &Arc<Shards>| shards.alive.lock().unwrap_or_else(PoisonError::into_inner).contains(&node);
        self.0.as_ref().is_some_and(alive)
    }

    /// Whether this server decides about the outlet's machines.
    pub fn owns(&self, idoutlet: OutletId) -> bool {
        self.of(idoutlet) != Owner::Remote
    }

    /// The shards that this server owns; `None` for all shards.
    pub fn shards(&self) -> Option<Vec<Shard>> {
        let shards = self.0.as_ref()?;
        Some(Shard::all().filter(|shard| shards.epoch(*shard) != 0).collect())
    }

    /// Time since the database last answered a heartbeat of this server; zero for a single server. After [`super::membership::TTL_MS`] other
    /// servers acquire its shards.
    pub fn silence(&self) -> Duration {
        self.0.as_ref().map_or(Duration::ZERO, |shards| shards.last_answer().answered.elapsed())
    }

    /// Like [`Self::silence`], but without the time of a failover, up to the configured maximum.
    pub fn outage(&self) -> Duration {
        self.0.as_ref().map_or(Duration::ZERO, |shards| {
            let LastAnswer { answered, failing_over } = *shards.last_answer();
            failing_over.min(answered + shards.failover).max(answered).elapsed()
        })
    }

    /// Records that the database does not answer while one of its standbys waits to be promoted.
    pub fn record_failover(&self) {
        if let Some(shards) = &self.0 {
            shards.last_answer().failing_over = Instant::now();
        }
    }

    /// Causes the next heartbeat at once, which reads the ownership again. Called when a fence did not match.
    pub fn invalidate(&self) {
        if let Some(shards) = &self.0 {
            shards.metrics.invalidations.inc();
            shards.invalidated.notify_one();
        }
    }

    /// Returns when the ownership was invalidated; never, for a single server.
    pub(crate) async fn invalidated(&self) {
        match &self.0 {
            Some(shards) => shards.invalidated.notified().await,
            None => std::future::pending().await,
        }
    }

    /// Waits for acquired shards, whose machines the caller must load. Never returns for a single server.
    pub async fn acquired(&self) -> Vec<Shard> {
        let Some(shards) = &self.0 else { return std::future::pending().await };
        loop {
            let acquired = std::mem::take(&mut *shards.acquired());
            if !acquired.is_empty() {
                return acquired.into_iter().collect();
            }
            shards.acquired_notify.notified().await;
        }
    }

    /// Returns shards whose machines could not be loaded; [`Self::acquired`] yields them again.
    pub fn acquire_again(&self, again: impl IntoIterator<Item = Shard>) {
        if let Some(shards) = &self.0 {
            shards.acquired().extend(again);
            shards.acquired_notify.notify_one();
        }
    }

    /// Replaces the ownership by the stored shards. A heartbeat of `node` has read them.
    pub fn replace(&self, node: NodeId, stored: &[OwnedShard]) -> ShardChanges {
        let Some(shards) = &self.0 else { return ShardChanges::default() };
        shards.node.store(node.get(), Ordering::Release);
        shards.last_answer().answered = Instant::now();
        let (mut acquired, mut lost) = (Vec::new(), 0);
        let mut epochs = [0; SHARDS as usize];
        for owned in stored {
            if let Some(epoch) = owned.shard.index().and_then(|shard| epochs.get_mut(shard)) {
                *epoch = owned.epoch;
            }
        }
        for (shard, epoch) in Shard::all().zip(epochs) {
            let before = shards.set(shard, epoch);
            if epoch != 0 && epoch != before {
                acquired.push(shard);
            }
            lost += usize::from(epoch == 0 && before != 0);
        }
        let changes = ShardChanges { acquired: acquired.len(), lost };
        if !acquired.is_empty() {
            self.acquire_again(acquired);
        }
        changes
    }

    /// Stops deciding about this shard.
    pub fn release(&self, shard: Shard) {
        if let Some(shards) = &self.0 {
            shards.set(shard, 0);
        }
    }
}

impl Shards {
    fn last_answer(&self) -> MutexGuard<'_, LastAnswer> {
        self.last_answer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn acquired(&self) -> MutexGuard<'_, BTreeSet<Shard>> {
        self.acquired.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn epoch(&self, shard: Shard) -> i64 {
        let epoch = shard.index().and_then(|at| self.epochs.get(at));
        epoch.map_or(0, |epoch| epoch.load(Ordering::Acquire))
    }

    fn set(&self, shard: Shard, to: i64) -> i64 {
        let epoch = shard.index().and_then(|at| self.epochs.get(at));
        epoch.map_or(0, |epoch| epoch.swap(to, Ordering::AcqRel))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn a_single_server_owns_everything() {
        let alone = Ownership::default();
        assert_eq!((alone.of(OutletId::new(7)), alone.owns(OutletId::new(-1)), alone.shards()), (Owner::Alone, true, None));
    }

    #[test]
    fn live_servers_share_a_limit() {
        let (alone, own) = (Ownership::default(), Ownership::shared(ClusterMetrics::default(), Duration::ZERO));
        let nodes = |numbers: &[i64]| numbers.iter().copied().map(NodeId::new).collect();
        alone.update_members(3, nodes(&[1]));
        assert_eq!((alone.share_of(50), own.share_of(50)), (50, 50));
        own.update_members(3, nodes(&[1, 2, 3]));
        assert_eq!((own.share_of(50), own.share_of(2)), (17, 1));
        own.update_members(0, nodes(&[2]));
        assert_eq!(own.share_of(50), 17);
        assert!(
            own.is_alive(NodeId::new(2)) && [&own, &alone].iter().all(|of| !of.is_alive(NodeId::new(1))),
            "the last heartbeat counts"
        );
    }

    #[test]
    fn a_server_owns_exactly_the_stored_shards() {
        let own = Ownership::shared(ClusterMetrics::default(), Duration::from_secs(60));
        let ([third, fourth], me) = ([3, 4].map(Shard::new), NodeId::new(9));
        assert_eq!((own.of(OutletId::new(3)), own.shards()), (Owner::Remote, Some(vec![])));
        let stored = [OwnedShard { shard: third, epoch: 5 }, OwnedShard { shard: fourth, epoch: 1 }];
        assert_eq!(own.replace(me, &stored), ShardChanges { acquired: 2, lost: 0 });
        assert_eq!(own.acquired().now_or_never(), Some(vec![third, fourth]));
        assert_eq!(own.acquired().now_or_never(), None);
        assert_eq!(own.of(OutletId::new(3)), Owner::Here(Fence { shard: third, node: me, epoch: 5 }));
        assert_eq!(own.of(OutletId::new(259)), own.of(OutletId::new(3)), "an outlet is of its number mod 256");
        // Another server owned it in between.
        assert_eq!(own.replace(me, &[OwnedShard { shard: third, epoch: 7 }]), ShardChanges { acquired: 1, lost: 1 });
        assert_eq!(own.acquired().now_or_never(), Some(vec![third]));
        assert_eq!((own.shards(), own.owns(OutletId::new(4))), (Some(vec![third]), false));
        own.release(third);
        assert_eq!(own.of(OutletId::new(3)), Owner::Remote);
    }
}
