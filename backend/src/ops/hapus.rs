//! `POST /ops/v1/hapus`: deletes a use and gives back what is left of its price (supervisor and above).

use actix_web::{HttpResponse, web};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::idempotensi::{IdempotencyKey, Panggilan};
use super::kembali::{self, MoneyBack};
use super::kunci::{Minimal, SUPERVISOR};
use crate::app::AppState;
use crate::domain::id::Id;
use crate::domain::no_nota::NoNota;
use crate::domain::teks;
use crate::http::answer::{Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::Reason;
use crate::ledger;
use crate::ledger::pemakaian::{self, Keputusan};

#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct Hapus {
    /// The receipt number.
    idtransaksi: NoNota,
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
    kunci: IdempotencyKey,
    state: web::Data<AppState>,
    body: Json<Hapus>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let alasan = teks::parse("alasan", &body.alasan, teks::MAX_ALASAN_CHARS)?;
    let (now, aktor) = (state.jam.now(), operator.aktor());
    let keputusan = Keputusan { aktor: &aktor, alasan: &alasan, now };
    let panggilan = Panggilan::new(&operator, kunci, "hapus", &*body, now)?;
    let mut client = state.db.get().await?;
    panggilan
        .once(&mut client, async |tx| {
            let pemakaian = pemakaian::lock(tx, &body.idtransaksi, kembali::batas(&operator, body.idcustomer)).await?;
            let back = ledger::hapus::hapus(tx, &pemakaian, keputusan).await?;
            kembali::record(tx, "hapus", &body.idtransaksi, back, keputusan).await
        })
        .await
}
