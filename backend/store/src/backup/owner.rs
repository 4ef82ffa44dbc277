//! Who owns the files of a backup. The server writes them as its own account, and commands are often root's: what root makes there has to belong to
//! the server's account as well, or its next start cannot read it.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat};
use nix::unistd::{Gid, Uid, fchownat};

use super::error::BackupError;

const FOLDER: OFlag = OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_CLOEXEC);
/// The entry itself, not what a symbolic link names, and without reading it.
const ENTRY: OFlag = OFlag::O_PATH.union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

/// Gives the files of root below `dir` to the account that owns `dir`. Without root's rights it changes nothing.
///
/// # Errors
/// When a folder cannot be read or a file cannot be given.
pub fn give_to_owner(dir: &Path) -> Result<(), BackupError> {
    let cannot = |errno: Errno| BackupError::io("cannot read", dir)(errno.into());
    let folder = Dir::open(dir, FOLDER, Mode::empty()).map_err(cannot)?;
    let owner = fstat(&folder).map_err(cannot)?;
    give(folder, dir, &owner)
}

/// Each entry is opened once, and looked at and given by that handle. The folder's account could otherwise put another file of root's, or a
/// link to one, into its place in between.
fn give(mut folder: Dir, path: &Path, owner: &FileStat) -> Result<(), BackupError> {
    let names: Vec<CString> = folder.iter().flatten().map(|entry| entry.file_name().to_owned()).collect();
    for name in names.iter().filter(|name| !matches!(name.to_bytes(), b"." | b"..")) {
        let path = path.join(OsStr::from_bytes(name.to_bytes()));
        let cannot = |errno: Errno| BackupError::io("cannot give to its folder's owner", &path)(errno.into());
        // The server may have deleted or renamed it since the folder was read.
        let Ok(entry) = openat(&folder, name.as_c_str(), ENTRY, Mode::empty()) else { continue };
        let found = fstat(&entry).map_err(cannot)?;
        let is_folder = SFlag::from_bits_truncate(found.st_mode) & SFlag::S_IFMT == SFlag::S_IFDIR;
        // A file with a second name may be any file of root's.
        if found.st_uid == 0 && owner.st_uid != 0 && (is_folder || found.st_nlink == 1) {
            let (user, group) = (Uid::from_raw(owner.st_uid), Gid::from_raw(owner.st_gid));
            match fchownat(&entry, c"", Some(user), Some(group), AtFlags::AT_EMPTY_PATH) {
                Err(Errno::EPERM) => return Ok(()),
                done => done.map_err(cannot)?,
            }
        }
        if is_folder {
            give(Dir::openat(&entry, c".", FOLDER, Mode::empty()).map_err(cannot)?, &path, owner)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::{MetadataExt, chown, symlink};

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
        symlink("/etc", dir.join("base/link")).unwrap();
        if chown(&dir, Some(NOBODY), Some(NOBODY)).is_err() {
            // Written past the test runner, which hides the output of a test that passes.
            let _ = writeln!(std::io::stderr(), "SKIPPED: only root can give files away");
        } else {
            give_to_owner(&dir).unwrap();
            let owners = ["backup.toml", "base", "base/one", "base/one/ok", "elsewhere"];
            assert_eq!(fs::metadata("/etc").unwrap().uid(), 0, "a link is not followed");
            assert_eq!(owners.map(|path| fs::metadata(dir.join(path)).unwrap().uid()), [NOBODY, NOBODY, NOBODY, NOBODY, 0]);
        }
        fs::remove_dir_all(&dir).unwrap();
    }
}
