//! Devices that are not there: as many as are wanted in one process, each the model of a device with an MQTT client of its own. One thread
//! waits for all lines; a device has no task and no buffer, and what it may do is bounded here.

mod control;
mod count;
mod fault;
mod life;
mod line;
mod member;
mod selection;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mio::{Events, Poll, Token, Waker};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;

use self::control::Control;
use self::count::Count;
pub use self::fault::{Fault, Share};
use self::member::Member;
pub use self::selection::Selection;
use super::model::Device;
use crate::device::journal::Journal;

const WAKE: Token = Token(0);
/// The control port's, and then its clients'.
const CONTROL: usize = 1;
const MEMBERS: usize = 16;
const EVENTS: usize = 1024;
/// One for all lines: a server says little to one device.
const BUFFER_BYTES: usize = 16 * 1024;
/// Lines that may be on their way at once, from SYN to SUBACK; the server has a bound for those that have not logged in.
const MOST_ON_THEIR_WAY: usize = 256;

/// What a device logs in with.
#[derive(Clone)]
pub struct Key {
    pub idmesin: i64,
    pub idoutlet: i64,
    pub secret: Box<str>,
}

/// What is to be played.
pub struct Plan {
    pub server: SocketAddr,
    /// Whom they trust and expect there, with TLS.
    pub tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    pub keys: Vec<Key>,
    pub faults: Vec<(Fault, Share)>,
    /// Where orders are taken; loopback.
    pub control: Option<SocketAddr>,
    /// Between two `hb`.
    pub beat_ms: i64,
    /// Their memory's file; without one it goes with the process.
    pub journal: Option<PathBuf>,
    pub seed: Option<u64>,
    /// All must be connected within that.
    pub wait: Option<Duration>,
}

/// Why it cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    #[error("cannot wait for lines: {0}")]
    Poll(io::Error),
    #[error("the control port {0}: {1}")]
    Control(SocketAddr, io::Error),
    #[error("the journal {0}: {1}")]
    Journal(PathBuf, io::Error),
    #[error("no device has the number {0}")]
    Nobody(Selection),
    #[error("after {} s {connected} of {devices} devices are connected{}", .wait.as_secs(), .why.as_ref().map_or(String::new(), |why| format!("; the last one was lost: {why}")))]
    NotReady { wait: Duration, connected: usize, devices: usize, why: Option<String> },
}

/// Ends a fleet from another thread.
#[derive(Debug, Clone)]
pub struct Stop(Arc<(AtomicBool, Waker)>);

impl Stop {
    pub fn stop(&self) {
        self.0.0.store(true, Ordering::SeqCst);
        // One that cannot be woken looks when a device has something to do.
        let _ = self.0.1.wake();
    }
}

/// The devices, and what they share.
pub struct Fleet {
    plan: Plan,
    poll: Poll,
    stop: Stop,
    control: Option<Control>,
    journal: Option<Journal>,
    rng: StdRng,
    began: Instant,
    /// Milliseconds since then, looked at once a turn.
    now: i64,
    members: Vec<Member>,
    by_machine: HashMap<i64, usize>,
    /// The second device with a key, by the first.
    clones: HashMap<usize, usize>,
    /// When members are to be looked at; one that has been armed anew since is passed over.
    timers: BinaryHeap<Reverse<(i64, usize)>>,
    /// Who wants to connect.
    queue: VecDeque<usize>,
    on_their_way: usize,
    /// Those that are to have a line.
    expected: usize,
    count: Count,
    ready: bool,
    buffer: Box<[u8]>,
    out: Vec<u8>,
    /// Why it cannot go on.
    failed: Option<FleetError>,
}

impl Fleet {
    /// Lets all devices have power; [`Fleet::run`] connects them.
    ///
    /// # Errors
    /// When the control port is taken, the journal is not to be read, or a fault is for a device that is not there.
    pub fn new(plan: Plan) -> Result<Self, FleetError> {
        let poll = Poll::new().map_err(FleetError::Poll)?;
        let stop = Stop(Arc::new((AtomicBool::new(false), Waker::new(poll.registry(), WAKE).map_err(FleetError::Poll)?)));
        let control = plan.control.map(|at| Control::listen(at, poll.registry()).map_err(|e| FleetError::Control(at, e)));
        let (journal, mut memories) = match &plan.journal {
            Some(path) => Journal::open(path)
                .map(|(journal, memories)| (Some(journal), memories))
                .map_err(|e| FleetError::Journal(path.clone(), e))?,
            None => (None, HashMap::new()),
        };
        let rng = plan.seed.map_or_else(StdRng::from_os_rng, StdRng::seed_from_u64);
        let members: Vec<Member> = plan
            .keys
            .iter()
            .map(|key| {
                let memory = memories.remove(&key.idmesin).unwrap_or_default();
                Member::new(key.clone(), Device::boot(boot_id(), memory))
            })
            .collect();
        let mut fleet = Self {
            poll,
            stop,
            control: control.transpose()?,
            journal,
            rng,
            began: Instant::now(),
            now: 0,
            by_machine: plan.keys.iter().enumerate().map(|(i, key)| (key.idmesin, i)).collect(),
            queue: (0..members.len()).collect(),
            members,
            clones: HashMap::new(),
            timers: BinaryHeap::new(),
            on_their_way: 0,
            expected: 0,
            count: Count::default(),
            ready: false,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            out: Vec::new(),
            failed: None,
            plan,
        };
        fleet.begin_with_faults()?;
        fleet.expect();
        Ok(fleet)
    }

