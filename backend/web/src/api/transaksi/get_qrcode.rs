//! `GET /scan/v1/transaksi/get_qrcode`: the customer's code for the cashier (docs/product.md §2, Top Up).

use actix_web::{HttpResponse, web};
use nyala_identity::qr::customer::Pictures;
use nyala_store::db::Store;
use nyala_store::secrets::Keyring;

use crate::api::auth::customer::Customer;
use crate::http::answer::{Answer, ok};
use crate::http::error::AppError;

/// The QR code as a PNG in base64, without a `data:` prefix; valid for at least five minutes.
#[utoipa::path(
    get, path = "/scan/v1/transaksi/get_qrcode", tag = "transaksi", security(("pelanggan" = [])),
    responses((status = 200, body = Answer<String>))
)]
pub async fn get_qrcode(
    store: web::Data<Store>,
    keyring: web::Data<Keyring>,
    pictures: web::Data<Pictures>,
    customer: Customer,
) -> Result<HttpResponse, AppError> {
    let picture = pictures.of(&keyring.get(), customer.id, store.now()).map_err(AppError::internal)?;
    Ok(ok(&*picture))
}
