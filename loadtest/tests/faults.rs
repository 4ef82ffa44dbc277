//! A tool that cannot see a fault is worthless: it is run against a server with faults, and its report must tell each of them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod fake;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex};
use std::thread::JoinHandle;

use fake::{Fake, Faults};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// A folder for one run's report.
fn folder() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("report-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn tool(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nyala-loadtest"));
    command.args(args).env_remove("NYALA_KEY").env_remove("NYALA_BIN").output().expect("the program")
}

/// What a run told.
struct Told {
    code: Option<i32>,
    said: String,
    report: Value,
    page: String,
}

impl Told {
    fn metric(&self, name: &str) -> f64 {
        self.report["metrics"][name].as_f64().unwrap_or_else(|| panic!("no {name} in {}", self.said))
    }

    fn errors(&self) -> String {
        self.report["errors"].to_string()
    }
}

/// Runs a scenario against a server with `faults`.
fn measure(faults: Faults, args: &[&str]) -> Told {
    let (fake, folder) = (Fake::start(faults), folder());
    let common = ["--url", &fake.url, "--key", "root", "--report", folder.to_str().expect("a path")];
    let out = tool(&[args, &common].concat());
    let said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    let json = std::fs::read_to_string(folder.join("report.json")).unwrap_or_else(|e| panic!("{e}: {said}"));
    let page = std::fs::read_to_string(folder.join("report.html")).expect("a page");
    let told = Told { code: out.status.code(), said, report: serde_json::from_str(&json).expect("JSON"), page };
    let _ = std::fs::remove_dir_all(folder);
    told
}

/// A measurement under way, until somebody takes what it told.
type Running = Mutex<Option<JoinHandle<Told>>>;

const WATCH: &[&str] = &[
    "watch",
    "--sessions=12",
    "--machines=6",
    "--machines-per-outlet=3",
    "--seconds=4",
    "--warmup=2",
    "--fail-if=tick_p99_ms > 5000",
];
const FINISH: &[&str] = &["finish", "--machines=3", "--sessions=6"];
const HOT: &[&str] = &["hot", "--customers=10", "--rounds=2"];
const PURCHASE: &[&str] = &["purchase", "--rate=10", "--even", "--seconds=2", "--durasi=1"];
const CROSSED: &[&str] = &[
    "watch",
    "--sessions=2",
    "--machines=2",
    "--seconds=2",
    "--warmup=2",
    "--fail-if=deliveries >= 4",
    "--fail-if=storm_all_s > 9",
];

/// Each way to be faulty, and what is run against it. They take their time, so all of them run at once.
static CASES: LazyLock<Vec<(&str, Running)>> = LazyLock::new(|| {
    let none = Faults::default();
    let cases = [
        ("none", WATCH, none),
        ("lost", WATCH, Faults { lose_one_in: Some(4), ..none }),
        ("doubled", WATCH, Faults { double_one_in: Some(3), ..none }),
        ("late", WATCH, Faults { late_ms: 150, ..none }),
        ("slow", WATCH, Faults { slow_ms: 120, ..none }),
        ("stall", WATCH, Faults { stall_ms: 2_500, ..none }),
        ("tl off", WATCH, Faults { tl_off: true, ..none }),
        ("tl stands", WATCH, Faults { tl_stands: true, ..none }),
        ("cut", WATCH, Faults { cut_after: Some(4), ..none }),
        ("cheat", WATCH, Faults { cheat: true, ..none }),
        ("no final", FINISH, Faults { no_final: true, ..none }),
        ("two finals", FINISH, Faults { two_finals: true, ..none }),
        ("many winners", HOT, Faults { many_winners: true, ..none }),
        ("failed presses", HOT, Faults { pay_fails_one_in: Some(7), ..none }),
        ("slow payments", PURCHASE, Faults { pay_ms: 400, pay_fails_one_in: Some(5), ..none }),
        ("crossed", CROSSED, none),
    ];
    let start = |(name, args, faults)| (name, Mutex::new(Some(std::thread::spawn(move || measure(faults, args)))));
    cases.into_iter().map(start).collect()
});

/// What the case told; each is asked for once.
fn told(name: &str) -> Told {
    let (_, case) = CASES.iter().find(|(n, _)| *n == name).expect("a case");
    let running = case.lock().expect("no test panics with it").take().expect("asked for once");
    running.join().expect("a report")
}

