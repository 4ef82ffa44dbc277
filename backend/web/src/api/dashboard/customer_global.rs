//! `GET /scan/v1/dashboard/customer_global/{id}`: the account screen's data (docs/product.md §3, Account).

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::CustomerId;
use nyala_core::domain::telp::Telp;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::Store;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::auth::customer::Customer;
use crate::http::answer::{Answer, Empty, ok};
use crate::http::error::AppError;

#[derive(Debug, Serialize, ToSchema)]
pub struct CustomerGlobal {
    #[schema(value_type = i64)]
    id: CustomerId,
    nama_awal: String,
    nama_akhir: String,
    /// With the country code and no plus.
    #[schema(example = "6281234567890")]
    full_telp: String,
    /// Without the country code.
    #[schema(value_type = String, example = "81234567890")]
    telp: Telp,
    /// When the password was last changed.
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

/// The customer's own account; any other id is 404, whether it exists or not.
#[utoipa::path(
    get, path = "/scan/v1/dashboard/customer_global/{id_customer_global}", tag = "dashboard", security(("pelanggan" = [])),
    params(("id_customer_global" = inline(CustomerId), Path)),
    responses((status = 200, body = Answer<CustomerGlobal>), (status = 401, body = Empty), (status = 404, body = Empty))
)]
pub async fn customer_global(
    store: web::Data<Store>,
    customer: Customer,
    id: web::Path<String>,
) -> Result<HttpResponse, AppError> {
    const UNKNOWN: AppError = AppError::NotFound("akun tidak ditemukan");
    let id = CustomerId::parse(&id).filter(|id| *id == customer.id).ok_or(UNKNOWN)?;
    let client = store.get().await?;
    let stmt =
        client.prepare_cached("SELECT id, nama_awal, nama_akhir, telp, updated_at FROM customer_global WHERE id = $1").await?;
    let row = client.query_opt(&stmt, &[&id.get()]).await?.ok_or(UNKNOWN)?;
    let telp = Telp::from_stored(row.try_get(3)?);
    Ok(ok(CustomerGlobal {
        id: row.try_get(0)?,
        nama_awal: row.try_get(1)?,
        nama_akhir: row.try_get(2)?,
        full_telp: telp.full(),
        telp,
        updated_at: row.try_get(4)?,
    }))
}
