//! `GET /ops/v1/tagihan` and `GET /ops/v1/tagihan/{id}`: bills. A kasir sees those of the till, others those of the outlet.

use actix_web::{HttpResponse, web};
use deadpool_postgres::GenericClient;
use nyala_core::bill::{BillId, BillStatus};
use nyala_core::domain::id::{OutletId, TillId};
use nyala_core::domain::role::Role;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::staff::operator::Operator;
use nyala_store::db::Store;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::live::balances::Balances;
use crate::ops::people::key::{Caller, NEEDS_TILL};
use crate::ops::rows;
use crate::ops::scope::AtOutlet;
use crate::qris::tagihan::{Tagihan, select_bill};
use crate::qris::{Qris, UNKNOWN};

/// A bill of a till.
pub(super) async fn of_till(client: &impl GenericClient, id: &BillId, till: TillId, now: Timestamp) -> Result<Tagihan, AppError> {
    let stmt = client.prepare_cached(select_bill!("t.id = $1 AND t.id_perangkat = $2")).await?;
    let row = client.query_opt(&stmt, &[&id.as_str(), &till]).await?.ok_or(UNKNOWN)?;
    Tagihan::of(&row, now)
}

/// A bill in sight: for a kasir of the till, else of the outlet.
pub(super) async fn in_sight(store: &Store, id: &BillId, operator: &Operator) -> Result<Tagihan, AppError> {
    let (client, now) = (store.get().await?, store.now());
    if operator.role == Role::Kasir {
        let till = operator.at.ok_or(AppError::NotAllowed(NEEDS_TILL))?;
        return of_till(&*client, id, till.browser, now).await;
    }
    const FIND: &str =
        select_bill!("t.id = $1 AND ($2::BIGINT IS NULL OR t.idowner = $2) AND ($3::BIGINT IS NULL OR t.idoutlet = $3)");
    let stmt = client.prepare_cached(FIND).await?;
    let row = client.query_opt(&stmt, &[&id.as_str(), &operator.scope.owner, &operator.scope.outlet]).await?.ok_or(UNKNOWN)?;
    Tagihan::of(&row, now)
}

/// A bill. Looking asks the provider about one that is not paid, every three seconds at most.
#[utoipa::path(
    get, path = "/ops/v1/tagihan/{id}", operation_id = "tagihan_satu", tag = "kasir", security(("operator" = []), ("session" = [])),
    params(("id" = inline(BillId), Path, description = "idtagihan")),
    responses(
        (status = 200, body = Answer<Tagihan>), (status = 401, body = Empty),
        (status = 403, description = "A kasir's API key: it has no till", body = Empty),
        (status = 404, description = "`tagihan tidak ditemukan`", body = Empty),
    )
)]
pub async fn one(
    Caller(operator): Caller,
    store: web::Data<Store>,
    qris: web::Data<Qris>,
    balances: web::Data<Balances>,
    id: web::Path<String>,
) -> Result<HttpResponse, AppError> {
    let id = BillId::parse(&id).ok_or(UNKNOWN)?;
    in_sight(&store, &id, &operator).await?;
    qris.look(&balances, &id).await?;
    Ok(answer::ok(in_sight(&store, &id, &operator).await?))
}

/// Which bills.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct BillsAsked {
    /// Only those of this status; of those that are held only what the owner has not dealt with.
    #[param(value_type = BillStatus, required = false, inline)]
    status: Option<String>,
    /// How many rows; 50 when left out.
    #[param(required = false, minimum = 1, maximum = 100)]
    limit: Option<i64>,
    /// `lanjut` of the page before.
    #[param(value_type = BillId, required = false, inline)]
    sebelum: Option<String>,
    /// The outlet; needed when the caller sees several. A kasir sees the till's.
    #[param(value_type = OutletId, required = false, inline)]
    idoutlet: Option<OutletId>,
}

/// A page of bills, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct TagihanRows {
    baris: Vec<Tagihan>,
    /// `sebelum` of the next page; null on the last one.
    #[schema(required)]
    lanjut: Option<String>,
}

/// Bills, newest first: those of the till for a kasir, of the outlet for others.
#[utoipa::path(
    get, path = "/ops/v1/tagihan", operation_id = "tagihan_daftar", tag = "kasir", security(("operator" = []), ("session" = [])),
    params(BillsAsked),
    responses(
        (status = 200, body = Answer<TagihanRows>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, description = "A kasir's API key: it has no till", body = Empty), (status = 404, body = Empty),
        (status = 422, description = "`idoutlet wajib diisi`: several outlets are in sight", body = Empty),
    )
)]
pub async fn list(
    Caller(operator): Caller,
    store: web::Data<Store>,
    asked: web::Query<BillsAsked>,
) -> Result<HttpResponse, AppError> {
    const LIST: &str = concat!(
        select_bill!("($1::BIGINT IS NULL OR t.id_perangkat = $1) AND ($2::BIGINT IS NULL OR t.idoutlet = $2) AND ($3::TEXT IS NULL OR t.status = $3)
            AND ($3::TEXT IS DISTINCT FROM 'tertahan' OR t.selesai_at IS NULL)
            AND ($4::TEXT IS NULL OR (t.created_at, t.id) < (SELECT b.created_at, b.id FROM tagihan b WHERE b.id = $4))"),
        " ORDER BY t.created_at DESC, t.id DESC LIMIT $5"
    );
    let limit = rows::limit(asked.limit)?;
    let status = asked.status.as_deref().map(|text| BillStatus::from_stored(text).ok_or_else(unknown_status)).transpose()?;
    let before = asked.sebelum.as_deref().map(|id| BillId::parse(id).ok_or_else(unknown_cursor)).transpose()?;
    let client = store.get().await?;
    let (till, outlet) = if operator.role == Role::Kasir {
        (Some(operator.at.ok_or(AppError::NotAllowed(NEEDS_TILL))?.browser), None)
    } else {
        (None, Some(AtOutlet::named(asked.idoutlet).of(&*client, &operator).await?.idoutlet))
    };
    let stmt = client.prepare_cached(LIST).await?;
    let (status, before) = (status.map(BillStatus::as_str), before.as_ref().map(BillId::as_str));
    let found = client.query(&stmt, &[&till, &outlet, &status, &before, &(limit + 1)]).await?;
    let size = usize::try_from(limit).unwrap_or_default();
    let baris = found.iter().take(size).map(|row| Tagihan::of(row, store.now())).collect::<Result<Vec<_>, _>>()?;
    let last = found.get(size.saturating_sub(1)).filter(|_| found.len() > size);
    Ok(answer::ok(TagihanRows { baris, lanjut: last.map(|row| row.get(0)) }))
}

fn unknown_status() -> AppError {
    AppError::bad_input(format!("status harus salah satu dari: {}", BillStatus::ALL.map(BillStatus::as_str).join(", ")))
}

fn unknown_cursor() -> AppError {
    AppError::bad_input("sebelum harus idtagihan")
}
