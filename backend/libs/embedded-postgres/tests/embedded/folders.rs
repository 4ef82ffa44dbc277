//! Folder of the database: which one it gets, which account owns it, and what is refused.

use std::{
    fs::{self, DirBuilder},
    os::unix::fs::{DirBuilderExt, MetadataExt, chown},
    path::Path,
    process::Command,
};

use embedded_postgres::{Error, Postgres, Settings};

use crate::support::{Temp, become_account, is_root, mode, query, settings, with_postgres};

/// Copies in another process. A file that this process has open for writing while another thread forks cannot be run.
fn copy_program(to: &Path) {
    assert!(Command::new("cp").arg(env!("CARGO_BIN_EXE_with-postgres")).arg(to).status().unwrap().success());
}

fn uid_of_process(pid: i32) -> u32 {
    fs::metadata(format!("/proc/{pid}")).unwrap().uid()
}

#[test]
fn a_closed_folder_with_other_files_keeps_them_private() {
    let temp = Temp::new();
    fs::write(temp.0.join("secrets.toml"), "key").unwrap();
    let postgres = Postgres::start(&temp.settings()).unwrap();
    assert_eq!(query(&postgres, "select 1"), ["1"]);
    assert_eq!(fs::read_to_string(temp.0.join("secrets.toml")).unwrap(), "key");
    assert_eq!(mode(&temp.0) & 0o066, 0, "nobody else may list or write it");
    assert_eq!(mode(&temp.0) & 0o001, 0, "and only the one account may pass");
    assert_eq!(mode(&temp.0.join("postgres")), 0o700);
    assert_eq!(mode(postgres.socket_dir()), 0o700);
    assert_eq!(postgres.data_dir(), temp.0.canonicalize().unwrap());
    assert!(!postgres.has_moved());
    assert_ne!(uid_of_process(postgres.pid()), 0);
}

#[test]
fn a_new_folder_is_made_with_its_parents() {
    let temp = Temp::new();
    let data = temp.0.join("not/there/yet");
    let postgres = Postgres::start(&settings(&data)).unwrap();
    assert_eq!(postgres.data_dir(), data.canonicalize().unwrap());
    assert_eq!(query(&postgres, "select 1"), ["1"]);
    assert_eq!(mode(&temp.0) & 0o067, 0, "a private folder on the way stays closed to others");
}

#[test]
fn a_long_or_odd_path_gets_its_socket_at_a_short_place() {
    let temp = Temp::new();
    for name in ["x".repeat(120), "ruang cuci, lantai 2".to_owned()] {
        let data = temp.0.join(name);
        let postgres = Postgres::start(&settings(&data)).unwrap();
        let socket_dir = postgres.socket_dir().to_owned();
        assert!(!socket_dir.starts_with(&temp.0));
        assert!(socket_dir.join(".s.PGSQL.5432").as_os_str().len() < 107);
        assert_eq!(mode(&socket_dir), 0o700);
        assert_eq!(query(&postgres, "select 1"), ["1"]);
        let user = Postgres::attach_or_start(&settings(&data)).unwrap();
        assert_eq!(user.socket_dir(), socket_dir);
        user.stop();
        postgres.stop();
        assert!(!socket_dir.exists());
    }
}

