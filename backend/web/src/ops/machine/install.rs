//! `POST /ops/v1/mesin`: adds a machine with its sticker (supervisor and above).

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use actix_web::{HttpResponse, web};
use deadpool_postgres::Transaction;
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::machine_code::MachineCode;
use nyala_core::domain::machine_kind::MachineKind;
use nyala_core::domain::right::Right;
use nyala_core::domain::rupiah::Rupiah;
use nyala_core::domain::text;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::domain::whole::Whole;
use nyala_identity::qr;
use nyala_store::config::ServerSettings;
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use nyala_store::secrets::{Keyring, Secrets};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_postgres::types::ToSql;
use utoipa::ToSchema;

use crate::http::answer::{Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::{Json, even_null};
use crate::http::schema::{ShortText, SizeText};
use crate::ops::idempotency::OptionalKey;
use crate::ops::people::key::Minimal;
use crate::ops::scope::{self, Outlet};

use super::start_by::{Cara, StartBy};

/// How often new codes are drawn for machines whose code was taken. Of 32^7 codes, a second draw is already rare.
const MAX_DRAWS: usize = 8;

/// 422 for simulated machines in production, where their cycles would be sold and never happen. Also among several servers, because each
/// exists only in one server's memory.
pub fn allowed(driver: DriverKind, config: &ServerSettings) -> Result<(), AppError> {
    if driver == DriverKind::Sim && config.is_production() {
        return Err(AppError::Unprocessable("mesin simulasi (driver sim) tidak ada di produksi, gunakan mqtt"));
    }
    if driver == DriverKind::Sim && config.cluster.enabled {
        return Err(AppError::Unprocessable("mesin simulasi (driver sim) hanya ada di satu server, gunakan mqtt"));
    }
    Ok(())
}

#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct NewMesin {
    idoutlet: OutletId,
    #[schema(value_type = ShortText)]
    nama: String,
    /// `sim` when left out.
    #[serde(default)]
    driver: DriverKind,
    /// When left out: `kering` for a name with 'ering', else `cuci`.
    jenis: Option<MachineKind>,
    #[schema(value_type = Option<SizeText>)]
    ukuran: Option<String>,
    /// What starts it: `relai`, when never given, or coin pulses. It changes while nothing runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    cara: Option<Cara>,
    /// How long a pulse is, in milliseconds; 50 when never given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 5999)]
    lebar_ms: Option<Whole>,
    /// How long the gap after a pulse is, in milliseconds; 100 when never given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 5999)]
    jeda_ms: Option<Whole>,
    /// Seconds without its running signal after which the machine has ended; 60 when never given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 3600)]
    sense_s: Option<Whole>,
    /// Pulses of each service at this machine; null: as many as the service says.
    #[serde(default, deserialize_with = "even_null", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 20)]
    pulsa: Option<Option<Whole>>,
    /// Whole rupiah of a coin that falls into it; 0 when never given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 20000000)]
    nilai_koin: Option<Rupiah>,
}

impl NewMesin {
    const fn start_by(&self) -> StartBy {
        StartBy {
            way: self.cara,
            width: self.lebar_ms,
            gap: self.jeda_ms,
            sense: self.sense_s,
            pulses: self.pulsa,
            coin_value: self.nilai_koin,
        }
    }
}

/// Machines to be added.
pub struct NewMachines<'a> {
    /// One for each machine.
    pub names: &'a [String],
    pub driver: DriverKind,
    /// `None`: each by its name.
    pub kind: Option<MachineKind>,
    pub size: Option<String>,
}

/// A machine and what is printed on its sticker.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct MesinMade {
    #[schema(value_type = i64)]
    pub id: MachineId,
    /// The text inside the sticker's QR.
    pub qr: String,
    /// Printed under it, for those who type: 8 Crockford base32 characters.
    pub kode: String,
}

