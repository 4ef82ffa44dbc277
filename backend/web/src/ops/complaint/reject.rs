//! `POST /ops/v1/keluhan/{id}/tolak`: answers a complaint with a sentence for its customer (supervisor and above).

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::ComplaintId;
use nyala_core::domain::right::Right;
use nyala_core::domain::text;
use nyala_ledger::complaint;
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::http::answer::{Empty, done};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::Reason;
use crate::ops::people::key::Minimal;

#[derive(Debug, Deserialize, ToSchema)]
pub struct Tolak {
    /// What the customer reads.
    #[schema(value_type = Reason)]
    kalimat: String,
}

/// Rejects a complaint.
#[utoipa::path(
    post, path = "/ops/v1/keluhan/{id}/tolak", operation_id = "tolak_keluhan", tag = "operator", security(("operator" = []), ("session" = [])),
    params(("id" = inline(ComplaintId), Path)), request_body = Tolak,
    responses(
        (status = 200, body = Empty), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty),
        (status = 404, description = "`laporan tidak ditemukan`", body = Empty),
        (status = 409, description = "`laporan sudah dijawab`", body = Empty),
    )
)]
pub async fn tolak(
    Minimal(operator): Minimal<{ Right::KeluhanJawab.rank() }>,
    store: web::Data<Store>,
    id: web::Path<String>,
    body: Json<Tolak>,
) -> Result<HttpResponse, AppError> {
    let id = ComplaintId::parse(&id).ok_or(AppError::NotFound("laporan tidak ditemukan"))?;
    let sentence = text::parse("kalimat", &body.kalimat, text::MAX_REASON_CHARS)?;
    let (now, principal) = (store.now(), operator.principal());
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let found = complaint::lock(&tx, id, operator.scope).await?;
    complaint::answer(&tx, &found, complaint::Answer::Rejected(&sentence), &principal, now).await?;
    let content = json!({ "kalimat": sentence });
    let entry = AuditEntry { principal: &principal, action: "keluhan.tolak", object: format!("keluhan:{id}"), content };
    audit::write_at(&tx, Some(found.idoutlet), &entry, now).await?;
    tx.commit().await?;
    Ok(done("Laporan ditolak"))
}
