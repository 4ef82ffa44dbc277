//! Polling requests of a session. They may arrive on any thread and reach the session as messages.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use actix::{ActorContext, Context, Handler, Message};
use bytestring::ByteString;
use tokio::sync::oneshot;

use super::actor::Session;
use crate::codec;
use crate::engine::{CloseReason, EngineError, Upper};

/// Number of a new request, by which a later message about its end identifies it.
pub(crate) fn next_request() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Relaxed) + 1
}

/// A GET asks for packets.
#[derive(Debug, Message)]
#[rtype(result = "Result<Polled, EngineError>")]
pub(crate) struct OpenPoll(pub u64);

/// The answer to a GET, or where it will come from.
#[derive(Debug)]
pub(crate) enum Polled {
    Now(String),
    Later(oneshot::Receiver<String>),
}

/// The client dropped the GET with this number before its answer.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct PollGone(pub u64);

/// A POST begins; only one may be open.
#[derive(Debug, Message)]
#[rtype(result = "Result<(), EngineError>")]
pub(crate) struct PostBegin(pub u64);

/// The POST's body.
#[derive(Debug, Message)]
#[rtype(result = "Result<(), EngineError>")]
pub(crate) struct PostBody(pub ByteString);

/// The POST with this number ended without a valid body.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct PostEnd {
    pub number: u64,
    /// Whether this ends the session: true when the client disconnected during the body.
    pub gone: bool,
}

impl<U: Upper> Session<U> {
    fn duplicate(&self, what: &str) -> EngineError {
        self.violation(&what);
        EngineError::BadRequest
    }
}

impl<U: Upper> Handler<OpenPoll> for Session<U> {
    type Result = Result<Polled, EngineError>;

    fn handle(&mut self, OpenPoll(number): OpenPoll, ctx: &mut Context<Self>) -> Self::Result {
        if let Some(payload) = self.wire.take_last_payload() {
            ctx.stop();
            return Ok(Polled::Now(payload));
        }
        self.wire.check_heartbeat();
        if self.is_closed() {
            return Err(EngineError::UnknownSid);
        }
        let taken = self.wire.polling(|waiting| waiting.has_poll()).ok_or(EngineError::BadRequest)?;
        if taken {
            return Err(self.duplicate("second GET while one is open"));
        }
        let probed = self.probe_is_confirmed();
        let polled = self.wire.polling(|waiting| {
            if probed && waiting.is_empty() {
                return Polled::Now("6".into()); // the client pauses polling for its upgrade
            }
            Polled::Later(waiting.open(number))
        });
        self.wire.flush();
        polled.ok_or(EngineError::BadRequest)
    }
}

impl<U: Upper> Handler<PollGone> for Session<U> {
    type Result = ();

    fn handle(&mut self, PollGone(number): PollGone, _: &mut Context<Self>) {
        if self.wire.polling(|waiting| waiting.is_open(number)) == Some(true) {
            self.wire.close(CloseReason::TransportGone);
        }
    }
}

impl<U: Upper> Handler<PostBegin> for Session<U> {
    type Result = Result<(), EngineError>;

    fn handle(&mut self, PostBegin(number): PostBegin, _: &mut Context<Self>) -> Self::Result {
        self.wire.check_heartbeat();
        if self.is_closed() {
            return Err(EngineError::UnknownSid);
        }
        if self.wire.polling(|_| ()).is_none() {
            return Err(EngineError::BadRequest);
        }
        if self.posting.is_some() {
            return Err(self.duplicate("second POST while one is under way"));
        }
        self.posting = Some(number);
        Ok(())
    }
}

impl<U: Upper> Handler<PostBody> for Session<U> {
    type Result = Result<(), EngineError>;

    fn handle(&mut self, PostBody(body): PostBody, _: &mut Context<Self>) -> Self::Result {
        self.posting = None;
        if self.is_closed() {
            return Err(EngineError::UnknownSid);
        }
        for packet in codec::split(&body) {
            self.text_packet(&packet, true);
            match self.wire.closed() {
                None => {}
                Some(CloseReason::Violation) => return Err(EngineError::BadRequest),
                Some(_) => break,
            }
        }
        Ok(())
    }
}

impl<U: Upper> Handler<PostEnd> for Session<U> {
    type Result = ();

    fn handle(&mut self, PostEnd { number, gone }: PostEnd, _: &mut Context<Self>) {
        if self.posting.take_if(|posting| *posting == number).is_none() {
            return;
        }
        if gone {
            self.wire.close(CloseReason::TransportGone);
        }
    }
}
