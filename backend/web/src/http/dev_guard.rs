//! Guard of the development routes: only requests made directly to this machine are accepted. A request through a proxy may come from
//! anyone. A request by host name is refused too, because a stranger's page could point its own name here (DNS rebinding). A proxy that
//! speaks HTTP/1.1, adds no header and uses an address cannot be distinguished from a browser (docs/operations.md).

use std::net::{Ipv4Addr, Ipv6Addr};

use actix_web::body::{BoxBody, EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Version;
use actix_web::http::header::{self, HeaderMap};
use actix_web::middleware::Next;
use actix_web::{Error, ResponseError};

use crate::http::error::AppError;

/// Headers that proxies add (RFC 7239, RFC 9110 section 7.6.3, and the usual names from before them).
const OF_PROXIES: [&str; 3] = ["forwarded", "via", "x-real-ip"];
const OF_PROXIES_BEGIN: &str = "x-forwarded-";

const REFUSED: AppError = AppError::NotAllowed("hanya untuk pengembangan, buka lewat localhost atau alamat IP tanpa proxy");

/// 403 unless the request came without a proxy and to `localhost` or an address.
pub fn check(version: Version, headers: &HeaderMap) -> Result<(), AppError> {
    let mut hosts = headers.get_all(header::HOST).peekable();
    let direct = hosts.peek().is_some() && hosts.all(|host| host.to_str().is_ok_and(is_local));
    if direct && !came_by_proxy(version, headers) { Ok(()) } else { Err(REFUSED) }
}

/// Whether a proxy sent the request, as far as this can be detected.
pub fn came_by_proxy(version: Version, headers: &HeaderMap) -> bool {
    // Browsers and curl speak HTTP/1.1. By default nginx speaks 1.0 to the server and then need not add a header.
    let old = version < Version::HTTP_11;
    old || headers.keys().any(|name| OF_PROXIES.contains(&name.as_str()) || name.as_str().starts_with(OF_PROXIES_BEGIN))
}

/// Wraps the development routes.
pub async fn middleware<B: MessageBody + 'static>(
    req: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B, BoxBody>>, Error> {
    match check(req.version(), req.headers()) {
        Ok(()) => Ok(next.call(req).await?.map_into_left_body()),
        Err(e) => Ok(req.into_response(e.error_response()).map_into_right_body()),
    }
}

/// Whether a `Host` is `localhost` or an address literal, with or without a port.
fn is_local(host: &str) -> bool {
    let port = |text: &str| text.is_empty() || text.strip_prefix(':').is_some_and(|p| p.parse::<u16>().is_ok());
    if let Some((address, rest)) = host.strip_prefix('[').and_then(|h| h.split_once(']')) {
        return address.parse::<Ipv6Addr>().is_ok() && port(rest);
    }
    let (name, rest) = host.split_at(host.find(':').unwrap_or(host.len()));
    (name.eq_ignore_ascii_case("localhost") || name.parse::<Ipv4Addr>().is_ok()) && port(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_local_or_a_name() {
        for local in ["localhost", "LocalHost:8080", "127.0.0.1:8080", "192.168.1.7", "[::1]", "[fd00::7]:8080"] {
            assert!(is_local(local), "{local}");
        }
        for name in [
            "",
            ":8080",
            "evil.example",
            "evil.example:8080",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "localhost.",
            "127.0.0.1:",
            "127.0.0.1:x",
            "2130706433",
            "0x7f.1",
            "::1",
            "[::1",
            "[localhost]",
            "[127.0.0.1]",
            "localhost:1:2",
        ] {
            assert!(!is_local(name), "{name}");
        }
    }
}
