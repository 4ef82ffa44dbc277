//! The command line: what ends it, what it refuses, what it compares.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::fake::{Fake, Faults};
use crate::run::{folder, measure, tool};

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
