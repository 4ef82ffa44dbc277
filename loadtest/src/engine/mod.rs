//! Thousands of Socket.IO sessions on one thread: readiness events, one shared buffer, no task and no buffer a session.

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

/// Reports that may wait for the scenario.
const MAX_REPORTS: usize = 16 * 1024;

/// A machine to watch.
#[derive(Debug, Clone, Copy)]
pub struct Topic {
    pub idmesin: i64,
    /// Machines of one group tick in one phase.
    pub group: u32,
}

/// What an engine does.
#[derive(Debug, Clone)]
pub struct Plan {
    pub address: SocketAddr,
    /// For the `Host` header.
    pub host: String,
    /// One a session.
    pub tokens: Arc<[Arc<str>]>,
    /// What each session watches from the beginning; fewer lists than sessions: the others watch nothing.
    pub topics: Vec<Vec<Topic>>,
    /// Subscriptions that a session can have at once.
    pub topics_per_session: usize,
    pub groups: usize,
    /// Time between two phase ticks, in milliseconds.
    pub period_ms: i64,
    /// A first tick counts as the answer of its subscription, for servers that answer none.
    pub bare: bool,
    /// Connections that may be on their way at once.
    pub in_flight: usize,
}

/// What a scenario asks of the engine.
#[derive(Debug, Clone, Copy)]
pub enum EngineCommand {
    /// Count the phase ticks of a window of so many milliseconds from now on.
    OpenWindow {
        ms: i64,
    },
    /// Judge the window.
    CloseWindow,
    /// Count every run that is seen from now on.
    CountRuns,
    /// Every session hangs up and comes back at once.
    Storm,
    /// Let a session watch one more machine, and tell what becomes of it.
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

/// What the engine tells.
#[derive(Debug)]
pub enum Told {
    Second(Box<Second>),
    /// Every session is live or has given up, so many microseconds after the beginning or the storm.
    Settled {
        after_us: i64,
        live: usize,
    },
    /// Of a subscription that [`EngineCommand::Subscribe`] made: the answer's status, and whether the machine runs.
    Subscribed {
        session: usize,
        idmesin: i64,
        status: u16,
        runs: bool,
    },
    /// Of such a subscription: something other than a plain tick.
    Heard {
        session: usize,
        idmesin: i64,
        what: TickKind,
    },
}

/// A running engine; it stops when dropped.
pub struct SessionEngine {
    commands: std_mpsc::SyncSender<EngineCommand>,
    waker: Arc<Waker>,
    reports: mpsc::Receiver<Told>,
    thread: Option<JoinHandle<()>>,
}

/// Commands that may wait for the engine.
const MAX_COMMANDS: usize = 16 * 1024;

impl SessionEngine {
    /// Starts it: its sessions begin to connect.
    ///
    /// # Errors
    /// When the system gives no thread or no way to wait for sockets.
    pub fn start(plan: Plan) -> Result<Self, String> {
        let (commands, inbox) = std_mpsc::sync_channel(MAX_COMMANDS);
        let (outbox, reports) = mpsc::channel(MAX_REPORTS);
        let swarm = Swarm::new(plan, inbox, outbox)?;
        let waker = swarm.waker();
        let thread = std::thread::Builder::new().name("sessions".to_owned()).spawn(move || swarm.run());
        Ok(Self { commands, waker, reports, thread: Some(thread.map_err(|e| format!("cannot start a thread: {e}"))?) })
    }

    /// Asks it to do something; nothing happens when it has ended.
    pub fn tell(&self, command: EngineCommand) {
        if self.commands.send(command).is_ok() {
            // An engine that cannot be woken looks at its commands within a second.
            let _ = self.waker.wake();
        }
    }

    /// The next thing that it tells; `None` when it has ended.
    pub async fn next(&mut self) -> Option<Told> {
        self.reports.recv().await
    }
}

impl Drop for SessionEngine {
    fn drop(&mut self) {
        self.tell(EngineCommand::Stop);
        self.reports.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
