//! How far a backup is behind.

use std::time::{Duration, SystemTime};

use nyala_core::domain::timestamp::Timestamp;
use tokio_postgres::Client;

use super::error::BackupError;
use super::folder::{BackupFolder, Base};
use super::programs::SLOT;
use crate::secrets::Secrets;

/// How long the receiver may take for what was just written before the backup counts as behind.
const CATCH_UP: Duration = Duration::from_millis(2_500);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A base backup is taken each night.
const BASE_OLD: Duration = Duration::from_secs(26 * 3600);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    Ok,
    Lost,
    None,
}

#[derive(Debug, Clone)]
pub struct Status {
    /// When the log was written last.
    pub received: Option<SystemTime>,
    /// `None` without a slot.
    pub unreceived_bytes: Option<i64>,
    /// For how long something has not been received; zero while everything is, `None` when that is not known.
    pub age: Option<Duration>,
    /// The newest base backup.
    pub base: Option<Base>,
    /// Since the newest verified one ended.
    pub base_age: Option<Duration>,
    pub slot: Slot,
    pub has_secrets: bool,
}

impl Status {
    /// Reads it. Waits for the receiver for some seconds, because a commit is in the log a moment before it is in the backup.
    ///
    /// # Errors
    /// When the folder or the database cannot be read.
    pub async fn read(client: &Client, folder: &BackupFolder, secrets: &Secrets) -> Result<Self, BackupError> {
        let (slot, unreceived_bytes) = catch_up(client).await?;
        let received = folder.log().received_at();
        let since = |at: SystemTime| at.elapsed().unwrap_or_default();
        let bases = folder.bases()?;
        let ended = bases.iter().rev().find_map(Base::ended_at);
        let base_age = ended.map(|at| since(SystemTime::UNIX_EPOCH + Duration::from_millis(at.ms().unsigned_abs())));
        let kept = Secrets::load(folder.path()).ok().flatten();
        let has_secrets = kept.is_some_and(|kept| kept.fingerprint() == secrets.fingerprint());
        let base = bases.last().cloned();
        let mut status = Self { received, unreceived_bytes, age: None, base, base_age, slot, has_secrets };
        status.age = status.is_complete().then_some(Duration::ZERO);
        Ok(status)
    }

    /// Whether everything is received.
    pub fn is_complete(&self) -> bool {
        self.slot == Slot::Ok && self.unreceived_bytes == Some(0)
    }

    /// Whether the backup is complete and not further behind than `alarm`.
    pub fn is_good(&self, alarm: Duration) -> bool {
        self.age.is_some_and(|age| age <= alarm)
            && self.slot == Slot::Ok
            && self.has_secrets
            && self.base_age.is_some_and(|age| age < BASE_OLD)
    }

    /// A line for each finding (docs/contract.md §4). A value that is not known is empty.
    pub fn text(&self) -> String {
        let received = self.received.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        let received = received.map(|since| Timestamp::from_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)).rfc3339());
        let base = self.base.as_ref().map_or_else(
            || "none".to_owned(),
            |base| format!("{} {}", base.name, if base.facts.is_some() { "verified" } else { "unverified" }),
        );
        let slot = match self.slot {
            Slot::Ok => "ok",
            Slot::Lost => "lost",
            Slot::None => "none",
        };
        let lines = [
            format!("received: {}", received.unwrap_or_default()),
            format!("unreceived_bytes: {}", self.unreceived_bytes.map_or_else(String::new, |n| n.to_string())),
            format!("age_s: {}", self.age.map_or_else(String::new, |age| age.as_secs().to_string())),
            format!("base: {base}"),
            format!("slot: {slot}"),
            format!("secrets: {}", if self.has_secrets { "copied" } else { "missing" }),
        ];
        lines.join("\n")
    }
}

/// The slot, and the bytes that were written when this began and are still not received.
async fn catch_up(client: &Client) -> Result<(Slot, Option<i64>), BackupError> {
    const NOW: &str = "SELECT pg_current_wal_flush_lsn()::TEXT";
    const MISSING: &str = "
        SELECT coalesce(wal_status, 'lost'), greatest(pg_wal_lsn_diff($2::TEXT::PG_LSN, restart_lsn), 0)::BIGINT
        FROM pg_replication_slots WHERE slot_name = $1";
    let written: String = client.query_one(NOW, &[]).await?.get(0);
    let end = tokio::time::Instant::now() + CATCH_UP;
    loop {
        let Some(row) = client.query_opt(MISSING, &[&SLOT, &written]).await? else { return Ok((Slot::None, None)) };
        let missing: Option<i64> = row.get(1);
        if row.get::<_, &str>(0) == "lost" {
            return Ok((Slot::Lost, missing));
        }
        if missing == Some(0) || tokio::time::Instant::now() > end {
            return Ok((Slot::Ok, missing));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