#[test]
fn nothing_is_made_unless_it_may_be() {
    let temp = Temp::new();
    let not_there = temp.0.join("not/there/yet");
    for folder in [temp.0.clone(), not_there.clone(), temp.0.join("file/below")] {
        fs::write(temp.0.join("file"), "x").unwrap();
        let error = Postgres::attach_or_start(&Settings { create: false, ..settings(&folder) }).unwrap_err();
        assert!(matches!(error, Error::NoDatabase { .. }), "{error}");
        assert!(error.to_string().contains(folder.to_str().unwrap()), "{error}");
    }
    let printed = Command::new(env!("CARGO_BIN_EXE_with-postgres")).arg(&temp.0).arg("true").output().unwrap();
    let error = String::from_utf8_lossy(&printed.stderr);
    assert!(!printed.status.success() && error.contains(temp.0.to_str().unwrap()) && error.contains("--create"), "{error}");
    let left: Vec<_> = fs::read_dir(&temp.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["file"]);

    Postgres::start(&temp.settings()).unwrap().stop();
    let there = Postgres::attach_or_start(&Settings { create: false, ..temp.settings() }).unwrap();
    assert_eq!(query(&there, "select 1"), ["1"]);
    there.stop();
    // An interrupted first start leaves a folder without a database.
    fs::remove_dir_all(temp.0.join("postgres/cluster")).unwrap();
    let error = Postgres::attach_or_start(&Settings { create: false, ..temp.settings() }).unwrap_err();
    assert!(matches!(error, Error::NoDatabase { .. }), "{error}");
    assert!(!temp.0.join("postgres/cluster").exists());
}

#[test]
fn a_cluster_of_another_version_is_refused_with_folder_version_and_cure() {
    let temp = Temp::new();
    Postgres::start(&temp.settings()).unwrap().stop();
    let cluster = temp.0.join("postgres/cluster");
    let own = fs::read_to_string(cluster.join("PG_VERSION")).unwrap();
    for (version, cure) in [("99", "Install PostgreSQL 99"), ("13", "pg_upgrade"), ("9.6", "pg_upgrade")] {
        fs::write(cluster.join("PG_VERSION"), format!("{version}\n")).unwrap();
        let error = Postgres::start(&temp.settings()).unwrap_err();
        assert!(matches!(error, Error::OtherMajor { .. } | Error::TooOld { .. }), "{error}");
        for part in [cluster.to_str().unwrap(), version, cure] {
            assert!(error.to_string().contains(part), "{part} is missing: {error}");
        }
    }
    fs::write(cluster.join("PG_VERSION"), own).unwrap();
    assert_eq!(query(&Postgres::start(&temp.settings()).unwrap(), "select 1"), ["1"], "it was not touched");
}

#[test]
fn nothing_is_made_beside_a_strangers_cluster() {
    for place in ["", "pgdata", "pg/15"] {
        let temp = Temp::new();
        let folder = temp.0.join(place);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("PG_VERSION"), "15\n").unwrap();
        let error = Postgres::start(&temp.settings()).unwrap_err();
        assert!(matches!(error, Error::Foreign { .. }), "{error}");
        for part in [folder.to_str().unwrap().trim_end_matches('/'), "PostgreSQL 15", "data.dir", "DATABASE_URL"] {
            assert!(error.to_string().contains(part), "{part} is missing: {error}");
        }
        assert!(!temp.0.join("postgres/cluster").exists());
    }
}

