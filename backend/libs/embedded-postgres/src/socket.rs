//! Folder of the Unix socket. A socket address holds at most 107 bytes of path (`sun_path`, unix(7)).

use std::{
    fs::{self, DirBuilder, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use crate::{account::Account, error::Error};

const MAX_PATH_BYTES: usize = 106;

/// `<base>/run`. If that path is too long or has characters that PostgreSQL's list of folders or a connection string would have to
/// quote, a short folder at a system place. The folder has mode 0700 and belongs to the account.
///
/// # Errors
/// [`Error::NoSocketPlace`] when no short place can be used, or [`Error::Io`].
pub(crate) fn dir(base: &Path, account: &Account, port: u16) -> Result<PathBuf, Error> {
    let own = base.join("run");
    if fits(&own, port) {
        match DirBuilder::new().mode(0o700).create(&own) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(Error::io("cannot make the folder", own)(e)),
            _ => {}
        }
        account.give(&own)?;
        fs::set_permissions(&own, Permissions::from_mode(0o700)).map_err(Error::io("cannot close to others", &own))?;
        return Ok(own);
    }
    // Device and inode give the folder a short name that is the same at each start.
    let meta = base.metadata().map_err(Error::io("cannot look at", base))?;
    let name = format!("nyala-{:x}-{:x}", meta.dev(), meta.ino());
    short_places(account)
        .map(|place| place.join(&name))
        .find(|dir| fits(dir, port) && claim(dir, account))
        .ok_or(Error::NoSocketPlace { tried: own })
}

/// Removes a short folder; the one in `base` stays.
pub(crate) fn remove(socket_dir: &Path, base: &Path) {
    if !socket_dir.starts_with(base) {
        let _ = fs::remove_dir(socket_dir);
    }
}

fn fits(dir: &Path, port: u16) -> bool {
    let file = dir.join(format!(".s.PGSQL.{port}"));
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/._-+@".contains(&b);
    file.as_os_str().len() <= MAX_PATH_BYTES && dir.as_os_str().as_encoded_bytes().iter().copied().all(plain)
}

fn short_places(account: &Account) -> impl Iterator<Item = PathBuf> {
    let own = if account.switch { Some(PathBuf::from("/run")) } else { std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from) };
    own.into_iter().chain([PathBuf::from("/tmp")]).filter(|place| place.is_dir())
}

/// Any user may create folders in `/tmp`, so an existing one counts only if it is a real folder, closed to others, and ours.
fn claim(dir: &Path, account: &Account) -> bool {
    let made = DirBuilder::new().mode(0o700).create(dir).is_ok();
    let ours = dir.symlink_metadata().is_ok_and(|meta| {
        meta.is_dir()
            && meta.mode() & 0o077 == 0
            && (meta.uid() == account.uid || made && meta.uid() == nix::unistd::geteuid().as_raw())
    });
    ours && account.give(dir).is_ok() && account.can_enter(dir).unwrap_or(false)
}
