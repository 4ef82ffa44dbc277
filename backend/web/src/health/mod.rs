//! For those who watch over the server: alive, ready, metrics. None needs a token. Whether it is ready anybody may ask; figures and
//! reasons are the operators' (`access.rs`).

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
