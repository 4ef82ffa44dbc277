//! `POST /ops/v1/mesin/{id}`: changes a machine, or retires it (a technician: the timings of a closed one); `POST outlet/{id}/urut`: the order of an outlet's machines (supervisor and above).

use actix_web::{HttpResponse, web};
use deadpool_postgres::Transaction;
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::machine_code::MachineCode;
use nyala_core::domain::machine_kind::MachineKind;
use nyala_core::domain::right::Right;
use nyala_core::domain::rupiah::Rupiah;
use nyala_core::domain::text;
use nyala_core::domain::whole::Whole;
use nyala_core::purchase::state::open_states;
use nyala_identity::qr;
use nyala_ledger::on_sale::runs_unsold;
use nyala_machines::device::mqtt::keys::{self, By, KeyError};
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_postgres::types::ToSql;
use utoipa::ToSchema;

use super::install::size;
use super::start_by::{Cara, StartBy};
use crate::http::answer::{self, Empty};
use crate::http::error::{AppError, NOT_CLOSED};
use crate::http::json::{Json, even_null};
use crate::http::schema::{ShortText, SizeText};
use crate::live::staff_board::StaffBoards;
use crate::ops::people::key::Minimal;
use crate::ops::scope;

/// The fields that a technician may change.
const TIMINGS: [&str; 3] = ["lebar_ms", "jeda_ms", "sense_s"];
/// The most cycles between two services.
const MAX_SERVICE_EVERY: i64 = 100_000;

/// Fields to change. Omitted ones keep their values.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct MesinChange {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ShortText>)]
    nama: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jenis: Option<MachineKind>,
    /// Null: it has none.
    #[serde(default, deserialize_with = "even_null", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<SizeText>)]
    ukuran: Option<Option<String>>,
    /// False retires it: its sticker and its device's keys end.
    #[serde(skip_serializing_if = "Option::is_none")]
    aktif: Option<bool>,
    /// Cycles between two services; null: not counted.
    #[serde(default, deserialize_with = "even_null", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 100000)]
    servis_tiap: Option<Option<Whole>>,
    /// What starts it: `relai`, when never given, or coin pulses. It changes while nothing runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    cara: Option<Cara>,
    /// How long a pulse is, in milliseconds; 50 when never given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 5999)]
    lebar_ms: Option<Whole>,
    /// How long the gap after a pulse is, in milliseconds; 100 when never given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 5999)]
    jeda_ms: Option<Whole>,
    /// Seconds without its running signal after which the machine has ended; 60 when never given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 3600)]
    sense_s: Option<Whole>,
    /// Pulses of each service at this machine; null: as many as the service says.
    #[serde(default, deserialize_with = "even_null", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 20)]
    pulsa: Option<Option<Whole>>,
    /// Whole rupiah of a coin that falls into it; 0 when never given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 20000000)]
    nilai_koin: Option<Rupiah>,
}

impl MesinChange {
    const fn start_by(&self) -> StartBy {
        StartBy {
            way: self.cara,
            width: self.lebar_ms,
            gap: self.jeda_ms,
            sense: self.sense_s,
            pulses: self.pulsa,
            coin_value: self.nilai_koin,
        }
    }
}

/// Changes a machine. Purchases keep the name that it had. A technician changes `lebar_ms`, `jeda_ms` and `sense_s` of a closed one.
#[utoipa::path(
    post, path = "/ops/v1/mesin/{id}", operation_id = "change_mesin", tag = "papan", security(("operator" = []), ("session" = [])),
    params(("id" = inline(MachineId), Path)), request_body = MesinChange,
    responses(
        (status = 200, body = Empty), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty),
        (status = 404, body = Empty), (status = 409, body = Empty, description = "`mesin sedang digunakan`: it cannot be retired now, or started in another way; `mesin harus ditutup dulu`: for a technician"),
        (status = 422, body = Empty, description = "`pulsa x (lebar_ms + jeda_ms) paling lama 6000 ms`"),
        (status = 503, body = Empty, description = "`cara: pulsa` while a server of an older release is alive"),
    )
)]
pub async fn change(
    by: Minimal<{ Right::MesinWaktu.rank() }>,
    store: web::Data<Store>,
    boards: web::Data<StaffBoards>,
    id: web::Path<String>,
    body: Json<MesinChange>,
) -> Result<HttpResponse, AppError> {
    const CHANGE: &str = "
        UPDATE mesin SET nama = COALESCE($2, nama), jenis = COALESCE($3, jenis), ukuran = CASE WHEN $4 THEN $5 ELSE ukuran END,
            servis_tiap = CASE WHEN $6 THEN $7 ELSE servis_tiap END, aktif = COALESCE($8, aktif)
        WHERE idmesin = $1";
    let Minimal(operator) = by;
    let content = serde_json::to_value(&*body).map_err(AppError::internal)?;
    let only_timings = !operator.role.has(Right::MesinUbah.rank());
    if only_timings && !content.as_object().is_some_and(|fields| fields.keys().all(|field| TIMINGS.contains(&field.as_str()))) {
        return Err(AppError::Forbidden);
    }
    let idmesin = MachineId::parse(&id).ok_or(AppError::MachineNotFound)?;
    let name = body.nama.as_deref().map(|nama| text::parse("nama", nama, text::MAX_NAME_CHARS)).transpose()?;
    let size = body.ukuran.as_ref().map(|ukuran| size(ukuran.as_deref())).transpose()?;
    let service_every = body.servis_tiap.flatten().map(service_every).transpose()?;
    let now = store.now();
    let start_by = body.start_by();
    let mut client = store.get().await?;
    start_by.check(&client).await?;
    let tx = client.transaction().await?;
    let idoutlet = scope::locked_old_machine(&tx, &operator, idmesin).await?;
    if only_timings {
        is_closed(&tx, idmesin).await?;
    }
    if body.aktif == Some(false) || start_by.way.is_some() {
        is_idle(&tx, idmesin).await?;
    }
    if body.aktif == Some(false) {
        retire(&tx, idmesin, By { principal: &operator.principal(), now }).await?;
    }
    start_by.apply(&tx, idmesin, body.aktif == Some(true)).await?;
    let params: [&(dyn ToSql + Sync); 8] = [
        &idmesin,
        &name,
        &body.jenis,
        &size.is_some(),
        &size.flatten(),
        &body.servis_tiap.is_some(),
        &service_every,
        &body.aktif,
    ];
    tx.execute(CHANGE, &params).await?;
    let entry =
        AuditEntry { principal: &operator.principal(), action: "mesin.ubah", object: format!("mesin:{idmesin}"), content };
    audit::write_at(&tx, Some(idoutlet), &entry, now).await?;
    tx.commit().await?;
    boards.changed(idoutlet);
    Ok(answer::ok(None::<()>))
}

