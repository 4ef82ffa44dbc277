//! HTTP long-polling (Engine.IO protocol, "HTTP long-polling").

use actix::Addr;
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse};
use bytes::BytesMut;
use bytestring::ByteString;
use futures_util::StreamExt as _;

use crate::engine::{Engine, EngineError, Upper};
use crate::session::{OpenPoll, Opening, PollGone, Polled, PostBegin, PostBody, PostEnd, Session};

/// Opens a session.
pub(super) fn open<U: Upper>(engine: &Engine<U>, request: &HttpRequest) -> Result<HttpResponse, EngineError> {
    let opening = Opening { permit: engine.admit()?, peer: request.peer_addr() };
    Ok(text(engine.open_polling(opening)))
}

/// Waits for packets.
pub(super) async fn get<U: Upper>(session: Addr<Session<U>>) -> Result<HttpResponse, EngineError> {
    let polled = session.send(OpenPoll).await.map_err(|_| EngineError::UnknownSid)??;
    let (number, answer) = match polled {
        Polled::Now(payload) => return Ok(text(payload)),
        Polled::Later { number, answer } => (number, answer),
    };
    let mut guard = PollGuard { session: Some(session), number };
    let payload = answer.await;
    guard.session = None;
    payload.map(text).map_err(|_| EngineError::UnknownSid)
}

/// Tells the session when its GET is dropped: the client hung up.
struct PollGuard<U: Upper> {
    session: Option<Addr<Session<U>>>,
    number: u64,
}

impl<U: Upper> Drop for PollGuard<U> {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            session.do_send(PollGone(self.number)); // at most one for each GET
        }
    }
}

/// Takes packets.
pub(super) async fn post<U: Upper>(
    engine: &Engine<U>,
    session: Addr<Session<U>>,
    body: Payload,
) -> Result<HttpResponse, EngineError> {
    session.send(PostBegin).await.map_err(|_| EngineError::UnknownSid)??;
    let mut guard = PostGuard { session: Some(session.clone()), gone: true };
    let limits = engine.limits();
    let read = tokio::time::timeout(limits.post_timeout, read(body, limits.max_payload)).await;
    let body = match read.unwrap_or(Err(EngineError::Timeout)) {
        Ok(body) => body,
        Err(error) => {
            guard.gone = false;
            return Err(error);
        }
    };
    guard.session = None;
    engine.metrics().bytes_received.add(body.len() as u64);
    session.send(PostBody(body)).await.map_err(|_| EngineError::UnknownSid)??;
    Ok(text("ok".into()))
}

/// Tells the session when its POST ends without a body.
struct PostGuard<U: Upper> {
    session: Option<Addr<Session<U>>>,
    gone: bool,
}

impl<U: Upper> Drop for PostGuard<U> {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            session.do_send(PostEnd { gone: self.gone }); // at most one for each POST
        }
    }
}

async fn read(mut body: Payload, max: usize) -> Result<ByteString, EngineError> {
    let mut bytes = BytesMut::new();
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(|_| EngineError::BadRequest)?;
        if bytes.len() + chunk.len() > max {
            return Err(EngineError::PayloadTooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    ByteString::try_from(bytes.freeze()).map_err(|_| EngineError::BadRequest)
}

fn text(payload: String) -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; charset=UTF-8").insert_header(("cache-control", "no-store")).body(payload)
}
