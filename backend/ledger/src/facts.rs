//! What a purchase's rules and a machine need, each read in one round trip.

use tokio_postgres::Row;
use uuid::Uuid;

use nyala_cluster::of_shards;
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::{MachineId, OutletId, PurchaseId};
use nyala_core::domain::shard::Shard;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::Pulses;
use nyala_core::purchase::facts::{
    CoinInput, Epay, Facts, KnownReceipt, MachineFacts, Order, SaleVersions, ServiceFacts, TestFacts, Wallet,
};
use nyala_core::purchase::state::{PurchaseState, open_states};
use nyala_core::purchase::step::{Exchange, Purchase};
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;

use crate::on_sale::{can_start, fits, is_not_closed, runs_unsold};
use crate::tariff::{self, tariff};
use crate::test_start::tested_pulses;

const FACTS: &str = concat!(
    "
SELECT n.body_hash, n.tolak, t.id AS idtransaksi, t.state,
       c.owner_idowner, q.saldo, CASE WHEN q.jenis_emoney = 1 THEN q.masa_aktif END AS expires_at,
       m.idoutlet AS machine_outlet, m.idowner AS machine_owner, m.nama AS machine_name, m.driver,
       m.online AND ",
    can_start!(),
    " AND ($7::BOOLEAN OR NOT m.perlu_petugas AND ",
    is_not_closed!("$6"),
    ") AS online, m.ditutup_sejak IS NOT NULL AS closed, CASE WHEN $8::TIMESTAMPTZ IS NOT NULL THEN ",
    tested_pulses!("$8"),
    " END AS tested_pulses, m.cara, m.lebar_ms, m.jeda_ms, m.sense_s, m.pulsa AS machine_pulses, m.perlu_petugas AS needs_staff,
       p.id IS NOT NULL OR ",
    runs_unsold!(),
    " AS busy,
       l.idoutlet AS service_outlet, l.nama AS service_name, l.durasi_s, l.pulsa AS service_pulses, l.versi AS service_version, o.versi AS outlet_version,
       ",
    tariff!(),
    "
FROM (SELECT 1) one
LEFT JOIN nota n ON n.id_customer_global = $1 AND n.no_nota = $2
LEFT JOIN snap_transaksi t ON t.id_customer_global = $1 AND t.no_nota = $2
LEFT JOIN customer c ON c.idcustomer = $3 AND c.id_customer_global = $1
LEFT JOIN quota_emoney q ON q.idcustomer = c.idcustomer
LEFT JOIN mesin m ON m.idmesin = $4 AND m.aktif
LEFT JOIN outlet o ON o.idoutlet = m.idoutlet
LEFT JOIN snap_transaksi p ON p.idmesin = $4 AND p.state IN ",
    open_states!(),
    "
LEFT JOIN layanan l ON l.idlayanan = $5 AND l.idoutlet = m.idoutlet AND l.internal = $7 AND (l.aktif OR $7) AND ",
    fits!()
);

/// The facts about `p`, as of `now`.
pub async fn read(client: &DbClient, p: &Order, now: Timestamp) -> Result<Facts, DbError> {
    let stmt = client.prepare_cached(FACTS).await?;
    let row = client
        .query_one(
            &stmt,
            &[
                &p.id_customer_global,
                &p.receipt_number.as_str(),
                &p.idcustomer,
                &p.idmesin,
                &p.idlayanan,
                &now,
                &p.test.is_some(),
                &p.test.as_ref().and_then(|test| test.of.day_began()),
            ],
        )
        .await?;
    let (mut machine, mut service) = (machine(&row)?, service(&row)?);
    if let Some(test) = &p.test {
        if let Some(service) = &mut service {
            service.duration_s = test.of.seconds();
        }
        if let Some(coin) = machine.as_mut().and_then(|machine| machine.coin.as_mut()) {
            coin.n = test.of.pulses();
        }
    }
    Ok(Facts { receipt: receipt(&row)?, epay: epay(&row)?, machine, service })
}

fn receipt(row: &Row) -> Result<Option<KnownReceipt>, DbError> {
    let Some(body_hash) = row.try_get("body_hash")? else { return Ok(None) };
    let id: Option<PurchaseId> = row.try_get("idtransaksi")?;
    let state: Option<&str> = row.try_get("state")?;
    Ok(Some(KnownReceipt {
        body_hash,
        refusal: row.try_get("tolak")?,
        purchase: id.zip(state.and_then(PurchaseState::from_stored)),
    }))
}