fn service_every(cycles: Whole) -> Result<i32, AppError> {
    let valid = i32::try_from(cycles.get()).ok().filter(|_| (1..=MAX_SERVICE_EVERY).contains(&cycles.get()));
    valid.ok_or_else(|| AppError::bad_input(format!("servis_tiap harus 1 sampai {MAX_SERVICE_EVERY} siklus")))
}

/// Refuses when a machine is open. Its row is locked.
async fn is_closed(tx: &Transaction<'_>, idmesin: MachineId) -> Result<(), AppError> {
    const CLOSED: &str = "SELECT ditutup_sejak IS NOT NULL FROM mesin WHERE idmesin = $1";
    if tx.query_one(CLOSED, &[&idmesin]).await?.try_get(0)? {
        return Ok(());
    }
    Err(AppError::Conflict(NOT_CLOSED))
}

/// Refuses when a machine is in use. Its row is locked, so that no hold can begin.
async fn is_idle(tx: &Transaction<'_>, idmesin: MachineId) -> Result<(), AppError> {
    const IN_USE: &str = concat!(
        "SELECT ",
        runs_unsold!(),
        " OR EXISTS (SELECT FROM snap_transaksi t WHERE t.idmesin = $1 AND t.state IN ",
        open_states!(),
        ") FROM mesin m WHERE idmesin = $1"
    );
    if tx.query_one(IN_USE, &[&idmesin]).await?.try_get(0)? {
        return Err(AppError::MachineBusy);
    }
    Ok(())
}

/// Ends the sticker and the keys of a machine.
async fn retire(tx: &Transaction<'_>, idmesin: MachineId, by: By<'_>) -> Result<(), AppError> {
    renew_sticker(tx, idmesin).await?;
    match keys::revoke(tx, idmesin, by).await {
        Ok(_) | Err(KeyError::NoKey(_)) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

/// Gives a machine a new sticker: the old text and the old code lead nowhere from the commit on. Returns its version and its code.
pub async fn renew_sticker(tx: &Transaction<'_>, idmesin: MachineId) -> Result<(i32, String), AppError> {
    const RENEW: &str = "UPDATE mesin SET qr_versi = $2, kode = $3 WHERE idmesin = $1 RETURNING qr_versi, kode";
    let code = MachineCode::random(&mut rand::rng());
    let row = tx.query_one(RENEW, &[&idmesin, &qr::machine::new_version(), &code.as_str()]).await?;
    Ok((row.try_get(0)?, row.try_get(1)?))
}

#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct Urut {
    /// Each active machine of the outlet, once.
    mesin: Vec<MachineId>,
}

/// Puts the machines of an outlet into an order.
#[utoipa::path(
    post, path = "/ops/v1/outlet/{id}/urut", operation_id = "order_mesin", tag = "papan", security(("operator" = []), ("session" = [])),
    params(("id" = inline(OutletId), Path)), request_body = Urut,
    responses(
        (status = 200, body = Empty), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty),
        (status = 404, body = Empty), (status = 422, body = Empty, description = "`urutan harus memuat semua mesin`"),
    )
)]
pub async fn order(
    by: Minimal<{ Right::OutletUrut.rank() }>,
    store: web::Data<Store>,
    boards: web::Data<StaffBoards>,
    id: web::Path<String>,
    body: Json<Urut>,
) -> Result<HttpResponse, AppError> {
    const ACTIVE: &str = "SELECT idmesin FROM mesin WHERE idoutlet = $1 AND aktif ORDER BY idmesin FOR NO KEY UPDATE";
    const ORDER: &str = "
        UPDATE mesin SET urut = at.n FROM unnest($1::BIGINT[]) WITH ORDINALITY AS at (idmesin, n)
        WHERE mesin.idmesin = at.idmesin AND urut IS DISTINCT FROM at.n";
    let Minimal(operator) = by;
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let id = scope::named_outlet(&tx, &operator, &id).await?.idoutlet;
    let active: Vec<MachineId> = tx.query(ACTIVE, &[&id]).await?.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    let mut asked = body.mesin.clone();
    asked.sort_unstable();
    if asked != active {
        return Err(AppError::Unprocessable("urutan harus memuat semua mesin"));
    }
    tx.execute(ORDER, &[&body.mesin]).await?;
    let content = json!({ "mesin": body.mesin });
    let entry = AuditEntry { principal: &operator.principal(), action: "outlet.urut", object: format!("outlet:{id}"), content };
    audit::write_at(&tx, Some(id), &entry, now).await?;
    tx.commit().await?;
    boards.changed(id);
    Ok(answer::ok(None::<()>))
}
