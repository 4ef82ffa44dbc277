//! This server's life among others: a beat each 300 ms, and one more where another's life ends, on a connection of its own, so that it
//! waits for no purchase.

use std::time::{Duration, Instant};

use nyala_store::db::Store;
use nyala_store::db::clock::Ahead;
use nyala_store::db::error::DbError;
use nyala_store::db::lock::{self, SessionId};
use tokio::sync::oneshot;
use tokio::time::{MissedTickBehavior, interval, sleep, sleep_until, timeout};
use tokio_postgres::{Client, Config};

use super::error::ClusterError;
use super::membership::LastHeartbeat;
use super::metrics::ClusterMetrics;
use super::news::News;
use super::{Ownership, membership};

const EVERY: Duration = Duration::from_millis(membership::HEARTBEAT_MS);
/// So long after another server's life a beat finds that it is over.
const AFTER_END: Duration = Duration::from_millis(5);
/// A doubted ownership is read again no sooner than this.
const DOUBT_EVERY: Duration = Duration::from_millis(20);
/// A beat that takes longer failed: the connection is made anew, perhaps to another host.
const WITHIN: Duration = Duration::from_secs(3);
/// How often it is looked whether devices have lost their server.
const ORPHANS_EVERY: Duration = Duration::from_secs(5);
const AGAIN: Duration = Duration::from_millis(100);
/// For handing everything over; the database may go while it is done.
const LEAVE_WITHIN: Duration = Duration::from_secs(5);
/// Of the same name, one that was killed lives for 1.2 s in the eyes of others.
const NAME_TRIES: u32 = 20;

/// This start of this server.
pub struct Node {
    id: i64,
    name: String,
    config: Config,
    ownership: Ownership,
    news: News,
    /// How far its clock is from the database's, for the others to see.
    clock_ahead_s: Ahead,
    metrics: ClusterMetrics,
    last: LastHeartbeat,
    /// Of the connection that the latest beats went by.
    session: Option<SessionId>,
}

impl Node {
    /// Enters among the others, as the owner of nothing.
    ///
    /// # Errors
    /// When a server of that name lives, or devices are simulated; and the database's.
    pub async fn join(
        store: &Store,
        name: &str,
        ownership: Ownership,
        news: News,
        clock_ahead_s: Ahead,
        metrics: ClusterMetrics,
    ) -> Result<Self, ClusterError> {
        let config = store.db.config().clone();
        let (client, _lost) = lock::connect(&config).await?;
        let id = join(&client, name).await?;
        Ok(Self {
            id,
            name: name.to_owned(),
            config,
            ownership,
            news,
            clock_ahead_s,
            metrics,
            last: LastHeartbeat::default(),
            session: None,
        })
    }

    /// Runs until the process ends.
    pub async fn live(mut self) {
        loop {
            let Err(e) = self.beats().await;
            self.metrics.beats_failed.inc();
            tracing::warn!(error = %e, "heartbeat failed, retrying");
            sleep(AGAIN).await;
        }
    }

    /// Beats on one connection for as long as it holds.
    async fn beats(&mut self) -> Result<std::convert::Infallible, ClusterError> {
        let in_time = |_| ClusterError::Database(DbError::broken("the database did not answer a beat"));
        let (client, _lost) = timeout(WITHIN, self.connect()).await.map_err(in_time)??;
        loop {
            let mut next = Instant::now() + EVERY;
            match timeout(WITHIN, self.beat(&client)).await.map_err(in_time)? {
                // Somebody is silent: whoever waits for a machine of theirs waits no longer than for their life.
                Ok(Some(end)) => next = next.min(end),
                Err(ClusterError::Forgotten) => {
                    // Nothing is owned by a number that nobody knows.
                    self.ownership.learn(self.id, &[]);
                    self.id = join(&client, &self.name).await?;
                    tracing::warn!(idnode = self.id, "the others had forgotten this server; it has joined them again");
                }
                done => _ = done?,
            }
            tokio::select! {
                () = sleep_until(next.into()) => {}
                () = self.ownership.doubted() => sleep(DOUBT_EVERY).await,
            }
        }
    }

