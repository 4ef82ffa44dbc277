//! The folder of a backup:
//!
//! ```text
//! backup.toml                    which database this is of, and how often it was restored
//! secrets.toml    0600           the keys, copied at each start and change
//! instance                       which server writes here, renewed while it does
//! wal/                           the log: *.gz, one *.gz.partial, *.history
//! base/<YYYYMMDDTHHMMSSZ>/       base.tar.gz, backup_manifest, and ok once it was verified
//! ```

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::error::BackupError;
use crate::db::instance::machine_id;
use crate::secrets::Secrets;

/// The layout above.
const FORMAT: u32 = 1;
/// Bytes of a segment of the log, as `initdb` sets it.
pub const SEGMENT_BYTES: u64 = 16 << 20;

/// `backup.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    pub format: u32,
    pub system_identifier: i64,
    /// Of the keys in `secrets.toml`.
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

    /// Opens it for the database, or makes it.
    ///
    /// # Errors
    /// [`BackupError::OtherDatabase`], or when it cannot be written.
    pub fn prepare(dir: &Path, system_identifier: i64, secrets: &Secrets, major: u32) -> Result<Self, BackupError> {
        let folder = Self(dir.to_owned());
        for path in [dir.to_owned(), folder.wal(), folder.bases_dir()] {
            make_dir(&path)?;
        }
        let fingerprint = hex(&secrets.fingerprint());
        if dir.join("backup.toml").exists() {
            let (_, found) = Self::open(dir)?;
            if found.system_identifier != system_identifier {
                let (dir, theirs) = (dir.to_owned(), found.system_identifier);
                return Err(BackupError::OtherDatabase { dir, theirs, ours: system_identifier });
            }
            folder.describe(&Description { fingerprint, major, ..found })?;
        } else {
            folder.describe(&Description { format: FORMAT, system_identifier, fingerprint, major, restores: 0 })?;
        }
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn wal(&self) -> PathBuf {
        self.0.join("wal")
    }

    fn bases_dir(&self) -> PathBuf {
        self.0.join("base")
    }

    /// Where this process makes the base backup `name` before it has its name.
    pub fn unfinished_base(&self, name: &str) -> PathBuf {
        self.bases_dir().join(format!("{name}.{}.part", std::process::id()))
    }

    /// Deletes what killed processes left.
    ///
    /// # Errors
    /// When a folder cannot be read or deleted.
    pub fn remove_unfinished(&self) -> Result<(), BackupError> {
        for name in names(&self.bases_dir())? {
            let pid = name.strip_suffix(".part").and_then(|name| name.rsplit('.').next());
            if pid.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
                let path = self.base(&name);
                fs::remove_dir_all(&path).map_err(BackupError::io("cannot delete", &path))?;
            }
        }
        Ok(())
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

    /// Copies the keys.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn keep_secrets(&self, secrets: &Secrets) -> Result<(), BackupError> {
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

    /// Names of the files of the log.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn segments(&self) -> Result<Vec<String>, BackupError> {
        names(&self.wal())
    }

    /// When the log was written last.
    pub fn received_at(&self) -> Option<SystemTime> {
        let modified = |name: String| fs::metadata(self.wal().join(name)).and_then(|meta| meta.modified()).ok();
        self.segments().ok()?.into_iter().filter_map(modified).max()
    }

    /// Deletes base backups beyond the newest `keep` verified ones, and the log that is older than the oldest one that stays.
    ///
    /// # Errors
    /// When a file cannot be read or deleted.
    pub fn prune(&self, keep: usize) -> Result<(), BackupError> {
        let bases = self.bases()?;
        let verified: Vec<&Base> = bases.iter().filter(|base| base.facts.is_some()).collect();
        let Some(oldest) = verified.len().checked_sub(keep.max(1)).map_or(verified.first(), |first| verified.get(first)) else {
            return Ok(());
        };
        for base in bases.iter().filter(|base| base.name < oldest.name) {
            fs::remove_dir_all(&base.path).map_err(BackupError::io("cannot delete", &base.path))?;
        }
        let Some(first) = first_segment(&oldest.path)? else { return Ok(()) };
        for name in self.segments()? {
            // The number without the timeline: each timeline counts on.
            if name.len() >= 24 && !name.contains(".history") && name.get(8..24).is_some_and(|number| *number < first[..]) {
                let path = self.wal().join(&name);
                fs::remove_file(&path).map_err(BackupError::io("cannot delete", &path))?;
            }
        }
        Ok(())
    }

    /// Claims the folder: whether no other server writes here. A claim ends with its process on the same machine, else when it was not
    /// renewed for `stale_after_s`.
    ///
    /// # Errors
    /// When the claim cannot be written.
    pub fn claim(&self, claim: &Claim, stale_after_s: u64) -> Result<bool, BackupError> {
        let path = self.0.join("instance");
        let holder: Option<Claim> = fs::read_to_string(&path).ok().and_then(|text| toml::from_str(&text).ok());
        let age = fs::metadata(&path).and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
        let is_fresh = age.is_some_and(|age| age.as_secs() < stale_after_s);
        if holder.is_some_and(|holder| holder.instance != claim.instance && is_fresh && !holder.has_ended(claim)) {
            return Ok(false);
        }
        let text = toml::to_string(claim).map_err(|e| BackupError::Refused(e.to_string()))?;
        write_whole(&path, text.as_bytes()).map_err(BackupError::io("cannot write", &path))?;
        Ok(true)
    }
}

