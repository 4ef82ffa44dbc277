//! `/ops/v1/perangkat`: paired browsers: the list, codes for new ones, and revoking a lost one (supervisor and above).

use actix_web::{HttpResponse, web};
use deadpool_postgres::Transaction;
use nyala_core::domain::id::{OutletId, StaffId, TillId};
use nyala_core::domain::right::Right;
use nyala_core::domain::role::Role;
use nyala_core::domain::text;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::staff::Staff;
use nyala_identity::staff::browser::{self, BrowserOf, CODE_TTL_MS, Pairing};
use nyala_identity::staff::ended::SessionEnded;
use nyala_identity::staff::operator::Operator;
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::schema::OneOf;

use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::{ShortText, id, null, with};
use crate::ops::people::key::Minimal;
use crate::ops::rows::{Page, Rows};
use crate::ops::scope;

#[derive(Debug, Deserialize, ToSchema)]
pub struct Perangkat {
    #[schema(value_type = ShortText)]
    nama: String,
    /// The outlet that the browser belongs to; this or `idpetugas`.
    idoutlet: Option<OutletId>,
    /// The person that the browser belongs to; this or `idoutlet`.
    idpetugas: Option<StaffId>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Invitation {
    #[schema(value_type = i64)]
    id: TillId,
    /// Typed once at `/kasir/pasang`.
    kode: String,
    /// RFC 3339.
    sampai: Timestamp,
}

impl From<Pairing> for Invitation {
    fn from(pairing: Pairing) -> Self {
        Self { id: pairing.id, kode: pairing.code, sampai: pairing.until }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PerangkatRow {
    #[schema(value_type = i64)]
    id: TillId,
    nama: String,
    #[schema(value_type = Option<i64>)]
    idoutlet: Option<OutletId>,
    #[schema(value_type = Option<i64>)]
    idpetugas: Option<StaffId>,
    /// RFC 3339; null until the pairing code is used.
    dipasang_at: Option<Timestamp>,
    /// RFC 3339.
    dicabut_at: Option<Timestamp>,
}

/// Rule that connects the fields: it belongs to an outlet or to a person.
pub fn together() -> [OneOf; 1] {
    let of = |this: &str, not: &str| with(this, id()).property(not, null());
    [OneOf::builder().item(of("idoutlet", "idpetugas")).item(of("idpetugas", "idoutlet")).build()]
}

/// The browsers within the caller's scope, newest first.
#[utoipa::path(
    operation_id = "perangkat_list",
    get, path = "/ops/v1/perangkat", tag = "operator", security(("operator" = []), ("session" = [])),
    params(Page),
    responses(
        (status = 200, body = Answer<Rows<PerangkatRow>>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, body = Empty),
    )
)]
pub async fn list(
    by: Minimal<{ Right::PerangkatKelola.rank() }>,
    store: web::Data<Store>,
    page: web::Query<Page>,
) -> Result<HttpResponse, AppError> {
    let list = format!(
        "SELECT p.id, p.nama, p.idoutlet, p.id_kunci, p.dipasang_at, p.dicabut_at {SIGHT} AND p.id < $4 ORDER BY p.id DESC LIMIT $5"
    );
    let Minimal(operator) = by;
    let all = operator.role >= Role::Owner;
    let browsers = page.read(&store, &operator, &list, &all, |row| PerangkatRow {
        id: row.get(0),
        nama: row.get(1),
        idoutlet: row.get(2),
        idpetugas: row.get(3),
        dipasang_at: row.get(4),
        dicabut_at: row.get(5),
    });
    Ok(answer::ok(browsers.await?))
}

/// $1 owner, $2 outlet, $3 whether people's own browsers are visible, too.
const SIGHT: &str = "
    FROM perangkat p LEFT JOIN kunci_operator k ON k.id = p.id_kunci
    LEFT JOIN outlet o ON o.idoutlet = COALESCE(p.idoutlet, k.idoutlet)
    WHERE ($1::BIGINT IS NULL OR COALESCE(o.idowner, k.idowner) = $1) AND ($2::BIGINT IS NULL OR o.idoutlet = $2)
        AND ($3 OR p.id_kunci IS NULL)";

/// Creates a code for a browser of an outlet, or of one person (owners only).
#[utoipa::path(
    operation_id = "perangkat_invite",
    post, path = "/ops/v1/perangkat", tag = "operator", security(("operator" = []), ("session" = [])), request_body = Perangkat,
    responses(
        (status = 200, body = Answer<Invitation>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, body = Empty), (status = 404, body = Empty),
    )
)]
pub async fn invite(
    by: Minimal<{ Right::PerangkatKelola.rank() }>,
    store: web::Data<Store>,
    body: Json<Perangkat>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let name = text::parse("nama", &body.nama, text::MAX_NAME_CHARS)?;
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let of = match (body.idoutlet, body.idpetugas) {
        (Some(outlet), None) => BrowserOf::Outlet(scope::outlet(&tx, &operator, outlet).await?.idoutlet),
        (None, Some(_)) if operator.role < Role::Owner => return Err(AppError::Forbidden),
        (None, Some(person)) => BrowserOf::Person(person_in_sight(&tx, &operator, person).await?),
        _ => return Err(AppError::bad_input("isi salah satu: idoutlet atau idpetugas")),
    };
    let pairing = invite_with_record(&tx, &name, of, CODE_TTL_MS, &operator.principal(), now).await?;
    tx.commit().await?;
    Ok(answer::ok(Invitation::from(pairing)))
}

