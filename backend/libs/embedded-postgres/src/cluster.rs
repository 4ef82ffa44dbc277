//! Cluster on disk: finding it, creating it, and waiting until no process of an earlier run works in it.

use std::{
    fs::{self, File, Permissions},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::{
    SUPERUSER,
    binaries::Binaries,
    child::Child,
    error::Error,
    layout::{dir, version},
    place::Place,
};

/// An orphan received a fast shutdown when its owner died. After this time it receives an immediate one.
const ORPHAN_FAST: Duration = Duration::from_secs(20);
/// Time after which the start gives up.
const ORPHAN_LIMIT: Duration = Duration::from_secs(35);
/// Maximum number of entries of an unknown data folder that are searched for another cluster.
const SEARCH_ENTRIES: usize = 4096;
/// initdb takes half a second, and on a slow disk as long as the disk needs to sync some 40 MB.
const INIT_LIMIT: Duration = Duration::from_secs(120);

/// Refuses a data folder with a cluster that this program did not create, in the folder or up to two folders deep.
///
/// # Errors
/// [`Error::Foreign`] naming that cluster's folder and version.
pub(crate) fn refuse_foreign(place: &Place) -> Result<(), Error> {
    let mut left = SEARCH_ENTRIES;
    let mut folders = vec![(place.data_dir.clone(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        if let Some(version) = version(&folder) {
            return Err(Error::Foreign { folder, version });
        }
        if depth == 2 {
            continue;
        }
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            left = left.saturating_sub(1);
            if left > 0 && entry.path() != place.base && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push((entry.path(), depth + 1));
            }
        }
    }
    Ok(())
}

/// Creates the cluster under another name and renames it once it is complete and on disk. So a crash leaves no cluster or a
/// complete one.
///
/// # Errors
/// [`Error::Initdb`] with initdb's output, or [`Error::Io`].
pub(crate) fn init(place: &Place, binaries: &Binaries) -> Result<(), Error> {
    let (cluster, unfinished) = (dir(&place.base), unfinished(&place.base));
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).map_err(Error::io("cannot remove the unfinished database", &unfinished))?;
    }
    let mut command = place.account.command(&binaries.program("initdb"));
    // The C locale: an index never depends on the collations of the machine's libc, which change between its versions.
    // `trust`: only root and the account can pass the 0700 folder around the socket, and both own the files anyway.
    command.arg("-D").arg(&unfinished).args([
        "-U",
        SUPERUSER,
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C",
        "--data-checksums",
    ]);
    // SIGKILL: after a milder signal initdb would clean up, perhaps while the next start already creates a cluster.
    let child = Child::start(command, Signal::SIGKILL)?;
    if !child.wait(INIT_LIMIT) {
        child.signal(Signal::SIGKILL);
        child.wait(INIT_LIMIT);
    }
    if !child.status().is_some_and(|status| status.success()) {
        return Err(Error::Initdb { folder: cluster, log: child.log() });
    }
    fs::rename(&unfinished, &cluster).map_err(Error::io("cannot rename to its final name:", &unfinished))?;
    File::open(&place.base).and_then(|base| base.sync_all()).map_err(Error::io("cannot write to disk:", &place.base))
}

fn unfinished(base: &Path) -> PathBuf {
    base.join("cluster.new")
}

/// PostgreSQL wants its folder closed to others; a restored backup may have lost that.
pub(crate) fn close(cluster: &Path) -> Result<(), Error> {
    fs::set_permissions(cluster, Permissions::from_mode(0o700)).map_err(Error::io("cannot close to others", cluster))
}

/// Waits until no process of an earlier run is left: an orphan that still shuts down after its owner was killed, or the
/// helpers of a killed postmaster. Call with the lock held, which ensures that no running process owns them.
///
/// # Errors
/// [`Error::StillRunning`] with the process that did not end in [`ORPHAN_LIMIT`].
pub(crate) fn wait_for_orphans(base: &Path) -> Result<(), Error> {
    let started = Instant::now();
    let mut hurried = false;
    while let Some(&pid) = processes(base).first() {
        if started.elapsed() > ORPHAN_LIMIT {
            return Err(Error::StillRunning { folder: dir(base), pid, waited_s: ORPHAN_LIMIT.as_secs() });
        }
        if !hurried && started.elapsed() > ORPHAN_FAST {
            hurried = true;
            for pid in processes(base) {
                let _ = kill(Pid::from_raw(pid), Signal::SIGQUIT);
            }
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// The running PostgreSQL processes of this cluster, found by their working folder: unlike a pid file, that is never stale.
fn processes(base: &Path) -> Vec<i32> {
    let folders = [dir(base), unfinished(base)];
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| folders.contains(&cwd)))
        .filter(|entry| fs::read_to_string(entry.path().join("comm")).is_ok_and(|name| name.starts_with("postgres")))
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Removes stale lock files. PostgreSQL takes a lock file for that of a running server if a process with its id exists. That id may
/// be another program of the same account (after a reboot, in a new container), or a zombie. Call after [`wait_for_orphans`], which
/// ensures that no server runs.
///
/// # Errors
/// [`Error::Io`] when a stale file cannot be removed.
pub(crate) fn forget_stale(cluster: &Path, socket_dir: &Path) -> Result<(), Error> {
    for file in [cluster.join("postmaster.pid"), socket_dir.join(crate::SOCKET_LOCK)] {
        let pid = fs::read_to_string(&file).ok().and_then(|text| text.lines().next()?.trim().parse().ok());
        if pid.is_some_and(|pid: i32| pid > 0 && kill(Pid::from_raw(pid), None).is_ok()) {
            fs::remove_file(&file).map_err(Error::io("cannot remove the stale", file))?;
        }
    }
    Ok(())
}

/// True when the postmaster `pid` accepts connections, by lines 1 and 8 of its file, as `pg_ctl` checks it.
pub(crate) fn is_ready(cluster: &Path, pid: i32) -> bool {
    let text = fs::read_to_string(cluster.join("postmaster.pid")).unwrap_or_default();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.first().and_then(|line| line.parse().ok()) == Some(pid) && lines.get(7) == Some(&"ready")
}
