//! Files that are written whole.

use std::fs::{self, File};
use std::io::{ErrorKind, Result, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::Path;

/// Writes a file that only its owner may read, beside its place, and renames it: a crash leaves the whole old file or the whole new one.
/// Commands of root write into folders of the server's account, so no link is followed, and a file that is replaced keeps its owner.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    // One that a crash has left is not written to: it may be a link.
    fs::remove_file(&beside).or_else(|e| if e.kind() == ErrorKind::NotFound { Ok(()) } else { Err(e) })?;
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(&beside)?;
    keep_owner(&file, path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    path.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())
}

/// Gives a file that replaces another one its owner: a command of root must not keep the server's account from its files.
fn keep_owner(file: &File, replaced: &Path) -> Result<()> {
    let (new, Ok(old)) = (file.metadata()?, fs::metadata(replaced)) else { return Ok(()) };
    if (new.uid(), new.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    fchown(file, Some(old.uid()), Some(old.gid()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    const NOBODY: u32 = 65_534;

    #[test]
    fn a_file_is_replaced_without_following_links() {
        let dir = std::env::temp_dir().join(format!("nyala-files-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let (file, other) = (dir.join("backup.toml"), dir.join("other"));
        fs::write(&other, "untouched").unwrap();
        symlink(&other, dir.join("backup.toml.new")).unwrap();
        write_whole(&file, b"one").unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "untouched", "a link to the file beside");
        let meta = fs::symlink_metadata(&file).unwrap();
        assert!(meta.is_file() && meta.permissions().mode() & 0o777 == 0o600);
        assert_eq!(fs::read_to_string(&file).unwrap(), "one");
        if chown(&file, Some(NOBODY), Some(NOBODY)).is_err() {
            // Written past the test runner, which hides the output of a test that passes.
            let _ = writeln!(std::io::stderr(), "SKIPPED: only root can give files away");
        } else {
            write_whole(&file, b"two").unwrap();
            assert_eq!(fs::metadata(&file).unwrap().uid(), NOBODY, "it keeps its owner");
        }
        fs::remove_file(&file).unwrap();
        symlink(&other, &file).unwrap();
        write_whole(&file, b"three").unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "untouched", "a link in its place");
        fs::remove_dir_all(&dir).unwrap();
    }
}
