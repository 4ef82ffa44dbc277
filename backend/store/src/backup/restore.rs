//! A restore to a moment, or to the last one that was received (docs/operations.md, "Restore"). It works beside the place of the database
//! and takes its name when it is done: a kill in between leaves no database.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use deadpool_postgres::ClientWrapper;
use embedded_postgres::{Postgres, Settings};
use flate2::read::GzDecoder;
use nyala_core::domain::timestamp::Timestamp;

use super::base::unpack;
use super::error::BackupError;
use super::folder::{BackupFolder, Base, Description, SEGMENT_BYTES, hex};
use crate::config::ServerSettings;
use crate::db::history::{self, Cause, Jump, Plan};
use crate::db::{hosts, migrate, pool, source};
use crate::secrets::Secrets;

/// The database's folder while it is restored.
const UNFINISHED: &str = "postgres.restoring";
/// The log in the cluster's folder, from where PostgreSQL takes it. There it belongs to the database's account.
const LOG: &str = "restored_wal";
/// Settings that decide where a restore ends; a base backup may carry those of an earlier restore.
const OF_A_RESTORE: [&str; 2] = ["recovery_target", "restore_command"];
/// The log of weeks on a slow disk.
const READY_WITHIN: Duration = Duration::from_secs(24 * 3600);
const CONNECT_WITHIN: Duration = Duration::from_secs(30);
/// What PostgreSQL says when the log ends before the moment: nothing was committed between the end and the moment.
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
    /// The last commit that was replayed.
    pub until: Option<Timestamp>,
    pub jump: Jump,
    data_dir: PathBuf,
    postgres: Postgres,
}

/// Restores the backup in `dir` into `config.data.dir`, and lets ids and epochs jump.
///
/// # Errors
/// Why it cannot; a data folder that is refused stays unchanged.
pub async fn restore(config: &ServerSettings, dir: &Path, to: Moment) -> Result<Restored, BackupError> {
    let (folder, description) = BackupFolder::open(dir)?;
    let data_dir = std::path::absolute(&config.data.dir).map_err(BackupError::io("cannot resolve", &config.data.dir))?;
    let (secrets, has_secrets) = check_data_dir(&data_dir, &folder, &description)?;
    let base = choose(&folder, to)?;
    folder.describe(&Description { restores: description.restores + 1, ..description.clone() })?;
    if !has_secrets {
        secrets.write(&data_dir).map_err(|e| BackupError::Refused(e.to_string()))?;
    }
    let unfinished = data_dir.join(UNFINISHED);
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).map_err(BackupError::io("cannot delete", &unfinished))?;
    }
    let cluster = unfinished.join("cluster");
    unpack(&base.path.join("base.tar.gz"), &cluster)?;
    unpack_log(&folder, &cluster.join(LOG))?;
    let signal = cluster.join("recovery.signal");
    File::create(&signal).map_err(BackupError::io("cannot write", &signal))?;
    set_target(&cluster, Some(to))?;
    let settings = Settings {
        folder: UNFINISHED,
        ready_within: READY_WITHIN,
        // It is ready when it has replayed everything.
        extra_args: ["-c", "hot_standby=off"].map(str::to_owned).to_vec(),
        ..source::settings(config, false)
    };
    let postgres = start(&settings, &cluster, to)?;
    let config = pool::connection(&postgres.connection_string(source::EMBEDDED_DATABASE), CONNECT_WITHIN)
        .map_err(|e| BackupError::Refused(e.to_string()))?;
    let (mut client, line) = hosts::connect_unsettled(&config).await?;
    let line = tokio::spawn(async { drop(line.await) });
    let until = client.query_one("SELECT pg_last_xact_replay_timestamp()", &[]).await?.get(0);
    migrate::run(&mut client).await.map_err(|e| BackupError::Refused(e.to_string()))?;
    let mut client = ClientWrapper::new(client, line);
    let plan = Plan { cause: Cause::Timeline, steps: description.restores + 1, log_out: false };
    let jump = history::jump(&mut client, plan).await?;
    set_target(&cluster, None)?;
    let log = cluster.join(LOG);
    fs::remove_dir_all(&log).map_err(BackupError::io("cannot delete", &log))?;
    Ok(Restored { base: base.name, client, until, jump, data_dir, postgres })
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

/// The backup's keys, and whether the data folder has them already. It must have nothing else.
fn check_data_dir(data_dir: &Path, folder: &BackupFolder, description: &Description) -> Result<(Secrets, bool), BackupError> {
    let load = |dir: &Path| Secrets::load(dir).map_err(|e| BackupError::Refused(e.to_string()));
    let of = |secrets: &Secrets| hex(&secrets.fingerprint());
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
        (Some(there), _) => Ok((there, true)),
        (None, Some(kept)) if of(&kept) == description.fingerprint => Ok((kept, false)),
        (None, _) => Err(BackupError::NotABackup {
            dir: folder.path().to_owned(),
            why: "its secrets.toml is missing or has other keys; put the right one into data.dir".to_owned(),
        }),
    }
}