/// Creates a code and its entry in the audit log.
pub async fn invite_with_record(
    tx: &Transaction<'_>,
    name: &str,
    of: BrowserOf,
    life_ms: i64,
    principal: &str,
    now: Timestamp,
) -> Result<Pairing, AppError> {
    let pairing = browser::invite(tx, name, of, life_ms, now).await?;
    let (idoutlet, content) = match of {
        BrowserOf::Outlet(id) => (Some(id), json!({ "nama": name, "idoutlet": id })),
        BrowserOf::Person(id) => (None, json!({ "nama": name, "idpetugas": id })),
    };
    let object = format!("perangkat:{}", pairing.id);
    audit::write_at(tx, idoutlet, &AuditEntry { principal, action: "perangkat.undang", object, content }, now).await?;
    Ok(pairing)
}

/// The operator's own person, or a member of the operator's staff.
async fn person_in_sight(tx: &Transaction<'_>, operator: &Operator, person: StaffId) -> Result<StaffId, AppError> {
    const FIND: &str = "
        SELECT k.id FROM petugas p JOIN kunci_operator k ON k.id = p.id_kunci LEFT JOIN outlet o ON o.idoutlet = k.idoutlet
        WHERE k.id = $1 AND k.revoked_at IS NULL AND ($2::BIGINT IS NULL OR COALESCE(o.idowner, k.idowner) = $2)
            AND ($3::BIGINT IS NULL OR k.idoutlet = $3 OR k.id = $4)";
    let row = tx.query_opt(FIND, &[&person, &operator.scope.owner, &operator.scope.outlet, &operator.id]).await?;
    row.map(|row| row.get(0)).ok_or(AppError::NotFound("petugas tidak ditemukan"))
}

/// Revokes a browser, for example a lost one: its cookie and all its sessions end.
#[utoipa::path(
    operation_id = "perangkat_end",
    post, path = "/ops/v1/perangkat/{id}/cabut", tag = "operator", security(("operator" = []), ("session" = [])), params(("id" = TillId, Path)),
    responses((status = 200, body = Empty), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty))
)]
pub async fn end(
    by: Minimal<{ Right::PerangkatKelola.rank() }>,
    id: web::Path<TillId>,
    store: web::Data<Store>,
    staff: web::Data<Staff>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let id = in_sight(&tx, &operator, id.into_inner()).await?;
    if !end_with_record(&tx, id, &operator.principal(), now).await? {
        return Err(UNKNOWN);
    }
    tx.commit().await?;
    staff.notify(SessionEnded::Browser(id));
    Ok(answer::ok(None::<()>))
}

const UNKNOWN: AppError = AppError::NotFound("perangkat tidak ditemukan");

/// A visible browser, ended or not, whose row is locked.
async fn in_sight(tx: &Transaction<'_>, operator: &Operator, id: TillId) -> Result<TillId, AppError> {
    let find = format!("SELECT p.id {SIGHT} AND p.id = $4 FOR UPDATE OF p");
    let all = operator.role >= Role::Owner;
    let row = tx.query_opt(&find, &[&operator.scope.owner, &operator.scope.outlet, &all, &id]).await?;
    row.map(|row| row.get(0)).ok_or(UNKNOWN)
}

/// Creates a code for a browser that replaces this one, revoked or not: the till continues there with its open shift.
#[utoipa::path(
    operation_id = "perangkat_invite_again",
    post, path = "/ops/v1/perangkat/{id}/pasang", tag = "operator", security(("operator" = []), ("session" = [])), params(("id" = TillId, Path)),
    responses(
        (status = 200, body = Answer<Invitation>), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty),
        (status = 404, body = Empty),
    )
)]
pub async fn invite_again(
    by: Minimal<{ Right::PerangkatKelola.rank() }>,
    id: web::Path<TillId>,
    store: web::Data<Store>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let id = in_sight(&tx, &operator, id.into_inner()).await?;
    let pairing = invite_again_with_record(&tx, id, &operator.principal(), store.now()).await?.ok_or(UNKNOWN)?;
    tx.commit().await?;
    Ok(answer::ok(Invitation::from(pairing)))
}

/// Creates a code for a browser's replacement, and its entry in the audit log. `None`: there is no such browser.
pub async fn invite_again_with_record(
    tx: &Transaction<'_>,
    id: TillId,
    principal: &str,
    now: Timestamp,
) -> Result<Option<Pairing>, AppError> {
    let Some(pairing) = browser::invite_again(tx, id, now).await? else { return Ok(None) };
    let idoutlet = browser::by_id(tx, id).await?.outlet.map(|outlet| outlet.idoutlet);
    let entry = AuditEntry { principal, action: "perangkat.undang_lagi", object: format!("perangkat:{id}"), content: json!({}) };
    audit::write_at(tx, idoutlet, &entry, now).await?;
    Ok(Some(pairing))
}

/// Ends a browser and writes the entry in the audit log. False: no such browser, or it has already ended.
pub async fn end_with_record(tx: &Transaction<'_>, id: TillId, principal: &str, now: Timestamp) -> Result<bool, AppError> {
    const END: &str = "
        WITH ended AS (
            UPDATE perangkat SET dicabut_at = $2, token_hash = NULL, token_sampai = NULL, kode_hash = NULL, kode_sampai = NULL
            WHERE id = $1 AND dicabut_at IS NULL RETURNING id, idoutlet
        ), over AS (
            UPDATE sesi_petugas s SET keluar_at = $2 FROM ended e WHERE s.id_perangkat = e.id AND s.keluar_at IS NULL
        )
        SELECT idoutlet FROM ended";
    let Some(row) = tx.query_opt(END, &[&id, &now]).await? else { return Ok(false) };
    let entry = AuditEntry { principal, action: "perangkat.cabut", object: format!("perangkat:{id}"), content: json!({}) };
    audit::write_at(tx, row.get(0), &entry, now).await?;
    Ok(true)
}
