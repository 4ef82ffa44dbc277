//! Who owns the files of a backup. The server writes them as its own account, and commands are often root's: what root makes there has to belong to
//! the server's account as well, or its next start cannot read it.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, lchown};
use std::path::Path;

use super::error::BackupError;

/// Gives the files of root below `dir` to the account that owns `dir`. Without root's rights it changes nothing.
///
/// # Errors
/// When a folder cannot be read or a file cannot be given.
pub fn give_to_owner(dir: &Path) -> Result<(), BackupError> {
    let owner = fs::metadata(dir).map_err(BackupError::io("cannot read", dir))?;
    let entries = fs::read_dir(dir).map_err(BackupError::io("cannot read", dir))?;
    for entry in entries.flatten() {
        let path = entry.path();
        // The server may have deleted or renamed it since the folder was read.
        let Ok(found) = entry.metadata() else { continue };
        // A file with a second name may be any file of root's.
        if found.uid() == 0 && owner.uid() != 0 && (found.is_dir() || found.nlink() == 1) {
            match lchown(&path, Some(owner.uid()), Some(owner.gid())) {
                Err(e) if e.kind() == ErrorKind::PermissionDenied => return Ok(()),
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                done => done.map_err(BackupError::io("cannot give to its folder's owner", &path))?,
            }
        }
        if found.is_dir() {
            give_to_owner(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::chown;

    use super::*;

    const NOBODY: u32 = 65_534;

    #[test]
    fn what_root_has_made_belongs_to_the_owner_of_the_folder() {
        let dir = std::env::temp_dir().join(format!("nyala-owner-{}", std::process::id()));
        fs::create_dir_all(dir.join("base/one")).unwrap();
        for file in ["backup.toml", "base/one/ok", "elsewhere"] {
            fs::write(dir.join(file), "").unwrap();
        }
        fs::hard_link(dir.join("elsewhere"), dir.join("base/second-name")).unwrap();
        if chown(&dir, Some(NOBODY), Some(NOBODY)).is_err() {
            // Written past the test runner, which hides the output of a test that passes.
            let _ = writeln!(std::io::stderr(), "SKIPPED: only root can give files away");
        } else {
            give_to_owner(&dir).unwrap();
            let owners = ["backup.toml", "base", "base/one", "base/one/ok", "elsewhere"];
            assert_eq!(owners.map(|path| fs::metadata(dir.join(path)).unwrap().uid()), [NOBODY, NOBODY, NOBODY, NOBODY, 0]);
        }
        fs::remove_dir_all(&dir).unwrap();
    }
}
