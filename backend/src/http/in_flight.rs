//! How many requests are being answered: a stop waits for them, and not for connections that merely stay open.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::ConnectionType;
use actix_web::middleware::Next;
use actix_web::{Error, web};
use bytes::Bytes;

use crate::app::AppState;

const LOOK_EVERY: Duration = Duration::from_millis(20);

#[derive(Debug, Clone, Default)]
pub struct InFlight(Arc<AtomicUsize>);

/// One request; it counts until this is dropped.
struct Request(InFlight);

impl InFlight {
    fn begin(&self) -> Request {
        self.0.fetch_add(1, SeqCst);
        Request(self.clone())
    }

    /// Returns at a moment at which nothing is being answered.
    pub async fn none(&self) {
        while self.0.load(SeqCst) > 0 {
            actix_web::rt::time::sleep(LOOK_EVERY).await;
        }
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, SeqCst);
    }
}

/// Counts a request until its answer has been handed to the connection, which a server that stops does not keep.
pub async fn middleware<B: MessageBody + 'static>(req: ServiceRequest, next: Next<B>) -> Result<ServiceResponse<Counted>, Error> {
    let state = req.app_data::<web::Data<AppState>>().cloned();
    let request = state.as_ref().map(|state| state.in_flight.begin());
    let mut res = next.call(req).await?;
    if state.is_some_and(|state| !state.is_ready()) {
        res.response_mut().head_mut().set_connection_type(ConnectionType::Close);
    }
    Ok(res.map_body(|_, body| Counted { body: body.boxed(), _request: request }))
}

/// A body that keeps its request counted.
pub struct Counted {
    body: BoxBody,
    _request: Option<Request>,
}

impl MessageBody for Counted {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_next(cx)
    }
}
