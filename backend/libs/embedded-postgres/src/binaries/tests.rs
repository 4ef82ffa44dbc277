use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{Binaries, System, parse_version};
use crate::{account::Account, error::Error};

/// A machine whose `postgres` programs are scripts that only know their version.
struct Machine(PathBuf);

impl Machine {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("nyala-binaries-{}-{name}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    /// Writes the file in another process. A file that this process has open for writing while another thread forks cannot be run.
    fn install(&self, place: &str, version: &str) -> PathBuf {
        let dir = self.0.join(place);
        let script = r#"mkdir -p "$1" && cd "$1" && printf '#!/bin/sh\necho "postgres (PostgreSQL) %s"\n' "$2" > postgres && cp postgres initdb && chmod 755 postgres initdb"#;
        assert!(Command::new("sh").args(["-c", script, "sh"]).arg(&dir).arg(version).status().unwrap().success());
        dir.canonicalize().unwrap()
    }

    fn choose(&self, existing: Option<&str>) -> Result<Binaries, Error> {
        let system = System { versions: self.0.join("versions"), path: self.0.join("path").into() };
        let me = Account { name: "me".to_owned(), uid: 0, gid: 0, switch: false };
        let cluster = Path::new("/data/postgres/cluster");
        Binaries::choose_from(&system, Some(&self.0.join("npm")), &me, existing.map(|version| (cluster, version)))
    }

    fn npm_place(&self) -> String {
        format!("npm/{}/native/bin", crate::platform::platform().unwrap())
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn versions_are_read_and_compared_by_number() {
    assert_eq!(parse_version("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)\n"), [15, 14]);
    assert_eq!(parse_version("postgres (PostgreSQL) 18beta1"), [18]);
    assert!(parse_version("postgres (PostgreSQL) 18.10") > parse_version("postgres (PostgreSQL) 18.9"));
    assert!(parse_version("no number here").is_empty());
}

#[test]
fn a_new_cluster_gets_the_newest_of_the_system() {
    let machine = Machine::new("newest");
    machine.install("versions/9.6/bin", "9.6.24");
    machine.install("versions/15/bin", "15.14");
    let newest = machine.install("path", "17.2");
    machine.install(&machine.npm_place(), "18.4");
    assert_eq!(machine.choose(None).unwrap().dir, newest);
}

#[test]
fn an_existing_cluster_gets_its_own_version_wherever_that_is() {
    let machine = Machine::new("existing");
    let debian = machine.install("versions/15/bin", "15.14");
    machine.install("path", "17.2");
    let npm = machine.install(&machine.npm_place(), "18.4");
    assert_eq!(machine.choose(Some("15")).unwrap().dir, debian);
    assert_eq!(machine.choose(Some("18")).unwrap().dir, npm);
    let error = machine.choose(Some("16")).unwrap_err().to_string();
    for part in ["/data/postgres/cluster", "PostgreSQL 16", "apt-get install postgresql-16", "15 in ", "17 in ", "18 in "] {
        assert!(error.contains(part), "{part} is missing: {error}");
    }
}

#[test]
fn without_the_system_npm_serves_and_gets_its_symlinks() {
    let machine = Machine::new("npm");
    machine.install("versions/14/bin", "14.9");
    let bin = machine.install(&machine.npm_place(), "18.4");
    let native = bin.parent().unwrap();
    fs::create_dir(native.join("lib")).unwrap();
    fs::write(native.join("lib/libpq.so.5.18"), "library").unwrap();
    let list = r#"[{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"}]"#;
    fs::write(native.join("pg-symlinks.json"), list).unwrap();
    // Twice: the second time, the symlinks already exist.
    for _ in 0..2 {
        assert_eq!(machine.choose(None).unwrap().dir, bin);
        assert_eq!(fs::read_link(native.join("lib/libpq.so.5")).unwrap(), Path::new("libpq.so.5.18"));
    }
    fs::write(native.join("pg-symlinks.json"), r#"[{"source":"../../x","target":"native/y"}]"#).unwrap();
    assert!(machine.choose(None).unwrap_err().to_string().contains("leaves the package"));
}

#[test]
fn without_any_the_choices_are_listed() {
    let machine = Machine::new("none");
    machine.install("versions/13/bin", "13.1");
    let error = machine.choose(None).unwrap_err().to_string();
    for part in [
        "PostgreSQL 15 or newer",
        "is version 13",
        "apt-get install postgresql",
        "@embedded-postgres/linux-",
        "make postgres",
        "DATABASE_URL",
    ] {
        assert!(error.contains(part), "{part} is missing: {error}");
    }
    assert!(matches!(machine.choose(Some("12")).unwrap_err(), Error::TooOld { .. }));
}
