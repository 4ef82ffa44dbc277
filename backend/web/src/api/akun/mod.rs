//! The customer's own account (docs/product.md §2, Account).

pub mod data;
pub mod hapus;
pub mod pindah;
pub mod request_otp_password;
pub mod update_nama;
pub mod update_password;

use actix_web::web::{ServiceConfig, get, post};
use nyala_core::domain::id::CustomerId;
use nyala_core::domain::telp::Telp;
use nyala_store::db::Store;

use crate::http::error::AppError;

pub fn routes(cfg: &mut ServiceConfig) {
    cfg.route("/data", get().to(data::data))
        .route("/hapus", post().to(hapus::hapus))
        .route("/update_nama", post().to(update_nama::update_nama))
        .route("/request_otp_password", post().to(request_otp_password::request_otp_password))
        .route("/update_password", post().to(update_password::update_password))
        .route("/pindah", get().to(pindah::waits))
        .route("/pindah", post().to(pindah::pindah))
        .route("/pindah/kode", post().to(pindah::send_codes))
        .route("/pindah/tolak", post().to(pindah::refuse));
}

/// The customer's number and password hash.
async fn credentials(store: &Store, id: CustomerId) -> Result<(Telp, String), AppError> {
    let client = store.get().await?;
    let stmt = client.prepare_cached("SELECT telp, password_hash FROM customer_global WHERE id = $1").await?;
    let row = client.query_opt(&stmt, &[&id]).await?.ok_or(AppError::Unauthorized)?;
    Ok((Telp::from_stored(row.try_get(0)?), row.try_get(1)?))
}
