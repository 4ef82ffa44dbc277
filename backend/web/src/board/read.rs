//! Reads what an outlet's board shows, as of one moment.

use std::cmp::Reverse;

use futures_util::future::{try_join, try_join3};
use nyala_core::board::attention::{self, Entry, MachineHistory, OpenShift, OutletHistory, Patience, REFUSALS_WITHIN_MS};
use nyala_core::domain::id::{MachineId, OutletId, ShiftId};
use nyala_core::domain::scope::Scope;
use nyala_core::domain::text::natural_key;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::prices::{ClockTime, Zone};
use nyala_core::purchase::state::open_states;
use nyala_ledger::on_sale::Closing;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;
use serde::Serialize;
use tokio_postgres::Row;
use utoipa::ToSchema;

use super::entry::{Around, Ditangani, Perhatian, about};
use super::spells::Spells;
use super::tile::Tile;

/// Ended conditions are read back for this long, so that short returns of a device are seen.
const SPELLS_WITHIN_MS: i64 = 10 * 60 * 1000;

/// The machines of an outlet with their open purchases. $1 outlet.
pub const TILES: &str = concat!(
    "
SELECT m.idmesin, m.nama, m.jenis, m.ukuran, m.urut, m.online, m.perlu_petugas, m.jalan_cmd_id IS NOT NULL AS jalan, m.jalan_sampai,
       m.ditutup_sejak, m.ditutup_alasan, k.nama AS ditutup_oleh,
       t.state, t.no_nota, t.nama_layanan, t.grandtotal, t.created_at, t.started_at, t.ends_at, t.durasi_s,
       (SELECT p.finished_at FROM snap_transaksi p WHERE p.idmesin = m.idmesin AND p.started_at IS NOT NULL
        ORDER BY p.cmd_epoch DESC LIMIT 1) AS last_end,
       (SELECT max(e.sampai) FROM keadaan_mesin e WHERE e.idmesin = m.idmesin) AS last_condition_end
FROM mesin m LEFT JOIN snap_transaksi t ON t.idmesin = m.idmesin AND t.state IN ",
    open_states!(),
    "
LEFT JOIN kunci_operator k ON k.id = m.ditutup_oleh
WHERE m.idoutlet = $1 AND m.aktif"
);

/// Conditions of an outlet's machines that hold, or ended after $2. $1 outlet.
const SPELLS: &str = "
SELECT k.idmesin, k.keadaan, k.dari, k.sampai FROM mesin m JOIN keadaan_mesin k USING (idmesin)
WHERE m.idoutlet = $1 AND m.aktif AND (k.sampai IS NULL OR k.sampai > $2) ORDER BY k.dari, k.id";

/// Refusals of an outlet's machines after $2, without a start after them. $1 outlet.
const REFUSALS: &str = "
SELECT t.idmesin, t.finished_at FROM snap_transaksi t
WHERE t.idoutlet = $1 AND t.state = 'REFUSED' AND t.finished_at > $2
    AND NOT EXISTS (SELECT FROM snap_transaksi s WHERE s.idmesin = t.idmesin AND s.cmd_epoch > t.cmd_epoch AND s.started_at IS NOT NULL)
ORDER BY t.finished_at";

const SHIFTS: &str = "
SELECT s.id, s.dibuka_at, p.nama FROM shift s JOIN perangkat p ON p.id = s.id_perangkat WHERE s.idoutlet = $1 AND s.ditutup_at IS NULL";

const TAKEN: &str = "
SELECT d.jenis, d.tentang, d.sejak, k.nama, d.ditangani_at, d.sampai FROM perhatian_ditangani d JOIN kunci_operator k ON k.id = d.id_kunci
WHERE d.idoutlet = $1 AND d.sampai > $2";

const OUTLET: &str = "
SELECT nama, zona, hari_mulai, dibuka_at IS NOT NULL AS dibuka, ditutup_alasan, ditutup_sejak, ditutup_sampai FROM outlet WHERE idoutlet = $1";

/// The outlet on its board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OutletPapan {
    #[schema(value_type = i64)]
    pub idoutlet: OutletId,
    pub nama: String,
    pub zona: String,
    /// Null: it is not closed.
    #[schema(required)]
    pub tutup: Option<PapanTutup>,
}

/// Why and since when an outlet is closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PapanTutup {
    pub alasan: String,
    pub sejak: Timestamp,
    #[schema(value_type = Option<Timestamp>, required)]
    pub sampai: Option<Timestamp>,
}

/// All that a board shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardNow {
    pub outlet: OutletPapan,
    /// In the order of the machines in the shop.
    pub tiles: Vec<Tile>,
    pub entries: Vec<Perhatian>,
}

