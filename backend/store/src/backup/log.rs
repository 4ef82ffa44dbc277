//! The received log: pieces without a gap, the names of its segments, and timelines.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use flate2::read::GzDecoder;
use nyala_core::domain::timestamp::Timestamp;
use serde::Deserialize;

use super::error::BackupError;

/// Bytes of a segment, as `initdb` sets it.
pub const SEGMENT_BYTES: u64 = 16 << 20;
/// Characters of a segment's name: timeline and number, in hexadecimal.
const SEGMENT_NAME: usize = 24;
const TIMELINE: usize = 8;

/// Prefix of a folder with log that was closed.
pub(super) const CLOSED: &str = "until-";

/// A piece of the log without a gap, of one timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    pub path: PathBuf,
    /// When it was closed, as [`name_of_millisecond`] writes it; `None` for the one that is being received.
    closed: Option<String>,
}

impl Log {
    pub(super) const fn open(path: PathBuf) -> Self {
        Self { path, closed: None }
    }

    pub(super) const fn closed(path: PathBuf, at: String) -> Self {
        Self { path, closed: Some(at) }
    }

    /// Names of its files.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn files(&self) -> Result<Vec<String>, BackupError> {
        Ok(names(&self.path)?.into_iter().filter(|name| !name.starts_with(CLOSED)).collect())
    }

    /// When it was written last.
    pub fn received_at(&self) -> Option<SystemTime> {
        let modified = |name: String| fs::metadata(self.path.join(name)).and_then(|meta| meta.modified()).ok();
        self.files().ok()?.into_iter().filter_map(modified).max()
    }

    /// Timeline and number of its newest segment, as in its name.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn newest_segment(&self) -> Result<Option<String>, BackupError> {
        let segments = self.files()?.into_iter().filter(|name| segment_number(name).is_some());
        Ok(segments.map(|name| name[..SEGMENT_NAME].to_owned()).max())
    }

    /// Whether it was being received at `moment`, or later.
    pub fn lasts_to(&self, moment: Timestamp) -> bool {
        self.closed.as_ref().is_none_or(|closed| *closed >= name_of_millisecond(moment))
    }

    /// Deletes segments before the one with the number `first`.
    pub(super) fn prune(&self, first: &str) -> Result<(), BackupError> {
        for name in self.files()? {
            if segment_number(&name).is_some_and(|number| number < first) {
                let path = self.path.join(&name);
                fs::remove_file(&path).map_err(BackupError::io("cannot delete", &path))?;
            }
        }
        Ok(())
    }
}

/// The number in the name of a segment, without its timeline: each timeline counts on.
pub fn segment_number(name: &str) -> Option<&str> {
    let is_segment = name.len() >= SEGMENT_NAME && name.bytes().take(SEGMENT_NAME).all(|b| b.is_ascii_hexdigit());
    name.get(TIMELINE..SEGMENT_NAME).filter(|_| is_segment)
}

/// Whether a file is the history of a timeline: those that it continues.
pub fn is_history(name: &str) -> bool {
    name.contains(".history")
}

/// `2026-11-25T19:30:00.000Z` is `20261125T193000Z`.
pub fn name_of_second(moment: Timestamp) -> String {
    let text = moment.rfc3339();
    let seconds = text.split('.').next().unwrap_or_default().trim_end_matches('Z');
    let plain: String = seconds.chars().filter(|c| c.is_ascii_digit() || *c == 'T').collect();
    format!("{plain}Z")
}

/// `2026-11-25T19:30:00.5Z` is `20261125T193000.500Z`: text in the order of time.
pub(super) fn name_of_millisecond(moment: Timestamp) -> String {
    format!("{}.{:03}Z", name_of_second(moment).trim_end_matches('Z'), moment.ms().rem_euclid(1_000))
}

