//! HTTP long-polling (Engine.IO protocol, "HTTP long-polling").

use actix::Addr;
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse};
use bytestring::ByteString;

use crate::engine::{Engine, EngineError, Upper};
use crate::session::{OpenPoll, Opening, PollGone, Polled, PostBegin, PostBody, PostEnd, Session, next_request};

/// Opens a session.
pub(super) fn open<U: Upper>(engine: &Engine<U>, request: &HttpRequest) -> Result<HttpResponse, EngineError> {
    let peer = request.peer_addr();
    let opening = Opening { admission: engine.admit(request.headers(), peer)?, peer };
    Ok(text(engine.open_polling(opening)))
}

/// Serves a GET: waits for packets.
pub(super) async fn get<U: Upper>(session: Addr<Session<U>>) -> Result<HttpResponse, EngineError> {
    let number = next_request();
    // Created before the request starts, because the client may disconnect at any moment.
    let mut guard = PollGuard { session: Some(session.clone()), number };
    let polled = session.send(OpenPoll(number)).await.map_err(|_| EngineError::UnknownSid)??;
    let payload = match polled {
        Polled::Now(payload) => payload,
        Polled::Later(answer) => answer.await.map_err(|_| EngineError::UnknownSid)?,
    };
    guard.session = None;
    Ok(text(payload))
}

/// Notifies the session if its GET is dropped because the client disconnected.
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

/// Serves a POST: reads packets.
pub(super) async fn post<U: Upper>(
    engine: &Engine<U>,
    session: Addr<Session<U>>,
    request: &HttpRequest,
    body: Payload,
) -> Result<HttpResponse, EngineError> {
    let number = next_request();
    // Created before the request starts, because the client may disconnect at any moment.
    let mut guard = PostGuard { session: Some(session.clone()), number, gone: true };
    session.send(PostBegin(number)).await.map_err(|_| EngineError::UnknownSid)??;
    let limits = engine.limits();
    let read = tokio::time::timeout(limits.post_timeout, engine.config().bodies.read(request, body, limits.max_payload)).await;
    let bytes = match read.unwrap_or(Err(EngineError::Timeout)) {
        Ok(bytes) => bytes,
        Err(error) => {
            guard.gone = error == EngineError::BadRequest;
            return Err(error);
        }
    };
    engine.metrics().bytes_received.add(bytes.len() as u64);
    guard.gone = false;
    let body = ByteString::try_from(bytes).map_err(|_| EngineError::BadRequest)?;
    guard.session = None;
    session.send(PostBody(body)).await.map_err(|_| EngineError::UnknownSid)??;
    Ok(text("ok".into()))
}

/// Notifies the session if its POST ends without a body.
struct PostGuard<U: Upper> {
    session: Option<Addr<Session<U>>>,
    number: u64,
    gone: bool,
}

impl<U: Upper> Drop for PostGuard<U> {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            session.do_send(PostEnd { number: self.number, gone: self.gone }); // at most one for each POST
        }
    }
}

fn text(payload: String) -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; charset=UTF-8").insert_header(("cache-control", "no-store")).body(payload)
}