#[test]
fn a_normal_user_runs_it_as_himself() {
    let temp = Temp::new();
    let output = if is_root() {
        // As the account `nobody`, in a folder that it owns, with a copy of the program that it can reach.
        let (program, data) = (temp.0.join("with-postgres"), temp.0.join("data"));
        copy_program(&program);
        fs::create_dir(&data).unwrap();
        let nobody = nix::unistd::User::from_name("nobody").unwrap().unwrap();
        for path in [&temp.0, &data] {
            chown(path, Some(nobody.uid.as_raw()), Some(nobody.gid.as_raw())).unwrap();
        }
        let mut command = Command::new(program);
        become_account(&mut command, "nobody");
        command
            .current_dir("/")
            .arg("--create")
            .arg(&data)
            .args(["stat", "-c", "%U", "--"])
            .arg(data.join("postgres/cluster"))
            .output()
            .unwrap()
    } else {
        with_postgres(&[], &temp.0).args(["stat", "-c", "%U"]).arg(temp.0.join("postgres/cluster")).output().unwrap()
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    if is_root() {
        assert_eq!(String::from_utf8_lossy(&output.stdout), "nobody\n");
        let postgres = Postgres::start(&settings(&temp.0.join("data"))).unwrap();
        let nobody = nix::unistd::User::from_name("nobody").unwrap().unwrap();
        assert_eq!(uid_of_process(postgres.pid()), nobody.uid.as_raw(), "root keeps the owner of a cluster");
    }
}

// The following tests are about root: only root can get into these situations.

#[test]
fn a_normal_user_gets_an_error_that_names_the_owner_of_the_folder() {
    if !is_root() {
        return;
    }
    let temp = Temp::new();
    Postgres::start(&temp.settings()).unwrap().stop();
    let opened = Temp::new();
    let program = opened.0.join("with-postgres");
    copy_program(&program);
    let nobody = nix::unistd::User::from_name("nobody").unwrap().unwrap();
    chown(&opened.0, Some(nobody.uid.as_raw()), None).unwrap();
    let mut command = Command::new(program);
    become_account(&mut command, "nobody");
    let output = command.current_dir("/").arg(&temp.0).arg("true").output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(error.contains("belongs to `root`") && error.contains(temp.0.to_str().unwrap()), "{error}");
}

#[test]
fn a_data_folder_of_an_account_gets_a_database_of_that_account() {
    if !is_root() {
        return;
    }
    let temp = Temp::new();
    let nobody = nix::unistd::User::from_name("nobody").unwrap().unwrap();
    chown(&temp.0, Some(nobody.uid.as_raw()), Some(nobody.gid.as_raw())).unwrap();
    let postgres = Postgres::start(&temp.settings()).unwrap();
    assert_eq!(uid_of_process(postgres.pid()), nobody.uid.as_raw());
    assert_eq!(query(&postgres, "select 1"), ["1"]);
}

#[test]
fn a_cluster_restored_by_root_gets_its_account_as_owner() {
    if !is_root() {
        return;
    }
    let temp = Temp::new();
    let postgres = Postgres::start(&temp.settings()).unwrap();
    query(&postgres, "create table kept (n int); insert into kept values (7)");
    postgres.stop();
    let cluster = temp.0.join("postgres/cluster");
    let status = Command::new("sh").args(["-c", r#"chown -R 0:0 "$1" && chmod 755 "$1""#, "sh"]).arg(&cluster).status().unwrap();
    assert!(status.success());
    assert_eq!(query(&Postgres::start(&temp.settings()).unwrap(), "select n from kept"), ["7"]);
    assert_eq!(mode(&cluster), 0o700);
}

#[test]
fn only_the_default_folder_moves_when_the_checkout_is_closed() {
    if !is_root() {
        return;
    }
    // A checkout in a folder that is closed to the database's account.
    let temp = Temp::new();
    let home = temp.0.join("home");
    DirBuilder::new().mode(0o700).create(&home).unwrap();
    let nobody = nix::unistd::User::from_name("nobody").unwrap().unwrap();
    chown(&temp.0, Some(nobody.uid.as_raw()), None).unwrap();
    let named = settings(&home.join("data"));
    let error = Postgres::start(&named).unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    assert!(error.to_string().contains(&format!("chmod o+x {}", temp.0.display())), "{error}");

    let mut default = named;
    default.data_dir_is_default = true;
    let postgres = Postgres::start(&default).unwrap();
    let moved = Moved(postgres.data_dir().to_owned());
    assert!(postgres.has_moved());
    assert!(moved.0.starts_with("/var/lib/nyala"), "{}", moved.0.display());
    query(&postgres, "create table kept (n int); insert into kept values (7)");
    postgres.stop();
    assert_eq!(mode(&temp.0), 0o700, "the way was not opened");
    assert_eq!(query(&Postgres::start(&default).unwrap(), "select n from kept"), ["7"], "it is found again");
}

/// Removes the moved data folder, also when the test fails.
struct Moved(std::path::PathBuf);

impl Drop for Moved {
    fn drop(&mut self) {
        if self.0.starts_with(Path::new("/var/lib/nyala")) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}
