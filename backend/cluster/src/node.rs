//! Heartbeats of this server: one every 300 ms, and an additional one when the lease of another server expires. They use a separate
//! connection, so that they never wait for a purchase.

use std::time::{Duration, Instant};

use nyala_core::domain::id::NodeId;
use nyala_store::db::Store;
use nyala_store::db::clock::Ahead;
use nyala_store::db::error::DbError;
use nyala_store::db::lock::{self, SessionId};
use nyala_store::secrets::{GoodKids, Keyring};
use tokio::sync::oneshot;
use tokio::time::{MissedTickBehavior, interval, sleep, sleep_until, timeout};
use tokio_postgres::{Client, Config};

use super::error::ClusterError;
use super::membership::LastHeartbeat;
use super::metrics::ClusterMetrics;
use super::notifications::Notifier;
use super::{OwnedShard, Ownership, ShardChanges, membership};

const EVERY: Duration = Duration::from_millis(membership::HEARTBEAT_MS);
/// Delay of a heartbeat after the expiry of another server's lease, so that the database surely sees the lease as expired.
const AFTER_END: Duration = Duration::from_millis(5);
/// Minimum time between an invalidation and the next read of the ownership.
const RECHECK_INTERVAL: Duration = Duration::from_millis(20);
/// Timeout of a heartbeat. The server then reconnects, perhaps to another database host.
const WITHIN: Duration = Duration::from_secs(3);
/// Interval between searches for devices of dead servers.
const ORPHANS_EVERY: Duration = Duration::from_secs(5);
const AGAIN: Duration = Duration::from_millis(100);
/// Timeout for the release of all shards when the server stops.
const LEAVE_WITHIN: Duration = Duration::from_secs(5);
/// Attempts to join. The name is taken while the lease of a killed server of the same name has not expired, for up to 1.2 s.
const MAX_NAME_ATTEMPTS: u32 = 20;

/// This server as a member of the cluster. Its row in `node` was written by this start of the process.
pub struct Node {
    id: NodeId,
    name: String,
    config: Config,
    ownership: Ownership,
    notifier: Notifier,
    keyring: Keyring,
    /// How far the database's clock is ahead of this server's, for `nyala cluster status`.
    clock_ahead_s: Ahead,
    metrics: ClusterMetrics,
    last: LastHeartbeat,
    /// Database session that sent the latest heartbeats.
    session: Option<SessionId>,
}

impl Node {
    /// Joins the cluster without shards.
    ///
    /// # Errors
    /// When a server of that name is alive, or devices are simulated; and the database's.
    pub async fn join(
        store: &Store,
        name: &str,
        ownership: Ownership,
        notifier: Notifier,
        keyring: Keyring,
        clock_ahead_s: Ahead,
        metrics: ClusterMetrics,
    ) -> Result<Self, ClusterError> {
        let config = store.db.config().clone();
        let (client, _lost) = lock::connect(&config).await?;
        let id = join(&client, name, &keyring).await?;
        Ok(Self {
            id,
            name: name.to_owned(),
            config,
            ownership,
            notifier,
            keyring,
            clock_ahead_s,
            metrics,
            last: LastHeartbeat::default(),
            session: None,
        })
    }

    /// Sends heartbeats until the process ends.
    pub async fn run(mut self) {
        loop {
            let Err(e) = self.heartbeat_loop().await;
            self.metrics.heartbeats_failed.inc();
            tracing::warn!(error = %e, "heartbeat failed, retrying");
            sleep(AGAIN).await;
        }
    }

    /// Sends heartbeats on one connection until it fails.
    async fn heartbeat_loop(&mut self) -> Result<std::convert::Infallible, ClusterError> {
        let in_time = |_| ClusterError::Database(DbError::broken("the database did not answer a heartbeat"));
        let (client, _lost) = timeout(WITHIN, self.connect()).await.map_err(in_time)??;
        loop {
            let mut next = Instant::now() + EVERY;
            match timeout(WITHIN, self.heartbeat(&client)).await.map_err(in_time)? {
                // A heartbeat just after the expiry of another lease acquires its shards without delay.
                Ok(Some(end)) => next = next.min(end),
                Err(ClusterError::Forgotten) => {
                    // A node without a row owns nothing.
                    self.ownership.replace(self.id, &[]);
                    self.id = join(&client, &self.name, &self.keyring).await?;
                    tracing::warn!(idnode = %self.id, "the others had forgotten this server; it has joined them again");
                }
                done => _ = done?,
            }
            tokio::select! {
                () = sleep_until(next.into()) => {}
                () = self.ownership.invalidated() => sleep(RECHECK_INTERVAL).await,
            }
        }
    }

