//! Records from when until when each machine is closed, offline, unsure, or waits for staff (`keadaan_mesin`). The server that owns the machine
//! derives it from the database, so purchases and devices have nothing more to write. A closing by staff may be shorter than the time between two
//! looks, so their calls record it ([`closed`], [`opened`]). When no server records, nothing is known: `keadaan_dicatat` has the times in which one did.

use std::time::{Duration, Instant};

use deadpool_postgres::Transaction;
use nyala_cluster::of_shards;
use nyala_core::domain::id::MachineId;
use nyala_core::domain::shard::Shard;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::error::DbError;

use super::error::MachineError;
use super::machines::Machines;

/// The shortest pause.
const EVERY: Duration = Duration::from_secs(1);
/// Each pause is this many times as long as the work before it, which takes about a hundredth of a core, up to the longest pause.
const PAUSE_FACTOR: u32 = 100;
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// The conditions that hold of each machine, as an array. $1 now, $2 the shards (NULL: all).
macro_rules! holds {
    () => {
        concat!(
            "
    SELECT m.idmesin, m.idoutlet, array_remove(ARRAY[
        CASE WHEN m.ditutup_sejak IS NOT NULL THEN 'ditutup' END,
        CASE WHEN m.perlu_petugas THEN 'perlu_petugas' END,
        CASE WHEN NOT m.online THEN 'offline' END,
        CASE WHEN m.jalan_cmd_id IS NOT NULL THEN 'tanpa_bayar' END,
        CASE WHEN t.state = 'UNSURE' THEN 'belum_pasti' END], NULL) AS ada
    FROM mesin m LEFT JOIN snap_transaksi t ON t.idmesin = m.idmesin AND t.state = 'UNSURE' AND NOT t.uji
    WHERE m.aktif AND ",
            of_shards!("m.idoutlet", 2)
        )
    };
}

/// Ends what holds no more, also of machines that were retired.
pub const END: &str = concat!(
    "
WITH h AS (",
    holds!(),
    ")
UPDATE keadaan_mesin k SET sampai = $1
FROM mesin m LEFT JOIN h USING (idmesin)
WHERE k.sampai IS NULL AND m.idmesin = k.idmesin AND ",
    of_shards!("m.idoutlet", 2),
    " AND k.keadaan <> ALL(COALESCE(h.ada, '{}'))"
);

/// Begins what holds now. Another server that has just taken the shard over may have begun it, too.
pub const BEGIN: &str = concat!(
    "
INSERT INTO keadaan_mesin (idmesin, keadaan, dari)
SELECT h.idmesin, keadaan, $1 FROM (",
    holds!(),
    ") h, unnest(h.ada) AS keadaan
WHERE NOT EXISTS (SELECT FROM keadaan_mesin k WHERE k.idmesin = h.idmesin AND k.keadaan = keadaan.keadaan AND k.sampai IS NULL)
ON CONFLICT DO NOTHING"
);

/// Records that a machine was closed, in the transaction of that.
///
/// # Errors
/// When the database does not answer.
pub async fn closed(tx: &Transaction<'_>, idmesin: MachineId, now: Timestamp) -> Result<(), DbError> {
    const CLOSED: &str = "INSERT INTO keadaan_mesin (idmesin, keadaan, dari) VALUES ($1, 'ditutup', $2) ON CONFLICT DO NOTHING";
    tx.execute(&tx.prepare_cached(CLOSED).await?, &[&idmesin, &now]).await?;
    Ok(())
}

/// Records that a machine was opened, in the transaction of that.
///
/// # Errors
/// When the database does not answer.
pub async fn opened(tx: &Transaction<'_>, idmesin: MachineId, now: Timestamp) -> Result<(), DbError> {
    const OPENED: &str = "UPDATE keadaan_mesin SET sampai = $2 WHERE idmesin = $1 AND keadaan = 'ditutup' AND sampai IS NULL";
    tx.execute(&tx.prepare_cached(OPENED).await?, &[&idmesin, &now]).await?;
    Ok(())
}

/// How often it is written down that conditions were recorded.
const NOTE_EVERY: Duration = Duration::from_secs(15);
/// Another server that takes a shard over within this time leaves no gap.
const GAP_MS: i64 = 60_000;

/// Continues what was written down of the shards $2, or begins anew when that ended before $3 (NULL: this server recorded all the time, however
/// long its clock says that it was). $1 now.
const NOTE: &str = "
WITH last AS (
    SELECT DISTINCT ON (idshard) idshard, dari, sampai FROM keadaan_dicatat WHERE idshard = ANY($2) ORDER BY idshard, dari DESC
), goes_on AS (
    SELECT * FROM last WHERE $3::TIMESTAMPTZ IS NULL OR sampai >= $3
), kept AS (
    UPDATE keadaan_dicatat k SET sampai = $1 FROM goes_on g WHERE k.idshard = g.idshard AND k.dari = g.dari AND k.sampai < $1
)
INSERT INTO keadaan_dicatat (idshard, dari, sampai)
SELECT s, $1, $1 FROM unnest($2::INT[]) s
WHERE s NOT IN (SELECT idshard FROM goes_on) AND s IN (SELECT (idoutlet % 256)::INT FROM outlet) ON CONFLICT DO NOTHING";

/// Records conditions until the server stops.
pub async fn record_loop(machines: Machines) {
    let (mut recorded, mut noted_at) = (Vec::new(), None::<Instant>);
    loop {
        let began = Instant::now();
        let now = machines.parts().store.now();
        let mut done = record(&machines, now).await;
        if done.is_ok() && noted_at.is_none_or(|at| at.elapsed() >= NOTE_EVERY) {
            noted_at = Some(began);
            done = note(&machines, &mut recorded, now).await;
        }
        if let Err(e) = done {
            tracing::warn!(error = %e, "the conditions of machines were not recorded; it will be tried again");
        }
        tokio::time::sleep((began.elapsed() * PAUSE_FACTOR).clamp(EVERY, MAX_PAUSE)).await;
    }
}

async fn record(machines: &Machines, now: Timestamp) -> Result<(), MachineError> {
    let shards = machines.ownership().shards();
    if shards.as_ref().is_some_and(Vec::is_empty) {
        return Ok(());
    }
    let client = machines.parts().store.get().await?;
    for statement in [END, BEGIN] {
        let stmt = client.prepare_cached(statement).await?;
        client.execute(&stmt, &[&now, &shards]).await?;
    }
    Ok(())
}

/// Writes down that the conditions of this server's shards are recorded; `before` has those of the last time.
async fn note(machines: &Machines, before: &mut Vec<Shard>, now: Timestamp) -> Result<(), MachineError> {
    let shards = machines.ownership().shards().unwrap_or_else(|| Shard::all().collect());
    let (kept, new): (Vec<Shard>, Vec<Shard>) = shards.iter().partition(|shard| before.contains(shard));
    let client = machines.parts().store.get().await?;
    let stmt = client.prepare_cached(NOTE).await?;
    for (shards, since) in [(kept, None), (new, Some(now.plus_ms(-GAP_MS)))] {
        client.execute(&stmt, &[&now, &shards, &since]).await?;
    }
    *before = shards;
    Ok(())
}
