//! Trait that a host implements.

use bytestring::ByteString;
use serde::Serialize;

use super::event::{ConnectAuth, Event};
use super::handle::Socket;
use crate::engine::CloseReason;

/// The host's side of every socket. One value serves all threads; each socket's calls come on the thread of its session, one at a
/// time. Calls come for each namespace: a host with only one refuses the others with [`Refused::invalid_namespace`].
///
/// A panic in `connect` refuses the client, one in `event` ends its session ([`CloseReason::Panicked`]). It is logged, and other
/// sessions are not affected.
pub trait Handler: Send + Sync + 'static {
    /// State of the host for one socket. It stays on its thread.
    type Session: 'static;

    /// A client asks to join a namespace. Runs concurrently with the session, whose heartbeats continue. It is dropped if the session
    /// ends first, and `connect_timeout` limits it while the session is in no namespace. Emits to `connect.socket` are held until the
    /// client gets the confirmation that it joined, within `max_waiting_packets`; volatile ones are dropped.
    fn connect(&self, connect: Connect) -> impl Future<Output = Result<Self::Session, Refused>>;

    /// An event of the client. It must not block; spawn longer work, which may answer with `event.ack`.
    fn event(&self, session: &mut Self::Session, event: Event);

    /// The socket has ended and left its rooms: the client or the host left the namespace, or the session ended. Called once for each
    /// `connect` that succeeded.
    fn disconnected(&self, session: Self::Session, reason: CloseReason);
}

/// A request to join a namespace.
#[derive(Debug)]
pub struct Connect {
    /// The new socket.
    pub socket: Socket,
    /// The client's data for the join (`auth` of the real clients).
    pub auth: ConnectAuth,
}

impl Connect {
    /// The namespace, `/` for the main one.
    pub fn namespace(&self) -> &str {
        self.socket.namespace()
    }
}

/// Refusal of a namespace. The client gets `connect_error` and does not retry automatically.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    json: ByteString,
}

#[derive(Serialize)]
struct RefusedBody<'a, D> {
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<D>,
}

impl Refused {
    /// `connect_error` with this message.
    pub fn new(message: &str) -> Self {
        let body = RefusedBody::<()> { message, data: None };
        // A struct of strings always serialises.
        Self { json: serde_json::to_string(&body).unwrap_or_default().into() }
    }

    /// `connect_error` with this message and `error.data`.
    ///
    /// # Errors
    /// When `data` does not serialise to JSON.
    pub fn with_data<D: Serialize>(message: &str, data: D) -> serde_json::Result<Self> {
        let json = serde_json::to_string(&RefusedBody { message, data: Some(data) })?;
        Ok(Self { json: json.into() })
    }

    /// The reference server's answer to a namespace that does not exist.
    pub fn invalid_namespace() -> Self {
        Self::new("Invalid namespace")
    }

    pub(super) fn into_json(self) -> ByteString {
        self.json
    }
}
