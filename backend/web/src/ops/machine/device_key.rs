//! `POST /ops/v1/mesin/{id}/perangkat`: creates a key for a machine's device; it is shown once (supervisor and above).

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::MachineId;
use nyala_core::domain::right::Right;
use nyala_machines::device::mqtt::driver::Mqtt;
use nyala_machines::device::mqtt::keys::{self, By, DeviceEndpoint, DeviceLogin, RequestedKey};
use nyala_store::config::ServerSettings;
use nyala_store::db::Store;

use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::ops::people::key::Minimal;

/// Creates a key for a machine's device. An existing key stays valid until the new one is used for the first time.
#[utoipa::path(
    post, path = "/ops/v1/mesin/{id}/perangkat", tag = "operator", security(("operator" = []), ("session" = [])),
    params(("id" = inline(MachineId), Path)),
    responses(
        (status = 200, body = Answer<DeviceLogin>), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
        (status = 409, body = Empty, description = "Its driver is not mqtt"),
        (status = 422, body = Empty, description = "`mqtt.public_host` is not set"),
    )
)]
pub async fn mesin_perangkat(
    by: Minimal<{ Right::MesinPerangkat.rank() }>,
    store: web::Data<Store>,
    settings: web::Data<ServerSettings>,
    mqtt: web::Data<Mqtt>,
    id: web::Path<String>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let id = MachineId::parse(&id).ok_or(AppError::MachineNotFound)?;
    let principal = operator.principal();
    let by = By { principal: &principal, now: store.now() };
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let endpoint = DeviceEndpoint::of(&settings, mqtt.trusted().map_err(AppError::internal)?)?;
    let login = keys::make(&tx, (id, operator.scope), RequestedKey::Either, &endpoint, by).await?;
    tx.commit().await?;
    Ok(answer::ok(login))
}
