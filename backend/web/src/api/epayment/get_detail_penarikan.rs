//! `GET /scan/v1/epayment/get_detail_penarikan/{id}`: balance that was paid out in cash.

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::PayoutId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::Store;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::auth::customer::Customer;
use crate::api::snap::OutletSummary;
use crate::http::answer::{Answer, ok};
use crate::http::error::AppError;

#[derive(Debug, Serialize, ToSchema)]
pub struct DetailPenarikan {
    #[schema(value_type = i64)]
    idpenarikan: PayoutId,
    #[schema(value_type = String, format = DateTime)]
    waktu: Timestamp,
    /// Whole rupiah that were paid in cash.
    dibayar: i64,
    /// Whole rupiah of bonus that ended with it.
    hangus: i64,
    outlet: OutletSummary,
}

const ONE: &str = "SELECT p.created_at, p.dibayar, p.hangus, o.nama, o.kota FROM penarikan p JOIN outlet o USING (idoutlet) \
                   WHERE p.id = $1 AND p.id_customer_global = $2";

/// A payout by its number. 404 when it is not the customer's.
#[utoipa::path(
    get, path = "/scan/v1/epayment/get_detail_penarikan/{id}", tag = "epayment", security(("pelanggan" = [])),
    params(("id" = inline(PayoutId), Path, description = "idpenarikan")),
    responses((status = 200, body = Answer<DetailPenarikan>))
)]
pub async fn get_detail_penarikan(
    store: web::Data<Store>,
    customer: Customer,
    id: web::Path<String>,
) -> Result<HttpResponse, AppError> {
    let unknown = AppError::NotFound("Transaksi ini tidak ditemukan");
    let Some(id) = PayoutId::parse(&id) else { return Err(unknown) };
    let client = store.get().await?;
    let stmt = client.prepare_cached(ONE).await?;
    let row = client.query_opt(&stmt, &[&id, &customer.id]).await?.ok_or(unknown)?;
    Ok(ok(DetailPenarikan {
        idpenarikan: id,
        waktu: row.try_get(0)?,
        dibayar: row.try_get(1)?,
        hangus: row.try_get(2)?,
        outlet: OutletSummary { nama: row.try_get(3)?, kota: row.try_get(4)? },
    }))
}
