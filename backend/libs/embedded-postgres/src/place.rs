//! Folders of the database: where they are, which account owns them, and whether it can reach them.
//!
//! ```text
//! <data>/                 the server's data; if root keeps it closed, opened only for passing through
//!   postgres.lock         held by the process that runs the database, see `lock`
//!   postgres.users        held, shared, by every process that uses it
//!   postgres/   0700      owned by the database's account
//!     cluster/            PGDATA
//!     run/                the socket, when the path is short enough
//! ```

use std::{
    fs::{self, DirBuilder, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use nix::unistd::geteuid;

use crate::{
    Settings,
    account::{Account, OWN, home_of_root},
    error::Error,
    layout,
};

/// Folder for the default data folder when the account cannot reach the checkout, and for copies of binaries it cannot reach.
pub(crate) const SYSTEM_PLACE: &str = "/var/lib/nyala";

/// The prepared folders.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// Absolute, resolved; the server keeps its secrets here too.
    pub data_dir: PathBuf,
    pub base: PathBuf,
    pub account: Account,
    /// True when `data_dir` is not the folder of the settings.
    pub moved: bool,
}

impl Place {
    /// Finds, creates and opens the folders. Several processes may run this at once, and repeatedly.
    ///
    /// # Errors
    /// [`Error::NoDatabase`], [`Error::Unreachable`], [`Error::NotOurs`], [`Error::NoAccount`], or [`Error::Io`] naming the folder.
    pub fn prepare(settings: &Settings) -> Result<Self, Error> {
        let (wanted, system) = candidates(settings)?;
        let folder = settings.folder;
        let base = wanted.join(folder);
        let begun = is_begun(&base) || settings.data_dir_is_default && is_begun(&system.join(folder));
        if !settings.create && !begun {
            return Err(Error::NoDatabase { folder: wanted });
        }
        let (account, shared) = Account::choose(&base)?;
        if !account.switch {
            make_dirs(&wanted, 0o700)?;
            return Self::at(&wanted, folder, account, false);
        }
        let may_move = settings.data_dir_is_default && !layout::exists(&base);
        if may_move && (layout::exists(&system.join(folder)) || blocked_outside(&wanted, &account)?.is_some()) {
            let (account, shared) = Account::choose(&system.join(folder))?;
            warn_if_shared(shared, &account, &system.join(folder));
            tracing::warn!(
                "the account `{}` cannot enter {}: the data folder is {}",
                account.name,
                settings.data_dir.display(),
                system.display()
            );
            make_dirs(Path::new(SYSTEM_PLACE), 0o755)?;
            make_dirs(&system, 0o700)?;
            return Self::at(&system, folder, account, true);
        }
        warn_if_shared(shared, &account, &base);
        make_dirs(&wanted, 0o700)?;
        Self::at(&wanted, folder, account, false)
    }

    fn at(data_dir: &Path, folder: &str, account: Account, moved: bool) -> Result<Self, Error> {
        let data_dir = data_dir.canonicalize().map_err(Error::io("cannot resolve", data_dir))?;
        let base = data_dir.join(folder);
        if account.switch {
            make_searchable(&data_dir, &account, !moved)?;
        }
        make_dirs(&base, 0o700)?;
        // The search for orphans compares with a process's folder, which the kernel returns without symlinks.
        let base = base.canonicalize().map_err(Error::io("cannot resolve", &base))?;
        if account.switch {
            own(&base, &account)?;
            if let Some(blocked) = account.blocked_at(&base)? {
                return Err(Error::Unreachable { folder: base, blocked, account: account.name });
            }
        }
        Ok(Self { data_dir, base, account, moved })
    }
}

/// The named data folder, absolute, and the system place for it.
pub(crate) fn candidates(settings: &Settings) -> Result<(PathBuf, PathBuf), Error> {
    let wanted = std::path::absolute(&settings.data_dir).map_err(Error::io("cannot resolve", &settings.data_dir))?;
    let system = Path::new(SYSTEM_PLACE).join(name_for(&wanted));
    Ok((wanted, system))
}

/// Logs the warning once per database, when it is created: afterwards the database belongs to its account.
fn warn_if_shared(shared: bool, account: &Account, base: &Path) {
    if shared {
        tracing::warn!(
            "the new database belongs to the account `{}`, and other programs that run as it could read and change it. To give it \
             an account of its own, stop the server, run `useradd --system {OWN}` and `chown -R {OWN}: {}`, and start again",
            account.name,
            base.display()
        );
    }
}

/// Whether `base` exists: another server's first start may still be creating the database. A folder that cannot be examined also
/// counts, so that a later error names its owner.
fn is_begun(base: &Path) -> bool {
    let missing = |e: &io::Error| matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    !base.symlink_metadata().is_err_and(|e| missing(&e))
}

/// `mkdir -p`. The last folder gets `mode`, regardless of the umask, if it is created here.
pub(crate) fn make_dirs(dir: &Path, mode: u32) -> Result<(), Error> {
    if dir.is_dir() {
        return Ok(());
    }
    if let Some(parent) = dir.parent() {
        DirBuilder::new().recursive(true).mode(0o755).create(parent).map_err(Error::io("cannot make the folder", parent))?;
    }
    DirBuilder::new().recursive(true).mode(mode).create(dir).map_err(Error::io("cannot make the folder", dir))?;
    fs::set_permissions(dir, Permissions::from_mode(mode)).map_err(Error::io("cannot set the mode of", dir))
}

/// The first folder above `data_dir` that the account cannot enter. Missing folders do not count.
fn blocked_outside(data_dir: &Path, account: &Account) -> Result<Option<PathBuf>, Error> {
    let Some(there) = data_dir.ancestors().skip(1).find(|dir| dir.is_dir()) else { return Ok(None) };
    account.blocked_at(&there.canonicalize().map_err(Error::io("cannot resolve", there))?)
}

/// Lets the account pass through `data_dir`, and through private parent folders if the user named the folder. It allows only
/// passing, and never changes the home of root, a folder directly under `/`, or a folder that root does not own.
fn make_searchable(data_dir: &Path, account: &Account, named: bool) -> Result<(), Error> {
    // Each round opens one folder, so there are never more rounds than folders on the way.
    for _ in data_dir.ancestors() {
        let Some(blocked) = account.blocked_at(data_dir)? else { return Ok(()) };
        let meta = blocked.metadata().map_err(Error::io("cannot look at", &blocked))?;
        let private = meta.mode() & 0o077 == 0 && blocked.components().count() > 2 && home_of_root().as_deref() != Some(&blocked);
        if meta.uid() != geteuid().as_raw() || !(blocked == data_dir || named && private) {
            return Err(Error::Unreachable { folder: data_dir.to_owned(), blocked, account: account.name.clone() });
        }
        let mut mode = meta.mode() & 0o7777;
        if mode & 0o070 == 0 {
            // The group's bits were unused, so this admits only the one account and not all users.
            std::os::unix::fs::chown(&blocked, None, Some(account.gid))
                .map_err(Error::io("cannot change the group of", &blocked))?;
            mode |= 0o010;
        } else {
            mode |= 0o001;
        }
        fs::set_permissions(&blocked, Permissions::from_mode(mode))
            .map_err(Error::io("cannot open for the database's account", &blocked))?;
        tracing::info!("the account `{}` may now pass through {}", account.name, blocked.display());
    }
    Ok(())
}

/// Makes the account the owner of `base`, and of its whole content if root owned the cluster (restored from a backup, say).
fn own(base: &Path, account: &Account) -> Result<(), Error> {
    let cluster = layout::dir(base);
    if cluster.metadata().is_ok_and(|meta| meta.uid() == 0) {
        give_all(&cluster, account)?;
    }
    account.give(base)?;
    fs::set_permissions(base, Permissions::from_mode(0o700)).map_err(Error::io("cannot close to others", base))
}

fn give_all(path: &Path, account: &Account) -> Result<(), Error> {
    account.give(path)?;
    if path.symlink_metadata().map_err(Error::io("cannot look at", path))?.is_dir() {
        for entry in fs::read_dir(path).map_err(Error::io("cannot read", path))? {
            give_all(&entry.map_err(Error::io("cannot read", path))?.path(), account)?;
        }
    }
    Ok(())
}

/// The same name for the same checkout at every start: its last folder's name and a hash (FNV-1a) of the whole path.
fn name_for(data_dir: &Path) -> String {
    let bytes = data_dir.as_os_str().as_encoded_bytes();
    let hash =
        bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    let checkout = data_dir.parent().and_then(Path::file_name).map(|name| name.to_string_lossy()).unwrap_or_default();
    let readable: String = checkout.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(24).collect();
    format!("{readable}-{hash:016x}")
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use nix::unistd::User;
    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Level, Metadata, Subscriber};

    use super::*;

    /// Every warning that is logged.
    #[derive(Clone, Default)]
    struct Warnings(Arc<Mutex<Vec<String>>>);

    impl Visit for Warnings {
        fn record_debug(&mut self, _: &Field, value: &dyn std::fmt::Debug) {
            self.0.lock().unwrap().push(format!("{value:?}"));
        }
    }

    impl Subscriber for Warnings {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            *metadata.level() <= Level::WARN
        }
        fn event(&self, event: &Event<'_>) {
            event.record(&mut self.clone());
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    fn warned(work: impl FnOnce()) -> Vec<String> {
        let warnings = Warnings::default();
        tracing::subscriber::with_default(warnings.clone(), work);
        warnings.0.lock().unwrap().clone()
    }

    #[test]
    fn a_shared_account_is_reported_with_the_cure() {
        let account = Account { name: "postgres".to_owned(), uid: 101, gid: 104, switch: true };
        let logged = warned(|| warn_if_shared(true, &account, Path::new("/srv/laundry/postgres")));
        assert_eq!(logged.len(), 1, "{logged:?}");
        for part in ["the account `postgres`", "useradd --system nyala", "chown -R nyala: /srv/laundry/postgres"] {
            assert!(logged[0].contains(part), "{part} is missing: {logged:?}");
        }
        assert!(warned(|| warn_if_shared(false, &account, Path::new("/srv/laundry/postgres"))).is_empty());
    }

    #[test]
    fn only_a_new_database_of_root_in_a_shared_account_is_warned_of_and_once() {
        let data_dir = std::env::temp_dir().join(format!("nyala-place-{}", std::process::id()));
        let settings = Settings {
            data_dir: data_dir.clone(),
            data_dir_is_default: false,
            folder: crate::FOLDER,
            ready_within: crate::READY_LIMIT,
            create: true,
            npm_dir: None,
            max_connections: 20,
            extra_args: Vec::new(),
        };
        let shared = geteuid().is_root() && User::from_name(OWN).unwrap().is_none();
        for expected in [usize::from(shared), 0] {
            let logged = warned(|| drop(Place::prepare(&settings).unwrap()));
            assert_eq!(logged.len(), expected, "{logged:?}");
        }
        fs::remove_dir_all(data_dir).unwrap();
    }
}
