//! A restore to a moment, or to the last one that was received (docs/operations.md, "Restore"). It works beside the place of the database
//! and takes its name when it is done: a kill in between leaves no database.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use deadpool_postgres::ClientWrapper;
use embedded_postgres::{Postgres, Settings};
use nyala_core::domain::id::CustomerId;
use nyala_core::domain::timestamp::Timestamp;

use super::base::unpack;
use super::deletions;
use super::error::BackupError;
use super::folder::{BackupFolder, Base, Description, make_dir};
use super::log::{self, Lineage, Log, WalRange, is_history, segment_number};
use crate::config::ServerSettings;
use crate::db::history::{self, Cause, Jump, Plan};
use crate::db::{hosts, migrate, pool, source};
use crate::secrets::Secrets;

/// The database's folder while it is restored.
const UNFINISHED: &str = "postgres.restoring";
/// The log in the cluster's folder, from where PostgreSQL takes it. There it belongs to the database's account.
const LOG: &str = "restored_wal";
/// Settings that decide where a restore ends, by their beginnings; a base backup may carry those of an earlier restore.
const OF_A_RESTORE: [&str; 2] = ["recovery_target", "restore_command"];
/// Where they may be: an operator writes the first file, and `ALTER SYSTEM` and this program the second, which counts more.
const SETTINGS: [&str; 2] = ["postgresql.conf", "postgresql.auto.conf"];
/// The log of weeks on a slow disk.
const READY_WITHIN: Duration = Duration::from_secs(24 * 3600);
const CONNECT_WITHIN: Duration = Duration::from_secs(30);
/// PostgreSQL's message when the log ends before the requested moment. Nothing was committed between that end and the moment.
const ENDED_BEFORE: &str = "recovery ended before configured recovery target was reached";
/// What may be in the data folder besides: the program's locks, and what a killed restore left.
const ALLOWED: [&str; 3] = ["postgres.lock", "postgres.users", UNFINISHED];

/// Up to which moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    Latest,
    At(Timestamp),
}

/// A restored database that still has its temporary name, and runs.
pub struct Restored {
    pub base: String,
    pub client: ClientWrapper,
    /// The last commit that was replayed, or the newest entry when nothing was committed since the base backup.
    pub until: Option<Timestamp>,
    pub jump: Jump,
    /// Who was deleted, at any time: a moment before that has brought some of them back.
    pub deleted: BTreeSet<CustomerId>,
    data_dir: PathBuf,
    postgres: Postgres,
    _lock: File,
}

/// Restores the backup in `dir` into `config.data.dir`, and lets ids and epochs jump.
///
/// # Errors
/// Why it cannot; a data folder that is refused stays unchanged.
pub async fn restore(config: &ServerSettings, dir: &Path, to: Moment) -> Result<Restored, BackupError> {
    let (folder, description) = BackupFolder::open(dir)?;
    let data_dir = std::path::absolute(&config.data.dir).map_err(BackupError::io("cannot resolve", &config.data.dir))?;
    let (secrets, has_secrets) = check_data_dir(&data_dir, &folder, &description)?;
    let Choice { base, logs } = choose(&folder, to)?;
    if !data_dir.exists() {
        make_dir(&data_dir)?;
    }
    let lock = lock(&data_dir)?;
    folder.describe(&Description { restores: description.restores + 1, ..description.clone() })?;
    if !has_secrets {
        secrets.write(&data_dir).map_err(|e| BackupError::Refused(e.to_string()))?;
    }
    let unfinished = data_dir.join(UNFINISHED);
    if unfinished.exists() {
        embedded_postgres::wait_until_ended(&unfinished).map_err(|e| BackupError::Refused(e.to_string()))?;
        fs::remove_dir_all(&unfinished).map_err(BackupError::io("cannot delete", &unfinished))?;
    }
    let cluster = unfinished.join("cluster");
    unpack(&base.path.join("base.tar.gz"), &cluster)?;
    unpack_log(&folder, &logs, &base, &cluster.join(LOG))?;
    let signal = cluster.join("recovery.signal");
    File::create(&signal).map_err(BackupError::io("cannot write", &signal))?;
    let end = End { to, follows: logs.len() > 1 };
    set_target(&cluster, Some(end))?;
    let settings = Settings {
        folder: UNFINISHED,
        ready_within: READY_WITHIN,
        // It is ready when it has replayed everything.
        extra_args: ["-c", "hot_standby=off"].map(str::to_owned).to_vec(),
        ..source::settings(config, false)
    };
    let postgres = start(&settings, &cluster, end)?;
    let config = pool::connection(&postgres.connection_string(source::EMBEDDED_DATABASE), CONNECT_WITHIN)
        .map_err(|e| BackupError::Refused(e.to_string()))?;
    let (mut client, line) = hosts::connect_unsettled(&config).await?;
    let line = tokio::spawn(async { drop(line.await) });
    let replayed: Option<Timestamp> = client.query_one("SELECT pg_last_xact_replay_timestamp()", &[]).await?.get(0);
    migrate::run(&mut client).await.map_err(|e| BackupError::Refused(e.to_string()))?;
    let until = match replayed {
        Some(at) => Some(at),
        None => history::last_entry(&client).await?,
    };
    let mut client = ClientWrapper::new(client, line);
    let plan = Plan { cause: Cause::Timeline, steps: description.restores + 1, log_out: false };
    let jump = history::jump(&mut client, plan).await?;
    set_target(&cluster, None)?;
    let log = cluster.join(LOG);
    fs::remove_dir_all(&log).map_err(BackupError::io("cannot delete", &log))?;
    let deleted = deletions::read(&folder)?;
    Ok(Restored { base: base.name, client, until, jump, deleted, data_dir, postgres, _lock: lock })
}