/// Adds a machine to an outlet; `qr` is its sticker's text, `kode` is printed under it.
#[utoipa::path(
    post, path = "/ops/v1/mesin", tag = "operator", security(("operator" = []), ("session" = [])), request_body = NewMesin,
    params(OptionalKey),
    responses(
        (status = 200, body = Answer<MesinMade>),
        (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
        (status = 422, description = "A simulated machine in production; `pulsa x (lebar_ms + jeda_ms) paling lama 6000 ms`", body = Empty),
        (status = 503, body = Empty, description = "`cara: pulsa` while a server of an older release is alive"),
    )
)]
pub async fn mesin(
    by: Minimal<{ Right::MesinBuat.rank() }>,
    store: web::Data<Store>,
    keyring: web::Data<Keyring>,
    settings: web::Data<ServerSettings>,
    key: OptionalKey,
    body: Json<NewMesin>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let name = text::parse("nama", &body.nama, text::MAX_NAME_CHARS)?;
    let size = size(body.ukuran.as_deref())?;
    allowed(body.driver, &settings)?;
    let now = store.now();
    let start_by = body.start_by();
    let mut client = store.get().await?;
    start_by.check(&client).await?;
    let call = key.call(&operator, "mesin", &*body, now)?;
    call.once(&mut client, async |tx| {
        let outlet = scope::outlet(tx, &operator, body.idoutlet).await?;
        let names = std::slice::from_ref(&name);
        let new = NewMachines { names, driver: body.driver, kind: body.jenis, size: size.clone() };
        let made = install(tx, &keyring.get(), outlet, &new, now).await?;
        let mesin = made.into_iter().next().ok_or_else(|| AppError::internal("no machine made"))?;
        start_by.apply(tx, mesin.id, false).await?;
        let mut content = serde_json::to_value(&*body).map_err(AppError::internal)?;
        (content["nama"], content["ukuran"]) = (json!(name), json!(size));
        let object = format!("mesin:{}", mesin.id);
        let entry = AuditEntry { principal: &operator.principal(), action: "mesin.buat", object, content };
        audit::write_at(tx, Some(outlet.idoutlet), &entry, now).await?;
        Ok(mesin)
    })
    .await
}

/// A machine's size, or the size that a service is made for.
pub fn size(text: Option<&str>) -> Result<Option<String>, AppError> {
    Ok(text.map(|text| text::parse("ukuran", text, text::MAX_SIZE_CHARS)).transpose()?)
}

/// $1 outlet, $2 owner, $3 names, $4 codes, $5 driver, $6 now, $7 versions of stickers, $8 kinds, $9 size. A device is offline until its first message.
const INSTALL: &str = "
    INSERT INTO mesin (idoutlet, idowner, nama, driver, kode, qr_versi, online, created_at, jenis, ukuran)
    SELECT $1, $2, nama, $5::TEXT, kode, versi, $5 = 'sim', $6, jenis, $9::TEXT
    FROM unnest($3::TEXT[], $4::TEXT[], $7::INT[], $8::TEXT[]) AS made (nama, kode, versi, jenis)
    ON CONFLICT (kode) DO NOTHING RETURNING idmesin, kode, qr_versi";

/// Adds one machine per name, in their order, each with a separate code.
pub async fn install(
    tx: &Transaction<'_>,
    secrets: &Secrets,
    outlet: Outlet,
    new: &NewMachines<'_>,
    now: Timestamp,
) -> Result<Vec<MesinMade>, AppError> {
    let names = new.names;
    let mut made: Vec<Option<MesinMade>> = vec![None; names.len()];
    for _ in 0..MAX_DRAWS {
        let missing: Vec<usize> = (0..names.len()).filter(|i| made[*i].is_none()).collect();
        if missing.is_empty() {
            break;
        }
        let mut drawn: HashMap<String, usize> = HashMap::new();
        let (mut codes, mut of): (Vec<String>, Vec<&str>) = (Vec::new(), Vec::new());
        for i in missing {
            let kode = MachineCode::random(&mut rand::rng()).as_str().to_owned();
            // this code was drawn twice: this machine draws again in the next round
            if let Entry::Vacant(free) = drawn.entry(kode.clone()) {
                free.insert(i);
                codes.push(kode);
                of.push(names[i].as_str());
            }
        }
        let versions: Vec<i32> = codes.iter().map(|_| qr::machine::new_version()).collect();
        let stmt = tx.prepare_cached(INSTALL).await?;
        let kinds: Vec<MachineKind> = of.iter().map(|name| new.kind.unwrap_or_else(|| MachineKind::of_name(name))).collect();
        let (driver, size) = (new.driver.as_str(), &new.size);
        let params: [&(dyn ToSql + Sync); 9] =
            [&outlet.idoutlet, &outlet.idowner, &of, &codes, &driver, &now, &versions, &kinds, size];
        for row in tx.query(&stmt, &params).await? {
            let (id, kode, versions): (MachineId, String, i32) = (row.get(0), row.get(1), row.get(2));
            if let Some(slot) = drawn.get(&kode).and_then(|i| made.get_mut(*i)) {
                *slot = Some(MesinMade { id, qr: qr::machine::make(secrets, id, versions), kode });
            }
        }
    }
    made.into_iter().collect::<Option<Vec<_>>>().ok_or(AppError::Unavailable)
}
