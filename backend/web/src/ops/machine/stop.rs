//! `POST /ops/v1/mesin/{id}/stop`: stops a running machine and moves no money (every role).

use std::time::Duration;

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::{MachineId, PurchaseId};
use nyala_core::domain::right::Right;
use nyala_core::domain::text;
use nyala_core::machine::{Input, Outcome};
use nyala_core::purchase::times::{ANSWER_WAIT_MS, LOOK_EVERY_MS};
use nyala_identity::staff::operator::Operator;
use nyala_machines::machines::{Location, Machines};
use nyala_store::db::Store;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::http::answer::{self, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::Reason;
use crate::ops::people::key::Minimal;

#[derive(Debug, Deserialize, ToSchema)]
pub struct StopRequest {
    #[schema(value_type = Reason)]
    alasan: String,
}

/// The stop and its audit row. The time of the first request is stored with the purchase, or with the machine if its cycle has no open
/// purchase. From then on the stop is retried until the cycle ends.
const REQUEST: &str = "
WITH m AS (
    SELECT idmesin, idoutlet, driver, cara FROM mesin
    WHERE idmesin = $1 AND ($2::BIGINT IS NULL OR idowner = $2) AND ($3::BIGINT IS NULL OR idoutlet = $3)
), t AS (
    UPDATE snap_transaksi t SET stop_requested_at = COALESCE(t.stop_requested_at, $4) FROM m
    WHERE t.idmesin = m.idmesin AND t.state = 'RUNNING' AND m.cara = 'relai' RETURNING t.id
), u AS (
    UPDATE mesin SET jalan_stop_at = COALESCE(jalan_stop_at, $4) FROM m
    WHERE mesin.idmesin = m.idmesin AND m.cara = 'relai' AND jalan_cmd_id IS NOT NULL AND NOT EXISTS (SELECT FROM t) RETURNING jalan_cmd_id
), a AS (
    INSERT INTO audit_log (aktor, aksi, objek, isi, idoutlet, created_at)
    SELECT $5, 'mesin.stop', 'mesin:' || $1, said.isi || jsonb_build_object('alasan', $6::TEXT), m.idoutlet, $4
    FROM m, (SELECT jsonb_build_object('idtransaksi', t.id) AS isi FROM t
        UNION ALL SELECT jsonb_build_object('cmd_id', u.jalan_cmd_id) FROM u) said
)
SELECT m.idoutlet, m.driver, t.id, u.jalan_cmd_id, m.cara = 'pulsa' FROM m LEFT JOIN t ON TRUE LEFT JOIN u ON TRUE";

/// Stops a machine without moving money.
#[utoipa::path(
    post, path = "/ops/v1/mesin/{id}/stop", tag = "operator", security(("operator" = []), ("session" = [])), request_body = StopRequest, params(("id" = inline(MachineId), Path)),
    responses(
        (status = 200, body = Empty), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
        (status = 409, body = Empty, description = "It does not run, or it runs its own cycle, after coin pulses"),
        (status = 504, body = Empty, description = "No answer from the device in 8 s; the stop is tried until the run ends"),
    )
)]
pub async fn mesin_stop(
    by: Minimal<{ Right::MesinStop.rank() }>,
    store: web::Data<Store>,
    machines: web::Data<Machines>,
    id: web::Path<String>,
    body: Json<StopRequest>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let idmesin = MachineId::parse(&id).ok_or(AppError::MachineNotFound)?;
    let reason = text::parse("alasan", &body.alasan, text::MAX_REASON_CHARS)?;
    let (location, stops) = request(&store, &operator, idmesin, &reason).await?;
    let ended = machines.ask(&location, |operator| match stops {
        Stops::Purchase(purchase_id) => Input::Stop { purchase_id, operator: Some(operator) },
        Stops::Unpaid(cmd_id) => Input::StopUnpaid { cmd_id, operator: Some(operator) },
    })?;
    let wait = Duration::from_millis(ANSWER_WAIT_MS.unsigned_abs());
    match tokio::time::timeout(wait, ended).await {
        Ok(Ok(Outcome::Ended)) => Ok(answer::done("mesin dihentikan")),
        // Another server owns the machine; it reads the stop from the database.
        Ok(_) if let Stops::Unpaid(cmd_id) = stops => has_ended(&store, idmesin, cmd_id).await,
        // The actor released the machine: recovery will send the stop again.
        Ok(_) => Err(AppError::Unavailable),
        Err(_) => Err(AppError::StopSilent),
    }
}

/// Waits until the device has reported that it no longer runs `cmd_id`.
async fn has_ended(store: &Store, idmesin: MachineId, cmd_id: Uuid) -> Result<HttpResponse, AppError> {
    const RUNS: &str = "SELECT EXISTS (SELECT FROM mesin WHERE idmesin = $1 AND jalan_cmd_id = $2)";
    for _ in 0..ANSWER_WAIT_MS / LOOK_EVERY_MS {
        let client = store.get().await?;
        let stmt = client.prepare_cached(RUNS).await?;
        if !client.query_one(&stmt, &[&idmesin, &cmd_id]).await?.try_get::<_, bool>(0)? {
            return Ok(answer::done("mesin dihentikan"));
        }
        // Other requests need the connection during the pause.
        drop(client);
        tokio::time::sleep(Duration::from_millis(LOOK_EVERY_MS.unsigned_abs())).await;
    }
    Err(AppError::StopSilent)
}

/// The cycle to be stopped.
#[derive(Clone, Copy)]
enum Stops {
    Purchase(PurchaseId),
    /// A cycle that the device reports without an open purchase.
    Unpaid(Uuid),
}

async fn request(store: &Store, operator: &Operator, idmesin: MachineId, reason: &str) -> Result<(Location, Stops), AppError> {
    let client = store.get().await?;
    let stmt = client.prepare_cached(REQUEST).await?;
    let row = client
        .query_opt(
            &stmt,
            &[&idmesin, &operator.scope.owner, &operator.scope.outlet, &store.now(), &operator.principal(), &reason],
        )
        .await?
        .ok_or(AppError::MachineNotFound)?;
    if row.try_get(4)? {
        return Err(AppError::Conflict("mesin pulsa tidak bisa dihentikan dari jauh"));
    }
    let purchase_id: Option<PurchaseId> = row.try_get(2)?;
    let unpaid: Option<Uuid> = row.try_get(3)?;
    let stops = purchase_id.map(Stops::Purchase).or(unpaid.map(Stops::Unpaid));
    let stops = stops.ok_or(AppError::Conflict("mesin tidak sedang berjalan"))?;
    Ok((Location { idmesin, idoutlet: row.try_get(0)?, driver: row.try_get(1)? }, stops))
}
