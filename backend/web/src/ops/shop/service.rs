//! `POST /ops/v1/layanan`: a new service of an outlet (supervisor and above).

use actix_web::{HttpResponse, web};
use deadpool_postgres::Transaction;
use nyala_core::domain::id::{OutletId, ServiceId};
use nyala_core::domain::rupiah::Rupiah;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::domain::{text, whole};
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::ShortText;
use crate::ops::people::key::{Minimal, SUPERVISOR};
use crate::ops::scope;

/// The longest service, in seconds (docs/contract.md §4).
const MAX_DURATION_S: i64 = 86_400;

#[derive(Debug, Deserialize, ToSchema)]
pub struct NewLayanan {
    idoutlet: OutletId,
    #[schema(value_type = ShortText)]
    nama: String,
    /// Seconds.
    #[schema(minimum = 1, maximum = 86400)]
    #[serde(deserialize_with = "whole::deserialize")]
    durasi: i64,
    /// Whole rupiah.
    #[schema(value_type = i64, minimum = 0, maximum = 20000000)]
    harga: Rupiah,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct LayananMade {
    #[schema(value_type = i64)]
    id: ServiceId,
}

/// A checked service to be offered.
pub struct Offer {
    pub name: String,
    pub duration_s: i32,
    pub price: i64,
}

/// Adds a service to an outlet.
#[utoipa::path(
    post, path = "/ops/v1/layanan", tag = "operator", security(("operator" = [])), request_body = NewLayanan,
    responses(
        (status = 200, body = Answer<LayananMade>),
        (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
    )
)]
pub async fn layanan(by: Minimal<SUPERVISOR>, store: web::Data<Store>, body: Json<NewLayanan>) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let duration_s = i32::try_from(body.durasi).ok().filter(|_| (1..=MAX_DURATION_S).contains(&body.durasi));
    let offered = Offer {
        name: text::parse("nama", &body.nama, text::MAX_NAME_CHARS)?,
        duration_s: duration_s.ok_or_else(|| AppError::bad_input(format!("durasi harus 1 sampai {MAX_DURATION_S} detik")))?,
        price: body.harga.within("harga", 0)?,
    };
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let outlet = scope::outlet(&tx, &operator, body.idoutlet).await?;
    let id = offer(&tx, outlet.idoutlet, &offered, now).await?;
    let content =
        json!({ "idoutlet": outlet.idoutlet, "nama": offered.name, "durasi": offered.duration_s, "harga": offered.price });
    audit::write_at(
        &tx,
        Some(outlet.idoutlet),
        &AuditEntry { principal: &operator.principal(), action: "layanan.buat", object: format!("layanan:{id}"), content },
        now,
    )
    .await?;
    tx.commit().await?;
    Ok(answer::ok(LayananMade { id }))
}

const OFFER: &str = "
    INSERT INTO layanan (idoutlet, nama, durasi_s, harga, created_at) VALUES ($1, $2, $3, $4, $5) RETURNING idlayanan";

/// Adds a service to an outlet; returns its id.
pub async fn offer(tx: &Transaction<'_>, idoutlet: OutletId, what: &Offer, now: Timestamp) -> Result<ServiceId, AppError> {
    let stmt = tx.prepare_cached(OFFER).await?;
    Ok(tx.query_one(&stmt, &[&idoutlet, &what.name, &what.duration_s, &what.price, &now]).await?.get(0))
}
