//! Running postmaster: the thread that owns it, its log, its end.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read},
    process::{ChildStderr, Command, ExitStatus, Stdio},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    sys::{
        signal::{Signal, kill},
        wait::{Id, WaitPidFlag, waitid},
    },
    unistd::Pid,
};

use crate::{error::Error, spawn::die_with_parent};

/// How many of the last log lines an error message can show.
const LOG_LINES: usize = 20;
/// Longer lines are cut here.
const LOG_LINE_BYTES: u64 = 4096;

/// A postmaster (or, for a short time, initdb) and the thread that spawned it.
///
/// The kernel sends the parent-death signal when the thread that spawned the child ends, and many threads end early (a test's, an
/// idle one of a pool). So a keeper thread spawns the child and ends with it.
#[derive(Debug)]
pub(crate) struct Child {
    pid: Pid,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    status: Option<ExitStatus>,
    log: VecDeque<String>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Child {
    /// Starts `command` on its own keeper thread. The child gets `at_our_end` when this process dies.
    ///
    /// # Errors
    /// [`Error::Io`] naming the program when it cannot be started.
    pub fn start(mut command: Command, at_our_end: Signal) -> Result<Self, Error> {
        let program = command.get_program().to_owned();
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        die_with_parent(&mut command, at_our_end);
        let shared = Arc::new(Shared::default());
        let (started, pid) = mpsc::sync_channel(1);
        let keeper = Arc::clone(&shared);
        thread::Builder::new()
            .name("postgres-keeper".to_owned())
            .spawn(move || keep(command, &keeper, &started))
            .map_err(Error::io("cannot start a thread for", &program))?;
        let pid = pid
            .recv()
            .unwrap_or_else(|_| Err(std::io::Error::other("its thread ended")))
            .map_err(Error::io("cannot start", &program))?;
        Ok(Self { pid, shared })
    }

    pub fn pid(&self) -> i32 {
        self.pid.as_raw()
    }

    /// The exit status once the child has ended.
    pub fn status(&self) -> Option<ExitStatus> {
        self.shared.lock().status
    }

    /// Waits for the end, `limit` at most; true when it has ended.
    pub fn wait(&self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        let mut state = self.shared.lock();
        while state.status.is_none() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.shared.ended.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Sends `signal` unless the child has ended. The keeper reaps the child only under the lock of its state, which this holds:
    /// so the process id cannot belong to another process yet.
    pub fn signal(&self, signal: Signal) {
        let state = self.shared.lock();
        if state.status.is_none() {
            let _ = kill(self.pid, signal);
        }
    }

    /// The last lines of the log, for an error message.
    pub fn log(&self) -> String {
        self.shared.lock().log.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

fn keep(mut command: Command, shared: &Arc<Shared>, started: &mpsc::SyncSender<std::io::Result<Pid>>) {
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(e) => {
            let _ = started.send(Err(e));
            return;
        }
    };
    let pid = Pid::from_raw(child.id().cast_signed());
    let log = child.stderr.take().and_then(|stderr| {
        let shared = Arc::clone(shared);
        thread::Builder::new().name("postgres-log".to_owned()).spawn(move || follow_log(stderr, &shared)).ok()
    });
    let _ = started.send(Ok(pid));
    while let Err(Errno::EINTR) = waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) {}
    // A child that could not start writes the reason just before it ends. One that ran leaves helpers that hold the pipe open
    // a moment longer, so the wait for the last lines is short.
    let end = Instant::now() + Duration::from_millis(200);
    while log.as_ref().is_some_and(|thread| !thread.is_finished()) && Instant::now() < end {
        thread::sleep(Duration::from_millis(2));
    }
    let mut state = shared.lock();
    state.status = child.wait().ok().or(Some(ExitStatus::default()));
    drop(state);
    shared.ended.notify_all();
}

fn follow_log(stderr: ChildStderr, shared: &Shared) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match reader.by_ref().take(LOG_LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        if ["WARNING", "ERROR", "FATAL", "PANIC"].iter().any(|level| text.starts_with(level)) {
            tracing::warn!(target: "postgres", "{text}");
        } else {
            tracing::debug!(target: "postgres", "{text}");
        }
        let mut state = shared.lock();
        if state.log.len() == LOG_LINES {
            state.log.pop_front();
        }
        state.log.push_back(text);
    }
}
