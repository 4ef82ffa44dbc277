//! A database whose clock is behind what it has stored, as after a power cut on a machine without a battery-backed clock. A server
//! that started then would count down too long, and write new entries before old ones (docs/operations.md, "The clock").

use std::time::Duration;

use deadpool_postgres::Transaction;
use nyala_core::domain::timestamp::Timestamp;
use serde_json::json;
use tokio_postgres::{Client, Error};

use super::audit::{self, AuditEntry};
use super::clock::database_now;
use super::error::DbError;

/// Servers and their database differ by as much when all is well.
const TOLERATED_MS: i64 = 2_000;
/// How often the clock is read while it is waited for.
const EVERY: Duration = Duration::from_millis(500);
/// How often the log says that the server waits.
const SAY_EVERY: u32 = 120;
const CLOCK_IS_RIGHT: &str = "jam.dinyatakan_benar";

/// The newest entry of each log, by id: what happened last. A date that lies ahead by its nature (`ends_at`, `masa_aktif`, `exp`) is
/// no such instant.
const NEWEST: &str = "
SELECT (SELECT max(id) FROM ledger_transfer), (SELECT created_at FROM ledger_transfer ORDER BY id DESC LIMIT 1),
    (SELECT created_at FROM audit_log ORDER BY id DESC LIMIT 1)";
/// The entries of the ledger up to here were written while the clock was ahead. Read only where the clock seems to be behind.
const DECLARED: &str = "SELECT max((isi ->> 'ledger_id')::BIGINT) FROM audit_log WHERE aksi = 'jam.dinyatakan_benar'";
const THERE: &str = "SELECT to_regclass('ledger_transfer') IS NOT NULL AND to_regclass('audit_log') IS NOT NULL";

/// Purchases of the time when the clock was ahead end no later than one that starts now, and give their money back no later.
const SHORTEN: &str = "
UPDATE snap_transaksi
SET ends_at = least(ends_at, $1 + durasi_s * INTERVAL '1 second'), cmd_exp = least(cmd_exp, $1 + (cmd_exp - created_at)),
    created_at = CASE state WHEN 'RUNNING' THEN created_at ELSE $1 END
WHERE state IN ('HELD', 'SENT', 'UNSURE', 'RUNNING') AND greatest(created_at, started_at) > $1";

/// Moves other moments that lie ahead to now, because they would delay customers and staff until then: sent codes, wrong PINs, pushes, unpaid
/// cycles, and leases of servers. None of them is a record of what happened.
const PULL_BACK: [&str; 7] = [
    "UPDATE kode_otp SET created_at = least(created_at, $1), sent_at = least(sent_at, $1), expires_at = least(expires_at, $1)
     WHERE greatest(created_at, sent_at) > $1",
    "UPDATE kode_terkirim SET created_at = $1 WHERE created_at > $1",
    "UPDATE pin_gagal SET created_at = $1 WHERE created_at > $1",
    "UPDATE petugas SET dihitung_sejak = $1 WHERE dihitung_sejak > $1",
    "UPDATE push SET due_at = $1 WHERE due_at > $1 AND created_at > $1",
    "UPDATE mesin SET jalan_sampai = $1 WHERE jalan_sampai > $1",
    // Servers that live now have a lease of seconds.
    "UPDATE node SET alive_until = $1, late_since = least(late_since, $1) WHERE alive_until > $1::TIMESTAMPTZ + INTERVAL '1 minute'",
];

/// How far the clock is behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behind {
    /// The newest entry's instant.
    pub newest: Timestamp,
    pub now: Timestamp,
    ledger_id: i64,
}

impl Behind {
    /// Whether that is more than servers and databases differ by.
    pub const fn is_far(self) -> bool {
        self.ms() > TOLERATED_MS
    }

    const fn ms(self) -> i64 {
        self.now.ms_until(self.newest)
    }
}

impl std::fmt::Display for Behind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (now, newest, s) = (self.now.rfc3339(), self.newest.rfc3339(), self.ms() / 1_000);
        write!(f, "the database's clock says {now}, {s} s before the newest entry in the ledger or the audit log ({newest})")
    }
}

/// How far the database's clock is behind the newest entry; `None` where it is not, or nothing has happened yet.
///
/// # Errors
/// When the database does not answer.
pub async fn look(client: &Client) -> Result<Option<Behind>, Error> {
    if !client.query_one(THERE, &[]).await?.get::<_, bool>(0) {
        return Ok(None);
    }
    let row = client.query_one(NEWEST, &[]).await?;
    let (ledger_id, ledger, audit): (Option<i64>, Option<Timestamp>, Option<Timestamp>) = (row.get(0), row.get(1), row.get(2));
    let ledger_id = ledger_id.unwrap_or_default();
    let now = database_now(client).await?;
    let behind =
        |newest: Option<Timestamp>| newest.filter(|newest| *newest > now).map(|newest| Behind { newest, now, ledger_id });
    let found = behind(ledger.max(audit));
    if found.is_none_or(|found| !found.is_far()) {
        return Ok(found);
    }
    let declared: Option<i64> = client.query_one(DECLARED, &[]).await?.get(0);
    Ok(behind(if declared >= Some(ledger_id) { audit } else { ledger.max(audit) }))
}

/// Waits until the clock has reached the newest entry, for `at_most`; what it still is behind then. Begins where `found` was far.
///
/// # Errors
/// When the database does not answer.
pub async fn wait(client: &Client, found: Behind, at_most: Duration) -> Result<Option<Behind>, Error> {
    let looks = u32::try_from(at_most.as_millis() / EVERY.as_millis()).unwrap_or(u32::MAX);
    let mut behind = found;
    for look in 0..looks {
        if look.is_multiple_of(SAY_EVERY) {
            let at_most_s = at_most.as_secs();
            tracing::warn!(behind_ms = behind.ms(), at_most_s, "{behind}: the server waits for the clock before it opens");
        }
        tokio::time::sleep(EVERY).await;
        // Entries that a command writes during the wait do not count: `found.newest` stays.
        behind.now = database_now(client).await?;
        if !behind.is_far() {
            tracing::info!("the database's clock is right again");
            return Ok(None);
        }
    }
    Ok(Some(behind))
}

/// Declares the clock right: it was ahead when the newest entries were written. Later starts ignore these entries, open purchases end by the
/// right clock, and no wait lasts until a moment that is years ahead.
///
/// # Errors
/// When the database does not answer.
pub async fn declare_right(tx: &Transaction<'_>, behind: Behind, now: Timestamp) -> Result<(), DbError> {
    let shortened = tx.execute(SHORTEN, &[&now]).await?;
    for sql in PULL_BACK {
        tx.execute(sql, &[&now]).await?;
    }
    let content = json!({
        "ledger_id": behind.ledger_id, "jam": now.rfc3339(), "terbaru": behind.newest.rfc3339(), "pemakaian_disesuaikan": shortened,
    });
    let object = format!("ledger_transfer:{}", behind.ledger_id);
    audit::write(tx, &AuditEntry { principal: "cli", action: CLOCK_IS_RIGHT, object, content }, now).await
}
