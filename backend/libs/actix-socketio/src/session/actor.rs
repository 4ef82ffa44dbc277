//! Session actor: its start and end, its deadlines, and the packets of both transports.

use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task;

use actix::{Actor, ActorContext, AsyncContext, Context, Handler, Message, StreamHandler};
use actix_web::rt::net::TcpStream;
use bytestring::ByteString;
use futures_util::Stream;

use super::outgoing::Part;
use super::upgrade::{Probe, serve};
use super::wire::{Signal, Wire};
use crate::codec::{self, Frame, Incoming};
use crate::engine::{Admission, CloseReason, Engine, Handle, Sid, Upper};
use crate::transport::Arrival;

/// The number of a session's first websocket.
const FIRST: u64 = 0;

/// One session.
pub(crate) struct Session<U: Upper> {
    pub(super) engine: Engine<U>,
    pub(super) sid: Sid,
    pub(super) wire: Rc<Wire>,
    pub(super) upper: U,
    /// The websocket of an upgrade that is not complete.
    pub(super) probe: Option<Probe>,
    /// The number of the websocket in use.
    pub(super) websocket: Option<u64>,
    /// The number of the last websocket that attached, also for an upgrade that failed.
    pub(super) websockets: u64,
    /// The POST whose body is being read.
    pub(super) posting: Option<u64>,
}

/// Data of a handshake.
#[derive(Debug)]
pub(crate) struct Opening {
    pub admission: Admission,
    pub peer: Option<SocketAddr>,
}

/// Ends the session from anywhere.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct CloseSession(pub CloseReason);

impl<U: Upper> Session<U> {
    /// Starts a session on this thread: on a websocket if there is one, else on polling. A websocket gets the handshake
    /// packet at once.
    pub fn open(engine: &Engine<U>, opening: Opening, websocket: Option<Arrival<TcpStream>>) -> Sid {
        let sid = opening.admission.sid();
        let server = engine.clone();
        let address = Self::create(|ctx| {
            let close_session = ctx.address().downgrade().recipient();
            let wire = Wire::new(close_session, opening, server.limits().clone(), server.metrics().clone());
            let number = websocket.map(|arrival| {
                wire.switch(serve(&server, FIRST, arrival, ctx));
                wire.push(&[Part::Text(&Frame::text(&server.handshake(sid, "[]")))], false);
                FIRST
            });
            let upper = server.upper(Handle::new(wire.clone()));
            ctx.add_stream(Watch(wire.clone()));
            Self { engine: server, sid, wire, upper, probe: None, websocket: number, websockets: FIRST, posting: None }
        });
        engine.enter(sid, address);
        sid
    }

    /// One packet of the transport in use.
    pub(super) fn packet(&mut self, packet: Incoming) {
        match packet {
            Incoming::Close => self.wire.close(CloseReason::ClientLeft),
            Incoming::Pong => self.wire.pong(),
            Incoming::Text(text) => {
                if let Err(violation) = self.upper.text(text) {
                    self.violation(&violation);
                }
            }
            Incoming::Binary(bytes) => {
                if let Err(violation) = self.upper.binary(bytes) {
                    self.violation(&violation);
                }
            }
            Incoming::Noop => {}
            Incoming::Ping(_) | Incoming::Upgrade => self.violation(&"ping or upgrade out of turn"),
        }
    }

    /// The text of one packet.
    pub(super) fn text_packet(&mut self, text: &ByteString, base64: bool) {
        match codec::parse_packet(text, base64) {
            Ok(packet) => self.packet(packet),
            Err(error) => self.violation(&error),
        }
    }

    pub(super) fn violation(&self, what: &dyn std::fmt::Display) {
        tracing::debug!(sid = ?self.sid, %what, "session broke the protocol");
        self.wire.metrics().violations.add(1);
        self.wire.close(CloseReason::Violation);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.wire.closed().is_some()
    }

    fn over(&mut self, reason: CloseReason) {
        tracing::debug!(sid = ?self.sid, ?reason, "session closed");
        self.drop_probe(CloseReason::ServerLeft);
        self.upper.closed(reason);
    }

    fn ring(&mut self, ctx: &mut Context<Self>) {
        if self.is_closed() {
            return ctx.stop(); // the session is closed, and no GET has come in time for its last payload
        }
        self.expire_probe();
        self.upper.attend();
    }
}

impl<U: Upper> Actor for Session<U> {
    type Context = Context<Self>;

    fn started(&mut self, _: &mut Self::Context) {
        // Another session may have taken this one's slot before the actor could be found: no message of it came.
        if self.wire.is_displaced() {
            self.wire.close(CloseReason::Displaced);
        }
    }

    fn stopped(&mut self, _: &mut Self::Context) {
        self.wire.close(CloseReason::ServerLeft); // when the thread ends before the session
        if let Some(reason) = self.wire.take_end() {
            self.over(reason); // a GET took the last payload and stopped the actor before it had handled `Signal::Closed`
        }
        self.engine.leave(self.sid);
        self.wire.end();
    }
}

impl<U: Upper> StreamHandler<Signal> for Session<U> {
    fn handle(&mut self, signal: Signal, ctx: &mut Self::Context) {
        match signal {
            Signal::Attend if self.is_closed() => {}
            Signal::Attend => self.upper.attend(),
            Signal::Alarm => self.ring(ctx),
            Signal::Closed(reason) => {
                self.over(reason);
                if !self.wire.is_closing() {
                    ctx.stop();
                }
            }
        }
    }
}

impl<U: Upper> Handler<CloseSession> for Session<U> {
    type Result = ();

    fn handle(&mut self, CloseSession(reason): CloseSession, ctx: &mut Self::Context) {
        let displaced = reason == CloseReason::Displaced;
        // The session may have joined (`Handle::join`) while this message was queued. Only one that has not joined loses its slot.
        if displaced && !self.wire.is_displaced() {
            return;
        }
        self.wire.close(reason);
        if displaced && self.wire.is_closing() {
            ctx.stop(); // another session has its slot already, so it does not wait for a GET to fetch its last payload
        }
    }
}

/// The wire's signals as a stream for the actor.
struct Watch(Rc<Wire>);

impl Stream for Watch {
    type Item = Signal;

    fn poll_next(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> task::Poll<Option<Signal>> {
        self.0.poll_signal(cx).map(Some)
    }
}
