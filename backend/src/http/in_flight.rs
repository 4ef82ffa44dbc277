//! Counts the requests whose answer is not out yet, so that a stop waits for them and for nothing else. While the server stops,
//! each answer ends its connection.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use actix_web::body::{BodySize, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::web::Bytes;
use actix_web::{Error, web};
use pin_project_lite::pin_project;
use tokio::sync::Notify;

use crate::app::AppState;

/// Requests of the whole process. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct InFlight(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    requests: AtomicUsize,
    none_left: Notify,
}

impl InFlight {
    fn enter(&self) -> Guard {
        self.0.requests.fetch_add(1, Ordering::SeqCst);
        Guard(self.clone())
    }

    /// Returns once no request is in flight.
    pub async fn none(&self) {
        loop {
            let left = self.0.none_left.notified();
            if self.0.requests.load(Ordering::SeqCst) == 0 {
                return;
            }
            left.await;
        }
    }
}

#[derive(Debug)]
struct Guard(InFlight);

impl Drop for Guard {
    fn drop(&mut self) {
        if self.0.0.requests.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.0.none_left.notify_waiters();
        }
    }
}

pin_project! {
    /// A body that counts as in flight until it is sent or given up.
    pub struct Counted<B> {
        #[pin]
        body: B,
        _guard: Option<Guard>,
    }
}

impl<B: MessageBody> MessageBody for Counted<B> {
    type Error = B::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, B::Error>>> {
        self.project().body.poll_next(cx)
    }
}

/// The outermost layer but the request id's.
pub async fn middleware<B: MessageBody + 'static>(
    req: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<Counted<B>>, Error> {
    let state = req.app_data::<web::Data<AppState>>().cloned();
    let guard = state.as_ref().map(|s| s.in_flight.enter());
    let mut res = next.call(req).await?;
    if state.is_some_and(|s| !s.is_ready()) {
        res.response_mut().head_mut().set_connection_type(actix_http::ConnectionType::Close);
    }
    Ok(res.map_body(|_, body| Counted { body, _guard: guard }))
}
