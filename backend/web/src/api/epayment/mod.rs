//! E-Pay accounts, top-ups and refunds (docs/product.md §7).

pub mod get_detail_batal;
pub mod get_detail_penarikan;
pub mod get_detail_pindah;
pub mod get_detail_refund;
pub mod get_detail_saldo_awal;
pub mod get_epayment;
pub mod qris;
pub mod tagihan;

use actix_web::web::{self, ServiceConfig};

pub fn routes(cfg: &mut ServiceConfig) {
    cfg.route("/get_epayment/{id}", web::get().to(get_epayment::get_epayment))
        .route("/get_detail_batal/{id}", web::get().to(get_detail_batal::get_detail_batal))
        .route("/get_detail_penarikan/{id}", web::get().to(get_detail_penarikan::get_detail_penarikan))
        .route("/get_detail_pindah/{id}", web::get().to(get_detail_pindah::get_detail_pindah))
        .route("/get_detail_refund/{id}", web::get().to(get_detail_refund::get_detail_refund))
        .route("/get_detail_saldo_awal/{id}", web::get().to(get_detail_saldo_awal::get_detail_saldo_awal))
        .route("/qris", web::get().to(qris::outlets))
        .route("/tagihan", web::post().to(tagihan::make))
        .route("/tagihan/{id}", web::get().to(tagihan::one))
        .route("/tagihan/{id}/batal", web::post().to(tagihan::cancel));
}
