//! The engine's thread: it waits for sockets, reads each that has something, and lets no session keep a buffer.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc as std_mpsc;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token, Waker};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use tokio::sync::mpsc;

use super::clock::{Clock, Us};
use super::frame::{self, Opcode};
use super::heartbeat;
use super::phase::Phase;
use super::session::{self, Message, Session, Stage};
use super::stats::Second;
use super::watch::{Books, Counting, Heard, Watch};
use super::{Command, Plan, Report, Topic};

const WAKE: Token = Token(usize::MAX);
const EVENTS: usize = 4096;
/// One buffer for all sessions: more than a turn of the server writes to one.
const BUFFER_BYTES: usize = 256 * 1024;
const SECOND: Us = 1_000_000;
/// How long a session may take to join and subscribe.
const JOIN_WITHIN: Us = 20 * SECOND;
/// A lost session tries again after this, each time later by as much.
const REST: Us = SECOND;
const MAX_TRIES: u8 = 5;
/// Sessions that ask for their machine once more in each second, to compare the clocks.
const PROBES: usize = 4;
/// Until the first server has told: Engine.IO's own defaults, interval and timeout together.
const SILENT_AFTER: Us = 45 * SECOND;
/// What a server may be late with its ping.
const SILENCE_MARGIN: Us = 5 * SECOND;

/// Why a connection ended, and whether it is worth another try.
struct Lost {
    kind: String,
    again: bool,
}

impl Lost {
    fn again(kind: impl Into<String>) -> Self {
        Self { kind: kind.into(), again: true }
    }

    fn for_good(kind: impl Into<String>) -> Self {
        Self { kind: kind.into(), again: false }
    }

    fn broken(e: &io::Error) -> Self {
        Self::again(format!("connection lost: {}", e.kind()))
    }
}

pub struct Swarm {
    plan: Plan,
    request: String,
    poll: Poll,
    waker: Arc<Waker>,
    inbox: std_mpsc::Receiver<Command>,
    outbox: mpsc::Sender<Report>,
    sessions: Vec<Session>,
    /// `topics_per_session` a session, one after the other.
    watches: Vec<Watch>,
    /// Which of them the scenario wants to hear of.
    told: Vec<bool>,
    phases: Vec<Phase>,
    clock: Clock,
    counting: Counting,
    second: Second,
    buffer: Box<[u8]>,
    queue: VecDeque<usize>,
    on_their_way: usize,
    live: usize,
    given_up: usize,
    /// When the sessions were last told to connect, all of them; none when all have.
    gathering: Option<Us>,
    silent_after: Us,
    probe: usize,
    last_cpu_us: u64,
}

impl Swarm {
    pub fn new(plan: Plan, inbox: std_mpsc::Receiver<Command>, outbox: mpsc::Sender<Report>) -> Result<Self, String> {
        let poll = Poll::new().map_err(|e| format!("cannot wait for sockets: {e}"))?;
        let waker = Waker::new(poll.registry(), WAKE).map_err(|e| format!("cannot wait for sockets: {e}"))?;
        let sessions = plan.tokens.len();
        let width = plan.topics_per_session;
        let mut watches = vec![Watch::new(0, 0); sessions * width];
        for (session, topics) in plan.topics.iter().enumerate() {
            for (slot, topic) in topics.iter().take(width).enumerate() {
                watches[session * width + slot] = Watch::new(topic.idmesin, topic.group);
            }
        }
        Ok(Self {
            request: session::upgrade_request(&plan.host),
            poll,
            waker: Arc::new(waker),
            inbox,
            outbox,
            sessions: (0..sessions).map(|_| Session::new()).collect(),
            told: vec![false; watches.len()],
            watches,
            phases: vec![Phase::new(plan.period_ms); plan.groups],
            clock: Clock::new(Instant::now()),
            counting: Counting::Not,
            second: Second::new()?,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            queue: (0..sessions).collect(),
            on_their_way: 0,
            live: 0,
            given_up: 0,
            gathering: Some(0),
            silent_after: SILENT_AFTER,
            probe: 0,
            last_cpu_us: 0,
            plan,
        })
    }

    pub fn waker(&self) -> Arc<Waker> {
        self.waker.clone()
    }

