//! Development routes. They exist only when `dev.routes` is set, which production refuses. `http::dev_guard` admits only requests made directly to
//! this machine.

pub mod mesin_fault;
pub mod whatsapp;

use actix_web::web::{ServiceConfig, get, post};

pub fn routes(cfg: &mut ServiceConfig) {
    cfg.route("/whatsapp", get().to(whatsapp::whatsapp)).route("/mesin/{id}/fault", post().to(mesin_fault::mesin_fault));
}
