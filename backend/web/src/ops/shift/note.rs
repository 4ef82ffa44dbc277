//! `POST /ops/v1/shift/{id}/catatan`: a note on the count by the person who closed the shift, once (docs/till.md).

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::ShiftId;
use nyala_core::domain::text;
use nyala_ledger::shift::{self, Noted};
use nyala_store::db::Store;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::http::answer::{self, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::Reason;
use crate::ops::people::key::Seller;
use crate::ops::shift::open as call;

#[derive(Debug, Deserialize, ToSchema)]
pub struct Note {
    #[schema(value_type = Reason)]
    catatan: String,
}

/// Adds a note to the count of a shift that the caller has closed at this till.
#[utoipa::path(
    operation_id = "shift_catatan",
    post, path = "/ops/v1/shift/{id}/catatan", tag = "kasir", security(("session" = [])), request_body = Note, params(("id" = ShiftId, Path)),
    responses(
        (status = 200, body = Empty), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, description = "Closed by somebody else; an API key", body = Empty),
        (status = 404, description = "`shift tidak ditemukan`", body = Empty),
        (status = 409, description = "`shift belum ditutup`; `catatan sudah ada`; `shift hanya di perangkat outlet`", body = Empty),
    )
)]
pub async fn note(
    seller: Seller,
    id: web::Path<ShiftId>,
    store: web::Data<Store>,
    body: Json<Note>,
) -> Result<HttpResponse, AppError> {
    let own = seller.operator.principal();
    let by = call::keeper(&seller, &own)?;
    let note = text::parse("catatan", &body.catatan, text::MAX_REASON_CHARS)?;
    let (id, now) = (id.into_inner(), store.now());
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    match shift::note(&tx, by.browser, by.person, id, &note).await? {
        Noted::Now => call::record(&tx, by, ("shift.catatan", id), json!({ "catatan": note }), now).await?,
        Noted::Before => {}
        Noted::NotTheirs => return Err(AppError::NotAllowed("catatan hanya dari yang menutup shift itu")),
    }
    tx.commit().await?;
    Ok(answer::ok(None::<()>))
}
