//! Outbound half of a session: the destination of packets, the deadlines of heartbeats, and the end. It stays on one thread, where the
//! session's actor, the flusher, the wheel and the host's handles share it.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use actix::WeakRecipient;

use super::actor::{CloseSession, Opening};
use super::deadlines::{Deadlines, Due};
use super::outgoing::{Outgoing, Part};
use super::sink::PacketSink;
use super::waiting::{Lost, Waiting};
use super::{turn, wheel};
use crate::codec::Frame;
use crate::engine::{Admission, CloseReason};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::transport::Websocket;

/// Time that a closed polling session keeps its last payload for a GET that is on its way.
const CLOSING: Duration = Duration::from_millis(200);

/// Signal to the session's actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    Closed(CloseReason),
    Alarm,
    Attend,
}

/// The fields that every frame needs are adjacent: with many sessions, none is in the processor's cache when a frame is sent.
#[repr(C)]
pub(crate) struct Wire {
    sink: RefCell<PacketSink>,
    closed: Cell<Option<CloseReason>>,
    in_turn: Cell<bool>,
    closed_told: Cell<bool>,
    alarm_rang: Cell<bool>,
    attend: Cell<bool>,
    /// The code of the websocket's close frame, if the reason of the end does not define it.
    close_code: Cell<Option<u16>>,
    limits: Arc<Limits>,
    metrics: Arc<Metrics>,
    watcher: Cell<Option<Waker>>,
    deadlines: Deadlines,
    /// Ends the session from other threads.
    close_session: WeakRecipient<CloseSession>,
    peer: Option<SocketAddr>,
    admission: RefCell<Admission>,
}

impl Wire {
    /// The wire of a new session, on polling, its first heartbeat due after `ping_interval`.
    pub fn new(
        close_session: WeakRecipient<CloseSession>,
        opening: Opening,
        limits: Arc<Limits>,
        metrics: Arc<Metrics>,
    ) -> Rc<Self> {
        let first = Instant::now() + limits.ping_interval;
        let wire = Rc::new(Self {
            close_session,
            peer: opening.peer,
            admission: RefCell::new(opening.admission),
            limits,
            metrics,
            sink: RefCell::new(PacketSink::Polling(Box::default())),
            deadlines: Deadlines::new(first),
            alarm_rang: Cell::new(false),
            closed: Cell::new(None),
            closed_told: Cell::new(false),
            close_code: Cell::new(None),
            attend: Cell::new(false),
            in_turn: Cell::new(false),
            watcher: Cell::new(None),
        });
        wire.arm();
        wire
    }

    pub fn close_session(&self) -> WeakRecipient<CloseSession> {
        self.close_session.clone()
    }

