//! The outermost layer. It sets `x-request-id` on every response (docs/contract.md §1) and in every log line of the request. It counts
//! each response, and makes an envelope for errors that no other layer has handled, including panics.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, HttpResponse, ResponseError, web};
use futures_util::FutureExt;
use nyala_store::admission::Overloaded;
use tracing::Instrument;

use super::error::AppError;
use super::headers;
use super::metrics::HttpMetrics;

pub const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The id of this request; a valid one from a proxy is kept.
#[derive(Debug, Clone)]
pub struct RequestId(pub String);

pub async fn middleware<B: MessageBody + 'static>(mut req: ServiceRequest, next: Next<B>) -> Result<ServiceResponse<B>, Error> {
    let id = sane_id(&req).map_or_else(|| uuid::Uuid::new_v4().simple().to_string(), str::to_owned);
    req.extensions_mut().insert(RequestId(id.clone()));
    let method = req.method().clone();
    if method == Method::HEAD && !req.path().starts_with("/socket.io") {
        // Every GET of ours also serves HEAD: the connection itself omits the body (RFC 9110 §9.3.2).
        req.head_mut().method = Method::GET;
    }
    let route = req.match_pattern().unwrap_or_else(|| "unmatched".to_owned());
    let metrics = req.app_data::<web::Data<HttpMetrics>>().cloned();
    // At the level of errors, so that no `log.filter` removes it.
    let span = tracing::error_span!("http", request_id = %id, %method, path = %without_numbers(req.path()), nota = tracing::field::Empty);
    async move {
        let started = Instant::now();
        let answered = match AssertUnwindSafe(async { next.call(req).await }).catch_unwind().await {
            Ok(Ok(mut res)) => {
                if let Ok(value) = HeaderValue::from_str(&id) {
                    res.headers_mut().insert(HEADER, value);
                }
                Ok(res)
            }
            Ok(Err(source)) => Err(Uncaught { id, source }),
            // The panic hook has logged the message and the location.
            Err(_) => Err(Uncaught { id, source: AppError::internal("the request's handler panicked").into() }),
        };
        let status = answered.as_ref().map_or_else(Uncaught::status_code, |res| res.status()).as_u16();
        if let Some(metrics) = metrics {
            metrics.answered(&route, &method, status, started.elapsed());
        }
        let elapsed_ms = started.elapsed().as_millis();
        let is_overload = answered.as_ref().is_ok_and(|res| res.response().extensions().contains::<Overloaded>());
        if status >= 500 && !is_overload {
            tracing::warn!(status, elapsed_ms, "answered");
        } else {
            tracing::debug!(status, elapsed_ms, "answered");
        }
        Ok(answered?)
    }
    .instrument(span)
    .await
}

/// Hides numbers: a page's path may hold a customer's phone number, which must not be in a log. Ids are shorter.
fn without_numbers(path: &str) -> String {
    const TELP_DIGITS: usize = 7;
    let mut kept = String::with_capacity(path.len());
    for part in path.split_inclusive(|c: char| !c.is_ascii_digit()) {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        kept += if digits >= TELP_DIGITS { "***" } else { &part[..digits] };
        kept += &part[digits..];
    }
    kept
}

fn sane_id(req: &ServiceRequest) -> Option<&str> {
    let given = req.headers().get(&HEADER)?.to_str().ok()?;
    let sane = (8..=64).contains(&given.len()) && given.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    sane.then_some(given)
}

/// An error that no inner layer has handled, with all headers.
#[derive(Debug)]
struct Uncaught {
    id: String,
    source: Error,
}

impl std::fmt::Display for Uncaught {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.source.fmt(f)
    }
}

impl ResponseError for Uncaught {
    fn status_code(&self) -> StatusCode {
        self.source.as_response_error().status_code()
    }

    fn error_response(&self) -> HttpResponse {
        let mut res = self.source.error_response();
        headers::add(res.headers_mut(), None);
        if let Ok(value) = HeaderValue::from_str(&self.id) {
            res.headers_mut().insert(HEADER, value);
        }
        res
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use actix_web::body::to_bytes;
    use actix_web::middleware::from_fn;
    use actix_web::{App, test};
    use nyala_store::config::{LogFormat, LogSettings};
    use nyala_store::telemetry::subscriber;
    use tracing::subscriber::DefaultGuard;

    use super::*;

    /// Keeps the logged text.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Kept {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    /// Collects this thread's log until the guard is dropped. Every test of the middleware needs a subscriber: tracing decides for all threads
    /// whether a span is enabled when the first of them reaches it.
    fn keep(format: LogFormat, filter: &str) -> (Kept, DefaultGuard) {
        let kept = Kept::default();
        let writer = kept.clone();
        let log = LogSettings { format, filter: filter.to_owned() };
        (kept, tracing::subscriber::set_default(subscriber(&log, move || writer.clone(), false).unwrap()))
    }

    async fn logged(format: LogFormat, filter: &str) -> String {
        let (kept, _here) = keep(format, filter);
        let handler = || async {
            tracing::warn!(machine = 7, "something odd");
            HttpResponse::Ok().finish()
        };
        let app = test::init_service(App::new().wrap(from_fn(middleware)).route("/x", web::get().to(handler))).await;
        test::call_service(&app, test::TestRequest::get().uri("/x").insert_header((HEADER, "abcdef-0123")).to_request()).await;
        kept.text()
    }

    #[actix_web::test]
    async fn a_json_line_is_json_and_has_the_request_id() {
        let text = logged(LogFormat::Json, "warn").await;
        let line: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!((&line["message"], &line["level"], &line["machine"]), (&"something odd".into(), &"WARN".into(), &7.into()));
        assert_eq!((&line["span"]["request_id"], &line["span"]["path"]), (&"abcdef-0123".into(), &"/x".into()));
    }

    #[actix_web::test]
    async fn a_line_for_people_has_it_too() {
        let text = logged(LogFormat::Pretty, "info").await;
        assert!(text.contains("something odd") && text.contains("abcdef-0123"), "{text}");
    }

    #[::core::prelude::v1::test]
    fn a_number_in_a_path_is_not_logged() {
        assert_eq!(without_numbers("/otp/81234567890?x=1"), "/otp/***?x=1");
        assert_eq!(without_numbers("/ops/v1/mesin/123456/stop"), "/ops/v1/mesin/123456/stop");
    }

    async fn broken() -> HttpResponse {
        panic!("on purpose")
    }

    #[actix_web::test]
    async fn a_panic_is_a_500_envelope_with_every_header() {
        let _here = keep(LogFormat::Pretty, "info");
        let app = App::new().wrap(from_fn(headers::middleware)).wrap(from_fn(middleware)).route("/", web::get().to(broken));
        let app = test::init_service(app).await;
        let req = test::TestRequest::get().insert_header((HEADER, "0123456789abcdef")).to_request();
        let res = test::try_call_service(&app, req).await.expect_err("goes past every layer").error_response();
        assert_eq!(res.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(res.headers().get(HEADER).unwrap(), "0123456789abcdef");
        assert!(res.headers().contains_key("content-security-policy"));
        let body = to_bytes(res.into_body()).await.unwrap();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body, serde_json::json!({"status": 500, "message": "terjadi kesalahan sistem, coba lagi", "data": null}));
    }
}
