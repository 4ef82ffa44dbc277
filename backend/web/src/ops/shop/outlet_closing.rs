//! `POST /ops/v1/outlet/{id}/tutup` and `/buka`: the whole outlet closed for customers and opened again (supervisor and above). Open
//! purchases are not affected.

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::OutletId;
use nyala_core::domain::right::Right;
use nyala_core::domain::role::Role;
use nyala_core::domain::text;
use nyala_core::domain::timestamp::Timestamp;
use nyala_ledger::on_sale::Closing;
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::readiness;
use crate::http::answer::{self, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::Reason;
use crate::live::staff_board::StaffBoards;
use crate::ops::people::key::Minimal;
use crate::ops::scope;

/// Why and since when an outlet is closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Tutup {
    alasan: String,
    sejak: Timestamp,
    /// When it opens automatically; null: when staff open it.
    #[schema(value_type = Option<Timestamp>, required)]
    sampai: Option<Timestamp>,
}

impl From<Closing> for Tutup {
    fn from(closing: Closing) -> Self {
        Self { alasan: closing.reason, sejak: closing.since, sampai: closing.until }
    }
}

#[derive(Debug, Deserialize, ToSchema)]
pub struct CloseOutlet {
    #[schema(value_type = Reason)]
    alasan: String,
    /// When it opens automatically.
    #[schema(value_type = Option<Timestamp>)]
    sampai: Option<String>,
}

/// Closes an outlet: no machine there can be bought, and customers see why.
#[utoipa::path(
    post, path = "/ops/v1/outlet/{id}/tutup", operation_id = "close_outlet", tag = "papan", security(("operator" = []), ("session" = [])),
    params(("id" = inline(OutletId), Path)), request_body = CloseOutlet,
    responses(
        (status = 200, body = Empty), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty),
        (status = 404, body = Empty), (status = 422, body = Empty, description = "`waktu buka sudah lewat`"),
    )
)]
pub async fn close(
    by: Minimal<{ Right::OutletTutup.rank() }>,
    store: web::Data<Store>,
    boards: web::Data<StaffBoards>,
    id: web::Path<String>,
    body: Json<CloseOutlet>,
) -> Result<HttpResponse, AppError> {
    // Closed already: with a new reason and time, since the first moment.
    const CLOSE: &str = "
        WITH before AS (
            INSERT INTO outlet_ditutup (idoutlet, dari, sampai)
            SELECT idoutlet, ditutup_sejak, ditutup_sampai FROM outlet WHERE idoutlet = $1 AND ditutup_sampai <= $2
        ), calls AS (
            UPDATE panggilan SET selesai_at = $2 WHERE idoutlet = $1 AND selesai_at IS NULL
        )
        UPDATE outlet SET ditutup_sejak = CASE WHEN ditutup_sampai <= $2 THEN $2 ELSE COALESCE(ditutup_sejak, $2) END,
            ditutup_alasan = $3, ditutup_sampai = $4, ditutup_oleh = $5
        WHERE idoutlet = $1";
    let Minimal(operator) = by;
    let reason = text::parse("alasan", &body.alasan, text::MAX_REASON_CHARS)?;
    let until = body
        .sampai
        .as_deref()
        .map(|text| Timestamp::parse_rfc3339(text).ok_or_else(|| AppError::bad_input("sampai harus waktu RFC 3339 dengan zona")));
    let (until, now) = (until.transpose()?, store.now());
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let id = scope::named_outlet(&tx, &operator, &id).await?.idoutlet;
    if until.is_some_and(|until| until <= now) {
        return Err(AppError::Unprocessable("waktu buka sudah lewat"));
    }
    tx.execute(CLOSE, &[&id, &now, &reason, &until, &operator.id]).await?;
    let content = json!({ "alasan": reason, "sampai": until });
    let entry = AuditEntry { principal: &operator.principal(), action: "outlet.tutup", object: format!("outlet:{id}"), content };
    audit::write_at(&tx, Some(id), &entry, now).await?;
    tx.commit().await?;
    boards.changed(id);
    Ok(answer::ok(None::<()>))
}

/// Opens an outlet that is closed. One that is being prepared is opened by its owner, when it is ready.
#[utoipa::path(
    post, path = "/ops/v1/outlet/{id}/buka", operation_id = "open_outlet", tag = "papan", security(("operator" = []), ("session" = [])),
    params(("id" = inline(OutletId), Path)),
    responses(
        (status = 200, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
        (status = 422, body = Empty, description = "`outlet belum siap`"),
    )
)]
pub async fn open(
    by: Minimal<{ Right::OutletBuka.rank() }>,
    store: web::Data<Store>,
    boards: web::Data<StaffBoards>,
    id: web::Path<String>,
) -> Result<HttpResponse, AppError> {
    const LOCK: &str = "SELECT dibuka_at IS NULL FROM outlet WHERE idoutlet = $1 FOR NO KEY UPDATE";
    const FIRST: &str = "UPDATE outlet SET dibuka_at = $2 WHERE idoutlet = $1";
    const OPEN: &str = "
        WITH before AS (
            INSERT INTO outlet_ditutup (idoutlet, dari, sampai)
            SELECT idoutlet, ditutup_sejak, GREATEST(ditutup_sejak, LEAST(ditutup_sampai, $2)) FROM outlet
            WHERE idoutlet = $1 AND ditutup_sejak IS NOT NULL
        )
        UPDATE outlet SET ditutup_sejak = NULL, ditutup_alasan = NULL, ditutup_sampai = NULL, ditutup_oleh = NULL
        WHERE idoutlet = $1 AND ditutup_sejak IS NOT NULL";
    let Minimal(operator) = by;
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let id = scope::named_outlet(&tx, &operator, &id).await?.idoutlet;
    let is_first: bool = tx.query_one(LOCK, &[&id]).await?.try_get(0)?;
    if is_first {
        if operator.role < Role::Owner {
            return Err(AppError::Forbidden);
        }
        if !readiness::read(&tx, id, now).await?.siap {
            return Err(AppError::Unprocessable("outlet belum siap"));
        }
        tx.execute(FIRST, &[&id, &now]).await?;
    }
    if tx.execute(OPEN, &[&id, &now]).await? == 1 || is_first {
        let content = if is_first { json!({ "pertama": true }) } else { json!({}) };
        let entry =
            AuditEntry { principal: &operator.principal(), action: "outlet.buka", object: format!("outlet:{id}"), content };
        audit::write_at(&tx, Some(id), &entry, now).await?;
    }
    tx.commit().await?;
    boards.changed(id);
    Ok(answer::ok(None::<()>))
}
