//! Reads what an outlet's board shows, as of one moment.

use futures_util::TryFutureExt;
use futures_util::future::try_join3;
use nyala_core::board::attention::{self, Entry, OutletHistory, Patience};
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::scope::Scope;
use nyala_core::domain::text::natural_key;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::state::open_states;
use nyala_ledger::on_sale::{Closing, can_start, runs_unsold};
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;
use serde::Serialize;
use utoipa::ToSchema;

use super::entry::{Around, Ditangani, Perhatian};
use super::history;
use super::tile::Tile;

/// The machines of an outlet with their open purchases. $1 outlet.
pub const TILES: &str = concat!(
    "
SELECT m.idmesin, m.nama, m.jenis, m.ukuran, m.urut, m.online AND ",
    can_start!(),
    " AS online, m.cara = 'pulsa' AS by_pulses, m.perlu_petugas, m.jalan_sampai, m.sense_sejak, ",
    runs_unsold!(),
    " AS jalan,
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
pub struct Board<O, T, E> {
    pub outlet: O,
    /// In the order of the machines in the shop.
    pub tiles: Vec<T>,
    /// What needs a person.
    pub entries: Vec<E>,
}

/// What staff see of an outlet.
pub type BoardNow = Board<OutletPapan, Tile, Perhatian>;

/// What the board of an outlet shows at `now`.
///
/// # Errors
/// When the database does not answer.
pub async fn board(client: &DbClient, idoutlet: OutletId, patience: Patience, now: Timestamp) -> Result<BoardNow, DbError> {
    let (outlet, tiles) = (client.prepare_cached(OUTLET).await?, client.prepare_cached(TILES).await?);
    let only = [idoutlet];
    // One round trip for all of them.
    let (outlet, mut tiles, mut facts) = try_join3(
        client.query_one(&outlet, &[&idoutlet]).map_err(DbError::from),
        client.query(&tiles, &[&idoutlet]).map_err(DbError::from),
        history::read(client, &only, now),
    )
    .await?;
    let facts = facts.remove(&idoutlet).unwrap_or_default();
    tiles.sort_by_cached_key(|row| {
        let order: Option<i32> = row.get("urut");
        (order.is_none(), order, natural_key(row.get("nama")), row.get::<_, MachineId>("idmesin"))
    });
    let tiles = tiles.iter().map(|row| Tile::of(row, &facts.spells, now)).collect::<Result<Vec<_>, _>>()?;
    let closing = Closing::of(&outlet, now)?;
    let zone: &str = outlet.try_get("zona")?;
    let history = OutletHistory {
        opened: outlet.try_get("dibuka")?,
        sells: closing.is_none(),
        machines: tiles.iter().map(|tile| facts.machine(tile.id, tile.ditutup.is_some())).collect(),
        shifts: facts.shifts.clone(),
        move_refused_at: facts.move_refused_at,
        complaints: facts.open_complaints(),
        payment_since: facts.payment_since,
        day_began: history::day_began(zone, outlet.try_get("hari_mulai")?, now)?,
    };
    let outlet = OutletPapan {
        idoutlet,
        nama: outlet.try_get("nama")?,
        zona: zone.to_owned(),
        tutup: closing.map(|c| PapanTutup { alasan: c.reason, sejak: c.since, sampai: c.until }),
    };
    let around =
        Around { idoutlet, outlet: &outlet.nama, tiles: &tiles, tills: &facts.tills, complaints: &facts.complaints, now };
    let entries = attention::of(&history, patience, now).into_iter();
    let entries = entries
        .map(|entry| Perhatian::new(entry, &around, facts.receipt(entry), facts.taken(entry).map(|(_, taken)| taken)))
        .collect();
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

/// Who has taken an entry of an outlet.
///
/// # Errors
/// When the database does not answer.
pub async fn taken(client: &DbClient, idoutlet: OutletId, entry: Entry, now: Timestamp) -> Result<Option<Ditangani>, DbError> {
    let facts = history::read(client, &[idoutlet], now).await?;
    Ok(facts.get(&idoutlet).and_then(|facts| facts.taken(entry)).map(|(_, taken)| taken))
}
