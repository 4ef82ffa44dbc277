//! Counts the requests whose response is not sent yet, so that a shutdown waits only for them. While the server stops, each response
//! closes its connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::{Error, web};
use nyala_machines::machines::Machines;
use tokio::sync::Notify;

use super::kept_body::KeptBody;

/// One instance for the whole process. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct InFlight(Arc<InFlightCounts>);

#[derive(Debug, Default)]
struct InFlightCounts {
    requests: AtomicUsize,
    none_left: Notify,
}

impl InFlight {
    fn enter(&self) -> Guard {
        self.0.requests.fetch_add(1, Ordering::SeqCst);
        Guard(self.clone())
    }

    /// Returns when no request is in flight.
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

/// A request that counts as in flight until this is dropped.
#[derive(Debug)]
pub struct Guard(InFlight);

impl Drop for Guard {
    fn drop(&mut self) {
        if self.0.0.requests.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.0.none_left.notify_waiters();
        }
    }
}

/// The outermost layer except for the request id's.
pub async fn middleware<B: MessageBody + 'static>(
    req: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<KeptBody<B, Option<Guard>>>, Error> {
    let guard = req.app_data::<web::Data<InFlight>>().map(|requests| requests.enter());
    let machines = req.app_data::<web::Data<Machines>>().cloned();
    let mut res = next.call(req).await?;
    if machines.is_some_and(|machines| !machines.are_open()) {
        res.response_mut().head_mut().set_connection_type(actix_http::ConnectionType::Close);
    }
    Ok(res.map_body(|_, body| KeptBody::new(body, guard)))
}
