//! `GET /scan/v1/transaksi/get_qrcode`: the customer's code for the cashier (docs/product.md §2, Top Up).

use actix_web::{HttpResponse, web};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::api::auth::customer::Customer;
use crate::db::Store;
use crate::http::answer::{Answer, ok};
use crate::http::error::AppError;
use crate::qr;
use crate::secrets::Secrets;

/// The code as a PNG in base64, without a `data:` prefix; good for 5 minutes.
#[utoipa::path(
    get, path = "/scan/v1/transaksi/get_qrcode", tag = "transaksi", security(("pelanggan" = [])),
    responses((status = 200, body = Answer<String>))
)]
pub async fn get_qrcode(
    store: web::Data<Store>,
    secrets: web::Data<Secrets>,
    customer: Customer,
) -> Result<HttpResponse, AppError> {
    let text = qr::customer::make(&secrets, customer.id, store.now());
    Ok(ok(STANDARD.encode(qr::png::render(&text).map_err(AppError::internal)?)))
}
