//! Tests of the command line: how it ends, refusals and comparisons.

use std::fs::Permissions;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::fake::{Fake, Faults};
use crate::run::{folder, measure, output_of, tool};

/// Address of a server that accepts connections and sends nothing.
fn silent() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("its address"));
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        kept.extend(listener.incoming().map_while(Result::ok));
    });
    url
}

/// Asserts that the measurement was not possible, with one line of error.
#[track_caller]
fn refusal(out: &Output) -> String {
    assert_eq!((out.status.code(), output_of(out).lines().count()), (Some(1), 1), "{}", output_of(out));
    output_of(out)
}

/// Arguments of `watch` with three sessions and machines.
fn watch(url: &str, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_nyala-loadtest"))
        .args(["watch", "--sessions=3", "--machines=3", "--key=root", "--url", url])
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program")
}

/// Interrupts the program `times` times, once it has printed `when`. Returns its exit code and the output after that.
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
    let result = measure(Faults::default(), &[&small[..], &["--fail-if=deliveries >= 4", "--fail-if=storm_all_s > 9"]].concat());
    result.failed("deliveries >= 4: it is 4");
    assert!(result.output.contains("storm_all_s was not measured"), "{}", result.output);
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
    let result = String::from_utf8_lossy(&compared.stdout);
    assert!(result.contains("Compared") && result.contains("before") && result.contains("subscriptions"), "{result}");
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn a_report_of_nothing_is_no_success() {
    // No machine runs, because none was prepared.
    let fake = Fake::start(Faults::default());
    let args = ["watch", "--bare", "--sessions=3", "--machines=3", "--seconds=1", "--warmup=1", "--url", &fake.url];
    let result = tool(&args);
    assert!(
        result.status.code() == Some(1) && output_of(&result).contains("nyala-loadtest: nothing was measured"),
        "{}",
        output_of(&result)
    );
    let result = tool(&[&args[..], &["--fail-if=missed > 0"]].concat());
    assert!(result.status.code() == Some(2) && output_of(&result).contains("missed was not measured"), "{}", output_of(&result));
}

#[test]
fn a_broken_ledger_ends_with_2() {
    let (fake, program) = (Fake::start(Faults::default()), folder());
    // Program in place of `nyala audit verify`.
    std::fs::write(&program, "#!/bin/sh\necho \"$@: 1 row breaks a rule\"\nexit 1\n").expect("a file");
    std::fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("a program");
    let nyala = program.to_str().expect("a path");
    let args = ["hot", "--customers=3", "--rounds=1", "--key=root", "--data-dir=x", "--url", &fake.url, "--nyala", nyala];
    let result = tool(&args);
    let _ = std::fs::remove_file(program);
    assert_eq!(result.status.code(), Some(2), "{}", output_of(&result));
    assert!(output_of(&result).contains("Failed: audit_broken > 0"), "{}", output_of(&result));
    assert!(output_of(&result).contains("audit verify --config-dir config: 1 row breaks a rule"), "{}", output_of(&result));
}

#[test]
fn a_ledger_that_cannot_be_verified_ends_with_2() {
    let (fake, program) = (Fake::start(Faults::default()), folder());
    std::fs::write(&program, "#!/no/such/interpreter\n").expect("a file");
    std::fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("a program");
    let nyala = program.to_str().expect("a path");
    let args = ["hot", "--customers=3", "--rounds=1", "--key=root", "--data-dir=x", "--url", &fake.url, "--nyala", nyala];
    let result = tool(&args);
    let _ = std::fs::remove_file(program);
    assert_eq!(result.status.code(), Some(2), "{}", output_of(&result));
    assert!(output_of(&result).contains("Failed: audit_unknown > 0"), "{}", output_of(&result));
}

#[test]
fn reports_of_two_scenarios_are_not_compared() {
    let (fake, folder) = (Fake::start(Faults::default()), folder());
    let folder = folder.to_str().expect("a path");
    let hot = tool(&["hot", "--customers=3", "--rounds=1", "--url", &fake.url, "--key=root", "--report", folder]);
    assert_eq!(hot.status.code(), Some(0), "{}", output_of(&hot));
    let args = ["watch", "--bare", "--sessions=2", "--machines=2", "--seconds=1", "--warmup=1", "--compare", folder];
    let result = output_of(&tool(&[&args[..], &["--url", &fake.url]].concat()));
    assert!(result.contains("Not compared: the older report is of `hot`, and this one of `watch`."), "{result}");
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn a_server_that_never_answers_cannot_be_measured() {
    let args = ["watch", "--bare", "--sessions=3", "--machines=3", "--seconds=1", "--join-within=2", "--quiet", "--url"];
    let result = refusal(&tool(&[&args[..], &[&silent()]].concat()));
    assert!(result.contains("no session could join: nothing was answered within 2 s"), "{result}");
}

#[test]
fn what_cannot_end_well_is_refused_before_it_begins() {
    // No server listens there, and no request is sent.
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
fn ctrl_c_ends_the_preparation() {
    let nothing = "ended by Ctrl-C before anything was measured";
    let (code, result) = interrupted(watch(&silent(), &[]), "preparing", 1);
    assert!(code == Some(1) && result.contains(nothing), "{result}");
    let fake = Fake::start(Faults { pay_ms: 60_000, ..Faults::default() });
    let (code, result) = interrupted(watch(&fake.url, &[]), "starting", 1);
    assert!(code == Some(1) && result.contains(nothing), "{result}");
}

#[test]
fn ctrl_c_ends_with_what_was_measured() {
    let (fake, folder) = (Fake::start(Faults::default()), folder());
    let report = folder.to_str().expect("a path");
    let tool = watch(&fake.url, &["--seconds=30", "--warmup=2", "--report", report]);
    // After two lines of progress something was measured.
    let (code, result) = interrupted(tool, "ticks/s", 2);
    assert_eq!(code, Some(0), "{result}");
    let json = std::fs::read_to_string(folder.join("report.json")).expect("a report");
    let report: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(report["interrupted"], true);
    assert!(report["metrics"]["deliveries"].as_f64().is_some_and(|n| n >= 3.0), "{json}");
    assert_eq!((&report["metrics"]["missed"], &report["metrics"]["errors"]), (&0.0.into(), &0.0.into()), "{json}");
    let _ = std::fs::remove_dir_all(folder);
}