#[test]
fn a_server_without_fault_is_clean() {
    let told = told("none");
    assert_eq!(told.code, Some(0), "{}", told.said);
    assert_eq!((told.metric("expected"), told.metric("deliveries")), (48.0, 48.0), "{}", told.said);
    for name in ["missed", "duplicates", "unexpected", "tl_wrong", "tl_not_falling", "balances_wrong", "errors"] {
        assert_eq!(told.metric(name), 0.0, "{name}: {}", told.said);
    }
    assert!(told.said.contains("Clean: no fault was seen"), "{}", told.said);
    assert!(told.said.contains("ledger was not verified"), "{}", told.said);
    assert_eq!(told.report["schema"], 1);
    assert!(!told.report.to_string().contains("\"root\""), "the key is not kept");
    assert!(
        told.page.contains("<svg") && !told.page.contains("http-equiv") && !told.page.contains("src="),
        "one page, plots in it"
    );
}

#[test]
fn lost_ticks_are_missed() {
    let told = told("lost");
    let missed = told.metric("missed");
    assert!((12.0..=24.0).contains(&missed), "{}", told.said);
    assert_eq!(told.metric("deliveries") + missed, told.metric("expected"), "{}", told.said);
    assert!(told.said.contains("Faults were seen: missed"), "{}", told.said);
}

#[test]
fn doubled_ticks_are_duplicates() {
    let told = told("doubled");
    assert!(told.metric("duplicates") >= 12.0, "{}", told.said);
    assert_eq!(told.metric("missed"), 0.0, "{}", told.said);
}

#[test]
fn ticks_made_late_are_the_servers_lateness() {
    let told = told("late");
    assert!(told.metric("late_max_ms") >= 120.0 && told.metric("tick_max_ms") >= 120.0, "{}", told.said);
    assert!(told.metric("jitter_max_ms") >= 120.0, "{}", told.said);
}

#[test]
fn ticks_that_travel_long_are_late_though_made_in_time() {
    let told = told("slow");
    assert!(told.metric("tick_p50_ms") >= told.metric("late_p50_ms") + 60.0, "{}", told.said);
}

#[test]
fn a_stall_is_missed_ticks() {
    let told = told("stall");
    assert!(told.metric("missed") >= 12.0, "{}", told.said);
    assert_eq!(told.metric("tl_wrong"), 0.0, "{}", told.said);
}

#[test]
fn a_wrong_countdown_is_told() {
    assert!(told("tl off").metric("tl_wrong") >= 48.0);
}

#[test]
fn a_counter_is_no_countdown() {
    assert!(told("tl stands").metric("tl_wrong") >= 48.0);
}

#[test]
fn sessions_that_break_come_back_and_are_told() {
    let told = told("cut");
    assert!(told.metric("sessions_lost") >= 12.0, "{}", told.said);
    assert!(told.metric("missed") > 0.0, "what was lost meanwhile counts: {}", told.said);
    assert!(told.errors().contains("closed by the server"), "{}", told.errors());
}

#[test]
fn money_that_is_not_right_ends_with_2() {
    let told = told("cheat");
    assert_eq!((told.code, told.metric("balances_wrong")), (Some(2), 12.0), "{}", told.said);
    assert!(told.said.contains("rupiah, and"), "{}", told.said);
}

#[test]
fn final_ticks_that_do_not_come_are_told() {
    let told = told("no final");
    assert_eq!((told.metric("finals"), told.metric("finals_missing")), (0.0, 6.0), "{}", told.said);
}

#[test]
fn final_ticks_that_come_twice_are_told() {
    let told = told("two finals");
    assert_eq!((told.metric("finals"), told.metric("finals_duplicate")), (6.0, 6.0), "{}", told.said);
}

#[test]
fn a_purchase_counts_from_its_planned_moment() {
    // One request takes 400 ms, and the tool plans on: all of them wait as long as a customer would.
    let told = told("slow payments");
    assert!(told.metric("total_p50_ms") >= 400.0, "{}", told.said);
    let (planned, done, failed) = (told.metric("planned"), told.metric("done"), told.metric("failed"));
    assert!(planned >= 19.0 && done + failed == planned && failed >= 3.0, "{}", told.said);
    assert!(told.errors().contains("pay answered 500"), "{}", told.errors());
}

#[test]
fn two_winners_of_one_machine_end_with_2() {
    let told = told("many winners");
    assert_eq!((told.code, told.metric("rounds_without_one_winner")), (Some(2), 2.0), "{}", told.said);
}

