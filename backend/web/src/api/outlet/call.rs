//! `POST /scan/v1/outlet/{id}/panggil`, `GET /scan/v1/panggil`, `POST /scan/v1/panggil/berhenti`: the customer waits for a machine, and is called.

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::OutletId;
use nyala_core::domain::machine_kind::MachineKind;
use nyala_machines::device::mqtt::driver::Mqtt;
use nyala_store::db::Store;
use serde::Deserialize;
use utoipa::ToSchema;

use super::machines::UNKNOWN;
use crate::api::auth::customer::Customer;
use crate::calls::own::{self, Panggilan};
use crate::http::answer::{Answer, Empty, done, ok};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::live::boards::Boards;
use crate::live::customer_board::PublicBoard;

#[derive(Debug, Deserialize, ToSchema)]
pub struct Panggil {
    jenis: MachineKind,
}

/// Waits for a machine of a kind, two hours at most. The same again gives the same call.
#[utoipa::path(
    post, path = "/scan/v1/outlet/{id}/panggil", tag = "outlet", security(("pelanggan" = [])), params(("id" = inline(OutletId), Path)),
    request_body = Panggil,
    responses(
        (status = 200, body = Answer<Panggilan>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 404, body = Empty, description = "`outlet tidak ditemukan`, `jenis mesin tidak ada`"),
        (status = 409, body = Empty, description = "`ada mesin yang siap`, `masih ada panggilan lain`, `outlet sedang tutup`, `antrean penuh`"),
    )
)]
pub async fn panggil(
    store: web::Data<Store>,
    mqtt: web::Data<Mqtt>,
    customer: Customer,
    id: web::Path<String>,
    body: Json<Panggil>,
) -> Result<HttpResponse, AppError> {
    let id = OutletId::parse(&id).ok_or(UNKNOWN)?;
    let mut client = store.get().await?;
    Ok(ok(own::add(&mut client, &mqtt, customer.id, (id, body.jenis), store.now()).await?))
}

/// The customer's present call, or null.
#[utoipa::path(
    get, path = "/scan/v1/panggil", operation_id = "panggilan_saya", tag = "outlet", security(("pelanggan" = [])),
    responses((status = 200, body = Answer<Option<Panggilan>>))
)]
pub async fn panggilan(store: web::Data<Store>, customer: Customer) -> Result<HttpResponse, AppError> {
    let client = store.get().await?;
    Ok(ok(own::get(&*client, customer.id, store.now()).await?))
}

/// Ends the customer's call, if there is one.
#[utoipa::path(
    post, path = "/scan/v1/panggil/berhenti", operation_id = "panggil_berhenti", tag = "outlet", security(("pelanggan" = [])),
    responses((status = 200, body = Empty), (status = 401, body = Empty))
)]
pub async fn berhenti(
    store: web::Data<Store>,
    boards: web::Data<Boards<PublicBoard>>,
    customer: Customer,
) -> Result<HttpResponse, AppError> {
    let client = store.get().await?;
    if let Some(idoutlet) = own::end(&client, customer.id, store.now()).await? {
        boards.changed(idoutlet);
    }
    Ok(done("Panggilan dihentikan"))
}