/// The file `instance`: which server writes here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// `database_state.instance`.
    pub instance: String,
    pub machine: String,
    pub pid: u32,
}

impl Claim {
    pub fn of(instance: String) -> Self {
        Self { instance, machine: machine_id(), pid: std::process::id() }
    }

    fn has_ended(&self, other: &Self) -> bool {
        self.machine == other.machine && !self.machine.is_empty() && !Path::new(&format!("/proc/{}", self.pid)).exists()
    }
}

/// Number of the first segment that a base backup needs: 16 hexadecimal digits.
fn first_segment(base: &Path) -> Result<Option<String>, BackupError> {
    #[derive(Deserialize)]
    struct Manifest {
        #[serde(rename = "WAL-Ranges")]
        ranges: Vec<Range>,
    }
    #[derive(Deserialize)]
    struct Range {
        #[serde(rename = "Start-LSN")]
        start: String,
    }
    let path = base.join("backup_manifest");
    let text = fs::read(&path).map_err(BackupError::io("cannot read", &path))?;
    let manifest: Manifest =
        serde_json::from_slice(&text).map_err(|e| BackupError::NotABackup { dir: base.to_owned(), why: e.to_string() })?;
    Ok(manifest.ranges.first().and_then(|range| number_of(&range.start)))
}

/// `0/2000028` is in segment `0000000000000002`.
fn number_of(lsn: &str) -> Option<String> {
    let (high, low) = lsn.split_once('/')?;
    let (high, low) = (u64::from_str_radix(high, 16).ok()?, u64::from_str_radix(low, 16).ok()?);
    Some(format!("{high:08X}{:08X}", low / SEGMENT_BYTES))
}

/// Names of the entries of a folder.
fn names(dir: &Path) -> Result<Vec<String>, BackupError> {
    let entries = fs::read_dir(dir).map_err(BackupError::io("cannot read", dir))?;
    Ok(entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

fn make_dir(path: &Path) -> Result<(), BackupError> {
    fs::create_dir_all(path).map_err(BackupError::io("cannot make the folder", path))?;
    fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(BackupError::io("cannot close to others", path))
}

/// Written beside and renamed, so that a crash leaves the whole old file or the whole new one.
pub fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    path.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_in_the_log_is_in_its_segment() {
        assert_eq!(number_of("0/2000028").as_deref(), Some("0000000000000002"));
        assert_eq!(number_of("1A/FF000000").as_deref(), Some("0000001A000000FF"));
        assert_eq!(number_of("nonsense"), None);
    }
}