fn epay(row: &Row) -> Result<Option<Epay>, DbError> {
    let Some(idowner) = row.try_get("owner_idowner")? else { return Ok(None) };
    let balance: Option<i64> = row.try_get("saldo")?;
    let wallet = match balance {
        Some(balance) => Some(Wallet { balance, expires_at: row.try_get("expires_at")? }),
        None => None,
    };
    Ok(Some(Epay { idowner, wallet }))
}

fn machine(row: &Row) -> Result<Option<MachineFacts>, DbError> {
    let Some(idoutlet) = row.try_get("machine_outlet")? else { return Ok(None) };
    Ok(Some(MachineFacts {
        idoutlet,
        idowner: row.try_get("machine_owner")?,
        name: row.try_get("machine_name")?,
        driver: row.try_get("driver")?,
        online: row.try_get("online")?,
        needs_staff: row.try_get("needs_staff")?,
        busy: row.try_get("busy")?,
        coin: match row.try_get("cara")? {
            "pulsa" => Some(CoinInput {
                n: row.try_get("machine_pulses")?,
                width_ms: row.try_get("lebar_ms")?,
                gap_ms: row.try_get("jeda_ms")?,
                sense_s: row.try_get("sense_s")?,
            }),
            _ => None,
        },
        tests: TestFacts {
            closed: row.try_get("closed")?,
            pulses: row.try_get::<_, Option<i64>>("tested_pulses")?.unwrap_or_default(),
        },
    }))
}

fn service(row: &Row) -> Result<Option<ServiceFacts>, DbError> {
    let Some(idoutlet) = row.try_get("service_outlet")? else { return Ok(None) };
    Ok(Some(ServiceFacts {
        idoutlet,
        name: row.try_get("service_name")?,
        duration_s: row.try_get("durasi_s")?,
        pulses: row.try_get("service_pulses")?,
        tariff: tariff::of(row)?,
        versions: SaleVersions { service: row.try_get("service_version")?, outlet: row.try_get("outlet_version")? },
    }))
}

/// A machine with its purchase, as an actor needs it.
#[derive(Debug, Clone)]
pub struct OpenPurchase {
    pub idmesin: MachineId,
    pub idoutlet: OutletId,
    pub driver: DriverKind,
    pub purchase: Purchase,
}

const OPEN: &str = concat!(
    "
SELECT t.id, t.idmesin, t.idoutlet, m.driver, t.cmd_id, t.cmd_epoch, t.durasi_s, t.pulsa, t.lebar_ms, t.jeda_ms, t.sense_s, t.created_at, t.state, t.ends_at, t.mundur, t.tambah_s, m.boot,
       t.stop_requested_at IS NOT NULL AS stop_requested
FROM snap_transaksi t JOIN mesin m USING (idmesin)
WHERE t.state IN ",
    open_states!()
);

/// Every open purchase of the machines of these shards, or of all: what their owner resumes.
pub async fn all_open(client: &DbClient, shards: Option<&[Shard]>) -> Result<Vec<OpenPurchase>, DbError> {
    let stmt = client.prepare_cached(&format!("{OPEN} AND {}", of_shards!("t.idoutlet", 1))).await?;
    client.query(&stmt, &[&shards]).await?.iter().map(open_purchase).collect()
}

/// The open purchases of these machines.
pub async fn open_of(client: &DbClient, idmesin: &[MachineId]) -> Result<Vec<OpenPurchase>, DbError> {
    let stmt = client.prepare_cached(&format!("{OPEN} AND t.idmesin = ANY($1)")).await?;
    client.query(&stmt, &[&idmesin]).await?.iter().map(open_purchase).collect()
}

/// The last purchase of each machine that waits for staff, where its money went back.
const AWAITING_STAFF: &str = "
SELECT t.id, t.idmesin, t.idoutlet, m.driver, t.cmd_id, t.cmd_epoch, t.durasi_s, t.pulsa, t.lebar_ms, t.jeda_ms, t.sense_s, t.created_at, t.state, t.ends_at, t.mundur, t.tambah_s, m.boot,
       FALSE AS stop_requested
FROM mesin m JOIN LATERAL (SELECT * FROM snap_transaksi t WHERE t.idmesin = m.idmesin ORDER BY t.cmd_epoch DESC LIMIT 1) t ON TRUE
WHERE m.perlu_petugas AND t.state = 'EXPIRED'";

