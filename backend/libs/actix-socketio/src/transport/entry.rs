//! Checks of an upgrade request before the answer to its handshake, for both kinds of server.

use std::io;
use std::net::SocketAddr;

use actix::Addr;
use actix_http::ws::{HandshakeError, verify_handshake};
use actix_web::dev::RequestHead;
use actix_web::rt::net::TcpStream;

use super::websocket::Arrival;
use crate::engine::{Engine, EngineError, Query, Transport, Upper, Verdict};
use crate::session::{Attach, Opening, Session};

/// Destination of a websocket after the answer to its handshake.
pub(super) enum Entry<U: Upper> {
    /// It opens a session.
    New(Opening),
    /// It may replace the session's polling.
    Upgrade(Addr<Session<U>>),
}

impl<U: Upper> Engine<U> {
    /// The destination of this request's websocket.
    pub(super) fn entry(&self, head: &RequestHead, peer: Option<SocketAddr>) -> Result<Entry<U>, EngineError> {
        if self.verdict(&head.headers, peer) == Verdict::Refused {
            return Err(EngineError::Forbidden);
        }
        let query = Query::parse(head.uri.query().unwrap_or_default(), &self.config().sid_prefix)?;
        if query.transport != Transport::Websocket {
            return Err(EngineError::BadRequest);
        }
        verify_handshake(head).map_err(|error| match error {
            HandshakeError::GetMethodRequired => EngineError::BadHandshakeMethod,
            _ => EngineError::BadRequest,
        })?;
        Ok(match query.sid {
            None => Entry::New(Opening { admission: self.admit(&head.headers, peer)?, peer }),
            Some(sid) => Entry::Upgrade(self.find(sid)?),
        })
    }
}

impl<U: Upper> Entry<U> {
    /// Passes the websocket to its destination.
    ///
    /// # Errors
    /// When this thread's runtime cannot release the socket.
    pub fn enter(self, engine: &Engine<U>, arrival: Arrival<TcpStream>) -> io::Result<()> {
        match self {
            Self::New(opening) => engine.open_websocket(opening, arrival),
            // One message for each handshake, and the session keeps only one of the websockets.
            Self::Upgrade(session) => session.do_send(Attach(arrival.leave()?)),
        }
        Ok(())
    }
}
