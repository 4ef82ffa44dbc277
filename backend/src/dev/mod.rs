//! Routes of development alone: they exist only when `dev.routes` is set, which production refuses.

pub mod whatsapp;

use actix_web::web::{ServiceConfig, get};

pub fn routes(cfg: &mut ServiceConfig) {
    cfg.route("/whatsapp", get().to(whatsapp::whatsapp));
}
