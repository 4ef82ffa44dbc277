//! Account that PostgreSQL runs as, and what that account can reach.

use std::{
    io,
    os::unix::{fs::MetadataExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use nix::unistd::{Gid, Uid, User, geteuid};

use crate::error::Error;

/// Accounts that root may run PostgreSQL as, the best first. Other programs may use all but the first.
const FOR_ROOT: [&str; 3] = [OWN, "postgres", "nobody"];
pub(crate) const OWN: &str = "nyala";

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
    /// Chooses the account: this process's own, or for root, which PostgreSQL refuses, what [`for_root`] returns for the owner of
    /// the existing database or data folder. The flag is true when other programs may share the account.
    ///
    /// # Errors
    /// [`Error::NoAccount`] when root finds no such account; [`Error::NotOurs`] when `base` has the database of another account.
    pub fn choose(base: &Path) -> Result<(Self, bool), Error> {
        let owner = owner_of(&crate::layout::dir(base)).or_else(|| owner_of(base));
        let me = geteuid();
        if me.is_root() {
            let of_data_dir = || {
                base.parent().and_then(owner_of).filter(|(uid, _)| User::from_uid(Uid::from_raw(*uid)).is_ok_and(|u| u.is_some()))
            };
            let owner = owner.filter(|(uid, _)| *uid != 0).or_else(of_data_dir);
            let owner = owner.map(|(uid, gid)| Self { name: name_of(uid), uid, gid, switch: true });
            return for_root(owner, |name| User::from_name(name).ok().flatten().map(Self::of)).ok_or(Error::NoAccount);
        }
        // A parent folder that root keeps closed also hides the owner of `base`.
        let hidden = base.metadata().is_err_and(|e| e.kind() == io::ErrorKind::PermissionDenied);
        let (folder, owner) =
            if hidden { (base.parent().unwrap_or(base), base.parent().and_then(owner_of)) } else { (base, owner) };
        match owner {
            Some((uid, _)) if uid != me.as_raw() => Err(Error::NotOurs { folder: folder.to_owned(), owner: name_of(uid) }),
            _ => {
                let (uid, gid) = (me.as_raw(), nix::unistd::getegid().as_raw());
                Ok((Self { name: name_of(uid), uid, gid, switch: false }, false))
            }
        }
    }

    /// An account that root changes to.
    fn of(user: User) -> Self {
        Self { name: user.name, uid: user.uid.as_raw(), gid: user.gid.as_raw(), switch: true }
    }

    /// A command that runs as this account, in `/`, with a separate environment: the server's environment holds secrets, and
    /// `PG*` variables of the operator's shell are about other databases.
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

    /// Whether the account may enter `dir`. A child process tries to enter it, because mode bits alone do not show access
    /// control lists.
    ///
    /// # Errors
    /// Any other reason why the child cannot start (no such folder, no right to change accounts).
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

    /// Makes the account the owner of one file or folder (not of a symlink's target). Does nothing unless this process is root.
    pub fn give(&self, path: &Path) -> Result<(), Error> {
        if self.switch {
            std::os::unix::fs::lchown(path, Some(self.uid), Some(self.gid))
                .map_err(Error::io("cannot give to the database's account:", path))?;
        }
        Ok(())
    }
}

/// The account when root starts the database: an existing database keeps its owner, a new one gets the first account of
/// [`FOR_ROOT`] that exists. The flag is set when other programs may share the account and could read the database, but only
/// for a new database, whose account can still be chosen better. `None` when no account exists; root itself never counts.
fn for_root(owner: Option<Account>, known: impl Fn(&str) -> Option<Account>) -> Option<(Account, bool)> {
    if let Some(owner) = owner.filter(|owner| owner.uid != 0) {
        return Some((owner, false));
    }
    let account = FOR_ROOT.into_iter().filter_map(known).find(|account| account.uid != 0)?;
    let shared = account.name != OWN;
    Some((account, shared))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn account(name: &str, uid: u32) -> Account {
        Account { name: name.to_owned(), uid, gid: uid, switch: true }
    }

    /// The choice on a machine with these accounts.
    fn choice(owner: Option<Account>, there: &[(&str, u32)]) -> Option<(String, bool)> {
        let known = |name: &str| there.iter().find(|(n, _)| *n == name).map(|(n, uid)| account(n, *uid));
        for_root(owner, known).map(|(account, shared)| (account.name, shared))
    }

    #[test]
    fn root_takes_the_account_of_its_own_before_those_that_others_share() {
        let all = [("nyala", 990), ("postgres", 101), ("nobody", 65534)];
        assert_eq!(choice(None, &all), Some(("nyala".to_owned(), false)));
        assert_eq!(choice(None, &all[1..]), Some(("postgres".to_owned(), true)));
        assert_eq!(choice(None, &all[2..]), Some(("nobody".to_owned(), true)));
        assert_eq!(choice(None, &[]), None);
        assert_eq!(
            choice(None, &[("nyala", 0), ("nobody", 65534)]),
            Some(("nobody".to_owned(), true)),
            "never root by another name"
        );
    }

    #[test]
    fn what_is_there_keeps_its_owner() {
        let all = [("nyala", 990), ("postgres", 101)];
        assert_eq!(choice(Some(account("postgres", 101)), &all), Some(("postgres".to_owned(), false)));
        assert_eq!(choice(Some(account("1234", 1234)), &[]), Some(("1234".to_owned(), false)));
        assert_eq!(choice(Some(account("root", 0)), &all), Some(("nyala".to_owned(), false)), "root restored it from a backup");
    }
}
