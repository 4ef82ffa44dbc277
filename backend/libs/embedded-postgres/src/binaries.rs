//! Search for `postgres` and `initdb`, and for their version.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use crate::{Settings, account::Account, error::Error, npm};

/// A folder with `postgres` and `initdb` of one major version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Binaries {
    pub dir: PathBuf,
    pub major: u32,
    version: Vec<u32>,
}

/// Where the system keeps its binaries.
#[derive(Debug)]
struct System {
    /// Debian's folder with one folder per major version.
    versions: PathBuf,
    path: OsString,
}

impl Binaries {
    /// The binaries for the cluster made by `existing`, or for a new one: the newest of the system, else of npm.
    ///
    /// # Errors
    /// [`Error::OtherMajor`] or [`Error::TooOld`] when no binaries here can run the existing cluster, [`Error::NoBinaries`] when
    /// none can make a new one.
    pub fn choose(settings: &Settings, account: &Account, existing: Option<(&Path, &str)>) -> Result<Self, Error> {
        let system = System { versions: "/usr/lib/postgresql".into(), path: std::env::var_os("PATH").unwrap_or_default() };
        Self::choose_from(&system, settings.npm_dir.as_deref(), account, existing)
    }

    fn choose_from(
        system: &System,
        npm_dir: Option<&Path>,
        account: &Account,
        existing: Option<(&Path, &str)>,
    ) -> Result<Self, Error> {
        let mut rejected = Vec::new();
        let mut found = in_system(system, account, &mut rejected);
        let usable = |wanted: Option<u32>, found: &[Self]| {
            found
                .iter()
                .filter(|b| b.major >= crate::OLDEST_MAJOR && wanted.is_none_or(|w| w == b.major))
                .max_by_key(|b| b.version.clone())
                .cloned()
        };
        let wanted = match existing {
            None => None,
            Some((folder, version)) => match version.parse::<u32>() {
                Ok(major) if major >= crate::OLDEST_MAJOR => Some(major),
                _ => return Err(Error::TooOld { folder: folder.to_owned(), version: version.to_owned() }),
            },
        };
        if let Some(binaries) = usable(wanted, &found) {
            return Ok(binaries);
        }
        if let Some(dir) = npm_dir.map(|dir| npm::bin_dir(dir, account)).transpose()?.flatten() {
            match inspect(&dir, account) {
                Ok(binaries) => found.push(binaries),
                Err(why) => rejected.push(why),
            }
        }
        usable(wanted, &found).ok_or_else(|| match existing {
            Some((folder, version)) => {
                Error::OtherMajor { folder: folder.to_owned(), version: version.to_owned(), found: list(&found) }
            }
            None => {
                rejected.extend(found.iter().map(|b| format!("{} is version {}", b.dir.display(), b.major)));
                Error::NoBinaries { npm_dir: npm_dir.map(Path::to_owned), rejected }
            }
        })
    }

    pub fn program(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}

fn list(found: &[Binaries]) -> String {
    if found.is_empty() {
        return "none".to_owned();
    }
    found.iter().map(|b| format!("{} in {}", b.major, b.dir.display())).collect::<Vec<_>>().join(", ")
}

/// Debian's `/usr/lib/postgresql/*/bin`, then the folders of PATH.
fn in_system(system: &System, account: &Account, rejected: &mut Vec<String>) -> Vec<Binaries> {
    let debian = fs::read_dir(&system.versions).into_iter().flatten().flatten().map(|entry| entry.path().join("bin"));
    let mut seen = Vec::new();
    let mut found = Vec::new();
    for dir in debian.chain(std::env::split_paths(&system.path)) {
        // The real folder, because the server looks for its libraries and texts beside it.
        let Ok(postgres) = dir.join("postgres").canonicalize() else { continue };
        let Some(dir) = postgres.parent().map(Path::to_owned) else { continue };
        if seen.contains(&dir) || !dir.join("initdb").is_file() {
            continue;
        }
        match inspect(&dir, account) {
            Ok(binaries) => found.push(binaries),
            Err(why) => rejected.push(why),
        }
        seen.push(dir);
    }
    found
}

/// Runs the binary for its version, as the account that will run it later: this also rejects a folder that the account cannot reach.
fn inspect(dir: &Path, account: &Account) -> Result<Binaries, String> {
    let output = account
        .command(&dir.join("postgres"))
        .arg("--version")
        .stderr(Stdio::null())
        .output()
        .map_err(|e| format!("{} does not run as `{}`: {e}", dir.join("postgres").display(), account.name))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = parse_version(&text);
    match version.first() {
        Some(&major) if output.status.success() => Ok(Binaries { dir: dir.to_owned(), major, version }),
        _ => Err(format!("{} --version fails as `{}`", dir.join("postgres").display(), account.name)),
    }
}

/// The numbers of `postgres (PostgreSQL) 15.14 (Debian …)`; `18beta1` counts as 18.
fn parse_version(text: &str) -> Vec<u32> {
    let word = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit())).unwrap_or_default();
    word.split('.')
        .map_while(|part| part.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok()))
        .collect()
}

#[cfg(test)]
mod tests;
