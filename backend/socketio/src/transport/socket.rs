//! The outbound side of one websocket.

use bytes::Bytes;
use tokio::sync::mpsc::Sender;

use crate::codec::close_frame;
use crate::engine::CloseReason;
use crate::session::Pushed;

/// Whole frames go into a bounded channel whose other end is the response body.
#[derive(Debug)]
pub(crate) struct Socket {
    body: Sender<Bytes>,
}

impl Socket {
    pub fn new(body: Sender<Bytes>) -> Self {
        Self { body }
    }

    pub fn push(&self, frame: Bytes, volatile: bool) -> Pushed {
        match self.body.try_send(frame) {
            Ok(()) => Pushed::Queued,
            Err(_) if volatile => Pushed::Dropped,
            Err(_) => Pushed::Full,
        }
    }

    pub fn send_now(&self, frame: Bytes) {
        let _ = self.body.try_send(frame);
    }

    /// The body ends when its last sender is dropped.
    pub fn close(&self, reason: CloseReason) {
        let code = if reason == CloseReason::Violation {
            1002
        } else {
            1000
        };
        self.send_now(close_frame(code));
    }
}
