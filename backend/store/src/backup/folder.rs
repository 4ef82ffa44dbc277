//! The folder of a backup:
//!
//! ```text
//! backup.toml                    which database this is of, and how often it was restored
//! secrets.toml    0600           the keys, copied at each start and change
//! instance                       which server writes here and when everything was received; renewed while it writes
//! deletions.jsonl                who was deleted; a restore to an earlier moment deletes them again
//! wal/                           the log: *.gz, one *.gz.partial, *.history
//! wal/until-<moment>/            the log from before a gap or a restore: the log in wal/ does not continue it
//! base/<YYYYMMDDTHHMMSSZ>/       base.tar.gz, backup_manifest, and ok once it was verified; <…>.part while it is made
//! ```

use std::fs::{self, File, Permissions, TryLockError};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nyala_core::domain::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::BackupError;
use super::log::{CLOSED, Log, WalRange, name_of_millisecond, names};
use crate::files::write_whole;
use crate::secrets::Secrets;

/// The layout above.
const FORMAT: u32 = 1;

/// `backup.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    pub format: u32,
    pub system_identifier: i64,
    /// Of the installation, as in `secrets.toml`.
    pub fingerprint: String,
    /// PostgreSQL's major version.
    pub major: u32,
    /// How often it was restored from here.
    pub restores: i64,
}

/// What the file `ok` of a base backup says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaseFacts {
    /// RFC 3339: from this moment on it can be restored to.
    pub ended_at: String,
    /// `database_state.jumps` when it was taken.
    pub jumps: i64,
}

/// A base backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    pub name: String,
    pub path: PathBuf,
    /// `None`: it was not verified.
    pub facts: Option<BaseFacts>,
}

impl Base {
    /// When it ended; `None` for one that was not verified.
    pub fn ended_at(&self) -> Option<Timestamp> {
        self.facts.as_ref().and_then(|facts| Timestamp::parse_rfc3339(&facts.ended_at))
    }
}

/// Database that a backup is of: PostgreSQL's `system_identifier` and major version.
#[derive(Debug, Clone, Copy)]
pub struct DatabaseIdentity {
    pub system_identifier: i64,
    pub major: u32,
}

/// A folder with a backup.
#[derive(Debug, Clone)]
pub struct BackupFolder(PathBuf);

impl BackupFolder {
    /// # Errors
    /// [`BackupError::NotABackup`] when there is no `backup.toml` of this format.
    pub fn open(dir: &Path) -> Result<(Self, Description), BackupError> {
        let not = |why: String| BackupError::NotABackup { dir: dir.to_owned(), why };
        let text = fs::read_to_string(dir.join("backup.toml")).map_err(|e| not(format!("backup.toml cannot be read ({e})")))?;
        let found: Description =
            toml::from_str(&text).map_err(|e| not(format!("backup.toml is unreadable ({})", e.message())))?;
        if found.format != FORMAT {
            return Err(not(format!("its format is {}, and this program reads {FORMAT}", found.format)));
        }
        Ok((Self(dir.to_owned()), found))
    }

    /// One that may be missing or out of reach.
    pub fn at(dir: &Path) -> Self {
        Self(dir.to_owned())
    }

