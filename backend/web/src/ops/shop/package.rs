//! `/ops/v1/paket`: top-ups that an outlet sells with a bonus. The list (every role; a kasir sees those that can be sold), a new one, a
//! change (supervisor and above).

use actix_web::{HttpResponse, web};
use deadpool_postgres::{GenericClient, Transaction};
use nyala_core::domain::id::{OutletId, PackageId};
use nyala_core::domain::right::Right;
use nyala_core::domain::role::Role;
use nyala_core::domain::rupiah::Rupiah;
use nyala_core::domain::text;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::domain::whole::Whole;
use nyala_identity::staff::operator::Operator;
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_postgres::types::ToSql;
use utoipa::ToSchema;

use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::{Json, even_null};
use crate::http::schema::ShortText;
use crate::ops::days;
use crate::ops::people::key::{Caller, Minimal};
use crate::ops::rows::{Page, Rows};
use crate::ops::scope;

#[derive(Debug, Serialize, ToSchema)]
pub struct PaketRow {
    #[schema(value_type = i64)]
    idpaket: PackageId,
    #[schema(value_type = i64)]
    idoutlet: OutletId,
    nama: String,
    /// Rupiah paid.
    harga: i64,
    /// Rupiah added.
    quota: i64,
    /// Days for which the package extends an account; null: it never expires.
    #[schema(required)]
    berlaku_hari: Option<i32>,
    aktif: bool,
}

/// The packages within the caller's scope, newest first.
#[utoipa::path(
    get, path = "/ops/v1/paket", operation_id = "list_paket", tag = "kasir", security(("operator" = []), ("session" = [])),
    params(Page), responses((status = 200, body = Answer<Rows<PaketRow>>), (status = 400, body = Empty), (status = 401, body = Empty))
)]
pub async fn list(Caller(operator): Caller, store: web::Data<Store>, page: web::Query<Page>) -> Result<HttpResponse, AppError> {
    const LIST: &str = "
        SELECT p.idpaket, p.idoutlet, p.nama, p.harga, p.quota, p.aktif, p.berlaku_hari FROM paket p JOIN outlet o USING (idoutlet)
        WHERE ($1::BIGINT IS NULL OR o.idowner = $1) AND ($2::BIGINT IS NULL OR p.idoutlet = $2) AND (p.aktif OR $3)
            AND p.idpaket < $4
        ORDER BY p.idpaket DESC LIMIT $5";
    let with_retired = operator.role > Role::Kasir;
    let packages = page.read(&store, &operator, LIST, &with_retired, |row| PaketRow {
        idpaket: row.get(0),
        idoutlet: row.get(1),
        nama: row.get(2),
        harga: row.get(3),
        quota: row.get(4),
        aktif: row.get(5),
        berlaku_hari: row.get(6),
    });
    Ok(answer::ok(packages.await?))
}

#[derive(Debug, Deserialize, ToSchema)]
pub struct NewPaket {
    idoutlet: OutletId,
    #[schema(value_type = ShortText)]
    nama: String,
    /// Rupiah paid.
    #[schema(value_type = i64, minimum = 1, maximum = 20000000)]
    harga: Rupiah,
    /// Rupiah added.
    #[schema(value_type = i64, minimum = 1, maximum = 20000000)]
    quota: Rupiah,
    /// Days for which the package extends an account; null: it never expires.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 3650)]
    berlaku_hari: Option<Whole>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PaketMade {
    #[schema(value_type = i64)]
    idpaket: PackageId,
}

/// Adds a package to an outlet.
#[utoipa::path(
    post, path = "/ops/v1/paket", operation_id = "add_paket", tag = "kasir", security(("operator" = []), ("session" = [])),
    request_body = NewPaket,
    responses(
        (status = 200, body = Answer<PaketMade>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, body = Empty), (status = 404, body = Empty),
    )
)]
pub async fn add(
    by: Minimal<{ Right::PaketBuat.rank() }>,
    store: web::Data<Store>,
    body: Json<NewPaket>,
) -> Result<HttpResponse, AppError> {
    const ADD: &str = "INSERT INTO paket (idoutlet, nama, harga, quota, created_at, berlaku_hari) VALUES ($1, $2, $3, $4, $5, $6) RETURNING idpaket";
    let Minimal(operator) = by;
    let name = text::parse("nama", &body.nama, text::MAX_NAME_CHARS)?;
    let (price, quota) = (body.harga.within("harga", 1)?, body.quota.within("quota", 1)?);
    let days = days::within("berlaku_hari", body.berlaku_hari)?;
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let outlet = scope::outlet(&tx, &operator, body.idoutlet).await?;
    let idpaket: PackageId = tx.query_one(ADD, &[&outlet.idoutlet, &name, &price, &quota, &now, &days]).await?.get(0);
    let content = json!({ "idoutlet": outlet.idoutlet, "nama": name, "harga": price, "quota": quota, "berlaku_hari": days });
    record(&tx, &operator, "paket.buat", (idpaket, outlet.idoutlet), content, now).await?;
    tx.commit().await?;
    Ok(answer::ok(PaketMade { idpaket }))
}

