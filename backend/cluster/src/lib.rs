//! Several servers on one database (docs/cluster.md): which of them owns which outlets. PostgreSQL decides that; a server that is alone
//! owns everything and asks nobody.

pub mod error;
pub mod failover;
pub mod fence;
pub mod membership;
pub mod metrics;
pub mod news;
pub mod node;
pub mod standbys;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use self::fence::Fence;
use self::metrics::ClusterMetrics;

/// Outlets are spread over so many shards, each of which has one owner (migrations/V20261202__cluster.sql).
pub const SHARDS: i32 = 256;

/// Which shard an outlet is of: its machines stay together.
pub fn shard_of(idoutlet: i64) -> i32 {
    i32::try_from(idoutlet.rem_euclid(i64::from(SHARDS))).unwrap_or_default()
}

/// The condition that the outlet in a column is of one of the shards in parameter `n` (NULL: of any), as a literal.
#[doc(hidden)]
#[macro_export]
macro_rules! __of_shards {
    ($column:literal, $n:literal) => {
        concat!("($", $n, "::INT[] IS NULL OR (", $column, " % 256)::INT = ANY($", $n, "))")
    };
}
pub use __of_shards as of_shards;

/// Whose an outlet is, as this server knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// There is one server.
    Alone,
    /// This one, as long as the fence stands.
    Here(Fence),
    Remote,
}

/// What this server owns. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Ownership(Option<Arc<Shards>>);

#[derive(Debug)]
struct Shards {
    /// This start of this server; 0 before it is known.
    node: AtomicI64,
    /// Servers that live, this one included.
    servers: AtomicUsize,
    /// Numbers of the servers that live, as of the last heartbeat.
    alive: Mutex<Vec<i64>>,
    /// The epoch since which each shard is owned; 0: it is not.
    epochs: Vec<AtomicI64>,
    doubted: Notify,
    metrics: ClusterMetrics,
    /// Those that are owned since a moment ago, whose machines nobody has looked at yet.
    gained: Mutex<BTreeSet<i32>>,
    gains: Notify,
    heard: Mutex<LastAnswer>,
    /// How long a failover may take.
    failover: Duration,
}

/// Of the database.
#[derive(Debug, Clone, Copy)]
struct LastAnswer {
    /// When it last answered a beat.
    beaten: Instant,
    /// When it was last seen to fail over.
    failing_over: Instant,
}

impl Ownership {
    /// One of several; it owns nothing yet. What a failover of the database takes longer than `failover` is none.
    pub fn shared(metrics: ClusterMetrics, failover: Duration) -> Self {
        let epochs = (0..SHARDS).map(|_| AtomicI64::new(0)).collect();
        let (doubted, gained, gains, alive) = Default::default();
        let (now, node, servers) = (Instant::now(), AtomicI64::new(0), AtomicUsize::new(1));
        let heard = Mutex::new(LastAnswer { beaten: now, failing_over: now });
        Self(Some(Arc::new(Shards { node, servers, alive, epochs, doubted, metrics, gained, gains, heard, failover })))
    }

    pub fn is_alone(&self) -> bool {
        self.0.is_none()
    }

    pub fn of(&self, idoutlet: i64) -> Owner {
        let Some(shards) = &self.0 else { return Owner::Alone };
        let shard = shard_of(idoutlet);
        match shards.epoch(shard) {
            0 => Owner::Remote,
            epoch => Owner::Here(Fence { shard, node: shards.node.load(Ordering::Acquire), epoch }),
        }
    }

    /// What this start of this server is called by the others; `None` alone, and before it is known.
    pub fn node(&self) -> Option<i64> {
        self.0.as_ref().map(|shards| shards.node.load(Ordering::Acquire)).filter(|node| *node != 0)
    }

    /// How much of what all servers allow together this one allows: nobody has more of it by asking each of them.
    pub fn share_of(&self, limit: usize) -> usize {
        limit.div_ceil(self.0.as_ref().map_or(1, |shards| shards.servers.load(Ordering::Relaxed)))
    }

    /// So many servers live and may claim; none, while the database has kept all of them waiting.
    /// `alive`: every server whose lease has not expired, as of the last heartbeat.
    pub fn is_one_of(&self, servers: i64, alive: Vec<i64>) {
        let Some(shards) = &self.0 else { return };
        if let Ok(servers @ 1..) = usize::try_from(servers) {
            shards.servers.store(servers, Ordering::Relaxed);
        }
        *shards.alive.lock().unwrap_or_else(PoisonError::into_inner) = alive;
    }

    /// Whether that server's lease had not expired at the last heartbeat.
    pub fn is_alive(&self, node: i64) -> bool {
        let alive = |shards: &Arc<Shards>| shards.alive.lock().unwrap_or_else(PoisonError::into_inner).contains(&node);
        self.0.as_ref().is_some_and(alive)
    }

    /// Whether the outlet's machines are decided here.
    pub fn owns(&self, idoutlet: i64) -> bool {
        self.of(idoutlet) != Owner::Remote
    }

    /// The shards that are owned here; `None`: all there are.
    pub fn shards(&self) -> Option<Vec<i32>> {
        let shards = self.0.as_ref()?;
        Some((0..SHARDS).filter(|shard| shards.epoch(*shard) != 0).collect())
    }

    /// How long ago the database last answered a beat of this server; one that is alone has none to wait for. Past
    /// [`membership::TTL_MS`] others decide what it decided.
    pub fn silence(&self) -> Duration {
        self.0.as_ref().map_or(Duration::ZERO, |shards| shards.heard().beaten.elapsed())
    }

