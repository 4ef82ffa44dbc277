//! Acknowledgements, both ways.

use bytes::Bytes;
use serde::Serialize;
use tokio::sync::oneshot;

use super::event::Args;
use super::handle::Socket;
use crate::codec::{Kind, Packet};

/// The answer that a client waits for. Dropping it leaves the client without one.
#[derive(Debug)]
pub struct Ack {
    socket: Socket,
    id: u64,
}

impl Ack {
    pub(super) fn new(socket: Socket, id: u64) -> Self {
        Self { socket, id }
    }

    /// Answers with one argument.
    ///
    /// # Errors
    /// When `argument` does not serialise to JSON; the client then gets no answer.
    pub fn send<A: Serialize + ?Sized>(self, argument: &A) -> serde_json::Result<()> {
        let json = serde_json::to_string(&(argument,))?;
        self.answer(json, &[]);
        Ok(())
    }

    /// Answers with several arguments ([`Args`]).
    pub fn send_args(self, args: &Args) {
        let json = format!("[{}]", args.json());
        self.answer(json, args.attachments());
    }

    fn answer(self, json: String, attachments: &[Bytes]) {
        let kind = if attachments.is_empty() { Kind::Ack } else { Kind::BinaryAck };
        let packet = Packet {
            kind,
            attachments: attachments.len(),
            namespace: self.socket.namespace().into(),
            id: Some(self.id),
            data: json.into(),
        };
        self.socket.send_packet(&packet, attachments);
    }
}

/// Reason why no answer of a client will come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AckError {
    /// The socket is gone.
    #[error("the socket is gone")]
    Gone,
    /// The server already waits for `max_pending_acks` answers.
    #[error("too many answers are waited for")]
    TooMany,
}

/// The future answer of a client. A client may never answer, so use a time-out. Dropping it frees one of `max_pending_acks`.
#[derive(Debug)]
pub struct AckAnswer(pub(super) oneshot::Receiver<Args>);

impl AckAnswer {
    /// Waits for the answer.
    ///
    /// # Errors
    /// When the socket ends first.
    pub async fn wait(self) -> Result<Args, AckError> {
        self.0.await.map_err(|_| AckError::Gone)
    }
}
