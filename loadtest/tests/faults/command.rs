//! The command line: what ends it, what it refuses, what it compares.

use std::fs::Permissions;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::fake::{Fake, Faults};
use crate::run::{folder, measure, said, tool};

/// The address of a server that takes connections and says nothing.
fn silent() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("its address"));
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        kept.extend(listener.incoming().map_while(Result::ok));
    });
    url
}

/// It could not be measured, which is one line.
#[track_caller]
fn refusal(out: &Output) -> String {
    assert_eq!((out.status.code(), said(out).lines().count()), (Some(1), 1), "{}", said(out));
    said(out)
}

/// A `watch` of three sessions and machines.
fn watch(url: &str, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_nyala-loadtest"))
        .args(["watch", "--sessions=3", "--machines=3", "--key=root", "--url", url])
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program")
}

/// Interrupts it as soon as it has said `when`, `times` times; its exit code, and what it said then.
fn interrupted(mut tool: Child, when: &str, times: usize) -> (Option<i32>, String) {
    let mut lines = BufReader::new(tool.stderr.take().expect("its lines"));
    for _ in 0..times {
        let mut line = String::new();
        while !line.contains(when) {
            line.clear();
            assert_ne!(lines.read_line(&mut line).expect("text"), 0, "it never said {when}");
        }
    }
    kill(Pid::from_raw(tool.id().try_into().expect("a process id")), Signal::SIGINT).expect("it runs");
    let mut rest = String::new();
    lines.read_to_string(&mut rest).expect("text");
    (tool.wait().expect("its end").code(), rest)
}

#[test]
fn a_threshold_that_is_crossed_ends_with_2_and_one_that_was_not_measured_too() {
    let small = ["watch", "--sessions=2", "--machines=2", "--seconds=2", "--warmup=2"];
    let told = measure(Faults::default(), &[&small[..], &["--fail-if=deliveries >= 4", "--fail-if=storm_all_s > 9"]].concat());
    told.failed("deliveries >= 4: it is 4");
    assert!(told.said.contains("storm_all_s was not measured"), "{}", told.said);
}

#[test]
fn what_cannot_be_measured_is_one_clear_line() {
    let refused = |faults: Faults, args: &[&str]| {
        let fake = Fake::start(faults);
        refusal(&tool(&[args, &["--url", &fake.url, "-q"]].concat()))
    };
    let small = ["watch", "--sessions", "2", "--machines", "2", "--seconds", "1", "--warmup", "1"];
    let with_key = [&small[..], &["--key", "root"]].concat();
    let fine = Faults::default();
    assert!(refused(Faults { refuse_tokens: true, ..fine }, &with_key).contains("join refused: unauthorized (2)"));
    assert!(refused(fine, &small).contains("nyala key add"));
    assert!(refused(fine, &[&small[..], &["--key", "wrong"]].concat()).contains("API key is not known"));
    assert!(refused(fine, &["watch", "--fail-if", "tick > 1"]).contains("there is no metric `tick`; there are tick_p50_ms"));
    assert!(refused(fine, &["watch", "--fail-if", "nosuch > 1"]).contains("no metric `nosuch`; docs/loadtest.md lists all"));
    assert!(refused(fine, &["watch", "--compare", "/nowhere"]).contains("/nowhere"));
    assert!(refused(fine, &["watch", "--server-pid", "4294967294"]).contains("--server-pid"));
    assert!(refused(fine, &["watch", "--nosuch"]).contains("--nosuch"));
    assert!(refused(fine, &["watch", "--sessions", "100000000"]).contains("sessions fit"));
}

