//! Websockets in an ordinary `HttpServer`: actix-web-actors carries them as the bodies of the responses to their requests.
//!
//! A carrier is an actor on the thread of its request, and handles only frames. The session is the same as on every transport, and may
//! be on another thread. It receives the client's messages through a short channel, which is read no faster than the session takes
//! them. Its own frames wait for the carrier in a bounded outbox.
//!
//! actix-http polls the body of a response only while the connection drains. So the carrier only writes. A separate task reads the
//! request's payload, and detects whether a carrier cannot write or has just not run yet.

mod carrier;
mod closer;
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

use self::closer::ConnectionCloser;
pub use self::closer::on_connect;
pub(super) use self::outbox::{Handover, Outbox};
pub(super) use self::reader::Inbox;
use self::shared::Shared;
use super::websocket::Arrival;
use crate::engine::{Engine, EngineError, Upper};

/// Maximum number of a client's messages that wait for its session. Each may be as large as `max_payload`.
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
    let closer = request.conn_data::<Arc<ConnectionCloser>>().map(Arc::downgrade);
    let shared = Shared::new(engine.metrics().clone(), closer);
    let (sender, receiver) = mpsc::channel(MESSAGES);
    let body = carrier::body(shared.clone());
    actix_web::rt::spawn(reader::read(shared.clone(), payload, PollSender::new(sender), engine.limits().max_payload));
    entry.enter(engine, Arrival::Carried(Handover::new(shared, receiver))).map_err(|_| EngineError::BadRequest)?;
    Ok(response.streaming(body))
}
