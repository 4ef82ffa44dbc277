//! Application on top of a session, and its handle to the session.

use std::fmt;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use actix::WeakRecipient;
use bytes::Bytes;
use bytestring::ByteString;

use super::error::CloseReason;
use crate::codec::Frame;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::session::{CloseSession, Part, Wire};

/// The application of one Engine.IO session. Socket.IO is one ([`crate::SocketIo`]); anything else that speaks Engine.IO
/// messages can be another. It stays on the thread of its session and is called there, one call at a time. Until it calls
/// [`Handle::join`], its session is one of the few that each caller may open.
pub trait Upper: Unpin + 'static {
    /// A text message (Engine.IO `4`), without its digit.
    ///
    /// # Errors
    /// A violation closes the session.
    fn text(&mut self, text: ByteString) -> Result<(), Violation>;

    /// A binary message.
    ///
    /// # Errors
    /// A violation closes the session.
    fn binary(&mut self, bytes: Bytes) -> Result<(), Violation>;

    /// Called after [`Handle::attend`] and at the time of [`Handle::wake_at`]. May also be called without either.
    fn attend(&mut self) {}

    /// The session is over. Called once, as the last call.
    fn closed(&mut self, reason: CloseReason);
}

/// Protocol violation of a client.
#[derive(Debug)]
pub struct Violation(String);

impl Violation {
    /// A violation, described for the log.
    pub fn new(what: impl fmt::Display) -> Self {
        Self(what.to_string())
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Handle to a session, for its own thread. Cloning is cheap. If the session is closed, calls have no effect.
#[derive(Clone)]
pub struct Handle(Rc<Wire>);

impl Handle {
    pub(crate) fn new(wire: Rc<Wire>) -> Self {
        Self(wire)
    }

    /// Sends a frame. It is written at the end of this event-loop turn, together with all other frames of the session. Never dropped:
    /// a client that does not take it is closed.
    pub fn send(&self, frame: &Frame) {
        self.0.push(&[Part::Text(frame)], false);
    }

    /// Sends a frame that a later one replaces: if the client is slow, it is dropped and counted.
    pub fn send_volatile(&self, frame: &Frame) {
        self.0.push(&[Part::Text(frame)], true);
    }

    /// Sends a binary message.
    pub fn send_binary(&self, bytes: &Bytes) {
        self.0.push(&[Part::Binary(bytes)], false);
    }

    /// Sends a frame and the binary messages that belong to it, all of them or none.
    pub fn send_with(&self, frame: &Frame, attachments: &[Bytes]) {
        let parts: Vec<_> = std::iter::once(Part::Text(frame)).chain(attachments.iter().map(Part::Binary)).collect();
        self.0.push(&parts, false);
    }

    /// Accepts the client: its session now counts among `max_sessions`, and no longer against its caller. False: that limit is
    /// reached, and the session should be closed.
    pub fn join(&self) -> bool {
        self.0.join()
    }

    /// Counts the session against its caller again. False: the caller has too many already, and the session should be closed.
    pub fn leave(&self) -> bool {
        self.0.leave()
    }

    /// Closes the session and its transport; a real client reconnects.
    pub fn close(&self) {
        self.0.close(CloseReason::ServerLeft);
    }

    /// Closes the session for a reason of the layer above.
    pub(crate) fn close_for(&self, reason: CloseReason) {
        self.0.close(reason);
    }

    /// Whether the session is still open.
    pub fn is_open(&self) -> bool {
        self.0.closed().is_none()
    }

    /// Schedules a call of [`Upper::attend`].
    pub fn attend(&self) {
        self.0.attend();
    }

    /// Schedules a call of [`Upper::attend`] at `at` or shortly after. A session has one alarm, the earliest that was requested: if
    /// the call comes too early, request again.
    pub fn wake_at(&self, at: Instant) {
        self.0.set_alarm(at);
    }

    /// A handle for other threads.
    pub fn closer(&self) -> Closer {
        Closer(self.0.close_session())
    }

    /// The address the session was opened from: the proxy's, if one is used.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.0.peer()
    }

    /// The limits of the server.
    pub fn limits(&self) -> &Limits {
        self.0.limits()
    }

    /// The counters of the server.
    pub fn metrics(&self) -> &Arc<Metrics> {
        self.0.metrics()
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("open", &self.is_open()).field("peer", &self.peer()).finish_non_exhaustive()
    }
}

/// Closes one session from any thread.
#[derive(Clone)]
pub struct Closer(WeakRecipient<CloseSession>);

impl Closer {
    /// Closes the session and its transport; a real client reconnects. Queues one small message, so call it once.
    pub fn close(&self) {
        if let Some(session) = self.0.upgrade() {
            session.do_send(CloseSession(CloseReason::ServerLeft));
        }
    }
}

impl fmt::Debug for Closer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Closer")
    }
}
