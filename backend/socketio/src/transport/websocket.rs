//! Websockets under `HttpServer`: the request's body is read into messages, the response's body is a bounded channel.

use actix::Addr;
use actix_http::ws::handshake;
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use tokio::sync::mpsc;

use crate::codec::{Decoder, close_frame, encode_frame, opcode};
use crate::engine::{Engine, EngineError, Sid, Upper};
use crate::session::{Attach, FromWebsocket, Opening, Session};

pub(super) async fn serve<U: Upper>(
    engine: &Engine<U>,
    request: &HttpRequest,
    body: Payload,
    sid: Option<Sid>,
) -> Result<HttpResponse, EngineError> {
    let mut response = handshake(request.head()).map_err(|_| EngineError::BadRequest)?;
    let (sender, receiver) = mpsc::channel::<Bytes>(engine.limits().max_queued_frames);
    let session = match sid {
        Some(sid) => engine.find(sid)?,
        None => {
            let opening = Opening {
                permit: engine.admit()?,
                peer: request.peer_addr(),
            };
            let (session, packet) = engine.open(opening, "[]");
            let _ = sender.try_send(encode_frame(opcode::TEXT, packet.as_bytes()));
            session
        }
    };
    let attach = Attach {
        sender: sender.clone(),
        first: sid.is_none(),
    };
    match session.send(attach).await {
        Ok(Ok(number)) => {
            actix_web::rt::spawn(pump(engine.clone(), body, session, number));
        }
        // A second websocket of a session: finish its handshake, then close it.
        _ => drop(sender.try_send(close_frame(1008))),
    }
    let frames = futures_util::stream::unfold(receiver, |mut frames| async move {
        frames
            .recv()
            .await
            .map(|frame| (Ok::<_, actix_web::Error>(frame), frames))
    });
    Ok(HttpResponse::from(
        response
            .body(actix_http::body::BodyStream::new(frames))
            .map_into_boxed_body(),
    ))
}

/// Reads messages to the session; it takes one before the next is read.
async fn pump<U: Upper>(
    engine: Engine<U>,
    mut body: Payload,
    session: Addr<Session<U>>,
    number: u64,
) {
    let (mut decoder, mut buffer) = (Decoder::new(engine.limits().max_payload), BytesMut::new());
    'read: while let Some(Ok(chunk)) = body.next().await {
        engine.metrics().bytes_received.add(chunk.len() as u64);
        buffer.extend_from_slice(&chunk);
        loop {
            match decoder.decode(&mut buffer) {
                Ok(Some(message)) => {
                    if session
                        .send(FromWebsocket(number, Some(message)))
                        .await
                        .is_err()
                    {
                        return;
                    }
                }
                Ok(None) => break,
                Err(_) => break 'read,
            }
        }
    }
    let _ = session.send(FromWebsocket(number, None)).await;
}
