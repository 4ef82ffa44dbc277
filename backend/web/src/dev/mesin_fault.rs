//! `POST /dev/mesin/{id}/fault`: gives a simulated machine a fault, or repairs it (docs/contract.md §5).

use actix_web::{HttpResponse, web};
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::MachineId;
use nyala_machines::device::record::record_presence;
use nyala_machines::device::sim::{Mode, Sim};
use nyala_machines::device::{self, ReceivedEvent};
use nyala_machines::machines::Machines;
use nyala_store::db::Store;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::http::answer::{self, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;

#[derive(Debug, Deserialize, ToSchema)]
pub struct Fault {
    mode: Mode,
}

/// Sets how a simulated machine behaves.
#[utoipa::path(
    post, path = "/dev/mesin/{id}/fault", tag = "development", request_body = Fault, params(("id" = inline(MachineId), Path)),
    responses((status = 200, body = Empty), (status = 400, body = Empty), (status = 403, description = "Sent by a page of another site, through a proxy or by a name", body = Empty), (status = 404, body = Empty),
        (status = 422, description = "The machine is not simulated", body = Empty))
)]
pub async fn mesin_fault(
    store: web::Data<Store>,
    machines: web::Data<Machines>,
    sim: web::Data<Sim>,
    id: web::Path<String>,
    body: Json<Fault>,
) -> Result<HttpResponse, AppError> {
    let idmesin = MachineId::parse(&id).ok_or(AppError::MachineNotFound)?;
    let location = machines.find(idmesin).await?;
    if location.driver != DriverKind::Sim {
        return Err(AppError::Unprocessable("hanya mesin simulasi yang dapat diberi gangguan"));
    }
    let now = store.now();
    let outcome = sim.set_mode(idmesin, body.mode, now);
    device::deliver(&machines, ReceivedEvent { from: location, event: outcome.clone(), at: now })?;
    // Stored before the response, so that the caller can read it at once.
    record_presence(&store, idmesin, &outcome).await?;
    Ok(answer::done("OK"))
}
