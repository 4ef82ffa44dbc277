//! `/ops/v1/layanan`: the services of an outlet. The list (every role; retired ones for a supervisor), a new one, a change (supervisor and
//! above).

use actix_web::{HttpResponse, web};
use deadpool_postgres::Transaction;
use nyala_core::domain::id::{OutletId, ServiceId};
use nyala_core::domain::machine_kind::MachineKind;
use nyala_core::domain::right::Right;
use nyala_core::domain::role::Role;
use nyala_core::domain::rupiah::Rupiah;
use nyala_core::domain::text;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::domain::whole::{self, Whole};
use nyala_core::prices::PriceRule;
use nyala_core::purchase::state::open_states;
use nyala_identity::staff::operator::Operator;
use nyala_ledger::tariff::{self, tariff};
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use utoipa::ToSchema;

use super::price_rule::{Aturan, NewAturan, read_all};
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::{Json, even_null};
use crate::http::schema::{ShortText, SizeText};
use crate::ops::idempotency::OptionalKey;
use crate::ops::machine::install::size;
use crate::ops::machine::start_by;
use crate::ops::people::key::{Caller, Minimal};
use crate::ops::scope::{self, AtOutlet};

/// The longest service, in seconds (docs/contract.md §4).
const MAX_DURATION_S: i64 = 86_400;

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LayananOutlet)]
pub struct ServiceRow {
    #[schema(value_type = i64)]
    id: ServiceId,
    #[schema(value_type = i64)]
    idoutlet: OutletId,
    nama: String,
    /// Seconds.
    durasi: i32,
    /// Rupiah when no rule of `aturan` holds.
    harga: i64,
    /// Rupiah now.
    harga_sekarang: i64,
    /// Epoch milliseconds at which the price changes next; null: never.
    #[schema(required)]
    sampai_ms: Option<i64>,
    /// The kind of machine that it is sold at; null: any.
    #[schema(required)]
    jenis: Option<MachineKind>,
    /// The size of machine that it is sold at; null: any.
    #[schema(required)]
    ukuran: Option<String>,
    aktif: bool,
    /// When it was retired.
    #[schema(value_type = Option<Timestamp>, required)]
    berhenti_at: Option<Timestamp>,
    /// Coin pulses that start a machine for it, of machines that are started so.
    pulsa: i32,
    /// Purchases of it that are not over.
    berjalan: i64,
    aturan: Vec<Aturan>,
}

