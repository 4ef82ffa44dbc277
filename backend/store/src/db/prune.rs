//! What is of no use any more is forgotten, a small batch at a time (docs/contract.md §7).

use std::time::Duration;

use super::Store;
use super::error::DbError;

const EVERY: Duration = Duration::from_secs(3600);
/// Rows of a batch, and the pause after one that was full: 20,000 rows a second at most, and no session waits behind them.
const BATCH: i64 = 1_000;
const PAUSE: Duration = Duration::from_millis(50);
const DAY_MS: i64 = 24 * 3_600_000;

/// One kind of rows that have their time.
pub struct Prunable {
    /// $1 the instant up to which they are forgotten, $2 the rows of a batch. Locked rows are left for the next time.
    pub sql: &'static str,
    /// How long they are kept, in milliseconds.
    pub kept_ms: i64,
}

pub const PRUNABLE: [Prunable; 10] = [
    // Refusals only: the receipt of a purchase stays.
    Prunable {
        sql: "DELETE FROM nota WHERE tolak IS NOT NULL AND ctid = ANY(ARRAY(
            SELECT ctid FROM nota WHERE tolak IS NOT NULL AND created_at <= $1
            ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
        kept_ms: DAY_MS,
    },
    Prunable {
        sql: "DELETE FROM idempotensi WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM idempotensi WHERE created_at <= $1 ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
        kept_ms: 30 * DAY_MS,
    },
    // With the numbers and addresses in them: past every limit that counts codes, and long enough to answer `your otp is invalid`
    // to a client with an old one.
    Prunable {
        sql: "DELETE FROM kode_otp WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM kode_otp WHERE created_at <= $1 ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
        kept_ms: 30 * DAY_MS,
    },
    // Codes are counted for a day.
    Prunable {
        sql: "DELETE FROM kode_terkirim WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM kode_terkirim WHERE created_at <= $1 ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
        kept_ms: DAY_MS,
    },
    // Run out by themselves.
    Prunable {
        sql: "DELETE FROM ended_token WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM ended_token WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
        kept_ms: 0,
    },
    // Wrong PINs are counted for a day.
    Prunable {
        sql: "DELETE FROM pin_gagal WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM pin_gagal WHERE created_at <= $1 ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
        kept_ms: DAY_MS,
    },
    // Who allowed what is in the audit log.
    Prunable {
        sql: "DELETE FROM izin WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM izin WHERE sampai <= $1 ORDER BY sampai LIMIT $2 FOR UPDATE SKIP LOCKED))",
        kept_ms: DAY_MS,
    },
    Prunable {
        sql: "DELETE FROM sesi_petugas WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM sesi_petugas WHERE sampai <= $1 ORDER BY sampai LIMIT $2 FOR UPDATE SKIP LOCKED))",
        kept_ms: 30 * DAY_MS,
    },
    // A customer who was found may be sold to by id for an hour (`ops/payee.rs`).
    Prunable {
        sql: "DELETE FROM pelanggan_ditemukan WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM pelanggan_ditemukan WHERE created_at <= $1 ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
        kept_ms: 3_600_000,
    },
    // Of logins that have run out by themselves.
    Prunable {
        sql: "DELETE FROM langganan_push WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM langganan_push WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
        kept_ms: 0,
    },
];

/// Runs until the process ends.
pub async fn forever(store: Store) {
    let mut every = tokio::time::interval(EVERY);
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        every.tick().await;
        if let Err(e) = prune(&store).await {
            tracing::warn!(error = %e, "old rows were not forgotten; it will be tried again");
        }
    }
}

/// Forgets everything whose time is over now, batch by batch. Returns how many rows.
///
/// # Errors
/// What first kept one kind from being forgotten; all others are, and what a finished batch has forgotten stays forgotten.
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
