//! Who may serve a database: one server that is alone, or the servers of one cluster, and never both
//! (docs/decisions/0011-one-server-process-owns-a-database.md).

use std::time::{Duration, SystemTime};

use tokio::sync::oneshot;
use tokio_postgres::{Client, Config, Error};

use super::hosts::Hosts;

const SERVER_LOCK: i64 = 0x4e59_414c_4102;
/// With the name of one of a cluster's servers, which no two may have.
const NAME_LOCK: i32 = 0x4e59_4104;

/// Number and interval of attempts to take a lock that another process holds.
const MAX_ATTEMPTS: usize = 20;
const TRY_EVERY: Duration = Duration::from_millis(100);
/// Pauses while the database is away: the first, and the longest.
const AWAY: Duration = Duration::from_millis(100);
const LONGEST_AWAY: Duration = Duration::from_secs(2);
/// How often a server of several is asked whether it is there, and how long it may take: a frozen one keeps its connections.
const ASK_EVERY: Duration = Duration::from_secs(1);
const MUTE_AFTER: Duration = Duration::from_secs(2);

/// As what a server takes the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// The only one: the lock is its own.
    Alone,
    /// One of several, by its name: they share it.
    Among(String),
}

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("{0}")]
    Taken(Taken),
    #[error("the database cannot be reached: {0}")]
    Database(#[from] Error),
}

/// What runs on the database already, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Taken {
    #[error("another `nyala serve` already runs on this database ({0}); stop it first")]
    Alone(Holders),
    #[error(
        "servers of a cluster already run on this database ({0}); stop them first, or make this one of them: cluster.enabled = \
         true and a cluster.name of its own (docs/cluster.md)"
    )]
    Cluster(Holders),
    #[error(
        "a server that is alone already runs on this database ({0}); stop it first, or make it one of the cluster: \
         cluster.enabled = true and a cluster.name of its own (docs/cluster.md)"
    )]
    AloneBeforeCluster(Holders),
    #[error(
        "another server of this cluster has the name \"{name}\" already ({holders}); stop it first, or give this one another \
         cluster.name"
    )]
    Name { name: String, holders: Holders },
}

impl Taken {
    fn holders(&self) -> &Holders {
        match self {
            Self::Alone(holders) | Self::Cluster(holders) | Self::AloneBeforeCluster(holders) | Self::Name { holders, .. } => {
                holders
            }
        }
    }
}

/// The sessions that have a lock.
#[derive(Debug)]
pub struct Holders(Vec<Session>);

impl std::fmt::Display for Holders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            return f.write_str("it has just gone");
        }
        for (i, session) in self.0.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            let address = session.address.as_deref().unwrap_or("the database's own machine");
            write!(f, "{comma}{} at {address}, session {}", session.who, session.id.pid)?;
        }
        Ok(())
    }
}

#[derive(Debug)]
struct Session {
    id: SessionId,
    who: String,
    address: Option<String>,
}

/// A process id alone comes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionId {
    pid: i32,
    since: Option<SystemTime>,
}

impl SessionId {
    /// The client's own.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn of(client: &Client) -> Result<Self, Error> {
        const SELF: &str = "SELECT pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()";
        let row = client.query_one(SELF, &[]).await?;
        Ok(Self { pid: row.get(0), since: row.get(1) })
    }

    /// Ends the session if it still exists, for example one that waits in a commit after its client is gone.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn end(self, client: &Client) -> Result<(), Error> {
        const END: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start = $2";
        client.query(END, &[&self.pid, &self.since]).await?;
        Ok(())
    }
}

/// Holds the lock until it is dropped, on a separate connection.
pub struct ServerLock {
    client: Client,
    closed: oneshot::Receiver<()>,
    hosts: Hosts,
    part: Part,
    session: SessionId,
    /// When the server of the database was started: no two were at the same moment.
    server: SystemTime,
}

impl ServerLock {
    /// Takes the lock. It retries for a while, because the lock of a process that has just died is released within moments.
    ///
    /// # Errors
    /// When another process holds it, or the database cannot be reached.
    pub async fn wait(config: &Config, part: &Part) -> Result<Self, LockError> {
        let hosts = Hosts::of(config);
        for _ in 1..MAX_ATTEMPTS {
            match Self::take(&hosts, part).await {
                Ok(lock) => return Ok(lock),
                Err(_) => tokio::time::sleep(TRY_EVERY).await,
            }
        }
        Self::take(&hosts, part).await
    }

