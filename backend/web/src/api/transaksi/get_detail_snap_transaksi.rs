//! `GET /scan/v1/transaksi/get_detail_snap_transaksi/{id}`: one purchase.

use actix_web::{HttpResponse, web};
use nyala_core::domain::receipt_number::ReceiptNumber;
use nyala_store::db::Store;

use crate::api::auth::customer::Customer;
use crate::api::snap::{self, RincianTransaksi, snap_sql};
use crate::http::answer::{Answer, ok};
use crate::http::error::AppError;

const ONE: &str = snap_sql!("WHERE t.id_customer_global = $1 AND t.no_nota = $2");

/// A purchase by its receipt number. 404 when it is not the customer's or never started (docs/contract.md §2).
#[utoipa::path(
    get, path = "/scan/v1/transaksi/get_detail_snap_transaksi/{id}", tag = "transaksi", security(("pelanggan" = [])),
    params(("id" = inline(ReceiptNumber), Path, description = "Receipt number")),
    responses((status = 200, body = Answer<RincianTransaksi>))
)]
pub async fn get_detail_snap_transaksi(
    store: web::Data<Store>,
    customer: Customer,
    id: web::Path<String>,
) -> Result<HttpResponse, AppError> {
    let found = snap::find(&store, ONE, customer.id, &id).await?;
    Ok(ok(found.ok_or(AppError::NotFound("Transaksi ini gagal dibuat"))?))
}
