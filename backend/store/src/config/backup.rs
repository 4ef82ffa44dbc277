//! Settings of the backup of the private database (docs/operations.md, "Backup").

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BackupSettings {
    /// Empty: no backup.
    pub dir: PathBuf,
    /// `HH:MM` in Asia/Jakarta.
    pub base_at: String,
    /// Base backups that are kept.
    pub keep: usize,
    pub max_slot_wal_keep_mb: u64,
    pub alarm_s: u64,
    /// Empty: beside `postgres`, then Debian's folder, then PATH.
    pub bin_dir: PathBuf,
}

impl BackupSettings {
    pub fn is_on(&self) -> bool {
        !self.dir.as_os_str().is_empty()
    }

    /// Minutes after midnight in Jakarta at which a base backup is taken.
    pub fn base_minute(&self) -> Option<u32> {
        let (hour, minute) = self.base_at.split_once(':').filter(|(h, m)| h.len() == 2 && m.len() == 2)?;
        let (hour, minute) = (hour.parse::<u32>().ok()?, minute.parse::<u32>().ok()?);
        (hour < 24 && minute < 60).then_some(hour * 60 + minute)
    }

    /// # Errors
    /// What is wrong, and what would be right.
    pub(super) fn check(&self, database_url: &str, data_dir: &Path) -> Result<(), String> {
        if self.base_minute().is_none() {
            return Err(format!("backup.base_at = \"{}\" must be a time of day in Jakarta such as \"02:30\"", self.base_at));
        }
        if !self.is_on() {
            return Ok(());
        }
        let dir = self.dir.display();
        if !database_url.is_empty() {
            return Err(format!(
                "backup.dir = \"{dir}\" backs up the private database only, and DATABASE_URL names another one: leave backup.dir empty \
                 and back that one up where it runs (docs/operations.md, \"A database of your own\")"
            ));
        }
        let (backup, data) = (resolved(&self.dir), resolved(data_dir));
        if backup.starts_with(&data) || data.starts_with(&backup) {
            let which = if backup.starts_with(&data) { "is inside" } else { "contains" };
            return Err(format!(
                "backup.dir = \"{dir}\" {which} data.dir = \"{}\", and both would be lost together: choose a folder on another disk",
                data_dir.display()
            ));
        }
        Ok(())
    }
}

/// Absolute, and without symbolic links as far as it is there.
fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let there = path.ancestors().find_map(|there| Some((there.canonicalize().ok()?, path.strip_prefix(there).ok()?)));
    there.map_or_else(|| path.clone(), |(there, rest)| there.join(rest))
}
