//! Storage of what a device reports about itself.

use tokio_postgres::types::ToSql;
use uuid::Uuid;

use nyala_cluster::fence::{Fence, Fenced};
use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::{DeviceEvent, ReportedRun};
use nyala_core::purchase::state::open_states;
use nyala_store::db::Store;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;

/// Stores a device's report. A report without a run clears the staff flag. An unpaid cycle is audited, never charged, and keeps the machine in
/// use until the device reports no run.
///
/// A power cut is recognised when a new boot reports a run of the machine's newest started purchase, although the clock has finished that
/// purchase. The purchase then runs again. Its time left is at most its duration, and at most a minute more than at the device's last message.
///
/// $1 machine, $2 online, $3 whether it runs, $4 a run that does not belong to the open purchase, or null, $5 now, $6 end of the run, $7 the
/// boot, $8 time of the last message before that boot.
pub const RECORD: &str = concat!(
    "
WITH l AS MATERIALIZED (
    SELECT idmesin, boot FROM mesin WHERE idmesin = $1 AND TRUE FOR NO KEY UPDATE
), known AS (
    SELECT FROM snap_transaksi WHERE idmesin = $1 AND cmd_id = $4::UUID AND state IN ",
    open_states!(),
    "
), again AS (
    SELECT t.id, least($6::TIMESTAMPTZ, $5::TIMESTAMPTZ + make_interval(secs => t.durasi_s),
        $5::TIMESTAMPTZ + greatest(t.ends_at - COALESCE($8::TIMESTAMPTZ, t.started_at), INTERVAL '0') + INTERVAL '60 seconds') AS ends_at
    FROM snap_transaksi t JOIN l USING (idmesin)
    WHERE t.cmd_id = $4 AND t.state = 'FINISHED'
      AND (l.boot <> $7::BIGINT OR l.boot IS NULL AND $8::TIMESTAMPTZ + INTERVAL '1 second' >= t.started_at)
      AND NOT EXISTS (SELECT FROM snap_transaksi later
          WHERE later.idmesin = t.idmesin AND later.cmd_epoch > t.cmd_epoch AND later.started_at IS NOT NULL)
      AND NOT EXISTS (SELECT FROM snap_transaksi other WHERE other.idmesin = t.idmesin AND other.state IN ",
    open_states!(),
    ")
), r AS (
    UPDATE snap_transaksi t SET state = 'RUNNING', ends_at = again.ends_at, finished_at = NULL, diambil_at = NULL, mundur = mundur + 1
    FROM again WHERE t.id = again.id AND t.state = 'FINISHED' AND again.ends_at > $5 RETURNING t.id, t.no_nota
), unsaid AS (
    DELETE FROM push USING r WHERE push.objek = r.id AND push.sebab IN ('selesai', 'menunggu')
), unpaid AS (
    SELECT $4::UUID AS cmd_id, $6::TIMESTAMPTZ AS ends_at
    WHERE $4::UUID IS NOT NULL AND NOT EXISTS (SELECT FROM known) AND NOT EXISTS (SELECT FROM r)
), says AS (
    SELECT l.idmesin, ($2 AND NOT $3) OR EXISTS (SELECT FROM r) AS free, unpaid.cmd_id, unpaid.ends_at FROM l LEFT JOIN unpaid ON TRUE
), m AS (
    UPDATE mesin SET online = $2, perlu_petugas = perlu_petugas AND NOT ($2 AND NOT $3), boot = COALESCE($7, boot),
        jalan_cmd_id = CASE WHEN NOT says.free THEN COALESCE(says.cmd_id, jalan_cmd_id) END,
        jalan_sampai = CASE WHEN NOT says.free THEN COALESCE(says.ends_at, jalan_sampai) END,
        jalan_stop_at = CASE WHEN NOT says.free AND COALESCE(says.cmd_id, jalan_cmd_id) = jalan_cmd_id THEN jalan_stop_at END
    FROM says WHERE mesin.idmesin = says.idmesin AND (online <> $2 OR perlu_petugas AND $2 AND NOT $3 OR boot IS DISTINCT FROM COALESCE($7, boot)
        OR says.cmd_id IS NOT NULL OR says.free AND jalan_cmd_id IS NOT NULL)
), a AS (
    INSERT INTO audit_log (aktor, aksi, objek, isi, idoutlet, created_at)
    SELECT 'perangkat', 'mesin.jalan_tanpa_bayar', 'mesin:' || $1, jsonb_build_object('cmd_id', $4::UUID),
        (SELECT idoutlet FROM mesin WHERE idmesin = $1), $5
    WHERE $4::UUID IS NOT NULL
      AND NOT EXISTS (SELECT FROM snap_transaksi WHERE idmesin = $1 AND cmd_id = $4 AND state IN ('HELD', 'SENT', 'UNSURE', 'RUNNING', 'FINISHED', 'STOPPED'))
    UNION ALL
    SELECT 'perangkat', 'mesin.jalan_lagi', 'mesin:' || $1, jsonb_build_object('idtransaksi', r.id),
        (SELECT idoutlet FROM mesin WHERE idmesin = $1), $5 FROM r
    ON CONFLICT DO NOTHING
)
SELECT no_nota FROM r"
);

static FENCED_RECORD: Fenced = Fenced::new(RECORD, "WHERE idmesin = $1 AND");

/// Stores a device's report. With a `fence`, it changes no machine that another server owns by now, because the messages of a former owner are
/// stale. The audit entry of an unpaid cycle is checked against the stored purchases, so any server may write it.
///
/// Returns whether a finished purchase runs again.
pub async fn record(
    client: &DbClient,
    idmesin: MachineId,
    online: bool,
    run: Option<ReportedRun>,
    foreign: bool,
    now: Timestamp,
    fence: Option<&Fence>,
) -> Result<bool, DbError> {
    let unpaid = run.filter(|_| foreign).map(|run| (run.cmd_id, run.ends_at)).unzip();
    let (cmd_id, ends_at): (Option<Uuid>, Option<Timestamp>) = unpaid;
    let (boot, before_boot) = (run.and_then(|run| run.boot), run.and_then(|run| run.before_boot));
    let params: [&(dyn ToSql + Sync); 8] = [&idmesin, &online, &run.is_some(), &cmd_id, &now, &ends_at, &boot, &before_boot];
    let again = FENCED_RECORD.query_opt(client, &params, fence).await?;
    if let Some(row) = &again {
        tracing::warn!(
            nota = row.try_get::<_, &str>(0)?,
            idmesin = idmesin.get(),
            "its device had no power: a finished purchase runs again"
        );
    }
    Ok(again.is_some())
}

/// Stores a device's reported presence at once; its machine's actor receives the rest.
pub async fn record_presence(store: &Store, idmesin: MachineId, event: &DeviceEvent) -> Result<(), DbError> {
    let DeviceEvent::State { online, run } = event else { return Ok(()) };
    let (client, now) = (store.get().await?, store.now());
    let run = run.map(|run| ReportedRun { boot: None, ..ReportedRun::of(run, now) });
    record(&client, idmesin, *online, run, false, now, None).await.map(drop)
}
