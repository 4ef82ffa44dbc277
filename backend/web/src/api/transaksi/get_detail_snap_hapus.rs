//! `GET /scan/v1/transaksi/get_detail_snap_hapus/{id}`: a purchase that an operator deleted.

use actix_web::{HttpResponse, web};
use nyala_core::domain::receipt_number::ReceiptNumber;
use nyala_store::db::Store;

use crate::api::auth::customer::Customer;
use crate::api::snap::{self, RincianTransaksi, snap_sql};
use crate::http::answer::{Answer, ok};
use crate::http::error::AppError;

const DELETED: &str = snap_sql!("WHERE t.id_customer_global = $1 AND t.no_nota = $2 AND t.dihapus_at IS NOT NULL");

/// The deleted purchase with `isDelete: true` and its full price. 404 when it is not the customer's or was not deleted.
#[utoipa::path(
    get, path = "/scan/v1/transaksi/get_detail_snap_hapus/{id}", tag = "transaksi", security(("pelanggan" = [])),
    params(("id" = inline(ReceiptNumber), Path, description = "Receipt number")),
    responses((status = 200, body = Answer<RincianTransaksi>))
)]
pub async fn get_detail_snap_hapus(
    store: web::Data<Store>,
    customer: Customer,
    id: web::Path<String>,
) -> Result<HttpResponse, AppError> {
    let found = snap::find(&store, DELETED, customer.id, &id).await?;
    let mut found = found.ok_or(AppError::NotFound("Transaksi ini tidak ditemukan"))?;
    found.snap.is_delete = true;
    Ok(ok(found))
}
