//! What went wrong beside the ticks, and what was not measured at all, is told too, and never as something else.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod fake;

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use fake::{Fake, Faults};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

const TOOL: &str = env!("CARGO_BIN_EXE_nyala-loadtest");

/// A folder for one run's report.
fn folder() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("honest-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn tool(url: &str, args: &[&str]) -> Output {
    let mut command = Command::new(TOOL);
    command.args(args).env_remove("NYALA_BIN");
    if args[0] != "try" {
        command.args(["--url", url, "--key", "root"]);
    }
    command.output().expect("the program")
}

fn said(out: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

/// What a run told: how it ended, what it said, its figures.
struct Told {
    code: Option<i32>,
    said: String,
    metrics: Value,
}

/// Runs a scenario against a server with `faults`.
fn measure(faults: Faults, args: &[&str]) -> Told {
    let (fake, folder) = (Fake::start(faults), folder());
    let out = tool(&fake.url, &[args, &["--report", folder.to_str().expect("a path")]].concat());
    let said = said(&out);
    let json = std::fs::read_to_string(folder.join("report.json")).unwrap_or_else(|e| panic!("{e}: {said}"));
    let _ = std::fs::remove_dir_all(folder);
    let metrics = serde_json::from_str::<Value>(&json).expect("JSON")["metrics"].take();
    Told { code: out.status.code(), said, metrics }
}

#[test]
fn who_hears_nothing_of_a_run_misses_its_final_tick() {
    let told = measure(Faults { deaf_one_in: Some(3), ..Faults::default() }, &["finish", "--machines=3", "--sessions=6"]);
    let all = (&told.metrics["finals_expected"], &told.metrics["finals"], &told.metrics["finals_missing"]);
    assert_eq!(all, (&6.0.into(), &4.0.into(), &2.0.into()), "{}", told.said);
    assert!(told.said.contains("Faults were seen: finals_missing 2"), "{}", told.said);
}

#[test]
fn a_machine_that_was_not_started_has_no_final_tick() {
    let faults = Faults { pay_fails_one_in: Some(3), ..Faults::default() };
    let told = measure(faults, &["finish", "--machines=3", "--sessions=6"]);
    let all = (&told.metrics["finals_expected"], &told.metrics["finals"], &told.metrics["finals_missing"]);
    assert_eq!(all, (&4.0.into(), &4.0.into(), &0.0.into()), "{}", told.said);
    assert_eq!(told.metrics["failed"], 1.0, "{}", told.said);
}

#[test]
fn a_balance_that_is_not_told_is_not_wrong() {
    let told = measure(Faults { hide_balances: true, ..Faults::default() }, &["hot", "--customers=4", "--rounds=1"]);
    assert_eq!(
        (&told.metrics["balances_unknown"], &told.metrics["balances_checked"]),
        (&4.0.into(), &0.0.into()),
        "{}",
        told.said
    );
    assert!(told.metrics["balances_wrong"].is_null() && told.code == Some(0), "{}", told.said);
    assert!(told.said.contains("Balance not known: account") && told.said.contains("balances_unknown 4"), "{}", told.said);
}

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
fn refusal(out: &Output) -> String {
    let told = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!((out.status.code(), told.lines().count()), (Some(1), 1), "{}", said(out));
    told
}

#[test]
fn a_server_that_never_answers_cannot_be_measured() {
    let args = ["watch", "--bare", "--sessions=3", "--machines=3", "--seconds=1", "--join-within=2", "--quiet"];
    let told = refusal(&tool(&silent(), &args));
    assert!(told.contains("no session could join: nothing was answered within 2 s"), "{told}");
}

/// Interrupts a `watch` when it has said `when`; its exit code, and what it said then.
fn interrupted(url: &str, when: &str) -> (Option<i32>, String) {
    let mut child = Command::new(TOOL)
        .args(["watch", "--sessions=2", "--machines=2", "--key=root", "--url", url])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    let mut lines = BufReader::new(child.stderr.take().expect("its lines"));
    let mut line = String::new();
    while !line.contains(when) {
        line.clear();
        assert_ne!(lines.read_line(&mut line).expect("text"), 0, "it never said {when}");
    }
    kill(Pid::from_raw(child.id().try_into().expect("a process id")), Signal::SIGINT).expect("it runs");
    let mut rest = String::new();
    lines.read_to_string(&mut rest).expect("text");
    (child.wait().expect("its end").code(), rest)
}

#[test]
fn ctrl_c_is_heard_while_everything_is_prepared() {
    let (code, told) = interrupted(&silent(), "preparing");
    assert!(code == Some(1) && told.contains("ended by Ctrl-C before anything was measured"), "{told}");
    let fake = Fake::start(Faults { pay_ms: 60_000, ..Faults::default() });
    let (code, told) = interrupted(&fake.url, "starting");
    assert!(code == Some(1) && told.contains("ended by Ctrl-C before anything was measured"), "{told}");
}

#[test]
fn what_cannot_end_well_is_refused_before_it_begins() {
    // Nobody listens there, and nobody is asked.
    let refused = |args: &[&str]| refusal(&tool("http://127.0.0.1:1", args));
    let file = folder();
    std::fs::write(&file, "").expect("a file");
    let report = file.to_str().expect("a path");
    assert!(refused(&["watch", "--report", report]).contains("--report"));
    assert!(refused(&["try", "--report", report]).contains("--report"));
    let _ = std::fs::remove_file(file);
    assert!(refused(&["watch", "--seconds", "1000000000000000000"]).contains("1..=86400"));
    assert!(refused(&["purchase", "--seconds", "0"]).contains("1..=86400"));
    assert!(refused(&["soak", "--minutes", "0"]).contains("--minutes must be above 0"));
    assert!(refused(&["soak", "--minutes", "1e18"]).contains("--minutes must be above 0"));
    assert!(refused(&["watch", "--fail-if", "missed > nan"]).contains("no threshold"));
}

#[test]
fn reports_of_two_scenarios_are_not_compared() {
    let (fake, folder) = (Fake::start(Faults::default()), folder());
    let folder = folder.to_str().expect("a path");
    let hot = tool(&fake.url, &["hot", "--customers=3", "--rounds=1", "--report", folder]);
    assert_eq!(hot.status.code(), Some(0), "{}", said(&hot));
    let args = ["watch", "--bare", "--sessions=2", "--machines=2", "--seconds=1", "--warmup=1", "--compare", folder];
    let told = said(&tool(&fake.url, &args));
    assert!(told.contains("Not compared: the older report is of `hot`, and this one of `watch`."), "{told}");
    let _ = std::fs::remove_dir_all(folder);
}
