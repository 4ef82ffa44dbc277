//! Pages of other sites change nothing here: a browser says of which site the page is that sends a request, and one that is
//! neither ours nor listed (`http.allowed_origins`) is refused. What says nothing is no browser of today, and let through: tokens
//! travel in a header, which a foreign page cannot know. (Fetch Metadata Request Headers, W3C; Fetch standard, `Origin`.)

use std::sync::atomic::{AtomicBool, Ordering};

use actix_socketio::Origins;
use actix_web::body::{BoxBody, EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::ORIGIN;
use actix_web::middleware::Next;
use actix_web::{Error, ResponseError, web};

use super::client_ip;
use super::error::AppError;
use crate::config::HttpSettings;

/// The methods that change nothing (RFC 9110 §9.2.1).
const SAFE: [Method; 3] = [Method::GET, Method::HEAD, Method::OPTIONS];

/// Whether an operator was told: a wrong proxy refuses everybody, a foreign page may ask as often as it likes.
static WARNED: AtomicBool = AtomicBool::new(false);

/// The origins whose pages may use the calls and the sockets, beside the server's own.
pub fn origins(http: &HttpSettings) -> Origins {
    match http.allowed_origins.as_slice() {
        [] => Origins::SameOrigin,
        list => Origins::List(list.iter().map(|origin| origin.as_str().to_owned()).collect()),
    }
}

/// Inside of the CORS layer, so that a listed page may read why. Socket.IO asks the same rule by itself.
pub async fn middleware<B: MessageBody + 'static>(
    req: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B, BoxBody>>, Error> {
    if is_foreign(&req) {
        let refusal = AppError::CrossSite.error_response();
        return Ok(req.into_response(refusal).map_into_right_body());
    }
    next.call(req).await.map(ServiceResponse::map_into_left_body)
}

fn is_foreign(req: &ServiceRequest) -> bool {
    let (Some(http), Some(origins)) = (req.app_data::<web::Data<HttpSettings>>(), req.app_data::<web::Data<Origins>>()) else {
        return false;
    };
    if SAFE.contains(req.method()) || req.path().starts_with("/socket.io") {
        return false;
    }
    let site = client_ip::asked_site(req.request().peer_addr(), req.headers(), &http.trusted_proxies);
    let foreign = !origins.allow(req.headers(), site);
    if foreign && !WARNED.swap(true, Ordering::Relaxed) {
        let origin = req.headers().get(ORIGIN).map_or("(not told)".into(), |v| String::from_utf8_lossy(v.as_bytes()));
        tracing::warn!(
            %origin,
            host = site.host.unwrap_or_default(),
            "a page of another site was refused; if it is the app's own, your proxy must pass `Host` on unchanged, or name it in \
             X-Forwarded-Host and be one of http.trusted_proxies; other pages that may call are named in http.allowed_origins"
        );
    }
    foreign
}