    /// Opens it for the database, or makes it.
    ///
    /// # Errors
    /// [`BackupError::OtherDatabase`], or when it cannot be read or written.
    pub fn prepare(&self, database: DatabaseIdentity, secrets: &Secrets) -> Result<(), BackupError> {
        let DatabaseIdentity { system_identifier, major } = database;
        let dir = &self.0;
        for path in [dir.clone(), self.wal(), self.bases_dir()] {
            make_dir(&path)?;
        }
        let fingerprint = secrets.installation().to_string();
        let found = if self.has_backup() { Some(Self::open(dir)?.1) } else { None };
        if let Some(found) = found.as_ref().filter(|found| found.system_identifier != system_identifier) {
            return Err(BackupError::OtherDatabase {
                dir: dir.clone(),
                theirs: found.system_identifier,
                ours: system_identifier,
            });
        }
        let restores = found.as_ref().map_or(0, |found| found.restores);
        let description = Description { format: FORMAT, system_identifier, fingerprint, major, restores };
        // A full disk must not keep a server from starting.
        if found.as_ref() != Some(&description) {
            self.describe(&description)?;
        }
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Whether a backup was begun here.
    pub fn has_backup(&self) -> bool {
        self.0.join("backup.toml").exists()
    }

    pub fn wal(&self) -> PathBuf {
        self.0.join("wal")
    }

    fn bases_dir(&self) -> PathBuf {
        self.0.join("base")
    }

    /// Where the base backup `name` is made before it has its name.
    pub fn unfinished_base(&self, name: &str) -> PathBuf {
        self.bases_dir().join(format!("{name}.part"))
    }

    /// Lets this process make base backups, and deletes what killed ones left. `None`: another process makes one.
    ///
    /// # Errors
    /// When a folder cannot be read or deleted.
    pub fn lock_bases(&self) -> Result<Option<File>, BackupError> {
        let dir = self.bases_dir();
        let lock = File::open(&dir).map_err(BackupError::io("cannot read", &dir))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(e)) => return Err(BackupError::io("cannot lock", &dir)(e)),
        }
        for name in names(&dir)?.into_iter().filter(|name| name.ends_with(".part")) {
            let path = self.base(&name);
            fs::remove_dir_all(&path).map_err(BackupError::io("cannot delete", &path))?;
        }
        Ok(Some(lock))
    }

    pub fn base(&self, name: &str) -> PathBuf {
        self.bases_dir().join(name)
    }

    /// # Errors
    /// When it cannot be written.
    pub fn describe(&self, description: &Description) -> Result<(), BackupError> {
        let path = self.0.join("backup.toml");
        let text = toml::to_string(description).map_err(|e| BackupError::Refused(e.to_string()))?;
        write_whole(&path, text.as_bytes()).map_err(BackupError::io("cannot write", &path))
    }

    /// Copies the keys when they are missing or have changed.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn keep_secrets(&self, secrets: &Secrets) -> Result<(), BackupError> {
        let kept = Secrets::load(&self.0).ok().flatten();
        if kept.is_some_and(|kept| kept.fingerprint() == secrets.fingerprint()) {
            return Ok(());
        }
        secrets.write(&self.0).map_err(|e| BackupError::Refused(e.to_string()))
    }

    /// The finished base backups, oldest first.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn bases(&self) -> Result<Vec<Base>, BackupError> {
        let mut bases = Vec::new();
        for name in names(&self.bases_dir())? {
            let path = self.base(&name);
            if name.ends_with(".part") || !path.join("base.tar.gz").is_file() {
                continue;
            }
            let facts = fs::read_to_string(path.join("ok")).ok().and_then(|text| toml::from_str(&text).ok());
            bases.push(Base { name, path, facts });
        }
        bases.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(bases)
    }

    /// The log that is being received.
    pub fn log(&self) -> Log {
        Log::open(self.wal())
    }

    /// All pieces of the log, oldest first; the last one is being received.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn logs(&self) -> Result<Vec<Log>, BackupError> {
        let mut closed: Vec<String> =
            names(&self.wal())?.iter().filter_map(|name| name.strip_prefix(CLOSED)).map(str::to_owned).collect();
        closed.sort();
        let closed = closed.into_iter().map(|at| Log::closed(self.wal().join(format!("{CLOSED}{at}")), at));
        Ok(closed.chain([self.log()]).collect())
    }

    /// Closes the log: what is received from now on does not continue it. `pg_receivewal` continues the newest segment that it finds, and
    /// fails at each start when the database does not have it.
    ///
    /// # Errors
    /// When a file cannot be moved.
    pub fn close_log(&self, now: Timestamp) -> Result<(), BackupError> {
        let files = self.log().files()?;
        if files.is_empty() {
            return Ok(());
        }
        let to = self.wal().join(format!("{CLOSED}{}", name_of_millisecond(now)));
        make_dir(&to)?;
        for name in files {
            let (from, to) = (self.wal().join(&name), to.join(&name));
            fs::rename(&from, &to).map_err(BackupError::io("cannot move", &from))?;
        }
        Ok(())
    }

    /// Deletes base backups beyond the newest `keep` verified ones, and the log that is older than the oldest one that stays.
    ///
    /// # Errors
    /// When a file cannot be read or deleted.
    pub fn prune(&self, keep: usize) -> Result<(), BackupError> {
        let bases = self.bases()?;
        let verified: Vec<(&Base, Timestamp)> = bases.iter().filter_map(|base| Some((base, base.ended_at()?))).collect();
        let Some((oldest, ended)) = verified.len().checked_sub(keep.max(1)).map_or(verified.first(), |first| verified.get(first))
        else {
            return Ok(());
        };
        for base in bases.iter().filter(|base| base.name < oldest.name) {
            fs::remove_dir_all(&base.path).map_err(BackupError::io("cannot delete", &base.path))?;
        }
        for log in self.logs()? {
            if log.lasts_to(*ended) {
                return log.prune(&WalRange::of(&oldest.path)?.first_segment());
            }
            fs::remove_dir_all(&log.path).map_err(BackupError::io("cannot delete", &log.path))?;
        }
        Ok(())
    }

    /// Which server writes here, or did last.
    pub fn claimed(&self) -> Option<Claim> {
        toml::from_str(&fs::read_to_string(self.0.join("instance")).ok()?).ok()
    }

    /// Claims the folder: whether no other server writes here. A claim ends with its process in the same start of the machine, else when it was not
    /// renewed for `stale_after_s`.
    ///
    /// # Errors
    /// When the claim cannot be written.
    pub fn claim(&self, claim: &Claim, stale_after_s: u64) -> Result<bool, BackupError> {
        let path = self.0.join("instance");
        let (holder, mut claim) = (self.claimed(), claim.clone());
        let age = fs::metadata(&path).and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
        let is_fresh = age.is_some_and(|age| age.as_secs() < stale_after_s);
        match holder {
            // A clone of the whole machine has the same instance, and is another process.
            Some(holder) if is_fresh && !holder.is_process_of(&claim) && !holder.has_ended(&claim) => return Ok(false),
            Some(holder) if holder.instance == claim.instance => claim.complete_at = claim.complete_at.or(holder.complete_at),
            Some(_) | None => {}
        }
        let text = toml::to_string(&claim).map_err(|e| BackupError::Refused(e.to_string()))?;
        write_whole(&path, text.as_bytes()).map_err(BackupError::io("cannot write", &path))?;
        Ok(true)
    }
}

