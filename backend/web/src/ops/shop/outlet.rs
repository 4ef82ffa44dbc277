//! `/ops/v1/outlet`: the outlets in sight (every role), a new one with its accounts R and K (root, or its owner), a change (its owner).

use actix_web::{HttpResponse, web};
use deadpool_postgres::{GenericClient, Transaction};
use nyala_core::bill::QrisMode;
use nyala_core::domain::id::{OutletId, OwnerId};
use nyala_core::domain::right::Right;
use nyala_core::domain::role::ANYBODY;
use nyala_core::domain::text;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::domain::whole::Whole;
use nyala_core::prices::{ClockTime, Zone};
use nyala_ledger::on_sale::Closing;
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_postgres::types::ToSql;
use utoipa::ToSchema;

use super::outlet_closing::Tutup;
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::{Json, even_null};
use crate::http::schema::{DayStart, EndOfHours, OptionalText, ShortText, TimeOfDay, ZoneName};
use crate::ops::days;
use crate::ops::idempotency::OptionalKey;
use crate::ops::people::key::Minimal;
use crate::ops::scope;
use crate::qris::Qris;

/// An outlet in sight.
#[derive(Debug, Serialize, ToSchema)]
pub struct OutletRow {
    #[schema(value_type = i64)]
    idoutlet: OutletId,
    nama: String,
    kota: String,
    alamat: String,
    latitude: f64,
    longitude: f64,
    /// IANA.
    zona: String,
    /// When its business day begins.
    hari_mulai: String,
    #[schema(required)]
    jam_buka: Option<String>,
    #[schema(required)]
    jam_tutup: Option<String>,
    /// Null: it is not closed.
    #[schema(required)]
    tutup: Option<Tutup>,
    /// How it takes QRIS.
    qris: QrisMode,
    /// Null: it is being prepared.
    #[schema(value_type = Option<Timestamp>, required)]
    dibuka_at: Option<Timestamp>,
}

/// The outlets in sight.
#[utoipa::path(
    get, path = "/ops/v1/outlet", operation_id = "list_outlet", tag = "papan", security(("operator" = []), ("session" = [])),
    responses((status = 200, body = Answer<Vec<OutletRow>>), (status = 401, body = Empty))
)]
pub async fn list(Minimal(operator): Minimal<ANYBODY>, store: web::Data<Store>) -> Result<HttpResponse, AppError> {
    const LIST: &str = "
        SELECT idoutlet, nama, kota, alamat, latitude, longitude, zona, hari_mulai, jam_buka, jam_tutup, dibuka_at,
            ditutup_alasan, ditutup_sejak, ditutup_sampai, qris
        FROM outlet WHERE ($1::BIGINT IS NULL OR idowner = $1) AND ($2::BIGINT IS NULL OR idoutlet = $2) ORDER BY idoutlet";
    let client = store.get().await?;
    let stmt = client.prepare_cached(LIST).await?;
    let rows = client.query(&stmt, &[&operator.scope.owner, &operator.scope.outlet]).await?;
    let time = |minute: Option<i16>| minute.and_then(|m| ClockTime::from_minute(m.into())).map(|time| time.to_string());
    let now = store.now();
    let outlets = rows.iter().map(|row| {
        Ok(OutletRow {
            idoutlet: row.try_get(0)?,
            nama: row.try_get(1)?,
            kota: row.try_get(2)?,
            alamat: row.try_get(3)?,
            latitude: row.try_get(4)?,
            longitude: row.try_get(5)?,
            zona: row.try_get(6)?,
            hari_mulai: time(row.try_get(7)?).unwrap_or_default(),
            jam_buka: time(row.try_get(8)?),
            jam_tutup: time(row.try_get(9)?),
            dibuka_at: row.try_get(10)?,
            tutup: Closing::of(row, now)?.map(Tutup::from),
            qris: QrisMode::from_stored(row.try_get("qris")?)
                .ok_or_else(|| AppError::internal("an outlet takes QRIS in an unknown way"))?,
        })
    });
    Ok(answer::ok(outlets.collect::<Result<Vec<_>, AppError>>()?))
}

