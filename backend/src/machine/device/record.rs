//! Keeping on record what a device says of itself.

use uuid::Uuid;

use crate::cluster::fence::{Fence, Fenced};
use crate::db::Store;
use crate::db::error::DbError;
use crate::db::pool::DbClient;
use crate::domain::timestamp::Timestamp;
use crate::purchase::device::DeviceEvent;

/// A device that reports no run is free of the staff flag; a run that nobody paid for is audited, never charged. $1 machine, $2 online,
/// $3 whether it runs, $4 a run that is not the open purchase's or null, $5 now.
pub const RECORD: &str = "
WITH m AS (
    UPDATE mesin SET online = $2, perlu_petugas = perlu_petugas AND NOT ($2 AND NOT $3)
    WHERE idmesin = $1 AND (online <> $2 OR perlu_petugas AND $2 AND NOT $3) RETURNING idmesin
)
INSERT INTO audit_log (aktor, aksi, objek, isi, idoutlet, created_at)
SELECT 'perangkat', 'mesin.jalan_tanpa_bayar', 'mesin:' || $1, jsonb_build_object('cmd_id', $4::UUID),
    (SELECT idoutlet FROM mesin WHERE idmesin = $1), $5
WHERE $4::UUID IS NOT NULL
  AND NOT EXISTS (SELECT FROM snap_transaksi WHERE idmesin = $1 AND cmd_id = $4 AND state IN ('HELD', 'SENT', 'UNSURE', 'RUNNING', 'FINISHED', 'STOPPED'))
ON CONFLICT DO NOTHING";

static FENCED_RECORD: Fenced = Fenced::new(RECORD, "WHERE idmesin = $1 AND");

/// With a `fence` it changes nothing of a machine that somebody else owns by now: what an owner heard before it slept is an old word.
/// That somebody ran unpaid is looked up where it is stored, so it may be said by anybody.
pub async fn record(
    client: &DbClient,
    idmesin: i64,
    online: bool,
    runs: bool,
    foreign: Option<Uuid>,
    now: Timestamp,
    fence: Option<&Fence>,
) -> Result<(), DbError> {
    FENCED_RECORD.query_opt(client, &[&idmesin, &online, &runs, &foreign, &now], fence).await?;
    Ok(())
}

/// Stores at once what a device just said of being reachable; its machine's actor hears the rest.
pub async fn record_said(store: &Store, idmesin: i64, said: &DeviceEvent) -> Result<(), DbError> {
    let DeviceEvent::State { online, run } = said else { return Ok(()) };
    let client = store.get().await?;
    record(&client, idmesin, *online, run.is_some(), None, store.now(), None).await
}
