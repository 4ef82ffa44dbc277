//! A websocket of a session, whichever way it came: below the raw hand-over it is a socket of this thread, in an ordinary `HttpServer`
//! it is carried by the response to its request.

use std::net::TcpStream as StdTcpStream;
use std::rc::Rc;
use std::sync::Arc;

use actix_web::rt::net::TcpStream;
use bytes::BytesMut;

#[cfg(feature = "actors")]
use super::actors::{Handover, Outbox};
use super::inbound::Inbound;
use super::socket::Socket;
use crate::engine::CloseReason;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::session::Part;

/// A websocket whose handshake is answered, on its way to its session. `Io` is a socket of this thread's runtime, or of none on the way
/// to another thread.
pub(crate) enum Arrival<Io> {
    /// With what arrived along with the handshake.
    Raw(Io, BytesMut),
    #[cfg(feature = "actors")]
    Carried(Handover),
}

/// The side of a websocket that its session writes to.
pub(crate) enum Websocket {
    Raw(Rc<Socket>),
    #[cfg(feature = "actors")]
    Carried(Rc<Outbox>),
}

impl Arrival<TcpStream> {
    /// To a session on another thread.
    ///
    /// # Errors
    /// When the runtime does not let go of it.
    pub fn leave(self) -> std::io::Result<Arrival<StdTcpStream>> {
        Ok(match self {
            Self::Raw(io, early) => Arrival::Raw(io.into_std()?, early),
            #[cfg(feature = "actors")]
            Self::Carried(handover) => Arrival::Carried(handover),
        })
    }

    /// Serves it on this thread. What it brings has this `number`.
    pub fn serve(self, number: u64, limits: &Arc<Limits>, metrics: &Arc<Metrics>) -> (Websocket, Inbound) {
        match self {
            Self::Raw(io, early) => {
                let socket = Socket::new(io, limits.clone(), metrics.clone());
                (Websocket::Raw(socket.clone()), Inbound::raw(number, socket, early, limits.max_payload))
            }
            #[cfg(feature = "actors")]
            Self::Carried(handover) => {
                let (outbox, inbox) = handover.take(limits.clone());
                (Websocket::Carried(outbox), Inbound::carried(number, inbox))
            }
        }
    }
}

impl Arrival<StdTcpStream> {
    /// On the thread of its session.
    ///
    /// # Errors
    /// When the runtime does not take it.
    pub fn arrive(self) -> std::io::Result<Arrival<TcpStream>> {
        Ok(match self {
            Self::Raw(io, early) => Arrival::Raw(TcpStream::from_std(io)?, early),
            #[cfg(feature = "actors")]
            Self::Carried(handover) => Arrival::Carried(handover),
        })
    }

    /// Its handshake is finished, now it is closed.
    pub fn refuse(self, code: u16) {
        match self {
            Self::Raw(mut io, _) => {
                let _ = std::io::Write::write(&mut io, &crate::codec::close_frame(code));
            }
            #[cfg(feature = "actors")]
            Self::Carried(handover) => handover.refuse(code),
        }
    }
}

impl Websocket {
    /// Whether parts of together `bytes` bytes may be queued.
    pub fn has_room(&self, parts: usize, bytes: usize, volatile: bool) -> bool {
        match self {
            Self::Raw(socket) => socket.has_room(parts, bytes, volatile),
            #[cfg(feature = "actors")]
            Self::Carried(outbox) => outbox.has_room(parts, bytes, volatile),
        }
    }

    /// Queues a part for the next flush.
    pub fn put(&self, part: Part<'_>, volatile: bool) {
        match self {
            Self::Raw(socket) => socket.put(part.to_websocket(), volatile),
            #[cfg(feature = "actors")]
            Self::Carried(outbox) => outbox.put(part, volatile),
        }
    }

    /// Lets go of what is queued.
    pub fn flush(&self) {
        match self {
            Self::Raw(socket) => socket.flush(),
            #[cfg(feature = "actors")]
            Self::Carried(outbox) => outbox.flush(),
        }
    }

    /// Says goodbye, with `code` if the reason does not tell it. What is queued still goes out when both sides part in order; a client
    /// that is gone or does not read gets nothing more.
    pub fn close(&self, reason: CloseReason, code: Option<u16>) {
        let usual = match reason {
            CloseReason::TransportGone | CloseReason::HeartbeatMissed | CloseReason::Stalled | CloseReason::Displaced => None,
            CloseReason::Violation => Some(1002),
            CloseReason::Panicked => Some(1011),
            CloseReason::ClientLeft | CloseReason::ServerLeft | CloseReason::ConnectTimeout => Some(1000),
        };
        let code = usual.map(|usual| code.unwrap_or(usual));
        match self {
            Self::Raw(socket) => socket.close(code),
            #[cfg(feature = "actors")]
            Self::Carried(outbox) => outbox.close(code),
        }
    }
}
