//! One socket: a session's place in one namespace, seen from its own thread.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::net::SocketAddr;
use std::rc::Rc;

use bytes::Bytes;
use bytestring::ByteString;
use serde::Serialize;
use tokio::sync::oneshot;

use super::ack::{AckAnswer, AckError};
use super::event::Args;
use crate::codec::{Frame, Kind, Packet};
use crate::engine::{Closer, Handle, Sid};

/// What a host sends with. Cloning is cheap (one count); a socket that is gone takes and does nothing. It stays on its
/// thread: a hub there hands it frames that were encoded once, and sends go out together at the end of each turn.
#[derive(Clone)]
pub struct Socket(Rc<Inner>);

/// What every frame needs lies together: with many sessions none of it is in the processor's cache when a frame goes out.
#[repr(C)]
struct Inner {
    session: Handle,
    state: Cell<State>,
    id: Sid,
    namespace: ByteString,
    /// What was sent before the client was told that it joined.
    held: RefCell<Vec<Held>>,
    /// Answers that are waited for, by their ids.
    pending: RefCell<Vec<(u64, oneshot::Sender<Args>)>>,
    next_id: Cell<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Joining,
    Joined,
    /// The host left; the client is told, the handler not yet.
    Leaving,
    Gone,
}

struct Held {
    frame: Frame,
    attachments: Vec<Bytes>,
}

impl Socket {
    pub(super) fn new(session: Handle, namespace: ByteString) -> Self {
        Self(Rc::new(Inner {
            session,
            namespace,
            id: Sid::random(),
            state: Cell::new(State::Joining),
            held: RefCell::default(),
            pending: RefCell::default(),
            next_id: Cell::new(0),
        }))
    }

    /// The id that the client knows as `socket.id`. Not the session's, which is a secret.
    pub fn id(&self) -> String {
        self.0.id.to_string()
    }

    /// The namespace, `/` for the main one.
    pub fn namespace(&self) -> &str {
        &self.0.namespace
    }

