//! What the app reads after logging in.

pub mod customer_global;

use actix_web::web::{ServiceConfig, get};

pub fn routes(cfg: &mut ServiceConfig) {
    cfg.route("/customer_global/{id}", get().to(customer_global::customer_global));
}
