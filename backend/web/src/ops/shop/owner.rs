//! `POST /ops/v1/owner`: adds an owner of outlets (root only).

use actix_web::{HttpResponse, web};
use deadpool_postgres::Transaction;
use nyala_core::domain::id::OwnerId;
use nyala_core::domain::telp::Telp;
use nyala_core::domain::text;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::ShortText;
use crate::ops::people::key::{Minimal, ROOT};

#[derive(Debug, Deserialize, ToSchema)]
pub struct NewOwner {
    #[schema(value_type = ShortText)]
    nama: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct OwnerMade {
    #[schema(value_type = i64)]
    idowner: OwnerId,
}

/// Adds an owner.
#[utoipa::path(
    post, path = "/ops/v1/owner", tag = "operator", security(("operator" = [])), request_body = NewOwner,
    responses(
        (status = 200, body = Answer<OwnerMade>),
        (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty),
    )
)]
pub async fn owner(by: Minimal<ROOT>, store: web::Data<Store>, body: Json<NewOwner>) -> Result<HttpResponse, AppError> {
    let name = text::parse("nama", &body.nama, text::MAX_NAME_CHARS)?;
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let idowner = add_with_record(&tx, &name, None, &by.0.principal(), now).await?;
    tx.commit().await?;
    Ok(answer::ok(OwnerMade { idowner }))
}

/// Creates an owner and the entry in the audit log.
pub async fn add_with_record(
    tx: &Transaction<'_>,
    name: &str,
    telp: Option<&Telp>,
    principal: &str,
    now: Timestamp,
) -> Result<OwnerId, AppError> {
    const INSERT: &str = "INSERT INTO owner_usaha (nama, telp, created_at) VALUES ($1, $2, $3) RETURNING idowner";
    let stmt = tx.prepare_cached(INSERT).await?;
    let idowner: OwnerId = tx.query_one(&stmt, &[&name, &telp.map(Telp::as_str), &now]).await?.try_get(0)?;
    let (object, content) = (format!("owner:{idowner}"), json!({ "nama": name }));
    audit::write(tx, &AuditEntry { principal, action: "owner.buat", object, content }, now).await?;
    Ok(idowner)
}
