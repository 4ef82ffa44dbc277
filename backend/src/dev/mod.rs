//! Routes of development alone: they exist only when `dev.routes` is set, which production refuses.

pub mod mesin_fault;

use actix_web::web::{ServiceConfig, post};

pub fn routes(cfg: &mut ServiceConfig) {
    cfg.route("/mesin/{id}/fault", post().to(mesin_fault::mesin_fault));
}
