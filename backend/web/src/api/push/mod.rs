//! Browsers that are notified when the wash ends (docs/contract.md §8).

pub mod berhenti;
pub mod kunci;
pub mod langganan;

use actix_web::web::{ServiceConfig, get, post};

pub fn routes(cfg: &mut ServiceConfig) {
    cfg.route("/kunci", get().to(kunci::kunci))
        .route("/langganan", post().to(langganan::langganan))
        .route("/berhenti", post().to(berhenti::berhenti));
}
