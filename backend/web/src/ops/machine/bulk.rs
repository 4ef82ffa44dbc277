//! `POST /ops/v1/mesin/bulk`: adds many numbered machines (supervisor and above).

use actix_web::{HttpResponse, web};
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::machine_kind::MachineKind;
use nyala_core::domain::right::Right;
use nyala_core::domain::text;
use nyala_core::domain::whole::{self, Whole};
use nyala_store::config::ServerSettings;
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use nyala_store::secrets::Keyring;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::http::answer::{Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::{NUMBER_CHARS, NamePrefix, SizeText};
use crate::ops::idempotency::OptionalKey;
use crate::ops::machine::install::{MesinMade, NewMachines, allowed, install, size};
use crate::ops::people::key::Minimal;
use crate::ops::scope;

/// Maximum number of machines per call.
const MAX_COUNT: u32 = 20_000;
/// The largest first number, so that each has at most [`NUMBER_CHARS`] digits.
const MAX_FIRST: usize = 900_000;

#[derive(Debug, Deserialize, Serialize, ToSchema)]
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
    /// When left out: `kering` for a name with 'ering', else `cuci`.
    jenis: Option<MachineKind>,
    #[schema(value_type = Option<SizeText>)]
    ukuran: Option<String>,
    /// The first number; 1 when left out.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 900000)]
    mulai: Option<Whole>,
    /// The least digits of a number: 2 makes `01` of 1.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 6)]
    angka: Option<Whole>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ManyMesinMade {
    mesin: Vec<MesinMade>,
}

/// Adds many machines to an outlet, named after `awalan`.
#[utoipa::path(
    post, path = "/ops/v1/mesin/bulk", tag = "operator", security(("operator" = []), ("session" = [])), request_body = ManyMesin,
    params(OptionalKey),
    responses(
        (status = 200, body = Answer<ManyMesinMade>),
        (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
        (status = 422, description = "A simulated machine in production", body = Empty),
    )
)]
pub async fn mesin_bulk(
    by: Minimal<{ Right::MesinBuat.rank() }>,
    store: web::Data<Store>,
    keyring: web::Data<Keyring>,
    settings: web::Data<ServerSettings>,
    key: OptionalKey,
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
    let first = whole_within("mulai", body.mulai, 1, MAX_FIRST)?;
    let digits = whole_within("angka", body.angka, 1, NUMBER_CHARS)?;
    let numbers = first..first + body.jumlah as usize;
    let names: Vec<String> = numbers.map(|n| format!("{awalan}{gap}{n:0digits$}")).collect();
    let size = size(body.ukuran.as_deref())?;
    let now = store.now();
    let mut client = store.get().await?;
    let call = key.call(&operator, "mesin/bulk", &*body, now)?;
    call.once(&mut client, async |tx| {
        let outlet = scope::outlet(tx, &operator, body.idoutlet).await?;
        let new = NewMachines { names: &names, driver: body.driver, kind: body.jenis, size: size.clone() };
        let mesin = install(tx, &keyring.get(), outlet, &new, now).await?;
        let ids: Vec<MachineId> = mesin.iter().map(|m| m.id).collect();
        let content = json!({
            "jumlah": body.jumlah, "awalan": awalan, "driver": body.driver, "idmesin": ids, "jenis": body.jenis, "ukuran": size,
            "mulai": first, "angka": digits,
        });
        let object = format!("outlet:{}", outlet.idoutlet);
        let entry = AuditEntry { principal: &operator.principal(), action: "mesin.buat_massal", object, content };
        audit::write_at(tx, Some(outlet.idoutlet), &entry, now).await?;
        Ok(ManyMesinMade { mesin })
    })
    .await
}

/// `default` when it is left out, else `1..=most`.
fn whole_within(field: &str, value: Option<Whole>, default: usize, most: usize) -> Result<usize, AppError> {
    let Some(value) = value else { return Ok(default) };
    let valid = usize::try_from(value.get()).ok().filter(|value| (1..=most).contains(value));
    valid.ok_or_else(|| AppError::bad_input(format!("{field} harus 1 sampai {most}")))
}
