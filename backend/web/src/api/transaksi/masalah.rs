//! `POST /scan/v1/transaksi/masalah`: the customer says what went wrong with a purchase (docs/money.md).

use actix_web::{HttpResponse, web};
use nyala_core::complaint::{self, MAX_NOTE_CHARS, Reason, Refusal};
use nyala_core::domain::id::ComplaintId;
use nyala_core::domain::receipt_number::ReceiptNumber;
use nyala_core::domain::text;
use nyala_core::domain::timestamp::seconds_up;
use nyala_ledger::complaint as ledger;
use nyala_ledger::newer_kinds;
use nyala_store::db::Store;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::auth::customer::Customer;
use crate::http::answer::{Answer, Empty, ok};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::{ComplaintNote, ComplaintReason};

#[derive(Debug, Deserialize, ToSchema)]
pub struct Masalah {
    /// The receipt number.
    id: ReceiptNumber,
    #[schema(value_type = ComplaintReason)]
    alasan: String,
    #[schema(value_type = Option<ComplaintNote>)]
    catatan: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct MasalahDilaporkan {
    #[schema(value_type = i64)]
    idkeluhan: ComplaintId,
}

/// Complains about a purchase that has started, once, until 24 hours after its end.
#[utoipa::path(
    post, path = "/scan/v1/transaksi/masalah", tag = "transaksi", security(("pelanggan" = [])), request_body = Masalah,
    responses(
        (status = 200, body = Answer<MasalahDilaporkan>),
        (status = 400, body = Empty),
        (status = 401, body = Empty),
        (status = 404, description = "`Transaksi ini gagal dibuat`: it has never started", body = Empty),
        (status = 409, description = "`masalah ini sudah dilaporkan`", body = Empty),
        (status = 422, description = "`sudah lewat 24 jam`, `uang transaksi ini sudah kembali`", body = Empty),
        (status = 429, description = "The fourth within 24 hours", body = Empty),
    )
)]
pub async fn masalah(store: web::Data<Store>, customer: Customer, body: Json<Masalah>) -> Result<HttpResponse, AppError> {
    let reason = Reason::ALL.into_iter().find(|reason| reason.as_str() == body.alasan);
    let reason = reason.ok_or_else(|| AppError::bad_input("alasan harus tidak_jalan, berhenti, hasil atau lain"))?;
    let note = body.catatan.as_deref().map_or(Ok(None), note)?;
    let now = store.now();
    let mut client = store.get().await?;
    // The alert and the push of a complaint, too, are of a kind that the previous release cannot read.
    newer_kinds::check(&client).await?;
    let tx = client.transaction().await?;
    let purchase =
        ledger::read(&tx, customer.id, &body.id, now).await?.ok_or(AppError::NotFound("Transaksi ini gagal dibuat"))?;
    complaint::decide(&purchase.facts, now)?;
    let idkeluhan = ledger::add(&tx, &purchase, reason, note.as_deref(), now).await?;
    tx.commit().await?;
    Ok(ok(MasalahDilaporkan { idkeluhan }))
}

/// `None` for nothing but blanks.
pub(crate) fn note(text: &str) -> Result<Option<String>, AppError> {
    if text.trim().is_empty() { Ok(None) } else { Ok(Some(text::parse("catatan", text, MAX_NOTE_CHARS)?)) }
}

impl From<Refusal> for AppError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::TooLate => Self::Unprocessable("sudah lewat 24 jam"),
            Refusal::CameBack => Self::Unprocessable("uang transaksi ini sudah kembali"),
            Refusal::Known => Self::Conflict("masalah ini sudah dilaporkan"),
            Refusal::TooMany { wait_ms } => Self::TooMany { retry_s: seconds_up(wait_ms) },
        }
    }
}
