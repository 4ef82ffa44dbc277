//! Storage of what a device reports about itself.

use tokio_postgres::types::ToSql;
use uuid::Uuid;

use nyala_cluster::fence::{Fence, Fenced};
use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::{DeviceEvent, ReportedRun, StateReport};
use nyala_core::purchase::state::open_states;
use nyala_ledger::closing::{last_opened, record_closing};
use nyala_ledger::push_queue::queue_back;
use nyala_store::db::Store;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;

/// Stores a device's report. A report without a run clears the staff flag. An unpaid cycle is audited, never charged, and keeps the machine in
/// use until the device reports no run.
///
/// A power cut is recognised when a new boot reports a run of the machine's newest started purchase, although the clock has finished that
/// purchase. The purchase then runs again. Its time left is at most its duration, and at most a minute more than at the device's last message. It
/// also runs again when the sensor has added time that was not known.
///
/// $1 machine, $2 online, $3 whether it runs, $4 a run that does not belong to the open purchase, or null, $5 now, $6 end of the run, $7 the
/// boot, $8 time of the last message before that boot, $9 seconds that the sensor has added to the run, $10 whether the sensor sees the machine
/// run, $11 the run of the open purchase.
pub const RECORD: &str = concat!(
    "
WITH l AS MATERIALIZED (
    SELECT idmesin, boot FROM mesin WHERE idmesin = $1 AND TRUE FOR NO KEY UPDATE
), known AS (
    SELECT FROM snap_transaksi WHERE idmesin = $1 AND cmd_id = $4::UUID AND state IN ",
    open_states!(),
    "
), again AS (
    SELECT t.id, least($6::TIMESTAMPTZ, $5::TIMESTAMPTZ + make_interval(secs => t.durasi_s + $9::INT),
        $5::TIMESTAMPTZ + greatest(t.ends_at - COALESCE($8::TIMESTAMPTZ, t.started_at), INTERVAL '0')
            + make_interval(secs => 60 + greatest($9 - t.tambah_s, 0))) AS ends_at
    FROM snap_transaksi t JOIN l USING (idmesin)
    WHERE t.cmd_id = $4 AND t.state = 'FINISHED'
      AND (l.boot <> $7::BIGINT OR l.boot IS NULL AND $8::TIMESTAMPTZ + INTERVAL '1 second' >= t.started_at OR $9 > t.tambah_s)
      AND NOT EXISTS (SELECT FROM snap_transaksi later
          WHERE later.idmesin = t.idmesin AND later.cmd_epoch > t.cmd_epoch AND later.started_at IS NOT NULL)
      AND NOT EXISTS (SELECT FROM snap_transaksi other WHERE other.idmesin = t.idmesin AND other.state IN ",
    open_states!(),
    ")
), r AS (
    UPDATE snap_transaksi t SET state = 'RUNNING', ends_at = again.ends_at, finished_at = NULL, diambil_at = NULL, mundur = mundur + 1, tambah_s = $9,
        sense = $9 > 0 OR $10::BOOLEAN OR sense
    FROM again WHERE t.id = again.id AND t.state = 'FINISHED' AND again.ends_at > $5 RETURNING t.id, t.no_nota
), unsaid AS (
    DELETE FROM push USING r WHERE push.objek = r.id AND push.sebab IN ('selesai', 'menunggu')
), sensed AS (
    UPDATE snap_transaksi t SET sense = $9 > 0 OR $10 FROM l
    WHERE t.idmesin = l.idmesin AND t.cmd_id = $11::UUID AND t.pulsa IS NOT NULL AND t.state IN ",
    open_states!(),
    " AND t.sense IS NOT TRUE AND ($9 > 0 OR $10) IS DISTINCT FROM t.sense
), unpaid AS (
    SELECT $4::UUID AS cmd_id, $6::TIMESTAMPTZ AS ends_at
    WHERE $4::UUID IS NOT NULL AND NOT EXISTS (SELECT FROM known) AND NOT EXISTS (SELECT FROM r)
), says AS (
    SELECT l.idmesin, ($2 AND NOT $3) OR EXISTS (SELECT FROM r) AS free, unpaid.cmd_id, unpaid.ends_at FROM l LEFT JOIN unpaid ON TRUE
), m AS (
    UPDATE mesin SET online = $2, perlu_petugas = perlu_petugas AND NOT ($2 AND NOT $3), boot = COALESCE($7, boot),
        sense_sejak = CASE WHEN $10 THEN COALESCE(sense_sejak, $5) END,
        jalan_cmd_id = CASE WHEN NOT says.free THEN COALESCE(says.cmd_id, jalan_cmd_id) END,
        jalan_sampai = CASE WHEN NOT says.free THEN COALESCE(says.ends_at, jalan_sampai) END,
        jalan_stop_at = CASE WHEN NOT says.free AND COALESCE(says.cmd_id, jalan_cmd_id) = jalan_cmd_id THEN jalan_stop_at END
    FROM says WHERE mesin.idmesin = says.idmesin AND (online <> $2 OR perlu_petugas AND $2 AND NOT $3 OR boot IS DISTINCT FROM COALESCE($7, boot)
        OR (sense_sejak IS NOT NULL) <> COALESCE($10, FALSE)
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

/// Marks a purchase whose machine has not run in it, tells its customer, and closes the machine at the third one in a row. The money is not
/// refunded by itself: the machine may still have its credit, so that the customer could press Start after the refund and wash for nothing.
///
/// $1 machine, $2 the purchase's command, $3 now.
const NEVER_RAN: &str = concat!(
    "
WITH l AS MATERIALIZED (
    SELECT idmesin FROM mesin WHERE idmesin = $1 AND TRUE FOR NO KEY UPDATE
), t AS (
    UPDATE snap_transaksi t SET kendala = 'tidak_jalan', sense = FALSE FROM l
    WHERE t.idmesin = l.idmesin AND t.cmd_id = $2 AND t.pulsa IS NOT NULL AND NOT t.uji AND t.state IN ('RUNNING', 'FINISHED')
      AND t.kendala IS NULL AND t.sense IS NOT TRUE
    RETURNING t.id, t.idmesin, t.no_nota, t.id_customer_global, t.cmd_epoch
), unsaid AS (
    DELETE FROM push USING t WHERE push.objek = t.id AND push.sebab IN ('selesai', 'menunggu')
), third AS (
    SELECT t.idmesin, 'tiga kali berturut-turut tidak jalan' AS alasan FROM t
    WHERE 2 = (SELECT count(*) FILTER (WHERE s.kendala = 'tidak_jalan') FROM (
        SELECT s.kendala FROM snap_transaksi s
        WHERE s.idmesin = t.idmesin AND s.cmd_epoch < t.cmd_epoch AND s.started_at > ",
    last_opened!("t.idmesin"),
    " AND NOT s.uji
        ORDER BY s.cmd_epoch DESC LIMIT 2) s)
), closed AS (
    UPDATE mesin SET ditutup_sejak = $3, ditutup_alasan = third.alasan FROM third
    WHERE mesin.idmesin = third.idmesin AND ditutup_sejak IS NULL RETURNING mesin.idmesin, mesin.idoutlet, third.alasan
), ",
    record_closing!("$3"),
    ", ",
    queue_back!("tidak_jalan", "t.id", "t", "$3"),
    "
SELECT no_nota FROM t"
);

static FENCED_NEVER_RAN: Fenced = Fenced::new(NEVER_RAN, "WHERE idmesin = $1 AND");
static FENCED_RECORD: Fenced = Fenced::new(RECORD, "WHERE idmesin = $1 AND");

/// Stores a device's report. With a `fence`, it changes no machine that another server owns by now, because the messages of a former owner are
/// stale. The audit entry of an unpaid cycle is checked against the stored purchases, so any server may write it.
///
/// Returns whether a finished purchase runs again.
pub async fn record(
    client: &DbClient,
    idmesin: MachineId,
    report: StateReport,
    foreign: bool,
    now: Timestamp,
    fence: Option<&Fence>,
) -> Result<bool, DbError> {
    let StateReport { online, run, sensor } = report;
    if let Some(cmd_id) = sensor.never_ran {
        FENCED_NEVER_RAN.query_opt(client, &[&idmesin, &cmd_id, &now], fence).await?;
    }
    let unpaid = run.filter(|_| foreign).map(|run| (run.cmd_id, run.ends_at)).unzip();
    let (cmd_id, ends_at): (Option<Uuid>, Option<Timestamp>) = unpaid;
    let (boot, before_boot) = (run.and_then(|run| run.boot), run.and_then(|run| run.before_boot));
    let added_s = run.map_or(0, |run| i32::try_from(run.added_s).unwrap_or(i32::MAX));
    let paid = run.filter(|_| !foreign).map(|run| run.cmd_id);
    let params: [&(dyn ToSql + Sync); 11] =
        [&idmesin, &online, &run.is_some(), &cmd_id, &now, &ends_at, &boot, &before_boot, &added_s, &sensor.runs, &paid];
    let again = FENCED_RECORD.query_opt(client, &params, fence).await?;
    if let Some(row) = &again {
        tracing::warn!(
            nota = row.try_get::<_, &str>(0)?,
            idmesin = idmesin.get(),
            "its device had no power, or its machine takes longer: a finished purchase runs again"
        );
    }
    Ok(again.is_some())
}

/// Stores a device's reported presence at once; its machine's actor receives the rest.
pub async fn record_presence(store: &Store, idmesin: MachineId, event: &DeviceEvent) -> Result<(), DbError> {
    let &DeviceEvent::State { online, run, sensor } = event else { return Ok(()) };
    let (client, now) = (store.get().await?, store.now());
    let run = run.map(|run| ReportedRun { boot: None, ..ReportedRun::of(run, now) });
    record(&client, idmesin, StateReport { online, run, sensor }, false, now, None).await.map(drop)
}
