//! Scanning, buying and looking back (product §7, `/v1/transaksi`).

pub mod create_snap_transaksi;

use actix_web::web::{self, ServiceConfig};

pub fn routes(cfg: &mut ServiceConfig) {
    cfg.service(web::scope("/transaksi").route("/create_snap_transaksi", web::post().to(create_snap_transaksi::create_snap_transaksi)));
}