    pub fn stopper(&self) -> Stop {
        self.stop.clone()
    }

    /// Plays all devices until it is stopped. What happens to all of them is told to `told`, a line of JSON each.
    ///
    /// # Errors
    /// When a device's memory cannot be kept, or not all were connected in time.
    pub fn run(&mut self, told: &mut impl Write) -> Result<(), FleetError> {
        let mut events = Events::with_capacity(EVENTS);
        (0..self.members.len()).for_each(|i| self.power(i));
        if let Some(at) = self.control.as_ref().map(Control::address) {
            tell(told, &serde_json::json!({"control": at.to_string()}));
        }
        while !self.stop.0.0.load(Ordering::SeqCst) {
            self.connect_some();
            let wait = self.wait_ms().map(|ms| Duration::from_millis(ms.unsigned_abs()));
            match self.poll.poll(&mut events, wait) {
                Err(e) if e.kind() != io::ErrorKind::Interrupted => return Err(FleetError::Poll(e)),
                _ => {}
            }
            self.now = i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX);
            for event in &events {
                match event.token() {
                    WAKE => {}
                    Token(n) if n >= MEMBERS => {
                        let readable = event.is_readable() || event.is_read_closed() || event.is_error();
                        self.ready(n - MEMBERS, readable, event.is_writable());
                    }
                    Token(n) => self.control_ready(n - CONTROL),
                }
            }
            self.wake_members();
            if let Some(e) = self.failed.take() {
                return Err(e);
            }
            self.tell(told)?;
        }
        Ok(())
    }

    /// What happened, for people.
    pub fn summary(&self) -> String {
        self.count.summary(self.expected, self.now)
    }

    /// Time until somebody is to be looked at.
    fn wait_ms(&self) -> Option<i64> {
        if !self.queue.is_empty() && self.on_their_way < MOST_ON_THEIR_WAY {
            return Some(0);
        }
        let late = self.plan.wait.filter(|_| !self.ready).and_then(|wait| i64::try_from(wait.as_millis()).ok());
        let next = self.timers.peek().map(|Reverse((at, _))| *at).into_iter().chain(late).min()?;
        Some((next - self.now).max(0))
    }

    fn wake_members(&mut self) {
        while let Some(Reverse((at, i))) = self.timers.peek().copied().filter(|Reverse((at, _))| *at <= self.now) {
            self.timers.pop();
            if self.members[i].armed == Some(at) {
                self.members[i].armed = None;
                self.wake(i);
                self.arm(i);
            }
        }
    }

    /// Has a member looked at when that is due, if it is not sooner already.
    fn arm(&mut self, i: usize) {
        let member = &mut self.members[i];
        let Some(due) = member.due() else { return };
        if member.armed.is_none_or(|armed| due < armed) {
            member.armed = Some(due);
            self.timers.push(Reverse((due, i)));
        }
    }

    /// After somebody was told to have no line any more, or to have one again.
    fn expect(&mut self) {
        self.expected = self.members.iter().filter(|member| member.is_expected()).count();
    }

    fn tell(&mut self, told: &mut impl Write) -> Result<(), FleetError> {
        let whole = self.count.connected > 0 && self.count.connected == self.expected;
        let mut lines = Vec::new();
        if whole && !self.ready {
            self.ready = true;
            lines.push(serde_json::json!({"ready": self.count.connected}));
        }
        if whole && let Some(outage) = self.count.outage_over() {
            lines.push(outage);
        }
        lines.iter().for_each(|line| tell(told, line));
        let late = self.plan.wait.filter(|wait| !self.ready && self.began.elapsed() >= *wait);
        late.map_or(Ok(()), |wait| {
            let (connected, devices) = (self.count.connected, self.members.len());
            Err(FleetError::NotReady { wait, connected, devices, why: self.count.last_loss.clone() })
        })
    }

    /// From `least` to `most` milliseconds from now on.
    fn within(&mut self, least: i64, most: i64) -> i64 {
        self.now + self.rng.random_range(least..=most)
    }
}

fn tell(told: &mut impl Write, line: &serde_json::Value) {
    // Whoever listened may be gone; the devices are there all the same.
    let _ = writeln!(told, "{line}").and_then(|()| told.flush());
}

/// Boots are not counted: a device that has forgotten everything must not be taken for itself before. Nor are they by the seed, which
/// the process before may have had.
fn boot_id() -> i64 {
    rand::rng().random_range(1..1 << 53)
}