#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct NewOutlet {
    idowner: OwnerId,
    #[schema(value_type = ShortText)]
    nama: String,
    #[schema(value_type = ShortText)]
    kota: String,
    /// Degrees.
    #[schema(minimum = -90, maximum = 90)]
    latitude: f64,
    /// Degrees.
    #[schema(minimum = -180, maximum = 180)]
    longitude: f64,
    /// Days for which a top-up without a package extends an account; null: it never expires.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 3650)]
    berlaku_hari: Option<Whole>,
    /// Days for which a refund extends an expired account; 7 when left out.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 3650)]
    kembali_hari: Option<Whole>,
    #[schema(value_type = Option<OptionalText>)]
    alamat: Option<String>,
    /// `Asia/Jakarta` when left out.
    #[schema(value_type = Option<ZoneName>)]
    zona: Option<String>,
    /// When its business day begins; `00:00` when left out.
    #[schema(value_type = Option<DayStart>)]
    hari_mulai: Option<String>,
    #[schema(value_type = Option<TimeOfDay>)]
    jam_buka: Option<String>,
    #[schema(value_type = Option<EndOfHours>)]
    jam_tutup: Option<String>,
    /// True: it is being prepared, and sells nothing until its owner opens it.
    #[serde(skip_serializing_if = "Option::is_none")]
    persiapan: Option<bool>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct OutletMade {
    #[schema(value_type = i64)]
    idoutlet: OutletId,
}

/// The checked data of an outlet.
#[derive(Debug, Default)]
pub struct Premises {
    pub name: String,
    pub city: String,
    pub latitude: f64,
    pub longitude: f64,
    /// Days of validity that a top-up without a package gives an account.
    pub days: Option<i32>,
    /// Days of validity that returned money gives an expired account, if not the default.
    pub return_days: Option<i32>,
    pub address: String,
    pub zone: Zone,
    /// Minutes after midnight at which its business day begins.
    pub day_start: i16,
    /// Minutes after midnight.
    pub opens: Option<i16>,
    /// Minutes after midnight.
    pub closes: Option<i16>,
    /// It sells nothing until its owner opens it.
    pub preparing: bool,
}

impl Premises {
    fn parse(body: &NewOutlet) -> Result<Self, AppError> {
        if !(-90.0..=90.0).contains(&body.latitude) {
            return Err(AppError::bad_input("latitude harus -90 sampai 90"));
        }
        if !(-180.0..=180.0).contains(&body.longitude) {
            return Err(AppError::bad_input("longitude harus -180 sampai 180"));
        }
        Ok(Self {
            name: text::parse("nama", &body.nama, text::MAX_NAME_CHARS)?,
            city: text::parse("kota", &body.kota, text::MAX_NAME_CHARS)?,
            latitude: body.latitude,
            longitude: body.longitude,
            days: days::within("berlaku_hari", body.berlaku_hari)?,
            return_days: days::within("kembali_hari", body.kembali_hari)?,
            address: body.alamat.as_deref().map(address).transpose()?.unwrap_or_default(),
            zone: body.zona.as_deref().map(zone).transpose()?.unwrap_or_default(),
            day_start: body.hari_mulai.as_deref().map(day_start).transpose()?.unwrap_or_default(),
            opens: body.jam_buka.as_deref().map(opens).transpose()?,
            closes: body.jam_tutup.as_deref().map(closes).transpose()?,
            preparing: body.persiapan.unwrap_or_default(),
        })
    }
}

/// An address, or nothing.
fn address(text: &str) -> Result<String, AppError> {
    if text.is_empty() { Ok(String::new()) } else { Ok(text::parse("alamat", text, text::MAX_REASON_CHARS)?) }
}

