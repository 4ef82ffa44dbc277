//! Thousands of Socket.IO sessions on one thread, with readiness events and one shared buffer. A session has neither a task nor a buffer.

pub mod clock;
pub mod frame;
pub mod heartbeat;
mod phase;
pub mod session;
pub mod stats;
pub mod subscriptions;
mod swarm;
mod watch;

use std::net::SocketAddr;
use std::sync::{Arc, mpsc as std_mpsc};
use std::thread::JoinHandle;

use mio::Waker;
use tokio::sync::mpsc;

pub use session::{ServerMessage, message};
use stats::Second;
use swarm::Swarm;
pub use watch::{Counting, TickKind};

/// Greatest number of reports that wait for the scenario.
const MAX_REPORTS: usize = 16 * 1024;

/// Machine to watch.
#[derive(Debug, Clone, Copy)]
pub struct Topic {
    pub idmesin: i64,
    /// Machines of one group tick at the same moments.
    pub group: u32,
}

/// Settings of an engine.
#[derive(Debug, Clone)]
pub struct Plan {
    pub address: SocketAddr,
    /// Value of the `Host` header.
    pub host: String,
    /// One token for each session.
    pub tokens: Arc<[Arc<str>]>,
    /// Machines that each session watches from the start. Sessions without a list watch nothing.
    pub topics: Vec<Vec<Topic>>,
    /// Greatest number of subscriptions of a session.
    pub topics_per_session: usize,
    pub groups: usize,
    /// Time between two phase ticks, in milliseconds.
    pub period_ms: i64,
    /// The first tick counts as the answer to its subscribe, for servers that do not answer it.
    pub bare: bool,
    /// Greatest number of connections that are being opened at once.
    pub in_flight: usize,
}

/// Command of a scenario to the engine.
#[derive(Debug, Clone, Copy)]
pub enum EngineCommand {
    /// Count the phase ticks of a window of this length, which begins now.
    OpenWindow {
        ms: i64,
    },
    /// End the window and count its missing ticks.
    CloseWindow,
    /// Count the ticks of every cycle from now on.
    CountRuns,
    /// Disconnect all sessions, and reconnect them at once.
    Storm,
    /// Let a session watch one more machine, and report the events of this subscription.
    Subscribe {
        session: usize,
        topic: Topic,
    },
    Unsubscribe {
        session: usize,
        idmesin: i64,
    },
    Stop,
}

/// Report of the engine to the scenario.
#[derive(Debug)]
pub enum EngineReport {
    Second(Box<Second>),
    /// Every session is live or has given up. `after_us`: microseconds since the start or the storm.
    Settled {
        after_us: i64,
        live: usize,
    },
    /// Answer to an [`EngineCommand::Subscribe`]: its status, and whether the machine runs.
    Subscribed {
        session: usize,
        idmesin: i64,
        status: u16,
        runs: bool,
    },
    /// First or final tick of such a subscription, or another event that is no plain tick.
    Tick {
        session: usize,
        idmesin: i64,
        what: TickKind,
    },
}

/// A running engine; it stops when dropped.
pub struct SessionEngine {
    commands: std_mpsc::SyncSender<EngineCommand>,
    waker: Arc<Waker>,
    reports: mpsc::Receiver<EngineReport>,
    thread: Option<JoinHandle<()>>,
}

/// Greatest number of commands that wait for the engine.
const MAX_COMMANDS: usize = 16 * 1024;

impl SessionEngine {
    /// Starts the engine; its sessions begin to connect.
    ///
    /// # Errors
    /// When the system provides no thread or no poll.
    pub fn start(plan: Plan) -> Result<Self, String> {
        let (commands, inbox) = std_mpsc::sync_channel(MAX_COMMANDS);
        let (outbox, reports) = mpsc::channel(MAX_REPORTS);
        let swarm = Swarm::new(plan, inbox, outbox)?;
        let waker = swarm.waker();
        let thread = std::thread::Builder::new().name("sessions".to_owned()).spawn(move || swarm.run());
        Ok(Self { commands, waker, reports, thread: Some(thread.map_err(|e| format!("cannot start a thread: {e}"))?) })
    }

    /// Sends a command. It is ignored when the engine has ended.
    pub fn send(&self, command: EngineCommand) {
        if self.commands.send(command).is_ok() {
            // An engine that cannot be woken reads its commands within a second.
            let _ = self.waker.wake();
        }
    }

    /// Next report; `None` when the engine has ended.
    pub async fn next(&mut self) -> Option<EngineReport> {
        self.reports.recv().await
    }
}

impl Drop for SessionEngine {
    fn drop(&mut self) {
        self.send(EngineCommand::Stop);
        self.reports.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
