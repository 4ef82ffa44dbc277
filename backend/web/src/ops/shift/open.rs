//! `/ops/v1/shift`: who uses this till, and what is in its drawer (docs/till.md).

use std::ops::RangeInclusive;

use actix_web::{HttpResponse, web};
use deadpool_postgres::Transaction;
use nyala_core::domain::error::DomainError;
use nyala_core::domain::id::ShiftId;
use nyala_core::domain::role::Role;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::domain::whole;
use nyala_ledger::shift::{self, Keeper, MAX_IN_DRAWER, Movement, Shift, SoldByMeans};
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::ops::idempotency::{IdempotencyKey, IdempotentCall};
use crate::ops::people::key::Seller;

#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct OpenShift {
    /// Rupiah in the drawer.
    #[schema(minimum = 0, maximum = 1000000000)]
    #[serde(deserialize_with = "whole::deserialize")]
    modal: i64,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ShiftNow {
    /// The till's open shift.
    shift: Option<Shift>,
    /// Rupiah that should be in the drawer; null for a `kasir`, who counts without seeing it.
    diharapkan: Option<i64>,
    /// The newest 500 movements of cash, newest first. For a `kasir` only `masuk`, `keluar` and `setor`, without amounts.
    gerak: Vec<Movement>,
    /// Rupiah of the shift's sales without reversed ones, by means of payment; left out for a `kasir`.
    #[serde(skip_serializing_if = "Option::is_none")]
    cara_bayar: Option<SoldByMeans>,
    /// How many older sales kasirs have opened in this shift; left out for a `kasir`.
    #[serde(skip_serializing_if = "Option::is_none")]
    topup_dilihat: Option<i32>,
}

/// Checks an amount in a drawer; a 400 that names `field` when it is not one of those `allowed`.
pub(in crate::ops) fn in_drawer(field: &str, amount: i64, allowed: &RangeInclusive<i64>) -> Result<i64, AppError> {
    if allowed.contains(&amount) {
        Ok(amount)
    } else {
        Err(DomainError::malformed(format!("{field} harus {} sampai {} rupiah", allowed.start(), allowed.end())).into())
    }
}

/// The till of an outlet (only such a till has shifts), and the person who uses it.
pub(in crate::ops) fn keeper<'a>(seller: &Seller, principal: &'a str) -> Result<Keeper<'a>, AppError> {
    let idoutlet = seller.till.idoutlet.ok_or(AppError::Conflict("shift hanya di perangkat outlet"))?;
    Ok(Keeper { browser: seller.till.browser, idoutlet, person: seller.operator.id, principal })
}

/// Writes a shift's entry in the audit log.
pub(super) async fn record(
    tx: &Transaction<'_>,
    by: Keeper<'_>,
    (action, shift): (&'static str, ShiftId),
    content: Value,
    now: Timestamp,
) -> Result<(), AppError> {
    let entry = AuditEntry { principal: by.principal, action, object: format!("shift:{shift}"), content };
    Ok(audit::write_at(tx, Some(by.idoutlet), &entry, now).await?)
}

/// Opens a shift at this till.
#[utoipa::path(
    operation_id = "shift_open",
    post, path = "/ops/v1/shift", tag = "kasir", security(("session" = [])), request_body = OpenShift, params(IdempotencyKey),
    responses(
        (status = 200, body = Answer<Shift>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, description = "An API key", body = Empty),
        (status = 409, description = "`shift sudah dibuka`; `shift hanya di perangkat outlet`", body = Empty),
        (status = 422, body = Empty),
    )
)]
pub async fn open(
    seller: Seller,
    key: IdempotencyKey,
    store: web::Data<Store>,
    body: Json<OpenShift>,
) -> Result<HttpResponse, AppError> {
    let principal = seller.operator.principal();
    let by = keeper(&seller, &principal)?;
    let float = in_drawer("modal", body.modal, &(0..=MAX_IN_DRAWER))?;
    let now = store.now();
    let call = IdempotentCall::new(&seller.operator, key, "shift", &*body, now)?;
    let mut client = store.get().await?;
    call.once(&mut client, async |tx| {
        let opened = shift::open(tx, by, float, now).await?;
        record(tx, by, ("shift.buka", opened.id), json!({ "modal": float }), now).await?;
        Ok(opened)
    })
    .await
}

/// The till's open shift and its cash.
#[utoipa::path(
    operation_id = "shift_now",
    get, path = "/ops/v1/shift", tag = "kasir", security(("session" = [])),
    responses((status = 200, body = Answer<ShiftNow>), (status = 401, body = Empty), (status = 403, body = Empty))
)]
pub async fn now(seller: Seller, store: web::Data<Store>) -> Result<HttpResponse, AppError> {
    let client = store.get().await?;
    let told_all = seller.operator.role >= Role::Supervisor;
    let shift = shift::open_at(&*client, seller.till.browser).await?;
    let mut now = ShiftNow { shift: None, diharapkan: None, gerak: Vec::new(), cara_bayar: None, topup_dilihat: None };
    if let Some(shift) = shift {
        now.gerak = shift::movements(&*client, shift.id, told_all).await?;
        if told_all {
            now.diharapkan = Some(shift::in_drawer(&*client, shift.id).await?);
            now.cara_bayar = Some(shift::sold(&*client, shift.id).await?);
            now.topup_dilihat = Some(shift::looks(&*client, shift.id).await?);
        }
        now.shift = Some(if told_all { shift } else { shift.without_float() });
    }
    Ok(answer::ok(now))
}