impl Restored {
    /// Stops it and gives it the database's name.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub fn finish(self) -> Result<(), BackupError> {
        drop(self.client);
        self.postgres.stop();
        let (from, to) = (self.data_dir.join(UNFINISHED), self.data_dir.join(embedded_postgres::FOLDER));
        fs::rename(&from, &to).map_err(BackupError::io("cannot rename to", &to))?;
        File::open(&self.data_dir)
            .and_then(|dir| dir.sync_all())
            .map_err(BackupError::io("cannot write to disk:", &self.data_dir))
    }

    /// The folder that stays when the restored database is refused.
    pub fn folder(&self) -> PathBuf {
        self.data_dir.join(UNFINISHED)
    }
}

/// Keeps a second restore away from the same folder.
fn lock(data_dir: &Path) -> Result<File, BackupError> {
    let lock = File::open(data_dir).map_err(BackupError::io("cannot read", data_dir))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => {
            Err(BackupError::Refused(format!("another restore works in {}: wait for its end", data_dir.display())))
        }
        Err(TryLockError::Error(e)) => Err(BackupError::io("cannot lock", data_dir)(e)),
    }
}

/// The backup's keys, and whether the data folder has them already. It must have nothing else.
fn check_data_dir(data_dir: &Path, folder: &BackupFolder, description: &Description) -> Result<(Secrets, bool), BackupError> {
    let load = |dir: &Path| Secrets::load(dir).map_err(|e| BackupError::Refused(e.to_string()));
    let of = |secrets: &Secrets| secrets.installation().to_string();
    let kept = load(folder.path())?;
    let there = load(data_dir)?;
    let refused = |why: String| BackupError::Refused(format!("{} cannot take the restore: {why}", data_dir.display()));
    for entry in fs::read_dir(data_dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_secrets = there.is_some() && name == "secrets.toml";
        if !is_secrets && !ALLOWED.iter().any(|allowed| name == *allowed) {
            return Err(refused(format!("it holds {}; move it away, or name an empty folder with data.dir", name.display())));
        }
    }
    match (there, kept) {
        (Some(there), _) if of(&there) != description.fingerprint => {
            Err(refused("its secrets.toml has other keys than the backup; move it away".to_owned()))
        }
        // Keys were rotated since that file was put there.
        (Some(there), Some(kept)) if of(&kept) == description.fingerprint && kept.is_newer_than(&there) => Ok((kept, false)),
        (Some(there), _) => Ok((there, true)),
        (None, Some(kept)) if of(&kept) == description.fingerprint => Ok((kept, false)),
        (None, _) => Err(BackupError::NotABackup {
            dir: folder.path().to_owned(),
            why: "its secrets.toml is missing or has other keys; put the right one into data.dir".to_owned(),
        }),
    }
}

/// A base backup, and the log that is replayed on it, oldest first.
struct Choice {
    base: Base,
    logs: Vec<Log>,
}

/// The newest verified base backup that ended before the moment.
fn choose(folder: &BackupFolder, to: Moment) -> Result<Choice, BackupError> {
    let bases: Vec<(Timestamp, Base)> = folder.bases()?.into_iter().filter_map(|base| Some((base.ended_at()?, base))).collect();
    let logs = folder.logs()?;
    if bases.is_empty() {
        return Err(BackupError::NotABackup { dir: folder.path().to_owned(), why: "it has no verified base backup".to_owned() });
    }
    let Moment::At(at) = to else { return choose_latest(&bases, logs) };
    let mut moments = Vec::new();
    let log_of = |ended: Timestamp| logs.iter().find(|log| log.lasts_to(ended));
    for log in &logs {
        let of_log: Vec<&(Timestamp, Base)> = bases.iter().filter(|(ended, _)| log_of(*ended) == Some(log)).collect();
        let (Some((first, _)), Some((newest, _))) = (of_log.first(), of_log.last()) else { continue };
        let last = received(log).unwrap_or_default().max(*newest);
        if let Some((_, base)) = of_log.iter().rev().find(|(ended, _)| *ended <= at && at <= last) {
            return Ok(Choice { base: base.clone(), logs: vec![log.clone()] });
        }
        moments.push(format!("from {} to {}", first.rfc3339(), last.rfc3339()));
    }
    Err(BackupError::Refused(format!("this backup has the moments {}, choose one of them", moments.join(" and "))))
}

