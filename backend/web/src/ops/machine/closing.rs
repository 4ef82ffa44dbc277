//! `POST /ops/v1/mesin/{id}/tutup` and `/buka`: one machine closed for customers and opened again; `/servis`: it was serviced. Open purchases
//! are not affected.

use actix_web::{HttpResponse, web};
use deadpool_postgres::Transaction;
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::right::Right;
use nyala_core::domain::text;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::staff::operator::Operator;
use nyala_machines::conditions;
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::http::answer::{self, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::Reason;
use crate::live::staff_board::StaffBoards;
use crate::ops::people::key::Minimal;
use crate::ops::scope;

#[derive(Debug, Deserialize, ToSchema)]
pub struct CloseMesin {
    #[schema(value_type = Reason)]
    alasan: String,
}

/// Closes a machine: it cannot be bought.
#[utoipa::path(
    post, path = "/ops/v1/mesin/{id}/tutup", operation_id = "close_mesin", tag = "papan", security(("operator" = []), ("session" = [])),
    params(("id" = inline(MachineId), Path)), request_body = CloseMesin,
    responses(
        (status = 200, body = Empty), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
    )
)]
pub async fn close(
    by: Minimal<{ Right::MesinTutup.rank() }>,
    store: web::Data<Store>,
    boards: web::Data<StaffBoards>,
    id: web::Path<String>,
    body: Json<CloseMesin>,
) -> Result<HttpResponse, AppError> {
    const CLOSE: &str = "
        UPDATE mesin SET ditutup_sejak = $2, ditutup_alasan = $3, ditutup_oleh = $4 WHERE idmesin = $1 AND ditutup_sejak IS NULL";
    let Minimal(operator) = by;
    let reason = text::parse("alasan", &body.alasan, text::MAX_REASON_CHARS)?;
    in_machine((&store, &boards), &operator, &id, async |tx, at, now| {
        if tx.execute(CLOSE, &[&at.idmesin, &now, &reason, &operator.id]).await? == 0 {
            return Ok(None);
        }
        conditions::closed(tx, at.idmesin, now).await?;
        Ok(Some(("mesin.tutup", json!({ "alasan": reason }))))
    })
    .await
}

/// Opens a machine that is closed.
#[utoipa::path(
    post, path = "/ops/v1/mesin/{id}/buka", operation_id = "open_mesin", tag = "papan", security(("operator" = []), ("session" = [])),
    params(("id" = inline(MachineId), Path)),
    responses((status = 200, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty))
)]
pub async fn open(
    by: Minimal<{ Right::MesinBuka.rank() }>,
    store: web::Data<Store>,
    boards: web::Data<StaffBoards>,
    id: web::Path<String>,
) -> Result<HttpResponse, AppError> {
    const OPEN: &str = "
        UPDATE mesin SET ditutup_sejak = NULL, ditutup_alasan = NULL, ditutup_oleh = NULL WHERE idmesin = $1 AND ditutup_sejak IS NOT NULL";
    let Minimal(operator) = by;
    in_machine((&store, &boards), &operator, &id, async |tx, at, now| {
        if tx.execute(OPEN, &[&at.idmesin]).await? == 0 {
            return Ok(None);
        }
        conditions::opened(tx, at.idmesin, now).await?;
        Ok(Some(("mesin.buka", json!({}))))
    })
    .await
}

#[derive(Debug, Deserialize, ToSchema)]
pub struct Servis {
    #[schema(value_type = Option<Reason>)]
    catatan: Option<String>,
}

/// Records that a machine was serviced: its cycles since then are counted.
#[utoipa::path(
    post, path = "/ops/v1/mesin/{id}/servis", operation_id = "service_mesin", tag = "papan", security(("operator" = []), ("session" = [])),
    params(("id" = inline(MachineId), Path)), request_body = Servis,
    responses(
        (status = 200, body = Empty), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
    )
)]
pub async fn service(
    by: Minimal<{ Right::MesinServis.rank() }>,
    store: web::Data<Store>,
    boards: web::Data<StaffBoards>,
    id: web::Path<String>,
    body: Json<Servis>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let note = body.catatan.as_deref().map(|catatan| text::parse("catatan", catatan, text::MAX_REASON_CHARS)).transpose()?;
    in_machine((&store, &boards), &operator, &id, async |tx, at, now| {
        tx.execute("UPDATE mesin SET servis_at = $2 WHERE idmesin = $1", &[&at.idmesin, &now]).await?;
        Ok(Some(("mesin.servis", json!({ "catatan": note }))))
    })
    .await
}

/// A machine in sight, whose row is locked.
struct At {
    idmesin: MachineId,
    idoutlet: OutletId,
}

/// Runs `work` in a transaction; the change that it returns is audited, and the outlet's board shows it at once.
async fn in_machine<F>(
    (store, boards): (&Store, &StaffBoards),
    operator: &Operator,
    id: &str,
    work: F,
) -> Result<HttpResponse, AppError>
where
    F: AsyncFnOnce(&Transaction<'_>, &At, Timestamp) -> Result<Option<(&'static str, serde_json::Value)>, AppError>,
{
    let idmesin = MachineId::parse(id).ok_or(AppError::MachineNotFound)?;
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let at = At { idmesin, idoutlet: scope::locked_machine(&tx, operator, idmesin).await? };
    if let Some((action, content)) = work(&tx, &at, now).await? {
        let object = format!("mesin:{idmesin}");
        let entry = AuditEntry { principal: &operator.principal(), action, object, content };
        audit::write_at(&tx, Some(at.idoutlet), &entry, now).await?;
    }
    tx.commit().await?;
    boards.changed(at.idoutlet);
    Ok(answer::ok(None::<()>))
}