    /// Until it is told to stop, or nobody listens any more.
    pub fn run(mut self) {
        let mut events = Events::with_capacity(EVENTS);
        let mut second_began = self.clock.now();
        self.last_cpu_us = thread_cpu_us();
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
                self.ready(event.token().0, event.is_readable() || event.is_error(), event.is_writable());
            }
            while let Ok(command) = self.inbox.try_recv() {
                if matches!(command, Command::Stop) {
                    return;
                }
                self.obey(command);
            }
            self.see_whether_settled();
            let now = self.clock.now();
            if now >= second_began + SECOND {
                self.sweep(now);
                if !self.report_second(now - second_began) {
                    return;
                }
                second_began = now;
            }
        }
    }

    // --- connections ---

    fn connect_some(&mut self) {
        while self.on_their_way < self.plan.in_flight {
            let Some(i) = self.queue.pop_front() else { return };
            if self.sessions[i].stage != Stage::Queued {
                continue;
            }
            let now = self.clock.now();
            let opened = TcpStream::connect(self.plan.address).and_then(|mut stream| {
                stream.set_nodelay(true)?;
                self.poll.registry().register(&mut stream, Token(i), Interest::READABLE | Interest::WRITABLE)?;
                Ok(stream)
            });
            let session = &mut self.sessions[i];
            (session.since, session.heard) = (now, now);
            match opened {
                Ok(stream) => {
                    session.stream = Some(stream);
                    session.stage = Stage::Connecting;
                    self.on_their_way += 1;
                }
                Err(e) => self.lose(i, &Lost::again(format!("cannot connect: {e}"))),
            }
        }
    }

    fn stage(&mut self, i: usize, stage: Stage) {
        let before = std::mem::replace(&mut self.sessions[i].stage, stage);
        self.on_their_way -= usize::from(before.is_on_its_way() && !stage.is_on_its_way());
        self.live = self.live + usize::from(stage == Stage::Live) - usize::from(before == Stage::Live);
        self.given_up = self.given_up + usize::from(stage == Stage::GivenUp) - usize::from(before == Stage::GivenUp);
    }

    fn lose(&mut self, i: usize, why: &Lost) {
        let now = self.clock.now();
        self.second.errors.add(&why.kind, 1);
        self.second.counters.lost += u64::from(self.sessions[i].stage == Stage::Live);
        let session = &mut self.sessions[i];
        session.hang_up();
        session.tries = session.tries.saturating_add(1);
        let stage = if why.again && session.tries <= MAX_TRIES {
            session.since = now + REST * i64::from(session.tries);
            Stage::Resting
        } else {
            self.second.counters.given_up += 1;
            Stage::GivenUp
        };
        self.stage(i, stage);
        self.unsubscribe_all(i);
    }

    fn unsubscribe_all(&mut self, i: usize) {
        let width = self.plan.topics_per_session;
        self.watches[i * width..(i + 1) * width].iter_mut().for_each(|w| w.subscribed = false);
    }

    fn ready(&mut self, i: usize, readable: bool, writable: bool) {
        let Some(session) = self.sessions.get_mut(i).filter(|s| s.stream.is_some()) else { return };
        let mut done = Ok(());
        if writable {
            done = if session.stage == Stage::Connecting { self.connected(i) } else { flushed(session) };
        }
        if readable && done.is_ok() && self.sessions[i].stage != Stage::Connecting {
            let mut buffer = std::mem::take(&mut self.buffer);
            done = self.read(i, &mut buffer);
            self.buffer = buffer;
        }
        if let Err(why) = done {
            self.lose(i, &why);
        }
    }

    fn connected(&mut self, i: usize) -> Result<(), Lost> {
        let session = &mut self.sessions[i];
        let Some(stream) = &session.stream else { return Ok(()) };
        match stream.take_error() {
            Ok(None) => {}
            Ok(Some(e)) | Err(e) => return Err(Lost::again(format!("cannot connect: {}", e.kind()))),
        }
        if stream.peer_addr().is_err() {
            return Ok(()); // not yet
        }
        session.stage = Stage::Upgrading;
        session.send(self.request.as_bytes()).map_err(|e| Lost::broken(&e))
    }

    // --- what comes in ---

    fn read(&mut self, i: usize, buffer: &mut [u8]) -> Result<(), Lost> {
        loop {
            let session = &mut self.sessions[i];
            let Some(stream) = &mut session.stream else { return Ok(()) };
            let kept = session.tail.len();
            let Some((before, rest)) = buffer.split_at_mut_checked(kept).filter(|(_, rest)| !rest.is_empty()) else {
                return Err(Lost::again("frame of more than 256 KiB"));
            };
            let n = match stream.read(rest) {
                Ok(0) => return Err(Lost::again("closed by the server")),
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(Lost::broken(&e)),
            };
            let at = self.clock.now();
            let drained = n < rest.len();
            before.copy_from_slice(&session.tail);
            session.tail.clear();
            session.heard = at;
            self.second.counters.bytes += n as u64;
            self.take(i, &buffer[..kept + n], at)?;
            if drained {
                return Ok(());
            }
        }
    }

    /// Everything whole in `bytes`; the rest is kept for the next time.
    fn take(&mut self, i: usize, mut bytes: &[u8], at: Us) -> Result<(), Lost> {
        if self.sessions[i].stage == Stage::Upgrading {
            match session::upgrade_answer(bytes).map_err(Lost::for_good)? {
                None => {
                    self.sessions[i].tail.extend_from_slice(bytes);
                    return Ok(());
                }
                Some((used, 101)) => {
                    bytes = &bytes[used..];
                    self.stage(i, Stage::Joining);
                }
                Some((_, status)) => return Err(Lost::again(format!("websocket refused: HTTP {status}"))),
            }
        }
        while let Some(frame) = frame::next(bytes).map_err(|broken| Lost::again(broken.0))? {
            bytes = &bytes[frame.bytes..];
            match frame.opcode {
                Opcode::Text if heartbeat::is(frame.payload) => self.tick(i, frame.payload, at),
                Opcode::Text => self.message(i, session::message(frame.payload), at)?,
                Opcode::Ping => {
                    let mut out = Vec::new();
                    frame::pong(&mut out, frame.payload);
                    self.sessions[i].send(&out).map_err(|e| Lost::broken(&e))?;
                }
                Opcode::Close => return Err(Lost::again("closed by the server")),
                Opcode::Binary | Opcode::Pong => {}
            }
        }
        if !bytes.is_empty() {
            self.sessions[i].tail.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn tick(&mut self, i: usize, payload: &[u8], at: Us) {
        self.second.counters.frames += 1;
        let Some(tick) = heartbeat::parse(payload) else {
            return self.second.errors.add("unreadable tick", 1);
        };
        let width = self.plan.topics_per_session;
        let session = &mut self.sessions[i];
        let mine = &mut self.watches[i * width..(i + 1) * width];
        // Ticks of a room come in one order, so the next is probably the next one's.
        let next = usize::from(session.next);
        let slot = match mine.get(next).filter(|w| w.idmesin == tick.idmesin) {
            Some(_) => Some(next),
            None => mine.iter().position(|w| w.idmesin == tick.idmesin),
        };
        let Some(slot) = slot else {
            return self.second.errors.add("tick of a machine that was not asked for", 1);
        };
        session.next = u16::try_from(if slot + 1 < width { slot + 1 } else { 0 }).unwrap_or(0);
        let watch = &mut mine[slot];
        let is_first = self.plan.bare && !watch.subscribed;
        self.clock.heard(at, tick.server_time);
        let mut books = Books {
            counters: &mut self.second.counters,
            spans: &mut self.second.spans,
            clock: &self.clock,
            counting: self.counting,
        };
        let what = watch.heard(&tick, at, &mut self.phases[watch.group as usize], &mut books);
        if is_first {
            watch.subscribed = true;
            self.answered(i, at);
        }
        if what != Heard::Tick && self.told[i * width + slot] {
            self.tell(Report::Heard { session: i, idmesin: tick.idmesin, what });
        }
    }

    fn message(&mut self, i: usize, message: Message, at: Us) -> Result<(), Lost> {
        let mut out = Vec::new();
        match message {
            Message::Open { ping_interval_ms, ping_timeout_ms } => {
                self.silent_after = (ping_interval_ms + ping_timeout_ms) * 1000 + SILENCE_MARGIN;
                session::join(&mut out, &self.plan.tokens[i]);
            }
            Message::Joined if self.sessions[i].stage == Stage::Joining => {
                self.second.spans.connect.record(at - self.sessions[i].since);
                self.subscribe_all(i, &mut out);
            }
            Message::Ping => frame::text(&mut out, "3"),
            Message::Refused(why) => return Err(Lost::for_good(format!("join refused: {why}"))),
            Message::Answer { id, told } => self.subscribed(i, id, told, at),
            Message::Bye => return Err(Lost::again("ended by the server")),
            Message::Joined | Message::Noop => {}
            Message::Unreadable => self.second.errors.add("unreadable message", 1),
        }
        if out.is_empty() { Ok(()) } else { self.sessions[i].send(&out).map_err(|e| Lost::broken(&e)) }
    }

    fn subscribe_all(&mut self, i: usize, out: &mut Vec<u8>) {
        let width = self.plan.topics_per_session;
        let mut asked = 0;
        for (slot, watch) in self.watches[i * width..(i + 1) * width].iter().enumerate().filter(|(_, w)| w.idmesin != 0) {
            session::subscribe(out, slot, watch.idmesin);
            asked += 1;
        }
        let session = &mut self.sessions[i];
        (session.waiting, session.asked) = (asked, self.clock.now());
        self.stage(i, if asked == 0 { Stage::Live } else { Stage::Subscribing });
        if asked == 0 {
            self.sessions[i].tries = 0;
        }
    }

    /// The answer to a subscribe, or to one that was repeated to compare the clocks.
    fn subscribed(&mut self, i: usize, slot: usize, told: heartbeat::Snapshot, at: Us) {
        let place = i * self.plan.topics_per_session + slot;
        if slot >= self.plan.topics_per_session || self.watches[place].idmesin == 0 {
            return self.second.errors.add("answer to nothing that was asked", 1);
        }
        let idmesin = self.watches[place].idmesin;
        if self.told[place] {
            self.tell(Report::Subscribed { session: i, idmesin, status: told.status });
        }
        if told.status != 200 {
            self.second.errors.add(&format!("subscribe refused: {}", told.status), 1);
        }
        let asked = self.sessions[i].asked;
        if let Some(server_time) = told.server_time {
            self.clock.answered(asked, at, server_time);
        }
        self.second.spans.subscribe.record(at - asked);
        let watch = &mut self.watches[place];
        let is_first = !watch.subscribed;
        let mut books = Books {
            counters: &mut self.second.counters,
            spans: &mut self.second.spans,
            clock: &self.clock,
            counting: self.counting,
        };
        watch.acknowledged(&told, &self.phases[watch.group as usize], &mut books);
        if is_first {
            self.answered(i, at);
        }
    }

    /// One of the answers that a session waits for is here.
    fn answered(&mut self, i: usize, _at: Us) {
        let session = &mut self.sessions[i];
        session.waiting = session.waiting.saturating_sub(1);
        if session.waiting == 0 && session.stage == Stage::Subscribing {
            session.tries = 0;
            self.stage(i, Stage::Live);
        }
    }

    // --- commands and reports ---

    fn obey(&mut self, command: Command) {
        match command {
            Command::OpenWindow { ms } => {
                self.counting = Counting::Window { ms };
                let now = self.server_ms();
                for watch in self.watches.iter_mut().filter(|w| w.idmesin != 0) {
                    watch.open_window(now, ms, &self.phases[watch.group as usize]);
                }
            }
            Command::CloseWindow => {
                let now = self.server_ms();
                self.for_watches(|watch, phase, books| watch.close_window(now, phase, books));
                self.counting = Counting::Not;
            }
            Command::CountRuns => self.counting = Counting::Runs,
            Command::Storm => self.storm(),
            Command::Subscribe { session, topic } => self.subscribe_one(session, topic),
            Command::Unsubscribe { session, idmesin } => self.unsubscribe_one(session, idmesin),
            Command::Stop => {}
        }
    }

    /// Epoch milliseconds of the server; 0 while nothing was heard of it.
    fn server_ms(&self) -> i64 {
        self.clock.server_us(self.clock.now()).unwrap_or(0) / 1000
    }

    fn for_watches(&mut self, mut act: impl FnMut(&mut Watch, &Phase, &mut Books<'_>)) {
        let mut books = Books {
            counters: &mut self.second.counters,
            spans: &mut self.second.spans,
            clock: &self.clock,
            counting: self.counting,
        };
        for watch in self.watches.iter_mut().filter(|w| w.idmesin != 0) {
            act(watch, &self.phases[watch.group as usize], &mut books);
        }
    }

    fn storm(&mut self) {
        self.gathering = Some(self.clock.now());
        for i in 0..self.sessions.len() {
            if self.sessions[i].stage == Stage::GivenUp {
                continue;
            }
            self.sessions[i].hang_up();
            self.stage(i, Stage::Queued);
            self.unsubscribe_all(i);
        }
        self.queue = (0..self.sessions.len()).collect();
    }

    fn subscribe_one(&mut self, i: usize, topic: Topic) {
        let width = self.plan.topics_per_session;
        let free = self.watches[i * width..(i + 1) * width].iter().position(|w| w.idmesin == 0);
        let Some(slot) = free.filter(|_| self.sessions[i].stage == Stage::Live) else {
            return self.tell(Report::Subscribed { session: i, idmesin: topic.idmesin, status: 0 });
        };
        let place = i * width + slot;
        self.watches[place] = Watch::new(topic.idmesin, topic.group);
        self.told[place] = true;
        self.ask_again(i, slot);
    }

    fn unsubscribe_one(&mut self, i: usize, idmesin: i64) {
        let width = self.plan.topics_per_session;
        let Some(slot) = self.watches[i * width..(i + 1) * width].iter().position(|w| w.idmesin == idmesin) else { return };
        self.watches[i * width + slot] = Watch::new(0, 0);
        self.told[i * width + slot] = false;
        let mut out = Vec::new();
        session::unsubscribe(&mut out, idmesin);
        self.send(i, &out);
    }

    /// Subscribes, again perhaps: a second time is answered like the first.
    fn ask_again(&mut self, i: usize, slot: usize) {
        let mut out = Vec::new();
        session::subscribe(&mut out, slot, self.watches[i * self.plan.topics_per_session + slot].idmesin);
        self.sessions[i].asked = self.clock.now();
        self.send(i, &out);
    }

    fn send(&mut self, i: usize, bytes: &[u8]) {
        if let Err(e) = self.sessions[i].send(bytes) {
            self.lose(i, &Lost::broken(&e));
        }
    }

    fn see_whether_settled(&mut self) {
        if let Some(since) = self.gathering
            && self.live + self.given_up == self.sessions.len()
        {
            self.gathering = None;
            let after_us = self.clock.now() - since;
            self.tell(Report::Settled { after_us, live: self.live });
        }
    }

    /// Once a second: who waits too long, who may try again, which final ticks are overdue.
    fn sweep(&mut self, now: Us) {
        self.clock.age(1);
        for i in 0..self.sessions.len() {
            let session = &mut self.sessions[i];
            match session.stage {
                Stage::Resting if session.since <= now => {
                    self.stage(i, Stage::Queued);
                    self.queue.push_back(i);
                }
                Stage::Live if now - session.heard > self.silent_after => {
                    self.lose(i, &Lost::again("the server's pings stay away"));
                }
                stage if stage.is_on_its_way() && now - session.since > JOIN_WITHIN => {
                    self.lose(i, &Lost::again(format!("not joined within {} s ({stage:?})", JOIN_WITHIN / SECOND)));
                }
                _ => {}
            }
        }
        let server = self.server_ms();
        self.for_watches(|watch, phase, books| watch.check(server, phase, books));
        if !self.plan.bare {
            self.compare_clocks();
        }
    }

    fn compare_clocks(&mut self) {
        let width = self.plan.topics_per_session;
        for _ in 0..PROBES.min(self.sessions.len()) {
            self.probe = (self.probe + 1) % self.sessions.len();
            let i = self.probe;
            let known = self.watches[i * width..(i + 1) * width].iter().position(|w| w.subscribed && w.idmesin != 0);
            if let Some(slot) = known.filter(|slot| self.sessions[i].stage == Stage::Live && !self.told[i * width + slot]) {
                self.ask_again(i, slot);
            }
        }
    }

    fn tell(&mut self, report: Report) {
        if let Err(mpsc::error::TrySendError::Full(_)) = self.outbox.try_send(report) {
            self.second.errors.add("the tool's own queue of reports was full", 1);
        }
    }

    /// `false` when nobody listens any more.
    fn report_second(&mut self, length: Us) -> bool {
        let cpu = thread_cpu_us();
        self.second.seconds = length as f64 / SECOND as f64;
        self.second.cpu_us = cpu - self.last_cpu_us;
        self.second.live = self.live;
        self.second.joining = self.sessions.len() - self.live - self.given_up;
        self.second.clock_error_us = self.clock.error_us();
        self.last_cpu_us = cpu;
        let listening = self.outbox.try_send(Report::Second(Box::new(self.second.clone())));
        self.second.clear();
        !matches!(listening, Err(mpsc::error::TrySendError::Closed(_)))
    }
}

fn flushed(session: &mut Session) -> Result<(), Lost> {
    session.flush().map_err(|e| Lost::broken(&e))
}

/// Processor time of this thread so far, in microseconds.
fn thread_cpu_us() -> u64 {
    let used = getrusage(UsageWho::RUSAGE_THREAD).map(|u| u.user_time().num_microseconds() + u.system_time().num_microseconds());
    used.map_or(0, |us| u64::try_from(us).unwrap_or(0))
}