    /// A beat that waited in vain for the primary's standbys goes on waiting there: each would keep its connection, and soon there were no
    /// more to be had.
    async fn connect(&mut self) -> Result<(Client, oneshot::Receiver<()>), ClusterError> {
        let (client, lost) = lock::connect(&self.config).await?;
        if let Some(before) = self.session {
            before.end(&client).await?;
        }
        self.session = Some(SessionId::of(&client).await?);
        Ok((client, lost))
    }

    /// Just after the first of the others' lives will be over, if they say nothing more.
    async fn beat(&mut self, client: &Client) -> Result<Option<Instant>, ClusterError> {
        let began = Instant::now();
        let beat = membership::beat(client, self.id, self.last).await?;
        let took = began.elapsed();
        let first_end = beat.first_end.map(|end| Instant::now() + end + AFTER_END);
        self.last = LastHeartbeat {
            took_ms: took.as_secs_f64() * 1_000.0,
            ahead_ms: self.clock_ahead_s.get() * 1_000.0,
            news_ms: self.news.way_ms(),
        };
        self.metrics.beat_seconds.observe(took.as_secs_f64());
        let (gained, lost) = self.ownership.learn(self.id, &beat.owned);
        self.ownership.is_one_of(beat.nodes, beat.alive);
        self.metrics.nodes.set(beat.nodes);
        self.metrics.shards_free.set(beat.free);
        self.metrics.shards_owned.set(i64::try_from(beat.owned.len()).unwrap_or_default());
        self.metrics.shards_gained.inc_by(gained as u64);
        self.metrics.shards_lost.inc_by(lost as u64);
        if gained + lost > 0 {
            tracing::info!(gained, lost, owned = beat.owned.len(), "shards moved");
        }
        for (shard, _) in beat.owned.iter().rev().take(beat.surplus) {
            // Each waits for a commit; the rest goes with the next beat, which must not come late.
            if began.elapsed() > EVERY {
                break;
            }
            // First nothing of it is decided here, then it may be somebody's.
            self.ownership.let_go(*shard);
            membership::hand_over(client, self.id, *shard).await?;
        }
        Ok(first_end)
    }
}

/// Tells of devices that have lost their server. Runs until the process ends, and apart from the beats: these wait for nobody's rows.
pub async fn tell_orphans_loop(store: Store, ownership: Ownership) {
    let mut every = interval(ORPHANS_EVERY);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        every.tick().await;
        let Some(me) = ownership.node() else { continue };
        let told = async { membership::tell_orphans(&*store.get().await?, me).await };
        match told.await {
            Ok(0) => {}
            Ok(orphans) => tracing::warn!(orphans, "devices of a dead server have not come back"),
            Err(e) => tracing::warn!(error = %e, "whether devices have lost their server cannot be read; it will be tried again"),
        }
    }
}

async fn join(client: &Client, name: &str) -> Result<i64, ClusterError> {
    for _ in 1..NAME_TRIES {
        match membership::join(client, name, env!("CARGO_PKG_VERSION")).await {
            Err(ClusterError::NameTaken { .. }) => sleep(AGAIN).await,
            done => return done,
        }
    }
    membership::join(client, name, env!("CARGO_PKG_VERSION")).await
}

/// Hands everything over, for a server that stops: returns when nothing is owned here any more, after 5 s at the latest.
///
/// # Errors
/// The database's, or that it took too long; then the others take it over when this one's life is over.
pub async fn leave(config: &Config, ownership: &Ownership) -> Result<(), ClusterError> {
    let left = timeout(LEAVE_WITHIN, hand_everything_over(config, ownership)).await;
    left.unwrap_or_else(|_| Err(DbError::broken("the database did not take what was handed over").into()))
}

async fn hand_everything_over(config: &Config, ownership: &Ownership) -> Result<(), ClusterError> {
    let Some(id) = ownership.node() else { return Ok(()) };
    let (client, _lost) = lock::connect(config).await?;
    membership::leave(&client, id).await?;
    while ownership.shards().is_some_and(|shards| !shards.is_empty()) {
        sleep(AGAIN).await;
    }
    membership::gone(&client, id).await
}
