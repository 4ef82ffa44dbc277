//! Socket: a session's membership in one namespace, for its own thread.

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
use super::room::{Broadcast, Rooms};
use crate::codec::{Frame, Kind, Packet};
use crate::engine::{CloseReason, Closer, Handle, Sid};

/// Socket by which a host sends to a client. Cloning is cheap (one reference count). After the end of the socket, calls have no effect.
/// It stays on its thread: a hub there delivers frames that were encoded once. All frames are written together at the end of each
/// event-loop turn.
#[derive(Clone)]
pub struct Socket(Rc<SocketState>);

/// The fields that every frame needs are adjacent: with many sessions, none is in the processor's cache when a frame is sent.
#[repr(C)]
struct SocketState {
    session: Handle,
    state: Cell<JoinState>,
    id: Sid,
    namespace: ByteString,
    /// Frames that the host sent before the client got the confirmation that it joined.
    held: RefCell<Vec<Held>>,
    held_bytes: Cell<usize>,
    /// Pending answers, by their ids.
    pending: RefCell<Vec<(u64, oneshot::Sender<Args>)>>,
    next_id: Cell<u64>,
    rooms: Rooms,
    /// Rooms that it is in, except its own.
    joined: RefCell<Vec<ByteString>>,
}

/// A socket is in `max_rooms` already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the socket is in too many rooms")]
pub struct TooManyRooms;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JoinState {
    Joining,
    Joined,
    /// The host disconnected it; the client is notified, the handler not yet.
    Leaving,
    Gone,
}

struct Held {
    frame: Frame,
    attachments: Vec<Bytes>,
}

impl Socket {
    pub(super) fn new(session: Handle, namespace: ByteString, rooms: Rooms) -> Self {
        Self(Rc::new(SocketState {
            session,
            namespace,
            id: Sid::random(),
            state: Cell::new(JoinState::Joining),
            held: RefCell::default(),
            held_bytes: Cell::new(0),
            pending: RefCell::default(),
            next_id: Cell::new(0),
            rooms,
            joined: RefCell::default(),
        }))
    }

    /// The id that the client knows as `socket.id`. Not the session's, which is a secret.
    pub fn id(&self) -> String {
        self.0.id.to_string()
    }

    pub(super) fn sid(&self) -> Sid {
        self.0.id
    }

    /// The namespace, as a shared string.
    pub(super) fn name(&self) -> &ByteString {
        &self.0.namespace
    }

    /// The namespace, `/` for the main one.
    pub fn namespace(&self) -> &str {
        &self.0.namespace
    }

