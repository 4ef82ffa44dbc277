//! Scanning, buying and history (docs/product.md §7, `/v1/transaksi`).

pub mod ambil;
pub mod create_snap_transaksi;
pub mod get_detail_snap_hapus;
pub mod get_detail_snap_transaksi;
pub mod get_epayment;
pub mod get_layanan;
pub mod get_qrcode;
pub mod list_history;
pub mod masalah;
pub mod terakhir;

use actix_web::web::{self, ServiceConfig};

pub fn routes(cfg: &mut ServiceConfig) {
    cfg.route("/get_layanan", web::post().to(get_layanan::get_layanan))
        .route("/create_snap_transaksi", web::post().to(create_snap_transaksi::create_snap_transaksi))
        .route("/get_epayment/{id}", web::get().to(get_epayment::get_epayment))
        .route("/list_history", web::post().to(list_history::list_history))
        .route("/get_detail_snap_transaksi/{id}", web::get().to(get_detail_snap_transaksi::get_detail_snap_transaksi))
        .route("/get_detail_snap_hapus/{id}", web::get().to(get_detail_snap_hapus::get_detail_snap_hapus))
        .route("/get_qrcode", web::get().to(get_qrcode::get_qrcode))
        .route("/terakhir", web::get().to(terakhir::terakhir))
        .route("/ambil", web::post().to(ambil::ambil))
        .route("/masalah", web::post().to(masalah::masalah));
}