fn zone(name: &str) -> Result<Zone, AppError> {
    Zone::parse(name).ok_or_else(|| AppError::bad_input("zona tidak dikenal"))
}

fn day_start(text: &str) -> Result<i16, AppError> {
    const NOON: i16 = 12 * 60;
    let minute = minute(text).filter(|minute| *minute <= NOON);
    minute.ok_or_else(|| AppError::bad_input("hari_mulai harus 00:00 sampai 12:00"))
}

fn opens(text: &str) -> Result<i16, AppError> {
    let minute = minute(text).filter(|minute| *minute < 24 * 60);
    minute.ok_or_else(|| AppError::bad_input("jam_buka harus 00:00 sampai 23:59"))
}

fn closes(text: &str) -> Result<i16, AppError> {
    minute(text).ok_or_else(|| AppError::bad_input("jam_tutup harus 00:00 sampai 24:00"))
}

fn minute(text: &str) -> Option<i16> {
    i16::try_from(ClockTime::parse(text)?.minute()).ok()
}

/// Adds an outlet to an owner.
#[utoipa::path(
    post, path = "/ops/v1/outlet", operation_id = "outlet", tag = "operator", security(("operator" = []), ("session" = [])),
    request_body = NewOutlet, params(OptionalKey),
    responses(
        (status = 200, body = Answer<OutletMade>),
        (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
        (status = 422, body = Empty, description = "The `Idempotency-Key` belongs to another request"),
    )
)]
pub async fn add(
    by: Minimal<{ Right::OutletBuat.rank() }>,
    store: web::Data<Store>,
    key: OptionalKey,
    body: Json<NewOutlet>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let premises = Premises::parse(&body)?;
    const UNKNOWN: AppError = AppError::NotFound("owner tidak ditemukan");
    if operator.scope.owner.is_some_and(|own| own != body.idowner) {
        return Err(UNKNOWN);
    }
    let now = store.now();
    let mut client = store.get().await?;
    let call = key.call(&operator, "outlet", &*body, now)?;
    call.once(&mut client, async |tx| {
        known_to_postgres(tx, &premises.zone).await?;
        let idoutlet = open(tx, body.idowner, &premises, now).await?.ok_or(UNKNOWN)?;
        let mut content = json!({
            "idowner": body.idowner, "nama": premises.name, "kota": premises.city, "latitude": premises.latitude, "longitude": premises.longitude,
            "berlaku_hari": premises.days, "kembali_hari": premises.return_days,
        });
        for (field, value) in [("alamat", &body.alamat), ("zona", &body.zona), ("hari_mulai", &body.hari_mulai), ("jam_buka", &body.jam_buka), ("jam_tutup", &body.jam_tutup)] {
            if let Some(value) = value {
                content[field] = json!(value);
            }
        }
        if premises.preparing {
            content["persiapan"] = json!(true);
        }
        let entry =
            AuditEntry { principal: &operator.principal(), action: "outlet.buat", object: format!("outlet:{idoutlet}"), content };
        audit::write_at(tx, Some(idoutlet), &entry, now).await?;
        Ok(OutletMade { idoutlet })
    })
    .await
}

/// $1 owner, $2 name, $3 city, $4 latitude, $5 longitude, $6 now, $7 days, $8 days after a refund, then address, zone, start of the day, opening
/// and closing time, and whether it is being prepared. No row when the owner does not exist.
const OPEN: &str = "
    WITH made AS (
        INSERT INTO outlet (idowner, nama, kota, latitude, longitude, created_at, berlaku_hari, kembali_hari, alamat, zona, hari_mulai, jam_buka, jam_tutup, dibuka_at)
        SELECT idowner, $2::TEXT, $3::TEXT, $4::DOUBLE PRECISION, $5::DOUBLE PRECISION, $6::TIMESTAMPTZ, $7::INTEGER, COALESCE($8::INTEGER, 7),
            $9::TEXT, $10::TEXT, $11::SMALLINT, $12::SMALLINT, $13::SMALLINT, CASE WHEN NOT $14::BOOLEAN THEN $6::TIMESTAMPTZ END
        FROM owner_usaha WHERE idowner = $1
        RETURNING idoutlet
    ), books AS (
        INSERT INTO akun (jenis, idoutlet) SELECT jenis, idoutlet FROM made, unnest(ARRAY['R', 'K']) AS jenis
    )
    SELECT idoutlet FROM made";

