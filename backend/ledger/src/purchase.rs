//! The purchase's movements of money, each one statement: the compare-and-set on the state and the double entry that
//! belongs to it commit together or not at all. The lock order is that of the crate
//! (docs/decisions/0006-compare-and-set-in-one-lock-order.md).

use nyala_cluster::fence::{Fence, Fenced};
use nyala_core::domain::id::PurchaseId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::Pulses;
use nyala_core::purchase::facts::{MachineFacts, Order, ServiceFacts, Tested};
use nyala_core::purchase::rules::Refusal;
use nyala_core::purchase::state::undecided_states;
use nyala_core::purchase::step::{Change, Held};
use nyala_core::purchase::times::CMD_TTL_MS;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::came_back::usable_again;
use super::expiry::is_good;
use crate::closing::{last_opened, record_closing};
use crate::on_sale::{can_start, fits, is_on_sale, runs_unsold};
use crate::push_queue::{queue_back, queue_end};
use crate::test_start::tested_pulses;

/// Reserve the machine, hold the money and claim the receipt, in one transaction: a purchase that is held is a command that is due.
/// The wallet is locked last: the insert may have to wait for the machine's purchase before, which is on its way to its own customer's
/// wallet. It asks again what the facts said of machine, outlet and service ($16, $17: their versions; $18 to $21: its pulses, or null), so that nothing slips in between.
macro_rules! hold {
    ($uji:literal, $audit:literal, $($and:expr),*) => {
        concat!(
            "
WITH m AS (
    UPDATE mesin m SET epoch = epoch + 1 FROM outlet o, layanan l
    WHERE m.idmesin = $4 AND m.aktif AND m.online AND NOT m.perlu_petugas AND NOT ",
            runs_unsold!(),
            "
        AND (m.cara = 'pulsa') = ($18::INT IS NOT NULL) AND o.idoutlet = m.idoutlet AND o.versi = $17 AND l.idlayanan = $7 AND l.versi = $16 AND ",
            $($and,)*
            "
    RETURNING m.epoch
), w AS (
    SELECT q.idcustomer FROM quota_emoney q WHERE q.idcustomer = $3 AND ",
            is_good!("$10"),
            "
), n AS (
    INSERT INTO nota (id_customer_global, no_nota, body_hash, created_at) SELECT $1, $2, $13, $10 FROM m, w
), t AS (
    INSERT INTO snap_transaksi (id_customer_global, no_nota, idcustomer, idowner, idmesin, idoutlet, idlayanan, nama_mesin,
        nama_layanan, durasi_s, grandtotal, state, cmd_id, cmd_epoch, cmd_exp, created_at, pulsa, lebar_ms, jeda_ms,
        sense_s, uji)
    SELECT $1, $2, $3, $5, $4, $6, $7, $14, $15, $9, $8, 'HELD', $11, m.epoch, $12, $10, $18, $19::INT, $20::INT, $21::INT, ",
            $uji,
            " FROM m, w RETURNING id, idcustomer
), q AS (
    UPDATE quota_emoney q SET debits_pending = debits_pending + $8, updated_at = $10 FROM t WHERE q.idcustomer = t.idcustomer
    RETURNING q.idakun
), l AS (
    INSERT INTO ledger_transfer (kind, debit_akun, credit_akun, jumlah, idtransaksi, id_customer_global, idcustomer, idoutlet, aktor, created_at)
    SELECT 'pending', q.idakun, r.idakun, $8, t.id, $1, $3, $6, 'pelanggan:' || $1, $10
    FROM t, q, akun r WHERE r.idoutlet = $6 AND r.jenis = 'R'
)",
            $audit,
            "
SELECT t.id, m.epoch FROM t, m"
        )
    };
}

pub const HOLD: &str = hold!("FALSE", "", is_on_sale!("$10"), " AND l.aktif AND ", fits!());
/// The same for a test start, on a closed machine and in a closed outlet, too. It is audited; $22: who starts it. Pulses are
/// tested on a closed machine only, $24 of them at most since $23, when the business day began.
const HOLD_TEST: &str = hold!(
    "TRUE",
    ", a AS (
    INSERT INTO audit_log (aktor, aksi, objek, isi, idoutlet, created_at)
    SELECT $22, 'mesin.uji', 'mesin:' || $4, CASE WHEN $18 IS NULL THEN jsonb_build_object('durasi', $9) ELSE jsonb_build_object('pulsa', $18) END
        || jsonb_build_object('idtransaksi', $2), $6, $10 FROM t
)",
    can_start!(),
    " AND l.internal AND l.idoutlet = m.idoutlet AND ($18 IS NULL OR m.ditutup_sejak IS NOT NULL AND $18 + COALESCE(",
    tested_pulses!("$23"),
    ", 0) <= $24::INT)"
);

