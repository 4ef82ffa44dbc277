//! Middleware that reports to the connection when a request begins, is read and ends.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use actix_http::{ConnectionType, Payload};
use actix_web::body::{BoxBody, EitherBody, MessageBody};
use actix_web::dev::{Payload as Body, ServiceRequest, ServiceResponse};
use actix_web::error::PayloadError;
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::web::Bytes;
use actix_web::{Error, HttpMessage as _, ResponseError};
use futures_util::{FutureExt as _, Stream, StreamExt as _};

use super::Intake;
use crate::http::error::AppError;
use crate::http::kept_body::KeptBody;

/// Path on which the app's socket polls.
const POLLING: &str = "/socket.io/";

/// A request that has begun; it counts as answered when this is dropped.
pub struct Begun {
    intake: Intake,
    /// Kept until the request ends. Without a reader for the body, the parser would discard the rest of it without limit.
    body: Option<Pieces>,
}

impl Begun {
    /// Whether the whole body was received.
    fn whole(&self) -> bool {
        self.body.as_ref().is_none_or(|body| body.0.borrow().ended)
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.intake.answered(self.whole());
    }
}

/// A body whose reader lets the connection read more.
#[derive(Clone)]
struct Pieces(Rc<RefCell<Reading>>);

struct Reading {
    payload: Body,
    intake: Intake,
    ended: bool,
}

impl Stream for Pieces {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let reading = &mut *self.0.borrow_mut();
        if reading.ended {
            return Poll::Ready(None);
        }
        let next = reading.payload.poll_next_unpin(cx);
        match &next {
            Poll::Pending => reading.intake.taken(),
            Poll::Ready(Some(Ok(_))) => {}
            Poll::Ready(_) => reading.ended = true,
        }
        next
    }
}

/// The outermost layer. A response that comes before the end of the request's body closes the connection.
pub async fn middleware<B: MessageBody + 'static>(
    mut req: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<KeptBody<B, Option<Begun>>>, Error> {
    let intake = req.request().conn_data::<Intake>().cloned();
    let begun = intake.map(|intake| {
        intake.begin();
        let body = match req.take_payload() {
            Payload::None => None,
            payload => Some(Pieces(Rc::new(RefCell::new(Reading { payload, intake: intake.clone(), ended: false })))),
        };
        if let Some(body) = body.clone() {
            req.set_payload(Payload::Stream { payload: Box::pin(body) });
        }
        Begun { intake, body }
    });
    if let Some(begun) = &begun {
        begun.intake.sent().await;
    }
    let mut res = next.call(req).await?;
    if let Some(begun) = &begun {
        // A part of the body that has arrived and was not used is no reason to close.
        let mut unread = begun.body.clone();
        while let Some(Some(Some(Ok(_)))) = unread.as_mut().map(|body| body.next().now_or_never()) {}
        if !begun.whole() {
            res.response_mut().head_mut().set_connection_type(ConnectionType::Close);
        }
    }
    Ok(res.map_body(|_, body| KeptBody::new(body, begun)))
}

/// Refuses bodies of GET and HEAD, because no route reads them (RFC 9110 §9.3.1: such a body has no meaning, and may be refused). A
/// route that accepts neither method still responds with 405.
pub async fn refuse_unread_bodies<B: MessageBody + 'static>(
    req: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B, BoxBody>>, Error> {
    if ![Method::GET, Method::HEAD].contains(req.method()) || matches!(req.parts().1, Payload::None) {
        return next.call(req).await.map(ServiceResponse::map_into_left_body);
    }
    let text = format!("permintaan {} tidak boleh membawa isi; kirim tanpa Content-Length dan Transfer-Encoding", req.method());
    let refusal = AppError::bad_input(text).error_response();
    // A polling request would keep the body for as long as it waits.
    if req.path().starts_with(POLLING) {
        return Ok(req.into_response(refusal).map_into_right_body());
    }
    let res = next.call(req).await?;
    if res.status() == StatusCode::METHOD_NOT_ALLOWED {
        return Ok(res.map_into_left_body());
    }
    Ok(res.into_response(refusal).map_into_right_body())
}
