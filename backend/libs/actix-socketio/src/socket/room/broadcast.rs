//! Broadcast: one message to many sockets.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use bytestring::ByteString;
use serde::Serialize;
use tokio::sync::mpsc;

use super::audience::{Action, Audience, Order};
use super::members::Members;
use crate::codec::Frame;
use crate::engine::Sid;
use crate::hub::Hub;
use crate::metrics::Metrics;
use crate::socket::{Args, Socket};

/// Time limit for all threads to send the ids of a room's sockets.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// The rooms of a server.
#[derive(Clone)]
pub struct Rooms(Hub<Members>);

impl Rooms {
    pub(crate) fn new(metrics: Arc<Metrics>) -> Self {
        Self(Hub::new(Members::default, move |dropped| metrics.frames_dropped.add(dropped)))
    }

    pub(crate) fn enter(&self, socket: &Socket) {
        self.0.here(|members| members.enter(socket.clone()));
    }

    pub(crate) fn join(&self, socket: &Socket, room: &ByteString) {
        self.0.here(|members| members.join(socket.clone(), room.clone()));
    }

    pub(crate) fn leave(&self, socket: &Socket, room: &str) {
        self.0.if_here(|members| members.leave(socket, room));
    }

    pub(crate) fn exit(&self, socket: &Socket, rooms: &[ByteString]) {
        self.0.if_here(|members| {
            rooms.iter().for_each(|room| members.leave(socket, room));
            members.exit(socket);
        });
    }

    pub(crate) fn of(&self, namespace: ByteString, not: Option<Sid>) -> Broadcast {
        let audience = Audience { namespace, to: Vec::new(), except: Vec::new(), not };
        Broadcast { rooms: self.clone(), audience, volatile: false }
    }
}

/// Selection of sockets of a namespace, for sending to them or moving them together: `io.to("lobby").emit("said", &text)`.
///
/// Created on any thread from a [`SocketIo`](crate::SocketIo) or a [`Socket`], and reusable. A message is encoded once. Sockets on the
/// same thread get it in this event-loop turn, others soon after. Messages from one thread arrive in order. A socket that is still
/// joining its namespace is already in its rooms, but does not yet count as part of the namespace.
#[derive(Clone)]
pub struct Broadcast {
    rooms: Rooms,
    audience: Audience,
    volatile: bool,
}

impl Broadcast {
    /// Adds the sockets in `room` to those of the rooms that were named before. A socket in several rooms gets a message once. Each
    /// socket is also in a separate room, whose name is its [`id`](Socket::id).
    #[must_use]
    pub fn to(mut self, room: impl Into<String>) -> Self {
        self.audience.to.push(room.into().into());
        self
    }

    /// Excludes the sockets in `room`.
    #[must_use]
    pub fn except(mut self, room: impl Into<String>) -> Self {
        self.audience.except.push(room.into().into());
        self
    }

    /// Allows messages to be dropped, and counted, for slow clients.
    #[must_use]
    pub fn volatile(mut self) -> Self {
        self.volatile = true;
        self
    }

    /// Emits an event with one argument. Not dropped unless [`volatile`](Self::volatile): a client that does not take it is closed. If a
    /// thread stalls until it loses broadcasts, all its sockets are closed.
    ///
    /// # Errors
    /// When `argument` does not serialise to JSON.
    pub fn emit<A: Serialize + ?Sized>(&self, name: &str, argument: &A) -> serde_json::Result<()> {
        self.send(Frame::event(&self.audience.namespace, name, argument)?, Vec::new());
        Ok(())
    }

    /// Emits an event with any number of arguments and attachments. With attachments it is never volatile.
    ///
    /// # Errors
    /// When `name` does not serialise to JSON (every string does).
    pub fn emit_args(&self, name: &str, args: &Args) -> serde_json::Result<()> {
        let packet = args.packet_of_event(self.audience.namespace.clone(), name)?;
        self.send(Frame::packet(&packet), args.attachments().to_vec());
        Ok(())
    }

    /// Adds the sockets to `room`. A socket that is already in `max_rooms` is not added.
    pub fn join(&self, room: impl Into<String>) {
        self.act(Action::Join(room.into().into()));
    }

    /// Removes the sockets from `room`.
    pub fn leave(&self, room: impl Into<String>) {
        self.act(Action::Leave(room.into().into()));
    }

    /// Disconnects the sockets from the namespace ([`Socket::disconnect`]).
    pub fn disconnect(&self) {
        self.act(Action::Disconnect);
    }

    /// The ids of the sockets, in no particular order. Needs a tokio runtime.
    ///
    /// # Errors
    /// When a thread does not answer within 5 s.
    pub async fn ids(&self) -> Result<Vec<String>, NoAnswer> {
        let hub = &self.rooms.0;
        let asked = hub.live_threads();
        let (sender, mut answers) = mpsc::channel(asked.max(1));
        hub.publish(&self.order(Action::Tell(sender)), 0..hub.threads());
        // The channel closes once the last thread has answered.
        let gather = async {
            let (mut ids, mut answered) = (Vec::new(), 0);
            while let Some(of_thread) = answers.recv().await {
                answered += 1;
                ids.extend(of_thread);
            }
            if answered < asked { Err(NoAnswer) } else { Ok(ids) }
        };
        tokio::time::timeout(ANSWER_TIMEOUT, gather).await.map_err(|_| NoAnswer)?
    }

    fn send(&self, frame: Frame, attachments: Vec<Bytes>) {
        let volatile = self.volatile && attachments.is_empty();
        self.act(Action::Send { frame, attachments, volatile });
    }

    fn act(&self, action: Action) {
        let hub = &self.rooms.0;
        hub.publish(&self.order(action), 0..hub.threads());
    }

    fn order(&self, action: Action) -> Order {
        Order(Arc::new((self.audience.clone(), action)))
    }
}

impl fmt::Debug for Broadcast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Broadcast").field("audience", &self.audience).field("volatile", &self.volatile).finish_non_exhaustive()
    }
}

/// A thread did not send the ids of a room's sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a thread did not answer")]
pub struct NoAnswer;