/// Performs `HOLD`. `now` becomes the purchase's `created_at`; its command expires `CMD_TTL_MS` later.
pub async fn hold(
    client: &DbClient,
    p: &Order,
    machine: &MachineFacts,
    service: &ServiceFacts,
    now: Timestamp,
) -> Result<Held, DbError> {
    let stmt = client.prepare_cached(if p.test.is_some() { HOLD_TEST } else { HOLD }).await?;
    let cmd_id = Uuid::new_v4();
    let (receipt, body_hash, expires_at) = (p.receipt_number.as_str(), p.body_hash(), now.plus_ms(CMD_TTL_MS));
    let pulses = machine.pulses(service);
    let of = |field: fn(Pulses) -> i32| pulses.map(field);
    let (n, width_ms, gap_ms, sense_s) = (of(|p| p.n), of(|p| p.width_ms), of(|p| p.gap_ms), of(|p| p.sense_s));
    let mut params: Vec<&(dyn ToSql + Sync)> = vec![
        &p.id_customer_global,
        &receipt,
        &p.idcustomer,
        &p.idmesin,
        &machine.idowner,
        &p.idoutlet,
        &p.idlayanan,
        &p.grandtotal,
        &service.duration_s,
        &now,
        &cmd_id,
        &expires_at,
        &body_hash,
        &machine.name,
        &service.name,
        &service.versions.service,
        &service.versions.outlet,
        &n,
        &width_ms,
        &gap_ms,
        &sense_s,
    ];
    let day_began = p.test.as_ref().and_then(|test| test.of.day_began());
    if let Some(test) = &p.test {
        params.extend([&test.by as &(dyn ToSql + Sync), &day_began, &Tested::MAX_PULSES_A_DAY]);
    }
    match client.query_opt(&stmt, &params).await {
        Ok(Some(row)) => Ok(Held::Won { purchase_id: row.try_get(0)?, cmd_id, epoch: row.try_get(1)? }),
        Ok(None) => Ok(Held::Changed),
        Err(e) => match e.as_db_error().map(|db| (db.code(), db.constraint().unwrap_or_default())) {
            Some((code, "satu_pemakai_per_mesin")) if *code == SqlState::UNIQUE_VIOLATION => Ok(Held::Lost(Refusal::MachineBusy)),
            Some((code, "saldo_tidak_minus")) if *code == SqlState::CHECK_VIOLATION => Ok(Held::Lost(Refusal::BalanceTooLow)),
            Some((code, _)) if *code == SqlState::UNIQUE_VIOLATION => Ok(Held::Changed),
            _ => Err(e.into()),
        },
    }
}

/// Posts the hold and starts the cycle. The hold is found by $1 and not through the changed row, so that the planner reads one entry of
/// `gerak_sekali` independent of its statistics. $2 state, $3 started_at, $4 ends_at, $5 finished_at or null, $6 now, $7 seconds that the sensor
/// has added.
macro_rules! post {
    ($($and:expr),*) => {
        concat!(
            "
WITH t AS (
    UPDATE snap_transaksi SET state = $2, started_at = $3, ends_at = $4, finished_at = $5, tambah_s = $7
    WHERE id = $1 AND state IN ",
            undecided_states!(),
            " RETURNING id, no_nota, id_customer_global, idcustomer, grandtotal, idmesin
), q AS (
    UPDATE quota_emoney q SET debits_pending = debits_pending - t.grandtotal, debits_posted = debits_posted + t.grandtotal, updated_at = $6
    FROM t WHERE q.idcustomer = t.idcustomer
), l AS (
    INSERT INTO ledger_transfer (kind, debit_akun, credit_akun, jumlah, pending_id, idtransaksi, id_customer_global, idcustomer, idoutlet, aktor, created_at, idmesin)
    SELECT 'post', p.debit_akun, p.credit_akun, p.jumlah, p.id, t.id, p.id_customer_global, p.idcustomer, p.idoutlet, 'sistem', $6, t.idmesin
    FROM t JOIN ledger_transfer p ON p.idtransaksi = $1 AND p.kind = 'pending'
)",
            $($and,)*
            "
SELECT no_nota FROM t"
        )
    };
}

pub const POST: &str = post!();
/// The same of a run that is over already.
const POST_ENDED: &str = post!(", ", queue_end!("$6"));

