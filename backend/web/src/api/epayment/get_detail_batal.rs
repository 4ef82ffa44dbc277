//! `GET /scan/v1/epayment/get_detail_batal/{id}`: a top-up that staff reversed.

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::TopUpId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::Store;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::auth::customer::Customer;
use crate::api::snap::OutletSummary;
use crate::http::answer::{Answer, ok};
use crate::http::error::AppError;

#[derive(Debug, Serialize, ToSchema)]
pub struct DetailBatal {
    /// A decimal number as text, as it is in the history's `ref_id`.
    #[schema(example = "42", pattern = "^[0-9]+$")]
    idpembelian_emoney: String,
    #[schema(value_type = String, format = DateTime)]
    waktu_batal: Timestamp,
    /// Whole rupiah taken from the balance.
    nominal_batal: i64,
    /// The reason, as the person who reversed it wrote it.
    alasan: String,
    outlet: OutletSummary,
}

const ONE: &str = "SELECT l.created_at, l.jumlah, l.alasan, o.nama, o.kota FROM ledger_transfer l JOIN outlet o USING (idoutlet) \
                   WHERE l.idpembelian_emoney = $1 AND l.kind = 'batal' AND l.id_customer_global = $2";

/// The reversal of a top-up by the top-up's number. 404 when it is not the customer's or was not reversed.
#[utoipa::path(
    get, path = "/scan/v1/epayment/get_detail_batal/{id}", tag = "epayment", security(("pelanggan" = [])),
    params(("id" = inline(TopUpId), Path, description = "idpembelian_emoney")),
    responses((status = 200, body = Answer<DetailBatal>))
)]
pub async fn get_detail_batal(
    store: web::Data<Store>,
    customer: Customer,
    id: web::Path<String>,
) -> Result<HttpResponse, AppError> {
    let unknown = AppError::NotFound("Transaksi ini tidak ditemukan");
    let Some(id) = TopUpId::parse(&id) else { return Err(unknown) };
    let client = store.get().await?;
    let stmt = client.prepare_cached(ONE).await?;
    let row = client.query_opt(&stmt, &[&id, &customer.id]).await?.ok_or(unknown)?;
    Ok(ok(DetailBatal {
        idpembelian_emoney: id.get().to_string(),
        waktu_batal: row.try_get(0)?,
        nominal_batal: row.try_get(1)?,
        alasan: row.try_get(2)?,
        outlet: OutletSummary { nama: row.try_get(3)?, kota: row.try_get(4)? },
    }))
}
