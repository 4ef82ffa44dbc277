//! `GET /scan/v1/outlet/{id}/mesin`: the machines of an outlet.

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::OutletId;
use nyala_machines::device::mqtt::driver::Mqtt;
use nyala_store::db::Store;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::auth::customer::Customer;
use crate::board::customers::{self, MesinPapan, OutletUmum};
use crate::http::answer::{Answer, Empty, ok};
use crate::http::error::AppError;

/// An outlet's machines.
#[derive(Debug, Serialize, ToSchema)]
pub struct PapanUmum {
    outlet: OutletUmum,
    /// Epoch milliseconds.
    server_time: i64,
    mesin: Vec<MesinPapan>,
}

pub const UNKNOWN: AppError = AppError::NotFound("outlet tidak ditemukan");

/// The machines of any outlet that has been opened.
#[utoipa::path(
    get, path = "/scan/v1/outlet/{id}/mesin", operation_id = "papan_umum", tag = "outlet", security(("pelanggan" = [])),
    params(("id" = inline(OutletId), Path)),
    responses((status = 200, body = Answer<PapanUmum>), (status = 404, body = Empty))
)]
pub async fn machines(
    store: web::Data<Store>,
    mqtt: web::Data<Mqtt>,
    _customer: Customer,
    id: web::Path<String>,
) -> Result<HttpResponse, AppError> {
    let id = OutletId::parse(&id).ok_or(UNKNOWN)?;
    let (client, now) = (store.get().await?, store.now());
    let board = customers::read(&client, &mqtt, &[id], now).await?.pop().ok_or(UNKNOWN)?;
    Ok(ok(PapanUmum { outlet: board.outlet, server_time: now.ms(), mesin: board.tiles }))
}
