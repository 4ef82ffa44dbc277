//! `GET /scan/v1/epayment/get_detail_saldo_awal/{id}`: balance that the customer had in another system.

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::OpeningId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::Store;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::auth::customer::Customer;
use crate::api::snap::OutletSummary;
use crate::http::answer::{Answer, ok};
use crate::http::error::AppError;

#[derive(Debug, Serialize, ToSchema)]
pub struct DetailSaldoAwal {
    #[schema(value_type = i64)]
    idsaldo_awal: OpeningId,
    #[schema(value_type = String, format = DateTime)]
    waktu: Timestamp,
    /// Whole rupiah.
    jumlah: i64,
    outlet: OutletSummary,
}

const ONE: &str = "SELECT l.created_at, l.jumlah, o.nama, o.kota FROM ledger_transfer l JOIN outlet o USING (idoutlet) \
                   WHERE l.idsaldo_awal = $1 AND l.id_customer_global = $2";

/// An opening balance by its number. 404 when it is not the customer's.
#[utoipa::path(
    get, path = "/scan/v1/epayment/get_detail_saldo_awal/{id}", tag = "epayment", security(("pelanggan" = [])),
    params(("id" = inline(OpeningId), Path, description = "idsaldo_awal")),
    responses((status = 200, body = Answer<DetailSaldoAwal>))
)]
pub async fn get_detail_saldo_awal(
    store: web::Data<Store>,
    customer: Customer,
    id: web::Path<String>,
) -> Result<HttpResponse, AppError> {
    let unknown = AppError::NotFound("Transaksi ini tidak ditemukan");
    let Some(id) = OpeningId::parse(&id) else { return Err(unknown) };
    let client = store.get().await?;
    let stmt = client.prepare_cached(ONE).await?;
    let row = client.query_opt(&stmt, &[&id, &customer.id]).await?.ok_or(unknown)?;
    Ok(ok(DetailSaldoAwal {
        idsaldo_awal: id,
        waktu: row.try_get(0)?,
        jumlah: row.try_get(1)?,
        outlet: OutletSummary { nama: row.try_get(2)?, kota: row.try_get(3)? },
    }))
}
