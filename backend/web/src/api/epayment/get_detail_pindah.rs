//! `GET /scan/v1/epayment/get_detail_pindah/{id}`: balance that came with a new number.

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::MoveId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::Store;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::auth::customer::Customer;
use crate::http::answer::{Answer, ok};
use crate::http::error::AppError;

#[derive(Debug, Serialize, ToSchema)]
pub struct DetailPindah {
    #[schema(value_type = i64)]
    idpindah: MoveId,
    #[schema(value_type = String, format = DateTime)]
    waktu: Timestamp,
    /// The old number; the middle digits are hidden.
    #[schema(example = "0812••••7890")]
    dari: String,
    /// The new number; the middle digits are hidden.
    #[schema(example = "0813••••7891")]
    ke: String,
    /// Whole rupiah that came to all accounts of the customer.
    jumlah: i64,
}

const ONE: &str = "SELECT p.selesai_at, p.nomor_lama, p.nomor_baru, \
                   COALESCE((SELECT SUM(l.jumlah) FROM ledger_transfer l WHERE l.idpindah = p.id AND l.kind = 'pindah_masuk'), 0)::BIGINT \
                   FROM pindah p WHERE p.id = $1 AND p.dari = $2 AND p.selesai_at IS NOT NULL AND p.sebab IS NULL";

/// A move by its number. 404 when it is not the customer's, or has not happened.
#[utoipa::path(
    get, path = "/scan/v1/epayment/get_detail_pindah/{id}", tag = "epayment", security(("pelanggan" = [])),
    params(("id" = inline(MoveId), Path, description = "idpindah")),
    responses((status = 200, body = Answer<DetailPindah>))
)]
pub async fn get_detail_pindah(
    store: web::Data<Store>,
    customer: Customer,
    id: web::Path<String>,
) -> Result<HttpResponse, AppError> {
    let unknown = AppError::NotFound("Transaksi ini tidak ditemukan");
    let Some(id) = MoveId::parse(&id) else { return Err(unknown) };
    let client = store.get().await?;
    let stmt = client.prepare_cached(ONE).await?;
    let row = client.query_opt(&stmt, &[&id, &customer.id]).await?.ok_or(unknown)?;
    Ok(ok(DetailPindah {
        idpindah: id,
        waktu: row.try_get(0)?,
        dari: row.try_get(1)?,
        ke: row.try_get(2)?,
        jumlah: row.try_get(3)?,
    }))
}
