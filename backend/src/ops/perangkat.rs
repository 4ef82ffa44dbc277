//! `/ops/v1/perangkat`: paired browsers: which there are, codes for new ones, and the end of a lost one (supervisor and above).

use actix_web::{HttpResponse, web};
use deadpool_postgres::Transaction;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::key::{Minimal, SUPERVISOR};
use super::scope;
use crate::db::Store;
use crate::db::audit::{self, AuditEntry};
use crate::domain::id::Id;
use crate::domain::role::Role;
use crate::domain::text;
use crate::domain::timestamp::Timestamp;
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::ShortText;
use crate::staff::Staff;
use crate::staff::browser::{self, BrowserOf, CODE_LIFE_MS, Pairing};
use crate::staff::operator::Operator;
use crate::staff::session::SessionEnded;

#[derive(Debug, Deserialize, ToSchema)]
pub struct Perangkat {
    #[schema(value_type = ShortText)]
    nama: String,
    /// Whose tablet it will be; this or `idpetugas`.
    idoutlet: Option<Id>,
    /// Whose own it will be; this or `idoutlet`.
    idpetugas: Option<Id>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Invitation {
    id: i64,
    /// To be typed at `/kasir/pasang`, once.
    kode: String,
    /// RFC 3339.
    sampai: Timestamp,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PerangkatRow {
    id: i64,
    nama: String,
    idoutlet: Option<i64>,
    idpetugas: Option<i64>,
    /// RFC 3339; null until its code was used.
    dipasang_at: Option<Timestamp>,
    /// RFC 3339.
    dicabut_at: Option<Timestamp>,
}

/// Browsers within sight.
#[utoipa::path(
    operation_id = "perangkat_list",
    get, path = "/ops/v1/perangkat", tag = "operator", security(("operator" = []), ("session" = [])),
    responses((status = 200, body = Answer<Vec<PerangkatRow>>), (status = 401, body = Empty), (status = 403, body = Empty))
)]
pub async fn list(by: Minimal<SUPERVISOR>, store: web::Data<Store>) -> Result<HttpResponse, AppError> {
    let list = format!(
        "SELECT p.id, p.nama, p.idoutlet, p.id_kunci, p.dipasang_at, p.dicabut_at {SIGHT}
         ORDER BY p.dicabut_at IS NOT NULL, p.nama, p.id LIMIT 1000"
    );
    let Minimal(operator) = by;
    let client = store.get().await?;
    let stmt = client.prepare_cached(&list).await?;
    let rows = client.query(&stmt, &[&operator.idowner, &operator.idoutlet, &(operator.role >= Role::Owner)]).await?;
    let browsers: Vec<_> = rows
        .iter()
        .map(|row| PerangkatRow {
            id: row.get(0),
            nama: row.get(1),
            idoutlet: row.get(2),
            idpetugas: row.get(3),
            dipasang_at: row.get(4),
            dicabut_at: row.get(5),
        })
        .collect();
    Ok(answer::ok(browsers))
}

/// $1 owner, $2 outlet, $3 whether people's own browsers are in sight, too.
const SIGHT: &str = "
    FROM perangkat p LEFT JOIN kunci_operator k ON k.id = p.id_kunci
    LEFT JOIN outlet o ON o.idoutlet = COALESCE(p.idoutlet, k.idoutlet)
    WHERE ($1::BIGINT IS NULL OR COALESCE(o.idowner, k.idowner) = $1) AND ($2::BIGINT IS NULL OR o.idoutlet = $2)
        AND ($3 OR p.id_kunci IS NULL)";

/// A code for a browser of an outlet, or of one person (owners only).
#[utoipa::path(
    operation_id = "perangkat_invite",
    post, path = "/ops/v1/perangkat", tag = "operator", security(("operator" = []), ("session" = [])), request_body = Perangkat,
    responses(
        (status = 200, body = Answer<Invitation>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, body = Empty), (status = 404, body = Empty),
    )
)]
pub async fn invite(by: Minimal<SUPERVISOR>, store: web::Data<Store>, body: Json<Perangkat>) -> Result<HttpResponse, AppError> {
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
    let pairing = invite_with_record(&tx, &name, of, CODE_LIFE_MS, &operator.principal(), now).await?;
    tx.commit().await?;
    Ok(answer::ok(Invitation { id: pairing.id, kode: pairing.code, sampai: pairing.until }))
}

/// A code, with the line in the audit log.
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

/// Themselves, or somebody who works for them.
async fn person_in_sight(tx: &Transaction<'_>, operator: &Operator, person: Id) -> Result<i64, AppError> {
    const FIND: &str = "
        SELECT k.id FROM petugas p JOIN kunci_operator k ON k.id = p.id_kunci LEFT JOIN outlet o ON o.idoutlet = k.idoutlet
        WHERE k.id = $1 AND k.revoked_at IS NULL AND ($2::BIGINT IS NULL OR COALESCE(o.idowner, k.idowner) = $2)
            AND ($3::BIGINT IS NULL OR k.idoutlet = $3 OR k.id = $4)";
    let row = tx.query_opt(FIND, &[&person.get(), &operator.idowner, &operator.idoutlet, &operator.id]).await?;
    row.map(|row| row.get(0)).ok_or(AppError::NotFound("petugas tidak ditemukan"))
}

/// Ends a browser, a lost one say: its cookie and every session in it.
#[utoipa::path(
    operation_id = "perangkat_end",
    post, path = "/ops/v1/perangkat/{id}/cabut", tag = "operator", security(("operator" = []), ("session" = [])), params(("id" = Id, Path)),
    responses((status = 200, body = Empty), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty))
)]
pub async fn end(
    by: Minimal<SUPERVISOR>,
    id: web::Path<Id>,
    store: web::Data<Store>,
    staff: web::Data<Staff>,
) -> Result<HttpResponse, AppError> {
    let find = format!("SELECT p.id {SIGHT} AND p.id = $4 AND p.dicabut_at IS NULL FOR UPDATE OF p");
    let Minimal(operator) = by;
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let all = operator.role >= Role::Owner;
    let row = tx.query_opt(&find, &[&operator.idowner, &operator.idoutlet, &all, &id.into_inner().get()]).await?;
    let id: i64 = row.ok_or(AppError::NotFound("perangkat tidak ditemukan"))?.get(0);
    end_with_record(&tx, id, &operator.principal(), now).await?;
    tx.commit().await?;
    staff.tell(SessionEnded::Browser(id));
    Ok(answer::ok(None::<()>))
}

/// Ends a browser, with the line in the audit log. False: there is none that is not ended.
pub async fn end_with_record(tx: &Transaction<'_>, id: i64, principal: &str, now: Timestamp) -> Result<bool, AppError> {
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