    /// The address the session was opened from: the proxy's, if there is one.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.0.session.peer()
    }

    /// Whether the client is, or is about to be, in the namespace.
    pub fn is_open(&self) -> bool {
        matches!(self.0.state.get(), State::Joining | State::Joined) && self.0.session.is_open()
    }

    /// Emits an event with one argument. Never dropped: a client that does not take it is closed.
    ///
    /// # Errors
    /// When `argument` does not serialise to JSON.
    pub fn emit<A: Serialize + ?Sized>(&self, name: &str, argument: &A) -> serde_json::Result<()> {
        self.send(&Frame::event(&self.0.namespace, name, argument)?);
        Ok(())
    }

    /// Emits an event with arguments and attachments as they come from a client ([`Args`]).
    ///
    /// # Errors
    /// When `name` does not serialise to JSON (every string does).
    pub fn emit_args(&self, name: &str, args: &Args) -> serde_json::Result<()> {
        let comma = if args.json().is_empty() { "" } else { "," };
        let data = format!("[{}{comma}{}]", serde_json::to_string(name)?, args.json());
        self.send_packet(&self.event_packet(data, None, args.attachments().len()), args.attachments().to_vec());
        Ok(())
    }

    /// Emits an event with one argument and asks for an answer.
    ///
    /// # Errors
    /// The inner one when too many answers are waited for or the socket is gone, the outer one when `argument` does not
    /// serialise to JSON.
    pub fn ask<A: Serialize + ?Sized>(&self, name: &str, argument: &A) -> serde_json::Result<Result<AckAnswer, AckError>> {
        let data = serde_json::to_string(&(name, argument))?;
        if !self.is_open() {
            return Ok(Err(AckError::Gone));
        }
        let (sender, receiver) = oneshot::channel();
        let id = self.0.next_id.get();
        {
            let mut pending = self.0.pending.borrow_mut();
            pending.retain(|(_, sender)| !sender.is_closed());
            if pending.len() >= self.0.session.limits().max_pending_acks {
                return Ok(Err(AckError::TooMany));
            }
            pending.push((id, sender));
        }
        self.0.next_id.set(id + 1);
        self.send_packet(&self.event_packet(data, Some(id), 0), Vec::new());
        Ok(Ok(AckAnswer(receiver)))
    }

    /// Sends a frame that was encoded once for many sockets of this namespace. Never dropped: a client that does not
    /// take it is closed.
    pub fn send(&self, frame: &Frame) {
        match self.0.state.get() {
            State::Joined => self.0.session.send(frame),
            State::Joining => self.hold(frame.clone(), Vec::new()),
            State::Leaving | State::Gone => {}
        }
    }

    /// The same for a frame that a later one replaces: dropped, and counted, when the client is slow.
    pub fn send_volatile(&self, frame: &Frame) {
        match self.0.state.get() {
            State::Joined => self.0.session.send_volatile(frame),
            State::Joining | State::Leaving | State::Gone => self.0.session.metrics().frames_dropped.add(1),
        }
    }

    /// Leaves the namespace: the client gets `disconnect` and does not come back by itself.
    pub fn disconnect(&self) {
        if self.0.state.get() == State::Joined {
            let packet = self.packet(Kind::Disconnect, None, ByteString::new());
            self.0.session.send(&Frame::packet(&packet));
        }
        if self.is_open() {
            self.0.state.set(State::Leaving);
            self.0.session.attend();
        }
    }

    /// Closes the session and its transport: a real client reconnects, and asks for its `auth` again.
    pub fn close(&self) {
        self.0.session.close();
    }

    /// A handle that closes the session from any thread.
    pub fn closer(&self) -> Closer {
        self.0.session.closer()
    }

    /// Whether both are the same socket.
    pub(super) fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    pub(super) fn state(&self) -> State {
        self.0.state.get()
    }

    /// Tells the client that it joined, and sends what was held back.
    pub(super) fn joined(&self) {
        self.0.state.set(State::Joined);
        self.say_joined();
        for held in self.0.held.take() {
            self.put(&held.frame, &held.attachments);
        }
    }

    pub(super) fn say_joined(&self) {
        let data = format!(r#"{{"sid":"{}"}}"#, self.0.id);
        let packet = self.packet(Kind::Connect, None, data.into());
        self.0.session.send(&Frame::packet(&packet));
    }

    pub(super) fn gone(&self) {
        self.0.state.set(State::Gone);
        self.0.held.take();
        self.0.pending.take();
    }

    /// The client's answer to [`Socket::ask`]. An id that nobody waits for (any more) is ignored.
    pub(super) fn answered(&self, id: u64, args: Args) {
        let mut pending = self.0.pending.borrow_mut();
        if let Some(at) = pending.iter().position(|(waiting, _)| *waiting == id) {
            let _ = pending.swap_remove(at).1.send(args);
        }
    }

    pub(super) fn send_packet(&self, packet: &Packet, attachments: Vec<Bytes>) {
        let frame = Frame::packet(packet);
        match self.0.state.get() {
            State::Joined => self.put(&frame, &attachments),
            State::Joining => self.hold(frame, attachments),
            State::Leaving | State::Gone => {}
        }
    }

    fn put(&self, frame: &Frame, attachments: &[Bytes]) {
        self.0.session.send_with(frame, attachments);
    }

    fn hold(&self, frame: Frame, attachments: Vec<Bytes>) {
        let mut held = self.0.held.borrow_mut();
        if held.len() < self.0.session.limits().max_queued_frames {
            held.push(Held { frame, attachments });
        } else {
            self.0.session.close();
        }
    }

    fn event_packet(&self, data: String, id: Option<u64>, attachments: usize) -> Packet {
        let kind = if attachments == 0 { Kind::Event } else { Kind::BinaryEvent };
        Packet { attachments, ..self.packet(kind, id, data.into()) }
    }

    fn packet(&self, kind: Kind, id: Option<u64>, data: ByteString) -> Packet {
        Packet { kind, attachments: 0, namespace: self.0.namespace.clone(), id, data }
    }
}

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = &self.0.id;
        f.debug_struct("Socket").field("id", id).field("namespace", &self.0.namespace).finish_non_exhaustive()
    }
}
