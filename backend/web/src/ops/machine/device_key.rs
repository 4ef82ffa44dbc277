//! `POST /ops/v1/mesin/{id}/perangkat`: creates a key for a machine's device; it is shown once (supervisor and above).
//! `POST /ops/v1/outlet/{id}/kunci_mesin`: creates those of a whole outlet, for machines whose key was never used (owner).

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::right::Right;
use nyala_machines::device::mqtt::driver::Mqtt;
use nyala_machines::device::mqtt::keys::{self, By, DeviceEndpoint, DeviceLogin, RequestedKey};
use nyala_store::config::ServerSettings;
use nyala_store::db::Store;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::ops::people::key::Minimal;
use crate::ops::scope;

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

/// Keys of an outlet's machines. No `Debug`, so that they reach no log.
#[derive(Serialize, ToSchema)]
pub struct KunciMesin {
    kunci: Vec<DeviceLogin>,
}

/// Creates keys for an outlet's machines of the driver mqtt without a key in use. Again: new ones, the former are ended.
#[utoipa::path(
    post, path = "/ops/v1/outlet/{id}/kunci_mesin", tag = "operator", security(("operator" = []), ("session" = [])),
    params(("id" = inline(OutletId), Path)),
    responses(
        (status = 200, body = Answer<KunciMesin>), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
        (status = 422, body = Empty, description = "`mqtt.public_host` is not set"),
    )
)]
pub async fn kunci_mesin(
    by: Minimal<{ Right::OutletKunciMesin.rank() }>,
    store: web::Data<Store>,
    settings: web::Data<ServerSettings>,
    mqtt: web::Data<Mqtt>,
    id: web::Path<String>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let principal = operator.principal();
    let by = By { principal: &principal, now: store.now() };
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let idoutlet = scope::named_outlet(&tx, &operator, &id).await?.idoutlet;
    let endpoint = DeviceEndpoint::of(&settings, mqtt.trusted().map_err(AppError::internal)?)?;
    let kunci = keys::make_unused(&tx, idoutlet, &endpoint, by).await?;
    tx.commit().await?;
    Ok(answer::ok(KunciMesin { kunci }))
}
