//! `GET /scan/v1/epayment/get_epayment/{id}`: one top-up.

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
pub struct DetailTopUp {
    /// A decimal number as text, as it is in the history's `ref_id`.
    #[schema(example = "42", pattern = "^[0-9]+$")]
    idpembelian_emoney: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// Whole rupiah paid at the cashier.
    harga_paket: i64,
    /// Whole rupiah added to the balance.
    quota: i64,
    nama_paket: String,
    nama_outlet: String,
    kota: String,
    outlet: OutletSummary,
    /// Whole rupiah: the balance right after it.
    saldo_akhir: i64,
}

const ONE: &str = "SELECT p.id::TEXT, p.created_at, p.harga_paket, p.quota, p.nama_paket, o.nama, o.kota, p.saldo_akhir \
                   FROM pembelian_emoney p JOIN outlet o USING (idoutlet) WHERE p.id = $1 AND p.id_customer_global = $2";

/// A top-up by its number. 404 when it is not the customer's.
#[utoipa::path(
    get, path = "/scan/v1/epayment/get_epayment/{id}", operation_id = "epayment_get_epayment", tag = "epayment", security(("pelanggan" = [])),
    params(("id" = inline(TopUpId), Path, description = "idpembelian_emoney")),
    responses((status = 200, body = Answer<DetailTopUp>))
)]
pub async fn get_epayment(store: web::Data<Store>, customer: Customer, id: web::Path<String>) -> Result<HttpResponse, AppError> {
    let unknown = AppError::NotFound("Transaksi ini tidak ditemukan");
    let Some(id) = TopUpId::parse(&id) else { return Err(unknown) };
    let client = store.get().await?;
    let stmt = client.prepare_cached(ONE).await?;
    let row = client.query_opt(&stmt, &[&id, &customer.id]).await?.ok_or(unknown)?;
    let (nama_outlet, kota): (String, String) = (row.try_get(5)?, row.try_get(6)?);
    Ok(ok(DetailTopUp {
        idpembelian_emoney: row.try_get(0)?,
        created_at: row.try_get(1)?,
        harga_paket: row.try_get(2)?,
        quota: row.try_get(3)?,
        nama_paket: row.try_get(4)?,
        outlet: OutletSummary { nama: nama_outlet.clone(), kota: kota.clone() },
        nama_outlet,
        kota,
        saldo_akhir: row.try_get(7)?,
    }))
}
