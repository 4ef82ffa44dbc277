//! The outbound half of a session: where packets go, when heartbeats are due, and whether it is over. Lives on one
//! thread and is shared there between the session's actor, the turn, the wheel and the host's handles.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::waiting::Waiting;
use super::{turn, wheel};
use crate::codec::{Frame, encode_frame, opcode, push_binary};
use crate::engine::CloseReason;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::transport::Socket;

/// How long a closed polling session keeps its last payload for a GET that is on its way.
const PARTING: Duration = Duration::from_millis(200);

/// A packet that waits for a transport.
#[derive(Debug, Clone)]
pub(super) enum Outgoing {
    Text(Frame),
    Binary(Bytes),
}

/// A packet, or a part of one with attachments, on its way out.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part<'a> {
    Text(&'a Frame),
    Binary(&'a Bytes),
    /// The answer to a websocket ping; means nothing to polling.
    Pong(&'a [u8]),
}

/// What the actor should look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    Closed(CloseReason),
    Alarm,
    Attend,
}

#[derive(Debug, Clone, Copy)]
enum Beat {
    /// The next heartbeat goes out at.
    Ping(Instant),
    /// The answer to the last one is due by.
    Pong(Instant),
}

enum Link {
    Polling(Waiting),
    Websocket(Rc<Socket>),
    /// Closed, with a payload for the next GET.
    Parting(String),
    Closed,
}

pub(crate) struct Wire {
    limits: Arc<Limits>,
    metrics: Arc<Metrics>,
    link: RefCell<Link>,
    beat: Cell<Beat>,
    /// When the actor wants to be called.
    alarm: Cell<Option<Instant>>,
    alarm_rang: Cell<bool>,
    /// When the wheel visits next.
    armed: Cell<Option<Instant>>,
    closed: Cell<Option<CloseReason>>,
    closed_told: Cell<bool>,
    attend: Cell<bool>,
    in_turn: Cell<bool>,
    watcher: Cell<Option<Waker>>,
}

impl Outgoing {
    pub fn text_len(&self) -> usize {
        self.part().text_len()
    }

    pub fn write_text(&self, out: &mut String) {
        match self {
            Self::Text(frame) => out.push_str(frame.as_text()),
            Self::Binary(bytes) => push_binary(out, bytes),
        }
    }

    fn part(&self) -> Part<'_> {
        match self {
            Self::Text(frame) => Part::Text(frame),
            Self::Binary(bytes) => Part::Binary(bytes),
        }
    }
}

impl Part<'_> {
    fn text_len(self) -> usize {
        match self {
            Self::Text(frame) => frame.as_text().len(),
            Self::Binary(bytes) => 1 + bytes.len().div_ceil(3) * 4,
            Self::Pong(_) => 0,
        }
    }

    fn payload_len(self) -> usize {
        match self {
            Self::Text(frame) => frame.as_text().len(),
            Self::Binary(bytes) => bytes.len(),
            Self::Pong(payload) => payload.len(),
        }
    }

    fn to_websocket(self) -> Bytes {
        match self {
            Self::Text(frame) => frame.as_websocket().clone(),
            Self::Binary(bytes) => encode_frame(opcode::BINARY, bytes),
            Self::Pong(payload) => encode_frame(opcode::PONG, payload),
        }
    }

    fn to_polling(self) -> Option<Outgoing> {
        match self {
            Self::Text(frame) => Some(Outgoing::Text(frame.clone())),
            Self::Binary(bytes) => Some(Outgoing::Binary(bytes.clone())),
            Self::Pong(_) => None,
        }
    }
}

