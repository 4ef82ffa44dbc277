//! One postmaster from start to stop.

use std::{
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use nix::sys::signal::Signal;

use crate::{
    PORT, SOCKET_FILE, Settings,
    binaries::Binaries,
    child::Child,
    cluster,
    error::Error,
    layout,
    lock::{Info, Purpose},
    place::Place,
    socket,
};

/// A fast shutdown ends every connection and writes a checkpoint.
const FAST_LIMIT: Duration = Duration::from_secs(20);
/// Longer than 5 s, after which PostgreSQL itself kills its helpers in an immediate shutdown.
const IMMEDIATE_LIMIT: Duration = Duration::from_secs(8);
const END_GRACE: Duration = Duration::from_millis(500);
const END_LIMIT: Duration = Duration::from_secs(10);
const READY_POLL: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(crate) struct Instance {
    child: Arc<Child>,
    binaries: Binaries,
    socket_dir: PathBuf,
    arguments: Vec<String>,
    ready_within: Duration,
}

impl Instance {
    /// Creates the cluster if it does not exist, and starts it. Call with the lock held.
    pub fn start(place: &Place, settings: &Settings) -> Result<Self, Error> {
        cluster::wait_for_orphans(&place.base)?;
        let folder = layout::dir(&place.base);
        let version = layout::version(&folder);
        if version.is_none() {
            if !settings.create {
                return Err(Error::NoDatabase { folder: place.data_dir.clone() });
            }
            cluster::refuse_foreign(place)?;
        }
        let binaries = Binaries::choose(settings, &place.account, version.as_deref().map(|version| (folder.as_path(), version)))?;
        if version.is_none() {
            tracing::info!("making a database with PostgreSQL {} in {}", binaries.major, folder.display());
            cluster::init(place, &binaries)?;
        }
        let socket_dir = socket::dir(&place.base, &place.account, PORT)?;
        let arguments = arguments(settings, &socket_dir);
        let child = Arc::new(launch(place, &binaries, &socket_dir, &arguments, settings.ready_within)?);
        Ok(Self { child, binaries, socket_dir, arguments, ready_within: settings.ready_within })
    }

    pub fn restart(&mut self, place: &Place) -> Result<(), Error> {
        if self.has_ended() {
            cluster::wait_for_orphans(&place.base)?;
            self.child = Arc::new(launch(place, &self.binaries, &self.socket_dir, &self.arguments, self.ready_within)?);
        }
        Ok(())
    }

    /// The caller has lost connections, and these break a moment before the end of the process is visible. So the postmaster
    /// counts as alive only if it still runs after [`END_GRACE`] and answers.
    fn has_ended(&self) -> bool {
        self.child.wait(END_GRACE)
            || UnixStream::connect(self.socket_dir.join(SOCKET_FILE)).is_err() && self.child.wait(END_LIMIT)
    }

    pub fn pid(&self) -> i32 {
        self.child.pid()
    }

    pub fn socket_dir(&self) -> &Path {
        &self.socket_dir
    }

    /// The child process, to wait for its end without a lock on the instance.
    pub fn exit(&self) -> Arc<Child> {
        Arc::clone(&self.child)
    }

    pub fn info(&self, purpose: Purpose) -> Info {
        Info {
            owner_pid: std::process::id().cast_signed(),
            serves: purpose == Purpose::Serve,
            ready: Some((self.socket_dir.clone(), self.pid())),
        }
    }

    pub fn stop(&self) {
        stop(&self.child);
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.stop();
    }
}

fn stop(child: &Child) {
    for (signal, limit) in [(Signal::SIGINT, FAST_LIMIT), (Signal::SIGQUIT, IMMEDIATE_LIMIT), (Signal::SIGKILL, IMMEDIATE_LIMIT)]
    {
        child.signal(signal);
        if child.wait(limit) {
            return;
        }
        tracing::warn!("PostgreSQL did not end within {} s of {signal}", limit.as_secs());
    }
}

fn arguments(settings: &Settings, socket_dir: &Path) -> Vec<String> {
    let fixed = [
        ("listen_addresses", String::new()),
        ("unix_socket_directories", socket_dir.display().to_string()),
        ("unix_socket_permissions", "0700".to_owned()),
        ("port", PORT.to_string()),
        ("max_connections", settings.max_connections.to_string()),
        // These override the cluster's own files: a paid wash must survive a power cut.
        ("fsync", "on".to_owned()),
        ("synchronous_commit", "on".to_owned()),
        ("full_page_writes", "on".to_owned()),
        // Short statements gain nothing by it, and a service may forbid memory that is both writable and executable.
        ("jit", "off".to_owned()),
        ("timezone", "UTC".to_owned()),
        ("log_timezone", "UTC".to_owned()),
        // The log goes into the server's log, which adds time and level. It must not hold a customer's data, so neither the
        // details of an error nor the statement are logged.
        ("logging_collector", "off".to_owned()),
        ("log_destination", "stderr".to_owned()),
        ("log_line_prefix", String::new()),
        ("log_error_verbosity", "terse".to_owned()),
        ("log_min_error_statement", "panic".to_owned()),
    ];
    let fixed = fixed.into_iter().flat_map(|(name, value)| ["-c".to_owned(), format!("{name}={value}")]);
    fixed.chain(settings.extra_args.iter().cloned()).collect()
}

fn launch(place: &Place, binaries: &Binaries, socket_dir: &Path, arguments: &[String], within: Duration) -> Result<Child, Error> {
    let folder = layout::dir(&place.base);
    cluster::close(&folder)?;
    cluster::forget_stale(&folder, socket_dir)?;
    let mut command: Command = place.account.command(&binaries.program("postgres"));
    command.arg("-D").arg(&folder).args(arguments);
    // SIGINT is the fast shutdown: every connection ends, a checkpoint is written.
    let child = Child::start(command, Signal::SIGINT)?;
    let started = Instant::now();
    while !cluster::is_ready(&folder, child.pid()) {
        if child.wait(READY_POLL) {
            let status = child.status().map(|status| status.to_string()).unwrap_or_default();
            return Err(Error::Exited { folder, status, log: child.log() });
        }
        if started.elapsed() > within {
            stop(&child);
            return Err(Error::NotReady { folder, waited_s: within.as_secs(), log: child.log() });
        }
    }
    tracing::info!("PostgreSQL {} runs as `{}`, process {}", binaries.major, place.account.name, child.pid());
    Ok(child)
}
