//! Committed data survives every kind of end, and no process outlives its owner.

use std::{fs, path::Path, process::Command, thread, time::Duration};

use embedded_postgres::{Error, Postgres};
use nix::{
    sys::signal::{Signal, kill},
    unistd::{Pid, getpgid},
};

use crate::support::{LIMIT, Owner, Temp, become_account, is_root, query, settings, try_query, wait_until};

const MAKE_ROW: &str = "create table kept (n int); insert into kept values (7)";
const READ_ROW: &str = "select n from kept";

fn sigkill(pid: i32) {
    kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
}

fn runs(pid: i32) -> bool {
    // A zombie has ended; its parent has not reaped it yet.
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn a_second_start_finds_what_the_first_committed() {
    let temp = Temp::new();
    let first = Postgres::start(&temp.settings()).unwrap();
    query(&first, MAKE_ROW);
    assert_eq!(query(&first, "show fsync"), ["on"]);
    assert_eq!(query(&first, "show synchronous_commit"), ["on"]);
    assert_eq!(query(&first, "show listen_addresses"), [""]);
    assert_eq!(query(&first, "select current_user"), ["nyala"]);
    let pid = first.pid();
    first.stop();
    assert!(!runs(pid));

    let second = Postgres::start(&temp.settings()).unwrap();
    assert_ne!(second.pid(), pid);
    assert_eq!(query(&second, READ_ROW), ["7"]);
}

#[test]
fn a_fast_shutdown_ends_open_connections() {
    let temp = Temp::new();
    let postgres = Postgres::start(&temp.settings()).unwrap();
    let socket_dir = postgres.socket_dir().to_owned();
    let sleeper = thread::spawn(move || try_query(&socket_dir, "select pg_sleep(600)"));
    wait_until("the sleeper sleeps", || {
        query(&postgres, "select count(*) from pg_stat_activity where query like 'select pg_sleep%'") == ["1"]
    });
    postgres.stop();
    assert!(sleeper.join().unwrap().is_err());
}

#[test]
fn after_sigkill_of_postgresql_its_owner_notices_and_restarts_it() {
    let temp = Temp::new();
    let postgres = Postgres::start(&temp.settings()).unwrap();
    query(&postgres, MAKE_ROW);
    assert!(!postgres.has_exited());
    let (socket_dir, pid) = (postgres.socket_dir().to_owned(), postgres.pid());
    sigkill(pid);
    assert!(postgres.wait_for_exit(LIMIT));
    assert!(postgres.has_exited());

    postgres.restart().unwrap();
    assert!(!postgres.has_exited());
    assert_ne!(postgres.pid(), pid);
    assert_eq!(postgres.socket_dir(), socket_dir);
    assert_eq!(query(&postgres, READ_ROW), ["7"]);

    let running = postgres.pid();
    postgres.restart().unwrap();
    assert_eq!(postgres.pid(), running, "a running one is left alone");
    let user = Postgres::attach_or_start(&temp.settings()).unwrap();
    assert_eq!(user.pid(), running, "others learn of the new process");
}

#[test]
fn a_restart_at_the_first_lost_connection_finds_postgresql_dead() {
    let temp = Temp::new();
    let postgres = Postgres::start(&temp.settings()).unwrap();
    query(&postgres, MAKE_ROW);
    for _ in 0..5 {
        let pid = postgres.pid();
        let socket_dir = postgres.socket_dir().to_owned();
        let sleeper = thread::spawn(move || try_query(&socket_dir, "select pg_sleep(600)"));
        wait_until("the sleeper sleeps", || {
            query(&postgres, "select count(*) from pg_stat_activity where query like 'select pg_sleep%'") == ["1"]
        });
        sigkill(pid);
        assert!(sleeper.join().unwrap().is_err());
        postgres.restart().unwrap();
        assert_ne!(postgres.pid(), pid);
        assert_eq!(query(&postgres, READ_ROW), ["7"]);
    }
}

#[test]
fn after_sigkill_of_the_owner_postgresql_ends_by_itself() {
    let temp = Temp::new();
    let mut owner = Owner::start(&temp.0, &["--exclusive"]);
    query(&Postgres::attach_or_start(&temp.settings()).unwrap(), MAKE_ROW);
    owner.kill();
    wait_until("PostgreSQL has followed its owner", || !runs(owner.postmaster));
    let next = Postgres::start(&temp.settings()).unwrap();
    assert_eq!(query(&next, READ_ROW), ["7"]);
}

#[test]
fn a_start_right_after_sigkill_of_the_owner_waits_for_the_orphan() {
    let temp = Temp::new();
    for round in 0..3 {
        let mut owner = Owner::start(&temp.0, &[]);
        let user = Postgres::attach_or_start(&temp.settings()).unwrap();
        query(&user, &format!("create table round_{round} (n int)"));
        drop(user);
        owner.kill();
        let next = Postgres::start(&temp.settings()).unwrap();
        assert!(next.is_owner());
        assert_eq!(query(&next, "select count(*) from pg_tables where tablename like 'round%'"), [(round + 1).to_string()]);
    }
}

#[test]
fn after_sigkill_of_both_the_next_start_recovers() {
    let temp = Temp::new();
    let mut owner = Owner::start(&temp.0, &[]);
    query(&Postgres::attach_or_start(&temp.settings()).unwrap(), MAKE_ROW);
    sigkill(owner.postmaster);
    owner.kill();
    let next = Postgres::start(&temp.settings()).unwrap();
    assert_eq!(query(&next, READ_ROW), ["7"]);
}

#[test]
fn it_survives_the_thread_that_started_it() {
    let temp = Temp::new();
    let settings = temp.settings();
    let postgres = thread::spawn(move || Postgres::start(&settings).unwrap()).join().unwrap();
    assert!(!postgres.wait_for_exit(Duration::from_millis(200)));
    assert_eq!(query(&postgres, "select 1"), ["1"]);
}

#[test]
fn ctrl_c_reaches_the_server_alone() {
    let temp = Temp::new();
    let postgres = Postgres::start(&temp.settings()).unwrap();
    let group = getpgid(Some(Pid::from_raw(postgres.pid()))).unwrap();
    assert_eq!(group.as_raw(), postgres.pid());
    assert_ne!(group, getpgid(None).unwrap());
}

#[test]
fn a_stale_pid_file_with_the_id_of_a_running_process_is_no_obstacle() {
    let temp = Temp::new();
    let postgres = Postgres::start(&temp.settings()).unwrap();
    query(&postgres, MAKE_ROW);
    let file = temp.0.join("postgres/cluster/postmaster.pid");
    let text = fs::read_to_string(&file).unwrap();
    let old = postgres.pid();
    sigkill(old);
    assert!(postgres.wait_for_exit(LIMIT));
    drop(postgres);

    // A process of the same account now has the id that the file names.
    let mut command = Command::new("sleep");
    command.arg("600");
    if is_root() {
        become_account(&mut command, "postgres");
    }
    let mut other = command.spawn().unwrap();
    fs::write(&file, text.replacen(&old.to_string(), &other.id().to_string(), 1)).unwrap();
    let next = Postgres::start(&temp.settings());
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(query(&next.unwrap(), READ_ROW), ["7"]);
}

#[test]
fn an_interrupted_first_start_is_begun_again() {
    let temp = Temp::new();
    Postgres::start(&temp.settings()).unwrap().stop();
    let base = temp.0.join("postgres");
    fs::rename(base.join("cluster"), base.join("cluster.new")).unwrap();
    fs::remove_file(base.join("cluster.new/global/pg_control")).unwrap();
    let postgres = Postgres::start(&temp.settings()).unwrap();
    assert_eq!(query(&postgres, "select 1"), ["1"]);
    assert!(!base.join("cluster.new").exists());
}

#[test]
fn a_failed_start_reports_the_output_of_postgresql() {
    let temp = Temp::new();
    let mut settings = settings(Path::new(&temp.0));
    settings.extra_args = vec!["-c".to_owned(), "shared_buffers=nonsense".to_owned()];
    let error = Postgres::start(&settings).unwrap_err();
    assert!(matches!(error, Error::Exited { .. }), "{error}");
    assert!(error.to_string().contains("shared_buffers"), "{error}");
    // No process is left: the next start has the folder to itself.
    Postgres::start(&temp.settings()).unwrap();
}