/// The newest verified base backup that ended before the moment.
fn choose(folder: &BackupFolder, to: Moment) -> Result<Base, BackupError> {
    let ended = |base: &Base| base.facts.as_ref().and_then(|facts| Timestamp::parse_rfc3339(&facts.ended_at));
    let bases: Vec<(Timestamp, Base)> = folder.bases()?.into_iter().filter_map(|base| Some((ended(&base)?, base))).collect();
    let Some((first, _)) = bases.first() else {
        return Err(BackupError::NotABackup { dir: folder.path().to_owned(), why: "it has no verified base backup".to_owned() });
    };
    let last = received(folder).unwrap_or(*first);
    let last_base = |until: Timestamp| bases.iter().rev().find(|(ended, _)| *ended <= until).map(|(_, base)| base.clone());
    match to {
        Moment::Latest => bases.last().map(|(_, base)| base.clone()),
        Moment::At(at) if at > last => None,
        Moment::At(at) => last_base(at),
    }
    .ok_or_else(|| {
        BackupError::Refused(format!(
            "this backup has the moments from {} to {}, choose one of them",
            first.rfc3339(),
            last.rfc3339()
        ))
    })
}

/// The last moment of which the backup has the log.
fn received(folder: &BackupFolder) -> Option<Timestamp> {
    let since = folder.received_at()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(Timestamp::from_ms)
}

/// Starts PostgreSQL, which replays the log and promotes itself.
fn start(settings: &Settings, cluster: &Path, to: Moment) -> Result<Postgres, BackupError> {
    let refused = |e: embedded_postgres::Error| BackupError::Refused(e.to_string());
    match Postgres::start(settings) {
        Err(e) if to != Moment::Latest && e.to_string().contains(ENDED_BEFORE) => {
            set_target(cluster, Some(Moment::Latest))?;
            Postgres::start(settings).map_err(refused)
        }
        done => done.map_err(refused),
    }
}

/// Writes where the restore ends into the cluster's settings; `None` clears it.
fn set_target(cluster: &Path, to: Option<Moment>) -> Result<(), BackupError> {
    let path = cluster.join("postgresql.auto.conf");
    let before = fs::read_to_string(&path).unwrap_or_default();
    let is_kept = |line: &&str| !OF_A_RESTORE.iter().any(|name| line.trim_start().starts_with(name));
    let mut text: String = before.lines().filter(is_kept).map(|line| format!("{line}\n")).collect();
    if let Some(to) = to {
        text += &format!("restore_command = 'cp \"{LOG}/%f\" \"%p\"'\nrecovery_target_timeline = 'latest'\n");
        if let Moment::At(at) = to {
            // PostgreSQL 15 takes no `Z` there.
            let at = at.rfc3339().replace('Z', "+00");
            text += &format!("recovery_target_time = '{at}'\nrecovery_target_action = 'promote'\n");
        }
    }
    let mut file =
        File::options().write(true).create(true).truncate(true).open(&path).map_err(BackupError::io("cannot write", &path))?;
    file.write_all(text.as_bytes()).map_err(BackupError::io("cannot write", &path))
}

/// Unpacks the received log, the part of its last segment padded to a whole one.
fn unpack_log(folder: &BackupFolder, to: &Path) -> Result<(), BackupError> {
    fs::create_dir_all(to).map_err(BackupError::io("cannot make the folder", to))?;
    let all = folder.segments()?;
    for name in &all {
        let from = folder.wal().join(name);
        let whole = name.strip_suffix(".partial").unwrap_or(name);
        // A segment that was finished since is there twice for a moment.
        if whole.len() < name.len() && all.iter().any(|other| other == whole) {
            continue;
        }
        let plain = whole.strip_suffix(".gz").unwrap_or(whole);
        let mut bytes = Vec::new();
        let mut file = File::open(&from).map_err(BackupError::io("cannot read", &from))?;
        if plain.len() < whole.len() {
            // The end of the last one is missing: what can be read counts.
            let read = GzDecoder::new(file).read_to_end(&mut bytes);
            if whole.len() == name.len() {
                read.map_err(BackupError::io("cannot unpack", &from))?;
            }
        } else {
            file.read_to_end(&mut bytes).map_err(BackupError::io("cannot read", &from))?;
        }
        if whole.len() < name.len() {
            bytes.resize(usize::try_from(SEGMENT_BYTES).unwrap_or_default().max(bytes.len()), 0);
        }
        let path = to.join(plain);
        fs::write(&path, &bytes).map_err(BackupError::io("cannot write", &path))?;
    }
    Ok(())
}
