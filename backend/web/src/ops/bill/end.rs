//! `POST /ops/v1/tagihan/{id}/batal` cancels a bill, `POST /ops/v1/tagihan/{id}/selesai` notes what an owner has done about a payment.

use actix_web::{HttpResponse, web};
use nyala_core::bill::BillId;
use nyala_core::domain::right::Right;
use nyala_core::domain::text;
use nyala_ledger::bill;
use nyala_store::db::Store;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::list::in_sight;
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::Reason;
use crate::live::balances::Balances;
use crate::live::staff_board::StaffBoards;
use crate::ops::people::key::{Caller, Minimal};
use crate::qris::tagihan::Tagihan;
use crate::qris::{Qris, UNKNOWN};

/// Cancels a bill at its provider. One that has ended stays as it is.
#[utoipa::path(
    post, path = "/ops/v1/tagihan/{id}/batal", operation_id = "tagihan_batal", tag = "kasir", security(("operator" = []), ("session" = [])),
    params(("id" = inline(BillId), Path, description = "idtagihan")),
    responses(
        (status = 200, body = Answer<Tagihan>), (status = 401, body = Empty),
        (status = 403, description = "A kasir's API key: it has no till", body = Empty),
        (status = 404, description = "`tagihan tidak ditemukan`", body = Empty),
        (status = 409, description = "`tagihan sudah dibayar`", body = Empty),
        (status = 503, description = "`QRIS sedang tidak bisa dipakai, coba lagi`: the provider does not confirm it", body = Empty),
    )
)]
pub async fn cancel(
    Caller(operator): Caller,
    store: web::Data<Store>,
    bills: web::Data<Qris>,
    balances: web::Data<Balances>,
    id: web::Path<String>,
) -> Result<HttpResponse, AppError> {
    let id = BillId::parse(&id).ok_or(UNKNOWN)?;
    in_sight(&store, &id, &operator).await?;
    bills.cancel(&balances, &id, Some(&operator.principal())).await?;
    Ok(answer::ok(in_sight(&store, &id, &operator).await?))
}

#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct Selesai {
    /// What was done about the payment.
    #[schema(value_type = Reason)]
    catatan: String,
}

/// Notes what the owner has done about a payment that was not credited, was refunded, or has no bill. Its entry is over.
#[utoipa::path(
    post, path = "/ops/v1/tagihan/{id}/selesai", operation_id = "tagihan_selesai", tag = "kasir", security(("operator" = []), ("session" = [])),
    params(("id" = inline(BillId), Path, description = "idtagihan")), request_body = Selesai,
    responses(
        (status = 200, body = Answer<Option<Tagihan>>, description = "Null: a payment without a bill"),
        (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty),
        (status = 404, description = "`tagihan tidak ditemukan`", body = Empty),
        (status = 409, description = "`tagihan tidak tertahan`; `catatan sudah ada`: another note", body = Empty),
    )
)]
pub async fn settle(
    by: Minimal<{ Right::TagihanSelesai.rank() }>,
    store: web::Data<Store>,
    boards: web::Data<StaffBoards>,
    id: web::Path<String>,
    body: Json<Selesai>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let id = BillId::parse(&id).ok_or(UNKNOWN)?;
    let note = text::parse("catatan", &body.catatan, text::MAX_REASON_CHARS)?;
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let settled = bill::settle(&tx, (&id, operator.scope), &note, &operator.principal(), store.now()).await?;
    tx.commit().await?;
    if let Some(idoutlet) = settled {
        boards.changed(idoutlet);
    }
    drop(client);
    let bill = match in_sight(&store, &id, &operator).await {
        Err(AppError::NotFound(_)) => None,
        bill => Some(bill?),
    };
    Ok(answer::ok(bill))
}