/// What the board of an outlet shows at `now`.
///
/// # Errors
/// When the database does not answer.
pub async fn board(client: &DbClient, idoutlet: OutletId, patience: Patience, now: Timestamp) -> Result<BoardNow, DbError> {
    let [outlet, tiles, spells, refusals, shifts, taken] = [
        client.prepare_cached(OUTLET).await?,
        client.prepare_cached(TILES).await?,
        client.prepare_cached(SPELLS).await?,
        client.prepare_cached(REFUSALS).await?,
        client.prepare_cached(SHIFTS).await?,
        client.prepare_cached(TAKEN).await?,
    ];
    let (spells_after, refusals_after) = (now.plus_ms(-SPELLS_WITHIN_MS), now.plus_ms(-REFUSALS_WITHIN_MS));
    // One round trip for all of them.
    let ((outlet, mut tiles, spells), (refusals, shifts, taken)) = try_join(
        try_join3(
            client.query_one(&outlet, &[&idoutlet]),
            client.query(&tiles, &[&idoutlet]),
            client.query(&spells, &[&idoutlet, &spells_after]),
        ),
        try_join3(
            client.query(&refusals, &[&idoutlet, &refusals_after]),
            client.query(&shifts, &[&idoutlet]),
            client.query(&taken, &[&idoutlet, &now]),
        ),
    )
    .await?;
    let spells = Spells::of_rows(&spells)?;
    tiles.sort_by_cached_key(|row| {
        let order: Option<i32> = row.get("urut");
        (order.is_none(), order, natural_key(row.get("nama")), row.get::<_, MachineId>("idmesin"))
    });
    let tiles = tiles.iter().map(|row| Tile::of(row, &spells, now)).collect::<Result<Vec<_>, _>>()?;
    let closing = Closing::of(&outlet, now)?;
    let zone: &str = outlet.try_get("zona")?;
    let history = OutletHistory {
        sells: closing.is_none() && outlet.try_get("dibuka")?,
        machines: histories(&tiles, &spells, &refusals)?,
        shifts: shifts.iter().map(open_shift).collect::<Result<_, DbError>>()?,
        day_began: day_began(zone, outlet.try_get("hari_mulai")?, now)?,
    };
    let outlet = OutletPapan {
        idoutlet,
        nama: outlet.try_get("nama")?,
        zona: zone.to_owned(),
        tutup: closing.map(|c| PapanTutup { alasan: c.reason, sejak: c.since, sampai: c.until }),
    };
    let tills: Vec<(ShiftId, String)> =
        shifts.iter().map(|row| Ok((row.try_get(0)?, row.try_get(2)?))).collect::<Result<_, DbError>>()?;
    let around = Around { idoutlet, outlet: &outlet.nama, tiles: &tiles, tills: &tills };
    let entries = attention::of(&history, patience, now).into_iter();
    let entries = entries.map(|entry| {
        let key = (entry.kind.as_str(), about(entry.about), entry.since);
        Ok(Perhatian::new(entry, &around, taken_by(&taken, key)?))
    });
    let entries = entries.collect::<Result<_, DbError>>()?;
    Ok(BoardNow { outlet, tiles, entries })
}

/// Whether an outlet is within a scope.
///
/// # Errors
/// When the database does not answer.
pub async fn is_in_sight(client: &DbClient, scope: Scope, idoutlet: OutletId) -> Result<bool, DbError> {
    const SEES: &str = "
        SELECT EXISTS (SELECT FROM outlet WHERE idoutlet = $1 AND ($2::BIGINT IS NULL OR idowner = $2) AND ($3::BIGINT IS NULL OR idoutlet = $3))";
    let stmt = client.prepare_cached(SEES).await?;
    Ok(client.query_one(&stmt, &[&idoutlet, &scope.owner, &scope.outlet]).await?.try_get(0)?)
}

fn open_shift(row: &Row) -> Result<OpenShift, DbError> {
    Ok(OpenShift { id: row.try_get(0)?, since: row.try_get(1)? })
}

fn histories(tiles: &[Tile], spells: &Spells, refusals: &[Row]) -> Result<Vec<MachineHistory>, DbError> {
    let mut refused: Vec<(MachineId, Timestamp)> = Vec::new();
    for row in refusals {
        refused.push((row.try_get(0)?, row.try_get(1)?));
    }
    let of = |tile: &Tile| MachineHistory {
        idmesin: tile.id,
        closed: tile.ditutup.is_some(),
        spells: spells.of(tile.id).copied().collect(),
        refused_at: refused.iter().filter(|(id, _)| *id == tile.id).map(|(_, at)| *at).collect(),
    };
    Ok(tiles.iter().map(of).collect())
}

fn day_began(zone: &str, start_minute: i16, now: Timestamp) -> Result<Timestamp, DbError> {
    let zone = Zone::parse(zone).ok_or_else(|| DbError::broken(format!("unknown time zone {zone}")))?;
    let start = ClockTime::from_minute(start_minute.into()).ok_or_else(|| DbError::broken("a day that begins at no minute"))?;
    Ok(zone.day_began(start, now))
}

/// Who has taken an entry of an outlet.
///
/// # Errors
/// When the database does not answer.
pub async fn taken(client: &DbClient, idoutlet: OutletId, entry: Entry, now: Timestamp) -> Result<Option<Ditangani>, DbError> {
    let stmt = client.prepare_cached(TAKEN).await?;
    let rows = client.query(&stmt, &[&idoutlet, &now]).await?;
    taken_by(&rows, (entry.kind.as_str(), about(entry.about), entry.since))
}

/// Who has taken an entry last.
fn taken_by(rows: &[Row], (kind, about, since): (&str, i64, Timestamp)) -> Result<Option<Ditangani>, DbError> {
    let mut found = Vec::new();
    for row in rows {
        let (of, at, from): (&str, i64, Timestamp) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        if (of, at, from) == (kind, about, since) {
            found.push(Ditangani { nama: row.try_get(3)?, sejak: row.try_get(4)?, sampai: row.try_get(5)? });
        }
    }
    found.sort_by_key(|taken| Reverse(taken.sejak));
    Ok(found.into_iter().next())
}
