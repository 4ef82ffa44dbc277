//! Websockets of a session: its first transport, or one that takes over from polling.

use std::rc::Rc;
use std::time::Instant;

use actix::{Context, Handler};
use bytes::Bytes;

use super::actor::Session;
use super::waiting::Waiting;
use crate::codec::{Incoming, Message, encode_frame, opcode};
use crate::engine::{CloseReason, EngineError, Upper};
use crate::transport::Socket;

/// A websocket that asked for an upgrade and has not completed it.
#[derive(Debug)]
pub(super) struct Probe {
    id: u64,
    socket: Rc<Socket>,
    /// `2probe` came and `3probe` went.
    confirmed: bool,
    by: Instant,
}

/// A websocket was opened for this session. The answer is its number, for [`FromWebsocket`].
#[derive(Debug, actix::Message)]
#[rtype(result = "Result<u64, EngineError>")]
pub(crate) struct Attach {
    pub sender: tokio::sync::mpsc::Sender<Bytes>,
    /// The session's own transport from the start, not an upgrade.
    pub first: bool,
}

/// A message of one of the session's websockets; None when it is gone.
#[derive(Debug, actix::Message)]
#[rtype(result = "()")]
pub(crate) struct FromWebsocket(pub u64, pub Option<Message>);

impl<U: Upper> Session<U> {
    pub(super) fn probe_is_confirmed(&self) -> bool {
        self.probe.as_ref().is_some_and(|p| p.confirmed)
    }

    /// Closes an upgrade that took too long; the session stays on polling.
    pub(super) fn expire_probe(&mut self) {
        if let Some(probe) = self.probe.take_if(|p| p.by <= Instant::now()) {
            probe.socket.close(CloseReason::ServerLeft);
        }
    }

    /// A message of the websocket that may take over.
    fn probe_message(&mut self, message: Option<Message>) {
        let Some(mut probe) = self.probe.take() else {
            return;
        };
        let text = match &message {
            Some(Message::Text(text)) => &**text,
            Some(Message::Ping(payload)) => {
                probe.socket.send_now(encode_frame(opcode::PONG, payload));
                self.probe = Some(probe);
                return;
            }
            Some(Message::Pong) => {
                self.probe = Some(probe);
                return;
            }
            _ => "",
        };
        match text {
            "2probe" => {
                probe.socket.send_now(encode_frame(opcode::TEXT, b"3probe"));
                probe.confirmed = true;
                self.wire
                    .polling(|waiting| waiting.is_empty() && waiting.answer("6"));
                self.probe = Some(probe);
            }
            "5" if probe.confirmed => {
                self.websocket = Some(probe.id);
                self.wire.switch(probe.socket);
            }
            _ => probe.socket.close(CloseReason::Violation),
        }
    }

    fn session_message(&mut self, message: Option<Message>) {
        match message {
            Some(Message::Text(text)) => self.text_packet(&text, false),
            Some(Message::Binary(bytes)) => self.packet(Incoming::Binary(bytes)),
            Some(Message::Ping(payload)) => self.wire.pong_frame(&payload),
            Some(Message::Pong) => {}
            Some(Message::Close) | None => self.wire.close(CloseReason::TransportGone),
        }
    }
}

impl<U: Upper> Handler<Attach> for Session<U> {
    type Result = Result<u64, EngineError>;

    fn handle(&mut self, attach: Attach, _: &mut Context<Self>) -> Self::Result {
        let polling = self.wire.polling(|_: &mut Waiting| ()).is_some();
        if self.is_closed() || !polling || self.probe.is_some() {
            return Err(EngineError::BadRequest);
        }
        self.next_websocket += 1;
        let id = self.next_websocket;
        let socket = Rc::new(Socket::new(attach.sender));
        if attach.first {
            self.websocket = Some(id);
            self.wire.switch(socket);
        } else {
            let by = Instant::now() + self.wire.limits().upgrade_timeout;
            self.probe = Some(Probe {
                id,
                socket,
                confirmed: false,
                by,
            });
            self.wire.set_alarm(by);
        }
        Ok(id)
    }
}

impl<U: Upper> Handler<FromWebsocket> for Session<U> {
    type Result = ();

    fn handle(&mut self, FromWebsocket(id, message): FromWebsocket, _: &mut Context<Self>) {
        if self.is_closed() {
            return;
        }
        if self.probe.as_ref().is_some_and(|p| p.id == id) {
            self.probe_message(message);
        } else if self.websocket == Some(id) {
            self.session_message(message);
        }
    }
}
