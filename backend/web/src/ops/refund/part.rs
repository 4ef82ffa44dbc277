//! `POST /ops/v1/refund`: refunds part or all of a purchase's price (supervisor and above, a kasir with an approval).

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::WalletId;
use nyala_core::domain::receipt_number::ReceiptNumber;
use nyala_core::domain::whole;
use nyala_store::db::Store;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::answer::{Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::Reason;
use crate::live::balances::Balances;
use crate::ops::approval::{Approval, Approved};
use crate::ops::idempotency::IdempotencyKey;
use crate::ops::refund::give_back::{MoneyBack, Purchase, Share, give_back};

#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct Refund {
    /// The receipt number.
    idtransaksi: ReceiptNumber,
    /// Rupiah to give back, at least 1, at most what is left of the price.
    #[schema(minimum = 1, maximum = 9223372036854775807_i64)]
    #[serde(deserialize_with = "whole::deserialize")]
    nominal: i64,
    #[schema(value_type = Reason)]
    alasan: String,
    /// Whose use: when two customers share the receipt number, and always from a kasir.
    idcustomer: Option<WalletId>,
}

/// Gives back part or all of a use's price.
#[utoipa::path(
    post, path = "/ops/v1/refund", tag = "operator", security(("operator" = []), ("session" = [])), request_body = Refund,
    params(IdempotencyKey, Approval),
    responses(
        (status = 200, body = Answer<MoneyBack>),
        (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
        (status = 409, body = Empty), (status = 422, body = Empty),
    )
)]
pub async fn refund(
    by: Approved,
    key: IdempotencyKey,
    store: web::Data<Store>,
    balances: web::Data<Balances>,
    body: Json<Refund>,
) -> Result<HttpResponse, AppError> {
    let purchase = Purchase { receipt: &body.idtransaksi, idcustomer: body.idcustomer, reason: &body.alasan };
    give_back((by, key), (&store, &balances), &*body, purchase, Share::Part(body.nominal)).await
}
