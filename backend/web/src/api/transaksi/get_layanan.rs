//! `POST /scan/v1/transaksi/get_layanan`: the machine behind a sticker and the services it offers (docs/contract.md §2).

use std::future::ready;

use actix_web::{HttpResponse, web};
use futures_util::{StreamExt, TryStreamExt};
use nyala_core::domain::id::{MachineId, OutletId, OwnerId, ServiceId};
use nyala_core::domain::machine_code::MachineCode;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::domain::{text, whole};
use nyala_core::purchase::state::{PurchaseState, open_states};
use nyala_identity::qr;
use nyala_ledger::on_sale::{Closing, fits, is_on_sale, runs_unsold};
use nyala_ledger::tariff::{self, tariff};
use nyala_machines::device;
use nyala_machines::machines::{Location, Machines};
use nyala_store::db::Store;
use nyala_store::db::pool::DbClient;
use nyala_store::secrets::{Keyring, Secrets};
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;
use utoipa::ToSchema;

use crate::api::auth::customer::Customer;
use crate::http::answer::{Answer, Empty, ok_with};
use crate::http::error::AppError;
use crate::http::input::OffsetPage;
use crate::http::json::Json;
use crate::http::schema::{MAX_SEARCH_CHARS, SearchText};

#[derive(Debug, Deserialize, ToSchema)]
pub struct GetLayanan {
    /// The sticker's text, or its typed `kode`.
    qr: String,
    #[schema(minimum = 1, maximum = 100)]
    #[serde(deserialize_with = "whole::deserialize")]
    limit: i64,
    #[schema(minimum = 0, maximum = 9223372036854775807_i64)]
    #[serde(deserialize_with = "whole::deserialize")]
    skip: i64,
    /// Part of a service's name, in any case.
    #[serde(default)]
    #[schema(value_type = Option<SearchText>)]
    search: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Layanan {
    data_mesin: DataMesin,
    data_layanan: Vec<DataLayanan>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct DataMesin {
    #[schema(value_type = i64)]
    id: MachineId,
    nama: String,
    #[schema(value_type = i64)]
    idowner: OwnerId,
    status: StatusMesin,
    /// Milliseconds left while it runs, else null.
    #[schema(required)]
    tl: Option<i64>,
    /// Epoch milliseconds of the end while it runs, else null.
    #[schema(required)]
    ends_at: Option<i64>,
    outlet: OutletMesin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum StatusMesin {
    Idle,
    /// In use or reserved.
    Busy,
    /// Not reachable, or waiting for staff: takes no purchase.
    Offline,
}

impl StatusMesin {
    /// `reachable`: online and not waiting for staff. `taken`: in use by an open purchase, or its device reports a cycle.
    pub const fn of(reachable: bool, taken: bool) -> Self {
        match (reachable, taken) {
            (false, _) => Self::Offline,
            (true, true) => Self::Busy,
            (true, false) => Self::Idle,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct OutletMesin {
    #[schema(value_type = i64)]
    idoutlet: OutletId,
    nama: String,
    kota: String,
    /// Why nothing can be bought there; null: it is open.
    #[schema(required)]
    tutup: Option<OutletTutup>,
}

/// A closed outlet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OutletTutup {
    alasan: String,
    /// When it opens by itself; null: not known.
    #[schema(value_type = Option<Timestamp>, required)]
    sampai: Option<Timestamp>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct DataLayanan {
    #[schema(value_type = i64)]
    id: ServiceId,
    nama: String,
    /// Seconds.
    durasi: i32,
    /// Whole rupiah, the present price.
    harga: i64,
    /// Epoch milliseconds at which the price changes next; null: never.
    #[schema(required)]
    harga_sampai: Option<i64>,
    #[schema(value_type = i64)]
    idoutlet: OutletId,
}

impl From<Closing> for OutletTutup {
    fn from(closing: Closing) -> Self {
        Self { alasan: closing.reason, sampai: closing.until }
    }
}

macro_rules! mesin_sql {
    ($which:literal) => {
        concat!(
            "SELECT m.idmesin, m.nama, m.idowner, m.online AND NOT m.perlu_petugas AND ",
            is_on_sale!("$1"),
            ", t.state, t.ends_at, o.idoutlet, o.nama, o.kota, m.driver, t.durasi_s, m.jalan_sampai, ",
            runs_unsold!(),
            " AS runs_unsold, \
             o.ditutup_alasan, o.ditutup_sejak, o.ditutup_sampai \
             FROM mesin m JOIN outlet o USING (idoutlet) LEFT JOIN snap_transaksi t \
             ON t.idmesin = m.idmesin AND t.state IN ",
            open_states!(),
            " WHERE m.aktif AND ",
            $which
        )
    };
}

const BY_STICKER: &str = mesin_sql!("m.idmesin = $2 AND m.qr_versi = $3");
const BY_KODE: &str = mesin_sql!("m.kode = $2");

/// What the machine's outlet sells at such a machine.
const SERVICES: &str = concat!(
    "SELECT l.idlayanan, l.nama, l.durasi_s, l.idoutlet, ",
    tariff!(),
    " FROM mesin m JOIN outlet o USING (idoutlet) JOIN layanan l ON l.idoutlet = m.idoutlet AND l.aktif AND ",
    fits!(),
    " WHERE m.idmesin = $1 ORDER BY l.idlayanan"
);

/// The machine, whether it is free, and a page of the services that its outlet sells at it.
#[utoipa::path(
    post, path = "/scan/v1/transaksi/get_layanan", tag = "transaksi", security(("pelanggan" = [])),
    request_body = GetLayanan,
    responses((status = 200, body = Answer<Layanan>), (status = 404, body = Empty, description = "Unknown, revoked or foreign QR"))
)]
pub async fn get_layanan(
    store: web::Data<Store>,
    keyring: web::Data<Keyring>,
    machines: web::Data<Machines>,
    _customer: Customer,
    body: Json<GetLayanan>,
) -> Result<HttpResponse, AppError> {
    let page = OffsetPage { limit: body.limit, skip: body.skip }.checked()?;
    let search = search_of(body.search.as_deref().unwrap_or_default())?;
    let (client, now) = (store.get().await?, store.now());
    let row = find_machine(&keyring.get(), &client, &body.qr, now).await?.ok_or(AppError::MachineNotFound)?;
    // The device is queried now, so that its response may be there when the customer pays.
    let scanned = Location { idmesin: row.try_get(0)?, idoutlet: row.try_get(6)?, driver: row.try_get(9)? };
    let here = device::scan(&machines, scanned).await;
    let data_mesin = data_mesin(&row, here != Some(false), now)?;
    let stmt = client.prepare_cached(SERVICES).await?;
    // Searched here: the database may support upper and lower case only for ASCII.
    let found = |row: &Row| row.try_get(1).is_ok_and(|nama: &str| text::folded(nama).contains(&search));
    let [skip, limit] = [page.skip, page.limit].map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    let all = client.query_raw(&stmt, [data_mesin.id]).await?;
    let rows: Vec<Row> = all.try_filter(|row| ready(found(row))).skip(skip).take(limit).try_collect().await?;
    let data_layanan = rows.iter().map(|row| data_layanan(row, now)).collect::<Result<_, _>>()?;
    Ok(ok_with("Get Layanan Success", Layanan { data_mesin, data_layanan }))
}

/// The search text, [`text::folded`]; blanks alone match every service.
pub(crate) fn search_of(text: &str) -> Result<String, AppError> {
    if text.trim().is_empty() { Ok(String::new()) } else { Ok(text::folded(&text::parse("search", text, MAX_SEARCH_CHARS)?)) }
}

/// The active machine of a sticker that is not revoked, or of a typed code.
async fn find_machine(secrets: &Secrets, client: &DbClient, text: &str, now: Timestamp) -> Result<Option<Row>, AppError> {
    if let Some((idmesin, versions)) = qr::machine::parse(text, secrets) {
        let stmt = client.prepare_cached(BY_STICKER).await?;
        return Ok(client.query_opt(&stmt, &[&now, &idmesin, &versions]).await?);
    }
    let Some(kode) = MachineCode::parse(text) else { return Ok(None) };
    let stmt = client.prepare_cached(BY_KODE).await?;
    Ok(client.query_opt(&stmt, &[&now, &kode.as_str()]).await?)
}

/// `here`: false when the device has reported that it is not reachable.
fn data_mesin(row: &Row, here: bool, now: Timestamp) -> Result<DataMesin, AppError> {
    let (reachable, open): (bool, Option<PurchaseState>) = (row.try_get(3)?, row.try_get(4)?);
    let ends_at: Option<Timestamp> = row.try_get(5)?;
    let duration_s: Option<i32> = row.try_get(10)?;
    // No cycle has more time left than its duration, even if it started while the clock was ahead.
    let latest = now.plus_ms(duration_s.map_or(0, |s| i64::from(s) * 1_000));
    let ends_at = ends_at.filter(|_| open == Some(PurchaseState::Running)).map(|end| end.min(latest));
    // A cycle that the device reports without an open purchase.
    let unpaid: Option<Timestamp> = row.try_get(11)?;
    let ends_at = ends_at.or(unpaid.filter(|_| open.is_none()));
    let tutup = Closing::of(row, now)?.map(OutletTutup::from);
    let status = StatusMesin::of(reachable && here, open.is_some() || row.try_get("runs_unsold")?);
    Ok(DataMesin {
        id: row.try_get(0)?,
        nama: row.try_get(1)?,
        idowner: row.try_get(2)?,
        status,
        tl: ends_at.map(|end| now.ms_until(end).max(0)),
        ends_at: ends_at.map(Timestamp::ms),
        outlet: OutletMesin { idoutlet: row.try_get(6)?, nama: row.try_get(7)?, kota: row.try_get(8)?, tutup },
    })
}

fn data_layanan(row: &Row, now: Timestamp) -> Result<DataLayanan, AppError> {
    let price = tariff::of(row)?.at(now);
    Ok(DataLayanan {
        id: row.try_get(0)?,
        nama: row.try_get(1)?,
        durasi: row.try_get(2)?,
        harga: price.price,
        harga_sampai: price.until.map(Timestamp::ms),
        idoutlet: row.try_get(3)?,
    })
}
