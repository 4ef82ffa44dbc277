//! Connections: one pool per thread, because a connection is driven by the runtime that made it
//! (docs/decisions/0012-one-pool-per-thread.md).

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use deadpool_postgres::{Connect, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts};
use futures_util::future::BoxFuture;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_postgres::config::TargetSessionAttrs;

use super::error::DbError;
use super::hosts::{self, Hosts};
use super::slots::{Slot, Slots};
use super::url;
use crate::admission::{self, Gate, Holding};

/// A connection of a thread's pool, which goes back there when this is dropped.
pub struct DbClient {
    client: deadpool_postgres::Client,
    /// Those of an admitted request. Dropped after the connection.
    _slot: Option<(Slot, Holding)>,
}

impl Deref for DbClient {
    type Target = deadpool_postgres::Client;

    fn deref(&self) -> &Self::Target {
        &self.client
    }
}

impl DerefMut for DbClient {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.client
    }
}

/// A handle that every thread may hold; the pool behind it is the thread's own.
#[derive(Clone)]
pub struct Db(Arc<DbInner>);

struct DbInner {
    id: u64,
    config: tokio_postgres::Config,
    per_thread: usize,
    limits: PoolLimits,
    together: Arc<Together>,
}

/// What all pools of a process have together.
struct Together {
    /// With the limits of statements.
    hosts: Hosts,
    /// Ends every connection that was begun before.
    ended: watch::Sender<()>,
    /// Every thread's pool, for `usage` alone.
    pools: Mutex<Vec<ThreadPool>>,
    /// Decides by the reported waits which requests are admitted.
    gate: Gate,
    /// Seconds until a connection was had.
    waited: Histogram,
}

/// The connections of one thread. Cheap to clone.
#[derive(Clone)]
struct ThreadPool {
    pool: Pool,
    slots: Arc<Slots>,
}

/// Timeouts of the database.
#[derive(Debug, Clone, Copy)]
pub struct PoolLimits {
    /// For a free connection.
    pub wait: Duration,
    /// For a new connection.
    pub connect: Duration,
    /// For one statement, and for a lock in it; `None` for commands, which may read everything there is.
    pub statement: Option<StatementLimits>,
    /// Wait for a connection that is aimed at under overload (`nyala_core::admission`); `None`: no request is refused for the wait of others.
    pub admission: Option<Duration>,
}

#[derive(Debug, Clone, Copy)]
pub struct StatementLimits {
    /// From its beginning to its end.
    pub whole: Duration,
    /// Wait for one lock of another session. Less than `whole`: a row that stalls must not keep a thread's connections.
    pub lock: Duration,
}

/// Time after which a silently vanished peer is noticed, while sending as well as while waiting:
/// TCP's own limit counts from the first unanswered probe, which comes after the second.
const PEER_GONE: Duration = Duration::from_secs(3);
const PROBE_EVERY: Duration = Duration::from_secs(1);

/// Trying all hosts ends by itself before the pool gives it up.
const SPARE: Duration = Duration::from_secs(1);

/// Connections of every thread's pool together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub open: usize,
    /// Open and idle.
    pub idle: usize,
    /// Requests that wait for one.
    pub waiting: usize,
}

thread_local! {
    static POOLS: RefCell<HashMap<u64, ThreadPool>> = RefCell::new(HashMap::new());
}

impl Db {
    /// `url` is a PostgreSQL connection string in either form; `per_thread` connections at most on each thread that does not
    /// `widen`.
    pub fn new(url: &str, per_thread: usize, limits: PoolLimits) -> Result<Self, BadUrl> {
        let config = connection(url, limits.connect)?;
        let together = Together {
            hosts: Hosts::with_limits(&config, limits.statement),
            ended: watch::Sender::new(()),
            pools: Mutex::default(),
            gate: Gate::new(limits.admission),
            waited: Histogram::new(exponential_buckets(0.0001, 4.0, 9)),
        };
        Ok(Self::with(config, per_thread, limits, Arc::new(together)))
    }

    fn with(config: tokio_postgres::Config, per_thread: usize, limits: PoolLimits, together: Arc<Together>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let (id, per_thread) = (NEXT.fetch_add(1, Ordering::Relaxed), per_thread.max(1));
        Self(Arc::new(DbInner { id, config, per_thread, limits, together }))
    }

    /// A reserved connection, however many requests wait for the others; counted with them.
    pub fn apart(&self) -> Self {
        Self::with(self.0.config.clone(), 1, self.0.limits, self.0.together.clone())
    }

    /// Ends every connection, also those in use: another database server has taken over, and the old one may be frozen and never
    /// answer. No cancel request is sent: one that meets a commit waiting for its standby acknowledges it
    /// unreplicated.
    pub fn leave_old_server(&self) {
        self.0.together.ended.send_replace(());
    }

