//! For those who watch over the server: alive, ready, metrics. None needs a token.

pub mod healthz;
pub mod metrics;
pub mod readyz;

use actix_web::web::{ServiceConfig, get};

pub fn routes(cfg: &mut ServiceConfig) {
    cfg.route("/healthz", get().to(healthz::healthz))
        .route("/readyz", get().to(readyz::readyz))
        .route("/metrics", get().to(metrics::metrics));
}
