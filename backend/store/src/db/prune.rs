//! Deletion of expired rows in small batches (docs/contract.md §7).

use std::time::Duration;

use super::Store;
use super::error::DbError;

const EVERY: Duration = Duration::from_secs(3600);
/// Rows of a batch, and the pause after a full one: at most 20,000 rows a second, so that no session waits behind them.
const BATCH: i64 = 1_000;
const PAUSE: Duration = Duration::from_millis(50);
const DAY_MS: i64 = 24 * 3_600_000;

/// A kind of rows that expire.
pub struct Prunable {
    /// $1 time up to which rows are deleted, $2 rows of a batch. Locked rows are left for the next run.
    pub sql: &'static str,
    /// How long rows are kept after the time in their column, in milliseconds.
    pub kept_ms: i64,
}

macro_rules! older {
    ($table:literal, $column:literal, $kept_ms:expr $(, $condition:literal)?) => {
        Prunable {
            sql: concat!(
                "DELETE FROM ", $table, " WHERE ", $($condition, " AND ",)? "ctid = ANY(ARRAY(SELECT ctid FROM ", $table,
                " WHERE ", $($condition, " AND ",)? $column, " <= $1 ORDER BY ", $column, " LIMIT $2 FOR UPDATE SKIP LOCKED))"
            ),
            kept_ms: $kept_ms,
        }
    };
}

/// Tables by the column that dates their rows.
pub const PRUNABLE: [Prunable; 15] = [
    // Calls of customers that are over.
    older!("panggilan", "selesai_at", DAY_MS, "selesai_at IS NOT NULL"),
    // Refusals only: the receipt of a purchase stays.
    older!("nota", "created_at", DAY_MS, "tolak IS NOT NULL"),
    older!("idempotensi", "created_at", 30 * DAY_MS),
    // Codes hold numbers and addresses. They are kept past every limit that counts codes, and long enough to answer
    // `your otp is invalid` to a client with an old one.
    older!("kode_otp", "created_at", 30 * DAY_MS),
    // Codes are counted for a day.
    older!("kode_terkirim", "created_at", DAY_MS),
    // The tokens have expired.
    older!("ended_token", "expires_at", 0),
    // Wrong PINs are counted for a day.
    older!("pin_gagal", "created_at", DAY_MS),
    // The audit log keeps who allowed what.
    older!("izin", "sampai", DAY_MS),
    older!("sesi_petugas", "sampai", 30 * DAY_MS),
    // A customer who was found may be sold to by id for an hour (`ops/people/payee.rs`).
    older!("pelanggan_ditemukan", "created_at", 3_600_000),
    // The time for which an entry was taken is over. The audit log keeps who took it.
    older!("perhatian_ditangani", "sampai", DAY_MS),
    // Their messages go with them.
    older!("alarm", "beres_at", DAY_MS),
    older!("alarm_kirim", "created_at", 2 * DAY_MS, "id_alarm IS NULL"),
    // A machine's page shows a day of hours and counts a week.
    older!("perangkat_jam", "jam", 31 * DAY_MS),
    // Their logins have expired.
    older!("langganan_push", "expires_at", 0),
];

/// Runs until the process ends.
pub async fn prune_loop(store: Store) {
    let mut every = tokio::time::interval(EVERY);
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        every.tick().await;
        if let Err(e) = prune(&store).await {
            tracing::warn!(error = %e, "old rows were not forgotten; it will be tried again");
        }
    }
}

/// Deletes all expired rows, batch by batch. Returns their number.
///
/// # Errors
/// The first error of a kind. The other kinds are still pruned, and finished batches stay deleted.
pub async fn prune(store: &Store) -> Result<u64, DbError> {
    let (mut rows, mut failed) = (0, None);
    for prunable in &PRUNABLE {
        match prune_all(store, prunable).await {
            Ok(n) => rows += n,
            Err(e) => failed = failed.or(Some(e)),
        }
    }
    failed.map_or(Ok(rows), Err)
}

async fn prune_all(store: &Store, prunable: &Prunable) -> Result<u64, DbError> {
    let mut rows = 0;
    loop {
        let batch = prune_batch(store, prunable).await?;
        rows += batch;
        if batch < BATCH.unsigned_abs() {
            return Ok(rows);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn prune_batch(store: &Store, prunable: &Prunable) -> Result<u64, DbError> {
    let client = store.get().await?;
    let stmt = client.prepare_cached(prunable.sql).await?;
    Ok(client.execute(&stmt, &[&store.now().plus_ms(-prunable.kept_ms), &BATCH]).await?)
}