#[test]
fn a_report_is_compared_with_an_older_one() {
    let (fake, folder) = (Fake::start(Faults::default()), folder());
    let folder = folder.to_str().expect("a path");
    let small = ["watch", "--key=root", "--sessions=3", "--machines=3", "--seconds=1", "--warmup=2", "-q", "--url", &fake.url];
    let run = |more: &[&str]| tool(&[&small[..], more].concat());
    assert_eq!(run(&["--report", folder]).status.code(), Some(0));
    let compared = run(&["--compare", folder]);
    let told = String::from_utf8_lossy(&compared.stdout);
    assert!(told.contains("Compared") && told.contains("before") && told.contains("subscriptions"), "{told}");
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn a_report_of_nothing_is_no_success() {
    // Nothing runs: no machine was prepared.
    let fake = Fake::start(Faults::default());
    let args = ["watch", "--bare", "--sessions=3", "--machines=3", "--seconds=1", "--warmup=1", "--url", &fake.url];
    let told = tool(&args);
    assert!(told.status.code() == Some(1) && said(&told).contains("nyala-loadtest: nothing was measured"), "{}", said(&told));
    let told = tool(&[&args[..], &["--fail-if=missed > 0"]].concat());
    assert!(told.status.code() == Some(2) && said(&told).contains("missed was not measured"), "{}", said(&told));
}

#[test]
fn a_broken_ledger_ends_with_2() {
    let (fake, program) = (Fake::start(Faults::default()), folder());
    // In place of `nyala audit verify`.
    std::fs::write(&program, "#!/bin/sh\necho \"$@: 1 row breaks a rule\"\nexit 1\n").expect("a file");
    std::fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("a program");
    let nyala = program.to_str().expect("a path");
    let args = ["hot", "--customers=3", "--rounds=1", "--key=root", "--data-dir=x", "--url", &fake.url, "--nyala", nyala];
    let told = tool(&args);
    let _ = std::fs::remove_file(program);
    assert_eq!(told.status.code(), Some(2), "{}", said(&told));
    assert!(said(&told).contains("Failed: audit_broken > 0"), "{}", said(&told));
    assert!(said(&told).contains("audit verify --config-dir config: 1 row breaks a rule"), "{}", said(&told));
}

#[test]
fn a_ledger_that_cannot_be_verified_ends_with_2() {
    let (fake, program) = (Fake::start(Faults::default()), folder());
    std::fs::write(&program, "#!/no/such/interpreter\n").expect("a file");
    std::fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("a program");
    let nyala = program.to_str().expect("a path");
    let args = ["hot", "--customers=3", "--rounds=1", "--key=root", "--data-dir=x", "--url", &fake.url, "--nyala", nyala];
    let told = tool(&args);
    let _ = std::fs::remove_file(program);
    assert_eq!(told.status.code(), Some(2), "{}", said(&told));
    assert!(said(&told).contains("Failed: audit_unknown > 0"), "{}", said(&told));
}

#[test]
fn reports_of_two_scenarios_are_not_compared() {
    let (fake, folder) = (Fake::start(Faults::default()), folder());
    let folder = folder.to_str().expect("a path");
    let hot = tool(&["hot", "--customers=3", "--rounds=1", "--url", &fake.url, "--key=root", "--report", folder]);
    assert_eq!(hot.status.code(), Some(0), "{}", said(&hot));
    let args = ["watch", "--bare", "--sessions=2", "--machines=2", "--seconds=1", "--warmup=1", "--compare", folder];
    let told = said(&tool(&[&args[..], &["--url", &fake.url]].concat()));
    assert!(told.contains("Not compared: the older report is of `hot`, and this one of `watch`."), "{told}");
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn a_server_that_never_answers_cannot_be_measured() {
    let args = ["watch", "--bare", "--sessions=3", "--machines=3", "--seconds=1", "--join-within=2", "--quiet", "--url"];
    let told = refusal(&tool(&[&args[..], &[&silent()]].concat()));
    assert!(told.contains("no session could join: nothing was answered within 2 s"), "{told}");
}

#[test]
fn what_cannot_end_well_is_refused_before_it_begins() {
    // Nobody listens there, and nobody is asked.
    let refused = |args: &[&str]| refusal(&tool(&[args, &["--url", "http://127.0.0.1:1", "--key", "root"]].concat()));
    let file = folder();
    std::fs::write(&file, "").expect("a file");
    let report = file.to_str().expect("a path");
    assert!(refused(&["watch", "--report", report]).contains("--report"));
    assert!(refusal(&tool(&["try", "--report", report])).contains("--report"));
    let _ = std::fs::remove_file(file);
    assert!(refused(&["watch", "--seconds", "1000000000000000000"]).contains("1..=86400"));
    assert!(refused(&["purchase", "--seconds", "0"]).contains("1..=86400"));
    assert!(refused(&["soak", "--minutes", "0"]).contains("--minutes must be above 0"));
    assert!(refused(&["soak", "--minutes", "1e18"]).contains("--minutes must be above 0"));
    assert!(refused(&["soak", "--minutes", "40000", "--rate", "20"]).contains("the customers' money does not last"));
    assert!(refused(&["soak", "--per-session", "33"]).contains("--per-session must be at most 32"));
    assert!(refused(&["watch", "--sessions", "0"]).contains("--sessions"));
    assert!(refusal(&tool(&["watch", "--key=root", "--url", "http://127.0.0.1:99999"])).contains("`99999` is no port"));
    assert!(refused(&["watch", "--fail-if", "missed > nan"]).contains("no threshold"));
}

#[test]
fn ctrl_c_is_heard_while_everything_is_prepared() {
    let nothing = "ended by Ctrl-C before anything was measured";
    let (code, told) = interrupted(watch(&silent(), &[]), "preparing", 1);
    assert!(code == Some(1) && told.contains(nothing), "{told}");
    let fake = Fake::start(Faults { pay_ms: 60_000, ..Faults::default() });
    let (code, told) = interrupted(watch(&fake.url, &[]), "starting", 1);
    assert!(code == Some(1) && told.contains(nothing), "{told}");
}

#[test]
fn ctrl_c_ends_with_what_was_measured() {
    let (fake, folder) = (Fake::start(Faults::default()), folder());
    let report = folder.to_str().expect("a path");
    let tool = watch(&fake.url, &["--seconds=30", "--warmup=2", "--report", report]);
    // Two lines of progress: something was measured.
    let (code, told) = interrupted(tool, "ticks/s", 2);
    assert_eq!(code, Some(0), "{told}");
    let json = std::fs::read_to_string(folder.join("report.json")).expect("a report");
    let report: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(report["interrupted"], true);
    assert!(report["metrics"]["deliveries"].as_f64().is_some_and(|n| n >= 3.0), "{json}");
    assert_eq!((&report["metrics"]["missed"], &report["metrics"]["errors"]), (&0.0.into(), &0.0.into()), "{json}");
    let _ = std::fs::remove_dir_all(folder);
}
