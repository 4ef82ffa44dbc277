//! What a server does for its backup while it runs.

use std::fmt::Display;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use nyala_core::domain::timestamp::Timestamp;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;
use tokio::sync::Notify;
use tokio::time::sleep;

use super::base;
use super::deletions;
use super::error::BackupError;
use super::folder::{BackupFolder, Claim, DatabaseIdentity};
use super::log::name_of_second;
use super::metrics::BackupMetrics;
use super::programs::{Programs, SLOT};
use super::status::Status;
use crate::config::BackupSettings;
use crate::db::{Store, history};
use crate::secrets::Keyring;

/// How often a server renews its claim on the folder, and after which time without renewal another server may take it.
const CLAIM_EVERY: Duration = Duration::from_secs(15);
const CLAIM_STALE_S: u64 = 45;
/// Pauses between starts of the receiver: each is twice the one before, and after a receiver that ran for longer than the longest pause the
/// first one follows again.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How often it is looked whether a base backup is due, and how long a failed one is not tried again.
const DUE_EVERY: Duration = Duration::from_secs(20);
const BASE_AGAIN: Duration = Duration::from_secs(600);
const WATCH_EVERY: Duration = Duration::from_secs(5);
const DAY_MS: i64 = 86_400_000;
/// Asia/Jakarta is UTC+7 all year.
const JAKARTA_MS: i64 = 7 * 3_600_000;

/// The backup of a server's private database.
#[derive(Debug)]
pub struct BackupService {
    store: Store,
    settings: BackupSettings,
    keyring: Keyring,
    folder: BackupFolder,
    programs: Programs,
    metrics: BackupMetrics,
    claim: Mutex<Claim>,
    database: DatabaseIdentity,
    /// A base backup is needed now.
    base_needed: Notify,
}

impl BackupService {
    /// Finds the programs. `postgres` is the folder of the running PostgreSQL's programs, `url` its connection string.
    ///
    /// # Errors
    /// Why there can be no backup; the server must not start then.
    pub async fn new(
        store: &Store,
        settings: &BackupSettings,
        keyring: &Keyring,
        (url, postgres): (&str, Option<&Path>),
        metrics: BackupMetrics,
    ) -> Result<Self, BackupError> {
        const FACTS: &str =
            "SELECT system_identifier, current_setting('server_version_num')::INTEGER / 10000 FROM pg_control_system()";
        let client = store.get().await?;
        let row = client.query_one(FACTS, &[]).await?;
        let (system_identifier, major): (i64, i32) = (row.get(0), row.get(1));
        let major = major.unsigned_abs();
        let database = DatabaseIdentity { system_identifier, major };
        let programs = Programs::find(&settings.bin_dir, postgres, major, url)?;
        let folder = BackupFolder::at(&settings.dir);
        let claim = Mutex::new(Claim::of(history::instance(&client).await?.unwrap_or_default()));
        let (store, settings, keyring) = (store.clone(), settings.clone(), keyring.clone());
        let base_needed = Notify::new();
        Ok(Self { store, settings, keyring, folder, programs, metrics, claim, database, base_needed })
    }

    /// Opens the folder, or makes it when this database has no backup yet. A database with a slot has one: then a folder without a backup
    /// is most often the mount point of a disk that is not mounted, and a new backup there would fill the wrong disk unnoticed.
    ///
    /// # Errors
    /// When it holds the backup of another database, lacks the one of this database, or cannot be read or written.
    pub async fn prepare_folder(&self) -> Result<(), BackupError> {
        const HAS_SLOT: &str = "SELECT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1)";
        if !self.folder.has_backup() && self.store.get().await?.query_one(HAS_SLOT, &[&SLOT]).await?.get(0) {
            return Err(BackupError::Away { dir: self.folder.path().to_owned() });
        }
        self.begin_folder()
    }

