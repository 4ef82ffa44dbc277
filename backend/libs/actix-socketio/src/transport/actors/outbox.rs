//! Session's side of a carried websocket.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use actix_web_actors::ws::Message as WsMessage;
use bytes::Bytes;
use tokio::sync::mpsc;

use super::closer::ConnectionCloser;
use super::frames::{Frames, QueuedMessage};
use super::reader::Inbox;
use super::shared::{QueueView, Shared};
use crate::limits::{Limits, Size};
use crate::session::Part;
use crate::transport::SocketEvent;

/// A carried websocket on its way to its session.
pub(crate) struct Handover {
    remote: Remote,
    messages: mpsc::Receiver<SocketEvent>,
}

/// Breaks the websocket off if it is dropped without `end`.
struct Remote(Arc<Shared>);

impl Handover {
    pub(super) fn new(shared: Arc<Shared>, messages: mpsc::Receiver<SocketEvent>) -> Self {
        Self { remote: Remote(shared), messages }
    }

    /// Takes it on the thread of its session.
    pub fn take(self, limits: Arc<Limits>) -> (Rc<Outbox>, Inbox) {
        let outbox = Rc::new(Outbox { remote: self.remote, gathered: RefCell::default(), seen: Cell::default(), limits });
        (outbox.clone(), Inbox::new(outbox, self.messages))
    }

    /// Closes it with this code.
    pub fn refuse(self, code: u16) {
        self.remote.0.end(Some(code));
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.0.end(None);
    }
}

/// Queue of a session's frames for the carrier. The frames of one event-loop turn are handed over together.
///
/// While the carrier cannot write, the limits are those of a raw socket: `max_queued_frames` and `max_queued_bytes`, and no volatile
/// frames. While it can write, it has to fetch the frames first, so one turn of the session may gather more: `max_waiting_packets` and
/// `max_waiting_bytes`, which also limit the packets for a polling request that is on its way.
pub(crate) struct Outbox {
    remote: Remote,
    gathered: RefCell<Frames>,
    /// The frames that waited at the last flush.
    seen: Cell<QueueView>,
    limits: Arc<Limits>,
}

impl Outbox {
    /// Whether `more` frames may be queued. A first frame that is alone in the queue may be larger than the limit,
    /// so that one large packet always fits.
    pub fn has_room(&self, more: Size, volatile: bool) -> bool {
        let (gathered, seen, limits) = (self.gathered.borrow(), self.seen.get(), &self.limits);
        let mut waiting = gathered.size() + seen.waiting;
        if waiting.count == 0 {
            return true;
        }
        waiting.bytes -= if seen.waiting.count > 0 { seen.first } else { gathered.first().unwrap_or_default() };
        if seen.blocked {
            !volatile && (waiting + more).fits(limits.max_queued())
        } else {
            (waiting + more).fits(limits.max_waiting().max(limits.max_queued()))
        }
    }

    /// Queues a part for the next flush.
    pub fn put(&self, part: Part<'_>, volatile: bool) {
        let message = match part {
            Part::Text(frame) => WsMessage::Text(frame.as_text().clone()),
            Part::Binary(bytes) => WsMessage::Binary(bytes.clone()),
            Part::Pong(payload) => WsMessage::Pong(Bytes::copy_from_slice(payload)),
        };
        self.gathered.borrow_mut().push(QueuedMessage { message, bytes: part.payload_len(), volatile });
    }

    /// Hands over the gathered frames.
    pub fn flush(&self) {
        self.seen.set(self.remote.0.hand_over(&mut self.gathered.borrow_mut()));
    }

    /// Ready when the session may read further messages.
    pub(super) fn poll_pace(&self, cx: &Context<'_>) -> Poll<()> {
        let max = self.limits.max_queued();
        let waiting = self.gathered.borrow().size() + self.seen.get().waiting;
        if !waiting.reaches(max) {
            return Poll::Ready(());
        }
        self.flush();
        self.remote.0.poll_pace(max, cx)
    }

    /// Sends the queue and a close frame with this code; without a code, breaks off.
    pub fn close(&self, code: Option<u16>) {
        self.flush();
        self.remote.0.end(code);
        let Some(closer) = self.remote.0.closer() else {
            return;
        };
        let within = self.limits.close_timeout;
        if code.is_none() {
            close(&closer);
        } else if closer.strong_count() > 0 {
            actix_web::rt::spawn(async move {
                tokio::time::sleep(within).await;
                close(&closer);
            });
        }
    }
}

/// Ends the connection, if it still exists.
fn close(closer: &Weak<ConnectionCloser>) {
    if let Some(closer) = closer.upgrade() {
        closer.close();
    }
}
