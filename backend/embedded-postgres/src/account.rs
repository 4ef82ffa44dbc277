//! Which account PostgreSQL runs as, and what that account can reach.

use std::{
    io,
    os::unix::{fs::MetadataExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use nix::unistd::{Gid, Uid, User, geteuid};

use crate::error::Error;

const EACCES: i32 = nix::errno::Errno::EACCES as i32;

/// The account of the database's processes and files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    pub name: String,
    pub uid: u32,
    pub gid: u32,
    /// True when this process is root and its children must change to the account.
    pub switch: bool,
}

impl Account {
    /// This process's own account, or, for root, which PostgreSQL refuses: the owner of the database that is there already,
    /// else `postgres`, else `nobody`.
    ///
    /// # Errors
    /// [`Error::NoAccount`] when root finds none of them; [`Error::NotOurs`] when someone else's database is at `base`.
    pub fn choose(base: &Path) -> Result<Self, Error> {
        let owner = owner_of(&crate::cluster::dir(base)).or_else(|| owner_of(base));
        let me = geteuid();
        if me.is_root() {
            return match owner {
                Some((uid, gid)) if uid != 0 => Ok(Self { name: name_of(uid), uid, gid, switch: true }),
                _ => Self::unprivileged(),
            };
        }
        // A folder of root's around it hides even whose it is.
        let hidden = base.metadata().is_err_and(|e| e.kind() == io::ErrorKind::PermissionDenied);
        let (folder, owner) =
            if hidden { (base.parent().unwrap_or(base), base.parent().and_then(owner_of)) } else { (base, owner) };
        match owner {
            Some((uid, _)) if uid != me.as_raw() => Err(Error::NotOurs { folder: folder.to_owned(), owner: name_of(uid) }),
            _ => Ok(Self { name: name_of(me.as_raw()), uid: me.as_raw(), gid: nix::unistd::getegid().as_raw(), switch: false }),
        }
    }

    fn unprivileged() -> Result<Self, Error> {
        ["postgres", "nobody"]
            .into_iter()
            .find_map(|name| User::from_name(name).ok().flatten())
            .filter(|user| !user.uid.is_root())
            .map(|user| Self { name: user.name, uid: user.uid.as_raw(), gid: user.gid.as_raw(), switch: true })
            .ok_or(Error::NoAccount)
    }

    /// A command that will run as this account, at `/`, with an environment of its own: the server's holds secrets, and `PG*`
    /// variables of the operator's shell are about other databases.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("LC_ALL", "C").env("HOME", "/").current_dir("/").stdin(Stdio::null());
        for kept in ["PATH", "LD_LIBRARY_PATH"] {
            if let Some(value) = std::env::var_os(kept) {
                command.env(kept, value);
            }
        }
        if self.switch {
            command.uid(self.uid).gid(self.gid);
        }
        command
    }

    /// Whether the account may enter `dir`. The kernel is asked by a child that goes there: mode bits alone do not show
    /// access control lists.
    ///
    /// # Errors
    /// Whatever else keeps the child from starting (no such folder, no right to change accounts).
    pub fn can_enter(&self, dir: &Path) -> io::Result<bool> {
        let status = self.command(Path::new("/bin/sh")).args(["-c", ":"]).current_dir(dir).stdout(Stdio::null()).status();
        match status {
            Ok(_) => Ok(true),
            Err(e) if e.raw_os_error() == Some(EACCES) => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// The first folder on the way to `dir`, from `/` down, that the account may not enter.
    ///
    /// # Errors
    /// [`Error::Io`] when the account cannot be tried at all.
    pub fn blocked_at(&self, dir: &Path) -> Result<Option<PathBuf>, Error> {
        let mut blocked = None;
        for step in dir.ancestors() {
            if self.can_enter(step).map_err(Error::io("cannot try, as the database's account, to enter", step))? {
                break;
            }
            blocked = Some(step.to_owned());
        }
        Ok(blocked)
    }

    /// Gives one file or folder (not what a symlink points to) to the account; nothing to do unless root works for it.
    pub fn give(&self, path: &Path) -> Result<(), Error> {
        if self.switch {
            std::os::unix::fs::lchown(path, Some(self.uid), Some(self.gid))
                .map_err(Error::io("cannot give to the database's account:", path))?;
        }
        Ok(())
    }
}

/// The home folder of root, which is never opened for the database's account.
pub(crate) fn home_of_root() -> Option<PathBuf> {
    User::from_uid(Uid::from_raw(0)).ok().flatten().map(|user| user.dir)
}

fn owner_of(path: &Path) -> Option<(u32, u32)> {
    let meta = path.metadata().ok()?;
    let gid = User::from_uid(Uid::from_raw(meta.uid())).ok().flatten().map_or(Gid::from_raw(meta.gid()), |user| user.gid);
    Some((meta.uid(), gid.as_raw()))
}

fn name_of(uid: u32) -> String {
    User::from_uid(Uid::from_raw(uid)).ok().flatten().map_or_else(|| uid.to_string(), |user| user.name)
}