/// The services of an outlet, those that are sold first.
#[utoipa::path(
    get, path = "/ops/v1/layanan", operation_id = "list_layanan", tag = "papan", security(("operator" = []), ("session" = [])),
    params(AtOutlet),
    responses(
        (status = 200, body = Answer<Vec<ServiceRow>>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 404, body = Empty), (status = 422, body = Empty, description = "`idoutlet wajib diisi`"),
    )
)]
pub async fn list(Caller(operator): Caller, store: web::Data<Store>, at: web::Query<AtOutlet>) -> Result<HttpResponse, AppError> {
    const LIST: &str = concat!(
        "SELECT l.idlayanan, l.idoutlet, l.nama, l.durasi_s, l.jenis, l.ukuran, l.aktif, l.berhenti_at, l.pulsa,
            (SELECT count(*) FROM mesin m JOIN snap_transaksi t ON t.idmesin = m.idmesin AND t.state IN ",
        open_states!(),
        " WHERE m.idoutlet = l.idoutlet AND t.idlayanan = l.idlayanan) AS berjalan, ",
        tariff!(),
        " FROM layanan l JOIN outlet o USING (idoutlet) WHERE l.idoutlet = $1 AND NOT l.internal AND (l.aktif OR $2)
        ORDER BY l.aktif DESC, l.idlayanan"
    );
    let client = store.get().await?;
    let outlet = at.of(&*client, &operator).await?;
    let with_retired = operator.role > Role::Kasir;
    let stmt = client.prepare_cached(LIST).await?;
    let rows = client.query(&stmt, &[&outlet.idoutlet, &with_retired]).await?;
    let now = store.now();
    Ok(answer::ok(rows.iter().map(|row| service_row(row, now)).collect::<Result<Vec<_>, _>>()?))
}

fn service_row(row: &Row, now: Timestamp) -> Result<ServiceRow, AppError> {
    let tariff = tariff::of(row)?;
    let price = tariff.at(now);
    Ok(ServiceRow {
        id: row.try_get(0)?,
        idoutlet: row.try_get(1)?,
        nama: row.try_get(2)?,
        durasi: row.try_get(3)?,
        harga: tariff.base,
        harga_sekarang: price.price,
        sampai_ms: price.until.map(Timestamp::ms),
        jenis: row.try_get(4)?,
        ukuran: row.try_get(5)?,
        aktif: row.try_get(6)?,
        berhenti_at: row.try_get(7)?,
        pulsa: row.try_get("pulsa")?,
        berjalan: row.try_get("berjalan")?,
        aturan: tariff.rules.into_iter().map(Aturan::from).collect(),
    })
}

#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct NewLayanan {
    idoutlet: OutletId,
    #[schema(value_type = ShortText)]
    nama: String,
    /// Seconds.
    #[schema(minimum = 1, maximum = 86400)]
    #[serde(deserialize_with = "whole::deserialize")]
    durasi: i64,
    /// Whole rupiah, when no rule of `aturan` holds.
    #[schema(value_type = i64, minimum = 0, maximum = 20000000)]
    harga: Rupiah,
    /// The kind of machine that it is sold at; null: any.
    jenis: Option<MachineKind>,
    /// The size of machine that it is sold at; null: any.
    #[schema(value_type = Option<SizeText>)]
    ukuran: Option<String>,
    /// Prices by hour, at most six.
    #[schema(value_type = Option<Vec<NewAturan>>, max_items = 6)]
    aturan: Option<Vec<NewAturan>>,
    /// Coin pulses that start a machine for it, of machines that are started so; 1 when left out.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 20)]
    pulsa: Option<Whole>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct LayananMade {
    #[schema(value_type = i64)]
    id: ServiceId,
}

/// A checked service to be offered.
pub struct Offer {
    pub name: String,
    pub duration_s: i32,
    pub price: i64,
    /// The kind of machine that it is sold at; `None`: any.
    pub kind: Option<MachineKind>,
    /// The size of machine that it is sold at; `None`: any.
    pub size: Option<String>,
    pub rules: Vec<PriceRule>,
    /// Coin pulses that start a machine for it.
    pub pulses: i32,
}

/// Adds a service to an outlet.
#[utoipa::path(
    post, path = "/ops/v1/layanan", operation_id = "layanan", tag = "operator", security(("operator" = []), ("session" = [])),
    request_body = NewLayanan, params(OptionalKey),
    responses(
        (status = 200, body = Answer<LayananMade>),
        (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
        (status = 422, body = Empty, description = "`jam harga bertumpuk`; `pulsa x (lebar_ms + jeda_ms) paling lama 6000 ms`"),
    )
)]
pub async fn add(
    by: Minimal<{ Right::LayananBuat.rank() }>,
    store: web::Data<Store>,
    key: OptionalKey,
    body: Json<NewLayanan>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let offered = Offer {
        name: text::parse("nama", &body.nama, text::MAX_NAME_CHARS)?,
        duration_s: duration(body.durasi)?,
        price: body.harga.within("harga", 0)?,
        kind: body.jenis,
        size: size(body.ukuran.as_deref())?,
        rules: read_all(body.aturan.as_deref().unwrap_or_default())?,
        pulses: body.pulsa.map_or(Ok(1), start_by::number)?,
    };
    let now = store.now();
    let mut client = store.get().await?;
    let call = key.call(&operator, "layanan", &*body, now)?;
    call.once(&mut client, async |tx| {
        let outlet = scope::outlet(tx, &operator, body.idoutlet).await?;
        let id = offer(tx, outlet.idoutlet, &offered, now).await?;
        let content = json!({
            "idoutlet": outlet.idoutlet, "nama": offered.name, "durasi": offered.duration_s, "harga": offered.price,
            "jenis": offered.kind, "ukuran": offered.size, "aturan": audited(&offered.rules), "pulsa": offered.pulses,
        });
        record(tx, &operator, "layanan.buat", (id, outlet.idoutlet), content, now).await?;
        Ok(LayananMade { id })
    })
    .await
}

const OFFER: &str = "
    INSERT INTO layanan (idoutlet, nama, durasi_s, harga, created_at, jenis, ukuran, pulsa) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    RETURNING idlayanan";

