//! File locks: which process runs the database, and which processes use it.
//!
//! The one process that runs PostgreSQL holds `postgres.lock`; its text tells other processes where to connect. Each process that
//! only uses the database holds a shared lock on `postgres.users`, so that the owner can let it finish. Both are advisory locks
//! (flock(2)) of the kernel: they end with the process, also by SIGKILL.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use crate::{error::Error, place::Place};

/// Longest wait for another process to finish with the database or to have it ready.
pub(crate) const HOLDER_LIMIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);
/// The text of the lock file is a few hundred bytes.
const INFO_BYTES: usize = 4096;

/// What a process wants the database for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To run it for a long time. Never shares, so that a second server is refused.
    Serve,
    /// To use it for a short time, no matter which process runs it.
    Command,
}

/// The lock file's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Info {
    pub owner_pid: i32,
    pub serves: bool,
    /// The socket's folder and the postmaster's process id, once it accepts connections.
    pub ready: Option<(PathBuf, i32)>,
}

impl Info {
    fn to_text(&self) -> String {
        let purpose = if self.serves { "serve" } else { "command" };
        let ready = self
            .ready
            .as_ref()
            .map(|(dir, pid)| format!("postgres {pid}\nsocket {}\nready\n", dir.display()))
            .unwrap_or_default();
        format!("owner {}\npurpose {purpose}\n{ready}", self.owner_pid)
    }

    fn parse(text: &str) -> Option<Self> {
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
        let whole = text.lines().any(|line| line == "ready");
        let ready =
            value("socket").zip(value("postgres").and_then(|pid| pid.parse().ok())).map(|(dir, pid)| (PathBuf::from(dir), pid));
        Some(Self {
            owner_pid: value("owner")?.parse().ok()?,
            serves: value("purpose")? == "serve",
            ready: ready.filter(|_| whole),
        })
    }
}

/// What [`take`] found.
#[derive(Debug)]
pub(crate) enum Held {
    /// No process ran the database; this process now does.
    Owner(OwnerLock),
    /// Another process runs it, at least while this file is open (within the owner's patience).
    User { info: Info, users: File },
}

/// The exclusive lock. Dropping it releases it.
#[derive(Debug)]
pub(crate) struct OwnerLock {
    file: File,
    users: File,
    path: PathBuf,
}

/// Takes the owner's lock or, for a command, joins the process that holds it.
///
/// # Errors
/// [`Error::AlreadyServed`] for a second server, [`Error::Busy`] after [`HOLDER_LIMIT`], [`Error::Io`].
pub(crate) fn take(place: &Place, purpose: Purpose) -> Result<Held, Error> {
    let path = place.data_dir.join("postgres.lock");
    let started = Instant::now();
    loop {
        let (file, users) = (open(&path, place)?, open(&place.data_dir.join("postgres.users"), place)?);
        if try_lock(&file).map_err(Error::io("cannot lock", &path))? {
            let lock = OwnerLock { file, users, path };
            lock.write(&Info { owner_pid: std::process::id().cast_signed(), serves: purpose == Purpose::Serve, ready: None })?;
            return Ok(Held::Owner(lock));
        }
        let info = read(&file);
        match (&info, purpose) {
            (Some(info), Purpose::Serve) if info.serves => {
                return Err(Error::AlreadyServed { folder: place.data_dir.clone(), pid: info.owner_pid });
            }
            (Some(Info { ready: Some(_), .. }), Purpose::Command) if users.try_lock_shared().is_ok() => {
                // Read it again: an owner that was just stopping empties the text before it releases the users' lock.
                if let Some(info) = read(&file).filter(|info| info.ready.is_some() && is_alive(info)) {
                    return Ok(Held::User { info, users });
                }
            }
            _ => {}
        }
        if started.elapsed() > HOLDER_LIMIT {
            let pid = info.map_or(0, |info| info.owner_pid);
            return Err(Error::Busy { folder: place.data_dir.clone(), pid, waited_s: HOLDER_LIMIT.as_secs() });
        }
        drop((file, users));
        thread::sleep(POLL);
    }
}

fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(e)) => Err(e),
    }
}

impl OwnerLock {
    pub fn write(&self, info: &Info) -> Result<(), Error> {
        let write = || {
            self.file.set_len(0)?;
            self.file.write_all_at(info.to_text().as_bytes(), 0)
        };
        write().map_err(Error::io("cannot write", &self.path))
    }

    /// Withdraws the database and waits for its users, `patience` at most. New users wait until the lock is free.
    pub fn close(&self, patience: Duration) {
        let _ = self.file.set_len(0);
        let end = Instant::now() + patience;
        while self.users.try_lock().is_err() && Instant::now() < end {
            thread::sleep(POLL);
        }
    }
}

/// Unlocks explicitly. A child that another thread has forked but that has not reached its exec also has the file open, and would
/// keep the lock. The text is emptied first, because a process that finds the file locked reads it.
impl Drop for OwnerLock {
    fn drop(&mut self) {
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

/// Opens or creates a lock file. If root creates it, the data folder's owner becomes its owner and can use it later.
fn open(path: &Path, place: &Place) -> Result<File, Error> {
    let context = || Error::io("cannot open the lock file", path);
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600).custom_flags(nix::libc::O_NOFOLLOW);
    match options.clone().create_new(true).open(path) {
        Ok(file) => {
            let owner = place.data_dir.metadata().map_err(context())?;
            if place.account.switch {
                std::os::unix::fs::fchown(&file, Some(owner.uid()), Some(owner.gid())).map_err(context())?;
            }
            Ok(file)
        }
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => options.open(path).map_err(context()),
        Err(e) => Err(context()(e)),
    }
}

fn read(file: &File) -> Option<Info> {
    let mut buffer = vec![0; INFO_BYTES];
    let length = file.read_at(&mut buffer, 0).ok()?;
    Info::parse(std::str::from_utf8(buffer.get(..length)?).ok()?)
}

fn is_alive(info: &Info) -> bool {
    info.ready.as_ref().is_some_and(|(dir, _)| std::os::unix::net::UnixStream::connect(dir.join(crate::SOCKET_FILE)).is_ok())
}