    /// The address the session was opened from: the proxy's, if one is used.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.0.session.peer()
    }

    /// Whether the client is, or is about to be, in the namespace.
    pub fn is_open(&self) -> bool {
        matches!(self.0.state.get(), JoinState::Joining | JoinState::Joined) && self.0.session.is_open()
    }

    /// Emits an event with one argument. Never dropped: a client that does not take it is closed. Clients ignore events with the names
    /// `connect`, `connect_error`, `disconnect`, `disconnecting`, `newListener` and `removeListener`, which they use themselves.
    ///
    /// # Errors
    /// When `argument` does not serialise to JSON.
    pub fn emit<A: Serialize + ?Sized>(&self, name: &str, argument: &A) -> serde_json::Result<()> {
        self.send(&Frame::event(&self.0.namespace, name, argument)?);
        Ok(())
    }

    /// Emits an event with several arguments and attachments ([`Args`]).
    ///
    /// # Errors
    /// When `name` does not serialise to JSON (every string does).
    pub fn emit_args(&self, name: &str, args: &Args) -> serde_json::Result<()> {
        let packet = args.packet_of_event(self.name().clone(), name)?;
        self.send_packet(&packet, args.attachments());
        Ok(())
    }

    /// Emits an event with one argument and asks for an answer.
    ///
    /// # Errors
    /// The inner error when too many answers are pending or the socket is gone, the outer one when `argument` does not serialise to
    /// JSON.
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
        self.send_packet(&self.packet(Kind::Event, Some(id), data.into()), &[]);
        Ok(Ok(AckAnswer(receiver)))
    }

    /// Sends a frame that was encoded once for many sockets of this namespace. Never dropped: a client that does not
    /// take it is closed.
    pub fn send(&self, frame: &Frame) {
        self.send_with(frame, &[]);
    }

    /// Sends a frame and its attachments.
    pub(super) fn send_with(&self, frame: &Frame, attachments: &[Bytes]) {
        match self.0.state.get() {
            JoinState::Joined if attachments.is_empty() => self.0.session.send(frame),
            JoinState::Joined => self.0.session.send_with(frame, attachments),
            JoinState::Joining => self.hold(frame.clone(), attachments.to_vec()),
            JoinState::Leaving | JoinState::Gone => {}
        }
    }

    /// The same for a frame that a later one replaces: dropped and counted if the client is slow or has not joined yet.
    pub fn send_volatile(&self, frame: &Frame) {
        match self.0.state.get() {
            JoinState::Joined => self.0.session.send_volatile(frame),
            JoinState::Joining | JoinState::Leaving | JoinState::Gone => self.0.session.metrics().frames_dropped.add(1),
        }
    }

    /// Enters a room of its namespace, or stays in it. A room exists as long as a socket is in it. If clients choose the name, limit
    /// its length.
    ///
    /// # Errors
    /// When it is in `max_rooms` already.
    pub fn join(&self, room: impl Into<String>) -> Result<(), TooManyRooms> {
        let room = room.into().into();
        if self.note_room(&room)? {
            self.0.rooms.join(self, &room);
        }
        Ok(())
    }

    /// Leaves a room. A socket that ends leaves all its rooms automatically.
    pub fn leave(&self, room: &str) {
        if self.forget_room(room) {
            self.0.rooms.leave(self, room);
        }
    }

    /// The rooms that it is in, in no particular order, without its own room, whose name is its id.
    pub fn rooms(&self) -> Vec<String> {
        self.0.joined.borrow().iter().map(ToString::to_string).collect()
    }

    /// All other sockets in `room`.
    pub fn to(&self, room: impl Into<String>) -> Broadcast {
        self.broadcast().to(room)
    }

    /// All other sockets in its namespace.
    pub fn broadcast(&self) -> Broadcast {
        self.0.rooms.of(self.name().clone(), Some(self.0.id))
    }

    /// All sockets in another namespace of the same server. Its name begins with `/`.
    pub fn of(&self, namespace: impl Into<String>) -> Broadcast {
        self.0.rooms.of(namespace.into().into(), None)
    }

    /// All sockets in its namespace, including itself.
    pub fn everyone(&self) -> Broadcast {
        self.0.rooms.of(self.name().clone(), None)
    }

    /// Adds a room. False: it was already in it.
    pub(super) fn note_room(&self, room: &ByteString) -> Result<bool, TooManyRooms> {
        let mut joined = self.0.joined.borrow_mut();
        if !self.is_open() || joined.contains(room) {
            return Ok(false);
        }
        if joined.len() >= self.0.session.limits().max_rooms {
            return Err(TooManyRooms);
        }
        joined.push(room.clone());
        Ok(true)
    }

    /// Removes a room. False: it was not in it.
    pub(super) fn forget_room(&self, room: &str) -> bool {
        let mut joined = self.0.joined.borrow_mut();
        let at = joined.iter().position(|joined| *joined == room);
        at.map(|at| joined.swap_remove(at)).is_some()
    }

    /// Leaves the namespace: the client gets `disconnect` and does not reconnect automatically.
    pub fn disconnect(&self) {
        if self.0.state.get() == JoinState::Joined {
            let packet = self.packet(Kind::Disconnect, None, ByteString::new());
            self.0.session.send(&Frame::packet(&packet));
        }
        if self.is_open() {
            self.0.state.set(JoinState::Leaving);
            self.0.session.attend();
        }
    }

    /// Closes the session and its transport: a real client reconnects, and calls its `auth` function again.
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

    pub(super) fn state(&self) -> JoinState {
        self.0.state.get()
    }

    /// Confirms to the client that it joined, and sends the held frames.
    pub(super) fn joined(&self) {
        self.0.state.set(JoinState::Joined);
        self.0.rooms.enter(self);
        self.send_connect();
        for held in self.0.held.take() {
            self.0.session.send_with(&held.frame, &held.attachments);
        }
    }

    pub(super) fn send_connect(&self) {
        let data = format!(r#"{{"sid":"{}"}}"#, self.0.id);
        let packet = self.packet(Kind::Connect, None, data.into());
        self.0.session.send(&Frame::packet(&packet));
    }

    pub(super) fn gone(&self) {
        self.0.state.set(JoinState::Gone);
        self.0.rooms.exit(self, &self.0.joined.take());
        self.0.held.take();
        self.0.pending.take();
    }

    /// Handles the client's answer to [`Socket::ask`]. An id that is not (or no longer) pending is ignored.
    pub(super) fn answered(&self, id: u64, args: Args) {
        let mut pending = self.0.pending.borrow_mut();
        if let Some(at) = pending.iter().position(|(waiting, _)| *waiting == id) {
            let _ = pending.swap_remove(at).1.send(args);
        }
    }

    pub(super) fn send_packet(&self, packet: &Packet, attachments: &[Bytes]) {
        self.send_with(&Frame::packet(packet), attachments);
    }

    fn hold(&self, frame: Frame, attachments: Vec<Bytes>) {
        if !self.0.session.is_open() {
            return;
        }
        let (mut held, limits) = (self.0.held.borrow_mut(), self.0.session.limits());
        let bytes = frame.as_text().len() + attachments.iter().map(Bytes::len).sum::<usize>();
        let all = self.0.held_bytes.get() + bytes;
        // As in the other queues: one frame always fits into an empty queue.
        if held.is_empty() || (held.len() < limits.max_waiting_packets && all <= limits.max_waiting_bytes) {
            self.0.held_bytes.set(all);
            held.push(Held { frame, attachments });
        } else {
            self.0.session.metrics().stalled.add(1);
            self.0.session.close_for(CloseReason::Stalled);
        }
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