/// Adds a service to an outlet; returns its id.
pub async fn offer(tx: &Transaction<'_>, idoutlet: OutletId, what: &Offer, now: Timestamp) -> Result<ServiceId, AppError> {
    start_by::fits(tx, idoutlet, what.pulses).await?;
    let stmt = tx.prepare_cached(OFFER).await?;
    let params: [&(dyn ToSql + Sync); 8] =
        [&idoutlet, &what.name, &what.duration_s, &what.price, &now, &what.kind, &what.size, &what.pulses];
    let id: ServiceId = tx.query_one(&stmt, &params).await?.try_get(0)?;
    set_rules(tx, id, &what.rules).await?;
    Ok(id)
}

/// Replaces the rules of a service.
async fn set_rules(tx: &Transaction<'_>, id: ServiceId, rules: &[PriceRule]) -> Result<(), AppError> {
    const ADD: &str = "INSERT INTO layanan_jam (idlayanan, hari, dari_menit, sampai_menit, harga) VALUES ($1, $2, $3, $4, $5)";
    tx.execute("DELETE FROM layanan_jam WHERE idlayanan = $1", &[&id]).await?;
    for rule in rules {
        let days: Vec<i16> = rule.days.iter().collect();
        let [from, until] = [rule.from, rule.until].map(|time| i16::try_from(time.minute()).unwrap_or(i16::MAX));
        tx.execute(ADD, &[&id, &days, &from, &until, &rule.price]).await?;
    }
    Ok(())
}

/// Fields to change. Omitted ones keep their values.
#[derive(Debug, Deserialize, ToSchema)]
pub struct LayananChange {
    #[schema(value_type = Option<ShortText>)]
    nama: Option<String>,
    /// Seconds. Another duration makes a new service.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 86400)]
    durasi: Option<Whole>,
    /// Whole rupiah, when no rule of `aturan` holds.
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 20000000)]
    harga: Option<Rupiah>,
    /// False: no longer sold.
    aktif: Option<bool>,
    /// The kind of machine that it is sold at; null: any.
    #[serde(default, deserialize_with = "even_null")]
    #[schema(value_type = Option<MachineKind>)]
    jenis: Option<Option<MachineKind>>,
    /// The size of machine that it is sold at; null: any.
    #[serde(default, deserialize_with = "even_null")]
    #[schema(value_type = Option<SizeText>)]
    ukuran: Option<Option<String>>,
    /// All prices by hour, at most six.
    #[schema(value_type = Option<Vec<NewAturan>>, max_items = 6)]
    aturan: Option<Vec<NewAturan>>,
    /// Coin pulses that start a machine for it, of machines that are started so.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 20)]
    pulsa: Option<Whole>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct LayananChanged {
    #[schema(value_type = i64)]
    id: ServiceId,
    /// The service that it replaces, which is retired; null: it is the same one.
    #[schema(value_type = Option<i64>, required)]
    lama: Option<ServiceId>,
}

const STORED: &str = concat!(
    "SELECT l.idoutlet, l.nama, l.durasi_s, l.jenis, l.ukuran, l.aktif, l.diganti_oleh IS NOT NULL, l.pulsa, ",
    tariff!(),
    " FROM layanan l JOIN outlet o USING (idoutlet)
    WHERE l.idlayanan = $1 AND NOT l.internal AND ($2::BIGINT IS NULL OR o.idowner = $2) AND ($3::BIGINT IS NULL OR l.idoutlet = $3)
    FOR NO KEY UPDATE OF l"
);

