//! Stickers: `POST /ops/v1/mesin/{id}/stiker` makes a new one, `GET /ops/v1/stiker` gives several to print (supervisor and above).

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::MachineId;
use nyala_core::domain::right::Right;
use nyala_core::domain::text;
use nyala_identity::qr;
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use nyala_store::secrets::Keyring;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use super::change::renew_sticker;
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::{MachineIds, Reason};
use crate::ops::people::key::Minimal;
use crate::ops::scope;

/// Stickers on one printed page.
const MAX_STICKERS: usize = 10;

#[derive(Debug, Deserialize, ToSchema)]
pub struct NewSticker {
    #[schema(value_type = Reason)]
    alasan: String,
}

/// What is printed on a sticker.
#[derive(Debug, Serialize, ToSchema)]
pub struct Stiker {
    #[schema(value_type = i64)]
    id: MachineId,
    nama: String,
    kode: String,
    /// The text inside its QR.
    qr: String,
}

/// Makes a new sticker for a machine; the old one leads nowhere from now on. Who has scanned it may still pay.
#[utoipa::path(
    post, path = "/ops/v1/mesin/{id}/stiker", operation_id = "renew_sticker", tag = "papan", security(("operator" = []), ("session" = [])),
    params(("id" = inline(MachineId), Path)), request_body = NewSticker,
    responses(
        (status = 200, body = Answer<Stiker>), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
    )
)]
pub async fn renew(
    by: Minimal<{ Right::MesinStiker.rank() }>,
    store: web::Data<Store>,
    keyring: web::Data<Keyring>,
    id: web::Path<String>,
    body: Json<NewSticker>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let id = MachineId::parse(&id).ok_or(AppError::MachineNotFound)?;
    let reason = text::parse("alasan", &body.alasan, text::MAX_REASON_CHARS)?;
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let idoutlet = scope::locked_machine(&tx, &operator, id).await?;
    let nama: String = tx.query_one("SELECT nama FROM mesin WHERE idmesin = $1", &[&id]).await?.try_get(0)?;
    let (version, kode) = renew_sticker(&tx, id).await?;
    let content = json!({ "qr_versi": version, "alasan": reason });
    let entry =
        AuditEntry { principal: &operator.principal(), action: "mesin.stiker_baru", object: format!("mesin:{id}"), content };
    audit::write_at(&tx, Some(idoutlet), &entry, now).await?;
    tx.commit().await?;
    Ok(answer::ok(Stiker { id, nama, kode, qr: qr::machine::make(&keyring.get(), id, version) }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct WhichStickers {
    /// One to ten ids, with commas between them.
    #[param(value_type = MachineIds, inline)]
    id: String,
}

/// A sticker with its picture.
#[derive(Debug, Serialize, ToSchema)]
pub struct StikerPng {
    #[schema(value_type = i64)]
    id: MachineId,
    nama: String,
    kode: String,
    /// The text inside its QR.
    qr: String,
    /// The QR as a PNG in base64, without a `data:` prefix.
    png: String,
}

/// The present stickers of machines, in the order of their ids in the request.
#[utoipa::path(
    get, path = "/ops/v1/stiker", operation_id = "list_stiker", tag = "papan", security(("operator" = []), ("session" = [])), params(WhichStickers),
    responses(
        (status = 200, body = Answer<Vec<StikerPng>>), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty),
        (status = 404, body = Empty, description = "One of them is unknown"),
    )
)]
pub async fn list(
    by: Minimal<{ Right::MesinStiker.rank() }>,
    store: web::Data<Store>,
    keyring: web::Data<Keyring>,
    which: web::Query<WhichStickers>,
) -> Result<HttpResponse, AppError> {
    const READ: &str = "
        SELECT idmesin, nama, kode, qr_versi FROM mesin
        WHERE idmesin = ANY($1) AND aktif AND ($2::BIGINT IS NULL OR idowner = $2) AND ($3::BIGINT IS NULL OR idoutlet = $3)";
    let Minimal(operator) = by;
    let ids = machines(&which.id)
        .ok_or_else(|| AppError::bad_input(format!("id harus 1 sampai {MAX_STICKERS} nomor mesin dengan koma")))?;
    let client = store.get().await?;
    let stmt = client.prepare_cached(READ).await?;
    let rows = client.query(&stmt, &[&ids, &operator.scope.owner, &operator.scope.outlet]).await?;
    let secrets = keyring.get();
    let stickers = ids.iter().map(|id| {
        let row = rows.iter().find(|row| row.get::<_, MachineId>(0) == *id).ok_or(AppError::MachineNotFound)?;
        let qr = qr::machine::make(&secrets, *id, row.try_get(3)?);
        let png = qr::png::base64(&qr).map_err(AppError::internal)?;
        Ok(StikerPng { id: *id, nama: row.try_get(1)?, kode: row.try_get(2)?, qr, png })
    });
    Ok(answer::ok(stickers.collect::<Result<Vec<_>, AppError>>()?))
}

/// `None` unless the text is one to ten ids with commas between them.
pub(crate) fn machines(text: &str) -> Option<Vec<MachineId>> {
    let ids: Vec<MachineId> = text.split(',').map(MachineId::parse).collect::<Option<_>>()?;
    (1..=MAX_STICKERS).contains(&ids.len()).then_some(ids)
}
