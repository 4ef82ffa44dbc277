//! Websocket of a session, in one of two forms: a socket of this thread after a raw hand-over, or a response body of an ordinary
//! `HttpServer`.

use std::net::TcpStream as StdTcpStream;
use std::rc::Rc;
use std::sync::Arc;

use actix_web::rt::net::TcpStream;
use bytes::BytesMut;

#[cfg(feature = "actors")]
use super::actors::{Handover, Outbox};
use super::inbound::Inbound;
use super::socket::RawSocket;
use crate::engine::CloseReason;
use crate::limits::{Limits, Size};
use crate::metrics::Metrics;
use crate::session::Part;

/// A websocket on its way to its session, after the answer to its handshake. `Io` is a socket of this thread's runtime, or of no
/// runtime on the way to another thread.
pub(crate) enum Arrival<Io> {
    /// With the bytes that arrived together with the handshake.
    Raw(Io, BytesMut),
    #[cfg(feature = "actors")]
    Carried(Handover),
}

/// The side of a websocket that its session writes to.
pub(crate) enum Websocket {
    Raw(Rc<RawSocket>),
    #[cfg(feature = "actors")]
    Carried(Rc<Outbox>),
}

impl Arrival<TcpStream> {
    /// Prepares it for a session on another thread.
    ///
    /// # Errors
    /// When the runtime cannot release it.
    pub fn leave(self) -> std::io::Result<Arrival<StdTcpStream>> {
        Ok(match self {
            Self::Raw(io, early) => Arrival::Raw(io.into_std()?, early),
            #[cfg(feature = "actors")]
            Self::Carried(handover) => Arrival::Carried(handover),
        })
    }

    /// Serves it on this thread. Its messages have this `number`.
    pub fn serve(self, number: u64, limits: &Arc<Limits>, metrics: &Arc<Metrics>) -> (Websocket, Inbound) {
        match self {
            Self::Raw(io, early) => {
                let socket = RawSocket::new(io, limits.clone(), metrics.clone());
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
    /// Registers it on the thread of its session.
    ///
    /// # Errors
    /// When the runtime cannot register it.
    pub fn arrive(self) -> std::io::Result<Arrival<TcpStream>> {
        Ok(match self {
            Self::Raw(io, early) => Arrival::Raw(TcpStream::from_std(io)?, early),
            #[cfg(feature = "actors")]
            Self::Carried(handover) => Arrival::Carried(handover),
        })
    }

    /// Closes it, as its handshake is already answered.
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
    /// Whether `more` parts may be queued.
    pub fn has_room(&self, more: Size, volatile: bool) -> bool {
        match self {
            Self::Raw(socket) => socket.has_room(more, volatile),
            #[cfg(feature = "actors")]
            Self::Carried(outbox) => outbox.has_room(more, volatile),
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

    /// Passes the queued parts on.
    pub fn flush(&self) {
        match self {
            Self::Raw(socket) => socket.flush(),
            #[cfg(feature = "actors")]
            Self::Carried(outbox) => outbox.flush(),
        }
    }

    /// Sends a close frame, with `code` if the reason does not define it. After an orderly end, queued parts are still sent. A client
    /// that disconnected or does not read gets no more data.
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