/// What machines of these shards, or of all, were last sold for that wait for staff: they are free when their devices know that it is over.
pub async fn awaiting_staff(client: &DbClient, shards: Option<&[Shard]>) -> Result<Vec<OpenPurchase>, DbError> {
    let stmt = client.prepare_cached(&format!("{AWAITING_STAFF} AND {}", of_shards!("t.idoutlet", 1))).await?;
    client.query(&stmt, &[&shards]).await?.iter().map(open_purchase).collect()
}

/// Each kind has its index, so that runs and what is over are not looked at; and the driver is asked for row by row (`recovery::OVERDUE`).
pub const UNSETTLED_BUT: &str = concat!(
    "
SELECT t.id, t.idmesin, t.idoutlet, (SELECT driver FROM mesin m WHERE m.idmesin = t.idmesin) AS driver, t.cmd_id, t.cmd_epoch, t.durasi_s,
       t.pulsa, t.lebar_ms, t.jeda_ms, t.sense_s, t.created_at, t.state, t.ends_at, t.mundur, t.tambah_s, (SELECT boot FROM mesin m WHERE m.idmesin = t.idmesin) AS boot,
       t.stop_requested_at IS NOT NULL AS stop_requested
FROM (
    (SELECT * FROM snap_transaksi WHERE state IN ('HELD', 'SENT') AND NOT ",
    of_shards!("idoutlet", 1),
    ")
    UNION ALL
    (SELECT * FROM snap_transaksi WHERE state = 'UNSURE' AND NOT ",
    of_shards!("idoutlet", 1),
    ")
    UNION ALL
    (SELECT * FROM snap_transaksi WHERE state = 'RUNNING' AND stop_requested_at IS NOT NULL AND NOT ",
    of_shards!("idoutlet", 1),
    ")
) t"
);

/// Of all machines but those of these shards: what is undecided, and runs that are to stop.
pub async fn unsettled_but(client: &DbClient, shards: &[Shard]) -> Result<Vec<OpenPurchase>, DbError> {
    let stmt = client.prepare_cached(UNSETTLED_BUT).await?;
    client.query(&stmt, &[&shards]).await?.iter().map(open_purchase).collect()
}

/// [`awaiting_staff`], of all machines but those of these shards.
pub async fn awaiting_staff_but(client: &DbClient, shards: &[Shard]) -> Result<Vec<OpenPurchase>, DbError> {
    let stmt = client.prepare_cached(&format!("{AWAITING_STAFF} AND NOT {}", of_shards!("t.idoutlet", 1))).await?;
    client.query(&stmt, &[&shards]).await?.iter().map(open_purchase).collect()
}

/// The open purchase of one machine.
pub async fn open_at(client: &DbClient, idmesin: MachineId) -> Result<Option<Purchase>, DbError> {
    let stmt = client.prepare_cached(&format!("{OPEN} AND t.idmesin = $1")).await?;
    let row = client.query_opt(&stmt, &[&idmesin]).await?;
    row.as_ref().map(open_purchase).transpose().map(|t| t.map(|t| t.purchase))
}

fn pulses(row: &Row) -> Result<Option<Pulses>, DbError> {
    let Some(n) = row.try_get("pulsa")? else { return Ok(None) };
    let (width_ms, gap_ms, sense_s) = (row.try_get("lebar_ms")?, row.try_get("jeda_ms")?, row.try_get("sense_s")?);
    Ok(Some(Pulses { n, width_ms, gap_ms, sense_s }))
}

fn open_purchase(row: &Row) -> Result<OpenPurchase, DbError> {
    let state: &str = row.try_get("state")?;
    let state = PurchaseState::from_stored(state).ok_or_else(|| DbError::broken(format!("unknown state {state}")))?;
    let ends_at: Option<Timestamp> = row.try_get("ends_at")?;
    let cmd_id: Uuid = row.try_get("cmd_id")?;
    Ok(OpenPurchase {
        idmesin: row.try_get("idmesin")?,
        idoutlet: row.try_get("idoutlet")?,
        driver: row.try_get("driver")?,
        purchase: Purchase {
            id: row.try_get("id")?,
            cmd_id,
            epoch: row.try_get("cmd_epoch")?,
            duration_s: i64::from(row.try_get::<_, i32>("durasi_s")?),
            pulses: pulses(row)?,
            created_at: row.try_get("created_at")?,
            state,
            ends_at: ends_at.unwrap_or_default(),
            moved: row.try_get("mundur")?,
            added_s: i64::from(row.try_get::<_, i32>("tambah_s")?),
            boot: row.try_get("boot")?,
            exchange: Exchange { stop_requested: row.try_get("stop_requested")?, ..Exchange::default() },
        },
    })
}
