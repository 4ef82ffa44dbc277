//! `GET /ops/v1/mesin/{id}`: current state of a machine (every role).

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::state::open_states;
use nyala_ledger::on_sale::{is_on_sale, runs_unsold};
use nyala_store::db::Store;
use serde::Serialize;
use tokio_postgres::types::ToSql;
use utoipa::ToSchema;

use crate::api::transaksi::get_layanan::StatusMesin;
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::ops::people::key::Caller;

use super::start_by::Cara;

#[derive(Debug, Serialize, ToSchema)]
pub struct MesinNow {
    #[schema(value_type = i64)]
    id: MachineId,
    nama: String,
    status: StatusMesin,
    /// Milliseconds left; null unless the machine runs.
    #[schema(required)]
    tl: Option<i64>,
    /// The receipt number of the purchase that uses the machine.
    #[schema(required)]
    idtransaksi: Option<String>,
    /// The machine takes no purchase until its device reports that nothing runs.
    perlu_petugas: bool,
    cara: Cara,
    /// Coins that its board has counted in all.
    koin: i64,
}

const READ: &str = concat!(
    "
SELECT m.nama, m.online AND NOT m.perlu_petugas AND ",
    is_on_sale!("$4"),
    " AS online, m.perlu_petugas, m.cara, COALESCE(k.jumlah, 0) AS koin, t.no_nota, t.durasi_s,
       CASE WHEN t.state = 'RUNNING' THEN t.ends_at WHEN t.id IS NULL THEN m.jalan_sampai END AS ends_at,
       t.id IS NOT NULL OR ",
    runs_unsold!(),
    " AS taken
FROM mesin m JOIN outlet o USING (idoutlet) LEFT JOIN koin_seri k USING (idmesin) LEFT JOIN snap_transaksi t ON t.idmesin = m.idmesin AND t.state IN ",
    open_states!(),
    "
WHERE m.idmesin = $1 AND ($2::BIGINT IS NULL OR m.idowner = $2) AND ($3::BIGINT IS NULL OR m.idoutlet = $3)"
);

/// What a machine does now.
#[utoipa::path(
    get, path = "/ops/v1/mesin/{id}", tag = "operator", security(("operator" = []), ("session" = [])), params(("id" = inline(MachineId), Path)),
    responses((status = 200, body = Answer<MesinNow>), (status = 401, body = Empty), (status = 404, body = Empty))
)]
pub async fn mesin_status(
    Caller(operator): Caller,
    store: web::Data<Store>,
    id: web::Path<String>,
) -> Result<HttpResponse, AppError> {
    let id = MachineId::parse(&id).ok_or(AppError::MachineNotFound)?;
    let client = store.get().await?;
    let stmt = client.prepare_cached(READ).await?;
    let now = store.now();
    let params: [&(dyn ToSql + Sync); 4] = [&id, &operator.scope.owner, &operator.scope.outlet, &now];
    let row = client.query_opt(&stmt, &params).await?.ok_or(AppError::MachineNotFound)?;
    let (online, receipt): (bool, Option<String>) = (row.try_get("online")?, row.try_get("no_nota")?);
    let ends_at: Option<Timestamp> = row.try_get("ends_at")?;
    let duration_ms = row.try_get::<_, Option<i32>>("durasi_s")?.map_or(i64::MAX, |s| i64::from(s) * 1_000);
    Ok(answer::ok(MesinNow {
        id,
        nama: row.try_get("nama")?,
        status: StatusMesin::of(online, row.try_get("taken")?),
        tl: ends_at.map(|at| now.ms_until(at).clamp(0, duration_ms)),
        idtransaksi: receipt,
        perlu_petugas: row.try_get("perlu_petugas")?,
        cara: Cara::from_stored(row.try_get("cara")?),
        koin: row.try_get("koin")?,
    }))
}
