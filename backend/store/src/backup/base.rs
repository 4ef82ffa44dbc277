//! A base backup: taken, unpacked beside, verified, named.

use std::error::Error;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;

use super::error::BackupError;
use super::folder::{BackupFolder, BaseFacts};
use super::log::name_of_second;
use super::programs::{LIMIT, Programs};
use crate::db::Store;
use crate::files::write_whole;

const SECOND: Duration = Duration::from_secs(1);

/// Takes a base backup, verifies it, deletes what is beyond `keep`, and returns its name.
///
/// # Errors
/// Which step failed. Nothing unfinished keeps its place.
pub async fn take(store: &Store, folder: &BackupFolder, programs: &Programs, keep: usize) -> Result<String, BackupError> {
    let _lock = lock(folder).await?;
    let name = loop {
        let name = name_of_second(store.now());
        if !folder.base(&name).exists() {
            break name;
        }
        // One of the same second, by a command beside the server.
        tokio::time::sleep(SECOND).await;
    };
    let (part, done) = (folder.unfinished_base(&name), folder.base(&name));
    let taken = fill(store, programs, &part).await;
    if taken.is_err() {
        let _ = fs::remove_dir_all(&part);
    }
    taken?;
    fs::rename(&part, &done).map_err(BackupError::io("cannot rename to", &done))?;
    folder.prune(keep)?;
    tracing::info!(name, "a base backup was taken and verified");
    Ok(name)
}

/// Waits while another process takes a base backup.
async fn lock(folder: &BackupFolder) -> Result<fs::File, BackupError> {
    let since = Instant::now();
    loop {
        match folder.lock_bases()? {
            Some(lock) => return Ok(lock),
            None if since.elapsed() > LIMIT => {
                let dir = folder.path().display();
                return Err(BackupError::Refused(format!(
                    "another process has taken a base backup into {dir} for hours: end it"
                )));
            }
            None => tokio::time::sleep(SECOND).await,
        }
    }
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

/// Unpacks `base.tar.gz` into the folder `to`, which is made. A base backup of this database has files and folders only: a link could lead
/// what is written afterwards, perhaps by root, to another place.
///
/// # Errors
/// When the archive cannot be read, has something else, or its files cannot be written.
pub(super) fn unpack(archive: &Path, to: &Path) -> Result<(), BackupError> {
    let file = fs::File::open(archive).map_err(BackupError::io("cannot read", archive))?;
    fs::create_dir_all(to).map_err(BackupError::io("cannot make the folder", to))?;
    let failed = |e: io::Error| BackupError::io("cannot unpack into", to)(io::Error::new(e.kind(), with_causes(&e)));
    let mut tar = tar::Archive::new(GzDecoder::new(std::io::BufReader::new(file)));
    for entry in tar.entries().map_err(failed)? {
        let mut entry = entry.map_err(failed)?;
        if !(entry.header().entry_type().is_file() || entry.header().entry_type().is_dir()) {
            let what = format!("{}: {} is no file and no folder", archive.display(), entry.path().map_err(failed)?.display());
            return Err(BackupError::Refused(format!("{what}, which no base backup of this database has; take another one")));
        }
        entry.unpack_in(to).map_err(failed)?;
    }
    Ok(())
}

/// The error's text with its causes, because the outer error of `tar` only names the file.
fn with_causes(e: &io::Error) -> String {
    let causes = std::iter::successors(e.source(), |cause| (*cause).source());
    causes.fold(e.to_string(), |text, cause| format!("{text}: {cause}"))
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn an_archive_with_a_link_is_refused_and_nothing_is_written_through_it() {
        let dir = std::env::temp_dir().join(format!("nyala-unpack-{}", std::process::id()));
        let (archive, to, outside) = (dir.join("base.tar.gz"), dir.join("to"), dir.join("outside"));
        fs::create_dir_all(&outside).unwrap();
        let mut tar = tar::Builder::new(GzEncoder::new(fs::File::create(&archive).unwrap(), Compression::fast()));
        let mut link = tar::Header::new_gnu();
        link.set_entry_type(tar::EntryType::Symlink);
        link.set_size(0);
        tar.append_link(&mut link, "pg_wal", &outside).unwrap();
        let mut file = tar::Header::new_gnu();
        file.set_size(2);
        tar.append_data(&mut file, "pg_wal/1", &b"15"[..]).unwrap();
        tar.into_inner().unwrap().finish().unwrap();
        let refused = unpack(&archive, &to).unwrap_err().to_string();
        assert!(refused.contains("pg_wal is no file and no folder"), "{refused}");
        assert_eq!((fs::read_dir(&to).unwrap().count(), fs::read_dir(&outside).unwrap().count()), (0, 0));
        fs::remove_dir_all(&dir).unwrap();
    }
}
