//! `x-request-id` on every answer (contract §1), and in every log line of the request.

use std::time::Instant;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, web};
use tracing::Instrument;

use crate::app::AppState;

pub const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The id of this request; a sane one from a proxy is kept.
#[derive(Debug, Clone)]
pub struct RequestId(pub String);

pub async fn middleware<B: MessageBody>(req: ServiceRequest, next: Next<B>) -> Result<ServiceResponse<B>, Error> {
    let id = req
        .headers()
        .get(&HEADER)
        .and_then(|v| v.to_str().ok())
        .filter(|v| (8..=64).contains(&v.len()) && v.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'))
        .map_or_else(|| uuid::Uuid::new_v4().simple().to_string(), str::to_owned);
    req.extensions_mut().insert(RequestId(id.clone()));
    let started = Instant::now();
    let method = req.method().clone();
    let route = req.match_pattern().unwrap_or_else(|| "unmatched".to_owned());
    let state = req.app_data::<web::Data<AppState>>().cloned();
    let span = tracing::info_span!("http", request_id = %id, %method, path = %req.path());
    let in_span = span.clone();
    async move {
        let mut res = match next.call(req).await {
            Ok(res) => res,
            Err(e) => return Err(e),
        };
        if let Ok(value) = HeaderValue::from_str(&id) {
            res.headers_mut().insert(HEADER, value);
        }
        let status = res.status().as_u16();
        if let Some(state) = state {
            state.metrics.http(&route, &method, status, started.elapsed());
        }
        if status >= 500 {
            tracing::warn!(status, elapsed_ms = started.elapsed().as_millis(), "answered");
        } else {
            tracing::debug!(status, elapsed_ms = started.elapsed().as_millis(), "answered");
        }
        Ok(res)
    }
    .instrument(in_span)
    .await
}
