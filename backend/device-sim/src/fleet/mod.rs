//! Fleet of simulated devices over MQTT: any number in one process, each the model of a device with a separate MQTT client. One thread
//! waits for all connections; a device has no task and no buffer, and all its limits are set here.

mod connection;
mod control;
mod count;
mod fault;
mod lifecycle;
mod machine;
mod member;
mod selection;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mio::{Events, Poll, Token, Waker};
use nyala_core::domain::id::MachineId;
use nyala_machines::device::journal::Journal;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;

use self::control::Control;
use self::count::Count;
pub use self::fault::{Fault, Share};
use self::member::Member;
pub use self::selection::Selection;
use crate::model::{Board, Device};
use nyala_machines::device::mqtt::message::Reset;

const WAKE: Token = Token(0);
/// Token of the control port; those of its clients follow.
const CONTROL: usize = 1;
const MEMBERS: usize = 16;
const EVENTS: usize = 1024;
/// Size of the one buffer for all connections: a server sends little to one device.
const BUFFER_BYTES: usize = 16 * 1024;
/// Greatest number of connections between SYN and SUBACK; the server limits those that have not logged in.
const MAX_CONNECTING: usize = 256;

/// Credentials of a device.
#[derive(Clone)]
pub struct Key {
    pub idmesin: i64,
    pub idoutlet: i64,
    pub secret: Box<str>,
}

/// Settings of a fleet.
pub struct Plan {
    pub server: SocketAddr,
    /// Trusted authorities and the expected server, with TLS.
    pub tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    pub keys: Vec<Key>,
    pub faults: Vec<(Fault, Share)>,
    /// Address of the control port; loopback.
    pub control: Option<SocketAddr>,
    /// Interval between two heartbeats (`hb`).
    pub heartbeat_ms: i64,
    /// The boards have a sensor: machines that got their pulses run their own cycle.
    pub sensor: bool,
    /// The boards count coins; about how many fall at each in an hour.
    pub coins: Option<i64>,
    /// File of the devices' memory; without one, the memory ends with the process.
    pub journal: Option<PathBuf>,
    pub seed: Option<u64>,
    /// Time in which all must be connected.
    pub wait: Option<Duration>,
}

impl Plan {
    fn board(&self) -> Board {
        let (sense, coin, beat_ms) = (self.sensor, self.coins.is_some(), Some(self.heartbeat_ms));
        Board { pulse: true, sense, coin, reset: Some(Reset::Power), beat_ms }
    }
}

/// Reason why the fleet cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    #[error("cannot wait for connections: {0}")]
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

/// Handle that stops a fleet from another thread.
#[derive(Debug, Clone)]
pub struct Stop(Arc<(AtomicBool, Waker)>);

impl Stop {
    pub fn stop(&self) {
        self.0.0.store(true, Ordering::SeqCst);
        // A fleet that cannot be woken notices when the next device is due.
        let _ = self.0.1.wake();
    }
}

/// The devices and their shared state.
pub struct Fleet {
    plan: Plan,
    poll: Poll,
    stop: Stop,
    control: Option<Control>,
    journal: Option<Journal>,
    rng: StdRng,
    began: Instant,
    /// Milliseconds since `began`, updated once a turn.
    now: i64,
    members: Vec<Member>,
    by_machine: HashMap<i64, usize>,
    /// Second device of a key, by the first one.
    clones: HashMap<usize, usize>,
    /// When members are due; an entry whose member has been armed again since is skipped.
    timers: BinaryHeap<Reverse<(i64, usize)>>,
    /// Members that want to connect.
    queue: VecDeque<usize>,
    connecting: usize,
    /// Number of members that should have a connection.
    expected: usize,
    count: Count,
    ready: bool,
    buffer: Box<[u8]>,
    out: Vec<u8>,
    /// Error that ends the fleet.
    failed: Option<FleetError>,
}

impl Fleet {
    /// Turns all devices on; [`Fleet::run`] connects them.
    ///
    /// # Errors
    /// When the control port is in use, the journal cannot be read, or a fault names a device that does not exist.
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
                let memory = memories.remove(&MachineId::new(key.idmesin)).unwrap_or_default();
                Member::new(key.clone(), Device::boot(plan.board(), boot_id(), memory))
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
            connecting: 0,
            expected: 0,
            count: Count::default(),
            ready: false,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            out: Vec::new(),
            failed: None,
            plan,
        };
        fleet.apply_first_faults()?;
        (0..fleet.members.len()).for_each(|i| fleet.plan_coin(i));
        fleet.count_expected();
        Ok(fleet)
    }

    pub fn stopper(&self) -> Stop {
        self.stop.clone()
    }

    /// Plays all devices until it is stopped. Writes events that concern all of them to `out`, a line of JSON each.
    ///
    /// # Errors
    /// When a device's memory cannot be stored, or not all were connected in time.
    pub fn run(&mut self, out: &mut impl Write) -> Result<(), FleetError> {
        let mut events = Events::with_capacity(EVENTS);
        (0..self.members.len()).for_each(|i| self.power_on(i));
        if let Some(at) = self.control.as_ref().map(Control::address) {
            report(out, &serde_json::json!({"control": at.to_string()}));
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
                        self.on_socket_event(n - MEMBERS, readable, event.is_writable());
                    }
                    Token(n) => self.control_ready(n - CONTROL),
                }
            }
            self.wake_members();
            if let Some(e) = self.failed.take() {
                return Err(e);
            }
            self.report(out)?;
        }
        Ok(())
    }

    /// Summary of what happened, for people.
    pub fn summary(&self) -> String {
        self.count.summary(self.expected, self.now)
    }

    /// Time until the next member is due.
    fn wait_ms(&self) -> Option<i64> {
        if !self.queue.is_empty() && self.connecting < MAX_CONNECTING {
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

    /// Schedules a member for its due time, if it is not scheduled earlier already.
    fn arm(&mut self, i: usize) {
        let member = &mut self.members[i];
        let Some(due) = member.due() else { return };
        if member.armed.is_none_or(|armed| due < armed) {
            member.armed = Some(due);
            self.timers.push(Reverse((due, i)));
        }
    }

    /// Recounts the expected connections after an order to connect or disconnect a member.
    fn count_expected(&mut self) {
        self.expected = self.members.iter().filter(|member| member.is_expected()).count();
    }

    fn report(&mut self, out: &mut impl Write) -> Result<(), FleetError> {
        let whole = self.count.connected > 0 && self.count.connected == self.expected;
        let mut lines = Vec::new();
        if whole && !self.ready {
            self.ready = true;
            lines.push(serde_json::json!({"ready": self.count.connected}));
        }
        if whole && let Some(outage) = self.count.outage_over() {
            lines.push(outage);
        }
        lines.iter().for_each(|line| report(out, line));
        let late = self.plan.wait.filter(|wait| !self.ready && self.began.elapsed() >= *wait);
        late.map_or(Ok(()), |wait| {
            let (connected, devices) = (self.count.connected, self.members.len());
            Err(FleetError::NotReady { wait, connected, devices, why: self.count.last_loss.clone() })
        })
    }

    /// A moment `after_ms` milliseconds from now.
    fn random_time(&mut self, after_ms: RangeInclusive<i64>) -> i64 {
        self.now + self.rng.random_range(after_ms)
    }
}

fn report(out: &mut impl Write, line: &serde_json::Value) {
    // The reader may be gone; the devices continue all the same.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Random boot id. It is not a counter, because a device that has forgotten everything must not look like its earlier self. Nor does it
/// use the seed, which the process before may have had.
fn boot_id() -> i64 {
    rand::rng().random_range(1..1 << 53)
}
