//! `/ops/v1/petugas`: staff at the tills: list, hire, dismiss, new PIN, unlock (supervisors for kasir and technicians, owners for supervisors, root for
//! owners).

use actix_web::{HttpRequest, HttpResponse, web};
use deadpool_postgres::{GenericClient, Transaction};
use nyala_core::domain::id::{OutletId, OwnerId, StaffId};
use nyala_core::domain::pin::Pin;
use nyala_core::domain::right::Right;
use nyala_core::domain::role::Role;
use nyala_core::domain::text;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::staff::Staff;
use nyala_identity::staff::ended::SessionEnded;
use nyala_identity::staff::operator::Operator;
use nyala_identity::staff::people::{self, WorksFor};
use nyala_identity::staff::pin_hash::PinHash;
use nyala_store::config::HttpSettings;
use nyala_store::db::Store;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, OneOf, Type};

use crate::http::answer::{self, Answer, Empty};
use crate::http::client_ip;
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::{ShortText, id, null, with};
use crate::ops::people::key::Minimal;
use crate::ops::rows::{Page, Rows};
use crate::ops::scope;

#[derive(Debug, Deserialize, ToSchema)]
pub struct Petugas {
    #[schema(value_type = ShortText)]
    nama: String,
    /// A role below the caller's own.
    #[schema(value_type = String, pattern = "^(kasir|teknisi|supervisor|owner)$")]
    role: String,
    /// Where a kasir, a technician or a supervisor works.
    idoutlet: Option<OutletId>,
    /// Whose outlets an owner has.
    idowner: Option<OwnerId>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PetugasHired {
    #[schema(value_type = i64)]
    id: StaffId,
    /// Valid for a day, to choose an own PIN with. Shown once.
    pin_awal: String,
}

impl PetugasHired {
    fn new(id: StaffId, pin: &Pin) -> Self {
        Self { id, pin_awal: pin.as_str().to_owned() }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PetugasRow {
    #[schema(value_type = i64)]
    id: StaffId,
    nama: String,
    role: String,
    #[schema(value_type = Option<i64>)]
    idoutlet: Option<OutletId>,
    #[schema(value_type = Option<i64>)]
    idowner: Option<OwnerId>,
    /// The first PIN has not been changed yet.
    pin_awal: bool,
    dikunci: bool,
    /// RFC 3339.
    dicabut_at: Option<Timestamp>,
}

/// Rule that connects the fields: an owner has outlets, the others work at one.
pub fn together() -> [OneOf; 1] {
    let works_for = |this: &str, not: &str, roles: &[Role]| {
        let roles = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(roles.iter().map(|role| role.as_str())));
        with(this, id()).property(not, null()).property("role", roles)
    };
    [OneOf::builder()
        .item(works_for("idoutlet", "idowner", &[Role::Kasir, Role::Technician, Role::Supervisor]))
        .item(works_for("idowner", "idoutlet", &[Role::Owner]))
        .build()]
}

/// The staff within the caller's scope and below the caller's role, newest first.
#[utoipa::path(
    operation_id = "petugas_list",
    get, path = "/ops/v1/petugas", tag = "operator", security(("operator" = []), ("session" = [])),
    params(Page),
    responses(
        (status = 200, body = Answer<Rows<PetugasRow>>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, body = Empty),
    )
)]
pub async fn list(
    by: Minimal<{ Right::PetugasKelola.rank() }>,
    store: web::Data<Store>,
    page: web::Query<Page>,
) -> Result<HttpResponse, AppError> {
    const LIST: &str = "
        SELECT k.id, k.nama, k.role, k.idoutlet, k.idowner, p.pin_awal_sampai IS NOT NULL, p.dikunci_at IS NOT NULL, k.revoked_at
        FROM petugas p JOIN kunci_operator k ON k.id = p.id_kunci LEFT JOIN outlet o ON o.idoutlet = k.idoutlet
        WHERE ($1::BIGINT IS NULL OR o.idowner = $1) AND ($2::BIGINT IS NULL OR k.idoutlet = $2) AND k.role = ANY($3)
            AND k.id < $4
        ORDER BY k.id DESC LIMIT $5";
    let Minimal(operator) = by;
    let roles = below(operator.role);
    let people = page.read(&store, &operator, LIST, &roles, |row| PetugasRow {
        id: row.get(0),
        nama: row.get(1),
        role: row.get(2),
        idoutlet: row.get(3),
        idowner: row.get(4),
        pin_awal: row.get(5),
        dikunci: row.get(6),
        dicabut_at: row.get(7),
    });
    Ok(answer::ok(people.await?))
}