#[test]
fn one_winner_and_failed_presses_are_told() {
    let told = told("failed presses");
    assert_eq!((told.metric("winners"), told.metric("failed")), (2.0, 2.0), "{}", told.said);
    assert!(told.errors().contains("pay answered 500"), "{}", told.errors());
}

#[test]
fn a_threshold_that_is_crossed_ends_with_2_and_one_that_was_not_measured_too() {
    let told = told("crossed");
    assert_eq!(told.code, Some(2), "{}", told.said);
    assert!(told.said.contains("Failed: deliveries >= 4: it is 4"), "{}", told.said);
    assert!(told.said.contains("storm_all_s was not measured"), "{}", told.said);
}

#[test]
fn what_cannot_be_measured_is_one_clear_line() {
    let refused = |faults: Faults, args: &[&str]| {
        let fake = Fake::start(faults);
        let out = tool(&[args, &["--url", &fake.url, "-q"]].concat());
        let told = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!((out.status.code(), told.lines().count()), (Some(1), 1), "{told}");
        told
    };
    let small = ["watch", "--sessions", "2", "--machines", "2", "--seconds", "1", "--warmup", "1"];
    let with_key = [&small[..], &["--key", "root"]].concat();
    let fine = Faults::default();
    assert!(refused(Faults { refuse_tokens: true, ..fine }, &with_key).contains("join refused: unauthorized (2)"));
    assert!(refused(fine, &small).contains("nyala key add"));
    assert!(refused(fine, &[&small[..], &["--key", "wrong"]].concat()).contains("API key is not known"));
    assert!(refused(fine, &["watch", "--fail-if", "tick > 1"]).contains("there is no metric `tick`; there are sessions"));
    assert!(refused(fine, &["watch", "--compare", "/nowhere"]).contains("/nowhere"));
    assert!(refused(fine, &["watch", "--server-pid", "4294967294"]).contains("--server-pid"));
    assert!(refused(fine, &["watch", "--nosuch"]).contains("--nosuch"));
    assert!(refused(fine, &["watch", "--sessions", "100000000"]).contains("sessions fit"));
}

#[test]
fn a_report_is_compared_with_an_older_one() {
    let (fake, folder) = (Fake::start(Faults::default()), folder());
    let folder = folder.to_str().expect("a path");
    let run = |more: &[&str]| {
        let args = [
            "watch",
            "--bare",
            "--url",
            &fake.url,
            "--sessions",
            "3",
            "--machines",
            "3",
            "--seconds",
            "1",
            "--warmup",
            "1",
            "-q",
        ];
        tool(&[&args[..], more].concat())
    };
    // Nothing runs: no machine was prepared, so no session can subscribe.
    assert_eq!(run(&["--report", folder]).status.code(), Some(0));
    let compared = run(&["--compare", folder]);
    let said = String::from_utf8_lossy(&compared.stdout);
    assert!(said.contains("Compared") && said.contains("before") && said.contains("subscriptions"), "{said}");
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn ctrl_c_ends_with_what_was_measured() {
    let (fake, folder) = (Fake::start(Faults::default()), folder());
    let mut child = Command::new(env!("CARGO_BIN_EXE_nyala-loadtest"))
        .args([
            "watch",
            "--sessions=3",
            "--machines=3",
            "--seconds=30",
            "--warmup=2",
            "--key=root",
            "--url",
            &fake.url,
            "--report",
        ])
        .arg(&folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    let lines = BufReader::new(child.stderr.take().expect("its lines")).lines();
    // Two lines of progress: something was measured.
    let seen = lines.map_while(Result::ok).filter(|line| line.contains("ticks/s")).take(2).count();
    assert_eq!(seen, 2);
    let pid = Pid::from_raw(child.id().try_into().expect("a process id"));
    kill(pid, Signal::SIGINT).expect("it runs");
    assert_eq!(child.wait().expect("its end").code(), Some(0));
    let json = std::fs::read_to_string(folder.join("report.json")).expect("a report");
    let report: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(report["interrupted"], true);
    assert!(report["metrics"]["deliveries"].as_f64().is_some_and(|n| n >= 3.0), "{json}");
    assert_eq!((&report["metrics"]["missed"], &report["metrics"]["errors"]), (&0.0.into(), &0.0.into()), "{json}");
    let _ = std::fs::remove_dir_all(folder);
}
