//! `POST /ops/v1/mesin/bulk`: adds many numbered machines (supervisor and above).

use actix_web::{HttpResponse, web};
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::{text, whole};
use nyala_store::config::ServerSettings;
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use nyala_store::secrets::Keyring;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::{NUMBER_CHARS, NamePrefix};
use crate::ops::machine::install::{MesinMade, allowed, install};
use crate::ops::people::key::{Minimal, SUPERVISOR};
use crate::ops::scope;

/// Maximum number of machines per call.
const MAX_COUNT: u32 = 20_000;

#[derive(Debug, Deserialize, ToSchema)]
pub struct ManyMesin {
    idoutlet: OutletId,
    #[schema(minimum = 1, maximum = 20000)]
    #[serde(deserialize_with = "whole::deserialize")]
    jumlah: u32,
    /// What each name begins with; the number follows.
    #[schema(value_type = NamePrefix)]
    awalan: String,
    /// `sim` when left out.
    #[serde(default)]
    driver: DriverKind,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ManyMesinMade {
    mesin: Vec<MesinMade>,
}

/// Adds many machines to an outlet, named after `awalan`.
#[utoipa::path(
    post, path = "/ops/v1/mesin/bulk", tag = "operator", security(("operator" = [])), request_body = ManyMesin,
    responses(
        (status = 200, body = Answer<ManyMesinMade>),
        (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
        (status = 422, description = "A simulated machine in production", body = Empty),
    )
)]
pub async fn mesin_bulk(
    by: Minimal<SUPERVISOR>,
    store: web::Data<Store>,
    keyring: web::Data<Keyring>,
    settings: web::Data<ServerSettings>,
    body: Json<ManyMesin>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    if !(1..=MAX_COUNT).contains(&body.jumlah) {
        return Err(AppError::bad_input(format!("jumlah harus 1 sampai {MAX_COUNT}")));
    }
    allowed(body.driver, &settings)?;
    let awalan = text::parse("awalan", &body.awalan, text::MAX_NAME_CHARS - NUMBER_CHARS)?;
    // "Mesin" makes "Mesin 1", "M-" makes "M-1"
    let gap = if awalan.ends_with(char::is_alphanumeric) { " " } else { "" };
    let names: Vec<String> = (1..=body.jumlah).map(|n| format!("{awalan}{gap}{n}")).collect();
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let outlet = scope::outlet(&tx, &operator, body.idoutlet).await?;
    let mesin = install(&tx, &keyring.get(), outlet, &names, body.driver, now).await?;
    let ids: Vec<MachineId> = mesin.iter().map(|m| m.id).collect();
    let content = json!({ "jumlah": body.jumlah, "awalan": awalan, "driver": body.driver, "idmesin": ids });
    let object = format!("outlet:{}", outlet.idoutlet);
    let entry = AuditEntry { principal: &operator.principal(), action: "mesin.buat_massal", object, content };
    audit::write_at(&tx, Some(outlet.idoutlet), &entry, now).await?;
    tx.commit().await?;
    Ok(answer::ok(ManyMesinMade { mesin }))
}