    /// The same, but a failover of the database is as good as its answer for as long as one may take.
    pub fn given_up(&self) -> Duration {
        self.0.as_ref().map_or(Duration::ZERO, |shards| {
            let LastAnswer { beaten, failing_over } = *shards.heard();
            failing_over.min(beaten + shards.failover).max(beaten).elapsed()
        })
    }

    /// The database does not answer, and a standby of it waits to be promoted.
    pub fn fails_over(&self) {
        if let Some(shards) = &self.0 {
            shards.heard().failing_over = Instant::now();
        }
    }

    /// A fence did not stand: what is owned is read again at once.
    pub fn doubt(&self) {
        if let Some(shards) = &self.0 {
            shards.metrics.doubts.inc();
            shards.doubted.notify_one();
        }
    }

    /// Returns when somebody doubts; never, where there is one server.
    async fn doubted(&self) {
        match &self.0 {
            Some(shards) => shards.doubted.notified().await,
            None => std::future::pending().await,
        }
    }

    /// Waits for shards that are owned since a moment ago: whoever takes them brings their machines back. Never returns, where there is one
    /// server.
    pub async fn gained(&self) -> Vec<i32> {
        let Some(shards) = &self.0 else { return std::future::pending().await };
        loop {
            let gained = std::mem::take(&mut *shards.gained());
            if !gained.is_empty() {
                return gained.into_iter().collect();
            }
            shards.gains.notified().await;
        }
    }

    /// These could not be brought back: they are to be gained once more.
    pub fn gain_again(&self, again: impl IntoIterator<Item = i32>) {
        if let Some(shards) = &self.0 {
            shards.gained().extend(again);
            shards.gains.notify_one();
        }
    }

    /// Takes what is stored for what is owned: shards, and the epoch of each. How many came, and how many went.
    pub fn learn(&self, node: i64, stored: &[(i32, i64)]) -> (usize, usize) {
        let Some(shards) = &self.0 else { return (0, 0) };
        shards.node.store(node, Ordering::Release);
        shards.heard().beaten = Instant::now();
        let (mut gained, mut lost) = (Vec::new(), 0);
        for shard in 0..SHARDS {
            let epoch = stored.iter().find(|(stored, _)| *stored == shard).map_or(0, |(_, epoch)| *epoch);
            let before = shards.set(shard, epoch);
            if epoch != 0 && epoch != before {
                gained.push(shard);
            }
            lost += usize::from(epoch == 0 && before != 0);
        }
        let count = gained.len();
        if count > 0 {
            self.gain_again(gained);
        }
        (count, lost)
    }

    /// Decides nothing for this shard any more.
    pub fn let_go(&self, shard: i32) {
        if let Some(shards) = &self.0 {
            shards.set(shard, 0);
        }
    }
}

impl Shards {
    fn heard(&self) -> MutexGuard<'_, LastAnswer> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn gained(&self) -> MutexGuard<'_, BTreeSet<i32>> {
        self.gained.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn epoch(&self, shard: i32) -> i64 {
        let epoch = usize::try_from(shard).ok().and_then(|at| self.epochs.get(at));
        epoch.map_or(0, |epoch| epoch.load(Ordering::Acquire))
    }

    fn set(&self, shard: i32, to: i64) -> i64 {
        let epoch = usize::try_from(shard).ok().and_then(|at| self.epochs.get(at));
        epoch.map_or(0, |epoch| epoch.swap(to, Ordering::AcqRel))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn alone_it_owns_everything() {
        let alone = Ownership::default();
        assert_eq!((alone.of(7), alone.owns(-1), alone.shards()), (Owner::Alone, true, None));
    }

    #[test]
    fn limits_are_shared_by_those_who_live() {
        let (alone, own) = (Ownership::default(), Ownership::shared(ClusterMetrics::default(), Duration::ZERO));
        alone.is_one_of(3, vec![1]);
        assert_eq!((alone.share_of(50), own.share_of(50)), (50, 50));
        own.is_one_of(3, vec![1, 2, 3]);
        assert_eq!((own.share_of(50), own.share_of(2)), (17, 1));
        own.is_one_of(0, vec![2]);
        assert_eq!(own.share_of(50), 17);
        assert!(own.is_alive(2) && !own.is_alive(1) && !alone.is_alive(1), "the last heartbeat counts");
    }

    #[test]
    fn it_owns_what_is_stored_and_nothing_else() {
        let own = Ownership::shared(ClusterMetrics::default(), Duration::from_secs(60));
        assert_eq!((own.of(3), own.shards()), (Owner::Remote, Some(vec![])));
        assert_eq!(own.learn(9, &[(3, 5), (4, 1)]), (2, 0));
        assert_eq!(own.gained().now_or_never(), Some(vec![3, 4]));
        assert_eq!(own.gained().now_or_never(), None);
        assert_eq!(own.of(3), Owner::Here(Fence { shard: 3, node: 9, epoch: 5 }));
        assert_eq!(own.of(259), own.of(3), "an outlet is of its number mod 256");
        // Somebody had it in between.
        assert_eq!(own.learn(9, &[(3, 7)]), (1, 1));
        assert_eq!(own.gained().now_or_never(), Some(vec![3]));
        assert_eq!((own.shards(), own.owns(4)), (Some(vec![3]), false));
        own.let_go(3);
        assert_eq!(own.of(3), Owner::Remote);
    }
}
