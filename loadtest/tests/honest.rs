//! What went wrong beside the ticks, and what was not measured at all, is told too, and never as something else.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod fake;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use fake::{Fake, Faults};
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
    command.args(args).args(["--url", url, "--key", "root"]).env_remove("NYALA_BIN").output().expect("the program")
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
