//! `POST /ops/v1/perhatian/tangani`: a person takes what needs one (every role). It is theirs until its cause ends, or for some time.

use actix_web::{HttpResponse, web};
use nyala_core::board::attention::Kind;
use nyala_core::domain::id::{MachineId, OutletId, ShiftId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::config::ServerSettings;
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use serde::Deserialize;
use serde_json::json;
use tokio_postgres::types::ToSql;
use utoipa::ToSchema;

use super::snapshot::seen_by;
use crate::board::entry::Ditangani;
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::live::boards::Boards;
use crate::metrics::ServerMetrics;
use crate::ops::people::key::Caller;

/// Which entry, as `perhatian` has it.
#[derive(Debug, Deserialize, ToSchema)]
pub struct Tangani {
    #[schema(value_type = String, pattern = "^(perlu_petugas|tanpa_bayar|outlet_putus|belum_pasti|ditolak|offline|shift|cadangan)$")]
    jenis: String,
    /// Of an entry about the outlet itself; may be left out by who sees one outlet.
    idoutlet: Option<OutletId>,
    /// Of an entry about a machine.
    idmesin: Option<MachineId>,
    /// Of an entry about a shift.
    idshift: Option<ShiftId>,
    #[schema(value_type = Timestamp)]
    sejak: String,
}

/// Takes an entry. Taking one's own again gives the same answer.
#[utoipa::path(
    post, path = "/ops/v1/perhatian/tangani", operation_id = "tangani", tag = "papan", security(("operator" = []), ("session" = [])),
    request_body = Tangani,
    responses(
        (status = 200, body = Answer<Ditangani>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 404, body = Empty, description = "`perhatian sudah selesai`"),
        (status = 409, body = Empty, description = "`sudah ditangani orang lain`"),
    )
)]
pub async fn take(
    Caller(operator): Caller,
    store: web::Data<Store>,
    boards: web::Data<Boards>,
    metrics: web::Data<ServerMetrics>,
    settings: web::Data<ServerSettings>,
    body: Json<Tangani>,
) -> Result<HttpResponse, AppError> {
    // An entry that was taken too long ago may be taken again.
    const TAKE: &str = "
        INSERT INTO perhatian_ditangani AS d (idoutlet, jenis, tentang, sejak, id_kunci, ditangani_at, sampai)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (idoutlet, jenis, tentang, sejak) DO UPDATE SET id_kunci = $5, ditangani_at = $6, sampai = $7 WHERE d.sampai <= $6";
    const BY: &str = "
        SELECT k.nama, d.ditangani_at, d.sampai, d.id_kunci = $5 FROM perhatian_ditangani d JOIN kunci_operator k ON k.id = d.id_kunci
        WHERE d.idoutlet = $1 AND d.jenis = $2 AND d.tentang = $3 AND d.sejak = $4";
    let kind = Kind::parse(&body.jenis).ok_or_else(|| AppError::bad_input("jenis tidak dikenal"))?;
    let since =
        Timestamp::parse_rfc3339(&body.sejak).ok_or_else(|| AppError::bad_input("sejak harus waktu RFC 3339 dengan zona"))?;
    let entries = seen_by(&operator, &store, &boards, &metrics.backup.health, body.idoutlet).await?;
    let entry = entries.into_iter().find(|entry| {
        (entry.jenis, entry.idmesin, entry.idshift, entry.sejak) == (kind.as_str(), body.idmesin, body.idshift, since)
    });
    let entry = entry.ok_or(AppError::NotFound("perhatian sudah selesai"))?;
    let about = entry.idmesin.map(MachineId::get).or(entry.idshift.map(ShiftId::get)).unwrap_or_default();
    let now = store.now();
    let until = now.plus_ms(i64::from(settings.attention.taken_min) * 60_000);
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let params: [&(dyn ToSql + Sync); 7] = [&entry.idoutlet, &entry.jenis, &about, &since, &operator.id, &now, &until];
    let is_new = tx.execute(TAKE, &params).await? == 1;
    let row = tx.query_one(BY, &params[..5]).await?;
    if !row.try_get::<_, bool>(3)? {
        return Err(AppError::Conflict("sudah ditangani orang lain"));
    }
    if is_new {
        let content = json!({ "jenis": entry.jenis, "idmesin": entry.idmesin, "idshift": entry.idshift, "sejak": since });
        let object = format!("outlet:{}", entry.idoutlet);
        let record = AuditEntry { principal: &operator.principal(), action: "perhatian.tangani", object, content };
        audit::write_at(&tx, Some(entry.idoutlet), &record, now).await?;
    }
    tx.commit().await?;
    boards.changed(entry.idoutlet);
    Ok(answer::ok(Ditangani { nama: row.try_get(0)?, sejak: row.try_get(1)?, sampai: row.try_get(2)? }))
}
