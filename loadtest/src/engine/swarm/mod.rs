//! Thread of the engine: it waits for sockets and reads those that have data. No session has a buffer.

mod commands;
mod connect;
mod incoming;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::mpsc as std_mpsc;
use std::time::{Duration, Instant};

use mio::{Events, Poll, Token, Waker};
use tokio::sync::mpsc;

use super::clock::{ServerClock, Us};
use super::session::{self, ClientSession};
use super::stats::Second;
use super::subscriptions::Subscriptions;
use super::{EngineCommand, EngineReport, Plan};
use crate::process::{thread_cpu_us, thread_wait_us};

const WAKE: Token = Token(usize::MAX);
const EVENTS: usize = 4096;
/// Size of the one buffer for all sessions: more than the server writes to one session at once.
const BUFFER_BYTES: usize = 256 * 1024;
const SECOND: Us = 1_000_000;
/// Time in which a session must join and subscribe.
const JOIN_WITHIN: Us = 20 * SECOND;
/// Pause before the first new attempt of a lost session; each further pause is longer by this.
const RETRY_STEP: Us = SECOND;
const MAX_TRIES: u8 = 5;
/// A wake-up costs more than reading a tick. So when more ticks than this arrive in a second …
const BUSY_FRAMES: u64 = 1_000;
/// … and fewer sessions than this had data, the thread waits for others …
const FEW_SESSIONS: usize = 64;
/// … for this time. Measured lateness includes up to this.
const GATHER_FOR: Duration = Duration::from_micros(200);
/// Sessions that repeat a subscribe in each second, to compare the clocks.
const PROBES: usize = 4;
/// Silence of the server after which it counts as gone: Engine.IO's default interval and timeout, until the server sends its own.
const SILENT_AFTER: Us = 45 * SECOND;
/// Greatest delay of a server's ping.
const SILENCE_MARGIN: Us = 5 * SECOND;

pub struct Swarm {
    plan: Plan,
    request: String,
    poll: Poll,
    waker: Arc<Waker>,
    inbox: std_mpsc::Receiver<EngineCommand>,
    outbox: mpsc::Sender<EngineReport>,
    sessions: Vec<ClientSession>,
    watched: Subscriptions,
    clock: ServerClock,
    second: Second,
    buffer: Box<[u8]>,
    queue: VecDeque<usize>,
    connecting: usize,
    live: usize,
    given_up: usize,
    /// When all sessions last began to connect; `None` when all have settled.
    gathering: Option<Us>,
    silent_after: Us,
    probe: usize,
    last_cpu_us: u64,
    last_wait_us: u64,
}

impl Swarm {
    pub fn new(plan: Plan, inbox: std_mpsc::Receiver<EngineCommand>, outbox: mpsc::Sender<EngineReport>) -> Result<Self, String> {
        let poll = Poll::new().map_err(|e| format!("cannot wait for sockets: {e}"))?;
        let waker = Waker::new(poll.registry(), WAKE).map_err(|e| format!("cannot wait for sockets: {e}"))?;
        let sessions = plan.tokens.len();
        Ok(Self {
            request: session::upgrade_request(&plan.host, ""),
            poll,
            waker: Arc::new(waker),
            inbox,
            outbox,
            sessions: (0..sessions).map(|_| ClientSession::new()).collect(),
            watched: Subscriptions::new(&plan),
            clock: ServerClock::new(Instant::now()),
            second: Second::new()?,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            queue: (0..sessions).collect(),
            connecting: 0,
            live: 0,
            given_up: 0,
            gathering: Some(0),
            silent_after: SILENT_AFTER,
            probe: 0,
            last_cpu_us: 0,
            last_wait_us: 0,
            plan,
        })
    }

    pub fn waker(&self) -> Arc<Waker> {
        self.waker.clone()
    }

    /// Runs until a command stops it, or the receiver of the reports is gone.
    pub fn run(mut self) {
        let mut events = Events::with_capacity(EVENTS);
        let (mut second_began, mut busy) = (self.clock.now(), false);
        (self.last_cpu_us, self.last_wait_us) = (thread_cpu_us(), thread_wait_us());
        loop {
            self.connect_some();
            let left = (second_began + SECOND - self.clock.now()).max(0);
            let wait = Duration::from_micros(left.unsigned_abs());
            match self.poll.poll(&mut events, Some(wait)) {
                Err(e) if e.kind() != io::ErrorKind::Interrupted => {
                    self.second.errors.add(&format!("waiting for sockets: {}", e.kind()), 1);
                    return;
                }
                _ => {}
            }
            for event in &events {
                if event.token() == WAKE {
                    continue;
                }
                let ended = event.is_read_closed();
                self.ready(event.token().0, event.is_readable() || ended || event.is_error(), ended, event.is_writable());
            }
            if busy && events.iter().take(FEW_SESSIONS).count() < FEW_SESSIONS {
                std::thread::sleep(GATHER_FOR);
            }
            while let Ok(command) = self.inbox.try_recv() {
                if matches!(command, EngineCommand::Stop) {
                    return;
                }
                self.carry_out(command);
            }
            self.report_when_settled();
            let now = self.clock.now();
            if now >= second_began + SECOND {
                self.sweep(now);
                busy = self.second.counters.frames > BUSY_FRAMES;
                if !self.report_second(now - second_began) {
                    return;
                }
                second_began = now;
            }
        }
    }

    fn report_when_settled(&mut self) {
        if let Some(since) = self.gathering
            && self.live + self.given_up == self.sessions.len()
        {
            self.gathering = None;
            self.watched.all_joined();
            let after_us = self.clock.now() - since;
            self.report(EngineReport::Settled { after_us, live: self.live });
        }
    }

    fn report(&mut self, report: EngineReport) {
        if let Err(mpsc::error::TrySendError::Full(_)) = self.outbox.try_send(report) {
            self.second.errors.add("the tool's own queue of reports was full", 1);
        }
    }

    /// Reports the last second. Returns `false` when the receiver is gone.
    fn report_second(&mut self, length: Us) -> bool {
        let (cpu, wait) = (thread_cpu_us(), thread_wait_us());
        self.second.seconds = length as f64 / SECOND as f64;
        self.second.cpu_us = cpu - self.last_cpu_us;
        self.second.wait_us = wait - self.last_wait_us;
        self.second.live = self.live;
        self.second.joining = self.sessions.len() - self.live - self.given_up;
        self.second.clock_error_us = self.clock.error_us();
        (self.last_cpu_us, self.last_wait_us) = (cpu, wait);
        let listening = self.outbox.try_send(EngineReport::Second(Box::new(self.second.clone())));
        self.second.clear();
        !matches!(listening, Err(mpsc::error::TrySendError::Closed(_)))
    }
}
