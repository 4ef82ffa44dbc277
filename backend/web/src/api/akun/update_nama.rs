//! `POST /scan/v1/akun/update_nama` (docs/contract.md §1: `nama`).

use actix_web::{HttpResponse, web};
use nyala_core::domain::name::Name;
use nyala_store::db::Store;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::auth::customer::Customer;
use crate::http::answer::{Empty, done};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::FullName;

#[derive(Debug, Deserialize, ToSchema)]
pub struct UpdateNamaRequest {
    #[schema(value_type = FullName)]
    nama: String,
}

/// Changes the customer's name; `updated_at` stays, because it moves only with the password (docs/contract.md §2).
#[utoipa::path(
    post, path = "/scan/v1/akun/update_nama", tag = "akun", security(("pelanggan" = [])), request_body = UpdateNamaRequest,
    responses(
        (status = 200, body = Empty),
        (status = 400, body = Empty),
        (status = 401, body = Empty),
        (status = 422, description = "`Nama Akun Minimal 2 Kata`", body = Empty),
    )
)]
pub async fn update_nama(
    store: web::Data<Store>,
    customer: Customer,
    body: Json<UpdateNamaRequest>,
) -> Result<HttpResponse, AppError> {
    let name = Name::parse(&body.nama)?;
    let client = store.get().await?;
    let stmt = client.prepare_cached("UPDATE customer_global SET nama_awal = $2, nama_akhir = $3 WHERE id = $1").await?;
    client.execute(&stmt, &[&customer.id, &name.first, &name.last]).await?;
    Ok(done("Nama Berhasil Di Ubah"))
}