/// Void the hold: $2 state, $3 now, $4 whether the machine waits for staff, $5 whether power was lost in its pulses. Customers reach plugs, and each
/// such loss may give them coins: the second one within a day closes the machine. So does a coin machine's silence, because its device says that
/// nothing runs as soon as it is back, which takes the staff flag off.
const VOID: &str = concat!(
    "
WITH locks AS MATERIALIZED (
    SELECT idmesin, ditutup_sejak IS NULL AS is_open FROM mesin WHERE ($4 OR $5) AND idmesin = (SELECT idmesin FROM snap_transaksi WHERE id = $1) FOR UPDATE
), t AS (
    UPDATE snap_transaksi SET state = $2, finished_at = $3, kendala = CASE WHEN $5 THEN 'terputus' END
    WHERE id = $1 AND state IN ",
    undecided_states!(),
    " AND ($4 OR $5) = EXISTS (SELECT FROM locks)
    RETURNING id, no_nota, id_customer_global, idcustomer, grandtotal, idmesin, idoutlet, pulsa
), closes AS (
    SELECT t.idmesin, CASE WHEN $4 THEN 'tidak menjawab sesudah dikirimi koin' ELSE 'listrik putus dua kali saat mengirim koin' END AS alasan
    FROM t WHERE t.pulsa IS NOT NULL AND ($4 OR EXISTS (SELECT FROM snap_transaksi s
        WHERE s.idmesin = t.idmesin AND s.id <> t.id AND s.kendala = 'terputus' AND $5
        AND s.finished_at > greatest($3 - INTERVAL '24 hours', ",
    last_opened!("t.idmesin"),
    ")))
), m AS (
    UPDATE mesin SET perlu_petugas = perlu_petugas OR $4,
        ditutup_sejak = COALESCE(ditutup_sejak, CASE WHEN closes.idmesin IS NOT NULL THEN $3 END),
        ditutup_alasan = COALESCE(ditutup_alasan, closes.alasan)
    FROM t LEFT JOIN closes ON TRUE WHERE mesin.idmesin = t.idmesin AND ($4 OR closes.idmesin IS NOT NULL)
    RETURNING mesin.idmesin, mesin.idoutlet
), closed AS (
    SELECT m.idmesin, m.idoutlet, closes.alasan FROM m JOIN closes USING (idmesin) JOIN locks USING (idmesin) WHERE is_open
), q AS (
    UPDATE quota_emoney q SET debits_pending = q.debits_pending - t.grandtotal, updated_at = $3, ",
    usable_again!("$3", "t.grandtotal"),
    "
    FROM t JOIN customer c ON c.idcustomer = t.idcustomer JOIN outlet o ON o.idoutlet = c.idoutlet WHERE q.idcustomer = t.idcustomer
), l AS (
    INSERT INTO ledger_transfer (kind, debit_akun, credit_akun, jumlah, pending_id, idtransaksi, id_customer_global, idcustomer, idoutlet, aktor, created_at)
    SELECT 'void', p.credit_akun, p.debit_akun, p.jumlah, p.id, t.id, p.id_customer_global, p.idcustomer, p.idoutlet, 'sistem', $3
    FROM t JOIN ledger_transfer p ON p.idtransaksi = $1 AND p.kind = 'pending'
), a AS (
    INSERT INTO audit_log (aktor, aksi, objek, isi, idoutlet, created_at)
    SELECT 'sistem', 'mesin.perlu_petugas', 'mesin:' || t.idmesin, jsonb_build_object('idtransaksi', t.id), t.idoutlet, $3 FROM t WHERE $4
), ",
    record_closing!("$3"),
    ", ",
    queue_back!("gagal", "t.id", "t", "$3"),
    "
SELECT no_nota FROM t"
);

const MARK: &str = "UPDATE snap_transaksi SET state = $2 WHERE id = $1 AND state = ANY($3) RETURNING no_nota";

const SOONER: &str = "
UPDATE snap_transaksi SET started_at = $2, ends_at = $3, tambah_s = $4 WHERE id = $1 AND state = 'RUNNING' AND ends_at > $3 RETURNING no_nota";

const LATER: &str = "
UPDATE snap_transaksi SET ends_at = $2, mundur = mundur + 1, tambah_s = $3 WHERE id = $1 AND state = 'RUNNING' AND ends_at < $2 RETURNING no_nota";

const FINISH: &str = concat!(
    "
WITH t AS (
    UPDATE snap_transaksi SET state = 'FINISHED', finished_at = $2 WHERE id = $1 AND state = 'RUNNING' AND ends_at <= $2
    RETURNING id, no_nota, id_customer_global
), ",
    queue_end!("$2"),
    "
SELECT no_nota FROM t"
);

const STOP: &str = concat!(
    "
WITH t AS (
    UPDATE snap_transaksi SET state = 'STOPPED', ends_at = $2, finished_at = $2 WHERE id = $1 AND state = 'RUNNING'
    RETURNING id, no_nota, id_customer_global
), ",
    queue_end!("$2"),
    "
SELECT no_nota FROM t"
);

/// Where each of them looks for its purchase.
const GUARD: &str = "WHERE id = $1 AND";

static FENCED_POST: Fenced = Fenced::new(POST, GUARD);
static FENCED_POST_ENDED: Fenced = Fenced::new(POST_ENDED, GUARD);
static FENCED_VOID: Fenced = Fenced::new(VOID, GUARD);
static FENCED_MARK: Fenced = Fenced::new(MARK, GUARD);
static FENCED_SOONER: Fenced = Fenced::new(SOONER, GUARD);
static FENCED_LATER: Fenced = Fenced::new(LATER, GUARD);
static FENCED_STOP: Fenced = Fenced::new(STOP, GUARD);

/// Commits `change` and returns the receipt number. `None`: the stored state was not the expected one, or, with a `fence`, another server owns
/// the machine; reload. A finish needs no fence, because only the end of the cycle decides it.
pub async fn apply(
    client: &DbClient,
    id: PurchaseId,
    change: Change,
    now: Timestamp,
    fence: Option<&Fence>,
) -> Result<Option<String>, DbError> {
    let row = match change {
        Change::MarkSent => FENCED_MARK.query_opt(client, &[&id, &"SENT", &["HELD"].as_slice()], fence).await?,
        Change::MarkUnsure => FENCED_MARK.query_opt(client, &[&id, &"UNSURE", &["HELD", "SENT"].as_slice()], fence).await?,
        Change::Run { started_at, ends_at, added_s } => {
            let added_s = seconds(added_s);
            let params: [&(dyn ToSql + Sync); 7] = [&id, &"RUNNING", &started_at, &ends_at, &None::<Timestamp>, &now, &added_s];
            FENCED_POST.query_opt(client, &params, fence).await?
        }
        Change::RunAndFinish { started_at, ends_at } => {
            let params: [&(dyn ToSql + Sync); 7] = [&id, &"FINISHED", &started_at, &ends_at, &Some(now), &now, &0];
            FENCED_POST_ENDED.query_opt(client, &params, fence).await?
        }
        Change::Sooner { started_at, ends_at, added_s } => {
            FENCED_SOONER.query_opt(client, &[&id, &started_at, &ends_at, &seconds(added_s)], fence).await?
        }
        Change::Later { ends_at, added_s } => FENCED_LATER.query_opt(client, &[&id, &ends_at, &seconds(added_s)], fence).await?,
        Change::Finish => {
            let stmt = client.prepare_cached(FINISH).await?;
            client.query_opt(&stmt, &[&id, &now]).await?
        }
        Change::Stop { ends_at } => FENCED_STOP.query_opt(client, &[&id, &ends_at], fence).await?,
        Change::Refuse | Change::Cut | Change::Expire | Change::GiveUp => {
            let state = if matches!(change, Change::Refuse | Change::Cut) { "REFUSED" } else { "EXPIRED" };
            let params: [&(dyn ToSql + Sync); 5] = [&id, &state, &now, &(change == Change::GiveUp), &(change == Change::Cut)];
            FENCED_VOID.query_opt(client, &params, fence).await?
        }
    };
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

/// As the database keeps it.
fn seconds(added_s: i64) -> i32 {
    i32::try_from(added_s).unwrap_or(i32::MAX)
}

const REFUSAL: &str = "
INSERT INTO nota (id_customer_global, no_nota, body_hash, tolak, created_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING RETURNING TRUE";

/// Stores a refusal. `false`: the receipt number was claimed in between, so read the facts again.
pub async fn remember_refusal(client: &DbClient, p: &Order, why: Refusal, now: Timestamp) -> Result<bool, DbError> {
    let stmt = client.prepare_cached(REFUSAL).await?;
    let row = client
        .query_opt(&stmt, &[&p.id_customer_global, &p.receipt_number.as_str(), &p.body_hash(), &why.as_str(), &now])
        .await?;
    Ok(row.is_some())
}
