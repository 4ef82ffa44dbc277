//! `POST /ops/v1/hapus`: deletes a use and gives back what is left of its price (supervisor and above).

use actix_web::{HttpResponse, web};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::give_back::{self, MoneyBack};
use super::idempotency::{IdempotencyKey, IdempotentCall};
use super::key::{Minimal, SUPERVISOR};
use crate::db::Store;
use crate::domain::id::Id;
use crate::domain::receipt_number::ReceiptNumber;
use crate::domain::text;
use crate::http::answer::{Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::Reason;
use crate::ledger::refund::{self, Grounds};

#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct Hapus {
    /// The receipt number.
    idtransaksi: ReceiptNumber,
    #[schema(value_type = Reason)]
    alasan: String,
    /// Whose use, when two customers share the receipt number.
    idcustomer: Option<Id>,
}

/// Deletes a use and gives back what refunds have left of its price.
#[utoipa::path(
    post, path = "/ops/v1/hapus", tag = "operator", security(("operator" = [])), request_body = Hapus,
    params(IdempotencyKey),
    responses(
        (status = 200, body = Answer<MoneyBack>),
        (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
        (status = 409, body = Empty), (status = 422, body = Empty),
    )
)]
pub async fn hapus(
    by: Minimal<SUPERVISOR>,
    key: IdempotencyKey,
    store: web::Data<Store>,
    body: Json<Hapus>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let reason = text::parse("alasan", &body.alasan, text::MAX_REASON_CHARS)?;
    let (now, principal) = (store.now(), operator.principal());
    let grounds = Grounds { principal: &principal, reason: &reason, now };
    let call = IdempotentCall::new(&operator, key, "hapus", &*body, now)?;
    let mut client = store.get().await?;
    call.once(&mut client, async |tx| {
        let refundable = refund::lock(tx, &body.idtransaksi, give_back::visible(&operator, body.idcustomer)).await?;
        let back = refund::delete(tx, &refundable, grounds).await?;
        give_back::record(tx, "hapus", &body.idtransaksi, back, grounds).await
    })
    .await
}
