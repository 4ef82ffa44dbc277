//! Security headers of every answer (design: money, security).

use actix_web::middleware::DefaultHeaders;

const CSP: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; \
                   img-src 'self' data: blob:; connect-src 'self' ws: wss:; frame-ancestors 'none'";

/// Names and values, in lower case.
pub const SECURITY: [(&str, &str); 4] = [
    ("content-security-policy", CSP),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "same-origin"),
    ("permissions-policy", "camera=(self)"),
];

pub fn security() -> DefaultHeaders {
    SECURITY.into_iter().fold(DefaultHeaders::new(), DefaultHeaders::add)
}
