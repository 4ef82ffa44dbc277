//! Websockets of a session: its first transport, or an upgrade from polling.

use std::net::TcpStream as StdTcpStream;
use std::time::Instant;

use actix::{AsyncContext, Context, Handler, StreamHandler};
use actix_web::rt::net::TcpStream;

use super::actor::Session;
use super::outgoing::Part;
use crate::codec::{Frame, Incoming, Message};
use crate::engine::{CloseReason, Engine, Upper};
use crate::limits::Size;
use crate::transport::{Arrival, FromWebsocket, SocketEvent, Websocket};

/// RFC 6455 §7.4.1: the client broke a rule of the server.
const POLICY_VIOLATION: u16 = 1008;

/// A websocket that asked for an upgrade and has not completed it.
pub(super) struct Probe {
    number: u64,
    websocket: Websocket,
    /// `2probe` was received and `3probe` sent.
    confirmed: bool,
    by: Instant,
}

/// A websocket on its way to the thread of its session.
#[derive(actix::Message)]
#[rtype(result = "()")]
pub(crate) struct Attach(pub Arrival<StdTcpStream>);

impl<U: Upper> Session<U> {
    pub(super) fn probe_is_confirmed(&self) -> bool {
        self.probe.as_ref().is_some_and(|p| p.confirmed)
    }

    /// Closes an upgrade that took too long; the session stays on polling.
    pub(super) fn expire_probe(&mut self) {
        match &self.probe {
            Some(probe) if probe.by <= Instant::now() => self.drop_probe(CloseReason::ServerLeft),
            Some(probe) => self.wire.set_alarm(probe.by), // this was the alarm of an earlier upgrade
            None => {}
        }
    }

    pub(super) fn drop_probe(&mut self, reason: CloseReason) {
        if let Some(probe) = self.probe.take() {
            probe.websocket.close(reason, None);
        }
    }

    /// Handles a message of the upgrade's websocket.
    fn on_probe_event(&mut self, event: SocketEvent) {
        let Some(mut probe) = self.probe.take() else {
            return;
        };
        match event {
            SocketEvent::Message(Message::Text(text)) if &*text == "2probe" => {
                probe.send(Part::Text(&Frame::text("3probe")));
                probe.confirmed = true;
                self.wire.polling(|waiting| waiting.is_empty() && waiting.answer("6"));
                self.probe = Some(probe);
            }
            SocketEvent::Message(Message::Text(text)) if &*text == "5" && probe.confirmed => {
                self.websocket = Some(probe.number);
                self.wire.switch(probe.websocket);
            }
            SocketEvent::Message(Message::Ping(payload)) => {
                probe.send(Part::Pong(&payload));
                self.probe = Some(probe);
            }
            SocketEvent::Message(Message::Pong) => self.probe = Some(probe),
            SocketEvent::Message(_) | SocketEvent::Broken(_) => probe.websocket.close(CloseReason::Violation, None),
            SocketEvent::Gone => probe.websocket.close(CloseReason::TransportGone, None),
        }
    }

    fn on_session_event(&mut self, event: SocketEvent) {
        match event {
            SocketEvent::Message(Message::Text(text)) => self.text_packet(&text, false),
            SocketEvent::Message(Message::Binary(bytes)) => self.packet(Incoming::Binary(bytes)),
            SocketEvent::Message(Message::Ping(payload)) => self.wire.push(&[Part::Pong(&payload)], false),
            SocketEvent::Message(Message::Pong) => {}
            SocketEvent::Message(Message::Close) => self.wire.close(CloseReason::ClientLeft),
            SocketEvent::Broken(error) => {
                self.wire.close_broken(error.code());
                self.violation(&error);
            }
            SocketEvent::Gone => self.wire.close(CloseReason::TransportGone),
        }
    }
}

/// Serves a websocket on this thread. Its messages reach the session with `number`.
pub(super) fn serve<U: Upper>(
    engine: &Engine<U>,
    number: u64,
    arrival: Arrival<TcpStream>,
    ctx: &mut Context<Session<U>>,
) -> Websocket {
    let (websocket, inbound) = arrival.serve(number, engine.limits(), engine.metrics());
    ctx.add_stream(inbound);
    websocket
}

impl Probe {
    /// Sends directly, not through the session: this websocket is not its transport until the upgrade completes. A client that does
    /// not take these few bytes cannot complete the upgrade either, so the queue stays within the limits.
    fn send(&self, part: Part<'_>) {
        if self.websocket.has_room(Size { count: 1, bytes: part.payload_len() }, false) {
            self.websocket.put(part, false);
            self.websocket.flush();
        }
    }
}

impl<U: Upper> Handler<Attach> for Session<U> {
    type Result = ();

    fn handle(&mut self, Attach(arrival): Attach, ctx: &mut Context<Self>) {
        let polling = self.wire.polling(|_| ()).is_some();
        if !polling || self.probe.is_some() {
            return arrival.refuse(POLICY_VIOLATION); // a second websocket of a session
        }
        let Ok(arrival) = arrival.arrive() else {
            return;
        };
        self.websockets += 1;
        let number = self.websockets;
        let websocket = serve(&self.engine, number, arrival, ctx);
        let by = Instant::now() + self.wire.limits().upgrade_timeout;
        self.probe = Some(Probe { number, websocket, confirmed: false, by });
        self.wire.set_alarm(by);
    }
}

impl<U: Upper> StreamHandler<FromWebsocket> for Session<U> {
    fn handle(&mut self, FromWebsocket { number, event }: FromWebsocket, _: &mut Context<Self>) {
        if self.is_closed() {
            return;
        }
        if self.probe.as_ref().is_some_and(|p| p.number == number) {
            self.on_probe_event(event);
        } else if self.websocket == Some(number) {
            self.on_session_event(event);
        }
    }

    /// Does not stop the actor: the end of a websocket is not always the end of its session.
    fn finished(&mut self, _: &mut Context<Self>) {}
}
