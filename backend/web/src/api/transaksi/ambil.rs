//! `POST /scan/v1/transaksi/ambil`: the customer has fetched the laundry (docs/contract.md §2).

use actix_web::{HttpResponse, web};
use nyala_core::domain::receipt_number::ReceiptNumber;
use nyala_store::db::Store;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::auth::customer::Customer;
use crate::http::answer::{Empty, done};
use crate::http::error::AppError;
use crate::http::json::Json;

#[derive(Debug, Deserialize, ToSchema)]
pub struct Ambil {
    id: ReceiptNumber,
}

/// Only the first time is stored. $1 customer, $2 receipt, $3 now.
const FETCH: &str = "
WITH t AS (
    SELECT id, finished_at IS NOT NULL AS over FROM snap_transaksi WHERE id_customer_global = $1 AND no_nota = $2
        AND state NOT IN ('REFUSED', 'EXPIRED')
), fetched AS (
    UPDATE snap_transaksi s SET diambil_at = $3 FROM t WHERE s.id = t.id AND t.over AND s.diambil_at IS NULL
)
SELECT over FROM t";

/// Ends the reminder: the machine is empty. 404 when the purchase is not the customer's or never started, 409 while it has not ended.
#[utoipa::path(
    post, path = "/scan/v1/transaksi/ambil", tag = "transaksi", security(("pelanggan" = [])), request_body = Ambil,
    responses(
        (status = 200, body = Empty),
        (status = 400, body = Empty),
        (status = 401, body = Empty),
        (status = 404, description = "`Transaksi ini gagal dibuat`", body = Empty),
        (status = 409, description = "`cucian belum selesai`", body = Empty),
    )
)]
pub async fn ambil(store: web::Data<Store>, customer: Customer, body: Json<Ambil>) -> Result<HttpResponse, AppError> {
    let client = store.get().await?;
    let stmt = client.prepare_cached(FETCH).await?;
    let row = client.query_opt(&stmt, &[&customer.id, &body.id.as_str(), &store.now()]).await?;
    let over: bool = row.ok_or(AppError::NotFound("Transaksi ini gagal dibuat"))?.try_get(0)?;
    if over { Ok(done("Cucian sudah diambil")) } else { Err(AppError::Conflict("cucian belum selesai")) }
}