    /// Connects, and ends the previous session. A heartbeat that timed out may still wait for the standbys in that session. Without this,
    /// such sessions would use up the connections of the database.
    async fn connect(&mut self) -> Result<(Client, oneshot::Receiver<()>), ClusterError> {
        let (client, lost) = lock::connect(&self.config).await?;
        if let Some(before) = self.session {
            before.end(&client).await?;
        }
        self.session = Some(SessionId::of(&client).await?);
        Ok((client, lost))
    }

    /// Sends one heartbeat. Returns the moment just after the first lease of another server expires.
    async fn heartbeat(&mut self, client: &Client) -> Result<Option<Instant>, ClusterError> {
        let began = Instant::now();
        let result = membership::heartbeat(client, self.id, self.last, &self.keyring.get().good_kids()).await?;
        let took = began.elapsed();
        self.keyring.agree(keys_of_servers(client).await?);
        let first_end = result.first_end.map(|end| Instant::now() + end + AFTER_END);
        self.last = LastHeartbeat {
            took_ms: took.as_secs_f64() * 1_000.0,
            ahead_ms: self.clock_ahead_s.get() * 1_000.0,
            notification_ms: self.notifier.round_trip_ms(),
        };
        self.metrics.heartbeat_seconds.observe(took.as_secs_f64());
        let ShardChanges { acquired, lost } = self.ownership.replace(self.id, &result.owned);
        self.ownership.update_members(result.nodes, result.alive);
        self.metrics.nodes.set(result.nodes);
        self.metrics.shards_free.set(result.free);
        self.metrics.shards_owned.set(i64::try_from(result.owned.len()).unwrap_or_default());
        self.metrics.shards_acquired.inc_by(acquired as u64);
        self.metrics.shards_lost.inc_by(lost as u64);
        if acquired + lost > 0 {
            tracing::info!(acquired, lost, owned = result.owned.len(), "shards moved");
        }
        for OwnedShard { shard, .. } in result.owned.iter().rev().take(result.surplus) {
            // Each release waits for its commit. The others follow at the next heartbeat, which must not be delayed.
            if began.elapsed() > EVERY {
                break;
            }
            // This server must stop deciding before another one can acquire the shard.
            self.ownership.release(*shard);
            membership::release_shard(client, self.id, *shard).await?;
        }
        Ok(first_end)
    }
}

/// The good keys of each server of the cluster.
///
/// # Errors
/// The database's.
pub async fn keys_of_servers(client: &Client) -> Result<Vec<GoodKids>, ClusterError> {
    Ok(membership::keys(client).await?.into_iter().map(|(_, keys)| keys).collect())
}

/// Marks devices of dead servers as offline, until the process ends. It is separate from the heartbeats, because they must not wait for locked
/// rows.
pub async fn mark_orphans_offline_loop(store: Store, ownership: Ownership) {
    let mut every = interval(ORPHANS_EVERY);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        every.tick().await;
        let Some(me) = ownership.node() else { continue };
        let marked = async { membership::mark_orphans_offline(&*store.get().await?, me).await };
        match marked.await {
            Ok(0) => {}
            Ok(orphans) => tracing::warn!(orphans, "devices of a dead server have not come back"),
            Err(e) => tracing::warn!(error = %e, "whether devices have lost their server cannot be read; it will be tried again"),
        }
    }
}

async fn join(client: &Client, name: &str, keyring: &Keyring) -> Result<NodeId, ClusterError> {
    let keys = keyring.get().good_kids();
    for _ in 1..MAX_NAME_ATTEMPTS {
        match membership::join(client, name, env!("CARGO_PKG_VERSION"), &keys).await {
            Err(ClusterError::NameTaken { .. }) => sleep(AGAIN).await,
            done => return done,
        }
    }
    membership::join(client, name, env!("CARGO_PKG_VERSION"), &keys).await
}

/// Releases all shards of a server that stops, so that others claim them. Returns when it owns none, or after 5 s.
///
/// # Errors
/// The database's, or the timeout. Then the others acquire the shards when the lease expires.
pub async fn leave(config: &Config, ownership: &Ownership) -> Result<(), ClusterError> {
    let left = timeout(LEAVE_WITHIN, release_all(config, ownership)).await;
    left.unwrap_or_else(|_| Err(DbError::broken("the shards were not released in time").into()))
}

async fn release_all(config: &Config, ownership: &Ownership) -> Result<(), ClusterError> {
    let Some(id) = ownership.node() else { return Ok(()) };
    let (client, _lost) = lock::connect(config).await?;
    membership::leave(&client, id).await?;
    while ownership.shards().is_some_and(|shards| !shards.is_empty()) {
        sleep(AGAIN).await;
    }
    membership::end_lease(&client, id).await
}