/// The roles that an operator of this role hires and dismisses.
pub(in crate::ops) fn below(role: Role) -> Vec<&'static str> {
    [Role::Kasir, Role::Technician, Role::Supervisor, Role::Owner].into_iter().filter(|r| *r < role).map(Role::as_str).collect()
}

/// Hires a person. The answer shows the first PIN, once.
#[utoipa::path(
    operation_id = "petugas_hire",
    post, path = "/ops/v1/petugas", tag = "operator", security(("operator" = []), ("session" = [])), request_body = Petugas,
    responses(
        (status = 200, body = Answer<PetugasHired>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, body = Empty), (status = 404, body = Empty),
    )
)]
pub async fn hire(
    by: Minimal<{ Right::PetugasKelola.rank() }>,
    req: HttpRequest,
    store: web::Data<Store>,
    staff: web::Data<Staff>,
    http: web::Data<HttpSettings>,
    body: Json<Petugas>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let name = text::parse("nama", &body.nama, text::MAX_NAME_CHARS)?;
    let role = parse_role(&body.role, &operator)?;
    let client = store.get().await?;
    let works_for = works_for(&*client, &operator, role, (body.idoutlet, body.idowner)).await?;
    let (id, pin) = (people::next_id(&*client).await?, Pin::random(&mut rand::rng()));
    drop(client); // a hash takes long
    let hash = staff.hash_pin(client_ip::counted(&req, &http.trusted_proxies), id, &pin).await?;
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    hire_with_first_pin(&tx, (&name, role, works_for), &hash, &operator.principal(), store.now()).await?;
    tx.commit().await?;
    Ok(answer::ok(PetugasHired::new(id, &pin)))
}

/// A role below the operator's own.
pub(in crate::ops) fn parse_role(text: &str, operator: &Operator) -> Result<Role, AppError> {
    let role = text.parse::<Role>().ok().filter(|role| *role != Role::Root);
    let role = role.ok_or_else(|| AppError::bad_input("role harus kasir, teknisi, supervisor atau owner"))?;
    if role < operator.role { Ok(role) } else { Err(AppError::Forbidden) }
}

/// What a new person or key of this role is limited to, of which the operator sees all.
pub(in crate::ops) async fn works_for(
    client: &impl GenericClient,
    operator: &Operator,
    role: Role,
    of: (Option<OutletId>, Option<OwnerId>),
) -> Result<WorksFor, AppError> {
    Ok(match (role, of) {
        (Role::Owner, (None, Some(owner))) => WorksFor::Owner(known_owner(client, owner).await?),
        (Role::Kasir | Role::Technician | Role::Supervisor, (Some(outlet), None)) => {
            WorksFor::Outlet(scope::outlet(client, operator, outlet).await?.idoutlet)
        }
        _ => {
            return Err(AppError::bad_input(
                "kasir, teknisi dan supervisor perlu idoutlet, owner perlu idowner; isi salah satu saja",
            ));
        }
    })
}

/// Creates a person and the entry in the audit log.
pub async fn hire_with_first_pin(
    tx: &Transaction<'_>,
    who: (&str, Role, WorksFor),
    pin: &PinHash,
    principal: &str,
    now: Timestamp,
) -> Result<(), AppError> {
    people::hire(tx, who, (pin, false), now).await?;
    let (name, role, works_for) = who;
    let (idoutlet, idowner) = works_for.ids();
    let content = json!({ "nama": name, "role": role.as_str(), "idoutlet": idoutlet, "idowner": idowner });
    Ok(people::record(tx, principal, "petugas.buat", pin.person, content, now).await?)
}

async fn known_owner(client: &impl GenericClient, owner: OwnerId) -> Result<OwnerId, AppError> {
    let found = client.query_opt("SELECT FROM owner_usaha WHERE idowner = $1", &[&owner]).await?;
    found.map(|_| owner).ok_or(AppError::NotFound("owner tidak ditemukan"))
}