    /// Opens the folder, or makes it although this database may have its backup in another one.
    ///
    /// # Errors
    /// When it holds the backup of another database, or cannot be read or written.
    pub fn begin_folder(&self) -> Result<(), BackupError> {
        self.folder.prepare(self.database, &self.keyring.get())
    }

    /// Prepares the folder for [`Self::run`], which tries again when its disk cannot be used now: no sale waits for that.
    ///
    /// # Errors
    /// When it holds the backup of another database; the server must not start then.
    pub async fn refuse_foreign_folder(&self) -> Result<(), BackupError> {
        match self.prepare_folder().await {
            Err(e @ BackupError::OtherDatabase { .. }) => Err(e),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Takes a base backup now and returns its name.
    ///
    /// # Errors
    /// Which step failed.
    pub async fn base(&self) -> Result<String, BackupError> {
        self.keep_deletions().await;
        base::take(&self.store, &self.folder, &self.programs, self.settings.keep).await
    }

    /// # Errors
    /// When the folder or the database cannot be read.
    pub async fn status(&self) -> Result<Status, BackupError> {
        let (client, now) = (self.store.get().await?, self.store.now());
        let mut status = Status::read(&client, &self.folder, &self.keyring.get()).await?;
        if status.is_complete() {
            self.claim.lock().unwrap_or_else(PoisonError::into_inner).complete_at = Some(now.rfc3339());
        } else {
            status.age = self.age();
        }
        Ok(status)
    }

    /// For how long something has not been received; `None` when everything never was. A command beside the server reads it from the
    /// server's claim.
    fn age(&self) -> Option<Duration> {
        let claim = self.claim.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let kept = || self.folder.claimed().filter(|kept| kept.instance == claim.instance)?.complete_at;
        let complete_at = Timestamp::parse_rfc3339(&claim.complete_at.or_else(kept)?)?;
        let ms = self.store.now().ms().saturating_sub(complete_at.ms());
        Some(Duration::from_millis(u64::try_from(ms).unwrap_or_default()))
    }

    /// Runs until the process ends. Nothing of it stops a sale.
    pub async fn run(&self) {
        tokio::join!(self.watch(), self.back_up());
    }

    /// Backs up while the folder is claimed for this server.
    async fn back_up(&self) {
        loop {
            self.wait_for_claim().await;
            let mut receiver = None;
            tokio::select! {
                () = self.renew() => {}
                ((), ()) = async { tokio::join!(self.receive(&mut receiver), self.take_bases()) } => {}
            }
            if let Some(mut receiver) = receiver {
                let _ = receiver.start_kill();
            }
            // What the other server has written does not continue this database.
            self.base_needed.notify_one();
        }
    }

    /// Prepares the folder and waits until no other server writes into it.
    async fn wait_for_claim(&self) {
        let mut is_said = false;
        loop {
            match self.prepare_folder().await.map(|()| self.claim()) {
                Ok(Ok(true)) => return self.keep_deletions().await,
                Ok(Ok(false)) => {
                    self.metrics.failed("claim");
                    if !is_said {
                        is_said = true;
                        tracing::error!(
                            dir = %self.folder.path().display(),
                            "another server backs up into this folder: this one serves without a backup. Two servers on copies of one \
                             database sell the same balances twice: stop one of them"
                        );
                    }
                }
                Ok(Err(e)) => self.failed("claim", &e),
                Err(e) => self.failed("folder", &e),
            }
            sleep(CLAIM_EVERY).await;
        }
    }

    fn claim(&self) -> Result<bool, BackupError> {
        let claim = self.claim.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.folder.claim(&claim, CLAIM_STALE_S)
    }

    /// Renews the claim, and returns when another server has taken the folder: one that was suspended for long finds it so.
    async fn renew(&self) {
        let mut changes = self.keyring.changes();
        loop {
            let secrets = changes.borrow_and_update().clone();
            if let Err(e) = self.folder.keep_secrets(&secrets) {
                self.failed("secrets", &e);
            }
            tokio::select! {
                () = sleep(CLAIM_EVERY) => {}
                _ = changes.changed() => continue,
            }
            match self.claim() {
                Ok(true) => {}
                Ok(false) => return,
                Err(e) => self.failed("claim", &e),
            }
        }
    }

    /// Who was deleted is in the folder at once (`POST /scan/v1/akun/hapus`), unless its disk was away then.
    async fn keep_deletions(&self) {
        let kept = async { deletions::keep(&self.folder, &*self.store.get().await?).await };
        if let Err(e) = kept.await {
            self.failed("deletions", &e);
        }
    }

    async fn receive(&self, receiver: &mut Option<Child>) {
        let mut pause = None;
        loop {
            let began = Instant::now();
            match self.receive_once(receiver).await {
                Ok(why) => self.failed("receiver", &why),
                Err(e) => self.failed("receiver", &e),
            }
            sleep(*pause.insert(next_pause(pause, began.elapsed()))).await;
        }
    }

    /// Runs the receiver until it ends, and returns its last line of output. It is not stopped with the server: it must receive what PostgreSQL
    /// writes while it shuts down, and then ends by itself.
    async fn receive_once(&self, receiver: &mut Option<Child>) -> Result<String, BackupError> {
        const PROGRAM: &str = "pg_receivewal";
        self.open_slot().await?;
        let failed = |e: std::io::Error| BackupError::Failed { program: PROGRAM, why: e.to_string() };
        let child = receiver.insert(self.programs.receiver(&self.folder.wal()).spawn().map_err(failed)?);
        let mut last = "it ended".to_owned();
        if let Some(stderr) = child.stderr.take() {
            let mut lines = BufReader::new(stderr).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                tracing::debug!(line, "pg_receivewal");
                last = line;
            }
        }
        child.wait().await.map_err(failed)?;
        Ok(last)
    }

    /// Creates the slot when it is missing, as after a restore. Replaces it when the log in the folder does not reach it: PostgreSQL has deleted
    /// log before it was received, or the folder or the database was replaced by an older copy. Then the log in the folder is closed, a new
    /// one begins, and a base backup is taken for it.
    async fn open_slot(&self) -> Result<(), BackupError> {
        const POSITIONS: &str = "
            SELECT pg_walfile_name(pg_current_wal_lsn()), slot_name IS NOT NULL, pg_walfile_name(restart_lsn)
            FROM (SELECT) AS now LEFT JOIN pg_replication_slots ON slot_name = $1";
        const DROP: &str = "SELECT pg_drop_replication_slot($1)";
        const MAKE: &str = "SELECT pg_create_physical_replication_slot($1, TRUE)";
        let client = self.store.get().await?;
        let row = client.query_one(POSITIONS, &[&SLOT]).await?;
        // `next`: the segment that the slot sends next; `None` when PostgreSQL has deleted it.
        let (now, has_slot, next): (String, bool, Option<String>) = (row.get(0), row.get(1), row.get(2));
        let newest = self.folder.log().newest_segment()?;
        let has_gap = has_slot && next.is_none_or(|next| newest.as_ref().is_some_and(|newest| *newest < next));
        let is_ahead = newest.is_some_and(|newest| newest > now);
        if has_slot && !has_gap && !is_ahead {
            return Ok(());
        }
        if has_gap {
            tracing::error!(
                "the backup has a gap: PostgreSQL kept no more than backup.max_slot_wal_keep_mb of log for it, or its folder is an older \
                 copy. A base backup is taken now"
            );
            self.metrics.gap();
        }
        if has_slot {
            client.query_one(DROP, &[&SLOT]).await?;
        }
        self.folder.close_log(self.store.now())?;
        client.query_one(MAKE, &[&SLOT]).await?;
        self.base_needed.notify_one();
        Ok(())
    }

    async fn take_bases(&self) {
        let mut is_needed = false;
        loop {
            tokio::select! {
                () = self.base_needed.notified() => is_needed = true,
                () = sleep(if is_needed { Duration::ZERO } else { DUE_EVERY }) => {}
            }
            let due = match self.is_due().await {
                Ok(due) => due || is_needed,
                Err(e) => {
                    self.failed("base", &e);
                    false
                }
            };
            if due {
                match self.base().await {
                    Ok(_) => is_needed = false,
                    Err(e) => {
                        self.failed(
                            if matches!(e, BackupError::Failed { program: "pg_verifybackup", .. }) { "verify" } else { "base" },
                            &e,
                        );
                        sleep(BASE_AGAIN).await;
                    }
                }
            }
        }
    }

    /// Whether there is no verified base backup since the last scheduled moment, or since the last jump.
    async fn is_due(&self) -> Result<bool, BackupError> {
        let jumps: i64 = self.store.get().await?.query_one("SELECT jumps FROM database_state", &[]).await?.get(0);
        let bases = self.folder.bases()?;
        let Some((newest, facts)) = bases.iter().rev().find_map(|base| Some((base, base.facts.as_ref()?))) else {
            return Ok(true);
        };
        let scheduled = last_scheduled(self.store.now(), self.settings.base_minute().unwrap_or_default());
        Ok(facts.jumps != jumps || newest.name < name_of_second(scheduled))
    }

    async fn watch(&self) {
        loop {
            let is_good = match self.status().await {
                Ok(status) => {
                    self.metrics.show(&status);
                    status.is_good(Duration::from_secs(self.settings.alarm_s))
                }
                Err(e) => {
                    self.failed("status", &e);
                    self.metrics.show_unknown(self.age());
                    false
                }
            };
            self.metrics.health.record(is_good, self.store.now());
            sleep(WATCH_EVERY).await;
        }
    }

    fn failed(&self, step: &'static str, why: &dyn Display) {
        self.metrics.failed(step);
        tracing::warn!(step, why = %why, "a step of the backup failed, it will be tried again");
    }
}

/// The pause before the receiver starts again. It ran for `ran`, after the pause `before` if it was not the first time.
fn next_pause(before: Option<Duration>, ran: Duration) -> Duration {
    before.filter(|_| ran <= LONGEST_PAUSE).map_or(FIRST_PAUSE, |before| (before * 2).min(LONGEST_PAUSE))
}

/// The last moment before `now` that is `minute` minutes after a midnight in Jakarta.
fn last_scheduled(now: Timestamp, minute: u32) -> Timestamp {
    let in_day = i64::from(minute) * 60_000;
    let days = (now.ms() + JAKARTA_MS - in_day).div_euclid(DAY_MS);
    Timestamp::from_ms(days * DAY_MS + in_day - JAKARTA_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_of_the_receiver_double_until_it_runs_for_long() {
        let mut pause = None;
        let mut after = |ran: u64| pause.insert(next_pause(pause, Duration::from_secs(ran))).as_secs();
        assert_eq!([0; 7].map(&mut after), [1, 2, 4, 8, 16, 30, 30]);
        assert_eq!([30, 31, 0].map(&mut after), [30, 1, 2]);
    }

    #[test]
    fn a_base_backup_is_due_at_its_time_of_day_in_jakarta() {
        let at = |text: &str| Timestamp::parse_rfc3339(text).unwrap();
        let half_past_two = 2 * 60 + 30;
        assert_eq!(last_scheduled(at("2026-11-25T19:30:00Z"), half_past_two), at("2026-11-25T19:30:00Z"));
        assert_eq!(last_scheduled(at("2026-11-25T19:29:59Z"), half_past_two), at("2026-11-24T19:30:00Z"));
        assert_eq!(last_scheduled(at("2026-11-26T12:00:00Z"), half_past_two), at("2026-11-25T19:30:00Z"));
    }
}
