//! A base backup: taken, unpacked beside, verified, named.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use flate2::read::GzDecoder;
use nyala_core::domain::timestamp::Timestamp;

use super::error::BackupError;
use super::folder::{BackupFolder, BaseFacts, write_whole};
use super::programs::Programs;
use crate::db::Store;

const SECOND: Duration = Duration::from_secs(1);

/// `2026-11-25T19:30:00.000Z` is `20261125T193000Z`.
pub fn name_of(moment: Timestamp) -> String {
    let text = moment.rfc3339();
    let seconds = text.split('.').next().unwrap_or_default().trim_end_matches('Z');
    let plain: String = seconds.chars().filter(|c| c.is_ascii_digit() || *c == 'T').collect();
    format!("{plain}Z")
}

/// Takes a base backup, verifies it, deletes what is beyond `keep`, and returns its name.
///
/// # Errors
/// Which step failed. Nothing unfinished keeps its place.
pub async fn take(store: &Store, folder: &BackupFolder, programs: &Programs, keep: usize) -> Result<String, BackupError> {
    let part = folder.unfinished_base(&name_of(store.now()));
    let taken = fill(store, programs, &part).await;
    if taken.is_err() {
        let _ = fs::remove_dir_all(&part);
    }
    taken?;
    let name = loop {
        let name = name_of(store.now());
        let done = folder.base(&name);
        match fs::rename(&part, &done) {
            Ok(()) => break name,
            // One of the same second, by a command beside the server.
            Err(e) if e.kind() == ErrorKind::DirectoryNotEmpty => tokio::time::sleep(SECOND).await,
            Err(e) => return Err(BackupError::io("cannot rename to", &done)(e)),
        }
    };
    folder.prune(keep)?;
    tracing::info!(name, "a base backup was taken and verified");
    Ok(name)
}

async fn fill(store: &Store, programs: &Programs, part: &Path) -> Result<(), BackupError> {
    const JUMPS: &str = "SELECT jumps FROM database_state";
    let jumps = store.get().await?.query_one(JUMPS, &[]).await?.get(0);
    programs.base(part).await?;
    let ended_at = store.now().rfc3339();
    let unpacked = part.join("unpacked");
    let (archive, to) = (part.join("base.tar.gz"), unpacked.clone());
    let unpacking = tokio::task::spawn_blocking(move || unpack(&archive, &to));
    unpacking.await.map_err(|e| BackupError::Refused(e.to_string()))??;
    programs.verify(&unpacked, &part.join("backup_manifest")).await?;
    fs::remove_dir_all(&unpacked).map_err(BackupError::io("cannot delete", &unpacked))?;
    let facts = toml::to_string(&BaseFacts { ended_at, jumps }).map_err(|e| BackupError::Refused(e.to_string()))?;
    let ok = part.join("ok");
    write_whole(&ok, facts.as_bytes()).map_err(BackupError::io("cannot write", &ok))
}

/// Unpacks `base.tar.gz` into the folder `to`, which is made.
///
/// # Errors
/// When the archive cannot be read or its files cannot be written.
pub(super) fn unpack(archive: &Path, to: &Path) -> Result<(), BackupError> {
    let file = fs::File::open(archive).map_err(BackupError::io("cannot read", archive))?;
    fs::create_dir_all(to).map_err(BackupError::io("cannot make the folder", to))?;
    let mut tar = tar::Archive::new(GzDecoder::new(std::io::BufReader::new(file)));
    tar.set_preserve_ownerships(false);
    tar.unpack(to).map_err(BackupError::io("cannot unpack into", to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_is_named_by_its_second() {
        assert_eq!(name_of(Timestamp::from_ms(1_795_635_000_123)), "20261125T193000Z");
    }
}
