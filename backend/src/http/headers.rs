//! Security headers of every answer (design: money, security).

use actix_web::middleware::DefaultHeaders;

const CSP: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; \
                   img-src 'self' data: blob:; connect-src 'self' ws: wss:; frame-ancestors 'none'";

pub fn security() -> DefaultHeaders {
    DefaultHeaders::new()
        .add(("content-security-policy", CSP))
        .add(("x-content-type-options", "nosniff"))
        .add(("referrer-policy", "same-origin"))
        .add(("permissions-policy", "camera=(self)"))
}