    /// Takes the lock again after it was lost; waits while the database is away.
    ///
    /// # Errors
    /// When another process has taken it.
    pub async fn again(&self) -> Result<Self, Taken> {
        let (mut tries, mut pause) = (0, AWAY);
        loop {
            match Self::take(&self.hosts, &self.part).await {
                Ok(lock) => return Ok(lock),
                Err(LockError::Taken(taken)) => {
                    tries += 1;
                    if tries >= MAX_ATTEMPTS {
                        return Err(taken);
                    }
                    if taken.holders().0.iter().any(|holder| holder.id == self.session) {
                        self.end_old_session().await;
                    }
                    tokio::time::sleep(TRY_EVERY).await;
                }
                Err(LockError::Database(e)) => {
                    tracing::warn!(error = &e as &dyn std::error::Error, "the database is away; the server's lock waits for it");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_AWAY);
                }
            }
        }
    }

    /// Whether the database server has changed or restarted. Connections to the old one are useless.
    pub fn is_on_another_server(&self, before: &Self) -> bool {
        self.server != before.server
    }

    async fn take(hosts: &Hosts, part: &Part) -> Result<Self, LockError> {
        const NAMED: &str = "SELECT set_config('application_name', $1, FALSE)";
        // The host may vanish without closing the connection; its lock is then released after 8 s.
        const NOTICED: &str = "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3";
        const SERVER: &str = "SELECT pg_postmaster_start_time()";
        let (client, closed) = open(hosts).await?;
        client.batch_execute(NOTICED).await?;
        if let Part::Among(name) = part {
            client.query_one(NAMED, &[&format!("nyala {name}")]).await?;
        }
        lock(&client, part).await?;
        let session = SessionId::of(&client).await?;
        let server = client.query_one(SERVER, &[]).await?.get(0);
        Ok(Self { client, closed, hosts: hosts.clone(), part: part.clone(), session, server })
    }

    /// Returns when the connection, and with it the lock, is lost. For a database with several hosts also when its server no longer answers,
    /// for example because it is frozen.
    pub async fn lost(&mut self) {
        loop {
            tokio::select! {
                _ = &mut self.closed => return,
                () = tokio::time::sleep(ASK_EVERY), if self.hosts.are_several() => {}
            }
            match tokio::time::timeout(MUTE_AFTER, self.client.batch_execute("")).await {
                Ok(Ok(())) => {}
                _ => return,
            }
        }
    }

    /// A connection that broke on this side only still has the lock on the other.
    async fn end_old_session(&self) {
        let end = async {
            let (client, _) = open(&self.hosts).await?;
            self.session.end(&client).await
        };
        if let Err(e) = end.await {
            tracing::warn!(error = &e as &dyn std::error::Error, "this server's old session cannot be ended");
        }
    }
}

async fn lock(client: &Client, part: &Part) -> Result<(), LockError> {
    let tried = |row: tokio_postgres::Row| row.get::<_, bool>(0);
    match part {
        Part::Alone => {
            if tried(client.query_one("SELECT pg_try_advisory_lock($1)", &[&SERVER_LOCK]).await?) {
                return Ok(());
            }
            let (exclusive, holders) = holders(client, key(SERVER_LOCK)).await?;
            Err(LockError::Taken(if exclusive { Taken::Alone(holders) } else { Taken::Cluster(holders) }))
        }
        Part::Among(name) => {
            if !tried(client.query_one("SELECT pg_try_advisory_lock_shared($1)", &[&SERVER_LOCK]).await?) {
                return Err(LockError::Taken(Taken::AloneBeforeCluster(holders(client, key(SERVER_LOCK)).await?.1)));
            }
            let number = name.bytes().fold(0, |number, byte| number << 8 | i32::from(byte));
            if tried(client.query_one("SELECT pg_try_advisory_lock($1, $2)", &[&NAME_LOCK, &number]).await?) {
                return Ok(());
            }
            let (_, holders) = holders(client, (NAME_LOCK.cast_unsigned(), number.cast_unsigned(), 2)).await?;
            Err(LockError::Taken(Taken::Name { name: name.clone(), holders }))
        }
    }
}

/// Whether a server that is alone runs on this database.
///
/// # Errors
/// When the database does not answer.
pub async fn is_served_alone(client: &Client) -> Result<bool, Error> {
    Ok(holders(client, key(SERVER_LOCK)).await?.0)
}

/// How `pg_locks` names a lock with one number.
fn key(number: i64) -> (u32, u32, i16) {
    let [a, b, c, d, e, f, g, h] = number.to_be_bytes();
    (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]), 1)
}

/// Who has a lock, and whether alone.
async fn holders(client: &Client, (classid, objid, objsubid): (u32, u32, i16)) -> Result<(bool, Holders), Error> {
    const HOLDERS: &str = "
        SELECT l.mode = 'ExclusiveLock', l.pid, a.backend_start, coalesce(a.application_name, ''), host(a.client_addr)
        FROM pg_locks l
        JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
        LEFT JOIN pg_stat_activity a USING (pid)
        WHERE l.locktype = 'advisory' AND l.classid = $1 AND l.objid = $2 AND l.objsubid = $3
            AND l.granted AND l.pid <> pg_backend_pid()
        ORDER BY 4, 2 LIMIT 8";
    let rows = client.query(HOLDERS, &[&classid, &objid, &objsubid]).await?;
    let session = |row: &tokio_postgres::Row| {
        let id = SessionId { pid: row.get(1), since: row.get(2) };
        Session { id, who: row.get(3), address: row.get(4) }
    };
    Ok((rows.iter().any(|row| row.get(0)), Holders(rows.iter().map(session).collect())))
}

/// A connection outside every pool, and a signal for its end.
///
/// # Errors
/// When none can be had.
pub async fn connect(config: &Config) -> Result<(Client, oneshot::Receiver<()>), Error> {
    open(&Hosts::of(config)).await
}

async fn open(hosts: &Hosts) -> Result<(Client, oneshot::Receiver<()>), Error> {
    let (client, line) = hosts.connect().await?;
    let (ended, lost) = oneshot::channel();
    tokio::spawn(async move {
        let _ = line.await;
        let _ = ended.send(());
    });
    Ok((client, lost))
}
