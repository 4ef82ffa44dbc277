//! One postmaster per folder, however many processes want it.

use std::{
    io::{Read, Write, pipe},
    os::unix::process::CommandExt,
    process::{Command, Stdio},
    sync::{Arc, Barrier},
    thread,
};

use embedded_postgres::{Error, Postgres};

use crate::support::{Owner, Temp, query, with_postgres};

#[test]
fn starts_at_once_end_in_one_postmaster() {
    let temp = Temp::new();
    let (begin, opened) = (Arc::new(Barrier::new(4)), Arc::new(Barrier::new(4)));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (settings, begin, opened) = (temp.settings(), Arc::clone(&begin), Arc::clone(&opened));
            thread::spawn(move || {
                begin.wait();
                let postgres = Postgres::attach_or_start(&settings).unwrap();
                let seen = (postgres.pid(), postgres.is_owner(), query(&postgres, "select 1"));
                opened.wait();
                seen
            })
        })
        .collect();
    let seen: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!(seen.iter().all(|(pid, _, row)| *pid == seen[0].0 && row == &["1"]), "{seen:?}");
    assert_eq!(seen.iter().filter(|(_, owner, _)| *owner).count(), 1);
}

#[test]
fn a_second_server_is_refused_with_the_id_of_the_first() {
    let temp = Temp::new();
    let _first = Postgres::start(&temp.settings()).unwrap();
    let error = Postgres::start(&temp.settings()).unwrap_err();
    assert!(matches!(error, Error::AlreadyServed { .. }), "{error}");
    assert!(error.to_string().contains(&std::process::id().to_string()), "{error}");
    assert!(error.to_string().contains("data.dir"), "{error}");
}

/// A forked child has every file of this process open until its exec closes them.
#[test]
#[allow(unsafe_code)]
fn a_forked_child_before_its_exec_keeps_no_lock() {
    let temp = Temp::new();
    let first = Postgres::start(&temp.settings()).unwrap();
    let ((mut forked, says_forked), (go_on, mut says_go_on)) = (pipe().unwrap(), pipe().unwrap());
    let mut command = Command::new("true");
    // SAFETY: only read(2) and write(2) between fork and exec.
    unsafe {
        command.pre_exec(move || {
            (&says_forked).write_all(b"f")?;
            (&go_on).read_exact(&mut [0])
        });
    }
    let child = thread::spawn(move || command.status().unwrap());
    forked.read_exact(&mut [0]).unwrap();

    first.stop();
    let second = Postgres::start(&temp.settings()).unwrap();
    assert_eq!(query(&second, "select 1"), ["1"]);

    says_go_on.write_all(b"g").unwrap();
    assert!(child.join().unwrap().success());
}

#[test]
fn a_command_uses_the_servers_database_and_leaves_it_running() {
    let temp = Temp::new();
    let server = Postgres::start(&temp.settings()).unwrap();
    let status = with_postgres(&[], &temp.0)
        .args(["sh", "-c", r#"test "$PGHOST" = "$1" && test "$PGUSER" = nyala"#, "sh"])
        .arg(server.socket_dir())
        .status();
    assert!(status.unwrap().success());
    let command = Postgres::attach_or_start(&temp.settings()).unwrap();
    assert!(!command.is_owner());
    assert!(!command.has_exited());
    assert!(matches!(command.restart(), Err(Error::NotOwner { .. })));
    command.stop();
    assert_eq!(query(&server, "select 1"), ["1"]);
}

#[test]
fn a_server_waits_for_the_command_that_runs_the_database() {
    let temp = Temp::new();
    let mut owner = Owner::start(&temp.0, &[]);
    let settings = temp.settings();
    let server = thread::spawn(move || Postgres::start(&settings));
    owner.child.stdin.take().unwrap().write_all(b"done\n").unwrap();
    let server = server.join().unwrap().unwrap();
    assert!(server.is_owner());
    assert_ne!(server.pid(), owner.postmaster);
}

#[test]
fn an_owner_lets_a_command_finish() {
    let temp = Temp::new();
    let server = Postgres::start(&temp.settings()).unwrap();
    let mut command = with_postgres(&[], &temp.0).args(["cat"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = command.stdin.take().unwrap();
    input.write_all(b"started\n").unwrap();
    let mut first = [0; 8];
    std::io::Read::read_exact(command.stdout.as_mut().unwrap(), &mut first).unwrap();
    let socket = server.socket_dir().to_owned();
    let stopping = thread::spawn(move || server.stop());
    let still = crate::support::try_query(&socket, "select 1");
    drop(input);
    assert!(command.wait().unwrap().success());
    stopping.join().unwrap();
    assert_eq!(still.unwrap(), ["1"]);
    assert!(crate::support::try_query(&socket, "select 1").is_err());
}

#[test]
fn the_connection_string_names_socket_role_and_database() {
    let temp = Temp::new();
    let postgres = Postgres::start(&temp.settings()).unwrap();
    let expected = format!(r"host={} port=5432 user=nyala dbname='o\'brien'", postgres.socket_dir().display());
    assert_eq!(postgres.connection_string("o'brien"), expected);
}

#[test]
fn the_command_passes_its_exit_code_on() {
    let temp = Temp::new();
    let code = |words: &[&str]| with_postgres(&[], &temp.0).args(words).stderr(Stdio::null()).status().unwrap().code();
    assert_eq!(code(&["sh", "-c", "exit 3"]), Some(3));
    assert_eq!(code(&["no-such-program"]), Some(127));
    assert_eq!(code(&[]), Some(2), "no command: usage");
}