/// A visible person with a lower role than the operator's.
async fn find(client: &impl GenericClient, operator: &Operator, id: StaffId) -> Result<StaffId, AppError> {
    const FIND: &str = "
        SELECT k.id FROM petugas p JOIN kunci_operator k ON k.id = p.id_kunci LEFT JOIN outlet o ON o.idoutlet = k.idoutlet
        WHERE k.id = $1 AND ($2::BIGINT IS NULL OR o.idowner = $2) AND ($3::BIGINT IS NULL OR k.idoutlet = $3) AND k.role = ANY($4)
            AND k.revoked_at IS NULL";
    let stmt = client.prepare_cached(FIND).await?;
    let row = client.query_opt(&stmt, &[&id, &operator.scope.owner, &operator.scope.outlet, &below(operator.role)]).await?;
    row.map(|row| row.get(0)).ok_or(AppError::NotFound("petugas tidak ditemukan"))
}

/// Dismisses a person: the PIN, all sessions and sockets end.
#[utoipa::path(
    operation_id = "petugas_dismiss",
    post, path = "/ops/v1/petugas/{id}/cabut", tag = "operator", security(("operator" = []), ("session" = [])), params(("id" = StaffId, Path)),
    responses((status = 200, body = Empty), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty))
)]
pub async fn dismiss(
    by: Minimal<{ Right::PetugasKelola.rank() }>,
    id: web::Path<StaffId>,
    store: web::Data<Store>,
    staff: web::Data<Staff>,
) -> Result<HttpResponse, AppError> {
    const REVOKE: &str = "UPDATE kunci_operator SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";
    let Minimal(operator) = by;
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let id = find(&tx, &operator, id.into_inner()).await?;
    tx.execute(REVOKE, &[&id, &now]).await?;
    people::end_sessions(&tx, id, now).await?;
    people::record(&tx, &operator.principal(), "petugas.cabut", id, json!({}), now).await?;
    tx.commit().await?;
    staff.notify(SessionEnded::Person(id));
    Ok(answer::ok(None::<()>))
}

/// Creates a new first PIN for a person who forgot the own one, and shows it once. Unlocks the person and ends all sessions.
#[utoipa::path(
    operation_id = "petugas_reset_pin",
    post, path = "/ops/v1/petugas/{id}/reset_pin", tag = "operator", security(("operator" = []), ("session" = [])), params(("id" = StaffId, Path)),
    responses((status = 200, body = Answer<PetugasHired>), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty))
)]
pub async fn reset_pin(
    by: Minimal<{ Right::PetugasKelola.rank() }>,
    req: HttpRequest,
    id: web::Path<StaffId>,
    store: web::Data<Store>,
    staff: web::Data<Staff>,
    http: web::Data<HttpSettings>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let client = store.get().await?;
    let (id, pin) = (find(&*client, &operator, id.into_inner()).await?, Pin::random(&mut rand::rng()));
    drop(client); // a hash takes long
    let hash = staff.hash_pin(client_ip::counted(&req, &http.trusted_proxies), id, &pin).await?;
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    reset_pin_of(&tx, &hash, &operator.principal(), store.now()).await?;
    tx.commit().await?;
    staff.notify(SessionEnded::Person(id));
    Ok(answer::ok(PetugasHired::new(id, &pin)))
}

/// Sets a new first PIN and writes the entry in the audit log.
pub async fn reset_pin_of(tx: &Transaction<'_>, pin: &PinHash, principal: &str, now: Timestamp) -> Result<(), AppError> {
    people::reset_pin(tx, pin, now).await?;
    Ok(people::record(tx, principal, "petugas.reset_pin", pin.person, json!({}), now).await?)
}

/// Unlocks a person whose PIN was wrong ten times in a day.
#[utoipa::path(
    operation_id = "petugas_open_lock",
    post, path = "/ops/v1/petugas/{id}/buka_kunci", tag = "operator", security(("operator" = []), ("session" = [])), params(("id" = StaffId, Path)),
    responses((status = 200, body = Empty), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty))
)]
pub async fn open_lock(
    by: Minimal<{ Right::PetugasKelola.rank() }>,
    id: web::Path<StaffId>,
    store: web::Data<Store>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let id = find(&tx, &operator, id.into_inner()).await?;
    open_lock_of(&tx, id, &operator.principal(), now).await?;
    tx.commit().await?;
    Ok(answer::ok(None::<()>))
}

/// Unlocks a person and writes the entry in the audit log.
pub async fn open_lock_of(tx: &Transaction<'_>, id: StaffId, principal: &str, now: Timestamp) -> Result<(), AppError> {
    people::open_lock(tx, id, now).await?;
    Ok(people::record(tx, principal, "petugas.buka_kunci", id, json!({}), now).await?)
}