    /// Allows this thread `connections`. A pool that cannot be made reports it to its callers.
    pub fn widen(&self, connections: usize) {
        if let Ok(ThreadPool { pool, slots }) = self.pool() {
            pool.resize(connections.max(1));
            slots.resize(connections);
        }
    }

    /// A connection of this thread's pool. An admitted request ([`admission::as_request`]) takes a slot with it, unless it holds one.
    ///
    /// # Errors
    /// `Busy` when none comes free in time, `Overloaded` when there is no slot for a request that has not begun.
    pub async fn get(&self) -> Result<DbClient, DbError> {
        let ThreadPool { pool, slots } = self.pool()?;
        let asked = Instant::now();
        let slot = match admission::current_request().filter(|_| self.gate().is_on()) {
            Some(request) => match request.rank() {
                Some(rank) => Some((slots.take(rank, self.0.limits.wait).await?, request.hold())),
                None => None,
            },
            None => None,
        };
        let got = pool.get().await;
        self.0.together.waited.observe(asked.elapsed().as_secs_f64());
        Ok(DbClient { client: got?, _slot: slot })
    }

    /// Admits requests, or refuses them under overload.
    pub fn gate(&self) -> &Gate {
        &self.0.together.gate
    }

    /// This thread's pool.
    fn pool(&self) -> Result<ThreadPool, DbError> {
        POOLS.with_borrow_mut(|pools| match pools.get(&self.0.id) {
            Some(pool) => Ok(pool.clone()),
            None => self.build().inspect(|pool| {
                pools.insert(self.0.id, pool.clone());
                self.0.together.pools.lock().unwrap_or_else(PoisonError::into_inner).push(pool.clone());
            }),
        })
    }

    /// The connections there are, on every thread.
    pub fn usage(&self) -> Usage {
        let pools = self.0.together.pools.lock().unwrap_or_else(PoisonError::into_inner);
        pools.iter().map(|ThreadPool { pool, slots }| (pool.status(), slots.waiting())).fold(
            Usage::default(),
            |sum, (pool, waiting)| Usage {
                open: sum.open + pool.size,
                idle: sum.idle + pool.available,
                waiting: sum.waiting + pool.waiting + waiting,
            },
        )
    }

    /// Seconds that `get` took, for the metrics.
    pub fn waited(&self) -> &Histogram {
        &self.0.together.waited
    }

    pub fn config(&self) -> &tokio_postgres::Config {
        &self.0.config
    }

    fn build(&self) -> Result<ThreadPool, DbError> {
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let (limits, together) = (self.0.limits, self.0.together.clone());
        let create = limits.connect.max(together.hosts.limit() + SPARE);
        let manager = Manager::from_connect(self.0.config.clone(), Opener(together), recycling);
        let pool = Pool::builder(manager)
            .max_size(self.0.per_thread)
            .runtime(Runtime::Tokio1)
            .timeouts(Timeouts { wait: Some(limits.wait), create: Some(create), recycle: Some(limits.connect) })
            .build()
            .map_err(DbError::broken)?;
        Ok(ThreadPool { pool, slots: Slots::new(self.gate().clone(), self.0.per_thread) })
    }
}

/// Opens connections for pools.
struct Opener(Arc<Together>);

impl Connect for Opener {
    fn connect(
        &self,
        _: &tokio_postgres::Config,
    ) -> BoxFuture<'_, Result<(tokio_postgres::Client, JoinHandle<()>), tokio_postgres::Error>> {
        Box::pin(async {
            let mut ended = self.0.ended.subscribe();
            let (client, line) = self.0.hosts.connect().await?;
            let task = tokio::spawn(async move {
                tokio::select! {
                    done = line => if let Err(e) = done {
                        tracing::warn!(error = &e as &dyn std::error::Error, "a database connection broke");
                    },
                    _ = ended.changed() => {}
                }
            });
            Ok((client, task))
        })
    }
}

/// How the server connects to the database at `url`, a PostgreSQL connection string in either form; of several hosts to the one
/// that takes writes.
pub fn connection(url: &str, within: Duration) -> Result<tokio_postgres::Config, BadUrl> {
    let url = url.trim();
    let mut config = tokio_postgres::Config::from_str(url).map_err(|e| BadUrl(url::explain(url, &e)))?;
    let (hosts, ports) = (hosts::count(&config), config.get_ports().len());
    if ports > 1 && ports != hosts {
        return Err(BadUrl(format!("it has {hosts} hosts and {ports} ports; give one port for all, or one for each")));
    }
    if hosts > 1 {
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    config.application_name("nyala").connect_timeout(within).tcp_user_timeout(PEER_GONE);
    config.keepalives_idle(PROBE_EVERY).keepalives_interval(PROBE_EVERY);
    Ok(config)
}

#[derive(Debug, thiserror::Error)]
#[error("DATABASE_URL is no connection string, such as postgres://user@host/database ({0})")]
pub struct BadUrl(String);

impl std::fmt::Debug for Db {
    /// Without the connection string, which may hold a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Db").field(&self.usage()).finish()
    }
}