/// Opens an outlet of `idowner` with its accounts R and K; `None` when the owner does not exist.
pub async fn open(
    tx: &Transaction<'_>,
    idowner: OwnerId,
    premises: &Premises,
    now: Timestamp,
) -> Result<Option<OutletId>, AppError> {
    let stmt = tx.prepare_cached(OPEN).await?;
    let p = premises;
    let params: [&(dyn ToSql + Sync); 14] = [
        &idowner,
        &p.name,
        &p.city,
        &p.latitude,
        &p.longitude,
        &now,
        &p.days,
        &p.return_days,
        &p.address,
        &p.zone.name(),
        &p.day_start,
        &p.opens,
        &p.closes,
        &p.preparing,
    ];
    let row = tx.query_opt(&stmt, &params).await?;
    Ok(row.map(|r| r.get(0)))
}

/// PostgreSQL computes with the zone too, and has a separate list of zones.
async fn known_to_postgres(client: &impl GenericClient, zone: &Zone) -> Result<(), AppError> {
    const KNOWN: &str = "SELECT EXISTS (SELECT FROM pg_timezone_names WHERE name = $1)";
    if client.query_one(KNOWN, &[&zone.name()]).await?.try_get(0)? {
        Ok(())
    } else {
        Err(AppError::bad_input("zona tidak dikenal"))
    }
}

/// Fields to change. Omitted ones keep their values.
#[derive(Debug, Deserialize, ToSchema)]
pub struct OutletChange {
    #[schema(value_type = Option<ShortText>)]
    nama: Option<String>,
    #[schema(value_type = Option<ShortText>)]
    kota: Option<String>,
    #[schema(value_type = Option<OptionalText>)]
    alamat: Option<String>,
    #[schema(value_type = Option<ZoneName>)]
    zona: Option<String>,
    /// When its business day begins.
    #[schema(value_type = Option<DayStart>)]
    hari_mulai: Option<String>,
    /// Null: it has none.
    #[serde(default, deserialize_with = "even_null")]
    #[schema(value_type = Option<TimeOfDay>)]
    jam_buka: Option<Option<String>>,
    /// Null: it has none.
    #[serde(default, deserialize_with = "even_null")]
    #[schema(value_type = Option<EndOfHours>)]
    jam_tutup: Option<Option<String>>,
    /// Days for which a top-up without a package extends an account; null: it never expires.
    #[serde(default, deserialize_with = "even_null")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 3650)]
    berlaku_hari: Option<Option<Whole>>,
    /// How it takes QRIS: not at all, as its kasir sees it, or by bills of a provider.
    qris: Option<QrisMode>,
}

