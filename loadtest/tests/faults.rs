//! A tool that cannot see a fault is worthless: it is run against a server with faults, and its report must tell each of them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod fake;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use fake::{Fake, Faults};
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

/// Twelve sessions for six seconds.
fn watch(faults: Faults) -> Told {
    measure(
        faults,
        &["watch", "--sessions", "12", "--machines", "6", "--machines-per-outlet", "3", "--seconds", "6", "--warmup", "3"],
    )
}

#[test]
fn a_server_without_fault_is_clean() {
    let told = watch(Faults::default());
    assert_eq!(told.code, Some(0), "{}", told.said);
    assert_eq!((told.metric("expected"), told.metric("deliveries")), (72.0, 72.0), "{}", told.said);
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
    let told = watch(Faults { lose_one_in: Some(4), ..Faults::default() });
    let missed = told.metric("missed");
    assert!((12.0..=24.0).contains(&missed), "{}", told.said);
    assert_eq!(told.metric("deliveries") + missed, told.metric("expected"), "{}", told.said);
    assert!(told.said.contains("Faults were seen: missed"), "{}", told.said);
}

#[test]
fn doubled_ticks_are_duplicates() {
    let told = watch(Faults { double_one_in: Some(3), ..Faults::default() });
    assert!(told.metric("duplicates") >= 12.0, "{}", told.said);
    assert_eq!(told.metric("missed"), 0.0, "{}", told.said);
}

#[test]
fn ticks_made_late_are_the_servers_lateness() {
    let told = watch(Faults { late_ms: 150, ..Faults::default() });
    assert!(told.metric("late_max_ms") >= 120.0 && told.metric("tick_max_ms") >= 120.0, "{}", told.said);
    assert!(told.metric("jitter_max_ms") >= 120.0, "{}", told.said);
}

#[test]
fn ticks_that_travel_long_are_late_though_made_in_time() {
    let told = watch(Faults { slow_ms: 120, ..Faults::default() });
    assert!(told.metric("tick_p50_ms") >= 80.0, "{}", told.said);
    assert!(told.metric("late_p50_ms") < 80.0, "{}", told.said);
}

#[test]
fn a_stall_shows() {
    let told = watch(Faults { stall_ms: 2_500, ..Faults::default() });
    assert!(told.metric("missed") >= 12.0, "{}", told.said);
    assert!(told.metric("jitter_max_ms") >= 200.0, "{}", told.said);
}

#[test]
fn a_wrong_countdown_is_told() {
    assert!(watch(Faults { tl_off: true, ..Faults::default() }).metric("tl_wrong") >= 72.0);
}

#[test]
fn a_counter_is_no_countdown() {
    assert!(watch(Faults { tl_stands: true, ..Faults::default() }).metric("tl_wrong") >= 72.0);
}

#[test]
fn sessions_that_break_come_back_and_are_told() {
    let told = watch(Faults { cut_after: Some(5), ..Faults::default() });
    assert!(told.metric("sessions_lost") >= 12.0, "{}", told.said);
    assert!(told.metric("missed") > 0.0, "what was lost meanwhile counts: {}", told.said);
    assert!(told.errors().contains("closed by the server"), "{}", told.errors());
}

#[test]
fn money_that_is_not_right_ends_with_2() {
    let told = watch(Faults { cheat: true, ..Faults::default() });
    assert_eq!((told.code, told.metric("balances_wrong")), (Some(2), 12.0), "{}", told.said);
    assert!(told.said.contains("rupiah, and"), "{}", told.said);
}

#[test]
fn two_winners_of_one_machine_end_with_2() {
    let told = measure(Faults { many_winners: true, ..Faults::default() }, &["hot", "--customers", "10", "--rounds", "2"]);
    assert_eq!((told.code, told.metric("rounds_without_one_winner")), (Some(2), 2.0), "{}", told.said);
}

#[test]
fn one_winner_and_failed_presses_are_told() {
    let told = measure(Faults { pay_fails_one_in: Some(7), ..Faults::default() }, &["hot", "--customers", "10", "--rounds", "2"]);
    assert_eq!((told.metric("winners"), told.metric("failed")), (2.0, 2.0), "{}", told.said);
    assert!(told.errors().contains("pay answered 500"), "{}", told.errors());
}

#[test]
fn a_threshold_that_is_crossed_ends_with_2_and_one_that_was_not_measured_too() {
    let args = ["watch", "--sessions", "2", "--machines", "2", "--seconds", "2", "--fail-if"];
    let told = measure(Faults::default(), &[&args[..], &["tick_p99_ms > 5000"]].concat());
    assert_eq!(told.code, Some(0), "{}", told.said);
    let told = measure(Faults::default(), &[&args[..], &["deliveries >= 4", "--fail-if", "storm_all_s > 9"]].concat());
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
    let small = ["watch", "--sessions", "2", "--machines", "2", "--seconds", "1"];
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
        let args = ["watch", "--bare", "--url", &fake.url, "--sessions", "3", "--machines", "3", "--seconds", "2", "-q"];
        tool(&[&args[..], more].concat())
    };
    // Nothing runs: no machine was prepared, so no session can subscribe.
    assert_eq!(run(&["--report", folder]).status.code(), Some(0));
    let compared = run(&["--compare", folder]);
    let said = String::from_utf8_lossy(&compared.stdout);
    assert!(said.contains("Compared") && said.contains("before") && said.contains("subscriptions"), "{said}");
    let _ = std::fs::remove_dir_all(folder);
}
