//! `GET /ops/v1/mesin/{id}/rincian`: a machine's tile with its history, its cycles and its device (every role).

use actix_web::{HttpResponse, web};
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::MachineId;
use nyala_core::domain::role::{ANYBODY, Role};
use nyala_core::domain::timestamp::Timestamp;
use nyala_machines::device;
use nyala_machines::device::mqtt::driver::Mqtt;
use nyala_machines::machines::{Location, Machines};
use nyala_store::db::Store;
use serde::Serialize;
use utoipa::ToSchema;

use crate::board::detail::{KoinMesin, Of, PerangkatMesin, Riwayat, Siklus, coins, cycles, device as reported, events};
use crate::board::tile::Tile;
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::live::staff_board::StaffBoards;
use crate::ops::people::key::Minimal;

use super::start_by::Menyala;

/// A device that was heard here within this time is not asked about at another server.
const HEARD_WITHIN_MS: i64 = 60_000;

/// A machine's tile with all that is known of it.
#[derive(Debug, Serialize, ToSchema)]
pub struct Rincian {
    #[serde(flatten)]
    tile: Tile,
    /// The newest 20 events, the newest first.
    riwayat: Vec<Riwayat>,
    siklus: Siklus,
    menyala: Menyala,
    /// Rupiah of a coin that falls into it; null for a technician.
    #[schema(required)]
    nilai_koin: Option<i32>,
    /// Null: its board counts none, or a technician asks.
    #[schema(required)]
    koin: Option<KoinMesin>,
    /// Null for a simulated machine.
    #[schema(required)]
    perangkat: Option<PerangkatMesin>,
}

/// A machine in detail.
#[utoipa::path(
    get, path = "/ops/v1/mesin/{id}/rincian", operation_id = "rincian_mesin", tag = "papan", security(("operator" = []), ("session" = [])),
    params(("id" = inline(MachineId), Path)),
    responses((status = 200, body = Answer<Rincian>), (status = 401, body = Empty), (status = 404, body = Empty))
)]
pub async fn detail(
    Minimal(operator): Minimal<ANYBODY>,
    store: web::Data<Store>,
    machines: web::Data<Machines>,
    mqtt: web::Data<Mqtt>,
    boards: web::Data<StaffBoards>,
    id: web::Path<String>,
) -> Result<HttpResponse, AppError> {
    const FIND: &str = "
        SELECT m.idoutlet, m.driver, m.online, o.zona, o.hari_mulai FROM mesin m JOIN outlet o USING (idoutlet)
        WHERE m.idmesin = $1 AND m.aktif AND ($2::BIGINT IS NULL OR m.idowner = $2) AND ($3::BIGINT IS NULL OR m.idoutlet = $3)";
    let id = MachineId::parse(&id).ok_or(AppError::MachineNotFound)?;
    let (of, online): (Of, bool) = {
        let client = store.get().await?;
        let stmt = client.prepare_cached(FIND).await?;
        let row = client.query_opt(&stmt, &[&id, &operator.scope.owner, &operator.scope.outlet]).await?;
        let row = row.ok_or(AppError::MachineNotFound)?;
        (Of::row(id, &row, store.now())?, row.try_get("online")?)
    };
    let heard_at =
        if online && of.driver == DriverKind::Mqtt { heard_elsewhere(&machines, &mqtt, &of, &store).await } else { None };
    let tile = boards.tile(of.idoutlet, id).await?.ok_or(AppError::MachineNotFound)?.for_role(operator.role);
    let client = store.get().await?;
    let perangkat = match of.driver {
        DriverKind::Sim => None,
        DriverKind::Mqtt => Some(reported(&client, &of, mqtt.signal(id), heard_at).await?),
    };
    let technician = operator.role == Role::Technician;
    let (riwayat, siklus) = (events(&client, &of, !technician).await?, cycles(&client, &of).await?);
    let (menyala, nilai_koin) = Menyala::read(&client, id).await?;
    let nilai_koin = (!technician).then_some(nilai_koin);
    let koin = if technician { None } else { coins(&client, &of).await? };
    Ok(answer::ok(Rincian { tile, riwayat, siklus, menyala, nilai_koin, koin, perangkat }))
}

/// The present moment, when a device answers the other server that it is connected to.
async fn heard_elsewhere(machines: &Machines, mqtt: &Mqtt, of: &Of, store: &Store) -> Option<Timestamp> {
    let is_here = mqtt.signal(of.idmesin).is_some_and(|signal| signal.heard_at.ms_until(of.now) < HEARD_WITHIN_MS);
    if is_here || machines.ownership().is_alone() {
        return None;
    }
    let location = Location { idmesin: of.idmesin, idoutlet: of.idoutlet, driver: of.driver };
    device::is_ready(machines, location).await.filter(|answers| *answers).map(|_| store.now())
}
