//! One message for many sockets.

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

/// How long threads have to tell who is in a room.
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

/// Some sockets of a namespace, to be sent to, or to be moved, together: `io.to("lobby").emit("said", &text)`.
///
/// Made on any thread, of a [`SocketIo`](crate::SocketIo) or of a [`Socket`], and used as often as one likes. What is emitted is
/// encoded once. Sockets of the same thread get it in this turn, those of others soon; what one thread emits arrives in order. A
/// socket that is still joining its namespace is in its rooms, but not yet among all.
#[derive(Clone)]
pub struct Broadcast {
    rooms: Rooms,
    audience: Audience,
    volatile: bool,
}

impl Broadcast {
    /// Those in `room`, besides those in rooms that were named before; one that is in several gets it once. Each socket is in a room of
    /// its own, which has its [`id`](Socket::id) for a name.
    #[must_use]
    pub fn to(mut self, room: impl Into<String>) -> Self {
        self.audience.to.push(room.into().into());
        self
    }

    /// Not those in `room`.
    #[must_use]
    pub fn except(mut self, room: impl Into<String>) -> Self {
        self.audience.except.push(room.into().into());
        self
    }

    /// What is emitted may be dropped, and is counted then, for clients that are slow.
    #[must_use]
    pub fn volatile(mut self) -> Self {
        self.volatile = true;
        self
    }

    /// Emits an event with one argument. Not dropped unless [`volatile`](Self::volatile): a client that does not take it is closed, and
    /// so are the sockets of a thread that stalls so long that it loses broadcasts.
    ///
    /// # Errors
    /// When `argument` does not serialise to JSON.
    pub fn emit<A: Serialize + ?Sized>(&self, name: &str, argument: &A) -> serde_json::Result<()> {
        self.send(Frame::event(&self.audience.namespace, name, argument)?, Vec::new());
        Ok(())
    }

    /// Emits an event with any number of arguments, attachments among them. With attachments it is not volatile.
    ///
    /// # Errors
    /// When `name` does not serialise to JSON (every string does).
    pub fn emit_args(&self, name: &str, args: &Args) -> serde_json::Result<()> {
        let packet = args.packet_of_event(self.audience.namespace.clone(), name)?;
        self.send(Frame::packet(&packet), args.attachments().to_vec());
        Ok(())
    }

    /// Puts them into `room` too. One that is in `max_rooms` already stays out.
    pub fn join(&self, room: impl Into<String>) {
        self.act(Action::Join(room.into().into()));
    }

    /// Takes them out of `room`.
    pub fn leave(&self, room: impl Into<String>) {
        self.act(Action::Leave(room.into().into()));
    }

    /// Has them leave the namespace ([`Socket::disconnect`]).
    pub fn disconnect(&self) {
        self.act(Action::Disconnect);
    }

    /// Their ids, in no order. Needs a runtime of tokio.
    ///
    /// # Errors
    /// When a thread does not answer within 5 s.
    pub async fn ids(&self) -> Result<Vec<String>, NoAnswer> {
        let hub = &self.rooms.0;
        let asked = hub.live_threads();
        let (sender, mut answers) = mpsc::channel(asked.max(1));
        hub.publish(&self.order(Action::Tell(sender)), 0..hub.threads());
        // The question goes with the last thread that has answered it.
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

/// A thread did not tell who is in a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a thread did not answer")]
pub struct NoAnswer;
