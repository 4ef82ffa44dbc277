//! `GET /scan/v1/epayment/get_detail_refund/{id}`: money returned to a wallet, also for a purchase that never started.

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::Id;
use nyala_core::domain::receipt_number::ReceiptNumber;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::Store;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::auth::customer::Customer;
use crate::http::answer::{Answer, ok};
use crate::http::error::AppError;

#[derive(Debug, Deserialize, IntoParams)]
pub struct Which {
    /// The history row's `entri`; without it, the newest refund of the purchase.
    #[param(value_type = Id, required = false, inline)]
    entri: Option<Id>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct DetailRefund {
    /// The receipt number.
    #[schema(example = "SLF261120180530123", pattern = "^SLF[0-9]{15}$")]
    idtransaksi: String,
    #[schema(value_type = String, format = DateTime)]
    waktu_refund: Timestamp,
    /// Whole rupiah.
    nominal_refund: i64,
}

/// Two index look-ups (`gerak_sekali`, `ledger_refund`) instead of one query that no index supports.
const ONE: &str = "SELECT t.no_nota, l.created_at, l.jumlah FROM snap_transaksi t JOIN LATERAL ( \
                     SELECT id, created_at, jumlah FROM ledger_transfer WHERE idtransaksi = t.id AND kind = 'void' \
                     UNION ALL SELECT id, created_at, jumlah FROM ledger_transfer WHERE idtransaksi = t.id AND kind = 'refund' \
                   ) l ON TRUE WHERE t.id_customer_global = $1 AND t.no_nota = $2 AND ($3::BIGINT IS NULL OR l.id = $3) \
                   ORDER BY l.id DESC LIMIT 1";

/// A refund by the receipt number of its purchase. 404 when the purchase is not the customer's or nothing was refunded.
#[utoipa::path(
    get, path = "/scan/v1/epayment/get_detail_refund/{id}", tag = "epayment", security(("pelanggan" = [])),
    params(("id" = inline(ReceiptNumber), Path, description = "Receipt number"), Which),
    responses((status = 200, body = Answer<DetailRefund>))
)]
pub async fn get_detail_refund(
    store: web::Data<Store>,
    customer: Customer,
    id: web::Path<String>,
    which: web::Query<Which>,
) -> Result<HttpResponse, AppError> {
    let unknown = AppError::NotFound("Transaksi ini tidak ditemukan");
    let Some(receipt_number) = ReceiptNumber::parse(&id) else { return Err(unknown) };
    let client = store.get().await?;
    let stmt = client.prepare_cached(ONE).await?;
    let row = client.query_opt(&stmt, &[&customer.id, &receipt_number.as_str(), &which.entri]).await?.ok_or(unknown)?;
    Ok(ok(DetailRefund { idtransaksi: row.try_get(0)?, waktu_refund: row.try_get(1)?, nominal_refund: row.try_get(2)? }))
}
