//! Headers of every response: what its page may load, which sites may frame it, and that it is not cached.

use actix_web::Error;
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderMap, HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::web;
use nyala_store::config::HttpSettings;

use super::client_ip;

/// Names and values, in lower case.
const SECURITY: [(&str, &str); 3] =
    [("x-content-type-options", "nosniff"), ("referrer-policy", "same-origin"), ("permissions-policy", "camera=(self)")];
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
/// The longest host name, its dots and a port (RFC 1035 §2.3.4).
const HOST_MAX_BYTES: usize = 255 + 6;

pub async fn middleware<B: MessageBody + 'static>(req: ServiceRequest, next: Next<B>) -> Result<ServiceResponse<B>, Error> {
    let site = |http: &web::Data<HttpSettings>| client_ip::asked_site(req.request().peer_addr(), req.headers(), http).host;
    let host = req.app_data().and_then(site).map(str::to_owned);
    let mut res = next.call(req).await?;
    add(res.headers_mut(), host.as_deref());
    Ok(res)
}

/// Adds the headers that the response does not have yet, for a request to `host`. A response that may be cached sets its own header.
pub fn add(headers: &mut HeaderMap, host: Option<&str>) {
    for (name, value) in SECURITY {
        add_one(headers, HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    add_one(headers, CACHE_CONTROL, NO_STORE);
    if let Ok(policy) = HeaderValue::from_str(&content_security_policy(host)) {
        add_one(headers, CONTENT_SECURITY_POLICY, policy);
    }
}

fn add_one(headers: &mut HeaderMap, name: HeaderName, value: HeaderValue) {
    if !headers.contains_key(&name) {
        headers.insert(name, value);
    }
}

/// Content Security Policy Level 3. `'self'` includes sockets of the same host, except in browsers before Safari 15.4; for them the host
/// is named.
fn content_security_policy(host: Option<&str>) -> String {
    let sockets = host.filter(|host| is_host(host)).map(|host| format!(" ws://{host} wss://{host}")).unwrap_or_default();
    format!(
        "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; \
         connect-src 'self'{sockets}; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
}

/// Whether the policy can contain it: a name or an IPv4 address, and a port. An IPv6 address cannot be used.
fn is_host(host: &str) -> bool {
    !host.is_empty()
        && host.len() <= HOST_MAX_BYTES
        && host.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'-' || b == b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_host_gets_into_the_policy() {
        assert!(
            content_security_policy(Some("cuci.example:8443")).contains("; connect-src 'self' ws://cuci.example:8443 wss://")
        );
        for bad in ["", "a; script-src *", "a b", "*", "[::1]:8080", "a,b", "'self'", &"a".repeat(300)] {
            assert!(content_security_policy(Some(bad)).contains("; connect-src 'self'; "), "{bad}");
        }
        assert!(content_security_policy(None).contains("; connect-src 'self'; "));
    }

    #[test]
    fn headers_set_by_the_response_are_kept() {
        let mut headers = HeaderMap::new();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        add(&mut headers, None);
        assert_eq!(headers.get(CACHE_CONTROL).unwrap(), "no-cache");
        assert_eq!(headers.get("x-content-type-options").unwrap(), "nosniff");
    }
}