/// The newest verified base backup on the way to the last log.
fn choose_latest(bases: &[(Timestamp, Base)], mut logs: Vec<Log>) -> Result<Choice, BackupError> {
    let lineage = Lineage::of(&logs)?;
    for (ended, base) in bases.iter().rev() {
        if !WalRange::of(&base.path)?.leads_to(&lineage) {
            continue;
        }
        let first = logs.iter().position(|log| log.lasts_to(*ended)).unwrap_or_default();
        if first + 1 < logs.len() {
            tracing::warn!(
                base = base.name,
                "no base backup was taken since a gap or a restore: what was received after a gap cannot be restored"
            );
        }
        return Ok(Choice { base: base.clone(), logs: logs.split_off(first) });
    }
    Err(BackupError::Refused(
        "the last log of this backup continues none of its base backups: choose a moment before it with --to".to_owned(),
    ))
}

/// The last moment of which the backup has the log.
fn received(log: &Log) -> Option<Timestamp> {
    let since = log.received_at()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(Timestamp::from_ms)
}

/// Where the replay ends.
#[derive(Debug, Clone, Copy)]
struct End {
    to: Moment,
    /// Into the timelines of later restores; else it stays on that of the base backup.
    follows: bool,
}

/// Starts PostgreSQL, which replays the log and promotes itself.
fn start(settings: &Settings, cluster: &Path, end: End) -> Result<Postgres, BackupError> {
    let refused = |e: embedded_postgres::Error| BackupError::Refused(e.to_string());
    match Postgres::start(settings) {
        Err(e) if end.to != Moment::Latest && e.to_string().contains(ENDED_BEFORE) => {
            set_target(cluster, Some(End { to: Moment::Latest, ..end }))?;
            Postgres::start(settings).map_err(refused)
        }
        done => done.map_err(refused),
    }
}

/// Writes where the restore ends into the cluster's settings, in place of what was there; `None` only clears that.
fn set_target(cluster: &Path, end: Option<End>) -> Result<(), BackupError> {
    let [of_operator, of_program] = SETTINGS.map(|name| cluster.join(name));
    let text = fs::read_to_string(&of_operator).unwrap_or_default();
    let cleared = without_target(&text);
    if cleared != text {
        overwrite(&of_operator, &cleared)?;
    }
    let mut text = without_target(&fs::read_to_string(&of_program).unwrap_or_default());
    if let Some(end) = end {
        let timeline = if end.follows { "latest" } else { "current" };
        text += &format!("restore_command = 'cp \"{LOG}/%f\" \"%p\"'\nrecovery_target_timeline = '{timeline}'\n");
        if let Moment::At(at) = end.to {
            // PostgreSQL 15 takes no `Z` there.
            let at = at.rfc3339().replace('Z', "+00");
            text += &format!("recovery_target_time = '{at}'\nrecovery_target_action = 'promote'\n");
        }
    }
    overwrite(&of_program, &text)
}

/// Settings without those of a restore. PostgreSQL reads their names in any case.
fn without_target(settings: &str) -> String {
    let is_of_a_restore = |line: &str| {
        let line = line.trim_start().to_ascii_lowercase();
        OF_A_RESTORE.iter().any(|name| line.starts_with(name))
    };
    settings.lines().filter(|line| !is_of_a_restore(line)).map(|line| format!("{line}\n")).collect()
}

/// Writes into the file that is there, which belongs to the database's account.
fn overwrite(path: &Path, text: &str) -> Result<(), BackupError> {
    let cannot = |e: std::io::Error| BackupError::io("cannot write", path)(e);
    let mut file = File::options().write(true).create(true).truncate(true).open(path).map_err(cannot)?;
    file.write_all(text.as_bytes()).map_err(cannot)
}

/// Unpacks the `logs` that `base` needs, the part of the last segment padded to a whole one; and which timelines there are, so that the
/// restored database gets one that was never given.
fn unpack_log(folder: &BackupFolder, logs: &[Log], base: &Base, to: &Path) -> Result<(), BackupError> {
    fs::create_dir_all(to).map_err(BackupError::io("cannot make the folder", to))?;
    let first = WalRange::of(&base.path)?.first_segment();
    for log in folder.logs()? {
        let (all, is_replayed) = (log.files()?, logs.contains(&log));
        for name in &all {
            // A segment that was finished since is there twice for a moment.
            let is_twice = name.strip_suffix(".partial").is_some_and(|whole| all.iter().any(|other| other == whole));
            if !is_twice && (is_history(name) || is_replayed && segment_number(name).is_some_and(|number| *number >= first[..])) {
                let plain = name.trim_end_matches(".partial").trim_end_matches(".gz");
                let path = to.join(plain);
                fs::write(&path, log::read(&log.path.join(name))?).map_err(BackupError::io("cannot write", &path))?;
            }
        }
    }
    Ok(())
}
