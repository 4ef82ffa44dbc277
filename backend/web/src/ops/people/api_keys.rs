//! `/ops/v1/kunci`: API keys of programs, with roles below the caller's own: the list, new ones, and revoking them (supervisor and above).

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::{OutletId, OwnerId, StaffId};
use nyala_core::domain::right::Right;
use nyala_core::domain::text;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::staff::key::{self, KeyKind};
use nyala_identity::staff::people;
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::ShortText;
use crate::ops::people::key::Minimal;
use crate::ops::people::staff::{below, parse_role, works_for};
use crate::ops::rows::{Page, Rows};

#[derive(Debug, Deserialize, ToSchema)]
pub struct Kunci {
    /// Who holds it.
    #[schema(value_type = ShortText)]
    nama: String,
    /// A role below the caller's own.
    #[schema(value_type = String, pattern = "^(kasir|teknisi|supervisor|owner)$")]
    role: String,
    /// The outlet of a kasir's, a technician's or a supervisor's key.
    idoutlet: Option<OutletId>,
    /// Whose outlets an owner's key sees.
    idowner: Option<OwnerId>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct KunciMade {
    #[schema(value_type = i64)]
    id: StaffId,
    /// The key as its holder sends it. Shown once.
    secret: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct KunciRow {
    #[schema(value_type = i64)]
    id: StaffId,
    nama: String,
    role: String,
    #[schema(value_type = Option<i64>, required)]
    idoutlet: Option<OutletId>,
    #[schema(value_type = Option<i64>, required)]
    idowner: Option<OwnerId>,
    /// RFC 3339.
    #[schema(required)]
    dicabut_at: Option<Timestamp>,
}

const UNKNOWN: AppError = AppError::NotFound("kunci tidak ditemukan");

/// Keys of programs in sight: people's have no secret. $1 owner, $2 outlet, $3 roles.
const SIGHT: &str = "
    FROM kunci_operator k LEFT JOIN outlet o ON o.idoutlet = k.idoutlet
    WHERE ($1::BIGINT IS NULL OR COALESCE(o.idowner, k.idowner) = $1) AND ($2::BIGINT IS NULL OR k.idoutlet = $2) AND k.role = ANY($3)
        AND NOT EXISTS (SELECT FROM petugas p WHERE p.id_kunci = k.id)";

/// The API keys within the caller's scope and below the caller's role, newest first.
#[utoipa::path(
    operation_id = "kunci_list",
    get, path = "/ops/v1/kunci", tag = "operator", security(("operator" = []), ("session" = [])), params(Page),
    responses(
        (status = 200, body = Answer<Rows<KunciRow>>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, body = Empty),
    )
)]
pub async fn list(
    by: Minimal<{ Right::KunciKelola.rank() }>,
    store: web::Data<Store>,
    page: web::Query<Page>,
) -> Result<HttpResponse, AppError> {
    let list = format!(
        "SELECT k.id, k.nama, k.role, k.idoutlet, k.idowner, k.revoked_at {SIGHT} AND k.id < $4 ORDER BY k.id DESC LIMIT $5"
    );
    let Minimal(operator) = by;
    let roles = below(operator.role);
    let keys = page.read(&store, &operator, &list, &roles, |row| KunciRow {
        id: row.get(0),
        nama: row.get(1),
        role: row.get(2),
        idoutlet: row.get(3),
        idowner: row.get(4),
        dicabut_at: row.get(5),
    });
    Ok(answer::ok(keys.await?))
}

/// Makes a key. The answer shows its secret, once.
#[utoipa::path(
    operation_id = "kunci_add",
    post, path = "/ops/v1/kunci", tag = "operator", security(("operator" = []), ("session" = [])), request_body = Kunci,
    responses(
        (status = 200, body = Answer<KunciMade>), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty),
        (status = 404, body = Empty),
    )
)]
pub async fn add(
    by: Minimal<{ Right::KunciKelola.rank() }>,
    store: web::Data<Store>,
    body: Json<Kunci>,
) -> Result<HttpResponse, AppError> {
    const INSERT: &str = "
        INSERT INTO kunci_operator (role, idowner, idoutlet, nama, hash, created_at) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id";
    let Minimal(operator) = by;
    let name = text::parse("nama", &body.nama, text::MAX_NAME_CHARS)?;
    let role = parse_role(&body.role, &operator)?;
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let (idoutlet, idowner) = works_for(&tx, &operator, role, (body.idoutlet, body.idowner)).await?.ids();
    people::refuse_older(&tx, role).await?;
    let (secret, hash) = key::generate();
    let id: StaffId = tx.query_one(INSERT, &[&role.as_str(), &idowner, &idoutlet, &name, &hash, &now]).await?.try_get(0)?;
    let content = json!({ "role": role.as_str(), "idowner": idowner, "idoutlet": idoutlet, "nama": name });
    let (principal, object) = (&*operator.principal(), format!("kunci:{id}"));
    audit::write_at(&tx, idoutlet, &AuditEntry { principal, action: "kunci.buat", object, content }, now).await?;
    tx.commit().await?;
    Ok(answer::ok(KunciMade { id, secret: KeyKind::Api.text(id, &secret) }))
}

/// Revokes a key: each call with it is 401 from now on.
#[utoipa::path(
    operation_id = "kunci_revoke",
    post, path = "/ops/v1/kunci/{id}/cabut", tag = "operator", security(("operator" = []), ("session" = [])), params(("id" = inline(StaffId), Path)),
    responses((status = 200, body = Empty), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty))
)]
pub async fn revoke(
    by: Minimal<{ Right::KunciKelola.rank() }>,
    id: web::Path<String>,
    store: web::Data<Store>,
) -> Result<HttpResponse, AppError> {
    let revoke = format!(
        "UPDATE kunci_operator SET revoked_at = $5 WHERE id = (SELECT k.id {SIGHT} AND k.id = $4) AND revoked_at IS NULL RETURNING idoutlet"
    );
    let Minimal(operator) = by;
    let id = StaffId::parse(&id).ok_or(UNKNOWN)?;
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let scope = operator.scope;
    let row = tx.query_opt(&revoke, &[&scope.owner, &scope.outlet, &below(operator.role), &id, &now]).await?;
    let idoutlet = row.ok_or(UNKNOWN)?.try_get(0)?;
    let (principal, object) = (&*operator.principal(), format!("kunci:{id}"));
    audit::write_at(&tx, idoutlet, &AuditEntry { principal, action: "kunci.cabut", object, content: json!({}) }, now).await?;
    tx.commit().await?;
    Ok(answer::ok(None::<()>))
}