/// Changes an outlet. Another zone moves its prices by hour.
#[utoipa::path(
    post, path = "/ops/v1/outlet/{id}", operation_id = "change_outlet", tag = "papan", security(("operator" = []), ("session" = [])),
    params(("id" = inline(OutletId), Path)), request_body = OutletChange,
    responses(
        (status = 200, body = Empty), (status = 400, body = Empty, description = "Such as `zona tidak dikenal`"), (status = 401, body = Empty),
        (status = 403, body = Empty), (status = 404, body = Empty),
        (status = 422, body = Empty, description = "`kunci QRIS kosong`: this server has no key of the owner at that provider"),
    )
)]
pub async fn change(
    by: Minimal<{ Right::OutletUbah.rank() }>,
    store: web::Data<Store>,
    bills: web::Data<Qris>,
    id: web::Path<String>,
    body: Json<OutletChange>,
) -> Result<HttpResponse, AppError> {
    const CHANGE: &str = "
        UPDATE outlet SET nama = COALESCE($2, nama), kota = COALESCE($3, kota), alamat = COALESCE($4, alamat),
            versi = versi + CASE WHEN $5::TEXT <> zona THEN 1 ELSE 0 END, zona = COALESCE($5, zona), hari_mulai = COALESCE($6, hari_mulai),
            jam_buka = CASE WHEN $7 THEN $8 ELSE jam_buka END, jam_tutup = CASE WHEN $9 THEN $10 ELSE jam_tutup END,
            berlaku_hari = CASE WHEN $11 THEN $12 ELSE berlaku_hari END, qris = COALESCE($13, qris)
        WHERE idoutlet = $1";
    let Minimal(operator) = by;
    let named =
        |field, text: &Option<String>| text.as_deref().map(|text| text::parse(field, text, text::MAX_NAME_CHARS)).transpose();
    let (name, city) = (named("nama", &body.nama)?, named("kota", &body.kota)?);
    let address = body.alamat.as_deref().map(address).transpose()?;
    let zone = body.zona.as_deref().map(zone).transpose()?;
    let day_start = body.hari_mulai.as_deref().map(day_start).transpose()?;
    let opens = body.jam_buka.as_ref().and_then(|time| time.as_deref().map(opens)).transpose()?;
    let closes = body.jam_tutup.as_ref().and_then(|time| time.as_deref().map(closes)).transpose()?;
    let days = days::within("berlaku_hari", body.berlaku_hari.flatten())?;
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let outlet = scope::named_outlet(&tx, &operator, &id).await?;
    let id = outlet.idoutlet;
    if let Some(mode) = body.qris
        && !bills.may_use(&tx, mode, outlet.idowner).await?
    {
        return Err(AppError::Unprocessable("kunci QRIS kosong"));
    }
    if let Some(zone) = &zone {
        known_to_postgres(&tx, zone).await?;
    }
    let params: [&(dyn ToSql + Sync); 13] = [
        &id,
        &name,
        &city,
        &address,
        &zone.as_ref().map(Zone::name),
        &day_start,
        &body.jam_buka.is_some(),
        &opens,
        &body.jam_tutup.is_some(),
        &closes,
        &body.berlaku_hari.is_some(),
        &days,
        &body.qris.map(QrisMode::as_str),
    ];
    tx.execute(CHANGE, &params).await?;
    let entry = AuditEntry {
        principal: &operator.principal(),
        action: "outlet.ubah",
        object: format!("outlet:{id}"),
        content: asked(&body),
    };
    audit::write_at(&tx, Some(id), &entry, now).await?;
    tx.commit().await?;
    Ok(answer::ok(None::<()>))
}

/// The fields that the request names, as it wrote them.
fn asked(body: &OutletChange) -> Value {
    let mut content = json!({});
    for (field, value) in [
        ("nama", body.nama.as_ref().map(|v| json!(v))),
        ("kota", body.kota.as_ref().map(|v| json!(v))),
        ("alamat", body.alamat.as_ref().map(|v| json!(v))),
        ("zona", body.zona.as_ref().map(|v| json!(v))),
        ("hari_mulai", body.hari_mulai.as_ref().map(|v| json!(v))),
        ("jam_buka", body.jam_buka.as_ref().map(|v| json!(v))),
        ("jam_tutup", body.jam_tutup.as_ref().map(|v| json!(v))),
        ("berlaku_hari", body.berlaku_hari.as_ref().map(|v| json!(v))),
        ("qris", body.qris.map(|v| json!(v))),
    ] {
        if let Some(value) = value {
            content[field] = value;
        }
    }
    content
}
