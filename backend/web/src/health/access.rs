//! Access to operators' information: `/metrics`, and the reasons why the server is not ready.

use std::sync::atomic::{AtomicBool, Ordering};

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use nyala_store::config::HttpSettings;

use crate::http::answer::{done, with_status};
use crate::http::dev_guard::came_by_proxy;
use crate::http::error::AppError;

const REFUSED: AppError = AppError::NotAllowed(
    "/metrics hanya untuk mesin ini sendiri, alamat di http.metrics_from, atau lewat port http.metrics_port, dan tidak lewat proxy",
);

/// Whether a refusal was logged: a Prometheus that an upgrade has locked out repeats its request every few seconds.
static WARNED: AtomicBool = AtomicBool::new(false);

/// Loopback and `http.metrics_from`. A proxy on this machine is loopback, too, so requests that come through a proxy are refused.
pub fn is_operator(req: &HttpRequest, http: &HttpSettings) -> bool {
    let listed = req.peer_addr().is_some_and(|peer| {
        let ip = peer.ip().to_canonical();
        ip.is_loopback() || http.metrics_from.iter().any(|block| block.contains(ip))
    });
    listed && !came_by_proxy(req.version(), req.headers())
}

/// 200, or 503 with the reason for an operator and `shown` for everybody else.
pub fn respond(req: &HttpRequest, http: &HttpSettings, why_not: Option<&str>, shown: &str) -> HttpResponse {
    why_not.map_or_else(
        || done("OK"),
        |why| with_status(StatusCode::SERVICE_UNAVAILABLE, if is_operator(req, http) { why } else { shown }, None::<()>),
    )
}

/// The refusal of a request for `/metrics`, with the settings that would allow it.
pub fn refuse(req: &HttpRequest) -> AppError {
    if !WARNED.swap(true, Ordering::Relaxed) {
        let peer = req.peer_addr().map(|peer| peer.ip().to_canonical().to_string()).unwrap_or_default();
        let by_proxy = came_by_proxy(req.version(), req.headers());
        tracing::warn!(
            peer,
            by_proxy,
            "/metrics was refused; if that is your Prometheus, name its address in http.metrics_from, or have it ask at http.metrics_port; \
             what a proxy passes on is always refused"
        );
    }
    REFUSED
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use nyala_core::domain::address::Block;

    use super::*;

    #[test]
    fn loopback_and_listed_addresses_are_operators() {
        let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config");
        let mut http = nyala_store::config::ServerSettings::load(Some(&dir), &[]).unwrap().http;
        let may = |http: &HttpSettings, peer: &str| {
            is_operator(&TestRequest::get().peer_addr(peer.parse().unwrap()).to_http_request(), http)
        };
        for (peer, allowed) in [("127.0.0.1:1", true), ("127.8.0.9:1", true), ("[::1]:1", true), ("[::ffff:127.0.0.1]:1", true)] {
            assert_eq!(may(&http, peer), allowed, "{peer}");
        }
        let strangers = ["10.0.0.7:1", "[::ffff:10.0.0.7]:1", "[2001:db8::7]:1", "192.0.2.1:1"];
        assert!(strangers.iter().all(|peer| !may(&http, peer)));
        http.metrics_from = vec![Block::parse("10.0.0.0/24").unwrap(), Block::parse("2001:db8::7").unwrap()];
        assert!(strangers[..3].iter().all(|peer| may(&http, peer)));
        assert!(!may(&http, strangers[3]) && !may(&http, "10.0.1.7:1") && !may(&http, "[2001:db8::8]:1"));
    }
}
