//! Websockets in an ordinary `HttpServer`: actix-web-actors carries them, as the bodies of the responses to their requests.
//!
//! A carrier is an actor on the thread of its request and knows nothing but frames; the session is what it is on every transport and
//! may live on another thread. What a client sends comes to it through a short channel, and is read no faster than the session takes it.
//! What the session sends waits for the carrier in an outbox, which is bounded.
//!
//! actix-http polls the body of a response only while the connection drains. So nothing but writing is left to the carrier: a task
//! beside it reads the request's payload, and tells a carrier that cannot write from one that has not come to it yet.

mod brake;
mod carrier;
mod frames;
mod outbox;
mod reader;
mod shared;

use std::sync::Arc;

use actix_http::header;
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse};
use actix_web_actors::ws;
use tokio::sync::mpsc;
use tokio_util::sync::PollSender;

use self::brake::Brake;
pub use self::brake::on_connect;
pub(super) use self::outbox::{Handover, Outbox};
pub(super) use self::reader::Inbox;
use self::shared::Shared;
use super::websocket::Arrival;
use crate::engine::{Engine, EngineError, Upper};

/// Messages of a client that wait for its session. Each may be as large as `max_payload`.
const MESSAGES: usize = 4;

/// Whether actix-http serves the connection as one that is upgraded.
pub(super) fn asks_for_websocket(request: &HttpRequest) -> bool {
    let upgrade = request.headers().get(header::UPGRADE).and_then(|value| value.to_str().ok());
    upgrade.is_some_and(|value| value.trim().eq_ignore_ascii_case("websocket"))
}

/// Answers an upgrade request.
pub(super) fn admit<U: Upper>(engine: &Engine<U>, request: &HttpRequest, payload: Payload) -> Result<HttpResponse, EngineError> {
    let entry = engine.entry(request.head(), request.peer_addr())?;
    let mut response = ws::handshake(request).map_err(|_| EngineError::BadRequest)?;
    let brake = request.conn_data::<Arc<Brake>>().map(Arc::downgrade);
    let shared = Shared::new(engine.metrics().clone(), brake);
    let (sender, receiver) = mpsc::channel(MESSAGES);
    let body = carrier::body(shared.clone());
    actix_web::rt::spawn(reader::read(shared.clone(), payload, PollSender::new(sender), engine.limits().max_payload));
    entry.enter(engine, Arrival::Carried(Handover::new(shared, receiver))).map_err(|_| EngineError::BadRequest)?;
    Ok(response.streaming(body))
}
