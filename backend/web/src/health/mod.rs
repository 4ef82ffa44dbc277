//! Endpoints for monitoring: alive, ready, metrics. None needs a token. Any client may ask whether the server is ready; figures and
//! reasons are only for operators (`access.rs`).

mod access;
pub mod healthz;
pub mod metrics;
pub mod readyz;
pub mod reasons;

use actix_web::web::{ServiceConfig, get};

pub fn routes(cfg: &mut ServiceConfig) {
    cfg.route("/healthz", get().to(healthz::healthz))
        .route("/readyz", get().to(readyz::readyz))
        .route("/metrics", get().to(metrics::metrics));
}
