//! Connections: one pool per thread, because a connection is driven by the runtime that made it
//! (docs/decisions/0012-one-pool-per-thread.md).

use std::cell::RefCell;
use std::collections::HashMap;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use tokio_postgres::NoTls;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::DbError;

pub type DbClient = deadpool_postgres::Client;

/// A handle that every thread may hold; the pool behind it is the thread's own.
#[derive(Clone)]
pub struct Db(Arc<DbInner>);

struct DbInner {
    id: u64,
    config: tokio_postgres::Config,
    per_thread: usize,
    limits: PoolLimits,
    told: Arc<Told>,
}

/// What all pools of a process tell together.
struct Told {
    /// Every thread's pool, for `usage` alone.
    pools: Mutex<Vec<Pool>>,
    /// Seconds until a connection was had.
    waited: Histogram,
}

/// How long the database may keep somebody waiting.
#[derive(Debug, Clone, Copy)]
pub struct PoolLimits {
    /// For a free connection.
    pub wait: Duration,
    /// For a new connection.
    pub connect: Duration,
    /// For one statement, and for a lock in it; `None` for commands, which may read everything there is.
    pub statement: Option<StatementLimits>,
}

#[derive(Debug, Clone, Copy)]
pub struct StatementLimits {
    /// From its beginning to its end.
    pub whole: Duration,
    /// For one lock that somebody else holds. Less than `whole`: a row that stalls must not keep a thread's connections.
    pub lock: Duration,
}

/// A peer that is gone without a word is noticed after the first, and three times the second.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);
const KEEPALIVE_EVERY: Duration = Duration::from_secs(10);
const KEEPALIVE_TRIES: u32 = 3;

/// Connections of every thread's pool together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub open: usize,
    /// Open, and used by nobody.
    pub idle: usize,
    /// Requests that wait for one.
    pub waiting: usize,
}

thread_local! {
    static POOLS: RefCell<HashMap<u64, Pool>> = RefCell::new(HashMap::new());
}

impl Db {
    /// `url` is a PostgreSQL connection string in either form; `per_thread` connections at most on each thread that does not `widen`.
    pub fn new(url: &str, per_thread: usize, limits: PoolLimits) -> Result<Self, BadUrl> {
        let told = Told { pools: Mutex::default(), waited: Histogram::new(exponential_buckets(0.0001, 4.0, 9)) };
        Ok(Self::with(connection(url, limits.connect)?, per_thread, limits, Arc::new(told)))
    }

    fn with(config: tokio_postgres::Config, per_thread: usize, limits: PoolLimits, told: Arc<Told>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let (id, per_thread) = (NEXT.fetch_add(1, Ordering::Relaxed), per_thread.max(1));
        Self(Arc::new(DbInner { id, config, per_thread, limits, told }))
    }

    /// One connection that is nobody else's, however many wait for the others; counted with them.
    pub fn apart(&self) -> Self {
        Self::with(self.0.config.clone(), 1, self.0.limits, self.0.told.clone())
    }

    /// From now on this thread may have `connections`. (A pool that cannot be had says so to whoever asks it for one.)
    pub fn widen(&self, connections: usize) {
        if let Ok(pool) = self.pool() {
            pool.resize(connections.max(1));
        }
    }

    /// A connection of this thread's pool; `Busy` when none comes free in time.
    pub async fn get(&self) -> Result<DbClient, DbError> {
        let pool = self.pool()?;
        let asked = Instant::now();
        let got = pool.get().await;
        self.0.told.waited.observe(asked.elapsed().as_secs_f64());
        Ok(got?)
    }

    /// This thread's pool.
    fn pool(&self) -> Result<Pool, DbError> {
        POOLS.with_borrow_mut(|pools| match pools.get(&self.0.id) {
            Some(pool) => Ok(pool.clone()),
            None => self.build().inspect(|pool| {
                pools.insert(self.0.id, pool.clone());
                self.0.told.pools.lock().unwrap_or_else(PoisonError::into_inner).push(pool.clone());
            }),
        })
    }

    /// The connections there are, on every thread.
    pub fn usage(&self) -> Usage {
        let pools = self.0.told.pools.lock().unwrap_or_else(PoisonError::into_inner);
        pools.iter().map(Pool::status).fold(Usage::default(), |sum, pool| Usage {
            open: sum.open + pool.size,
            idle: sum.idle + pool.available,
            waiting: sum.waiting + pool.waiting,
        })
    }

    /// Seconds that `get` took, for the metrics.
    pub fn waited(&self) -> &Histogram {
        &self.0.told.waited
    }

    pub fn config(&self) -> &tokio_postgres::Config {
        &self.0.config
    }

    fn build(&self) -> Result<Pool, DbError> {
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let (limits, mut config) = (self.0.limits, self.0.config.clone());
        if let Some(StatementLimits { whole, lock }) = limits.statement {
            let (asked, ms, lock_ms) = (config.get_options().unwrap_or_default().to_owned(), whole.as_millis(), lock.as_millis());
            config.options(format!(
                "{asked} -c statement_timeout={ms} -c lock_timeout={lock_ms} -c idle_in_transaction_session_timeout={ms}"
            ));
        }
        let manager = match tls_for(&config) {
            Some(tls) => Manager::from_config(config, tls, recycling),
            None => Manager::from_config(config, NoTls, recycling),
        };
        Pool::builder(manager)
            .max_size(self.0.per_thread)
            .runtime(Runtime::Tokio1)
            .timeouts(Timeouts { wait: Some(limits.wait), create: Some(limits.connect), recycle: Some(limits.connect) })
            .build()
            .map_err(DbError::broken)
    }
}

/// How the server connects to the database at `url`, a PostgreSQL connection string in either form.
pub fn connection(url: &str, within: Duration) -> Result<tokio_postgres::Config, BadUrl> {
    let mut config = tokio_postgres::Config::from_str(url).map_err(BadUrl)?;
    config.application_name("nyala").connect_timeout(within);
    config.keepalives_idle(KEEPALIVE_IDLE).keepalives_interval(KEEPALIVE_EVERY).keepalives_retries(KEEPALIVE_TRIES);
    config.tcp_user_timeout(KEEPALIVE_IDLE + KEEPALIVE_EVERY * KEEPALIVE_TRIES);
    Ok(config)
}

#[derive(Debug, thiserror::Error)]
#[error("DATABASE_URL is no connection string, such as postgres://user@host/database ({0})")]
pub struct BadUrl(tokio_postgres::Error);

impl std::fmt::Debug for Db {
    /// Without the connection string, which may hold a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Db").field(&self.usage()).finish()
    }
}

/// TLS with the web's root certificates when the connection string asks for it (`sslmode=require`).
pub fn tls_for(config: &tokio_postgres::Config) -> Option<MakeRustlsConnect> {
    (config.get_ssl_mode() == SslMode::Require).then(|| {
        let roots = rustls::RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        MakeRustlsConnect::new(rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth())
    })
}