    pub fn peer(&self) -> Option<SocketAddr> {
        self.peer
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// See [`crate::Handle::join`].
    pub fn join(&self) -> bool {
        self.admission.borrow_mut().join()
    }

    /// See [`crate::Handle::leave`].
    pub fn leave(&self) -> bool {
        self.admission.borrow_mut().leave()
    }

    /// Whether this session lost its slot for sessions that have not joined to another one.
    pub fn is_displaced(&self) -> bool {
        self.admission.borrow().is_displaced()
    }

    /// Removes the session from the counts, even if handles to it still exist.
    pub fn end(&self) {
        self.admission.borrow_mut().end();
    }

    pub fn closed(&self) -> Option<CloseReason> {
        self.closed.get()
    }

    /// Queues a packet, all of its parts or none, for the end of this event-loop turn. A volatile packet is dropped if the client is
    /// slow; any other closes the session if its limit is reached.
    pub fn push(self: &Rc<Self>, parts: &[Part<'_>], volatile: bool) {
        if self.closed.get().is_some() {
            return;
        }
        if !self.has_room(parts, volatile) {
            // A queue that fills up within one turn does not mean a stalled client: flush the gathered packets and check again.
            self.flush();
            if !self.has_room(parts, volatile) {
                return if volatile { self.metrics.frames_dropped.add(1) } else { self.stall() };
            }
        }
        if self.sink.borrow_mut().put(parts, volatile) {
            turn::mark(self);
        }
    }

    fn has_room(&self, parts: &[Part<'_>], volatile: bool) -> bool {
        self.sink.borrow().has_room(parts, volatile, &self.limits)
    }

    fn stall(self: &Rc<Self>) {
        self.metrics.stalled.add(1);
        self.close(CloseReason::Stalled);
    }

    /// Marks this wire as part of the current turn. True: it was not part of it yet.
    pub fn enter_turn(&self) -> bool {
        !self.in_turn.replace(true)
    }

    /// Ends the turn: flushes.
    pub fn leave_turn(self: &Rc<Self>) {
        self.in_turn.set(false);
        self.flush();
    }

    /// Passes the gathered packets to the transport.
    pub fn flush(self: &Rc<Self>) {
        let flushed = self.sink.borrow_mut().flush(self.limits.max_payload, &self.metrics);
        if let Err(Lost) = flushed {
            self.close(CloseReason::TransportGone);
        }
    }

    /// Runs `f` on the polling side; None when the session is not on polling.
    pub(super) fn polling<R>(&self, f: impl FnOnce(&mut Waiting) -> R) -> Option<R> {
        match &mut *self.sink.borrow_mut() {
            PacketSink::Polling(waiting) => Some(f(waiting)),
            _ => None,
        }
    }

    /// Moves the session to a websocket, with all waiting packets.
    pub fn switch(self: &Rc<Self>, websocket: Websocket) {
        if let PacketSink::Polling(mut waiting) = self.sink.replace(PacketSink::Websocket(websocket)) {
            waiting.answer("6");
            let queue = waiting.into_queue();
            // One push: the waiting packets were within the limits of polling and may exceed those of a websocket.
            self.push(&queue.iter().map(Outgoing::part).collect::<Vec<_>>(), false);
        }
    }

    /// Ends the session. Only the first call counts.
    pub fn close(self: &Rc<Self>, reason: CloseReason) {
        if self.closed.get().is_some() {
            return;
        }
        self.closed.set(Some(reason));
        let next = self.sink.replace(PacketSink::Closed).close(reason, self.close_code.get(), self.limits.max_payload);
        if matches!(next, PacketSink::Closing(_)) {
            self.set_alarm(Instant::now() + CLOSING);
        }
        self.sink.replace(next);
        self.wake();
    }

    /// Ends the session because its websocket broke a rule that has a close code (RFC 6455 §7.4.1).
    pub fn close_broken(self: &Rc<Self>, code: u16) {
        self.close_code.set(Some(code));
        self.close(CloseReason::Violation);
    }

    /// The last payload of a closed session, once.
    pub fn take_last_payload(&self) -> Option<String> {
        match self.sink.replace(PacketSink::Closed) {
            PacketSink::Closing(payload) => Some(payload),
            other => {
                self.sink.replace(other);
                None
            }
        }
    }

    pub fn is_closing(&self) -> bool {
        matches!(*self.sink.borrow(), PacketSink::Closing(_))
    }

    /// The client answered a heartbeat.
    pub fn pong(self: &Rc<Self>) {
        self.deadlines.ping_at(Instant::now() + self.limits.ping_interval);
        self.arm(); // the next heartbeat may be due before the last one's deadline
    }

    /// Closes the session if its heartbeat is overdue at this moment.
    pub fn check_heartbeat(self: &Rc<Self>) {
        if self.deadlines.pong_by(self.limits.ping_timeout) <= Instant::now() {
            self.metrics.heartbeats_missed.add(1);
            self.close(CloseReason::HeartbeatMissed);
        }
    }

    /// Handles a visit of the wheel.
    pub fn visit(self: &Rc<Self>, now: Instant) {
        if !self.deadlines.is_visit(now) {
            return; // an earlier visit replaced this one
        }
        if self.closed.get().is_none() {
            match self.deadlines.poll_heartbeat(now, self.limits.ping_timeout) {
                Due::Ping => self.push(&[Part::Text(&heartbeat())], false),
                Due::Missed => self.check_heartbeat(),
                Due::Nothing => {}
            }
        }
        if self.deadlines.alarm(now) {
            self.alarm_rang.set(true);
            self.wake();
        }
        self.arm();
    }

    /// Requests a signal at `at`, unless an earlier one is requested.
    pub fn set_alarm(self: &Rc<Self>, at: Instant) {
        self.deadlines.set_alarm(at);
        self.arm();
    }

    fn arm(self: &Rc<Self>) {
        if let Some(next) = self.deadlines.arm(self.closed.get().is_none()) {
            wheel::visit_at(self, next);
        }
    }

    /// Asks the actor to call [`crate::engine_io::Upper::attend`].
    pub fn attend(&self) {
        self.attend.set(true);
        self.wake();
    }

    fn wake(&self) {
        if let Some(watcher) = self.watcher.take() {
            watcher.wake();
        }
    }

    /// Returns the reason of the end once, to report it to the application.
    pub(super) fn take_end(&self) -> Option<CloseReason> {
        self.closed.get().filter(|_| !self.closed_told.replace(true))
    }

    pub(super) fn poll_signal(&self, cx: &Context<'_>) -> Poll<Signal> {
        if self.attend.take() {
            return Poll::Ready(Signal::Attend);
        }
        // Checked before the alarm, which ends the actor of a closed session.
        if let Some(reason) = self.take_end() {
            return Poll::Ready(Signal::Closed(reason));
        }
        if self.alarm_rang.take() {
            return Poll::Ready(Signal::Alarm);
        }
        self.watcher.set(Some(cx.waker().clone()));
        Poll::Pending
    }
}

fn heartbeat() -> Frame {
    thread_local!(static PING: Frame = Frame::text("2"));
    PING.with(Clone::clone)
}
