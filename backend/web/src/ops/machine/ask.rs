//! `POST /ops/v1/mesin/{id}/tanya`: asks a machine's device, and gives its tile after the answer (every role).

use std::time::Duration;

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::right::Right;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::machine::Input;
use nyala_machines::device;
use nyala_machines::machines::{Location, Machines};
use nyala_store::db::Store;

use crate::board::tile::Tile;
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::live::staff_board::StaffBoards;
use crate::ops::people::key::Minimal;

/// How long the device has time to answer.
const WITHIN: Duration = Duration::from_secs(3);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Asks a machine's device what it runs. It moves no money itself; the answer has its usual effects.
#[utoipa::path(
    post, path = "/ops/v1/mesin/{id}/tanya", operation_id = "ask_mesin", tag = "papan", security(("operator" = []), ("session" = [])),
    params(("id" = inline(MachineId), Path)),
    responses(
        (status = 200, body = Answer<Tile>), (status = 401, body = Empty), (status = 404, body = Empty),
        (status = 504, body = Empty, description = "`mesin belum menjawab` within 3 s"),
    )
)]
pub async fn ask(
    by: Minimal<{ Right::MesinTanya.rank() }>,
    store: web::Data<Store>,
    machines: web::Data<Machines>,
    boards: web::Data<StaffBoards>,
    id: web::Path<String>,
) -> Result<HttpResponse, AppError> {
    const FIND: &str = "
        SELECT idoutlet FROM mesin
        WHERE idmesin = $1 AND aktif AND ($2::BIGINT IS NULL OR idowner = $2) AND ($3::BIGINT IS NULL OR idoutlet = $3)";
    let Minimal(operator) = by;
    let id = MachineId::parse(&id).ok_or(AppError::MachineNotFound)?;
    let idoutlet: OutletId = {
        let client = store.get().await?;
        let stmt = client.prepare_cached(FIND).await?;
        let row = client.query_opt(&stmt, &[&id, &operator.scope.owner, &operator.scope.outlet]).await?;
        row.ok_or(AppError::MachineNotFound)?.try_get(0)?
    };
    let location = machines.find(id).await?;
    let asked_at = store.now();
    machines.send(&location, Input::QueryDevice)?;
    if !tokio::time::timeout(WITHIN, answers(&machines, location, asked_at)).await.unwrap_or(false) {
        return Err(AppError::DeviceSilent);
    }
    let tile = boards.tile(idoutlet, id).await?.ok_or(AppError::MachineNotFound)?;
    Ok(answer::ok(tile.for_role(operator.role)))
}

/// Returns when the device has answered, or cannot be reached. A device at another server is asked through it.
async fn answers(machines: &Machines, location: Location, asked_at: Timestamp) -> bool {
    if let Some(ready) = device::is_ready(machines, location).await {
        return ready;
    }
    while machines.last_device_message_at(location.idmesin).is_none_or(|at| at < asked_at) {
        tokio::time::sleep(LOOK_EVERY).await;
    }
    true
}