/// The file `instance`: which server writes here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// `database_state.instance`.
    pub instance: String,
    /// The kernel's id of this start of the machine (random(4)): process ids mean something only within it. A clone of the machine has another.
    pub boot: String,
    pub pid: u32,
    /// RFC 3339: the last moment at which the backup had everything.
    pub complete_at: Option<String>,
}

impl Claim {
    pub fn of(instance: String) -> Self {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned();
        Self { instance, boot, pid: std::process::id(), complete_at: None }
    }

    fn is_process_of(&self, other: &Self) -> bool {
        (&self.instance, &self.boot, self.pid) == (&other.instance, &other.boot, other.pid)
    }

    fn has_ended(&self, other: &Self) -> bool {
        self.boot == other.boot && !self.boot.is_empty() && !Path::new(&format!("/proc/{}", self.pid)).exists()
    }
}

/// Makes a folder that only its owner may enter.
pub fn make_dir(path: &Path) -> Result<(), BackupError> {
    fs::create_dir_all(path).map_err(BackupError::io("cannot make the folder", path))?;
    fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(BackupError::io("cannot close to others", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with the segments 1 to 5, and a base backup an hour that needs the log from the segment on.
    fn folder_with(name: &str, bases: &[(u32, bool)]) -> BackupFolder {
        let folder = BackupFolder(std::env::temp_dir().join(format!("nyala-{name}-{}", std::process::id())));
        fs::create_dir_all(folder.wal()).unwrap();
        for segment in 1..=5 {
            fs::write(folder.wal().join(format!("0000000100000000{segment:08X}.gz")), "").unwrap();
        }
        for (hour, (segment, is_verified)) in bases.iter().enumerate() {
            let dir = folder.base(&format!("20261125T{hour:02}0000Z"));
            fs::create_dir_all(&dir).unwrap();
            let range = format!(r#"{{"Timeline": 1, "Start-LSN": "0/{segment:X}000028", "End-LSN": "0/{segment:X}000100"}}"#);
            fs::write(dir.join("backup_manifest"), format!(r#"{{"WAL-Ranges": [{range}]}}"#)).unwrap();
            fs::write(dir.join("base.tar.gz"), "").unwrap();
            if *is_verified {
                fs::write(dir.join("ok"), format!("ended_at = \"2026-11-25T{hour:02}:00:01Z\"\njumps = 0\n")).unwrap();
            }
        }
        folder
    }

    /// Hours of the base backups, and numbers of the log's segments; ends the folder.
    fn left(folder: &BackupFolder) -> (Vec<String>, Vec<String>) {
        let bases = folder.bases().unwrap().into_iter().map(|base| base.name[9..11].to_owned()).collect();
        let mut segments: Vec<String> = folder.log().files().unwrap().iter().map(|name| name[23..24].to_owned()).collect();
        segments.sort();
        fs::remove_dir_all(folder.path()).unwrap();
        (bases, segments)
    }

    #[test]
    fn a_clone_of_the_machine_is_another_server_though_its_instance_is_the_same() {
        let dir = std::env::temp_dir().join(format!("nyala-claim-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let folder = BackupFolder::at(&dir);
        let claims = |claim: &Claim| folder.claim(claim, 60).unwrap();
        let (mine, clone) = (Claim::of("one".to_owned()), Claim { boot: "another".to_owned(), ..Claim::of("one".to_owned()) });
        assert_eq!((claims(&mine), claims(&clone), claims(&mine)), (true, false, true));
        // A process of this machine that has ended leaves no claim.
        fs::remove_dir_all(&dir).unwrap();
        fs::create_dir_all(&dir).unwrap();
        let ended = Claim { pid: u32::MAX, ..mine.clone() };
        assert_eq!((claims(&ended), claims(&mine)), (true, true));
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn the_newest_verified_base_backups_are_kept_with_their_log() {
        let bases = [(1, true), (2, true), (3, false), (4, true), (5, false)];
        let kept = |keep: usize| {
            let folder = folder_with(&format!("keep-{keep}"), &bases);
            folder.prune(keep).unwrap();
            left(&folder)
        };
        let all = |names: [&str; 5]| names.map(str::to_owned).to_vec();
        assert_eq!(kept(7), (all(["00", "01", "02", "03", "04"]), all(["1", "2", "3", "4", "5"])));
        assert_eq!(kept(3), (all(["00", "01", "02", "03", "04"]), all(["1", "2", "3", "4", "5"])));
        assert_eq!(kept(2), (all(["00", "01", "02", "03", "04"])[1..].to_vec(), all(["1", "2", "3", "4", "5"])[1..].to_vec()));
        let one = (vec!["03".to_owned(), "04".to_owned()], vec!["4".to_owned(), "5".to_owned()]);
        assert_eq!(kept(1), one, "one that was not verified counts for nothing");
        assert_eq!(kept(0), one, "one is always kept");
    }

    #[test]
    fn without_a_verified_base_backup_nothing_is_deleted() {
        let folder = folder_with("unverified", &[(1, false), (2, false)]);
        folder.prune(1).unwrap();
        let (bases, segments) = left(&folder);
        assert_eq!((bases.len(), segments.len()), (2, 5));
    }

    #[test]
    fn a_closed_log_goes_with_its_last_base_backup() {
        let folder = folder_with("closed", &[(1, true), (2, true), (4, true)]);
        let closed = |at: &str| folder.wal().join(format!("{CLOSED}{at}"));
        let (first, second) = (closed("20261125T003000.000Z"), closed("20261125T013000.000Z"));
        for log in [&first, &second] {
            fs::create_dir(log).unwrap();
            fs::write(log.join("000000010000000000000001.gz"), "").unwrap();
            fs::write(log.join("000000010000000000000002.gz"), "").unwrap();
        }
        folder.prune(2).unwrap();
        assert!(!first.exists());
        assert_eq!(names(&second).unwrap(), ["000000010000000000000002.gz"]);
        folder.prune(1).unwrap();
        assert!(!second.exists());
        assert_eq!(left(&folder), (vec!["02".to_owned()], vec!["4".to_owned(), "5".to_owned()]));
    }
}
