//! Refuses requests from pages of other sites: a browser sends the site of the page with each request. A site that is neither ours nor
//! listed (`http.allowed_origins`) is refused. A request without this information does not come from a current browser and is accepted:
//! tokens are sent in a header, which a foreign page cannot know. (Fetch Metadata Request Headers, W3C; Fetch standard, `Origin`.)

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use actix_socketio::{Origins, Site};
use actix_web::body::{BoxBody, EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{HeaderMap, ORIGIN};
use actix_web::middleware::Next;
use actix_web::{Error, ResponseError, web};
use nyala_store::config::HttpSettings;

use super::client_ip;
use super::error::AppError;

/// The methods that change nothing (RFC 9110 §9.2.1).
const SAFE: [Method; 3] = [Method::GET, Method::HEAD, Method::OPTIONS];

/// Whether the log has a warning: a misconfigured proxy causes a refusal of every request, and a foreign page may repeat its requests
/// without limit.
static WARNED: AtomicBool = AtomicBool::new(false);
/// The same for a page that `http.forwarded_host` would accept.
static WARNED_OF_FORWARDED_HOST: AtomicBool = AtomicBool::new(false);

/// The origins whose pages may use the calls and the sockets, beside the server's own.
pub fn origins(http: &HttpSettings) -> Origins {
    match http.allowed_origins.as_slice() {
        [] => Origins::SameOrigin,
        list => Origins::List(list.iter().map(|origin| origin.as_str().to_owned()).collect()),
    }
}

/// Runs inside the CORS layer, so that a listed page can read the reason of a refusal. Socket.IO applies the same rule itself.
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
    let peer = req.request().peer_addr();
    let site = client_ip::asked_site(peer, req.headers(), http);
    let foreign = !origins.allow(req.headers(), site);
    if foreign {
        warn_of_forwarded_host(peer, req.headers(), http, origins);
    }
    if foreign && !WARNED.swap(true, Ordering::Relaxed) {
        let origin = req.headers().get(ORIGIN).map_or("(not told)".into(), |v| String::from_utf8_lossy(v.as_bytes()));
        tracing::warn!(
            %origin,
            host = site.host.unwrap_or_default(),
            "a page of another site was refused; if it is the app's own, your proxy must pass `Host` on unchanged, or name it in \
             X-Forwarded-Host, be one of http.trusted_proxies and have http.forwarded_host = true; other pages that may call are named in \
             http.allowed_origins"
        );
    }
    foreign
}

/// Warns of an app whose proxy changes `Host`, and which an upgrade may have locked out. `X-Forwarded-Host` would allow its pages, but
/// is ignored unless `http.forwarded_host` is set.
fn warn_of_forwarded_host(peer: Option<SocketAddr>, headers: &HeaderMap, http: &HttpSettings, origins: &Origins) {
    if http.forwarded_host {
        return;
    }
    let accepting = HttpSettings { forwarded_host: true, ..http.clone() };
    let site = client_ip::asked_site(peer, headers, &accepting);
    if origins.allow(headers, site) && !WARNED_OF_FORWARDED_HOST.swap(true, Ordering::Relaxed) {
        tracing::warn!(
            forwarded_host = site.host.unwrap_or_default(),
            "a page was refused (403) that X-Forwarded-Host of a trusted proxy would let in; if your proxy has to change `Host` and sets that \
             header itself, set http.forwarded_host = true, otherwise have it pass `Host` on unchanged"
        );
    }
}

/// The site that a socket's request was sent to, for the sockets' own check. Its refusals are logged like those of this middleware.
pub fn socket_site<'r>(peer: Option<SocketAddr>, headers: &'r HeaderMap, http: &HttpSettings, origins: &Origins) -> Site<'r> {
    let site = client_ip::asked_site(peer, headers, http);
    if !origins.allow(headers, site) {
        warn_of_forwarded_host(peer, headers, http, origins);
    }
    site
}
