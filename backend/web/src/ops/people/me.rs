//! `GET /ops/v1/saya`: who calls, what they may do, and the outlets in sight (every role).

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::{OutletId, OwnerId, StaffId};
use nyala_core::domain::right::Right;
use nyala_core::domain::role::ANYBODY;
use nyala_store::db::Store;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::ops::people::key::Minimal;

#[derive(Debug, Serialize, ToSchema)]
pub struct Saya {
    #[schema(value_type = i64)]
    id: StaffId,
    nama: String,
    role: &'static str,
    /// Whose outlets an owner has, else null.
    #[schema(value_type = Option<i64>, required)]
    idowner: Option<OwnerId>,
    /// What this caller may do, such as `mesin.tutup`: a page draws no button for anything else.
    hak: Vec<&'static str>,
    outlet: Vec<OutletSaya>,
}

/// An outlet in sight.
#[derive(Debug, Serialize, ToSchema)]
pub struct OutletSaya {
    #[schema(value_type = i64)]
    idoutlet: OutletId,
    nama: String,
    kota: String,
    zona: String,
}

/// Who calls, with rights as data.
#[utoipa::path(
    get, path = "/ops/v1/saya", tag = "papan", security(("operator" = []), ("session" = [])),
    responses((status = 200, body = Answer<Saya>), (status = 401, body = Empty))
)]
pub async fn saya(Minimal(operator): Minimal<ANYBODY>, store: web::Data<Store>) -> Result<HttpResponse, AppError> {
    const NAME: &str = "SELECT nama, idowner FROM kunci_operator WHERE id = $1";
    const OUTLETS: &str = "
        SELECT idoutlet, nama, kota, zona FROM outlet
        WHERE ($1::BIGINT IS NULL OR idowner = $1) AND ($2::BIGINT IS NULL OR idoutlet = $2) ORDER BY idoutlet";
    let client = store.get().await?;
    let stmt = client.prepare_cached(NAME).await?;
    let who = client.query_one(&stmt, &[&operator.id]).await?;
    let stmt = client.prepare_cached(OUTLETS).await?;
    let rows = client.query(&stmt, &[&operator.scope.owner, &operator.scope.outlet]).await?;
    let outlets = rows.iter().map(|row| {
        Ok(OutletSaya { idoutlet: row.try_get(0)?, nama: row.try_get(1)?, kota: row.try_get(2)?, zona: row.try_get(3)? })
    });
    Ok(answer::ok(Saya {
        id: operator.id,
        nama: who.try_get(0)?,
        role: operator.role.as_str(),
        idowner: who.try_get(1)?,
        hak: Right::of(operator.role).map(Right::as_str).collect(),
        outlet: outlets.collect::<Result<Vec<_>, AppError>>()?,
    }))
}