/// Fields to change. Omitted ones keep their values.
#[derive(Debug, Deserialize, ToSchema)]
pub struct PaketChange {
    #[schema(value_type = Option<ShortText>)]
    nama: Option<String>,
    /// Rupiah paid.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 20000000)]
    harga: Option<Rupiah>,
    /// Rupiah added.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 20000000)]
    quota: Option<Rupiah>,
    /// Days for which the package extends an account; null: it never expires.
    #[serde(default, deserialize_with = "even_null")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 3650)]
    berlaku_hari: Option<Option<Whole>>,
    /// False: no longer sold.
    aktif: Option<bool>,
}

/// Changes a package for future sales. Past sales keep their price.
#[utoipa::path(
    post, path = "/ops/v1/paket/{id}", operation_id = "change_paket", tag = "kasir", security(("operator" = []), ("session" = [])),
    params(("id" = inline(PackageId), Path)), request_body = PaketChange,
    responses(
        (status = 200, body = Empty), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty),
        (status = 404, body = Empty),
    )
)]
pub async fn change(
    by: Minimal<{ Right::PaketUbah.rank() }>,
    id: web::Path<String>,
    store: web::Data<Store>,
    body: Json<PaketChange>,
) -> Result<HttpResponse, AppError> {
    const CHANGE: &str = "
        UPDATE paket p SET nama = COALESCE($4, p.nama), harga = COALESCE($5, p.harga), quota = COALESCE($6, p.quota),
            aktif = COALESCE($7, p.aktif), berlaku_hari = CASE WHEN $8 THEN $9 ELSE p.berlaku_hari END
        FROM outlet o
        WHERE p.idpaket = $1 AND o.idoutlet = p.idoutlet AND ($2::BIGINT IS NULL OR o.idowner = $2)
            AND ($3::BIGINT IS NULL OR p.idoutlet = $3)
        RETURNING p.idoutlet";
    let Minimal(operator) = by;
    let id = PackageId::parse(&id).ok_or(UNKNOWN)?;
    let name = body.nama.as_deref().map(|nama| text::parse("nama", nama, text::MAX_NAME_CHARS)).transpose()?;
    let price = body.harga.map(|harga| harga.within("harga", 1)).transpose()?;
    let quota = body.quota.map(|quota| quota.within("quota", 1)).transpose()?;
    let days = days::within("berlaku_hari", body.berlaku_hari.flatten())?;
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let params: [&(dyn ToSql + Sync); 9] = [
        &id,
        &operator.scope.owner,
        &operator.scope.outlet,
        &name,
        &price,
        &quota,
        &body.aktif,
        &body.berlaku_hari.is_some(),
        &days,
    ];
    let changed = tx.query_opt(CHANGE, &params).await?;
    let idoutlet: OutletId = changed.ok_or(UNKNOWN)?.get(0);
    let mut content = json!({ "idoutlet": idoutlet, "nama": name, "harga": price, "quota": quota, "aktif": body.aktif });
    if body.berlaku_hari.is_some() {
        content["berlaku_hari"] = json!(days);
    }
    record(&tx, &operator, "paket.ubah", (id, idoutlet), content, now).await?;
    tx.commit().await?;
    Ok(answer::ok(None::<()>))
}

const UNKNOWN: AppError = AppError::NotFound("paket tidak ditemukan");

async fn record(
    tx: &Transaction<'_>,
    operator: &Operator,
    action: &'static str,
    (id, idoutlet): (PackageId, OutletId),
    content: serde_json::Value,
    now: Timestamp,
) -> Result<(), AppError> {
    let entry = AuditEntry { principal: &operator.principal(), action, object: format!("paket:{id}"), content };
    Ok(audit::write_at(tx, Some(idoutlet), &entry, now).await?)
}

/// The contents of a package.
pub struct Sold {
    pub quota: i64,
    pub name: String,
    /// Days of validity that it gives an account.
    pub days: Option<i32>,
}

/// A package that an outlet sells at this price; 409 when it does not, or no longer.
pub async fn sold(client: &impl GenericClient, id: PackageId, idoutlet: OutletId, price: i64) -> Result<Sold, AppError> {
    const SOLD: &str =
        "SELECT quota, nama, berlaku_hari FROM paket WHERE idpaket = $1 AND idoutlet = $2 AND harga = $3 AND aktif";
    let stmt = client.prepare_cached(SOLD).await?;
    let row = client.query_opt(&stmt, &[&id, &idoutlet, &price]).await?;
    let sold = row.map(|row| Sold { quota: row.get(0), name: row.get(1), days: row.get(2) });
    sold.ok_or(AppError::Conflict("harga paket berubah"))
}