/// Names of the entries of a folder.
pub(super) fn names(dir: &Path) -> Result<Vec<String>, BackupError> {
    let entries = fs::read_dir(dir).map_err(BackupError::io("cannot read", dir))?;
    Ok(entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

/// The log that a base backup contains, according to its manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalRange {
    timeline: u32,
    start: u64,
    end: u64,
}

impl WalRange {
    /// That of the base backup in the folder `base`.
    ///
    /// # Errors
    /// When the manifest cannot be read.
    pub fn of(base: &Path) -> Result<Self, BackupError> {
        #[derive(Deserialize)]
        struct Manifest {
            #[serde(rename = "WAL-Ranges")]
            ranges: Vec<Range>,
        }
        #[derive(Deserialize)]
        struct Range {
            #[serde(rename = "Timeline")]
            timeline: u32,
            #[serde(rename = "Start-LSN")]
            start: String,
            #[serde(rename = "End-LSN")]
            end: String,
        }
        let not = |why: String| BackupError::NotABackup { dir: base.to_owned(), why };
        let path = base.join("backup_manifest");
        let text = fs::read(&path).map_err(BackupError::io("cannot read", &path))?;
        let manifest: Manifest =
            serde_json::from_slice(&text).map_err(|e| not(format!("backup_manifest is unreadable ({e})")))?;
        let range = manifest.ranges.first().and_then(|range| {
            Some(Self { timeline: range.timeline, start: position(&range.start)?, end: position(&range.end)? })
        });
        range.ok_or_else(|| not("backup_manifest names no log".to_owned()))
    }

    /// Number of the first segment that is needed.
    pub fn first_segment(self) -> String {
        format!("{:08X}{:08X}", self.start >> 32, (self.start & 0xFFFF_FFFF) / SEGMENT_BYTES)
    }

    /// Whether the newest timeline continues this base backup, according to `lineage`.
    pub fn leads_to(self, lineage: &Lineage) -> bool {
        let left_at = |(timeline, end): &(u32, u64)| *timeline == self.timeline && self.end <= *end;
        self.timeline == lineage.newest || lineage.before.iter().any(left_at)
    }
}

/// A timeline and those that it continues.
#[derive(Debug, Default)]
pub struct Lineage {
    newest: u32,
    /// Each earlier one, and the position at which it was left.
    before: Vec<(u32, u64)>,
}

impl Lineage {
    /// That of the last log that has anything.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn of(logs: &[Log]) -> Result<Self, BackupError> {
        let mut newest = None;
        for log in logs.iter().rev() {
            newest = newest.or(log.newest_segment()?.map(|name| name[..TIMELINE].to_owned()));
        }
        let Some(newest) = newest else { return Ok(Self::default()) };
        let mut before = Vec::new();
        for log in logs {
            for name in log.files()?.iter().filter(|name| is_history(name) && name.starts_with(&newest)) {
                let text = String::from_utf8_lossy(&read(&log.path.join(name))?).into_owned();
                before = text.lines().filter_map(left).collect();
            }
        }
        Ok(Self { newest: u32::from_str_radix(&newest, 16).unwrap_or_default(), before })
    }
}

/// A line of a timeline's history: `1\t0/6000028\tno recovery target specified`.
fn left(line: &str) -> Option<(u32, u64)> {
    let mut words = line.split_whitespace();
    Some((words.next()?.parse().ok()?, position(words.next()?)?))
}

/// `0/2000028` as a number.
fn position(lsn: &str) -> Option<u64> {
    let (high, low) = lsn.split_once('/')?;
    Some(u64::from_str_radix(high, 16).ok()? << 32 | u64::from_str_radix(low, 16).ok()?)
}

/// The content of a file of the log. Of a partial one the end is missing: what can be read counts.
///
/// # Errors
/// When the file cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>, BackupError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let whole = name.strip_suffix(".partial");
    let mut file = File::open(path).map_err(BackupError::io("cannot read", path))?;
    let mut bytes = Vec::new();
    if whole.unwrap_or(&name).ends_with(".gz") {
        let unpacked = GzDecoder::new(file).read_to_end(&mut bytes);
        if whole.is_none() {
            unpacked.map_err(BackupError::io("cannot unpack", path))?;
        }
    } else {
        file.read_to_end(&mut bytes).map_err(BackupError::io("cannot read", path))?;
    }
    if whole.is_some() {
        bytes.resize(usize::try_from(SEGMENT_BYTES).unwrap_or_default().max(bytes.len()), 0);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_in_the_log_is_in_its_segment() {
        let first = |start: &str| WalRange { timeline: 1, start: position(start).unwrap(), end: 0 }.first_segment();
        assert_eq!(first("0/2000028"), "0000000000000002");
        assert_eq!(first("1A/FF000000"), "0000001A000000FF");
        assert_eq!(position("nonsense"), None);
    }

    #[test]
    fn moments_are_names_in_the_order_of_time() {
        let at = |ms: i64| Timestamp::from_ms(1_795_635_000_000 + ms);
        assert_eq!(name_of_second(at(123)), "20261125T193000Z");
        assert_eq!(name_of_millisecond(at(580)), "20261125T193000.580Z");
        assert!(
            name_of_millisecond(at(580)) < name_of_millisecond(at(581))
                && name_of_millisecond(at(0)) < name_of_millisecond(at(500))
        );
    }

    #[test]
    fn a_history_is_no_segment() {
        assert_eq!(segment_number("00000001000000000000000A.gz.partial"), Some("000000000000000A"));
        assert_eq!(segment_number("00000002.history.gz"), None);
        assert_eq!(segment_number("until-20261125T193000.000Z"), None);
    }

    #[test]
    fn a_base_backup_of_after_a_fork_is_not_continued_by_it() {
        let lineage = Lineage { newest: 3, before: vec![left("1\t0/6000028\tbefore 2026-11-25").unwrap()] };
        let leads = |timeline, end| WalRange { timeline, start: 0, end }.leads_to(&lineage);
        assert!(leads(1, 0x0600_0028) && leads(3, 0x0900_0000));
        assert!(!leads(1, 0x0600_0029) && !leads(2, 0x0100_0000));
    }
}