/// Changes a service for future purchases; open ones are not affected. Another duration makes a new service and retires this one, so that no
/// one pays for 40 minutes and gets 5.
#[utoipa::path(
    post, path = "/ops/v1/layanan/{id}", operation_id = "change_layanan", tag = "papan", security(("operator" = []), ("session" = [])),
    params(("id" = inline(ServiceId), Path)), request_body = LayananChange,
    responses(
        (status = 200, body = Answer<LayananChanged>),
        (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
        (status = 409, body = Empty, description = "`layanan sudah diganti`"),
        (status = 422, body = Empty, description = "`jam harga bertumpuk`; `pulsa x (lebar_ms + jeda_ms) paling lama 6000 ms`"),
    )
)]
pub async fn change(
    by: Minimal<{ Right::LayananUbah.rank() }>,
    store: web::Data<Store>,
    id: web::Path<String>,
    body: Json<LayananChange>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let id = ServiceId::parse(&id).ok_or(AppError::ServiceNotFound)?;
    let name = body.nama.as_deref().map(|nama| text::parse("nama", nama, text::MAX_NAME_CHARS)).transpose()?;
    let duration_s = body.durasi.map(|durasi| duration(durasi.get())).transpose()?;
    let price = body.harga.map(|harga| harga.within("harga", 0)).transpose()?;
    let size = body.ukuran.as_ref().map(|ukuran| size(ukuran.as_deref())).transpose()?;
    let rules = body.aturan.as_deref().map(read_all).transpose()?;
    let pulses = body.pulsa.map(start_by::number).transpose()?;
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let params: [&(dyn ToSql + Sync); 3] = [&id, &operator.scope.owner, &operator.scope.outlet];
    let row = tx.query_opt(STORED, &params).await?.ok_or(AppError::ServiceNotFound)?;
    let idoutlet: OutletId = row.try_get(0)?;
    let (stored_duration, is_active, is_replaced): (i32, bool, bool) = (row.try_get(2)?, row.try_get(5)?, row.try_get(6)?);
    if is_replaced {
        return Err(AppError::Conflict("layanan sudah diganti"));
    }
    let tariff = tariff::of(&row)?;
    let new = Offer {
        name: name.map_or_else(|| row.try_get(1), Ok)?,
        duration_s: duration_s.unwrap_or(stored_duration),
        price: price.unwrap_or(tariff.base),
        kind: body.jenis.map_or_else(|| row.try_get(3), Ok)?,
        size: size.map_or_else(|| row.try_get(4), Ok)?,
        rules: rules.unwrap_or(tariff.rules),
        pulses: pulses.map_or_else(|| row.try_get(7), Ok)?,
    };
    let is_active = body.aktif.unwrap_or(is_active);
    let content = json!({
        "nama": new.name, "durasi": new.duration_s, "harga": new.price, "jenis": new.kind, "ukuran": new.size,
        "aturan": audited(&new.rules), "pulsa": new.pulses, "aktif": is_active,
    });
    let made = if new.duration_s == stored_duration {
        start_by::fits(&tx, idoutlet, new.pulses).await?;
        update(&tx, id, &new, is_active, now).await?;
        record(&tx, &operator, "layanan.ubah", (id, idoutlet), content, now).await?;
        LayananChanged { id, lama: None }
    } else {
        let made = offer(&tx, idoutlet, &new, now).await?;
        if !is_active {
            update(&tx, made, &new, false, now).await?;
        }
        tx.execute(
            "UPDATE layanan SET aktif = FALSE, berhenti_at = COALESCE(berhenti_at, $3), diganti_oleh = $2, versi = versi + 1 WHERE idlayanan = $1",
            &[&id, &made, &now],
        )
        .await?;
        let mut content = content;
        content["menggantikan"] = json!(id);
        record(&tx, &operator, "layanan.ganti", (made, idoutlet), content, now).await?;
        LayananChanged { id: made, lama: Some(id) }
    };
    tx.commit().await?;
    Ok(answer::ok(made))
}

async fn update(tx: &Transaction<'_>, id: ServiceId, new: &Offer, is_active: bool, now: Timestamp) -> Result<(), AppError> {
    const UPDATE: &str = "
        UPDATE layanan SET nama = $2, harga = $3, jenis = $4, ukuran = $5, aktif = $6,
            berhenti_at = CASE WHEN $6 THEN NULL ELSE COALESCE(berhenti_at, $7) END, pulsa = $8, versi = versi + 1
        WHERE idlayanan = $1";
    let params: [&(dyn ToSql + Sync); 8] = [&id, &new.name, &new.price, &new.kind, &new.size, &is_active, &now, &new.pulses];
    tx.execute(UPDATE, &params).await?;
    set_rules(tx, id, &new.rules).await
}

fn duration(seconds: i64) -> Result<i32, AppError> {
    let valid = i32::try_from(seconds).ok().filter(|_| (1..=MAX_DURATION_S).contains(&seconds));
    valid.ok_or_else(|| AppError::bad_input(format!("durasi harus 1 sampai {MAX_DURATION_S} detik")))
}

/// As the audit log has them.
fn audited(rules: &[PriceRule]) -> Vec<Aturan> {
    rules.iter().copied().map(Aturan::from).collect()
}

async fn record(
    tx: &Transaction<'_>,
    operator: &Operator,
    action: &'static str,
    (id, idoutlet): (ServiceId, OutletId),
    content: serde_json::Value,
    now: Timestamp,
) -> Result<(), AppError> {
    let entry = AuditEntry { principal: &operator.principal(), action, object: format!("layanan:{id}"), content };
    Ok(audit::write_at(tx, Some(idoutlet), &entry, now).await?)
}