impl Wire {
    /// The wire of a new session, on polling, its first heartbeat due after `ping_interval`.
    pub fn new(limits: Arc<Limits>, metrics: Arc<Metrics>) -> Rc<Self> {
        let first = Instant::now() + limits.ping_interval;
        let wire = Rc::new(Self {
            limits,
            metrics,
            link: RefCell::new(Link::Polling(Waiting::default())),
            beat: Cell::new(Beat::Ping(first)),
            alarm: Cell::new(None),
            alarm_rang: Cell::new(false),
            armed: Cell::new(None),
            closed: Cell::new(None),
            closed_told: Cell::new(false),
            attend: Cell::new(false),
            in_turn: Cell::new(false),
            watcher: Cell::new(None),
        });
        wire.arm();
        wire
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    pub fn closed(&self) -> Option<CloseReason> {
        self.closed.get()
    }

    /// Queues a packet, all of its parts or none, for the end of this turn of the thread. A volatile one is dropped when
    /// the client is slow; any other closes the session when its bound is reached.
    pub fn push(self: &Rc<Self>, parts: &[Part<'_>], volatile: bool) {
        if self.closed.get().is_some() {
            return;
        }
        if !self.has_room(parts, volatile) {
            // Full within one turn of a client that drains is no stall: let go of what is gathered and look again.
            self.flush();
            if !self.has_room(parts, volatile) {
                return if volatile { self.metrics.frames_dropped.add(1) } else { self.stall() };
            }
        }
        match &mut *self.link.borrow_mut() {
            Link::Polling(waiting) => {
                for out in parts.iter().filter_map(|part| part.to_polling()) {
                    waiting.put(out);
                }
            }
            Link::Websocket(socket) => {
                for part in parts {
                    socket.put(part.to_websocket(), volatile);
                }
            }
            Link::Parting(_) | Link::Closed => return,
        }
        turn::mark(self);
    }

    fn has_room(&self, parts: &[Part<'_>], volatile: bool) -> bool {
        match &*self.link.borrow() {
            Link::Polling(waiting) => {
                let bytes = parts.iter().map(|part| part.text_len() + 1).sum();
                waiting.has_room(parts.len(), bytes, volatile, &self.limits)
            }
            Link::Websocket(socket) => {
                let bytes = parts.iter().map(|part| part.payload_len()).sum();
                socket.has_room(parts.len(), bytes, volatile)
            }
            Link::Parting(_) | Link::Closed => true,
        }
    }

    fn stall(self: &Rc<Self>) {
        self.metrics.stalled.add(1);
        self.close(CloseReason::Stalled);
    }

    /// Puts this wire into the present turn. True: it was not in it yet.
    pub fn enter_turn(&self) -> bool {
        !self.in_turn.replace(true)
    }

    /// The end of a turn.
    pub fn leave_turn(&self) {
        self.in_turn.set(false);
        self.flush();
    }

    /// Hands what is gathered to the transport.
    pub fn flush(&self) {
        match &mut *self.link.borrow_mut() {
            Link::Polling(waiting) => {
                let sent = waiting.flush(self.limits.max_payload);
                self.metrics.frames_sent.add(sent.packets);
                self.metrics.bytes_sent.add(sent.bytes);
            }
            Link::Websocket(socket) => socket.flush(),
            Link::Parting(_) | Link::Closed => {}
        }
    }

    /// Runs `f` on the polling side; None when the session is not on polling.
    pub(super) fn polling<R>(&self, f: impl FnOnce(&mut Waiting) -> R) -> Option<R> {
        match &mut *self.link.borrow_mut() {
            Link::Polling(waiting) => Some(f(waiting)),
            _ => None,
        }
    }

    /// Moves the session to a websocket, with everything that waited.
    pub fn switch(self: &Rc<Self>, socket: Rc<Socket>) {
        let link = Link::Websocket(socket);
        if let Link::Polling(mut waiting) = self.link.replace(link) {
            waiting.answer("6");
            let queue = waiting.into_queue();
            // One push: what waited was within its own limits and may exceed those of a websocket.
            self.push(&queue.iter().map(Outgoing::part).collect::<Vec<_>>(), false);
        }
    }

    /// Ends the session. Only the first call counts.
    pub fn close(self: &Rc<Self>, reason: CloseReason) {
        if self.closed.get().is_some() {
            return;
        }
        self.closed.set(Some(reason));
        let next = match self.link.replace(Link::Closed) {
            Link::Polling(waiting) => self.part(waiting, reason),
            Link::Websocket(socket) => {
                socket.close(reason);
                Link::Closed
            }
            other => other,
        };
        if matches!(next, Link::Parting(_)) {
            self.set_alarm(Instant::now() + PARTING);
        }
        self.link.replace(next);
        self.wake();
    }

    /// A polling session ends with a close packet, or with a noop when the client itself closed. A GET may be on its way
    /// at this moment, so the last payload waits for it a little when both sides part in order.
    fn part(&self, mut waiting: Waiting, reason: CloseReason) -> Link {
        let packet = if reason == CloseReason::ClientLeft { "6" } else { "1" };
        let orderly = matches!(reason, CloseReason::ClientLeft | CloseReason::ServerLeft | CloseReason::ConnectTimeout);
        if reason == CloseReason::ClientLeft && waiting.answer(packet) {
            return Link::Closed;
        }
        let payload = waiting.last_payload(packet, self.limits.max_payload);
        if waiting.answer(&payload) || !orderly { Link::Closed } else { Link::Parting(payload) }
    }

    /// The last payload of a closed session, once.
    pub fn take_parting(&self) -> Option<String> {
        match self.link.replace(Link::Closed) {
            Link::Parting(payload) => Some(payload),
            other => {
                self.link.replace(other);
                None
            }
        }
    }

    pub fn is_parting(&self) -> bool {
        matches!(*self.link.borrow(), Link::Parting(_))
    }

    /// The client answered a heartbeat.
    pub fn pong(&self) {
        self.beat.set(Beat::Ping(Instant::now() + self.limits.ping_interval));
    }

    /// Closes the session if its heartbeat is overdue at this moment.
    pub fn check_heartbeat(self: &Rc<Self>) {
        let by = match self.beat.get() {
            Beat::Ping(at) => at + self.limits.ping_timeout,
            Beat::Pong(by) => by,
        };
        if Instant::now() >= by {
            self.metrics.heartbeats_missed.add(1);
            self.close(CloseReason::HeartbeatMissed);
        }
    }

    /// The wheel's visit.
    pub fn visit(self: &Rc<Self>, now: Instant) {
        if self.armed.get().is_none_or(|at| at > now) {
            return; // an earlier visit took its place
        }
        self.armed.set(None);
        if self.closed.get().is_none() {
            match self.beat.get() {
                Beat::Ping(at) if at <= now => {
                    // The wheel's step is not the client's: a heartbeat counts from when it was due.
                    let sent = now.checked_sub(wheel::STEP).map_or(at, |earliest| at.max(earliest));
                    self.beat.set(Beat::Pong(sent + self.limits.ping_timeout));
                    self.push(&[Part::Text(&heartbeat())], false);
                }
                Beat::Pong(_) => self.check_heartbeat(),
                Beat::Ping(_) => {}
            }
        }
        if self.alarm.get().is_some_and(|at| at <= now) {
            self.alarm.set(None);
            self.alarm_rang.set(true);
            self.wake();
        }
        self.arm();
    }

    /// Asks for a signal at `at`, unless an earlier one is asked for.
    pub fn set_alarm(self: &Rc<Self>, at: Instant) {
        if self.alarm.get().is_none_or(|before| at < before) {
            self.alarm.set(Some(at));
            self.arm();
        }
    }

    fn arm(self: &Rc<Self>) {
        let beat = match self.beat.get() {
            Beat::Ping(at) | Beat::Pong(at) => Some(at),
        };
        let beat = beat.filter(|_| self.closed.get().is_none());
        let Some(next) = [beat, self.alarm.get()].into_iter().flatten().min() else {
            return;
        };
        if self.armed.get().is_none_or(|at| next < at) {
            self.armed.set(Some(next));
            wheel::visit_at(self, next);
        }
    }

    /// Asks the actor to look at the application once more.
    pub fn attend(&self) {
        self.attend.set(true);
        self.wake();
    }

    fn wake(&self) {
        if let Some(watcher) = self.watcher.take() {
            watcher.wake();
        }
    }

    pub(super) fn poll_signal(&self, cx: &Context<'_>) -> Poll<Signal> {
        if self.attend.take() {
            return Poll::Ready(Signal::Attend);
        }
        if self.alarm_rang.take() {
            return Poll::Ready(Signal::Alarm);
        }
        if let Some(reason) = self.closed.get()
            && !self.closed_told.replace(true)
        {
            return Poll::Ready(Signal::Closed(reason));
        }
        self.watcher.set(Some(cx.waker().clone()));
        Poll::Pending
    }
}

fn heartbeat() -> Frame {
    thread_local!(static PING: Frame = Frame::text("2"));
    PING.with(Clone::clone)
}
