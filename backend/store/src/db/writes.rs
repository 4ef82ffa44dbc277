//! Whether the database takes writes. With a full disk, or as a standby that was not promoted, it still answers queries, so only a
//! write shows it.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use deadpool_postgres::Client;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use nyala_core::domain::timestamp::Timestamp;

/// A probe writes at most this often.
const PROBE_EVERY_MS: i64 = 5_000;
/// Size of the row that a probe writes after a failed write, so large that it needs new pages.
const ROOM_BYTES: usize = 256 * 1024;
/// Errors of PostgreSQL when it cannot write.
const CANNOT_WRITE: [SqlState; 3] = [SqlState::DISK_FULL, SqlState::READ_ONLY_SQL_TRANSACTION, SqlState::IO_ERROR];

const TOUCH: &str = "INSERT INTO write_probe (one, at) VALUES (TRUE, $1) ON CONFLICT (one) DO UPDATE SET at = $1";
/// Creates a table for the large row. A new table needs new pages. To empty an existing table instead (TRUNCATE) would need ACCESS EXCLUSIVE,
/// and would wait for a running dump, which holds ACCESS SHARE. Other sessions never see the table, because its transaction drops it again.
const NEW: &str = "CREATE TABLE write_probe_room (LIKE write_probe INCLUDING STORAGE)";
const FILL: &str = "INSERT INTO write_probe_room (one, at, room) VALUES (TRUE, $1, $2)";
const DROP: &str = "DROP TABLE write_probe_room";

/// Whether writes succeed, as this process knows. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Writes(Arc<WriteState>);

#[derive(Debug, Default)]
struct WriteState {
    failing: AtomicBool,
    /// In epoch milliseconds.
    next_probe: AtomicI64,
}

thread_local! {
    static HERE: RefCell<Option<Writes>> = const { RefCell::new(None) };
}

/// Whether `e` means that nothing can be written now.
pub fn cannot_write(e: &Error) -> bool {
    e.code().is_some_and(|code| CANNOT_WRITE.contains(code))
}

/// Records that a write of this thread has failed.
pub fn failed() {
    HERE.with_borrow(|here| here.iter().for_each(|writes| writes.0.failing.store(true, Ordering::Relaxed)));
}

impl Writes {
    /// Makes [`failed`] record the failed writes of this thread here.
    pub fn watch(&self) {
        HERE.set(Some(self.clone()));
    }

    /// Whether writes succeed. Writes a probe when the last one is at least [`PROBE_EVERY_MS`] old.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn succeed(&self, client: &mut Client, now: Timestamp) -> Result<bool, Error> {
        if self.is_due(now) {
            let failing = self.0.failing.load(Ordering::Relaxed);
            let probed = if failing { ask_for_room(client, now).await } else { touch(client, now).await };
            match probed {
                Ok(()) => self.0.failing.store(false, Ordering::Relaxed),
                Err(e) if cannot_write(&e) => self.0.failing.store(true, Ordering::Relaxed),
                Err(e) => return Err(e),
            }
        }
        Ok(!self.0.failing.load(Ordering::Relaxed))
    }

    /// Whether a probe is due. Only one caller gets `true` for each probe.
    fn is_due(&self, now: Timestamp) -> bool {
        let due = self.0.next_probe.load(Ordering::Relaxed);
        let next = now.plus_ms(PROBE_EVERY_MS).ms();
        now.ms() >= due && self.0.next_probe.compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

async fn touch(client: &Client, now: Timestamp) -> Result<(), Error> {
    let stmt = client.prepare_cached(TOUCH).await?;
    client.execute(&stmt, &[&now]).await.map(drop)
}

async fn ask_for_room(client: &mut Client, now: Timestamp) -> Result<(), Error> {
    let tx = client.transaction().await?;
    tx.batch_execute(NEW).await?;
    tx.execute(FILL, &[&now, &vec![0_u8; ROOM_BYTES]]).await?;
    tx.batch_execute(DROP).await?;
    tx.commit().await
}
