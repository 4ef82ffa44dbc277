//! What is recorded of an outlet's machines: their conditions, its closings, and when no server recorded.

use deadpool_postgres::Transaction;
use nyala_core::domain::id::MachineId;
use nyala_core::domain::shard::Shard;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::figures::downtime::{MachineRecord, OutletRecord};
use nyala_core::figures::intervals::{Interval, Intervals};
use nyala_ledger::figures::is_customers;
use nyala_store::db::error::DbError;
use tokio_postgres::Row;

use super::outlet::{ReportMachine, ReportOutlet};
use crate::board::spells::Spells;

/// Conditions of an outlet's machines between $2 and $3. $1 outlet.
const SPELLS: &str = "
SELECT m.idoutlet, k.idmesin, k.keadaan, k.dari, k.sampai FROM mesin m JOIN keadaan_mesin k USING (idmesin)
WHERE m.idoutlet = $1 AND (k.sampai IS NULL OR k.sampai > $2) AND k.dari < $3 ORDER BY k.dari, k.id";

const CLOSINGS: &str = "SELECT dari, sampai FROM outlet_ditutup WHERE idoutlet = $1 AND sampai > $2 AND dari < $3";

/// When conditions of a shard were recorded, and the time before that. $1 shard, $2 begin, $3 end.
const RECORDED: &str = "
SELECT dari, sampai FROM keadaan_dicatat WHERE idshard = $1 AND dari < $3
    AND sampai >= COALESCE((SELECT max(sampai) FROM keadaan_dicatat WHERE idshard = $1 AND sampai <= $2), $2) ORDER BY dari";

/// No cycle is longer than a day, so those that run at $2 were posted within the two days before. $1 outlet, $3 end.
const CYCLES: &str = concat!(
    "
SELECT t.idmesin, t.started_at, COALESCE(t.finished_at, t.ends_at) FROM ledger_transfer l JOIN snap_transaksi t ON t.id = l.idtransaksi
WHERE l.kind = 'post' AND l.idoutlet = $1 AND l.created_at >= $2::TIMESTAMPTZ - INTERVAL '2 days' AND l.created_at < $3
    AND COALESCE(t.finished_at, t.ends_at) > $2 AND ",
    is_customers!()
);

/// What is recorded between two instants, and no later than `now`; with the cycles of the machines if `with_cycles`.
///
/// # Errors
/// When the database does not answer.
pub async fn record(
    tx: &Transaction<'_>,
    (outlet, machines): (&ReportOutlet, &[ReportMachine]),
    (from, until): (Timestamp, Timestamp),
    with_cycles: bool,
    now: Timestamp,
) -> Result<OutletRecord, DbError> {
    let until = until.min(now).max(from);
    let id = outlet.idoutlet;
    let stmt = tx.prepare_cached(SPELLS).await?;
    let mut spells = Spells::default();
    for row in tx.query(&stmt, &[&id, &from, &until]).await? {
        spells.add(&row)?;
    }
    let stmt = tx.prepare_cached(CLOSINGS).await?;
    let past = tx.query(&stmt, &[&id, &from, &until]).await?;
    let stmt = tx.prepare_cached(RECORDED).await?;
    let recorded = tx.query(&stmt, &[&Shard::of(id), &from, &until]).await?;
    let mut cycles = Vec::new();
    if with_cycles {
        let stmt = tx.prepare_cached(CYCLES).await?;
        cycles = tx.query(&stmt, &[&id, &from, &until]).await?;
    }
    let mut closed = past.iter().map(|row| interval(row, 0)).collect::<Result<Vec<_>, _>>()?;
    closed.extend(outlet.closed.map(|(since, end)| Interval { from: since, until: end.unwrap_or(until) }));
    // Before it was opened.
    closed.push(Interval { from, until: outlet.opened_at.unwrap_or(until) });
    let recorded = recorded.iter().map(|row| interval(row, 0)).collect::<Result<Vec<_>, _>>()?;
    let unrecorded = recorded.windows(2).map(|pair| Interval { from: pair[0].until, until: pair[1].from }).collect();
    let mut bought: Vec<(MachineId, Interval)> = Vec::new();
    for row in &cycles {
        bought.push((row.try_get(0)?, interval(row, 1)?));
    }
    let of = |machine: &ReportMachine| MachineRecord {
        idmesin: machine.idmesin,
        created_at: machine.created_at,
        active: machine.active,
        spells: spells.of(machine.idmesin).copied().collect(),
        cycles: bought.iter().filter(|(id, _)| *id == machine.idmesin).map(|(_, time)| *time).collect(),
    };
    let machines = machines.iter().map(of).collect();
    Ok(OutletRecord { from, until, closed: closed.into_iter().collect(), unrecorded, machines })
}

fn interval(row: &Row, first: usize) -> Result<Interval, DbError> {
    Ok(Interval { from: row.try_get(first)?, until: row.try_get(first + 1)? })
}

/// Minutes of some milliseconds.
pub const fn minutes(ms: i64) -> i64 {
    ms / 60_000
}

/// Milliseconds in which each machine was down, in each part between some bounds.
pub type DownByPart = Vec<(MachineId, Vec<i64>)>;

pub fn down_by_part(record: &OutletRecord, bounds: &[Timestamp]) -> DownByPart {
    record.down().into_iter().map(|(id, down): (MachineId, Intervals)| (id, down.ms_between(bounds))).collect()
}
